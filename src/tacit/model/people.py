"""Somebody memories are about, with or without an account."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NameKind(StrEnum):
    NAME = "name"
    USERNAME = "username"
    ALIAS = "alias"
    RELATION = "relation"  # "my boss": true for the one who says it
    WITHHELD = "withheld"  # whom something is kept from, whoever that is: never given by a caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    kind: NameKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    id: str
    names: tuple[Name, ...]
    identities: frozenset[str]
