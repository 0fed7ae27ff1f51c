"""Two records of the same script, call by call: what has to be the same, and what may differ.

Ids, times and figures are each side's own; what they look like is not. Everything else is compared
as it is: names, types, texts, events, metadata, messages, and which error stands where.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

Call = dict[str, Any]

_FIGURES = frozenset(
    {"score", "semantic_score", "bm25_score", "entity_boost", "raw_score", "final_score"} | {"max_possible_score"}
)
_IDS = frozenset({"id", "memory_id"})
_TIMES = frozenset({"created_at", "updated_at"})
# mem0 lists in the order of its ids, which are chance; so it finds what is as near as the next.
_UNORDERED = ("get_all", "search")


def comparable(calls: list[Call]) -> list[Call]:
    """What two records of one script have in common."""
    return [_call(call) for call in calls]


def differences(theirs: list[Call], ours: list[Call]) -> list[str]:
    """A line for each call that does not give the same; of records as `comparable` makes them."""
    found = [
        f"call {number}, {a['word']}: mem0 {_short(a)}, Tacit {_short(b)}"
        for number, (a, b) in enumerate(zip(theirs, ours, strict=False), start=1)
        if a != b
    ]
    if len(theirs) != len(ours):
        found.append(f"{len(theirs)} calls on mem0, {len(ours)} on Tacit")
    return found


def _call(call: Call) -> Call:
    if "error" in call:
        error = call["error"]
        # mem0's own kind is told by its code; all others by whether `except ValueError` gets them.
        return {"word": call["word"], "error": error["code"] or f"ValueError: {error['ValueError']}"}
    result = _plain(call["result"])
    if call["word"].endswith(_UNORDERED):
        result["results"].sort(key=lambda one: (one["memory"], json.dumps(one, sort_keys=True)))
    return {"word": call["word"], "result": result}


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _plain(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, name) for one in value]
    if value is None:
        return None
    if name in _IDS:
        assert isinstance(value, str)
        assert value
        return "an id"
    if name in _TIMES:
        assert datetime.fromisoformat(value).tzinfo is not None
        return "a time"
    if name in _FIGURES:
        assert isinstance(value, float)
        return "a figure"
    return value


def _short(call: Call) -> str:
    return json.dumps({key: one for key, one in call.items() if key != "word"}, sort_keys=True)
