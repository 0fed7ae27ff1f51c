"""Who would hear a memory: the rooms there are, and what would be said in them, to whom and why."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.model.memory import Memory
from tacit.model.people import Person
from tacit.model.results import Explanation
from tacit.model.words import ChatKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A chat, and who else is known to be there, by the names that they have there."""

    id: str
    kind: ChatKind
    confidential: bool  # nothing that is said there leaves it
    people: tuple[Person, ...] = ()
    complete: bool = True  # false: more people are known to be there than `people` names


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """A memory, whether it would be said to somebody in some chat, and by which rule."""

    memory: Memory
    allowed: bool
    rule: str  # as in the disclosure rules
    says: str  # the rule in plain words


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearers:
    """One memory in every room, where anybody who is there may ask, and for each of these people
    in a private chat of their own. Where it would be said comes first."""

    rooms: tuple[tuple[Room, Explanation], ...] = ()
    people: tuple[tuple[Person, Explanation], ...] = ()
    rooms_left_out: int = 0  # there are so many more
    people_left_out: int = 0
