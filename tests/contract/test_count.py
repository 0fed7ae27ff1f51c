"""A count is what all pages of the same list come to, whoever asks and wherever."""

from typing import Any

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, TEAM, group, kept, private

NARROWED: tuple[dict[str, Any], ...] = (
    {},
    {"category": "fact"},
    {"category": "profile", "prefix": "ti"},
    {"kind": "preference"},
    {"state": "forgotten"},
    {"state": "active"},
    {"pinned": True},
)


def test_a_count_is_what_the_pages_hold(memory: Memory) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    room = group(memory, ALICE, TEAM)
    for number in range(5):
        kept(alice, f"fact number {number}", pinned=number == 0)
    alice.put("profile", "timezone", "Europe/Lisbon")
    alice.put("profile", "time_format", "24 hours")
    kept(alice, "I like tea", kind="preference", visibility="public_ok")
    kept(room, "the sprint ends on Friday", visibility="room")
    kept(room, "Bob is away on Monday", about=["telegram:2002"])
    kept(bob, "I live in Rome", visibility="public_ok")
    alice.forget(kept(alice, "I am tired"))
    for view in (alice, bob, room, group(memory, BOB, TEAM)):
        for narrowed in NARROWED:
            listed, cursor = 0, None
            while True:
                page = view.list(**narrowed, limit=2, cursor=cursor)
                listed, cursor = listed + len(page), page.cursor
                if cursor is None:
                    break
            assert view.count(**narrowed) == listed, narrowed
    assert (alice.count(), alice.count(state="forgotten")) == (10, 1)


def test_an_agent_counts_no_further_than_its_categories(memory: Memory) -> None:
    alice = private(memory, ALICE)
    kept(alice, "a fact")
    kept(alice, "I like tea", category="preference")
    narrow = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=["preference"])
    assert (narrow.count(), narrow.count(state="active")) == (1, 1)
