"""One fact said in several rooms: what a wording in another chat replaces, and what it cannot."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, SetClock, group, kept, private, said

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}


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


def test_what_is_open_in_one_room_is_not_so_in_the_next(memory: Memory) -> None:
    team = group(memory, ALICE, here=(ALICE, BOB))
    family = group(memory, ALICE, FAMILY, here=(ALICE, CAROL))
    team.put("profile", "city", "Porto", visibility="room", sensitivity="public")
    family.put("profile", "city", "Lisbon")
    found = private(memory, ALICE).get("profile", "city")
    assert found is not None
    assert (found.content, found.visibility) == ("Lisbon", "private_only")
    assert said(group(memory, CAROL, FAMILY, here=(ALICE, CAROL)).list()) == []
    assert said(group(memory, BOB, here=(ALICE, BOB)).list()) == []


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


def test_a_rooms_own_fact_is_never_changed_from_private(memory: Memory) -> None:
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


def test_a_rooms_own_fact_is_never_changed_from_another_room(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, **OPEN)
    family = group(memory, BOB, FAMILY, here=(ALICE, BOB), complete=True)
    assert said(family.list()) == ["Standup is at 9"]  # everyone here has heard it
    with pytest.raises(tacit.NotFound):
        family.update(id, "Standup is at 4")
    with pytest.raises(tacit.NotFound):
        family.forget(id)
    assert said(group(memory, BOB).list()) == ["Standup is at 9"]


def test_who_is_not_a_member_changes_no_fact_of_the_room(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, **OPEN)
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
