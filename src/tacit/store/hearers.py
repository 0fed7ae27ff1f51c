"""One memory before everybody: in each room of somebody's, and alone with each who is there.

Only those whom the memory names, and who is one person with them, make a difference to a decision:
so a room of a thousand people costs what is shown of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.identity import external_keys
from tacit.identity.links import Identities
from tacit.identity.resolution import RawRequest, StoredChat
from tacit.policy.rules import decide_with_precedence, explain_decision
from tacit.records.accounts import Person
from tacit.records.memory import ChatKind, Memory
from tacit.records.request import Decision, Request
from tacit.records.results import AudienceChat, AudienceReport, Explanation
from tacit.store import people, places, rooms
from tacit.store.elsewhere import Elsewhere, known_links, resolved
from tacit.store.identities import around

T = TypeVar("T", AudienceChat, Person)
_NOBODY: frozenset[str] = frozenset()


def named(memory: Memory) -> frozenset[str]:
    """Everybody on whom a decision about it can depend."""
    return whose(memory) | memory.heard_by | memory.withheld_from


def whose(memory: Memory) -> frozenset[str]:
    """Those of them who may ask for it where others could not."""
    those = {one for one in (memory.owner, memory.speaker) if one is not None}
    return memory.subjects | those


def linked(links: Identities) -> frozenset[str]:
    return frozenset(end for link in links.links for end in (link.source, link.target))


def own_rooms(connection: Connection, request: Request, chat: str) -> list[AudienceChat]:
    """The requester's private chat, and the groups that they are in now."""
    ids = rooms.of(
        connection, request.space, request.own_identities, limits.AUDIENCE_CHATS_MAX_COUNT
    )
    found = rooms.opened(connection, request.space, ids, request.own_identities)
    return [alone_in(chat), *(found.to_audience_chat(place) for place in found.places)]


def alone_in(chat: str) -> AudienceChat:
    return AudienceChat(id=chat, kind=ChatKind.PRIVATE, confidential=False)


@dataclass(frozen=True, slots=True)
class _Told:
    """One memory, and who is whom of those it names: really, and as whoever wonders may know."""

    request: Request
    memory: Memory
    links: Identities
    known: Identities

    def decide_in_group(self, place: StoredChat, subject: str | None) -> Decision:
        """Whether it may be said there if `subject` asks, or else anybody whom it concerns."""
        asking = RawRequest(subject, place.id, ChatKind.GROUP, _NOBODY, complete=False)
        there = resolved(self.request, asking, place, self.links, self.known)
        decision = there.decide(self.memory)
        if not decision.allowed:
            for one in sorted(self._concerned(there, place.members)):
                other = there.asked_by(one).decide(self.memory)
                if other.allowed:
                    return other
        return decision

    def _concerned(self, there: Elsewhere, members: Iterable[str]) -> frozenset[str]:
        person = there.known.person
        those = {person(one) for one in whose(self.memory)}
        return (
            frozenset(one for one in members if person(one) in those) - self.request.own_identities
        )

    def decide_alone(self, identity: str) -> Decision:
        """Somebody in a private chat of theirs, whichever that is."""
        chat = identity.removeprefix(f"{external_keys.EXTERNAL_PREFIX}:")
        asking = RawRequest(identity, chat, ChatKind.PRIVATE, _NOBODY, complete=False)
        at = resolved(self.request, asking, StoredChat(id=chat), self.known, self.known, alone=True)
        return at.decide(self.memory)

    def list_named_among(self, there: Mapping[str, Iterable[str]]) -> set[str]:
        """Those in the rooms whom the memory names, as far as the requester may know."""
        people = named(self.memory)
        found = {one for some in there.values() for one in some} - self.request.own_identities
        return {one for one in found if not self.known.current_identities(one).isdisjoint(people)}


def of_person(
    connection: Connection, request: Request, subject: str, chat: str, memory: Memory
) -> AudienceReport:
    """In the requester's rooms, and for those they share one with."""
    space, mine = request.space, request.own_identities
    links = around(connection, space, named(memory) | mine)
    told = _Told(request, memory, links, known_links(connection, request, links))
    ids = rooms.of(connection, space, mine, limits.AUDIENCE_CHATS_MAX_COUNT)
    there = rooms.among(connection, space, ids, named(memory) | linked(links) | mine)
    first = told.list_named_among(there)
    found = rooms.opened(connection, space, ids, mine, first)
    others = {one for some in found.first_members.values() for one in some} - first
    shown = [*sorted(first), *sorted(others)][: limits.AUDIENCE_PEOPLE_MAX_COUNT]
    in_rooms = (
        (
            found.to_audience_chat(place),
            told.decide_in_group(_with(place, there.get(place.id, ())), subject),
        )
        for place in found.places
    )
    own = (alone_in(chat), explain_decision(decide_with_precedence(request, memory)))
    return AudienceReport(
        rooms=(own, *said_first(in_rooms)),
        people=said_first((found.people[one], told.decide_alone(one)) for one in shown),
        rooms_left_out=rooms.count_of(connection, space, mine) - len(ids),
        people_left_out=rooms.count_people(connection, space, ids, mine) - len(shown),
    )


def of_space(connection: Connection, request: Request, memory: Memory) -> AudienceReport:
    """In the groups of the space, those first where it could be said, and for everybody whom the
    memory names: in private nobody else hears it. For an operator, who may know who is whom."""
    space = request.space
    links = around(connection, space, named(memory))
    told = _Told(request, memory, links, links)
    ids = _of_everybody(connection, space, memory, links)
    there = rooms.among(connection, space, ids, named(memory) | linked(links))
    heads = sorted({links.person_id(one) for one in named(memory) if links.is_recognizable(one)})
    found = rooms.opened(
        connection, space, ids, also={i for one in heads for i in links.current_identities(one)}
    )
    in_rooms = []
    for place in found.places:
        members = {*there.get(place.id, ()), *found.first_members.get(place.id, ())[:1]}
        asks = min(members, default=None)
        in_rooms.append(
            (found.to_audience_chat(place), told.decide_in_group(_with(place, members), asks))
        )
    by_person = said_first(
        (_whole(found.people, links.current_identities(one)), told.decide_alone(one))
        for one in heads
    )
    most = limits.AUDIENCE_PEOPLE_MAX_COUNT
    return AudienceReport(
        rooms=said_first(in_rooms),
        people=by_person[:most],
        rooms_left_out=rooms.count(connection, space) - len(in_rooms),
        people_left_out=max(0, len(by_person) - most),
    )


def _of_everybody(
    connection: Connection, space: str, memory: Memory, links: Identities
) -> list[str]:
    """First where it was learned and where those are whose asking could matter; then others."""
    most = limits.AUDIENCE_CHATS_MAX_COUNT
    learned = memory.learned_in if memory.learned_kind is ChatKind.GROUP else None
    here = [places.place(connection, space, learned).id] if learned else []
    theirs = {identity for one in whose(memory) for identity in links.current_identities(one)}
    first = [*here, *rooms.of(connection, space, theirs, most)] if theirs else here
    return list(dict.fromkeys([*first, *rooms.every(connection, space, most)]))[:most]


def _with(place: StoredChat, members: Iterable[str]) -> StoredChat:
    return replace(place, members=frozenset(members))


def _whole(known: Mapping[str, Person], identities: frozenset[str]) -> Person:
    """Somebody by all their identities."""
    names = {name for one in identities for name in known[one].names}
    return people.whole(set(identities), names)


def said_first(found: Iterable[tuple[T, Decision]]) -> tuple[tuple[T, Explanation], ...]:
    told = [(one, explain_decision(decision)) for one, decision in found]
    return tuple(sorted(told, key=lambda one: not one[1].allowed))
