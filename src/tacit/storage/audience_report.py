"""Report where and to whom a memory may be disclosed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, select

from tacit import limits
from tacit.identity import EXTERNAL_PREFIX, PERSON_PREFIX, Identities, RawRequest, StoredChat, resolve_request
from tacit.policy.rules import decide_with_precedence, explain_decision
from tacit.records.accounts import LinkKind, Person
from tacit.records.memory import ChatKind, Memory
from tacit.records.request import Decision, Request
from tacit.records.results import AudienceChat, AudienceReport, Explanation
from tacit.storage import chats, people
from tacit.storage.engine import to_record
from tacit.storage.schema import chat_members, chats_table
from tacit.storage.spaces import load_identities

# Hypothetical requests: another chat or another requester, limited to what the requester may know.


@dataclass(frozen=True, slots=True)
class HypotheticalRequest:
    """A hypothetical request, with all links and with the links visible to the requester."""

    asked: Request  # resolved with all links
    known: Request  # resolved with the links that the requester may know
    own: bool  # the requester is also the hypothetical requester

    def decide(self, memory: Memory) -> Decision:
        """Decide whether the memory may be shown in this request.

        For the requester's own request, return the true outcome, but no rule that only other
        people's links explain. For another person's request, use only the links that the requester
        may know: the true outcome would reveal that this person has other keys.
        """
        known = decide_with_precedence(self.known, memory)
        if not self.own:
            return known
        true = decide_with_precedence(self.asked, memory)
        if true.allowed == known.allowed:
            return known
        return true if true.allowed else Decision(False, "P0" if self.asked.private else "G0")

    def asked_by(self, identity: str) -> HypotheticalRequest:
        """Return the same chat with another member as the requester."""
        requester = self.known.person(identity)
        return HypotheticalRequest(self.asked, replace(self.known, requester=requester), own=False)


def hypothetical_request(
    connection: Connection, request: Request, asking: RawRequest, *, theirs: bool = False
) -> HypotheticalRequest:
    """Build a hypothetical request.

    Ignore stored data of a chat that the requester is not in. With `theirs`, a private chat is
    taken as a chat of the asking person, whatever is stored about it.
    """
    place = chats.read_chat(connection, request.space, asking.chat)
    alone = theirs and asking.kind is ChatKind.PRIVATE
    if alone or place.members.isdisjoint(request.own_identities):
        place = StoredChat(id=asking.chat)
    links = load_identities(connection, request.space, asking.people | place.members | request.own_identities)
    known = visible_links(connection, request, links)
    return resolve_hypothetical(request, asking, place, links, known, alone=alone)


def resolve_hypothetical(
    request: Request,
    asking: RawRequest,
    place: StoredChat,
    links: Identities,
    known: Identities,
    *,
    alone: bool = False,
) -> HypotheticalRequest:
    asked, as_known = (
        resolve_request(request.space, request.at, asking, place, some, union=True) for some in (links, known)
    )
    if alone:
        asked, as_known = (replace(one, participants=frozenset()) for one in (asked, as_known))
    return HypotheticalRequest(asked, as_known, own=asked.requester == request.requester)


def visible_links(connection: Connection, request: Request, links: Identities) -> Identities:
    """Return the links that the requester may know.

    These are the requester's own and the merges of named people with people that the requester has
    met, which the list of people shows too.
    """
    ends = {link: {link.source, link.target} for link in links.links}
    own = {link for link, both in ends.items() if not request.own_identities.isdisjoint(both)}
    merges = {one for one in links.links if one.kind is LinkKind.MERGE and one.holds} - own
    if merges:
        met = people.list_met_identities(connection, request)
        own |= {link for link in merges if all(end in met or end.startswith(f"{PERSON_PREFIX}:") for end in ends[link])}
    return Identities(tuple(one for one in links.links if one in own))


# Groups and their members, read in batches: the cost depends on the number of rows shown.

_C = chat_members.c
_H = chats_table.c


def _is_group(space: str) -> tuple[ColumnElement[bool], ...]:
    # Use the newest id of a group: its members were moved from the older ids.
    return _H.space_id == space, _H.kind == ChatKind.GROUP.value, _H.migrated_to.is_(None)


def _is_member(space: str) -> tuple[ColumnElement[bool], ...]:
    return _C.space_id == space, _C.left_at.is_(None)


def _select_groups_of(space: str, who: Collection[str]) -> Select[Any]:
    return (
        select(_H.id)
        .join(chat_members, (_H.space_id == _C.space_id) & (_H.id == _C.chat))
        .where(*_is_member(space), _C.person.in_(sorted(who)), *_is_group(space))
        .group_by(_H.id)
    )


def list_groups_of(connection: Connection, space: str, who: Collection[str], most: int) -> list[str]:
    """List the groups that these identities are in now, the last joined first."""
    groups = _select_groups_of(space, who).order_by(func.max(_C.joined_at).desc(), _H.id)
    return list(connection.execute(groups.limit(most)).scalars())


def count_groups_of(connection: Connection, space: str, who: Collection[str]) -> int:
    groups = _select_groups_of(space, who).subquery()
    return connection.scalar(select(func.count()).select_from(groups)) or 0


def list_groups(connection: Connection, space: str, most: int, after: str = "") -> list[str]:
    """List the groups of a space in the order of their ids, after the given id."""
    groups = select(_H.id).where(*_is_group(space), _H.id > after).order_by(_H.id)
    return list(connection.execute(groups.limit(most)).scalars())


def count_groups(connection: Connection, space: str) -> int:
    groups = select(func.count()).select_from(chats_table).where(*_is_group(space))
    return connection.scalar(groups) or 0


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """Groups in the requested order, each with its first members."""

    places: tuple[StoredChat, ...]  # without their members
    first_members: Mapping[str, Sequence[str]]  # chat → members, without the requester
    people: Mapping[str, Person] = field(default_factory=dict)  # with their public names

    def to_audience_chat(self, place: StoredChat) -> AudienceChat:
        there, most = self.first_members.get(place.id, ()), limits.AUDIENCE_CHAT_PEOPLE_MAX_COUNT
        return AudienceChat(
            id=place.id,
            kind=ChatKind.GROUP,
            confidential=place.confidential,
            people=tuple(self.people[one] for one in there[:most]),
            complete=len(there) <= most,
        )


def read_group_members(
    connection: Connection, space: str, ids: Sequence[str], besides: Collection[str] = (), also: Iterable[str] = ()
) -> GroupMembers:
    """Read groups and their first members; `also` adds people whose public names are read."""
    if not ids:
        return GroupMembers((), {}, people.read_public_names(connection, space, also))
    chat_ids = chats.read_chat_ids(connection, space, ids)
    named = select(_H.id, _H.confidential).where(_H.space_id == space, _H.id.in_(ids))
    places = {
        row.id: to_record(StoredChat, row, kind=ChatKind.GROUP, chat_ids=frozenset(chat_ids[row.id]))
        for row in connection.execute(named)
    }
    number = func.row_number().over(partition_by=_C.chat, order_by=_C.person).label("number")
    others = (_C.chat.in_(ids), _C.person.not_in(sorted(besides)))
    numbered = select(_C.chat, _C.person, number).where(*_is_member(space), *others).subquery()
    most = numbered.c.number <= limits.AUDIENCE_CHAT_PEOPLE_MAX_COUNT + 1
    first: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(select(numbered).where(most).order_by(numbered.c.person)):
        if row.person not in first[row.chat]:
            first[row.chat].append(row.person)
    known = people.read_public_names(connection, space, {*also}.union(*first.values()))
    return GroupMembers(tuple(places[id] for id in ids if id in places), first, known)


def list_members_among(
    connection: Connection, space: str, ids: Sequence[str], who: Collection[str]
) -> dict[str, set[str]]:
    """Return which of these people are members of each chat."""
    these = (_C.chat.in_(ids), _C.person.in_(sorted(who)))
    found: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(select(_C.chat, _C.person).where(*_is_member(space), *these)):
        found[row.chat].add(row.person)
    return found


def count_group_people(connection: Connection, space: str, ids: Sequence[str], besides: Collection[str]) -> int:
    others = (_C.chat.in_(ids), _C.person.not_in(sorted(besides)))
    counted = select(func.count(_C.person.distinct())).where(*_is_member(space), *others)
    return (connection.scalar(counted) or 0) if ids else 0


# The audience of one memory: each chat of the requester, and each member in private.
#
# Only the people that the memory names, and their other identities, affect a decision. The cost of
# a group with a thousand members therefore depends on the number of rows shown.

T = TypeVar("T", AudienceChat, Person)
_NOBODY: frozenset[str] = frozenset()


def named_people(memory: Memory) -> frozenset[str]:
    """Return all people on whom a decision about the memory can depend."""
    return concerned_people(memory) | memory.heard_by | memory.withheld_from


def concerned_people(memory: Memory) -> frozenset[str]:
    """Return the people that the memory concerns, who may retrieve it where others may not."""
    those = {one for one in (memory.owner, memory.speaker) if one is not None}
    return memory.subjects | those


def list_own_chats(connection: Connection, request: Request, chat: str) -> list[AudienceChat]:
    """List the requester's private chat and the groups that the requester is in now."""
    ids = list_groups_of(connection, request.space, request.own_identities, limits.AUDIENCE_CHATS_MAX_COUNT)
    found = read_group_members(connection, request.space, ids, request.own_identities)
    return [private_chat(chat), *(found.to_audience_chat(place) for place in found.places)]


def private_chat(chat: str) -> AudienceChat:
    return AudienceChat(id=chat, kind=ChatKind.PRIVATE, confidential=False)


@dataclass(frozen=True, slots=True)
class _MemoryAudience:
    """A memory with the links of the people it names: all, and those the requester may know."""

    request: Request
    memory: Memory
    links: Identities
    known: Identities

    def decide_in_group(self, group: StoredChat, members: Iterable[str], subject: str | None) -> Decision:
        """Decide whether the memory may be shown in this group.

        The request is made by `subject` or, if that is denied, by any member that the memory
        concerns.
        """
        place = replace(group, members=frozenset(members))
        asking = RawRequest(subject, place.id, ChatKind.GROUP, _NOBODY, complete=False)
        there = resolve_hypothetical(self.request, asking, place, self.links, self.known)
        decision = there.decide(self.memory)
        if not decision.allowed:
            person = there.known.person
            concerned = {person(one) for one in concerned_people(self.memory)}
            others = place.members - self.request.own_identities
            for one in sorted(one for one in others if person(one) in concerned):
                other = there.asked_by(one).decide(self.memory)
                if other.allowed:
                    return other
        return decision

    def decide_alone(self, identity: str) -> Decision:
        """Decide whether the memory may be shown to a person in a private chat."""
        chat = identity.removeprefix(f"{EXTERNAL_PREFIX}:")
        asking = RawRequest(identity, chat, ChatKind.PRIVATE, _NOBODY, complete=False)
        at = resolve_hypothetical(self.request, asking, StoredChat(id=chat), self.known, self.known, alone=True)
        return at.decide(self.memory)

    def concerned_members(self, connection: Connection, ids: Sequence[str]) -> dict[str, set[str]]:
        """Return the members of each group on whom the decisions there can depend."""
        linked = {end for link in self.links.links for end in (link.source, link.target)}
        who = named_people(self.memory) | linked | self.request.own_identities
        return list_members_among(connection, self.request.space, ids, who)


def report_for_person(
    connection: Connection, request: Request, subject: str, chat: str, memory: Memory
) -> AudienceReport:
    """Report on the requester's chats and on the people who share a group with the requester."""
    space, mine = request.space, request.own_identities
    links = load_identities(connection, space, named_people(memory) | mine)
    told = _MemoryAudience(request, memory, links, visible_links(connection, request, links))
    ids = list_groups_of(connection, space, mine, limits.AUDIENCE_CHATS_MAX_COUNT)
    there = told.concerned_members(connection, ids)
    named = named_people(memory)
    first = {
        one for one in set().union(*there.values()) - mine if not told.known.current_identities(one).isdisjoint(named)
    }
    found = read_group_members(connection, space, ids, mine, first)
    others = {one for some in found.first_members.values() for one in some} - first
    shown = [*sorted(first), *sorted(others)][: limits.AUDIENCE_PEOPLE_MAX_COUNT]
    in_rooms = (
        (found.to_audience_chat(place), told.decide_in_group(place, there[place.id], subject)) for place in found.places
    )
    own = (private_chat(chat), explain_decision(decide_with_precedence(request, memory)))
    return AudienceReport(
        rooms=(own, *sort_allowed_first(in_rooms)),
        people=sort_allowed_first((found.people[one], told.decide_alone(one)) for one in shown),
        rooms_left_out=count_groups_of(connection, space, mine) - len(ids),
        people_left_out=count_group_people(connection, space, ids, mine) - len(shown),
    )


def report_for_space(connection: Connection, request: Request, memory: Memory) -> AudienceReport:
    """Report on the groups of the space and on the people that the memory names, for an operator.

    Groups where the memory may be shown come first. In private, only the people that the memory
    names can see it. An operator may know all links.
    """
    space = request.space
    links = load_identities(connection, space, named_people(memory))
    told = _MemoryAudience(request, memory, links, links)
    ids = _relevant_groups(connection, space, memory, links)
    there = told.concerned_members(connection, ids)
    heads = sorted({links.person_id(one) for one in named_people(memory) if links.is_recognizable(one)})
    found = read_group_members(connection, space, ids, also={i for one in heads for i in links.current_identities(one)})
    in_rooms = []
    for place in found.places:
        members = there[place.id] | {*found.first_members.get(place.id, ())[:1]}
        decision = told.decide_in_group(place, members, min(members, default=None))
        in_rooms.append((found.to_audience_chat(place), decision))
    by_person = sort_allowed_first(
        (_whole_person(found.people, links.current_identities(one)), told.decide_alone(one)) for one in heads
    )
    most = limits.AUDIENCE_PEOPLE_MAX_COUNT
    return AudienceReport(
        rooms=sort_allowed_first(in_rooms),
        people=by_person[:most],
        rooms_left_out=count_groups(connection, space) - len(in_rooms),
        people_left_out=max(0, len(by_person) - most),
    )


def _relevant_groups(connection: Connection, space: str, memory: Memory, links: Identities) -> list[str]:
    """List the group where it was learned, then groups of the people it concerns, then others."""
    most = limits.AUDIENCE_CHATS_MAX_COUNT
    learned = memory.learned_in if memory.learned_kind is ChatKind.GROUP else None
    here = [chats.read_chat(connection, space, learned).id] if learned else []
    theirs = {identity for one in concerned_people(memory) for identity in links.current_identities(one)}
    first = [*here, *list_groups_of(connection, space, theirs, most)] if theirs else here
    return list(dict.fromkeys([*first, *list_groups(connection, space, most)]))[:most]


def _whole_person(known: Mapping[str, Person], identities: frozenset[str]) -> Person:
    """Build a person with all their identities."""
    names = {name for one in identities for name in known[one].names}
    return people.build_person(set(identities), names)


def sort_allowed_first(found: Iterable[tuple[T, Decision]]) -> tuple[tuple[T, Explanation], ...]:
    told = [(one, explain_decision(decision)) for one, decision in found]
    return tuple(sorted(told, key=lambda one: not one[1].allowed))
