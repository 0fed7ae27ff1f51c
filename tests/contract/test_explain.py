"""What an owner is told of who would hear a memory tells nothing of who those people are."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, group, kept, private

SLACK = "slack:T1:U9"  # Bob's too, if he says so
OPEN: Any = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
ROOMS = [
    tacit.Chat.private(BOB.key),
    tacit.Chat.group(TEAM),
    tacit.Chat.group(FAMILY, [ALICE.key, BOB.key], complete=True),
]


def link(memory: Memory) -> None:
    memory.admin.link(BOB.key, "acct:bob")
    memory.admin.link(SLACK, "acct:bob")


@pytest.mark.parametrize("chat", ROOMS, ids=["in private", "in a group", "in a complete group"])
def test_whose_a_key_is_shows_in_no_explanation_of_what_somebody_would_hear(memory: Memory, chat: tacit.Chat) -> None:
    """Neither where the other key would let them hear it, nor where it is kept from that one."""
    room, own = group(memory, ALICE), private(memory, ALICE)
    probes = [
        kept(room, "about it", about=[SLACK], **OPEN),
        kept(group(memory, ALICE, here=(ALICE, SLACK)), "heard by it", **OPEN),
        kept(room, "kept from it", withheld_from=[SLACK], **OPEN),
        kept(own, "kept from it, in private", withheld_from=[SLACK]),
    ]

    def told() -> list[object]:
        return [own.explain(id, chat, asked_by=BOB) for id in probes]

    before = told()
    link(memory)
    assert told() == before


def test_to_oneself_no_rule_is_named_that_only_the_links_of_others_explain(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    own = private(memory, ALICE)
    probe = kept(own, "a surprise", withheld_from=[SLACK])
    together = tacit.Chat.group(TEAM, [ALICE, BOB], complete=True)
    before = own.explain(probe, together)
    assert (before.rule, before.allowed) == ("GV", False)
    link(memory)
    assert own.explain(probe, together) == before


def test_one_is_told_what_one_would_really_hear_oneself(memory: Memory) -> None:
    everybody: Any = {"here": (ALICE, BOB), "complete": True}
    room, own = group(memory, ALICE, **everybody), private(memory, ALICE)
    secret = kept(room, "a surprise", withheld_from=[SLACK], **OPEN)
    together = tacit.Chat.group(TEAM, [ALICE, BOB], complete=True)
    assert own.explain(secret, together).allowed
    assert room.list().items
    link(memory)
    told = own.explain(secret, together)
    assert (told.allowed, told.rule) == (False, "G0")
    assert not room.list().items


def test_who_turned_out_to_be_somebody_one_has_met_counts(memory: Memory) -> None:
    """`people` says so already."""
    own = private(memory, ALICE)
    about = kept(group(memory, ALICE), "Robert plays chess", about=["Robert"], **OPEN)
    (robert,) = [one.id for one in own.people.list() if one.id.startswith("person:")]
    at_home = tacit.Chat.private(BOB.key)
    assert own.explain(about, at_home, asked_by=BOB).rule == "P4"
    memory.admin.merge_people(robert, BOB.key)
    assert own.explain(about, at_home, asked_by=BOB).rule == "P3a"


def test_which_private_chats_there_are_shows_in_no_explanation(memory: Memory) -> None:
    memory.view(CAROL, tacit.Chat.private("slack:D9")).remember("hello")
    group(memory, CAROL, "slack:C9", here=(CAROL, BOB)).remember("hello")
    own = private(memory, ALICE)
    for fields in ({}, {"visibility": "public_ok", "sensitivity": "public"}):
        id = kept(own, f"x {fields}", **fields)
        for asks in (None, BOB, CAROL):
            told = {
                own.explain(id, tacit.Chat.private(chat), asked_by=asks)
                for chat in ("slack:D9", "slack:C9", "slack:D8")
            }
            assert len(told) == 1
