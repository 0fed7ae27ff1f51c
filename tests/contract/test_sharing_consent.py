"""What a tool would have others hear: the owner is asked, in private, and nobody else decides."""

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, SetClock, group, private

WHERE = ("profile", "city")


def test_a_yes_lets_it_be_said_and_keeps_its_id(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = own.put(*WHERE, "Lisbon", sensitivity="public").id
    own.proposals.propose_public(*WHERE)
    (asked,) = own.proposals.list()
    assert (asked.content, asked.replaces, asked.widens) == ("Lisbon", id, True)
    assert group(memory, BOB).list().items == ()
    own.proposals.approve(asked.id)
    assert own.proposals.list() == []
    value = own.get(*WHERE)
    assert value is not None
    assert (value.id, value.visibility, value.version) == (id, "public_ok", 1)
    assert [one.id for one in group(memory, BOB).list()] == [id]
    assert own.stats().memories == 1
    assert "CONSENT" in [entry.event for entry in own.history(id)]


def test_a_no_leaves_it_as_it_is_and_is_not_asked_again(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id = own.put(*WHERE, "Lisbon").id
    own.proposals.propose_public(*WHERE)
    own.proposals.decline(own.proposals.list()[0].id)
    own.proposals.propose_public(*WHERE)
    assert own.proposals.list() == []
    assert own.show(id).visibility == "private_only"
    assert own.stats().memories == 1
    own.put(*WHERE, "Porto")
    own.proposals.propose_public(*WHERE)
    assert [one.content for one in own.proposals.list()] == ["Porto"]


def test_a_no_to_this_is_no_no_to_remembering_it(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "I prefer tea")
    own.proposals.propose_public(*WHERE)
    own.proposals.decline(own.proposals.list()[0].id)
    own.forget_key(*WHERE)
    own.learn([tacit.Message("user", "Remember that I prefer tea")])
    memory.jobs.wait_for_learning()
    assert len(own.list()) == 1


def test_it_is_asked_once_for_each_value(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "Lisbon")
    own.proposals.propose_public(*WHERE)
    own.proposals.propose_public(*WHERE)
    assert [one.content for one in own.proposals.list()] == ["Lisbon"]
    own.put(*WHERE, "Porto")
    own.proposals.propose_public(*WHERE)
    assert [one.content for one in own.proposals.list()] == ["Porto"]


def test_only_what_was_shown_is_agreed_to(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "Lisbon")
    own.proposals.propose_public(*WHERE)
    (asked,) = own.proposals.list()
    own.put(*WHERE, "a place that nobody must know")
    with pytest.raises(tacit.Conflict):
        own.proposals.approve(asked.id)
    value = own.get(*WHERE)
    assert value is not None
    assert value.visibility == "private_only"
    own.proposals.decline(asked.id)
    assert own.proposals.list() == []


def test_neither_a_group_nor_anybody_else_answers_it(memory: Memory) -> None:
    own, room = private(memory, ALICE), group(memory, ALICE)
    room.put(*WHERE, "Lisbon")
    room.proposals.propose_public(*WHERE)
    (asked,) = own.proposals.list()
    for view in (room, private(memory, BOB), group(memory, BOB)):
        assert view.proposals.list() == []
        with pytest.raises(tacit.NotFound):
            view.proposals.approve(asked.id)


def test_where_there_is_nothing_to_ask_nothing_happens(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.proposals.propose_public(*WHERE)
    own.put(*WHERE, "Lisbon", visibility="public_ok")
    own.proposals.propose_public(*WHERE)
    private(memory, BOB).proposals.propose_public(*WHERE)
    assert own.proposals.list() == private(memory, BOB).proposals.list() == []
    with pytest.raises(tacit.InvalidInput):
        own.proposals.propose_public("nonsense", "city")


def test_what_is_erased_is_not_asked_about(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = own.put(*WHERE, "Lisbon").id
    own.proposals.propose_public(*WHERE)
    own.erase(id)
    assert own.proposals.list() == []
    assert memory.admin.stats().memories == 0


def test_what_nobody_answers_lapses(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "Lisbon")
    own.proposals.propose_public(*WHERE)
    for _ in range(2):
        memory.jobs.expire()
        clock.forward(days=4)
    assert own.proposals.list() == []
    assert memory.jobs.expire().proposals == 1
    assert own.stats().memories == 1


def test_what_waits_covers_no_value_of_another_identity(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "Lisbon")
    account = tacit.Requester("acct:1")
    memory.admin.link(ALICE.key, account.key)
    own.proposals.propose_public(*WHERE)
    for view in (own, private(memory, account)):
        value = view.get(*WHERE)
        assert value is not None
        assert value.content == "Lisbon"
    assert memory.admin.doctor().healthy
