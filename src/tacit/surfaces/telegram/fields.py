"""Fields of the Bot API's JSON. What is absent, or not of the kind that we know, is not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]

NOTHING: Fields = {}


def part(of: Fields, key: str) -> Fields:
    found = of.get(key)
    return found if isinstance(found, dict) else NOTHING


def parts(of: Fields, key: str) -> list[Fields]:
    found = of.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def number(of: Fields, key: str) -> int | None:
    found = of.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def words(of: Fields, key: str) -> str:
    found = of.get(key)
    return found if isinstance(found, str) else ""
