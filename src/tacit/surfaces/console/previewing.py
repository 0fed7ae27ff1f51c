"""Who could hear a memory before and after a change, room by room and person by person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tacit.records.memory import ChatKind
from tacit.records.results import AudienceChat, AudienceReport, Explanation
from tacit.surfaces.console import naming
from tacit.surfaces.console.naming import Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearer:
    """A room with who is there, or one person in private."""

    room: str | None  # its id; None: a private chat
    people: tuple[str, ...]
    more: bool  # there are more people than these
    says: str  # why, or why not, after the change


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    gains: list[Hearer] = field(default_factory=list)
    loses: list[Hearer] = field(default_factory=list)
    still: list[Hearer] = field(default_factory=list)
    never: list[Hearer] = field(default_factory=list)


def compared(now: AudienceReport, then: AudienceReport, names: Names) -> Changes:
    before = {key: told.allowed for key, _, told in _each(now, names)}
    found = Changes()
    for key, hearer, told in _each(then, names):
        if told.allowed:
            (found.still if before.get(key) else found.gains).append(hearer)
        else:
            (found.loses if before.get(key) else found.never).append(hearer)
    return found


def gained(several: Iterable[Changes]) -> list[tuple[Hearer, int]]:
    """Who could hear any of several memories that they could not hear before, and how many."""
    found: dict[tuple[str | None, tuple[str, ...]], tuple[Hearer, int]] = {}
    for changes in several:
        for one in changes.gains:
            first, count = found.get((one.room, one.people), (one, 0))
            found[one.room, one.people] = first, count + 1
    return list(found.values())


def _each(hearers: AudienceReport, names: Names) -> Iterator[tuple[str, Hearer, Explanation]]:
    for room, told in hearers.rooms:
        yield f"room {room.id}", _room(room, told, names), told
    for person, told in hearers.people:
        name = names.of(person.id)
        called = naming.called(person) if name == naming.key_of(person.id) else name
        yield f"person {person.id}", _alone(called, told), told


def _room(room: AudienceChat, told: Explanation, names: Names) -> Hearer:
    if room.kind is ChatKind.PRIVATE:
        return _alone(names.of(f"ext:{room.id}"), told)
    people = tuple(naming.called(one) for one in room.people)
    return Hearer(room=room.id, people=people, more=not room.complete, says=told.says)


def _alone(name: str, told: Explanation) -> Hearer:
    return Hearer(room=None, people=(name,), more=False, says=told.says)
