"""Somebody who asks in some chat, as a visitor chooses them, and what they would be told there: a
person learns it of their own memories alone, an operator of all in the space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tacit import limits
from tacit.errors import InvalidInput
from tacit.limits import AUDIENCE_CHATS_MAX_COUNT, AUDIENCE_PEOPLE_MAX_COUNT, AUDIENCE_RECALL_COUNT
from tacit.memory import RULE_TEXTS
from tacit.records.accounts import Person
from tacit.records.memory import ChatKind, Memory
from tacit.records.queries import Search
from tacit.records.request import Chat, Requester
from tacit.records.results import AudienceChat, AudiencePreview
from tacit.surfaces.console import knowing, naming
from tacit.surfaces.console.visitor import Visitor


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
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
class Told:
    """One memory, and the rule by which it is said or withheld."""

    memory: Memory
    rule: str
    says: str
    why: str | None = None  # it comes to mind


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    said: tuple[Told, ...] = ()
    withheld: tuple[Told, ...] = ()
    cursor: str | None = None  # of those behind these, in both


def rooms_of(visitor: Visitor) -> tuple[AudienceChat, ...]:
    """Groups that can be chosen. An operator may name others."""
    if visitor.is_operator:
        return visitor.operator.rooms(limit=AUDIENCE_CHATS_MAX_COUNT).items
    return tuple(room for room in visitor.view.rooms() if room.kind is ChatKind.GROUP)


def askers(visitor: Visitor, rooms: Iterable[AudienceChat]) -> dict[str, str]:
    """Who can be chosen, besides a person themselves: keys and names. An operator may name others;
    who is known by name only asks nowhere."""
    found: Iterable[Person] = (one for room in rooms for one in room.people)
    if visitor.is_operator:
        found = visitor.operator.people(limit=limits.PAGE_MAX_COUNT).items
    named = {key: naming.called(one) for one in found for key in knowing.keys(one)}
    by_name = sorted(named.items(), key=lambda one: (one[1].casefold(), one[0]))
    return dict(by_name[:AUDIENCE_PEOPLE_MAX_COUNT])


def scene(
    visitor: Visitor, rooms: Sequence[AudienceChat], room: str | None, by: str | None
) -> Scene:
    """A person chooses among their own rooms, and who is there; alone, whom they share one with."""
    chosen = Scene(room=room, by=by)
    if visitor.is_operator:
        return chosen
    there = [one for one in rooms if room in (None, one.id)]
    if room is not None and not there:
        raise InvalidInput("room", "is no room that you are in; choose one of the list")
    known = {key for one in there for person in one.people for key in knowing.keys(person)}
    if by is not None and by not in known:
        where = "somebody you share a room with" if room is None else "somebody who is there"
        raise InvalidInput("by", f"is not known to be there; choose {where}")
    return chosen


def heard(visitor: Visitor, at: Scene, search: Search, cursor: str | None) -> Heard:
    """Newest first, as many at once as a page of a list."""
    found = visitor.api.hearing(
        at.chat(visitor), at.asker, search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor
    )
    return Heard(
        said=tuple(_told(one) for one in found if one.allowed),
        withheld=tuple(_told(one) for one in found if not one.allowed),
        cursor=found.cursor,
    )


def answered(
    visitor: Visitor, at: Scene, question: str, search: Search, cursor: str | None
) -> Heard:
    """To an operator, what would come to mind there, beside what is withheld whatever is asked."""
    if not visitor.is_operator:
        return _own_answer(visitor, at, question)
    found = visitor.operator.recalled(at.chat(visitor), at.asker, question, AUDIENCE_RECALL_COUNT)
    said = tuple(
        Told(memory=one.memory, rule=one.rule, says=RULE_TEXTS[one.rule], why=one.why)
        for one in found
    )
    rest = heard(visitor, at, search, cursor)
    return Heard(said=said, withheld=rest.withheld, cursor=rest.cursor)


def _own_answer(visitor: Visitor, at: Scene, question: str) -> Heard:
    """What comes to a person's own mind in private, of what is theirs, and whether it would be said
    there. In what order it would come among what others said there is not for them to know."""
    view, names = visitor.view, naming.names_for(visitor)
    said: list[Told] = []
    withheld: list[Told] = []
    for one in view.recall(question, top_k=AUDIENCE_RECALL_COUNT, user=visitor.name):
        if names.is_mine(one.memory.owner):
            told = view.explain(one.memory.id, at.chat(visitor), at.asker)
            kept = Told(memory=one.memory, rule=told.rule, says=told.says, why=one.why)
            (said if told.allowed else withheld).append(kept)
    return Heard(said=tuple(said), withheld=tuple(withheld))


def _told(one: AudiencePreview) -> Told:
    return Told(memory=one.memory, rule=one.rule, says=one.says)
