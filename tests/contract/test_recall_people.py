"""What people are called, and which keys they have, is told no further than it was given."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.hearing import heard
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private

ROOM: Any = {"visibility": "room", "sensitivity": "public"}
LENT: Any = {"visibility": "public_ok", "sensitivity": "public"}
BOB_AT_WORK = tacit.Requester("slack:T1:U9", name="Robert")


def link_bob(memory: Memory) -> None:
    """Alice knows him as telegram:2002. That he is slack:T1:U9 too is his to tell."""
    for key in ("telegram:2002", "slack:T1:U9"):
        memory.admin.link(key, "acct:bob")


def test_a_name_given_in_private_is_said_in_no_group(memory: Memory, clock: SetClock) -> None:
    alice, alone = group(memory, ALICE), private(memory, ALICE)
    kept(alice, "plays chess", about=["telegram:2002"], **ROOM)
    before = heard(alice, "is the adder good at chess")
    alone.people.name("telegram:2002", "Adder")
    clock.forward(seconds=1)
    assert heard(alice, "is the adder good at chess") == before
    assert "Adder" not in alice.block().text
    assert "Bob" in alice.block().text
    assert "Adder" in alone.block().text


@pytest.mark.parametrize("who", ["actor", "user"])
def test_a_filter_does_not_tell_who_else_somebody_is(memory: Memory, who: str) -> None:
    kept(private(memory, BOB_AT_WORK), "likes tea", **LENT)
    link_bob(memory)
    alice = group(memory, ALICE)
    kept(alice, "hello")
    (shown,) = alice.recall("tea")
    assert (shown.memory.owner, shown.memory.speaker) == ("ext:telegram:2002",) * 2
    found = {
        key: len(alice.recall("tea", **{who: key}))  # type: ignore[arg-type]
        for key in ("slack:T1:U9", "slack:T1:U8", "telegram:2002", "Bob")
    }
    assert found == {"slack:T1:U9": 0, "slack:T1:U8": 0, "telegram:2002": 1, "Bob": 1}


def test_whom_a_key_belongs_to_cannot_be_tried_by_writing_about_it(memory: Memory) -> None:
    link_bob(memory)
    alice = group(memory, ALICE)
    for key in ("slack:T1:U9", "slack:T1:U8"):
        kept(private(memory, ALICE), f"probe {key}", about=[key], **LENT)
    shown = {one.memory.content: one.memory.subjects for one in alice.recall("probe")}
    assert shown == {"probe slack:T1:U9": {"ext:slack:T1:U9"}, "probe slack:T1:U8": {"ext:slack:T1:U8"}}
    assert [len(alice.people.about(f"slack:T1:U{number}")) for number in (8, 9)] == [1, 1]


def test_whom_a_key_belongs_to_cannot_be_tried_by_naming_it(memory: Memory, clock: SetClock) -> None:
    link_bob(memory)
    kept(group(memory, BOB), "plays chess", about=["telegram:2002"], **ROOM)
    alone = private(memory, ALICE)
    for key, name in (("slack:T1:U9", "Zed"), ("slack:T1:U8", "Yak")):
        alone.people.name(key, name)
    clock.forward(seconds=1)
    assert heard(alone, "is Zed good at chess") == heard(alone, "is Yak good at chess")
    assert "[Bob]" in alone.block().text
    named = {name.text: person.identities for person in alone.people.list() for name in person.names}
    assert named["Zed"] == {"ext:slack:T1:U9"}
    assert named["Bob"] == {"ext:telegram:2002"}
