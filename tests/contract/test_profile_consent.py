"""What a model writes of a name, pronouns, a home or a language waits for the person's yes."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.tools import Answer, tools
from tacit.tools.reference import reference_tools
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, SetClock, get_value, group, private

NAME = {"namespace": "profile", "key": "preferred_name"}


def call(view: View, name: str, **arguments: Any) -> Answer:
    return next(one for one in tools(view) if one.name == name).call(arguments)


def waits(answer: Answer) -> bool:
    return bool((answer.data or {}).get("waiting"))


def test_a_name_waits_until_the_person_says_yes(memory: Memory) -> None:
    own = private(memory, ALICE)
    answer = call(own, "memory_put", **NAME, value="Nina")
    assert waits(answer)
    assert "until they say yes" in answer.text
    assert own.get("profile", "preferred_name") is None
    (asked,) = own.proposals.list()
    assert (asked.content, asked.widens) == ("preferred_name: Nina", False)
    own.proposals.approve(asked.id)
    value = get_value(own, "profile", "preferred_name")
    assert (value.id, value.content, value.visibility) == (asked.id, "Nina", "private_only")
    assert "CONSENT" in [entry.event for entry in own.history(asked.id)]
    assert memory.admin.doctor().healthy


def test_a_yes_replaces_the_value_and_a_no_leaves_it(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "preferred_name", "Nina")
    assert waits(call(own, "memory_put", **NAME, value="Nora"))
    assert waits(call(own, "memory_put", **NAME, value="Nadja"))
    (asked,) = own.proposals.list()
    assert asked.content == "preferred_name: Nadja"
    own.proposals.decline(asked.id)
    assert own.proposals.list() == []
    assert call(own, "memory_put", **NAME, value="Nadja").failed
    assert waits(call(own, "memory_put", **NAME, value="Nora"))
    own.put("profile", "preferred_name", "Nele")  # said meanwhile
    own.proposals.approve(own.proposals.list()[0].id)
    value = get_value(own, "profile", "preferred_name")
    assert value.content == "Nora"
    assert [one.content for one in own.list("profile")] == ["Nora"]
    assert memory.admin.doctor().healthy


def test_what_is_known_already_is_not_asked_about(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "preferred_name", "Nina")
    assert not waits(call(own, "memory_put", **NAME, value="Nina"))
    assert own.proposals.list() == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_put", {"namespace": "profile", "key": "pronouns", "value": "she/her"}),
        ("memory_put", {"namespace": "profile", "key": "homeCity", "value": "Porto"}),
        ("memory_put", {"namespace": "preference", "key": "language", "value": "German"}),
        ("memory_put", {"namespace": "person", "key": "bob/name", "value": "Robert"}),
        ("memory_put", {"namespace": "profile", "key": "spitzname", "value": "Nini"}),
        ("memory_put", {**NAME, "value": "Nina", "visibility": "public_ok"}),
        ("add_memory", {"content": "I live in Porto", "type": "identity"}),
        ("add_memory", {"content": "My name is Nina"}),
        ("add_to_memory", {"content": "Bob's pronouns are they/them", "category": "person"}),
        ("add_to_memory", {"content": "Bob is called Bobby by friends", "category": "person"}),
        ("add_to_memory", {"content": "Bob heißt jetzt Robert", "category": "person"}),
    ],
)
def test_profile_fields_wait_whatever_the_tool(memory: Memory, name: str, arguments: dict[str, Any]) -> None:
    for view in (private(memory, ALICE), group(memory, ALICE)):
        answer = call(view, name, **arguments)
        assert waits(answer), answer.text
        assert view.list().items == ()
    assert len(private(memory, ALICE).proposals.list()) == 1
    assert private(memory, BOB).proposals.list() == group(memory, BOB).proposals.list() == []


def test_other_values_are_kept_at_once(memory: Memory) -> None:
    own = private(memory, ALICE)
    for namespace, key in (
        ("profile", "timezone"),
        ("project", "name"),
        ("preference", "programming_language"),
        ("preference", "tea"),
    ):
        assert not waits(call(own, "memory_put", namespace=namespace, key=key, value="Lisp"))
        assert own.get(namespace, key) is not None, key
    assert own.proposals.list() == []


def test_a_person_who_says_it_themselves_is_not_asked(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "preferred_name", "Nina")
    id = own.remember("My name is Nina").id
    assert own.proposals.list() == []
    answer = call(own, "update_memory", memory_id=id, content="My name is Nora")
    assert waits(answer)
    assert own.show(id).content == "My name is Nina"
    own.proposals.approve(own.proposals.list()[0].id)
    assert [one.content for one in own.list("fact")] == ["My name is Nora"]
    assert own.show(id).state == "superseded"


def test_a_group_is_not_told_what_a_person_answered(memory: Memory) -> None:
    own, room = private(memory, ALICE), group(memory, ALICE)
    assert waits(call(own, "memory_put", **NAME, value="Nina"))
    own.proposals.decline(own.proposals.list()[0].id)
    assert waits(call(room, "memory_put", **NAME, value="Nina"))
    assert own.proposals.list() == []
    own.put("profile", "preferred_name", "Nora")
    assert waits(call(room, "memory_put", **NAME, value="Nora"))


def test_what_waits_goes_with_what_is_erased(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = own.put("profile", "preferred_name", "Nina").id
    assert waits(call(own, "memory_put", **NAME, value="Nora"))
    own.erase(id)
    assert own.proposals.list() == []
    assert waits(call(own, "memory_put", **NAME, value="Nora"))
    own.wipe()
    assert own.proposals.list() == []


def test_no_question_is_asked_twice_and_one_thing_at_a_time(memory: Memory) -> None:
    own = private(memory, ALICE)
    first = call(own, "memory_put", **NAME, value="Nina")
    again = call(own, "memory_put", **NAME, value="Nina")
    assert (first.data or {})["id"] == (again.data or {})["id"]
    assert len(own.proposals.list()) == 1
    with pytest.raises(tacit.InvalidInput):
        own.put("profile", "name", "Nina", visibility="public_ok", by_model=True)


@pytest.mark.parametrize("line", ["Nina's pronouns are she/her", "Her name is Nina"])
def test_a_tool_that_cannot_ask_refuses_a_name(memory: Memory, line: str) -> None:
    own = private(memory, ALICE)
    graph = {one.name: one for one in reference_tools(own)}
    person = {"name": "Nina", "entityType": "person", "observations": []}
    assert not graph["create_entities"].call({"entities": [person]}).failed
    for answer in (
        call(own, "write_file", path="about.md", text=f"- {line}\n"),
        graph["add_observations"].call({"observations": [{"entityName": "Nina", "contents": [line]}]}),
        graph["create_entities"].call({"entities": [{"name": "N", "entityType": "person", "observations": [line]}]}),
    ):
        assert answer.failed
        assert "memory_put" in answer.text
    assert not [one for one in own.list() if line in one.content]
    assert not call(own, "write_file", path="about.md", text="- Nina likes tea\n").failed


def test_an_edited_line_is_refused_where_it_becomes_a_name(memory: Memory) -> None:
    own = private(memory, ALICE)
    assert not call(own, "write_file", path="about.md", text="- Nina likes tea\n").failed
    assert call(own, "write_file", path="about.md", text="- Nina is called Nele\n").failed
    assert own.files.read("about.md").endswith("- Nina likes tea\n")


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
    value = get_value(own, *WHERE)
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


def test_it_is_asked_once_for_each_value_and_only_what_was_shown_is_agreed_to(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put(*WHERE, "Lisbon")
    own.proposals.propose_public(*WHERE)
    own.proposals.propose_public(*WHERE)
    assert [one.content for one in own.proposals.list()] == ["Lisbon"]
    own.put(*WHERE, "Porto")
    own.proposals.propose_public(*WHERE)
    assert [one.content for one in own.proposals.list()] == ["Porto"]
    own.put(*WHERE, "Lisbon")
    own.proposals.propose_public(*WHERE)
    (asked,) = own.proposals.list()
    own.put(*WHERE, "a place that nobody must know")
    with pytest.raises(tacit.Conflict):
        own.proposals.approve(asked.id)
    value = get_value(own, *WHERE)
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
        value = get_value(view, *WHERE)
        assert value.content == "Lisbon"
    assert memory.admin.doctor().healthy
