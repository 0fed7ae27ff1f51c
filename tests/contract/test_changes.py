"""Changing a memory: who may, what it leaves behind, and what looks like absence."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, kept, private, said
from tests.contract.traces import cleaned

ABSENT = "zzzzzzzz"

ACTS: dict[str, Callable[[View, str], object]] = {
    "show": lambda view, id: view.show(id),
    "update": lambda view, id: view.update(id, "other words"),
    "update with a version": lambda view, id: view.update(id, "other words", if_version=9),
    "refile": lambda view, id: view.update(id, importance=1),
    "pin": lambda view, id: view.pin(id),
    "set_visibility": lambda view, id: view.set_visibility(id, "private_only"),
    "raise visibility": lambda view, id: view.set_visibility(id, "public_ok"),
    "withhold_from": lambda view, id: view.withhold_from(id, [BOB.key]),
    "forget": lambda view, id: view.forget(id),
    "restore": lambda view, id: view.restore(id),
    "erase": lambda view, id: view.erase(id),
    "history": lambda view, id: view.history(id),
    "explain": lambda view, id: view.explain(id),
}


def test_absent_forbidden_and_malformed_look_the_same(memory: Memory) -> None:
    own = private(memory, ALICE)
    ids = [kept(own, "private"), kept(own, "forgotten"), kept(group(memory, ALICE), "in a room")]
    own.forget(ids[1])
    erased = kept(own, "erased")
    own.erase(erased)
    bad: list[Any] = [erased, ABSENT, "", "x", "'; --", "a" * 9, "ÄÄÄÄÄÄÄÄ", "abcdefg\n", 5, None]
    for view in (private(memory, BOB), group(memory, BOB)):
        for act in ACTS.values():
            answers = set()
            for id in [*ids, *bad]:
                with pytest.raises(tacit.NotFound) as caught:
                    act(view, id)
                answers.add((type(caught.value), str(caught.value), caught.value.__cause__))
            assert answers == {(tacit.NotFound, "no such memory here", None)}
    assert said(own.list()) == ["in a room", "private"]
    assert [own.show(id).version for id in ids] == [1, 1, 1]


def test_an_update_is_a_version_with_its_history(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "I live in Porto")
    clock.forward(days=1)
    done = view.update(id, "I live in Lisbon", if_version=1)
    assert (done.id, done.version, done.created) == (id, 2, False)
    found = view.show(id)
    assert (found.content, found.version, found.updated_at) == ("I live in Lisbon", 2, clock.now)
    assert found.created_at == clock.now - timedelta(days=1)
    assert [(e.event, e.version, e.content, e.actor, e.at) for e in view.history(id)] == [
        ("ADD", 1, "I live in Porto", "ext:telegram:1001", clock.now - timedelta(days=1)),
        ("UPDATE", 2, "I live in Lisbon", "ext:telegram:1001", clock.now),
    ]


def test_a_stale_version_is_a_conflict_and_changes_nothing(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    view.update(id, "two", if_version=1)
    for stale in (1, 3, 2**31):
        with pytest.raises(tacit.Conflict, match="version 2"):
            view.update(id, "three", if_version=stale)
        with pytest.raises(tacit.Conflict):
            view.update(id, importance=5, if_version=stale)
    assert (view.show(id).content, view.show(id).importance) == ("two", 3)


def test_an_update_of_nothing_leaves_no_trace(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", importance=4)
    before = view.show(id)
    clock.forward(days=1)
    view.update(id)
    view.update(id, "one")
    view.update(id, importance=4)
    view.pin(id, False)
    view.set_visibility(id, "private_only")
    after = view.show(id)
    assert (after.version, after.updated_at) == (before.version, before.updated_at)
    assert len(view.history(id)) == 1


def test_an_update_of_a_field_is_no_version_but_stands_in_history(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", category="goal")
    clock.forward(days=1)
    fields: dict[str, Any] = {"importance": 5, "tags": ["a"], "category": "project"}
    view.update(id, **fields)
    found = view.show(id)
    assert (found.version, found.importance, found.tags) == (1, 5, ("a",))
    assert (found.category, found.updated_at) == ("project", clock.now)
    added, changed = view.history(id)
    assert (changed.event, changed.version) == ("UPDATE", 1)
    assert "importance" in changed.detail["fields"]
    assert added.detail == {}


def test_another_kind_leaves_the_category_and_brings_its_own_lifetime(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", category="project")
    view.update(id, kind="event")
    assert (view.show(id).kind, view.show(id).category) == ("event", "project")
    keyed = kept(view, "two", category="profile", key="k")
    view.update(keyed, kind="event")
    assert (view.show(keyed).kind, view.show(keyed).category) == ("event", "profile")
    id = kept(view, "one")
    view.update(id, kind="event")
    assert view.show(id).expires_at == clock.now + timedelta(days=30)
    view.update(id, kind="knowledge")
    assert view.show(id).expires_at is None


def test_an_update_of_a_key_changes_neither_its_place_nor_its_visibility(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", category="profile", key="k")
    refused: list[dict[str, Any]] = [
        {"key": "other"}, {"for_room": True}, {"visibility": "public_ok"}, {"category": "goal"},
    ]  # fmt: skip
    for fields in refused:
        with pytest.raises(tacit.InvalidInput, match=r"update|category"):
            view.update(id, **fields)


def test_a_forgotten_memory_is_out_of_mind_and_comes_back_as_it_was_with_a_new_lifetime(
    memory: Memory, clock: SetClock
) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", importance=5, tags=["a"], pinned=True)
    view.update(id, "two")
    view.forget(id)
    gone = view.show(id)
    assert (gone.state, gone.purge_at) == ("forgotten", clock.now + timedelta(days=30))
    assert said(view.list()) == []
    assert view.recall("two") == []
    with pytest.raises(tacit.Conflict, match="forgotten"):
        view.update(id, "three")
    view.forget(id)
    clock.forward(days=29)
    view.restore(id)
    view.restore(id)
    back = view.show(id)
    assert (back.state, back.purge_at, back.content, back.version) == ("active", None, "two", 2)
    assert (back.importance, back.tags, back.pinned) == (5, ("a",), True)
    assert [entry.event for entry in view.history(id)] == ["ADD", "UPDATE", "DELETE", "RESTORE"]
    id = kept(view, "Call the bank", kind="task")
    view.forget(id)
    clock.forward(days=20)
    view.restore(id)
    assert said(view.list()) == ["Call the bank", "two"]
    assert view.show(id).expires_at == clock.now + timedelta(days=14)


def test_what_was_superseded_cannot_be_restored_forgotten_or_changed(memory: Memory) -> None:
    own = private(memory, ALICE)
    old = kept(group(memory, ALICE), "I live in Porto")
    own.update(old, "I live in Lisbon")
    with pytest.raises(tacit.Conflict):
        own.restore(old)
    with pytest.raises(tacit.Conflict):
        own.update(old, "I live in Faro")
    own.forget(old)
    assert own.show(old).state == "superseded"


def test_visibility_moves_by_the_owner_in_private_and_only_down_elsewhere(memory: Memory) -> None:
    own, room = private(memory, ALICE), group(memory, ALICE)
    id = kept(room, "I like tea", visibility="room", sensitivity="public")
    with pytest.raises(tacit.NotFound):
        room.set_visibility(id, "public_ok")
    own.set_visibility(id, "public_ok")
    assert own.show(id).visibility == "public_ok"
    room.set_visibility(id, "room")
    room.set_visibility(id, "private_only")
    assert own.show(id).visibility == "private_only"
    with pytest.raises(tacit.NotFound):
        room.set_visibility(id, "private_only")  # not sayable here any more, so not here
    assert [e.detail.get("fields") for e in own.history(id)][1:] == [
        "visibility public_ok",
        "visibility room",
        "visibility private_only",
    ]


def test_a_subject_may_lower_the_visibility_of_what_is_said_about_them(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Bob runs", about=[BOB.key], visibility="room", sensitivity="public")
    bob = group(memory, BOB)
    with pytest.raises(tacit.NotFound):
        bob.set_visibility(id, "public_ok")
    bob.set_visibility(id, "private_only")
    assert private(memory, ALICE).show(id).visibility == "private_only"
    assert said(group(memory, ALICE).list()) == []


def test_a_listener_who_is_neither_owner_nor_subject_changes_nothing(memory: Memory) -> None:
    here = (ALICE, BOB, CAROL)
    id = kept(group(memory, ALICE, here=here), "Bob runs", about=[BOB.key], visibility="room", sensitivity="public")
    carol = group(memory, CAROL, here=here)
    assert said(carol.list()) == ["Bob runs"]
    acts = set(ACTS) - {"show", "history"}
    for act in acts:
        with pytest.raises(tacit.NotFound, match="no such memory here"):
            ACTS[act](carol, id)
    assert carol.show(id).version == 1


def test_only_the_owner_changes_more_than_the_wording(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    with pytest.raises(tacit.InvalidInput, match="only the owner"):
        group(memory, BOB).update(id, "Standup is at 10", importance=5)
    group(memory, BOB).update(id, "Standup is at 10")
    assert said(group(memory, ALICE).list()) == ["Standup is at 10"]


def test_wipe_erases_all_of_ones_own_and_nothing_else(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("one")
    own.forget(kept(own, "two"))
    own.put("profile", "city", "Lisbon")
    kept(group(memory, ALICE), "three", visibility="room", sensitivity="public")
    kept(group(memory, ALICE), "the room's", for_room=True, sensitivity="public")
    private(memory, BOB).remember("Bob's")
    with pytest.raises(tacit.InvalidInput, match="wipe"):
        group(memory, ALICE).wipe()
    done = own.wipe()
    assert (done.count, cleaned(done)) == (4, True)
    assert said(own.list()) == ["the room's"]
    assert [own.stats().memories, memory.admin.stats().memories] == [0, 2]
    assert said(private(memory, BOB).list()) == ["Bob's", "the room's"]
    assert own.wipe().count == 0
