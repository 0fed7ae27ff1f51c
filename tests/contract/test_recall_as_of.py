"""As of: what was known then, in the words of then, and nothing that is gone for good."""

from datetime import timedelta
from typing import Any

from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private


def test_what_was_said_later_was_not_known_then(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("apple one")
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    view.remember("apple two")
    assert len(view.recall("apple")) == 2
    assert [one.memory.content for one in view.recall("apple", as_of=then)] == ["apple one"]
    assert view.recall("apple", as_of=then - timedelta(days=1)) == []
    assert len(view.recall("apple", as_of=clock.now)) == 2


def test_what_is_erased_was_never_known(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "apple one")
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    assert len(view.recall("apple", as_of=then)) == 1
    view.erase(id)
    assert view.recall("apple", as_of=then) == []


def test_the_past_is_told_by_the_rules_of_today(memory: Memory, clock: SetClock) -> None:
    """That a room could hear something then does not let it be said there now."""
    own = private(memory, ALICE)
    lent: Any = {"visibility": "public_ok", "sensitivity": "public"}
    id = kept(own, "apple lent", **lent)
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    here = group(memory, BOB)
    assert len(here.recall("apple", as_of=then)) == 1
    own.set_visibility(id, "private_only")
    assert here.recall("apple", as_of=then) == []
    own.remember("canary secret")
    assert here.recall("canary", as_of=clock.now) == []
