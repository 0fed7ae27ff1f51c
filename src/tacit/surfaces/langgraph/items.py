"""An item of a LangGraph store as a memory with a key, and back.

Its place is the key: labels joined by "/", then "//" and the item's own key, as `users/1//prefs`.
Its value goes with the memory as data; the words are made of it, for people and for recall.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from tacit import limits
from tacit.errors import InvalidInput, MissingExtra
from tacit.records.memory import Memory

try:
    from langgraph.store.base import get_text_at_path
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's store") from None

Namespace = tuple[str, ...]
Index = Literal[True, False] | tuple[str, ...]  # all of the value, none of it, or these fields
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # in no key
_PLAIN = re.compile(r"[\w@:;,+=~()$&!*'-]*", re.ASCII)
_KEPT = "\n\t"  # of the control characters, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An item, with the memory that it is."""

    memory: Memory
    namespace: Namespace
    key: str
    value: dict[str, Any]
    index: Index
    ttl_minutes: float | None
    updated_at: datetime  # by a put; to be read does not move it


def stored(memory: Memory) -> Stored | None:
    """None for what somebody else filed there."""
    data = memory.data
    if data is None:
        return None
    try:
        found = Stored(
            memory=memory,
            namespace=tuple(map(str, data["namespace"])),
            key=str(data["key"]),
            value=dict(data["value"]),
            index=index_of(data["index"]),
            ttl_minutes=minutes(data["ttl_minutes"]),
            updated_at=max(memory.created_at, datetime.fromisoformat(data["updated_at"])),
        )
        return found if memory.key == place(found.namespace, found.key) else None
    except (LookupError, TypeError, ValueError):
        return None


def data_of(
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any],
    *,
    index: Index,
    ttl_minutes: float | None,
    updated_at: datetime,
) -> dict[str, Any]:
    return {
        "namespace": list(namespace),
        "key": key,
        "value": dict(value),
        "index": index if isinstance(index, bool) else list(index),
        "ttl_minutes": ttl_minutes,
        "updated_at": updated_at.isoformat(),
    }


def place(namespace: Namespace, key: str) -> str:
    """The key of the memory. Two items never share one, whatever characters they are named with."""
    whole = f"{below(namespace)}/{_escaped(key)}"
    if len(whole) > limits.KEY_MAX_CHARS:
        raise InvalidInput(
            "key",
            f"is {len(whole):,} characters long with its namespace; at most "
            f"{limits.KEY_MAX_CHARS} are kept: shorten one of them",
        )
    return whole


def below(namespace: Namespace) -> str:
    """How the keys of a namespace, and of those within it, begin."""
    return "".join(f"{_escaped(label)}/" for label in namespace)


def _escaped(label: str) -> str:
    """As a part of a key, which has visible characters in one spelling and no space at its ends."""
    if _PLAIN.fullmatch(label):
        return label
    plain = unicodedata.normalize("NFC", label) == label and not _combines(label)
    inner = label.strip()
    begin = len(label) - len(label.lstrip())
    within = range(begin, begin + len(inner))
    return "".join(
        char
        if at in within and char not in "%/" and _is_visible(char) and (plain or char.isascii())
        else quote(char, safe="", errors="surrogatepass")
        for at, char in enumerate(label)
    )


def _combines(label: str) -> bool:
    return bool(label) and unicodedata.combining(label[0]) != 0


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _INVISIBLE


def index_of(given: object) -> Index:
    if isinstance(given, bool):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        fields: list[object] = list(given)
        if all(isinstance(one, str) for one in fields):
            return tuple(map(str, fields))
    raise InvalidInput(
        "index",
        'takes True, False or a list of fields such as ["text"]; how words are embedded is a '
        "setting of the memory",
    )


def minutes(ttl: object) -> float | None:
    if ttl is None:
        return None
    plain = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    if not plain or not 0 < ttl <= limits.ITEM_TTL_MAX_MINUTES:  # type: ignore[operator]
        raise InvalidInput("ttl", "must be minutes, more than 0 and at most a hundred years")
    return float(ttl)  # type: ignore[arg-type]


def words(namespace: Namespace, key: str, value: Mapping[str, Any], index: Index) -> str:
    """What people read of it, and what a question finds it by."""
    if index is True:
        found = "\n".join(_line(name, one) for name, one in value.items() if one is not None)
    elif index is False:
        found = ""
    else:
        found = "\n".join(text for path in index for text in get_text_at_path(value, path))
    shown = "".join(c if c in _KEPT or unicodedata.category(c) != "Cc" else " " for c in found)
    if not any(not c.isspace() and _is_visible(c) for c in shown):
        return f"{_escaped(key)} in {below(namespace)}"
    return shown if len(shown) <= limits.CONTENT_MAX_CHARS else _clipped(shown)


def _clipped(text: str) -> str:
    return text[: limits.CONTENT_MAX_CHARS - 1] + "…"


def _line(name: str, value: object) -> str:
    return f"{name}: {_inline(value)}"


def _inline(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(_line(str(name), one) for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_inline, value))
    return json.dumps(value)
