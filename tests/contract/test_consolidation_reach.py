"""Consolidation never lets anybody hear more than before, and loses nothing that was heard."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.lifecycle.consolidation import choose_kept, enrich_kept, outlasts
from tacit.lifecycle.duplicates import DuplicateCandidate, disclosure_key, make_pair
from tacit.memory import Memory
from tacit.policy.rules import decide
from tacit.records.memory import Memory as Record
from tacit.records.request import Request
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, SetClock, group, private
from tests.policy.strategies import memories, requests

WORLDS = count()
LISTENERS: dict[str, Callable[[Memory], View]] = {
    "Alice": lambda m: private(m, ALICE),
    "Bob": lambda m: private(m, BOB),
    "Carol": lambda m: private(m, CAROL),
    "Alice in the team": lambda m: group(m, ALICE, complete=True),
    "Bob in the team": lambda m: group(m, BOB),
    "Carol in the team": lambda m: group(m, CAROL, here=(ALICE, BOB, CAROL)),
    "Alice in the family": lambda m: group(m, ALICE, FAMILY, here=(ALICE, CAROL)),
    "Carol in the family": lambda m: group(m, CAROL, FAMILY, here=(ALICE, CAROL), complete=True),
}
ROOMS: dict[str, Callable[[Memory], View]] = {
    "private": lambda m: private(m, ALICE),
    "team": lambda m: group(m, ALICE),
    "everybody": lambda m: group(m, ALICE, here=(ALICE, BOB, CAROL), complete=True),
    "family": lambda m: group(m, ALICE, FAMILY, here=(ALICE, CAROL)),
    "Bob's": lambda m: private(m, BOB),
}
WRITTEN = st.fixed_dictionaries(
    {"place": st.sampled_from([*ROOMS, "private", "team", "team"])},
    optional={
        "visibility": st.sampled_from(["private_only", "room", "public_ok"]),
        "sensitivity": st.sampled_from(["public", "personal", "sensitive"]),
        "portable": st.booleans(),
        "withheld_from": st.sampled_from([["Bob"], ["telegram:2002"]]),
        "about": st.sampled_from([["telegram:2002"], ["Carol"], ["me"]]),
        "importance": st.integers(1, 5),
        "pinned": st.booleans(),
        "tags": st.sampled_from([["a"], ["b", "c"]]),
        "lasts": st.sampled_from([1, 9]),
    },
)


def write(memory: Memory, clock: SetClock, content: str, fields: dict[str, Any]) -> None:
    fields = dict(fields)
    place = fields.pop("place")
    if "lasts" in fields:
        fields["expires_at"] = clock.now + timedelta(days=fields.pop("lasts"))
    if place in ("private", "Bob's") and fields.get("visibility") == "room":
        del fields["visibility"]
    if place not in ("private", "Bob's") and fields.get("visibility") == "public_ok":
        del fields["visibility"]
    ROOMS[place](memory).remember(content, **fields)


def heard(memory: Memory) -> dict[str, set[str]]:
    return {
        who: {f"{one.id} {one.content}" for one in listener(memory).list(limit=100).items}
        for who, listener in LISTENERS.items()
    }


@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_nobody_hears_more_than_before_and_nobody_loses_a_fact(
    memory: Memory, clock: SetClock, data: st.DataObject
) -> None:
    world = memory.space(f"w{next(WORLDS)}")
    for fields in data.draw(st.lists(WRITTEN, min_size=2, max_size=5)):
        write(world, clock, "Tea is kept on the top shelf", fields)
        clock.forward(seconds=1)
    before = heard(world)
    done = world.jobs.consolidate()
    after = heard(world)
    for who in LISTENERS:
        assert after[who] <= before[who]
        facts = [{one.partition(" ")[2] for one in said[who]} for said in (before, after)]
        assert facts[0] == facts[1]
    clock.forward(days=2)  # nor once the shorter-lived ones are gone
    later = heard(world)
    clock.forward(days=-2)
    world.jobs.undo_consolidation(done.run)
    assert heard(world) == before
    clock.forward(days=2)
    assert all(later[who] <= said for who, said in heard(world).items())


@given(one=memories(), other=memories(), asked=requests(), newer=st.booleans())
@settings(max_examples=250)
def test_what_stays_reaches_nobody_that_it_did_not_reach(
    one: Record, other: Record, asked: Request, newer: bool
) -> None:
    """Whatever two memories are, and in whichever order they were said."""
    moments = (one.created_at, one.created_at + timedelta(seconds=1))
    first, second = moments if newer else moments[::-1]
    pair = make_pair(
        DuplicateCandidate(memory=one, worded_at=first, normalized="", fact=None),
        DuplicateCandidate(memory=other, worded_at=second, normalized="", fact=None),
        1.0,
    )
    kept, gone = choose_kept(pair)
    merged = enrich_kept(kept, gone)
    assert decide(asked, merged) == decide(asked, kept)
    if disclosure_key(one) == disclosure_key(other) and one.state == other.state and outlasts(kept, gone):
        # Whoever could hear the fact still can.
        assert decide(asked, merged).allowed >= decide(asked, gone).allowed
