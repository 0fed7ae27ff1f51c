"""Chats: who is in them, what they claim to be, what does not leave them, and their new ids."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private, said

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
ALL = (ALICE, BOB, CAROL)


def test_a_requester_who_is_not_a_member_counts_as_unknown(memory: Memory) -> None:
    alice = group(memory, ALICE)
    alice.remember("Standup is at 9", for_room=True, **OPEN)
    private(memory, ALICE).remember("I like tea", visibility="public_ok", sensitivity="public")
    outsider = group(memory, CAROL, here=(ALICE, BOB))
    assert said(outsider.list()) == ["I like tea"]  # what its owner lends to any company
    id = kept(outsider, "I was here")
    assert private(memory, CAROL).show(id).learned_kind is None
    # Asking did not make her a member.
    assert said(group(memory, CAROL, here=()).list()) == ["I like tea"]
    with pytest.raises(tacit.InvalidInput):
        outsider.remember("hello all", visibility="room")


def test_somebody_elses_private_chat_is_not_private(memory: Memory) -> None:
    private(memory, ALICE).remember("secret")
    claimed = memory.view(ALICE, tacit.Chat.private(BOB.key))
    assert said(claimed.list()) == []
    assert claimed.stats().memories == 0
    with pytest.raises(tacit.InvalidInput, match="private chat only"):
        claimed.wipe()
    assert list(claimed.export()) == []
    id = claimed.remember("said to Bob's bot").id
    assert id is not None
    assert said(private(memory, BOB).list()) == []
    assert private(memory, ALICE).show(id).learned_kind is None


def test_a_private_chat_belongs_to_the_first_who_used_it(memory: Memory) -> None:
    chat = tacit.Chat.private("slack:T1:D77")
    memory.view(CAROL, chat).remember("Carol's own")
    intruder = memory.view(BOB, chat)
    private(memory, BOB).remember("Bob's own")
    assert said(intruder.list()) == []
    assert said(memory.view(CAROL, chat).list()) == ["Carol's own"]


def test_a_group_cannot_be_claimed_as_a_private_chat_nor_the_reverse(memory: Memory) -> None:
    group(memory, ALICE).remember("Standup is at 9", for_room=True, **OPEN)
    private(memory, ALICE).remember("secret")
    assert said(memory.view(ALICE, tacit.Chat.private(TEAM)).list()) == []
    faked = memory.view(BOB, tacit.Chat.group(ALICE.key, participants=[ALICE, BOB]))
    assert said(faked.list()) == []


def test_who_listens_is_whoever_is_known_to_be_there(memory: Memory) -> None:
    own = private(memory, ALICE)
    first = kept(group(memory, ALICE, here=(ALICE, BOB)), "one", **OPEN)
    memory.chats.join(TEAM, CAROL.key)
    second = kept(group(memory, ALICE, here=(ALICE,)), "two", **OPEN)
    memory.chats.leave(TEAM, BOB.key)
    third = kept(group(memory, ALICE, here=(ALICE,)), "three", **OPEN)
    alice, bob, carol = (f"ext:{who.key}" for who in ALL)
    assert own.show(first).heard_by == {alice, bob}
    assert own.show(second).heard_by == {alice, bob, carol}
    assert own.show(third).heard_by == {alice, carol}
    assert said(private(memory, BOB).list()) == ["one", "two"]
    assert said(private(memory, CAROL).list()) == ["three", "two"]


def test_who_left_counts_as_unknown_until_they_are_back(memory: Memory, clock: SetClock) -> None:
    group(memory, ALICE).remember("Standup is at 9", for_room=True, sensitivity="public")
    bob = group(memory, BOB, here=())
    assert said(bob.list()) == ["Standup is at 9"]
    clock.forward(seconds=1)
    memory.chats.leave(TEAM, BOB.key)
    assert said(bob.list()) == []
    clock.forward(seconds=1)
    memory.chats.join(TEAM, BOB.key)
    assert said(bob.list()) == ["Standup is at 9"]


def test_whoever_was_away_knows_of_nobody_that_they_are_still_there(memory: Memory) -> None:
    group(memory, ALICE, here=ALL)
    memory.chats.leave(TEAM)
    later = kept(group(memory, ALICE, here=(ALICE,)), "later", **OPEN)
    assert private(memory, ALICE).show(later).heard_by == {f"ext:{ALICE.key}"}
    assert said(private(memory, BOB).list()) == []


def test_coming_and_going_within_one_tick_of_the_clock_is_not_lost(memory: Memory) -> None:
    group(memory, ALICE).remember("Standup is at 9", for_room=True, sensitivity="public")
    memory.chats.leave(TEAM, BOB.key)
    memory.chats.join(TEAM, BOB.key)
    assert said(group(memory, BOB, here=()).list()) == ["Standup is at 9"]


def test_a_complete_list_drops_those_who_left(memory: Memory, clock: SetClock) -> None:
    group(memory, ALICE, here=ALL).remember("one", **OPEN)
    clock.forward(seconds=1)
    group(memory, ALICE, here=(ALICE, BOB), complete=True).remember("two", **OPEN)
    own = private(memory, ALICE)
    (two,) = [m for m in own.list() if m.content == "two"]
    assert two.heard_by == {"ext:telegram:1001", "ext:telegram:2002"}
    # From here on Carol is known to be gone, also where nobody hands in a whole list.
    assert said(group(memory, CAROL, here=()).list()) == []
    three = kept(group(memory, ALICE, here=()), "three", **OPEN)
    assert own.show(three).heard_by == {"ext:telegram:1001", "ext:telegram:2002"}


def test_a_bot_among_the_listeners_means_that_nobody_knows_who_listens(memory: Memory) -> None:
    bot = tacit.Requester("telegram:999", is_bot=True)
    room = group(memory, ALICE, FAMILY, here=(ALICE, BOB), complete=True)
    id = kept(room, "We moved", **OPEN)
    assert said(group(memory, BOB, here=(ALICE, BOB), complete=True).list()) == ["We moved"]
    assert said(group(memory, BOB, here=(ALICE, BOB, bot), complete=True).list()) == []
    assert private(memory, ALICE).show(id).heard_by == {"ext:telegram:1001", "ext:telegram:2002"}
    spoke = kept(group(memory, ALICE, here=(ALICE, bot)), "Bots are not people", **OPEN)
    assert "ext:telegram:999" not in private(memory, ALICE).show(spoke).heard_by


def test_nothing_leaves_a_confidential_chat(memory: Memory) -> None:
    memory.chats.set_confidential(TEAM)
    kept(group(memory, ALICE), "Bob plays chess", about=[BOB.key], **OPEN)
    elsewhere = group(memory, BOB, FAMILY, here=(ALICE, BOB), complete=True)
    assert said(group(memory, BOB).list()) == ["Bob plays chess"]
    assert said(elsewhere.list()) == []
    memory.chats.set_confidential(TEAM, False)
    assert said(elsewhere.list()) == ["Bob plays chess"]
    memory.chats.set_confidential(TEAM, True)
    assert said(elsewhere.list()) == []


def test_a_chat_with_a_new_id_keeps_its_memories_and_members(memory: Memory) -> None:
    new = "telegram:-1007"
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    memory.chats.migrate(TEAM, new)
    for chat in (new, TEAM):
        view = group(memory, BOB, chat, here=())
        assert said(view.list()) == ["Standup is at 9"], chat
    done = group(memory, BOB, new, here=()).update(id, "Standup is at 10")
    assert (done.id, done.created) == (id, False)
    group(memory, ALICE, new, here=()).put("project", "k", "new", for_room=True)
    memory.chats.migrate(new, "telegram:-1008")
    assert group(memory, BOB, "telegram:-1008", here=()).show(id).content == "Standup is at 10"
    memory.chats.migrate(TEAM, "telegram:-1008")  # said again: nothing to do


def test_a_confidential_chat_stays_so_under_its_new_id(memory: Memory) -> None:
    memory.chats.set_confidential(TEAM)
    group(memory, ALICE).remember("old", for_room=True, **OPEN)
    memory.chats.migrate(TEAM, "telegram:-1007")
    group(memory, ALICE, "telegram:-1007").remember("new", for_room=True, **OPEN)
    assert said(group(memory, BOB, "telegram:-1007").list()) == ["new", "old"]
    assert said(group(memory, BOB, FAMILY, here=(ALICE, BOB), complete=True).list()) == []


def test_a_rooms_key_is_one_key_under_both_ids(memory: Memory) -> None:
    old = kept(group(memory, ALICE), "at 9", category="project", key="standup", for_room=True)
    group(memory, ALICE).forget(old)
    memory.chats.migrate(TEAM, "telegram:-1007")
    room = group(memory, ALICE, "telegram:-1007")
    room.put("project", "standup", "at 10", for_room=True)
    with pytest.raises(tacit.NotFound):  # what stands in its place is nobody's to know of
        room.restore(old)
    assert said(room.list("project")) == ["at 10"]


def test_a_chat_cannot_move_into_another_chat(memory: Memory) -> None:
    group(memory, ALICE).remember("x")
    private(memory, BOB).remember("y")
    with pytest.raises(tacit.Conflict):
        memory.chats.migrate(TEAM, BOB.key)
    with pytest.raises(tacit.NotFound, match="no such group chat here"):
        memory.chats.migrate(BOB.key, "telegram:-7")
    with pytest.raises(tacit.NotFound, match="no such group chat here"):
        memory.chats.set_confidential(BOB.key)


def test_another_process_knows_at_once_who_joined_and_left(shared_url: str, opened: Open) -> None:
    here, there = opened(shared_url), opened(shared_url)
    group(here, ALICE).remember("Standup is at 9", for_room=True, sensitivity="public")
    bob, own = group(there, BOB, here=()), private(there, ALICE)
    assert said(bob.list()) == ["Standup is at 9"]
    here.chats.leave(TEAM, BOB.key)
    assert said(bob.list()) == []
    id = kept(group(there, ALICE, here=()), "I run", **OPEN)
    assert own.show(id).heard_by == {"ext:telegram:1001"}


def test_the_owner_is_told_which_rule_speaks_for_any_chat_of_theirs(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I like tea", visibility="public_ok", sensitivity="public")
    team = tacit.Chat.group(TEAM, participants=[ALICE, BOB])
    assert (own.explain(id).rule, own.explain(id).allowed) == ("P1", True)
    assert own.explain(id, team).rule == "G2a"
    own.set_visibility(id, "private_only")
    told = own.explain(id, team, BOB)
    assert (told.rule, told.allowed) == ("GV", False)
    assert told.says
    assert own.explain(id, tacit.Chat.private(BOB.key), BOB).rule == "PV"
    with pytest.raises(tacit.InvalidInput, match="chat"):
        own.explain(id, asked_by=BOB)
    with pytest.raises(tacit.NotFound):
        group(memory, ALICE).explain(id)
