"""How docs/api.md writes what the code says: a word with what it takes and gives, without types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from enum import Enum
from typing import Any, get_type_hints


def row_of(name: str, word: object) -> str:
    """`forget(id) → None` of a method; of anything else its name."""
    if not callable(word):
        return name
    taken: list[str] = []
    starred = False
    signature = inspect.signature(word)
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            taken.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        mark = "*" * (one.kind is one.VAR_POSITIONAL) + "**" * (one.kind is one.VAR_KEYWORD)
        default = "" if one.default is one.empty else f"={_default(one.default)}"
        taken.append(f"{mark}{one.name}{default}")
    return f"{name}({', '.join(taken)}) → {_given(signature.return_annotation)}"


def words_of(kind: type) -> dict[str, str]:
    """Every public word of a class, as its row begins."""
    found: dict[str, str] = {}
    for name in dir(kind):
        if name.startswith("_"):
            continue
        inner = resource_of(kind, name)
        if inner is None:
            found[name] = row_of(name, _word(kind, name))
        else:
            for one in dir(inner):
                if not one.startswith("_"):
                    found[f"{name}.{one}"] = row_of(f"{name}.{one}", _word(inner, one))
    return found


def resource_of(kind: type, name: str) -> type | None:
    """The class of an attribute that groups methods, such as `view.proposals`."""
    held = inspect.getattr_static(kind, name)
    if isinstance(held, property):
        given = get_type_hints(held.fget).get("return")
        return given if isinstance(given, type) and given.__module__ == kind.__module__ else None
    found: type | None = getattr(held, "kind", None)
    return found


def fields_of(record: Any) -> list[str]:
    return [one.name for one in fields(record) if not one.name.startswith("_")]


def _word(kind: type, name: str) -> Callable[..., object] | None:
    found = inspect.getattr_static(kind, name)
    return getattr(kind, name) if inspect.isfunction(found) else None


def _default(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    plain = value in (None, ()) or isinstance(value, bool | int | float | str)
    return repr(value) if plain else "…"


def _given(annotation: object) -> str:
    """As people say it: no bars, which a table cannot hold, and no names that the code needs only
    because `list` is also a word of a view."""
    said = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "None")
    said = re.sub(r"\bList\b", "list", re.sub(r"\bSelf\b", "View", said))
    return said.replace(" | ", " or ")
