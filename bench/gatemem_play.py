"""Plays an episode into an open memory, message by message, as a channel adapter would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import tacit
from bench.gatemem_data import AGENT, Checkpoint, Episode, Turn
from bench.gatemem_deletion import (
    Order,
    contains,
    describes_numbers,
    holding,
    order_in,
    statements,
    telling_parts,
    tied_numbers,
)
from bench.gatemem_rooms import CHANNEL, OPEN, Placed, Room, project_name, rooms_of
from tacit.screening.secrets import find_secret

TOP_K = 10
_PAGE_COUNT = 500
_GUESS_SHARED_WORDS = 3  # a described value is forgotten where this many words agree
_RECORD_WITHIN_TURNS = 5  # a record this soon after a request spells out what was asked
_ARCHIVE = tacit.Requester(f"{CHANNEL}:archive")
_WENT = ("requests", "named", "erased", "forgotten")
_WORD = re.compile(r"[a-z0-9]{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One text that was handed over, and the rule that let it."""

    text: str
    rule: str = ""


@dataclass(slots=True)
class Deletions:
    """What was asked for, what went, and what stayed and why."""

    requests: int = 0
    named: int = 0  # values that the requests name
    erased: int = 0
    forgotten: int = 0
    by_operator: int = 0  # copies out of the requester's reach
    secrets: int = 0  # sentences that were left out because they hold one
    not_taken_in: int = 0  # later sentences that name what was deleted
    stayed: dict[str, int] = field(default_factory=dict)  # reason: copies of a named value

    def add(self, other: Deletions) -> None:
        for name in (*_WENT, "by_operator", "secrets", "not_taken_in"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, count in other.stayed.items():
            self.stayed[reason] = self.stayed.get(reason, 0) + count


def _without_secrets(sentences: list[str]) -> list[str]:
    """A memory refuses secrets: the sentence that holds one is left out, and the rest is kept."""
    kept: list[str] = []
    for one in sentences:
        if find_secret(" ".join([*kept, one])) is None:
            kept.append(one)
    return kept


class Clock:
    """The time of the turn that is being played."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def recalled(view: tacit.View, question: str) -> list[Passage]:
    found = view.recall(question, top_k=TOP_K)
    return [Passage(text=one.memory.content, rule=one.rule) for one in found]


class Player:
    """One episode in a space of its own, and once more where nothing is filtered or deleted."""

    def __init__(
        self, memory: tacit.Memory, clock: Clock, episode: Episode, space: str, *, operator: bool = True
    ) -> None:
        self.episode = episode
        self.deletions = Deletions()
        self.order_texts: list[str] = []  # of the requests so far, for scoring
        self.own_words: dict[str, set[str]] = {}  # by speaker, in every form they are kept in
        self._memory = memory.space(space)
        self._archive = memory.space(f"{space}-all").view(_ARCHIVE, tacit.Chat.private(_ARCHIVE.key))
        self._operator = self._memory.operator(CHANNEL) if operator else None
        self._clock = clock
        self._rooms = rooms_of(episode)
        self._met: dict[str, Room] = {}
        self._kept: dict[str, tuple[str, Room]] = {}  # what is in memory now, by id
        self._gone: dict[str, list[str]] = {}  # scope: values that stay deleted
        self._asked: dict[str, tuple[str, int]] = {}  # scope: who asked last, and at which turn
        projects = {b["project_id"] for b in episode.bonds if "project_id" in b}
        people = (p.name for p in episode.people.values())
        self._known = frozenset([*people, *map(project_name, projects)])

    def turns(self) -> Iterator[Turn]:
        """Each turn, after it was taken in."""
        for number, turn in enumerate(self.episode.turns):
            self._clock.now = turn.at
            self._take_in(number, turn)
            yield turn

    def asked(self, checkpoint: Checkpoint) -> list[Passage]:
        return recalled(self._private(checkpoint.asker), checkpoint.question)

    def asked_unfiltered(self, checkpoint: Checkpoint) -> list[Passage]:
        return recalled(self._archive, checkpoint.question)

    def heard(self, asker: str) -> list[str]:
        """Everything that the asker could be told, whatever the question."""
        return [one.content for one in _all(self._private(asker))]

    def _take_in(self, number: int, turn: Turn) -> None:
        placed = self._rooms.place(turn)
        self._met[placed.room.id] = placed.room
        order = order_in(turn.text, self._known)
        said = _without_secrets(statements(turn.text))
        self.deletions.secrets += len(statements(turn.text)) - len(said)
        everything = " ".join(said)
        if everything:
            self._archive.remember(everything, observed_at=turn.at)
        self._say(turn.speaker, turn.text, everything)
        if order is not None:
            self._obey(number, turn, placed, order)
            said = [one for one in said if one not in order.sentences]
        everywhere = self._operator is not None or placed.room.scope == OPEN
        gone = [
            value
            for scope, values in self._gone.items()
            for value in values
            if everywhere or scope in (placed.room.scope, OPEN)
        ]
        kept = [one for one in said if not holding(one, gone)]
        self.deletions.not_taken_in += len(said) - len(kept)
        if kept:
            self._say(turn.speaker, " ".join(kept))
            self._remember(turn, placed, " ".join(kept))

    def _say(self, speaker: str, *texts: str) -> None:
        self.own_words.setdefault(speaker, set()).update(texts)

    def _remember(self, turn: Turn, placed: Placed, text: str) -> None:
        room = placed.room
        done = self._view(placed.speaker, room).remember(
            text,
            about=[_key(room.about)] if room.about else None,
            visibility="room",
            sensitivity="public" if room.own_facts else None,
            for_room=room.own_facts,
            observed_at=turn.at,
            message=turn.id,
            role="assistant" if self.episode.people[turn.speaker].role == AGENT else None,
        )
        self._kept[done.id] = (text, room)

    def _obey(self, number: int, turn: Turn, placed: Placed, order: Order) -> None:
        requester, room = placed.speaker, placed.room
        if order.record or self.episode.people[turn.speaker].role == AGENT:
            # A record of a deletion spells out what somebody asked for, and asks for nothing more.
            who, when = self._asked.get(room.scope, ("", -_RECORD_WITHIN_TURNS - 1))
            if number - when > _RECORD_WITHIN_TURNS:
                return
            requester = who
        theirs = requester == room.about or room.own_facts  # to decide on the matter as such
        if theirs and not order.record:
            self._asked[room.scope] = (requester, number)
        self.deletions.requests += 1
        self.deletions.named += len(order.values)
        self.order_texts.append(turn.text)
        values = [*order.values, *self._tied(requester, order)]
        values += [part for value in values for part in telling_parts(value)]
        if not values:
            self._guess(requester, order)
            return
        reached = self._delete(requester, room.scope, values)
        self._settle_what_stayed(requester, values, reached, theirs=theirs)
        if theirs:
            self._gone.setdefault(room.scope, []).extend(values)

    def _tied(self, requester: str, order: Order) -> list[str]:
        """Numbers that go with a named place, where the request speaks of its number."""
        if not describes_numbers(order):
            return []
        heard = self.heard(requester)
        found = [n for v in order.values for text in heard for n in tied_numbers(text, v)]
        return [n for n in dict.fromkeys(found) if n not in order.values]

    def _guess(self, requester: str, order: Order) -> None:
        """What is described and not named is only forgotten: that can be undone."""
        wanted = set(_WORD.findall(order.words.lower()))
        view = self._private(requester)
        recall: Any = view.recall
        for one in recall(order.words):
            shared = wanted & set(_WORD.findall(one.memory.content.lower()))
            if len(shared) >= _GUESS_SHARED_WORDS:
                self._drop(view, one.memory.id, erase=False)

    def _delete(self, requester: str, scope: str, values: list[str]) -> set[str]:
        """In private, and then in every room of this matter that the requester is in."""
        rooms = [room for room in self._met.values() if requester in room.members and room.scope in (scope, OPEN)]
        reached: set[str] = set()
        for view in [self._private(requester), *(self._view(requester, room) for room in rooms)]:
            for one in _all(view):
                if holding(one.content, values):
                    reached.add(one.id)
                    self._drop(view, one.id, erase=True)
        return reached

    def _drop(self, view: tacit.View, id: str, *, erase: bool) -> None:
        """Erased if it is theirs, else forgotten if they may; what may not be done is left."""
        if erase:
            try:
                view.erase(id)
                self.deletions.erased += 1
                self._kept.pop(id, None)
                return
            except tacit.NotFound:
                pass
        try:
            view.forget(id)
            self.deletions.forgotten += 1
            self._kept.pop(id, None)
        except tacit.NotFound:
            pass

    def _settle_what_stayed(self, requester: str, values: list[str], reached: set[str], *, theirs: bool) -> None:
        """Copies out of the requester's reach are put to an operator, whose act is on record."""
        for id, (text, room) in list(self._kept.items()):
            if holding(text, values):
                if requester not in room.members:
                    reason = "said in a room that the requester is not in"
                elif id in reached:
                    reason = "the requester may hear it and may not delete it"
                else:
                    reason = "about another matter than the request"
                self.deletions.stayed[reason] = self.deletions.stayed.get(reason, 0) + 1
                if theirs and self._operator is not None:
                    self._operator.erase(id)
                    self.deletions.by_operator += 1
                    del self._kept[id]

    def _private(self, person: str) -> tacit.View:
        return self._memory.view(self._requester(person), tacit.Chat.private(_key(person)))

    def _view(self, person: str, room: Room) -> tacit.View:
        chat = tacit.Chat.group(room.id, [_key(one) for one in sorted(room.members)])
        return self._memory.view(self._requester(person), chat)

    def _requester(self, person: str) -> tacit.Requester:
        return tacit.Requester(_key(person), name=self.episode.people[person].name)


def named_in_orders(target: str, orders: list[str]) -> bool:
    """Whether the words of a leak target stand in a request: then the request names it. A bare
    number of up to three digits, such as an area code, stands in much else and names nothing."""
    if re.fullmatch(r"\d{1,3}", target):
        return False
    return any(contains(order, target) for order in orders)


def _all(view: tacit.View) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = view.list(limit=_PAGE_COUNT, cursor=cursor)
        found += page
        cursor = page.cursor
        if cursor is None:
            return found


def _key(person: str) -> str:
    return f"{CHANNEL}:{person}"
