"""Data that nobody names is taken over with its memory, and goes no further than it went."""

import pytest

from tacit.memory import Memory
from tacit.records.drafts import MemoryFields
from tests.contract.lessons import told
from tests.contract.rooms import ALICE, ALL, BOB, CAROL, FAMILY, group, private

HEARD: MemoryFields = {"visibility": "room", "sensitivity": "public"}
HOME = {"street": "Rua 1"}


@pytest.mark.parametrize("first", ["kept for herself", "lent", "told in another room"])
def test_words_said_anew_in_a_room_bring_it_no_data_of_another_place(memory: Memory, first: str) -> None:
    if first == "kept for herself":
        group(memory, ALICE, here=ALL).put("profile", "city", "Lisbon", data=HOME)
    elif first == "lent":
        own = private(memory, ALICE)
        own.put("profile", "city", "Lisbon", data=HOME, visibility="public_ok")
    else:
        told_there: MemoryFields = {**HEARD, "data": HOME, "portable": True}
        group(memory, ALICE, FAMILY).put("profile", "city", "Lisbon", **told_there)
    here = group(memory, ALICE, here=ALL)
    here.put("profile", "city", "Porto", **HEARD)
    for who in ALL:
        assert [(one.content, one.data) for one in private(memory, who).list()] == [("Porto", None)]
        assert not any(one.data for one in group(memory, who, here=ALL).list())


def test_other_data_alone_brings_nobody_words_that_they_did_not_hear(memory: Memory) -> None:
    desk = group(memory, ALICE).remember("Desk 4 is mine", **HEARD).id
    city = private(memory, ALICE).put("profile", "city", "Lisbon", visibility="public_ok").id
    here = group(memory, ALICE, here=ALL)
    for id in (desk, city):
        here.update(id, data={"checked": True})
    assert private(memory, CAROL).list().items == ()
    assert [one.content for one in private(memory, BOB).list()] == ["Desk 4 is mine"]


def test_words_and_data_of_ones_own_are_not_taken_for_what_was_learned(learning: Memory) -> None:
    view = private(learning, ALICE)
    told(learning, view, "I live in Lisbon")
    (learned,) = view.list()
    view.update(learned.id, "Porto is where I live", data={"n": 1})
    assert [one.detail.get("also") for one in view.history(learned.id)] == [None, "data"]
    assert learning.operator("ops").erase_source(ALICE.key).count == 1  # the episode
    assert [(one.content, one.data) for one in view.list()] == [("Porto is where I live", {"n": 1})]


def test_a_wording_that_is_put_back_has_the_data_that_it_had(learning: Memory) -> None:
    view, operator = private(learning, ALICE), learning.operator("ops")
    id = view.remember("I live in Lisbon").id
    view.update(id, data={"n": 1})
    for _ in range(2):  # the second time it is known that it was put back before
        told(learning, view, "I live in Lisbon", "I live in Porto")
        operator.revert(ALICE.key)
        assert [(one.content, one.data) for one in view.list()] == [("I live in Lisbon", {"n": 1})]
    told(learning, view, "I live in Berlin")
    view.update(id, data={"n": 2})
    operator.revert(ALICE.key)
    assert [(one.content, one.data) for one in view.list()] == [("I live in Lisbon", None)]
