"""Turns go: by the clock, with what they led to when that is asked for, and with everything."""

from typing import Any

import pytest

import tacit
from tacit import Message
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP, stored, turns
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private
from tests.contract.rows import rows
from tests.contract.traces import cleaned


@pytest.fixture
def keeping(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=KEEP)


def test_a_turn_goes_when_its_time_is_up(keeping: Memory, clock: SetClock) -> None:
    view = private(keeping, ALICE)
    view.record([Message("user", "canary early")])
    clock.forward(days=6.9)
    assert turns(view, "canary") == ["canary early"]
    view.record([Message("user", "canary late")])
    keeping.jobs.expire()
    clock.forward(days=0.2)
    assert turns(view, "canary") == ["canary late"]
    keeping.jobs.expire()
    assert rows(keeping, "SELECT content FROM memories WHERE is_turn") == [("canary late",)]


def test_turns_go_with_the_memory_they_led_to_when_that_is_asked_for(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    ids = view.record([Message("user", "canary one"), Message("user", "canary two")]).ids
    stays = view.record([Message("user", "canary three")]).ids
    first = kept(view, "learned from both", turns=list(ids))
    second = kept(view, "learned from one", turns=[ids[0]])
    view.erase(second)
    assert len(turns(view, "canary")) == 3
    done = view.erase(first, turns=True)
    assert (done.count, cleaned(done)) == (3, True)
    assert turns(view, "canary") == ["canary three"]
    assert stored(keeping) == len(stays)


@pytest.mark.parametrize("odd", ["a\ud800", "", "\x00", 1, None, "no-id-of-ours"])
def test_what_is_no_id_of_a_turn_is_told(keeping: Memory, odd: Any) -> None:
    with pytest.raises(tacit.InvalidInput, match="turns"):
        private(keeping, ALICE).remember("learned from nothing", turns=[odd])


def test_turns_of_what_was_replaced_go_too(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    ids = view.record([Message("user", "canary one")]).ids
    lent: Any = {"visibility": "public_ok", "sensitivity": "public"}
    old = kept(view, "I live in Porto", turns=list(ids), **lent)
    new = group(keeping, ALICE).update(old, "I live in Lisbon").id
    private(keeping, ALICE).erase(new, turns=True)
    assert turns(view, "canary") == []


def test_nobody_erases_anothers_turns(keeping: Memory) -> None:
    ids = private(keeping, ALICE).record([Message("user", "canary")]).ids
    bob = private(keeping, BOB)
    bob.erase(kept(bob, "mine", turns=list(ids)), turns=True)
    assert turns(private(keeping, ALICE), "canary") == ["canary"]


@pytest.mark.parametrize("how", ["wipe", "erase_subject", "erase_space"])
def test_turns_go_with_everything_else(keeping: Memory, how: str) -> None:
    view = private(keeping, ALICE)
    view.record([Message("user", "canary"), Message("assistant", "canary too")])
    group(keeping, ALICE).record([Message("user", "canary in the group")])
    private(keeping, BOB).record([Message("user", "canary of Bob")])
    if how == "wipe":
        view.wipe()
    elif how == "erase_subject":
        keeping.admin.erase_person(ALICE.key)
    else:
        keeping.admin.erase_space()
    assert turns(view, "canary") == []
    assert stored(keeping) == (0 if how == "erase_space" else 1)
