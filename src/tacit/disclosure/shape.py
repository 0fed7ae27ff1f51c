"""The words of the predicate: the tables it speaks of, the shape of a request, a branch, a door."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, FromClause, literal_column

from tacit.model.request import Request
from tacit.model.words import ChatKind, Purpose

# Roles in memory_people. Whom a memory is about matters to the rules only where it was learned in
# a group; apart, because almost all of a person's own memories are about that person.
SUBJECT = "subject"  # learned in a group
MENTIONED = "mentioned"  # learned anywhere else
WITHHELD = "withheld"

Condition = ColumnElement[bool]


@dataclass(frozen=True, eq=False)
class Rows:
    """The tables that the rules speak of; the store hands in its own."""

    memories: FromClause
    memory_people: FromClause  # (space_id, memory_id, role, person)
    audience_people: FromClause  # (space_id, audience, person): who is in a set of listeners


class Door(StrEnum):
    """By what a branch finds its memories: a search for words goes through the same door."""

    ME = "me"  # an identity of the requester's is owner, speaker or subject
    HERE = "here"  # somebody here is the owner
    ROOM = "room"
    HEARD_BY_ME = "heard_by_me"
    HEARD_BY_ALL = "heard_by_all"


@dataclass(frozen=True)
class Branch:
    access_path: Door
    condition: Condition
    by_owner: bool = False  # leads with the owner: what one person adds to it can be read alone


@dataclass(frozen=True)
class Shape:
    """What the expressions depend on. Two requests of one shape share their statements."""

    purpose: Purpose
    private: bool
    in_group: bool
    complete: bool
    aliases: tuple[tuple[str, str], ...]  # identities that are not the person's own id
    turns: bool = False
    inactive: bool = False  # of what is no longer active: whether it could be heard if it were


def shape_of(request: Request) -> Shape | None:
    """None where nothing can be disclosed, whatever the memory."""
    if request.requester is None:
        return None
    if request.purpose is Purpose.MANAGE:
        if not request.private:
            return None
        return Shape(Purpose.MANAGE, True, False, False, (), request.turns)
    if request.private:
        return Shape(Purpose.RECALL, True, False, False, (), request.turns)
    return Shape(
        Purpose.RECALL,
        False,
        request.kind is ChatKind.GROUP,
        request.complete,
        tuple(sorted((i, p) for i, p in request.person_by_identity.items() if i != p)),
        request.turns,
    )


def word(value: str) -> ColumnElement[str]:
    """One of our own fixed words, in the SQL itself: only then can a partial index answer it."""
    return literal_column(f"'{value}'")
