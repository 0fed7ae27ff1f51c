"""Keys: one value in each slot, versions when it is written again, and nothing reset by that."""

import unicodedata

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, FAMILY, SetClock, get_value, group, kept, private, said


def test_a_key_written_again_is_a_version_of_the_same_memory(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    first = view.put("profile", "timezone", "Europe/Berlin")
    born = clock.now
    clock.forward(days=1)
    second = view.put("profile", "timezone", "Europe/Lisbon")
    assert second.id == first.id
    assert (first.version, second.version) == (1, 2)
    assert (first.created, second.created) == (True, False)

    found = get_value(view, "profile", "timezone")
    assert (found.content, found.version) == ("Europe/Lisbon", 2)
    assert (found.created_at, found.updated_at) == (born, clock.now)
    assert [entry.content for entry in view.history(found.id)] == ["Europe/Berlin", "Europe/Lisbon"]


def test_writing_a_key_again_keeps_everything_that_is_not_named(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.put(
        "profile",
        "city",
        "Porto",
        kind="identity",
        visibility="public_ok",
        sensitivity="public",
        portable=False,
        importance=5,
        confidence=0.5,
        pinned=True,
        tags=["home"],
        about=["me", "Sarah"],
        withheld_from=[BOB.key],
        agent="butler",
        run="r1",
        role="user",
        slot="home/city",
    )
    before = view.get("profile", "city")
    view.put("profile", "city", "Lisbon", importance=2)
    after = view.get("profile", "city")
    assert before is not None
    assert after is not None
    assert (after.content, after.importance) == ("Lisbon", 2)
    for name in (
        "id", "kind", "category", "key", "slot", "visibility", "sensitivity", "portable",
        "confidence", "pinned", "tags", "subjects", "withheld_from", "agent", "run", "role",
        "created_at", "observed_at", "expires_at", "owner",
    ):  # fmt: skip
        assert getattr(after, name) == getattr(before, name), name


def test_the_same_value_again_leaves_no_trace_but_of_other_fields(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.put("profile", "city", "Lisbon")
    before, revision = view.get("profile", "city"), view.delta().revision
    clock.forward(days=1)
    done = view.put("profile", "city", "Lisbon")
    assert before is not None
    assert (done.id, done.version, done.created) == (before.id, 1, False)
    after = get_value(view, "profile", "city")
    assert (after.version, after.updated_at) == (1, before.updated_at)
    assert len(view.history(before.id)) == 1
    assert view.delta().revision == revision
    id = view.put("profile", "city", "Lisbon").id
    assert id is not None
    clock.forward(days=1)
    done = view.put("profile", "city", "Lisbon", importance=5)
    found = view.show(id)
    assert (done.id, found.version, found.importance) == (id, 1, 5)
    assert found.updated_at == clock.now
    assert [entry.event for entry in view.history(id)] == ["ADD", "UPDATE"]


def test_categories_people_and_kinds_have_keys_of_their_own(memory: Memory) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    alice.put("profile", "name", "Al")
    alice.put("goal", "name", "be Al")
    bob.put("profile", "name", "Bobby")
    assert [getattr(alice.get(c, "name"), "content", None) for c in ("profile", "goal")] == ["Al", "be Al"]
    assert getattr(bob.get("profile", "name"), "content", None) == "Bobby"
    assert bob.get("goal", "name") is None
    view = private(memory, ALICE)
    view.remember("tea", key="drink", kind="preference")
    view.remember("42", key="answer")
    assert view.get("preference", "drink") is not None
    assert view.get("fact", "answer") is not None


def test_keys_differ_by_every_sign_and_are_one_in_two_unicode_spellings(memory: Memory) -> None:
    view = private(memory, ALICE)
    composed = "café"
    decomposed = unicodedata.normalize("NFD", composed)
    view.put("profile", composed, "closed")
    view.put("profile", decomposed, "open")
    assert said(view.list("profile")) == ["open"]
    assert said(view.list("profile", prefix=decomposed)) == ["open"]
    spellings = ["a%b", "a_b", "A_B", "a.b", "a b", "a'b", 'a"b', "a\\b", "'; DROP TABLE x; --"]
    for number, key in enumerate(spellings):
        view.put("profile", key, f"value {number}")
    for number, key in enumerate(spellings):
        found = view.get("profile", key)
        assert found is not None
        assert found.content == f"value {number}"
    assert view.stats().memories == len(spellings) + 1


def test_a_forgotten_key_can_be_written_anew(memory: Memory) -> None:
    view = private(memory, ALICE)
    old = kept(view, "Porto", category="profile", key="city")
    view.forget(old)
    assert view.get("profile", "city") is None
    new = view.put("profile", "city", "Lisbon")
    assert new.created
    assert new.id != old
    with pytest.raises(tacit.Conflict, match="key"):
        view.restore(old)
    assert view.show(old).state == "forgotten"
    assert new.id is not None
    view.forget(new.id)
    view.restore(old)
    assert getattr(view.get("profile", "city"), "content", None) == "Porto"


def test_forget_key_forgets_one_key_and_says_so(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.put("profile", "city", "Lisbon")
    view.put("profile", "name", "Al")
    private(memory, BOB).put("profile", "city", "Rome")
    assert view.forget_key("profile", "city") == 1
    assert view.forget_key("profile", "city") == 0
    assert said(view.list()) == ["Al"]
    assert said(private(memory, BOB).list()) == ["Rome"]


def test_forget_category_forgets_all_that_is_filed_there(memory: Memory) -> None:
    view = private(memory, ALICE)
    for number in range(4):
        view.put("profile", f"k{number}", f"value {number}")
    view.remember("stays", category="goal")
    private(memory, BOB).put("profile", "k0", "Bob's")
    assert view.forget_category("profile") == 4
    assert said(view.list()) == ["stays"]
    assert said(private(memory, BOB).list()) == ["Bob's"]
    assert len(view.list(state="forgotten")) == 4


def test_in_a_group_forget_category_reaches_only_what_may_be_said_there(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "secret", "hidden")
    own.put("profile", "open", "shown", visibility="public_ok")
    assert group(memory, ALICE).forget_category("profile") == 1
    assert said(own.list("profile")) == ["hidden"]


def test_a_key_written_in_another_chat_replaces_the_old_value_there(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    old = kept(own, "Porto", category="profile", key="city", visibility="public_ok", importance=5)
    clock.forward(days=1)
    done = group(memory, ALICE, FAMILY).put("profile", "city", "Lisbon")
    # In a group nobody is told that there was something before.
    assert (done.created, done.version, done.supersedes) == (True, 1, None)
    found = get_value(own, "profile", "city")
    assert (found.content, found.learned_in) == ("Lisbon", FAMILY)
    # The room may hear the old value anyway (its owner asks), so what was not said is taken over.
    assert (found.visibility, found.importance) == ("public_ok", 5)
    assert own.show(old).state == "superseded"
    assert own.show(old).superseded_by == found.id


def test_a_room_has_keys_of_its_own(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    first = alice.put("project", "standup", "at 9", for_room=True, sensitivity="public")
    second = bob.put("project", "standup", "at 10", for_room=True)
    alice.put("project", "standup", "I hate it")
    assert (second.id, second.version) == (first.id, 2)
    assert said(bob.list("project")) == ["at 10"]
    other = group(memory, BOB, FAMILY)
    assert other.put("project", "standup", "at noon", for_room=True).created
    assert private(memory, BOB).get("project", "standup") is None
