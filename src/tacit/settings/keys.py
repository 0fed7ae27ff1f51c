"""The keys that the records declare: their dotted names, variables and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any

from tacit.settings.records import Settings


def key_names() -> tuple[str, ...]:
    """Every key, dotted."""
    return tuple(declared())


def variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return "TACIT_" + key.upper().replace(".", "_")


def join(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


@cache
def sections() -> Mapping[str, Any]:
    """Every record by its name; the whole is the one without a name."""
    found: dict[str, Any] = {"": Settings}
    waiting = [""]
    for section in waiting:
        for one in fields(found[section]):
            if one.default_factory is not MISSING and "read" not in one.metadata:
                found[join(section, one.name)] = one.default_factory
                waiting.append(join(section, one.name))
    return found


@cache
def declared() -> Mapping[str, Field[Any]]:
    return {
        join(section, one.name): one
        for section, record in sections().items()
        for one in fields(record)
        if "parse" in one.metadata
    }


@cache
def in_file_only() -> Mapping[str, Any]:
    """What no variable can hold, with what reads it from its place in a file."""
    return {one.name: one.metadata["read"] for one in fields(Settings) if "read" in one.metadata}


def names_in(section: str) -> list[str]:
    return [one.name for one in fields(sections()[section])]


def is_list(key: str) -> bool:
    return isinstance(declared()[key].default, tuple)
