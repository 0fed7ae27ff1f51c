"""The block lets go at once of what may not be said any more, and is another for other ears."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private

GOING: dict[str, Callable[[Memory, View, str], object]] = {
    "forgotten": lambda _m, v, id: v.forget(id),
    "erased": lambda _m, v, id: v.erase(id),
    "erased by an operator": lambda m, _v, id: m.operator("root").erase(id),
    "wiped": lambda _m, v, _id: v.wipe(),
    "replaced from the group": lambda m, _v, id: group(m, ALICE).update(id, "other"),
}


@pytest.mark.parametrize("going", GOING)
def test_what_goes_leaves_the_block_at_once(memory: Memory, clock: SetClock, going: str) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess", visibility="public_ok", sensitivity="public")
    id = kept(view, "canary", visibility="public_ok", sensitivity="public")
    clock.forward(seconds=1)
    assert id in view.block().ids
    clock.forward(seconds=1)
    GOING[going](memory, view, id)
    block = view.block()
    assert id not in block.ids
    assert "canary" not in block.text


CLOSING: dict[str, Callable[[Memory, View, str], object]] = {
    "made private": lambda _m, v, id: v.set_visibility(id, "private_only"),
    "made sensitive": lambda _m, v, id: v.update(id, sensitivity="sensitive"),
    "withheld": lambda _m, v, id: v.withhold_from(id, ["telegram:2002"]),
    "lowered by an operator": lambda m, _v, id: m.operator("x").lower_visibility(id, "private_only"),
    "forgotten": lambda _m, v, id: v.forget(id),
}


@pytest.mark.parametrize("closing", CLOSING)
def test_what_may_no_longer_be_said_leaves_a_groups_block_at_once(
    memory: Memory, clock: SetClock, closing: str
) -> None:
    own = private(memory, ALICE)
    id = kept(own, "canary", visibility="public_ok", sensitivity="public")
    clock.forward(seconds=1)
    here = group(memory, BOB)
    assert here.block().ids == (id,)
    CLOSING[closing](memory, own, id)
    assert here.block().text == ""
    assert here.block().ids == ()


def test_what_expires_leaves_the_block_by_the_clock(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    view.remember("canary", expires_at=clock.now + timedelta(minutes=10))
    clock.forward(seconds=1)
    assert "canary" in view.block().text
    clock.forward(seconds=599)
    assert "canary" not in view.block().text
    assert "chess" in view.block().text


def test_a_corrected_memory_is_not_told_in_its_old_words(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "I live in Porto")
    clock.forward(seconds=1)
    view.block()
    clock.forward(seconds=1)
    view.update(id, "I live in Lisbon")
    assert "Porto" not in view.block().text
    assert "Lisbon" in view.block().text + view.fresh("zebra").text


def test_another_audience_gets_another_block(memory: Memory, clock: SetClock) -> None:
    private(memory, ALICE).remember("lent", visibility="public_ok", sensitivity="public")
    private(memory, CAROL).remember("canary", visibility="public_ok", sensitivity="public")
    clock.forward(seconds=1)
    with_carol = group(memory, BOB, here=(ALICE, BOB, CAROL)).block()
    assert "canary" in with_carol.text
    memory.chats.leave(TEAM, CAROL.key)
    without = group(memory, BOB).block()
    assert "lent" in without.text
    assert "canary" not in without.text
    assert group(memory, BOB, FAMILY, here=(BOB,)).block().text == ""
    assert group(memory, BOB, here=(ALICE, BOB, CAROL)).block() == with_carol
