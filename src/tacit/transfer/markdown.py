"""What a person may see about themselves, for people to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Plain = Mapping[str, Any]

TITLES = {
    "person": "Who you are",
    "chat": "Chats you are in",
    "memory": "What is remembered for you",
    "about": "What others said about you",
    "proposal": "What waits for your yes",
    "known": "People you know",
    "checkpoint": "Where agents had got to",
    "step": "Steps of graphs",
    "import": "What was taken over from other memories",
    "turn": "What was said, word for word",
}
# What would be read as markup, wherever it stands; and what only the beginning of a line makes so.
_MARKS = re.compile(r"([\\`*_\[\]<>|~])")
_OPENING = re.compile(r"^(\s*)([#+=-]|\d+(?=[.)]))")


def lines(parts: Iterable[Plain]) -> Iterator[str]:
    """One section for each kind of part, in the order they come."""
    yield "# What Tacit remembers of you"
    last = None
    for part in parts:
        kind = part["type"]
        if kind != last:
            yield from ("", f"## {TITLES[kind]}", "")
            last = kind
        yield from _SHOWN[kind](part)


def written(text: str) -> str:
    """People's words as words: nothing in them is markup, and they stay in their item."""
    rows = (_OPENING.sub(r"\1\\\2", _MARKS.sub(r"\\\1", row)) for row in text.splitlines() or [""])
    return "  \n  ".join(rows)


def _person(part: Plain) -> Iterator[str]:
    for name in part["names"]:
        yield f"- {name['kind']}: {written(name['text'])}"
    for identity in part["identities"]:
        yield f"- known as `{identity}`"


def _chat(part: Plain) -> Iterator[str]:
    yield f"- `{part['chat']}`, {part['kind']}, since {_day(part['joined_at'])}"


def _memory(part: Plain) -> Iterator[str]:
    key = f", {written(part['key'])}" if part["key"] else ""
    state = "" if part["state"] == "active" else f", {part['state']}"
    yield f"- {written(part['content'])}"
    yield f"  <br>{part['category']}{key}, {_day(part['created_at'])}{state} (`{part['id']}`)"
    yield from _data(part)
    for version in part["versions"][:-1]:
        yield f"  - before: {written(version['content'])} ({_day(version['created_at'])})"
    for entry in part.get("history", [])[1:]:
        yield f"  - {entry['event'].lower()} on {_day(entry['at'])} by {written(entry['actor'])}"


def _about(part: Plain) -> Iterator[str]:
    said_by = f", said by {written(part['said_by'])}" if part["said_by"] else ""
    yield f"- {written(part['content'])}"
    yield f"  <br>{part['category']}, {_day(part['created_at'])}{said_by} (`{part['id']}`)"
    yield from _data(part)


def _data(part: Plain) -> Iterator[str]:
    if part.get("data"):
        yield f"  <br>{_json(part['data'])}"


def _proposal(part: Plain) -> Iterator[str]:
    yield f"- {written(part['content'])}"
    yield f"  <br>{written(part['reason'])}, until {_day(part['expires_at'])} (`{part['id']}`)"


def _known(part: Plain) -> Iterator[str]:
    names = ", ".join(written(name["text"]) for name in part["names"])
    yield f"- {names} (`{part['id']}`)"


def _checkpoint(part: Plain) -> Iterator[str]:
    yield f"- {written(part['thread'])}, {_day(part['updated_at'])}: {_json(part['data'])}"


def _step(part: Plain) -> Iterator[str]:
    where = " ".join(filter(None, (part["thread"], part["namespace"], part["id"])))
    channels = ", ".join(sorted({one["channel"] for one in (*part["values"], *part["writes"])}))
    yield f"- {written(where)}, {_day(part['saved_at'])}: {written(channels)}"


def _import(part: Plain) -> Iterator[str]:
    kept = "reverted" if part["reverted_at"] else f"{part['created']} kept"
    named = f"{written(part['source'])} ({written(part['run'])})"
    yield f"- {named}, {_day(part['started_at'])}: {kept}"


def _turn(part: Plain) -> Iterator[str]:
    yield f"- {_day(part['created_at'])}, {written(part['role'] or '')}: {written(part['content'])}"


def _json(value: Any) -> str:
    return written(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _day(moment: str) -> str:
    return moment[:10]


_SHOWN = {
    "person": _person,
    "chat": _chat,
    "memory": _memory,
    "about": _about,
    "proposal": _proposal,
    "known": _known,
    "checkpoint": _checkpoint,
    "step": _step,
    "import": _import,
    "turn": _turn,
}
