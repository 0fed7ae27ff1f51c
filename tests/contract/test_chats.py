"""Chats: who is in them, what they claim to be, what does not leave them, and their new ids."""

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, ALL, BOB, CAROL, FAMILY, OPEN, TEAM, SetClock, group, kept, private, said


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
    memory.chats.leave(TEAM, BOB.key)
    memory.chats.join(TEAM, BOB.key)
    assert said(group(memory, BOB, here=()).list()) == ["Standup is at 9"]


def test_whoever_was_away_knows_of_nobody_that_they_are_still_there(memory: Memory) -> None:
    group(memory, ALICE, here=ALL)
    memory.chats.leave(TEAM)
    later = kept(group(memory, ALICE, here=(ALICE,)), "later", **OPEN)
    assert private(memory, ALICE).show(later).heard_by == {f"ext:{ALICE.key}"}
    assert said(private(memory, BOB).list()) == []


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


def test_an_update_from_another_chat_is_a_new_memory_and_the_old_is_active_nowhere(
    memory: Memory, clock: SetClock
) -> None:
    room, own = group(memory, ALICE), private(memory, ALICE)
    old = kept(room, "I live in Porto", tags=["home"], **OPEN)
    clock.forward(days=1)
    done = own.update(old, "I live in Lisbon")
    assert done.created
    assert done.supersedes == old
    assert done.id != old

    new = own.show(done.id)
    assert (new.content, new.version, new.learned_in) == ("I live in Lisbon", 1, "telegram:1001")
    assert (new.tags, new.kind) == (("home",), "knowledge")
    assert (new.heard_by, new.created_at) == (frozenset(), clock.now)
    assert (own.show(old).state, own.show(old).superseded_by) == ("superseded", new.id)
    assert [entry.event for entry in own.history(old)] == ["ADD", "SUPERSEDE"]

    assert said(own.list()) == ["I live in Lisbon"]
    # Nobody else hears either: the old is not active, and the new was said in private.
    for view in (room, group(memory, BOB), private(memory, BOB)):
        assert said(view.list()) == []
        assert view.recall("live") == []
        with pytest.raises(tacit.NotFound):
            view.show(old)
        with pytest.raises(tacit.NotFound):
            view.show(new.id)


def test_an_update_from_one_group_in_another_takes_the_other_rooms_ears(memory: Memory) -> None:
    team = group(memory, ALICE, here=(ALICE, BOB))
    family = group(memory, ALICE, FAMILY, here=(ALICE, CAROL))
    own = private(memory, ALICE)
    old = kept(team, "I run", **OPEN)
    own.set_visibility(old, "public_ok")  # so that it may be reached from the family's chat
    done = family.update(old, "I run marathons")
    assert done.supersedes is None
    assert own.show(done.id).heard_by == {"ext:telegram:1001", "ext:slack:T1:U3"}
    assert said(private(memory, BOB).list()) == []
    assert said(private(memory, CAROL).list()) == ["I run marathons"]


def test_a_person_who_hears_hearsay_about_them_corrects_it(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    old = kept(alice, "Bob lives in Rome", about=[BOB.key], **OPEN)
    assert private(memory, ALICE).show(old).trust == "hearsay"
    done = bob.update(old, "Bob lives in Milan")
    assert (done.created, done.supersedes) == (True, old)
    new = private(memory, BOB).show(done.id)
    assert (new.owner, new.speaker, new.trust) == ("ext:telegram:2002", "ext:telegram:2002", "stated")
    assert new.subjects == {"ext:telegram:2002"}
    assert private(memory, ALICE).show(old).state == "superseded"
    assert private(memory, ALICE).show(old).superseded_by == done.id
    assert said(private(memory, BOB).list()) == ["Bob lives in Milan"]


def test_a_correction_does_not_replace_what_others_say_about_themselves(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    both = kept(alice, "Bob and I are married", about=["me", BOB.key], **OPEN)
    done = bob.update(both, "We are engaged")
    assert (done.created, done.supersedes) == (True, None)
    assert private(memory, ALICE).show(both).state == "active"
    assert "Bob and I are married" in said(bob.list())


def test_hearsay_about_somebody_else_is_not_ones_own_to_correct(memory: Memory) -> None:
    here = (ALICE, BOB, CAROL)
    old = kept(group(memory, ALICE, here=here), "Bob lives in Rome", about=[BOB.key], **OPEN)
    carol = group(memory, CAROL, here=here)
    assert said(carol.list()) == ["Bob lives in Rome"]
    with pytest.raises(tacit.NotFound):
        carol.update(old, "Bob lives in Oslo")
    assert private(memory, ALICE).show(old).state == "active"


def test_a_correction_is_never_less_sensitive_than_what_it_corrects(memory: Memory) -> None:
    alice = group(memory, ALICE)
    old = kept(alice, "Bob is ill", about=[BOB.key], visibility="room", sensitivity="sensitive")
    done = private(memory, BOB).update(old, "Bob is well again")
    assert private(memory, BOB).show(done.id).sensitivity == "sensitive"


def test_members_change_a_rooms_own_fact_in_the_room(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    id = kept(alice, "Standup is at 9", for_room=True, sensitivity="public")
    done = bob.update(id, "Standup is at 10")
    assert (done.id, done.version, done.created) == (id, 2, False)
    assert [e.actor for e in alice.history(id)] == ["ext:telegram:1001", "ext:telegram:2002"]
    bob.pin(id)
    bob.forget(id)
    assert said(alice.list()) == []
    alice.restore(id)
    assert said(bob.list()) == ["Standup is at 10"]
    with pytest.raises(tacit.NotFound):
        alice.erase(id)  # not hers alone any more: Bob's words stand there


def test_a_rooms_own_fact_is_never_changed_from_elsewhere_or_by_others(memory: Memory) -> None:
    alice = group(memory, ALICE)
    id = kept(alice, "Standup is at 9", for_room=True, sensitivity="public", kind="knowledge")
    bob = private(memory, BOB)
    for act in (
        lambda: bob.update(id, "Standup is at 4"),
        lambda: bob.update(id, importance=5),
        lambda: bob.pin(id),
        lambda: bob.forget(id),
        lambda: bob.set_visibility(id, "public_ok"),
        lambda: bob.erase(id),
    ):
        with pytest.raises(tacit.NotFound):
            act()
    done = private(memory, ALICE).update(id, "Standup is at 5")
    assert done.created
    assert done.supersedes is None
    assert said(group(memory, BOB).list()) == ["Standup is at 9"]
    family = group(memory, BOB, FAMILY, here=(ALICE, BOB), complete=True)
    assert said(family.list()) == ["Standup is at 9"]  # everyone here has heard it
    with pytest.raises(tacit.NotFound):
        family.update(id, "Standup is at 4")
    with pytest.raises(tacit.NotFound):
        family.forget(id)
    assert said(group(memory, BOB).list()) == ["Standup is at 9"]
    outsider = group(memory, CAROL, here=(ALICE, BOB))
    assert said(outsider.list()) == []
    with pytest.raises(tacit.NotFound):
        outsider.update(id, "Standup is at 4")
    with pytest.raises(tacit.InvalidInput, match="for_room"):
        outsider.remember("Standup is at 4", for_room=True)


def test_the_words_of_another_do_not_become_ones_own_by_hearing_them(memory: Memory) -> None:
    old = kept(group(memory, ALICE), "I run", **OPEN)
    bob = private(memory, BOB)
    assert said(bob.list()) == ["I run"]
    with pytest.raises(tacit.NotFound):
        bob.update(old, "Alice walks")
    bob.put("profile", "k", "v")
    assert private(memory, ALICE).get("profile", "k") is None


def test_who_speaks_last_for_a_room_owns_the_words_and_not_the_fact(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    id = kept(alice, "Standup is at 9", for_room=True, sensitivity="public")
    bob.update(id, "Standup is at 10")
    found = alice.show(id)
    assert (found.owner, found.speaker) == (None, "ext:telegram:2002")
    with pytest.raises(tacit.NotFound):
        bob.set_visibility(id, "public_ok")
