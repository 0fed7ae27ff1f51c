"""Spaces: tenants on one database, between which nothing passes."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, OPEN, TEAM, group, kept, private, said
from tests.contract.traces import cleaned


def test_the_same_people_keys_and_chats_in_two_spaces_never_meet(memory: Memory) -> None:
    red, blue = memory.space("red"), memory.space("blue")
    for name, space in (("red", red), ("blue", blue)):
        own = private(space, ALICE)
        own.put("profile", "colour", name, about=["Sarah"])
        own.remember(f"lent in {name}", visibility="public_ok", sensitivity="public")
        group(space, ALICE).remember(f"said in {name}", for_room=True, **OPEN)
    for name, space in (("red", red), ("blue", blue)):
        own = private(space, ALICE)
        everything = [f"lent in {name}", name, f"said in {name}"]
        assert said(own.list()) == sorted(everything)
        assert getattr(own.get("profile", "colour"), "content", None) == name
        assert said(own.people.about("Sarah")) == [name]
        assert said(group(space, BOB).list()) == [f"lent in {name}", f"said in {name}"]
        assert {one.memory.content for one in own.recall("red blue lent said")} == set(everything)
        assert all(one.space == name for one in own.list())
        assert (own.stats().memories, space.admin.stats().memories) == (2, 3)
        assert len(own.delta().changes) == 2
    assert private(memory, ALICE).list().items == ()
    assert memory.spaces() == ["blue", "red"]


def test_an_id_of_another_space_does_not_exist(memory: Memory) -> None:
    id = kept(private(memory.space("red"), ALICE), "red")
    blue = private(memory.space("blue"), ALICE)
    for act in (blue.show, blue.forget, blue.restore, blue.erase, blue.history, blue.explain):
        with pytest.raises(tacit.NotFound, match="no such memory here"):
            act(id)
    with pytest.raises(tacit.NotFound):
        blue.update(id, "blue")
    with pytest.raises(tacit.NotFound):
        memory.space("blue").operator("root").erase(id)
    assert said(private(memory.space("red"), ALICE).list()) == ["red"]


def test_links_members_and_flags_hold_in_their_own_space_only(memory: Memory) -> None:
    red, blue = memory.space("red"), memory.space("blue")
    web = tacit.Requester("acct:alice")
    for space in (red, blue):
        private(space, ALICE).remember("said on the phone")
        group(space, ALICE).remember("Standup is at 9", for_room=True, **OPEN)
    red.admin.link(ALICE.key, "acct:alice")
    red.chats.leave(TEAM, BOB.key)
    red.chats.set_confidential(TEAM)
    assert said(private(red, web).list()) != []
    assert said(private(blue, web).list()) == []
    assert blue.admin.links(ALICE.key) == []
    assert said(group(red, BOB, here=()).list()) == []
    assert said(group(blue, BOB, here=()).list()) == ["Standup is at 9"]
    with pytest.raises(tacit.NotFound):
        blue.admin.unlink(ALICE.key)


def test_an_erased_space_is_gone_and_the_others_stand(memory: Memory) -> None:
    red, blue = memory.space("red"), memory.space("blue")
    for space in (red, blue):
        private(space, ALICE).remember("one", about=["Sarah"], withheld_from=["Tom"])
        group(space, ALICE).remember("two", for_room=True, **OPEN)
        space.admin.link(ALICE.key, "acct:alice")
    done = red.admin.erase_space()
    assert (done.count, cleaned(done)) == (2, True)
    assert memory.spaces() == ["blue"]
    assert red.admin.stats().memories == 0
    assert red.admin.links(ALICE.key) == []
    assert said(private(red, ALICE).list()) == []
    assert private(red, ALICE).recall("one two") == []
    assert blue.admin.stats().memories == 2
    assert said(private(blue, ALICE).list()) == ["one", "two"]
    assert red.admin.erase_space().count == 0
    assert memory.admin.maintain().healthy


def test_nothing_of_an_erased_space_is_remembered_by_a_memory_that_stays_open(memory: Memory) -> None:
    web = tacit.Requester("acct:alice")
    red = memory.space("red")

    def begin() -> None:
        private(red, ALICE).remember("said on the phone", category="profile", key="k")
        private(red, web).remember("said on the web")
        assert said(private(red, web).list()) == ["said on the web"]

    begin()
    red.admin.link(ALICE.key, "acct:alice")
    assert len(private(red, web).list()) == 2
    red.admin.erase_space()
    begin()
    # As many changes of identity as before: a cache that counts them would see no difference.
    red.admin.link("slack:T1:U9", "acct:nobody")
    assert said(private(red, web).list()) == ["said on the web"]
    assert private(red, web).get("profile", "k") is None


def test_two_memories_on_one_database_share_its_spaces(shared_url: str, opened: Open) -> None:
    first, second = opened(shared_url, space="red"), opened(shared_url)
    private(first, ALICE).remember("one")
    assert said(private(second.space("red"), ALICE).list()) == ["one"]
    assert said(private(second, ALICE).list()) == []
    second.space("red").admin.erase_space()
    assert said(private(first, ALICE).list()) == []
    private(first, ALICE).remember("two")
    assert said(private(second.space("red"), ALICE).list()) == ["two"]


def test_stats_count_by_state_kind_and_category_for_the_owner_alone(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("one", kind="preference")
    own.forget(kept(own, "two"))
    private(memory, BOB).remember("three", kind="event")
    mine = own.stats()
    assert mine.memories == 2
    assert mine.by_state == {"active": 1, "forgotten": 1}
    assert mine.by_kind == {"knowledge": 1, "preference": 1}
    assert mine.by_category == {"fact": 1, "preference": 1}
    assert group(memory, ALICE).stats().memories == 0
    everything = memory.admin.stats()
    assert (everything.memories, everything.by_kind["event"]) == (3, 1)
    assert memory.space("empty").admin.stats().memories == 0


def test_a_space_has_a_plain_name_and_is_made_by_its_first_write(memory: Memory) -> None:
    names: list[Any] = ["", " ", "a b", "a/b", "../x", "a" * 65, "_x", "é", "a\n", "'; --", None, 5]
    for name in names:
        with pytest.raises(tacit.InvalidInput, match="space"):
            memory.space(name)
    red = memory.space("red")
    private(red, ALICE).list()
    private(red, ALICE).get("profile", "k")
    assert memory.spaces() == []
    private(red, ALICE).remember("one")
    assert memory.spaces() == ["red"]
