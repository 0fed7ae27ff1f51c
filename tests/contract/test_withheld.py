"""Withheld: a memory that must never reach somebody, by whatever name or key they come."""

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, ALL, BOB, CAROL, FAMILY, OPEN, group, kept, private, said
from tests.contract.test_people import person_called

BOB_ACCOUNT = tacit.Requester("acct:bob")
BOB_LAPTOP = tacit.Requester("slack:T1:UB")


def test_what_is_withheld_is_said_only_where_that_person_cannot_be(memory: Memory) -> None:
    alice = group(memory, ALICE, here=(ALICE, CAROL), complete=True)
    id = kept(alice, "A party for Bob", withheld_from=[BOB.key], **OPEN)
    assert said(group(memory, CAROL, here=(ALICE, CAROL), complete=True).list()) == ["A party for Bob"]
    assert said(private(memory, CAROL).list()) == ["A party for Bob"]
    # He may be here, or he is.
    assert said(group(memory, CAROL, here=(ALICE, CAROL)).list()) == []
    assert said(group(memory, CAROL, here=ALL, complete=True).list()) == []
    assert said(group(memory, BOB, here=ALL, complete=True).list()) == []
    assert said(private(memory, BOB).list()) == []
    assert private(memory, ALICE).show(id).withheld_from == {"ext:telegram:2002"}


def test_who_it_is_withheld_from_is_told_to_nobody_but_the_owner(memory: Memory) -> None:
    room = (ALICE, CAROL)
    id = kept(group(memory, ALICE, here=room, complete=True), "A party", withheld_from=[BOB.key], **OPEN)
    carol = private(memory, CAROL)
    assert carol.show(id).withheld_from == frozenset()
    assert "2002" not in repr(carol.show(id))
    assert "2002" not in repr(carol.history(id))


def test_withholding_later_takes_effect_at_once_and_only_ever_grows(memory: Memory) -> None:
    id = kept(group(memory, ALICE, here=ALL), "A party", **OPEN)
    bob, own = private(memory, BOB), private(memory, ALICE)
    assert said(bob.list()) == ["A party"]
    own.withhold_from(id, [BOB.key])
    assert said(bob.list()) == []
    own.withhold_from(id, [CAROL.key])
    own.withhold_from(id, [])
    assert own.show(id).withheld_from == {"ext:telegram:2002", "ext:slack:T1:U3"}
    own.update(id, "A party at nine", withheld_from=[])
    (new,) = own.list()
    assert new.withheld_from == {"ext:telegram:2002", "ext:slack:T1:U3"}


@pytest.mark.parametrize("who", [ALICE.key, "Alice", "me"])
def test_nothing_is_withheld_from_its_own_owner(memory: Memory, who: str) -> None:
    own = private(memory, ALICE)
    id = kept(own, "Lives in Ulm")
    known = own.people.list()
    with pytest.raises(tacit.InvalidInput, match="owns the memory") as refused:
        own.withhold_from(id, [BOB.key, who])
    assert refused.value.field == "who"
    assert own.people.list() == known
    assert not own.show(id).withheld_from
    assert said(own.list()) == ["Lives in Ulm"]
    with pytest.raises(tacit.InvalidInput, match="owns the memory"):
        memory.operator("root").withhold_from(id, [ALICE.key])


def test_a_subject_may_withhold_what_is_said_about_them_and_learns_no_key_by_it(memory: Memory) -> None:
    id = kept(group(memory, ALICE, here=ALL), "Bob is ill", about=["Bob"], **OPEN)
    private(memory, BOB).withhold_from(id, [CAROL.key])
    assert said(private(memory, CAROL).list()) == []
    with pytest.raises(tacit.NotFound):
        private(memory, CAROL).withhold_from(id, [ALICE.key])
    private(memory, BOB).withhold_from(id, [ALICE.key])
    assert said(private(memory, ALICE).list()) == []


@pytest.mark.parametrize("comes_as", [BOB, BOB_ACCOUNT, BOB_LAPTOP], ids=["key", "account", "sib"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_withholding_reaches_every_identity_a_person_ever_had(
    memory: Memory, comes_as: tacit.Requester, when: str
) -> None:
    def link() -> None:
        memory.admin.link(BOB.key, "acct:bob")
        memory.admin.link(BOB_LAPTOP.key, "acct:bob")

    here = (ALICE, BOB, BOB_ACCOUNT, BOB_LAPTOP)
    if when == "before":
        link()
    room = group(memory, ALICE, here=here)
    kept(room, "A party for Bob", withheld_from=[BOB.key], **OPEN)
    kept(room, "Cake for all", **OPEN)
    if when == "after":
        link()
    view = private(memory, comes_as)
    assert said(view.list()) == ["Cake for all"]
    memory.admin.unlink(BOB.key)
    memory.admin.unlink(BOB_LAPTOP.key)
    assert "A party for Bob" not in said(view.list())
    assert "A party for Bob" not in said(group(memory, comes_as, here=here, complete=True).list())
    assert view.recall("party") == []


def test_somebody_we_cannot_identify_keeps_it_private_until_we_can(memory: Memory) -> None:
    room = group(memory, ALICE, here=(ALICE, CAROL), complete=True)
    own = private(memory, ALICE)
    id = kept(own, "A party", visibility="public_ok", sensitivity="public", kind="knowledge")
    carol = group(memory, CAROL, here=(ALICE, CAROL), complete=True)
    assert said(carol.list()) == ["A party"]
    own.withhold_from(id, ["Robert"])
    assert own.show(id).withheld_unknown
    assert own.explain(id, tacit.Chat.group("telegram:-100", (ALICE, CAROL), complete=True)).rule == "GV"
    assert said(carol.list()) == []
    assert said(room.list()) == []
    assert said(own.list()) == ["A party"]

    robert = person_called(memory, ALICE, "Robert")
    memory.admin.merge_people(robert, BOB.key)
    assert not own.show(id).withheld_unknown
    assert said(carol.list()) == ["A party"]
    assert said(private(memory, BOB).list()) == []
    assert said(group(memory, BOB, here=ALL, complete=True).list()) == []

    memory.admin.unmerge_people(robert)
    assert own.show(id).withheld_unknown
    assert said(carol.list()) == []
    # And he was Bob once: that is remembered too.
    assert said(private(memory, BOB).list()) == []


def test_one_unknown_among_known_people_is_enough_to_keep_it_private(memory: Memory) -> None:
    room = group(memory, ALICE, here=ALL, complete=True)
    kept(room, "A party", withheld_from=["telegram:777", "Robert"], **OPEN)
    assert said(private(memory, CAROL).list()) == []
    kept(room, "A dinner", withheld_from=["telegram:777"], **OPEN)
    assert said(private(memory, CAROL).list()) == ["A dinner"]


def test_the_owner_loses_sight_of_what_they_withheld_from_their_own_company(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("A party", withheld_from=[BOB.key], visibility="public_ok", sensitivity="public")
    assert said(own.list()) == ["A party"]
    assert said(group(memory, ALICE, here=(ALICE, BOB), complete=True).list()) == []
    assert said(group(memory, ALICE, FAMILY, here=(ALICE, CAROL), complete=True).list()) == ["A party"]
