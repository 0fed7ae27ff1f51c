"""An operator's acts and the acts on a whole person: audited, and never a way to read."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, kept, private, said
from tests.contract.traces import cleaned

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
WEB = tacit.Requester("acct:alice")


def test_an_operators_acts_stand_in_history_under_their_name(memory: Memory) -> None:
    own, root = private(memory, ALICE), memory.operator("root")
    id = kept(own, "one", visibility="public_ok")
    root.update(id, "two")
    root.lower_visibility(id, "private_only")
    root.withhold_from(id, [BOB.key])
    root.forget(id)
    root.restore(id)
    entries = own.history(id)
    assert [e.event for e in entries] == ["ADD", "UPDATE", "UPDATE", "UPDATE", "DELETE", "RESTORE"]
    assert {e.actor for e in entries[1:]} == {"operator:root"}
    found = own.show(id)
    assert (found.content, found.version, found.state) == ("two", 2, "active")
    assert found.visibility == "private_only"
    assert found.withheld_from == {"ext:telegram:2002"}


def test_an_operators_words_are_nobodys_own(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "I run", **OPEN)
    memory.operator("root").update(id, "(removed)")
    found = private(memory, ALICE).show(id)
    assert (found.owner, found.speaker) == ("ext:telegram:1001", None)
    assert found.subjects == {"ext:telegram:1001"}


def test_an_operator_overwrites_nothing_that_moved_on(memory: Memory) -> None:
    own, root = private(memory, ALICE), memory.operator("root")
    id = kept(own, "one")
    own.update(id, "two")
    with pytest.raises(tacit.Conflict, match="at version 2 by now"):
        root.update(id, "three", if_version=1)
    assert own.show(id).content == "two"
    root.update(id, "three", if_version=2)
    assert own.show(id).content == "three"


def test_an_operator_never_raises_visibility(memory: Memory) -> None:
    root = memory.operator("root")
    id = kept(private(memory, ALICE), "one")
    for wider in ("room", "public_ok"):
        with pytest.raises(tacit.InvalidInput, match="only the owner raises"):
            root.lower_visibility(id, wider)
    assert private(memory, ALICE).show(id).visibility == "private_only"


def test_an_operator_reads_by_looks_alone(memory: Memory) -> None:
    root = memory.operator("root")
    public = {name for name in dir(root) if not name.startswith("_")}
    on_memories = {"erase", "forget", "lower_visibility", "restore", "update", "withhold_from"}
    on_learning = {"erase_source", "quarantine", "revert"}
    reads = {"audience", "audit", "browse", "browse_count", "graph", "history", "people", "show"}
    assert public == on_memories | on_learning | reads
    for resource, operations in (
        (root.audience, {"chats", "of", "preview", "recall"}),
        (root.audit, {"access_log", "activity", "daily_counts"}),
        (root.people, {"about", "list"}),
        (root.quarantine, {"discard", "list", "release"}),
    ):
        assert {name for name in dir(resource) if not name.startswith("_")} == operations
    id = kept(private(memory, ALICE), "one")
    assert root.update(id, "two") is None  # type: ignore[func-returns-value]
    assert "two" not in repr(root.erase(id))


def test_an_operator_meets_the_same_not_found_as_everybody(memory: Memory) -> None:
    root = memory.operator("root")
    for id in ("zzzzzzzz", "", "'; --"):
        for act in (root.forget, root.restore, root.erase):
            with pytest.raises(tacit.NotFound, match="no such memory here"):
                act(id)
    with pytest.raises(tacit.InvalidInput, match="is a name"):
        root.withhold_from(kept(private(memory, ALICE), "one"), ["Robert"])


def test_an_operators_erase_takes_every_value_of_the_key(memory: Memory) -> None:
    private(memory, ALICE).put("profile", "city", "Porto")
    id = kept(private(memory, WEB), "Lisbon", category="profile", key="city")
    memory.admin.link(ALICE.key, "acct:alice")
    assert memory.operator("root").erase(id).count == 2
    assert memory.admin.stats().memories == 0
    memory.admin.unlink(ALICE.key)
    assert private(memory, ALICE).get("profile", "city") is None


def test_forgetting_a_person_takes_all_of_theirs_and_can_be_undone(memory: Memory) -> None:
    phone, web = private(memory, ALICE), private(memory, WEB)
    id = kept(phone, "one")
    memory.admin.link(ALICE.key, "acct:alice")
    web.remember("two")
    group(memory, ALICE).remember("the room's", for_room=True, **OPEN)
    private(memory, BOB).remember("Bob's", about=[ALICE.key])
    assert memory.admin.forget_person(ALICE.key) == 2
    assert memory.admin.forget_person("acct:alice") == 0
    assert said(phone.list()) == ["the room's"]
    assert said(private(memory, BOB).list()) == ["Bob's", "the room's"]
    phone.restore(id)
    assert "one" in said(phone.list())


def test_erasing_a_person_takes_all_of_theirs_their_names_and_where_they_were(memory: Memory) -> None:
    phone = private(memory, ALICE)
    phone.remember("one", about=["Sarah"])
    memory.admin.link(ALICE.key, "acct:alice")
    private(memory, WEB).remember("two")
    group(memory, ALICE).remember("mine", **OPEN)
    group(memory, BOB).remember("Bob's", **OPEN)
    done = memory.admin.erase_person("acct:alice")
    assert (done.count, cleaned(done)) == (3, True)
    assert said(private(memory, BOB).list()) == ["Bob's"]
    names = {name.text for person in group(memory, BOB, here=(BOB,)).people.list() for name in person.names}
    assert names == {"Bob"}
    later = kept(group(memory, BOB, here=(BOB,)), "later", **OPEN)
    assert private(memory, BOB).show(later).heard_by == {"ext:telegram:2002"}
    assert memory.admin.maintain().healthy
    # Links stay: they keep a memory withheld from every identity a person ever had.
    assert len(memory.admin.links(ALICE.key)) == 1


def test_what_was_withheld_from_an_erased_person_stays_withheld_from_all_they_were(memory: Memory) -> None:
    here = (ALICE, BOB, CAROL)
    memory.admin.link(BOB.key, "acct:bob")
    kept(group(memory, ALICE, here=here), "A party for Bob", withheld_from=[BOB.key], **OPEN)
    memory.admin.erase_person("acct:bob")
    for who in (BOB, tacit.Requester("acct:bob")):
        assert said(private(memory, who).list()) == []


def test_only_a_key_names_the_person_to_erase(memory: Memory) -> None:
    private(memory, ALICE).remember("one")
    names: list[Any] = ["Alice", "person:AAAAAAAA", "", "ext:", "telegram:x", None]
    for name in names:
        with pytest.raises(tacit.InvalidInput):
            memory.admin.erase_person(name)
        with pytest.raises(tacit.InvalidInput):
            memory.admin.forget_person(name)
    assert memory.admin.stats().memories == 1


def test_maintenance_checks_analyses_and_compacts(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for number in range(20):
        view.forget(kept(view, f"fact {number}"))
    done = memory.admin.maintain()
    assert done.healthy
    assert done.problems == ()
    assert {"checked", "analysed", "compacted"} <= set(done.did)


def test_maintenance_reports_what_is_broken(shared_url: str) -> None:
    from sqlalchemy import create_engine, text

    with tacit.open(shared_url) as memory:
        private(memory, ALICE).remember("one")
        url = shared_url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM memory_versions"))
        engine.dispose()
        done = memory.admin.maintain()
        assert not done.healthy
        assert any("version" in problem for problem in done.problems)
