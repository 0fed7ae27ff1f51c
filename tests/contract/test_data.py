"""Data: a JSON object that goes with a memory, for its owner's programs."""

import json
from typing import Any

import pytest

import tacit
from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.memory import Memory
from tests.contract.lessons import told
from tests.contract.rooms import ALICE, ALL, BOB, CAROL, LENT, TEAM, SetClock, get_value, group, kept, private

DATA = {"value": 61.5, "unit": "kg", "path": ["a", {"b": None}], "at": {"é": True}}


def test_data_comes_back_as_it_was_and_is_nobody_elses_object(memory: Memory) -> None:
    view = private(memory, ALICE)
    given = json.loads(json.dumps(DATA))
    id = view.remember("I weigh 61.5 kg", data=given).id
    given["path"].append("changed")
    found = view.show(id).data
    assert found == DATA
    found["unit"] = "lb"  # type: ignore[index]
    assert view.show(id).data == DATA
    assert view.recall("how much do I weigh?")[0].memory.data == DATA
    assert view.remember("nothing with it").id
    assert {one.content: one.data for one in view.list()} == {"I weigh 61.5 kg": DATA, "nothing with it": None}


def test_what_is_not_named_is_kept_and_an_empty_object_clears_it(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = view.put("profile", "weight", "61 kg", data={"kg": 61}).id
    assert view.put("profile", "weight", "62 kg").version == 2
    assert view.show(id).data == {"kg": 61}
    view.update(id, data={"kg": 62})
    before = view.show(id)
    assert (before.data, before.content, before.version) == ({"kg": 62}, "62 kg", 3)
    assert view.put("profile", "weight", "62 kg", data={"kg": 62}).version == 3
    assert view.show(id) == before
    view.update(id, data={})
    assert view.show(id).data is None
    assert view.show(id).updated_at >= before.updated_at
    told = [entry.detail for entry in view.history(id)]
    assert told == [{}, {}, {"fields": "data"}, {"fields": "data"}]


def test_true_is_not_one_the_order_of_names_is_nothing_and_a_version_that_moved_on_is_a_conflict(
    memory: Memory,
) -> None:
    view = private(memory, ALICE)
    id = view.put("profile", "door", "is open", data={"open": 1, "by": {"a": 1, "b": 2}}).id
    assert view.put("profile", "door", "is open", data={"by": {"b": 2, "a": 1}, "open": 1}).id == id
    assert view.show(id).version == 1
    view.update(id, data={"open": True, "by": {"a": 1, "b": 2}})
    assert json.dumps(view.show(id).data) == '{"open": true, "by": {"a": 1, "b": 2}}'
    done = view.put("profile", "weight", "61 kg", data={"kg": 61})
    view.update(done.id, data={"kg": 62}, if_version=1)
    with pytest.raises(tacit.errors.Conflict):
        view.update(done.id, data={"kg": 63}, if_version=1)
    assert view.show(done.id).data == {"kg": 62}


def test_what_would_not_come_back_the_same_or_is_too_much_is_refused(memory: Memory) -> None:
    view = private(memory, ALICE)
    bad: list[tuple[Any, str]] = [
        ({"a": "x" * limits.DATA_MAX_BYTES}, "at most"),
        ({"a": list(range(20_000))}, "at most 65,536"),
        ({"a": 10**5_000}, "too long"),
        ({"a": {1: 2}}, "use text"),
        ({"a": {3.5}}, "JSON types"),
        ({"a": float("inf")}, "cannot represent"),
        ([], "expected an object"),
    ]
    for data, problem in bad:
        with pytest.raises(InvalidInput, match=problem):
            view.remember("with it", data=data)
    assert view.count() == 0
    many: list[object] = [1]
    for _ in range(30):
        many = [many, many]
    with pytest.raises(InvalidInput, match="more than fits into 65,536 bytes"):
        private(memory, ALICE).remember("with it", data={"many": many})
    deep: dict[str, object] = {}
    for _ in range(limits.DATA_DEPTH_MAX_COUNT - 1):
        deep = {"in": deep}
    assert view.show(view.remember("deep", data=deep).id).data == deep
    with pytest.raises(InvalidInput, match="deeper than 32 levels"):
        view.remember("deeper", data={"in": deep})


def test_secrets_are_refused_in_data_and_not_repeated(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "the mail account")
    for data in (
        {"password": "correct-horse-42!"},
        {"in": [{"key": "AKIAIOSFODNN7EXAMPLE"}]},
        {"AKIAIOSFODNN7EXAMPLE": True},
        {"password": ["correct-horse-42!"]},
        {"password": {"of": {"mine": "correct-horse-42!"}}},
        {"userPassword": "correct-horse-42!"},
        {"fields": [{"name": "password", "value": "correct-horse-42!"}]},
        {"in": ["password", "correct-horse-42!"]},
        {"pin": 482942},
        {"card": {"number": 4242424242424242}},
    ):
        with pytest.raises(SecretRefused) as refused:
            view.update(id, data=data)
        assert "42" not in str(refused.value)
        assert "AKIA" not in str(refused.value)
    assert view.show(id).data is None


def test_what_programs_keep_is_not_taken_for_a_secret(memory: Memory) -> None:
    data = {
        "usage": {"prompt_tokens": 12345, "tokens": [1200, 340]},
        "password": {"type": "string", "required": True, "length": 12},
        "code": 404,
        "user_id": 7123456789,
        "at": [52.5200066, 1700000000123],
        "keys": ["name", "city"],
        "login": {"count": 1234, "last": "2026-03-01T12:00:00+00:00"},
    }
    view = private(memory, ALICE)
    assert view.show(view.remember("with it", data=data).id).data == data


def test_data_given_in_private_stays_there_when_the_memory_is_lent(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "city", "Lisbon", data={"zip": "1100"})
    own.put("profile", "zone", "Europe/Lisbon", data={"utc": 0}, **LENT)
    here = group(memory, ALICE)
    assert [(one.key, one.data) for one in here.list()] == [("zone", None)]
    assert [(one.key, one.data) for one in group(memory, BOB).list()] == [("zone", None)]
    assert here.get("profile", "city") is None
    assert private(memory, BOB).list().items == ()


def test_a_question_whether_others_may_hear_it_is_about_the_value_that_was_shown(memory: Memory) -> None:
    own, here = private(memory, ALICE), group(memory, ALICE)
    own.put("profile", "zone", "Europe/Lisbon", data={"utc": 0})
    here.proposals.propose_public("profile", "zone")
    (asked,) = own.proposals.list()
    assert asked.reason.endswith("listen")
    own.put("profile", "zone", "Europe/Lisbon", data={"utc": 1})
    with pytest.raises(tacit.errors.Conflict, match="another one by now"):
        own.proposals.approve(asked.id)
    assert here.list().items == ()


def test_other_data_is_heard_by_whoever_is_there_then(memory: Memory) -> None:
    """Carol heard the value that the room had first, and not what was put in its place. Others
    hear the words; the data is for the owner's programs, also in the room it was given in."""
    group(memory, ALICE, here=ALL).put(
        "profile", "desk", "Desk 4", visibility="room", sensitivity="public", data={"desk": 4}
    )
    assert [one.data for one in private(memory, CAROL).list()] == [None]
    assert [one.data for one in group(memory, ALICE, here=ALL).list()] == [{"desk": 4}]
    memory.chats.leave(TEAM, CAROL.key)
    group(memory, ALICE).put("profile", "desk", "Desk 4", data={"desk": 4, "pin": "left"})
    assert private(memory, CAROL).list().items == ()
    assert [one.data for one in private(memory, BOB).list()] == [None]
    assert [one.data for one in group(memory, ALICE).list()] == [{"desk": 4, "pin": "left"}]


def test_data_that_is_taken_over_is_not_heard_by_those_who_came_since(memory: Memory) -> None:
    group(memory, ALICE).put("profile", "desk", "Desk 4", visibility="room", sensitivity="public", data={"desk": 4})
    group(memory, ALICE, here=ALL).put("profile", "desk", "Desk 5")
    assert private(memory, CAROL).list().items == ()
    assert [one.content for one in private(memory, BOB).list()] == ["Desk 5"]


def test_data_said_in_private_makes_a_new_memory_and_the_room_hears_none_of_it(memory: Memory) -> None:
    said = group(memory, ALICE).put("profile", "desk", "Desk 4", visibility="room", sensitivity="public")
    done = private(memory, ALICE).update(said.id, data={"code": "blue"})
    assert done.supersedes == said.id
    assert private(memory, ALICE).show(done.id).data == {"code": "blue"}
    assert group(memory, ALICE).list().items == ()
    assert group(memory, BOB).list().items == ()


def test_what_a_room_may_not_hear_leaves_it_no_data(memory: Memory) -> None:
    private(memory, ALICE).put("profile", "city", "Lisbon", data={"street": "Rua 1"})
    group(memory, ALICE).put("profile", "city", "Porto", visibility="room", sensitivity="public")
    assert [one.data for one in group(memory, ALICE).list()] == [None]
    assert [one.data for one in private(memory, ALICE).list()] == [None]


def test_only_the_owner_changes_data(memory: Memory) -> None:
    id = group(memory, ALICE).remember("the standup is at 9", for_room=True, sensitivity="public").id
    with pytest.raises(InvalidInput, match="only the owner"):
        group(memory, BOB).update(id, data={"hour": 9})


def test_an_earlier_time_tells_none_of_the_later_data(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.put("profile", "city", "I live in Lisbon", data={"n": 1})
    first = clock.now
    clock.forward(days=1)
    view.put("profile", "city", "I live in Lisbon", data={"n": 2})
    (then,) = view.recall("Lisbon", as_of=first)
    assert (then.memory.version, then.memory.data) == (1, None)
    (now,) = view.recall("Lisbon", as_of=clock.now)
    assert now.memory.data == {"n": 2}


def test_memories_with_data_are_never_merged(memory: Memory) -> None:
    view = private(memory, ALICE)
    for n in (1, 2):
        view.remember("I like green tea", data={"n": n})
    memory.jobs.consolidate()
    assert sorted(one.data["n"] for one in view.list() if one.data) == [1, 2]


def test_what_somebody_says_does_not_change_what_a_program_keeps(learning: Memory) -> None:
    view = private(learning, ALICE)
    view.put("item", "home", "I live in Lisbon", data={"city": "Lisbon"})
    for city in ("Lisbon", "Porto"):
        told(learning, view, f"I live in {city}")
        kept = get_value(view, "item", "home")
        assert (kept.content, kept.version) == ("I live in Lisbon", 1)
        assert [one.data for one in view.list() if city in one.content and one.key is None] == [None]


def test_data_goes_out_and_comes_in_with_its_memory(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.put("profile", "weight", "60 kg", data={"z": 1, "a": [2]})
    view.put("profile", "weight", "61 kg")
    for n in (1, 2):
        view.remember("weighed", data={"n": n, "a": n})
    lines = list(view.export())
    there = private(memory.space("elsewhere"), ALICE)
    assert there.imports.add_lines(lines).created == 3
    assert there.imports.add_lines(lines).created == 0
    found = sorted((one.content, json.dumps(one.data, sort_keys=True)) for one in there.list())
    assert found == sorted((one.content, json.dumps(one.data, sort_keys=True)) for one in view.list())
    secret = json.dumps({"content": "x", "data": {"password": "correct-horse-42!"}})
    assert there.imports.add_lines([secret]).refused
