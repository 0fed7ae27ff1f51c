"""Listing: newest first, page by page, narrowed by what is asked for."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, TEAM, SetClock, group, in_pages, kept, private, said

KEYS = ["tea", "Tea", "TEA", "te_a", "te%a", "te%", "te_", "%", "_", "téa", "tea/green", "a%_b"]


def pages(view: View, limit: int, **wanted: object) -> list[list[str]]:
    found: list[list[str]] = []
    cursor = None
    while True:
        page = view.list(limit=limit, cursor=cursor, **wanted)  # type: ignore[arg-type]
        found.append([one.content for one in page])
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("ticking", [True, False], ids=["one by one", "all at one moment"])
def test_pages_hold_everything_once(memory: Memory, clock: SetClock, ticking: bool) -> None:
    view = private(memory, ALICE)
    wrote = [f"fact {number:02}" for number in range(23)]
    for content in wrote:
        view.remember(content)
        clock.forward(seconds=1 if ticking else 0)
    for limit in (1, 2, 7, 22, 23, 24, 500):
        found = pages(view, limit)
        assert sorted(c for page in found for c in page) == wrote, limit
        assert all(len(page) == limit for page in found[:-1])
        assert found[-1], "a page that is promised has something on it"


def test_writes_between_pages_neither_repeat_nor_lose_anything(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    ids = []
    for number in range(12):
        ids.append(kept(view, f"old {number:02}"))
        clock.forward(seconds=1)
    seen: list[str] = []
    cursor, turn = None, 0
    while True:
        page = view.list(limit=3, cursor=cursor)
        seen += [one.content for one in page]
        cursor = page.cursor
        if cursor is None:
            break
        turn += 1
        view.remember(f"new {turn}")
        view.update(ids[turn], f"old {turn:02} (reworded)")  # not reached yet: the oldest come last
        view.forget(ids[11 - turn * 3 + 1])  # seen already
        clock.forward(seconds=1)
    words = [content.removesuffix(" (reworded)") for content in seen]
    assert words == [f"old {number:02}" for number in range(11, -1, -1)]


def test_a_cursor_whose_memory_is_gone_still_leads_on(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    ids = []
    for number in range(6):
        ids.append(kept(view, f"fact {number}"))
        clock.forward(seconds=1)
    assert [one.content for one in view.list()] == [f"fact {n}" for n in (5, 4, 3, 2, 1, 0)]  # the newest first
    assert view.list().cursor is None
    page = view.list(limit=2)
    view.erase(ids[4])
    assert [one.content for one in view.list(limit=9, cursor=page.cursor)] == [f"fact {n}" for n in (3, 2, 1, 0)]


def test_pages_of_a_group_mix_all_the_ways_a_memory_comes_to_it(memory: Memory, clock: SetClock) -> None:
    # Some come by more than one branch of the predicate: they must still come once.
    alice, bob = group(memory, ALICE), group(memory, BOB)
    own = private(memory, ALICE)
    for number in range(4):
        alice.remember(f"room {number}", for_room=True, sensitivity="public")
        bob.remember(f"bob {number}", visibility="room", sensitivity="public", kind="knowledge")
        own.remember(f"lent {number}", visibility="public_ok", sensitivity="public")
        clock.forward(seconds=1)
    expected = sorted(f"{who} {n}" for who in ("room", "bob", "lent") for n in range(4))
    for view in (alice, bob, group(memory, BOB, complete=True)):
        for limit in (1, 5, 50):
            assert sorted(c for page in pages(view, limit) for c in page) == expected


def test_a_prefix_is_text_in_every_letter(memory: Memory) -> None:
    view = private(memory, ALICE)
    for key in KEYS:
        view.put("preference", key, key)
    view.remember("no key", category="preference")
    for prefix in ("t", "te", "tea", "T", "te_", "te%", "%", "_", "té", "a%_", "x"):
        expected = sorted(key for key in KEYS if key.startswith(prefix))
        assert said(view.list("preference", prefix=prefix)) == expected, prefix
    assert len(view.list("preference", prefix="")) == len(KEYS) + 1
    assert [len(page) for page in pages(view, 2, category="preference", prefix="te")] == [2, 2, 2]


def test_a_list_narrows_by_category_kind_and_pin(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("a", kind="preference", pinned=True)
    view.remember("b", kind="preference")
    view.remember("c", kind="event", category="preference")
    view.remember("d", kind="event", pinned=True)
    assert said(view.list("preference")) == ["a", "b", "c"]
    assert said(view.list(kind="event")) == ["c", "d"]
    assert said(view.list(kind="event", pinned=True)) == ["d"]
    assert said(view.list(pinned=False)) == ["b", "c"]
    assert said(view.list("preference", kind=tacit.Kind.PREFERENCE, pinned=True)) == ["a"]
    assert said(view.list("goal")) == []


def test_the_owner_in_private_lists_their_own_in_any_state(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("active")
    gone = kept(view, "forgotten")
    old = kept(group(memory, ALICE), "superseded")
    view.forget(gone)
    view.update(old, "the newer one")
    assert said(view.list(state="forgotten")) == ["forgotten"]
    assert said(view.list(state="superseded")) == ["superseded"]
    assert said(view.list(state="active")) == ["active", "the newer one"]
    assert said(view.list(state="pending")) == []


def test_others_and_other_rooms_list_no_state_but_active(memory: Memory) -> None:
    alice = group(memory, ALICE)
    id = kept(alice, "Standup is at 9", for_room=True, sensitivity="public")
    mine = kept(alice, "I am late", visibility="room", sensitivity="public")
    alice.forget(id)
    alice.forget(mine)
    for view in (alice, group(memory, BOB), private(memory, BOB)):
        assert said(view.list(state="forgotten")) == []
    assert said(private(memory, ALICE).list(state="forgotten")) == ["I am late"]


def test_a_listing_counts_only_what_may_be_said(memory: Memory) -> None:
    own = private(memory, ALICE)
    for number in range(5):
        own.remember(f"secret {number}")
        own.remember(f"lent {number}", visibility="public_ok", sensitivity="public")
    page = group(memory, BOB).list(limit=5)
    assert len(page) == 5
    assert all(one.content.startswith("lent") for one in page)
    assert page.cursor is None


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
            assert view.count(**narrowed) == len(in_pages(view.list, **narrowed, limit=2)), narrowed
    assert (alice.count(), alice.count(state="forgotten")) == (10, 1)
