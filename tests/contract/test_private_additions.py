"""What an owner adds to a memory in private stays with the owner: whoever else hears the memory,
and the room in which the owner asks, observe the same as if nothing had been added."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.prompts.block import Style
from tacit.records.memory import Memory as Record
from tacit.tools import tools
from tacit.view.view import View
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, SetClock, group, kept, private

WORLDS = count()
START = SetClock().now
EVERYBODY: Any = {"here": (ALICE, BOB, CAROL)}
WORD = st.sampled_from(["zqtag", "done", "tea", "Bob", "preference", "task"])
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"pinned": True},
    {"pinned": False},
    {"importance_min": 4},
    {"importance_max": 2},
    {"role": "zqtag"},
    {"agent": "zqtag"},
    {"run": "zqtag"},
    {"updated_after": START + timedelta(seconds=20)},
    {"as_of": START + timedelta(days=1)},
)

Act = tuple[str, Any]
added = st.one_of(
    st.tuples(st.just("tags"), st.lists(WORD, max_size=3)),
    st.tuples(st.just("slot"), WORD),
    st.tuples(st.just("data"), st.dictionaries(WORD, WORD, min_size=1, max_size=2)),
    st.tuples(st.just("importance"), st.integers(1, 5)),
    st.tuples(st.just("confidence"), st.sampled_from([0.1, 0.9])),
    st.tuples(st.just("pin"), st.booleans()),
    st.tuples(st.sampled_from(["agent", "run", "role"]), WORD),
    st.tuples(st.just("expires_at"), st.just(START + timedelta(days=300))),
)


def build(memory: Memory, clock: SetClock, acts: list[tuple[int, Act]]) -> list[object]:
    clock.now = START
    alice, alone = group(memory, ALICE, **EVERYBODY), private(memory, ALICE)
    steps: list[Callable[[], str]] = [
        lambda: kept(alice, "Alice drinks tea", **ALOUD),
        lambda: kept(alice, "Alice repairs the bicycle", kind="task", **ALOUD),
        lambda: alice.put("preference", "drink", "Alice also likes coffee", **ALOUD).id,
        lambda: alone.put("profile", "zone", "Lisbon tea time", visibility="public_ok").id,
    ]
    ids = []
    for step in steps:
        clock.forward(seconds=1)
        ids.append(step())
    alone.update(ids[-1], sensitivity="public")
    for view in views(memory):
        view.block()  # so that there is something since when to tell news
    clock.forward(seconds=30)
    for which, act in acts:
        add(alone, ids, which, act)
    clock.forward(seconds=1)
    found = [observed(view, ids) for view in views(memory)]
    clock.now = START + timedelta(hours=3)  # another conversation: its blocks are new
    alice.put("preference", "drink", "Alice also likes black coffee", **ALOUD)
    return [*found, *(observed(view, ids) for view in views(memory))]


def add(alone: View, ids: list[str], which: int, act: Act) -> None:
    name, value = act
    if name == "pin":
        alone.pin(ids[which], value)
    else:
        # Data belongs to the wording: said in private, it makes a private memory of a room's.
        alone.update(ids[-1] if name == "data" else ids[which], **{name: value})


def views(memory: Memory) -> list[View]:
    return [
        group(memory, BOB, **EVERYBODY),
        group(memory, ALICE, **EVERYBODY),  # the room reads along
        group(memory, CAROL, complete=True, **EVERYBODY),
        private(memory, BOB),
        group(memory, BOB, "telegram:-900", here=(ALICE, BOB)),
    ]


def observed(view: View, ids: list[str]) -> str:
    """Everything that a view tells, with a number for each id."""
    listed = view.list().items
    found: list[object] = [record(one) for one in listed]
    for id in (one.id for one in listed):
        found += [record(view.show(id)), view.history(id)]
    for narrowed in ({"pinned": True}, {"pinned": False}, {"kind": "task"}, {"prefix": "d"}):
        found += [[one.id for one in view.list(**narrowed)], view.count(**narrowed)]
    for narrowed in FILTERS:
        found += [told(one) for one in view.recall("zqtag tea done", **narrowed)]
    for bullet in view.query("tea", form="full"):
        found += [bullet.text, bullet.recalled and told(bullet.recalled)]
    found += [view.stats(), view.delta()]
    # Ids are drawn anew in each world, and the estimate of tokens depends on their letters.
    found += [replace(view.block(style), tokens=0) for style in Style]
    fresh = view.fresh("tea")
    found += [fresh.text, fresh.revision, *map(told, fresh.recalled)]
    calls = {"memory_list": {}, "search_memories": {"query": "tea"}, "memory_query": {"query": "tea"}}
    found += [tool.call(calls[tool.name]) for tool in tools(view) if tool.name in calls]
    text = repr(found)
    for number, id in enumerate(ids):
        text = text.replace(id, f"<{number}>")
    return text


def record(memory: Record) -> dict[str, object]:
    every = {one.name: getattr(memory, one.name) for one in fields(memory) if one.name != "space"}
    return every | {"subjects": sorted(memory.subjects)}


def told(one: tacit.Recalled) -> object:
    return record(one.memory), one.score, one.why, one.rule, one.signals, one.similarity


def test_nobody_observes_what_an_owner_adds_in_private(memory: Memory, clock: SetClock) -> None:
    without = build(memory.space("without"), clock, [])

    @settings(max_examples=6, suppress_health_check=list(HealthCheck), deadline=None)
    @given(acts=st.lists(st.tuples(st.integers(0, 3), added), min_size=1, max_size=5))
    def compare(acts: list[tuple[int, Act]]) -> None:
        assert build(memory.space(f"world-{next(WORLDS)}"), clock, acts) == without

    compare()


def test_others_get_what_was_said_and_its_owner_gets_all_of_it(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Alice drinks tea", **ALOUD)
    until = datetime(2027, 1, 1, tzinfo=START.tzinfo)
    private(memory, ALICE).update(
        id, tags=["secret-gift"], slot="hidden", importance=5, confidence=0.2, expires_at=until
    )
    private(memory, ALICE).pin(id)
    mine = private(memory, ALICE).show(id)
    assert (mine.tags, mine.slot, mine.importance, mine.pinned) == (
        ("secret-gift",), "hidden", 5, True,
    )  # fmt: skip
    for view in (group(memory, BOB), private(memory, BOB), group(memory, ALICE)):
        (seen,) = view.list()
        assert (seen.id, seen.content, seen.speaker) == (id, "Alice drinks tea", "ext:telegram:1001")
        assert (seen.tags, seen.slot, seen.data, seen.confidence) == ((), None, None, None)
        assert (seen.importance, seen.pinned, seen.expires_at) == (3, False, None)
        assert view.count(pinned=True) == 0
        assert "secret-gift" not in repr(view.recall("secret-gift tea"))


def test_a_fact_of_the_room_keeps_what_its_members_gave_it(memory: Memory) -> None:
    """Nobody owns it, and nobody changes it but there."""
    alice, bob = group(memory, ALICE), group(memory, BOB)
    id = alice.put("project", "standup", "at nine", for_room=True, tags=["daily"], data={"hour": 9}, **ALOUD).id
    alice.pin(id)
    (seen,) = bob.list(pinned=True)
    assert (seen.tags, seen.data, seen.pinned) == (("daily",), {"hour": 9}, True)
