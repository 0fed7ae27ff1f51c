"""Absent and forbidden look the same: what Bob may not hear might as well not be there.

Two spaces live through the same story, but in one of them whatever Bob may never hear was never
written. Then Bob asks everything a view can be asked, in both, and gets the same answers.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import TacitError
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.view.view import View

START = datetime(2026, 3, 1, tzinfo=UTC)
ALICE, BOB, CAROL = (
    tacit.Requester(f"telegram:{number}", name=name) for number, name in ((1, "Alice"), (2, "Bob"), (3, "Carol"))
)
WITH_BOB = tacit.Chat.group("telegram:-12", [ALICE, BOB])
WITHOUT_BOB = tacit.Chat.group("telegram:-13", [ALICE, CAROL])
AT_HOME = tacit.Chat.private(ALICE.key)
BOBS_CHATS = (tacit.Chat.private(BOB.key), WITH_BOB)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Told:
    """Something that Alice has remembered, and what becomes of it afterwards."""

    chat: tacit.Chat
    fields: dict[str, Any]
    keyed: bool
    later: str | None


@dataclass
class Story:
    """One space in which things happen; the number of each is its moment."""

    space: Memory
    clock: Clock
    ids: dict[int, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Everybody is known before anything is hidden: who is in a room is no secret of theirs."""
        meetings = ((ALICE, WITH_BOB), (BOB, WITH_BOB), (ALICE, WITHOUT_BOB), (BOB, BOBS_CHATS[0]))
        for number, (who, chat) in enumerate(meetings):
            self.clock.now = START + timedelta(seconds=number)
            self.view(who, chat).remember(f"{who.name} says hello", sensitivity="public")

    def view(self, who: tacit.Requester, chat: tacit.Chat) -> View:
        found = self.space.view(who, chat)
        assert isinstance(found, View)
        return found

    def tell(self, number: int, told: Told) -> None:
        self.clock.now = START + timedelta(minutes=2 * number)
        hers = self.view(ALICE, told.chat)
        # A key of its own: what is written to a key takes after the value that was there.
        key = f"slot{number}" if told.keyed else None
        id = hers.remember(f"fact {number} is told", key=key, **told.fields).id
        assert id
        self.ids[number] = id

    def follow(self, number: int, told: Told) -> None:
        """Alice thinks again, at home, where she reaches everything of hers."""
        self.clock.now = START + timedelta(minutes=2 * number + 1)
        hers, id = self.view(ALICE, AT_HOME), self.ids[number]
        acts: dict[str, Callable[[], object]] = {
            "update": lambda: hers.update(id, f"fact {number} is told again"),
            "forget": lambda: hers.forget(id),
            "withhold": lambda: hers.withhold_from(id, [BOB.key, "Sarah"]),
            "raise": lambda: hers.set_visibility(id, "public_ok"),
            "erase": lambda: hers.erase(id),
        }
        if told.later is not None:
            try:
                acts[told.later]()
            except TacitError:
                assert told.fields.get("for_room"), "Alice reaches all that is hers"

    def heard(self) -> set[int]:
        """The numbers of what Bob may hear now, in either of his chats."""
        contents = [m.content for chat in BOBS_CHATS for m in self.view(BOB, chat).list(limit=500)]
        return {int(found) for text in contents for found in re.findall(r"fact (\d+)", text)}


Lived = tuple[Story, set[int]]


def lived(space: Memory, clock: Clock, story: list[Told], left_out: set[int]) -> Lived:
    """The story, and the numbers of what Bob could hear at any moment of it."""
    living = Story(space, clock)
    living.begin()
    heard: set[int] = set()
    for number, told in enumerate(story, start=1):
        if number in left_out:
            continue
        living.tell(number, told)
        heard |= living.heard()
        living.follow(number, told)
        heard |= living.heard()
    clock.now = START + timedelta(days=1)
    return living, heard


def seen(memory: Record) -> list[object]:
    """All that a view shows of a memory, but for ids, which are random."""
    shown = {f.name: getattr(memory, f.name) for f in fields(memory)}
    del shown["id"], shown["space"], shown["superseded_by"]
    return [sorted(value) if isinstance(value, frozenset) else value for value in shown.values()]


def history(bob: View) -> list[object]:
    listed = bob.list(limit=500)
    return [(h.event, h.version, h.content, h.detail) for m in listed for h in bob.history(m.id)]


# Everything Bob can ask. Revisions are left out: they are the thread's, with gaps or without.
ASKS: dict[str, Callable[[View], object]] = {
    "list": lambda bob: [seen(m) for m in bob.list(limit=500)],
    "forgotten": lambda bob: [seen(m) for m in bob.list(state="forgotten")],
    "prefix": lambda bob: [seen(m) for m in bob.list(prefix="slot")],
    "recall": lambda bob: [(seen(r.memory), r.score, r.why, r.rule) for r in bob.recall("fact")],
    "about Alice": lambda bob: [seen(m) for m in bob.people.about(ALICE.key)],
    "about Bob": lambda bob: [seen(m) for m in bob.people.about("Bob")],
    "about Sarah": lambda bob: [seen(m) for m in bob.people.about("Sarah")],
    "get": lambda bob: bob.get("fact", "slot1"),
    "history": history,
    "delta": lambda bob: [(c.event, c.content, c.category) for c in bob.delta().changes],
    "stats": lambda bob: bob.stats(),
    "people": lambda bob: [(p.names, len(p.identities)) for p in bob.people.list()],
    "export": lambda bob: len([*bob.export()]),
}


def answers(living: Story) -> dict[str, str]:
    found = {}
    for chat in BOBS_CHATS:
        for name, ask in ASKS.items():
            try:
                answer = repr(ask(living.view(BOB, chat)))
            except TacitError as error:
                answer = repr(error)
            # People without an account have random ids too.
            found[f"{name} in {chat.kind}"] = re.sub(r"person:\w{8}", "person:…", answer)
    return found


_OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "sensitivity": st.sampled_from(["public", "personal", "sensitive"]),
    "about": st.sampled_from([[BOB.key], [ALICE.key, BOB.key], ["Sarah"]]),
    "withheld_from": st.sampled_from([[BOB.key], [CAROL.key], ["Sarah"]]),
    "portable": st.booleans(),
    "category": st.just("fact"),
    "kind": st.sampled_from(["preference", "task"]),
}
_LATER = st.sampled_from([None, None, "update", "forget", "withhold", "raise", "erase"])


def _told(chat: tacit.Chat, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Told]:
    fields = st.fixed_dictionaries({}, optional={**_OPTIONAL, **more})
    return st.builds(Told, st.just(chat), fields, st.booleans(), _LATER)


_ROOM = {"visibility": st.sampled_from(["private_only", "room", "room"]), "for_room": st.booleans()}
stories = st.lists(
    st.one_of(
        _told(tacit.Chat.private(ALICE.key), visibility=st.sampled_from(["private_only", "public_ok"])),
        _told(WITH_BOB, **_ROOM),
        _told(WITHOUT_BOB, **_ROOM),
    ),
    min_size=1,
    max_size=5,
)
numbers = count()


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Memory, Clock]]:
    clock = Clock()
    with tacit.open("sqlite://", clock=clock) as memory:
        yield memory, clock


@given(story=stories)
def test_what_bob_may_not_hear_might_as_well_not_be_there(world: tuple[Memory, Clock], story: list[Told]) -> None:
    memory, clock = world
    everything = memory.space(f"with-{next(numbers)}")
    told, heard = lived(everything, clock, story, set())
    hidden = {number for number in range(1, len(story) + 1) if number not in heard}
    nothing_hidden = memory.space(f"less-{next(numbers)}")
    bare, _ = lived(nothing_hidden, clock, story, hidden)
    assert answers(told) == answers(bare)
