"""Preview who would be told which memories, now and after a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tacit import limits
from tacit.console import labels, people
from tacit.console.labels import PersonLabels
from tacit.console.sessions import Visitor
from tacit.errors import InvalidInput
from tacit.limits import AUDIENCE_CHATS_MAX_COUNT, AUDIENCE_PEOPLE_MAX_COUNT, AUDIENCE_RECALL_COUNT
from tacit.memory import RULE_TEXTS
from tacit.records.accounts import Person
from tacit.records.memory import ChatKind, Memory
from tacit.records.queries import Search
from tacit.records.request import Chat, Requester
from tacit.records.results import AudienceChat, AudiencePreview, AudienceReport, Explanation

# Somebody who asks in some chat, as a visitor chooses them, and what they would be told there: a
# person learns it of their own memories alone, an operator of all in the space.


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSetting:
    room: str | None  # its id; None: in private, with nobody but who asks
    by: str | None  # the key of who asks; None: the visitor

    def chat(self, visitor: Visitor) -> Chat:
        if self.room is not None:
            return Chat.group(self.room)
        return Chat.private(self.by or visitor.name)

    @property
    def asker(self) -> Requester | None:
        return None if self.by is None else Requester(self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedMemory:
    """One memory, and the rule by which it is said or withheld."""

    memory: Memory
    rule: str
    says: str
    why: str | None = None  # it comes to mind


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosurePreview:
    said: tuple[PreviewedMemory, ...] = ()
    withheld: tuple[PreviewedMemory, ...] = ()
    cursor: str | None = None  # of those behind these, in both


def list_groups(visitor: Visitor) -> tuple[AudienceChat, ...]:
    """Groups that can be chosen. An operator may name others."""
    if visitor.is_operator:
        return visitor.operator.audience.chats(limit=AUDIENCE_CHATS_MAX_COUNT).items
    return tuple(room for room in visitor.view.audience.chats() if room.kind is ChatKind.GROUP)


def list_askers(visitor: Visitor, rooms: Iterable[AudienceChat]) -> dict[str, str]:
    """Who can be chosen, besides a person themselves: keys and names. An operator may name others;
    who is known by name only asks nowhere."""
    found: Iterable[Person] = (one for room in rooms for one in room.people)
    if visitor.is_operator:
        found = visitor.operator.people.list(limit=limits.PAGE_MAX_COUNT).items
    named = {
        key: labels.person_label(one) for one in found for key in people.list_external_keys(one)
    }
    by_name = sorted(named.items(), key=lambda one: (one[1].casefold(), one[0]))
    return dict(by_name[:AUDIENCE_PEOPLE_MAX_COUNT])


def choose_setting(
    visitor: Visitor, rooms: Sequence[AudienceChat], room: str | None, by: str | None
) -> PreviewSetting:
    """A person chooses among their own rooms, and who is there; alone, whom they share one with."""
    chosen = PreviewSetting(room=room, by=by)
    if visitor.is_operator:
        return chosen
    there = [one for one in rooms if room in (None, one.id)]
    if room is not None and not there:
        raise InvalidInput("room", "is no room that you are in; choose one of the list")
    known = {
        key for one in there for person in one.people for key in people.list_external_keys(person)
    }
    if by is not None and by not in known:
        where = "somebody you share a room with" if room is None else "somebody who is there"
        raise InvalidInput("by", f"is not known to be there; choose {where}")
    return chosen


def preview_list(
    visitor: Visitor, at: PreviewSetting, search: Search, cursor: str | None
) -> DisclosurePreview:
    """Newest first, as many at once as a page of a list."""
    found = visitor.api.audience.preview(
        at.chat(visitor), at.asker, search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor
    )
    return DisclosurePreview(
        said=tuple(_previewed_memory(one) for one in found if one.allowed),
        withheld=tuple(_previewed_memory(one) for one in found if not one.allowed),
        cursor=found.cursor,
    )


def preview_answer(
    visitor: Visitor, at: PreviewSetting, question: str, search: Search, cursor: str | None
) -> DisclosurePreview:
    """To an operator, what would come to mind there, beside what is withheld whatever is asked."""
    if not visitor.is_operator:
        return _preview_own_answer(visitor, at, question)
    found = visitor.operator.audience.recall(
        at.chat(visitor), at.asker, question, AUDIENCE_RECALL_COUNT
    )
    said = tuple(
        PreviewedMemory(memory=one.memory, rule=one.rule, says=RULE_TEXTS[one.rule], why=one.why)
        for one in found
    )
    rest = preview_list(visitor, at, search, cursor)
    return DisclosurePreview(said=said, withheld=rest.withheld, cursor=rest.cursor)


def _preview_own_answer(visitor: Visitor, at: PreviewSetting, question: str) -> DisclosurePreview:
    """What comes to a person's own mind in private, of what is theirs, and whether it would be said
    there. In what order it would come among what others said there is not for them to know."""
    view, names = visitor.view, labels.labels_for(visitor)
    said: list[PreviewedMemory] = []
    withheld: list[PreviewedMemory] = []
    for one in view.recall(question, top_k=AUDIENCE_RECALL_COUNT, user=visitor.name):
        if names.is_mine(one.memory.owner):
            told = view.explain(one.memory.id, at.chat(visitor), at.asker)
            kept = PreviewedMemory(memory=one.memory, rule=told.rule, says=told.says, why=one.why)
            (said if told.allowed else withheld).append(kept)
    return DisclosurePreview(said=tuple(said), withheld=tuple(withheld))


def _previewed_memory(one: AudiencePreview) -> PreviewedMemory:
    return PreviewedMemory(memory=one.memory, rule=one.rule, says=one.says)


# Who could hear a memory before and after a change, room by room and person by person.


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceEntry:
    """A room with who is there, or one person in private."""

    room: str | None  # its id; None: a private chat
    people: tuple[str, ...]
    more: bool  # there are more people than these
    says: str  # why, or why not, after the change


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceChanges:
    gains: list[AudienceEntry] = field(default_factory=list)
    loses: list[AudienceEntry] = field(default_factory=list)
    still: list[AudienceEntry] = field(default_factory=list)
    never: list[AudienceEntry] = field(default_factory=list)


def compare_audiences(
    now: AudienceReport, then: AudienceReport, names: PersonLabels
) -> AudienceChanges:
    before = {key: told.allowed for key, _, told in _each_entry(now, names)}
    found = AudienceChanges()
    for key, hearer, told in _each_entry(then, names):
        if told.allowed:
            (found.still if before.get(key) else found.gains).append(hearer)
        else:
            (found.loses if before.get(key) else found.never).append(hearer)
    return found


def count_gains(several: Iterable[AudienceChanges]) -> list[tuple[AudienceEntry, int]]:
    """Who could hear any of several memories that they could not hear before, and how many."""
    found: dict[tuple[str | None, tuple[str, ...]], tuple[AudienceEntry, int]] = {}
    for changes in several:
        for one in changes.gains:
            first, count = found.get((one.room, one.people), (one, 0))
            found[one.room, one.people] = first, count + 1
    return list(found.values())


def _each_entry(
    hearers: AudienceReport, names: PersonLabels
) -> Iterator[tuple[str, AudienceEntry, Explanation]]:
    for room, told in hearers.rooms:
        yield f"room {room.id}", _room_entry(room, told, names), told
    for person, told in hearers.people:
        name = names.of(person.id)
        called = labels.person_label(person) if name == labels.external_key(person.id) else name
        yield f"person {person.id}", _person_entry(called, told), told


def _room_entry(room: AudienceChat, told: Explanation, names: PersonLabels) -> AudienceEntry:
    if room.kind is ChatKind.PRIVATE:
        return _person_entry(names.of(f"ext:{room.id}"), told)
    people = tuple(labels.person_label(one) for one in room.people)
    return AudienceEntry(room=room.id, people=people, more=not room.complete, says=told.says)


def _person_entry(name: str, told: Explanation) -> AudienceEntry:
    return AudienceEntry(room=None, people=(name,), more=False, says=told.says)
