"""Consolidation: what is there twice becomes one, for nobody else's ears, and can be undone."""

from collections.abc import Iterator
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.memory import HistoryEvent
from tacit.storage import learned_facts, memories
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memories import Transaction
from tests.contract.conftest import Open
from tests.contract.lessons import contents
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, SetClock, group, kept, private
from tests.contract.rows import rows
from tests.contract.tidying import ALL_THE_SAME, as_stored, tidy
from tests.llm.endpoint import Endpoint, serving

TEA = "I drink green tea in the morning"
ALSO_TEA = "In the morning it is green tea that I drink"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        running.always = ALL_THE_SAME
        yield running


@pytest.fixture
def tidied(endpoint: Endpoint, database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=tidy(endpoint))


# Without a model


def test_the_same_words_become_one_memory(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    old = kept(view, "I like tea", importance=4, tags=["drink"])
    clock.forward(seconds=5)
    new = kept(view, "I like  TEA.", tags=["warm"], pinned=True)
    clock.forward(seconds=5)
    done = memory.jobs.consolidate()
    assert (done.merged, done.certain, done.asked) == (1, 1, 0)
    (one,) = view.list().items
    assert (one.id, one.importance, one.pinned) == (new, 4, True)
    assert set(one.tags) == {"drink", "warm"}
    assert rows(memory, "SELECT superseded_by FROM memories WHERE id = :id", id=old) == [(new,)]
    assert memory.jobs.consolidate().merged == 0


def test_a_sign_makes_another_thing_of_the_same_words(memory: Memory) -> None:
    view = private(memory, ALICE)
    for text in ("I write C", "I write C++", "I write C#", "it is 5 outside", "it is -5 outside"):
        kept(view, text)
    assert memory.jobs.consolidate().merged == 0
    assert len(view.list()) == 5


def test_many_of_the_same_become_one(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for _ in range(9):
        kept(view, "I like tea")
        clock.forward(seconds=1)
    assert memory.jobs.consolidate().merged == 8
    assert len(view.list()) == 1


def learned_as(memory: Memory, id: str, slot: str, value: str) -> None:
    """As learning notes what it compares a memory by."""
    fact = StoredFact(slot=slot, value=value, about_speaker=True)

    def work(w: Transaction) -> None:
        held = memories.get_for_update(w, id)
        assert held is not None
        learned_facts.save_fact(w, id, held.owner or "", held.content, fact)

    memory._storage.write_as("default", "system", work)


def test_a_slot_with_the_same_value_is_one_fact(memory: Memory, clock: SetClock) -> None:
    """Two processes learned it at the same time, in other words."""
    view = private(memory, ALICE)
    for text in ("Alice lives in Lisbon", "Lisbon is where Alice lives"):
        learned_as(memory, kept(view, text), "home_city", "lisbon")
        clock.forward(seconds=1)
    learned_as(memory, kept(view, "Alice was born in Lisbon"), "birth_city", "lisbon")
    assert memory.jobs.consolidate().merged == 1
    assert len(view.list()) == 2


def test_what_learning_would_have_replaced_gives_way(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    old = kept(view, "Alice lives in the city of Lisbon", pinned=True, importance=5)
    clock.forward(seconds=1)
    new = kept(view, "Alice lives in Porto")
    learned_as(memory, old, "home_city", "lisbon")
    learned_as(memory, new, "home_city", "porto")
    clock.forward(seconds=1)
    assert memory.jobs.consolidate().merged == 1
    assert contents(view) == ["Alice lives in Porto"]


def test_an_older_value_that_somebody_brought_back_stays(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    old = kept(view, "Alice lives in Lisbon")
    clock.forward(seconds=1)
    new = kept(view, "Alice lives in Porto")
    learned_as(memory, old, "home_city", "lisbon")
    learned_as(memory, new, "home_city", "porto")
    view.forget(old)
    clock.forward(seconds=1)
    view.restore(old)
    assert memory.jobs.consolidate().merged == 0


def test_a_value_under_a_key_stays_and_two_keys_stay_two(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.put("fact", "drink", "I like tea")
    view.put("fact", "favourite", "I like tea")
    clock.forward(seconds=5)
    kept(view, "I like tea")
    assert memory.jobs.consolidate().merged == 1
    assert {one.key for one in view.list().items} == {"drink", "favourite"}


def test_two_that_cannot_become_one_are_in_nobodys_way(endpoint: Endpoint, tidied: Memory, clock: SetClock) -> None:
    """A value that fades keeps its key, and the memory that outlasts it stays as well."""
    view = private(tidied, ALICE)
    kept(view, "I like tea", category="fact")
    view.put("fact", "drink", "I like tea", expires_at=clock.now.replace(month=4))
    kept(view, "The green bike hangs in the cellar")
    kept(view, "In the cellar hangs the green bike")
    assert tidied.jobs.consolidate().merged == 1
    assert len(view.list()) == 3


def test_one_that_lasts_longer_is_never_lost_to_one_that_fades(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    lasting = kept(view, "I like tea")
    clock.forward(seconds=5)
    kept(view, "I like tea", expires_at=clock.now.replace(month=4))
    memory.jobs.consolidate()
    (one,) = view.list().items
    assert (one.id, one.expires_at) == (lasting, None)


# Who may hear it


DIFFERENT: dict[str, Any] = {
    "visibility": {"visibility": "public_ok"},
    "sensitivity": {"sensitivity": "public"},
    "portable": {"portable": False},
    "withheld": {"withheld_from": ["Bob"]},
    "subjects": {"about": ["Bob"]},
    "category": {"category": "goal"},
}


@pytest.mark.parametrize("fields", DIFFERENT.values(), ids=DIFFERENT)
def test_what_reaches_other_people_is_never_merged(memory: Memory, fields: dict[str, Any]) -> None:
    view = private(memory, ALICE)
    kept(view, "I like tea", kind="knowledge")
    kept(view, "I like tea", **{"kind": "knowledge", **fields})
    kept(private(memory, BOB), "I like tea", kind="knowledge")
    kept(group(memory, ALICE), "I like tea", kind="knowledge")
    kept(group(memory, ALICE, here=(ALICE, BOB, CAROL)), "I like tea", kind="knowledge")
    kept(group(memory, ALICE, FAMILY), "I like tea", kind="knowledge")
    assert memory.jobs.consolidate().merged == 0
    assert rows(memory, "SELECT count(*) FROM memories WHERE state = 'active'") == [(6,)]


def test_a_rooms_own_facts_are_left_alone(memory: Memory) -> None:
    room = group(memory, ALICE)
    for _ in range(2):
        kept(room, "standup is at 9", for_room=True)
    assert memory.jobs.consolidate().merged == 0


# Undoing


def test_undoing_a_run_brings_everything_back_as_it_was(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    ids = []
    for number in range(4):
        ids.append(kept(view, "I like tea", importance=1 + number % 2, tags=[f"t{number}"]))
        clock.forward(seconds=1)
    other = kept(view, "Tea is on the top shelf")
    view.relate(ids[0], other)
    view.recall("tea")
    memory._storage.accesses.flush()
    clock.forward(days=1)
    before = as_stored(memory, *ids, other)
    edges = rows(memory, "SELECT * FROM relations ORDER BY from_id, to_id")
    done = memory.jobs.consolidate()
    assert done.merged == 3
    assert as_stored(memory, *ids, other) != before
    (stayed,) = [one for one in view.list().items if one.id in ids]
    touching = rows(memory, "SELECT count(*) FROM relations WHERE from_id = :id OR to_id = :id", id=stayed.id)
    assert touching == [(1,)]
    assert stayed.access_count == sum(row[9] for row in before if row[0] != other)
    clock.forward(days=1)
    assert memory.jobs.undo_consolidation(done.run) == 3
    assert as_stored(memory, *ids, other) == before
    assert rows(memory, "SELECT * FROM relations ORDER BY from_id, to_id") == edges
    assert len(view.list()) == 5
    assert memory.jobs.undo_consolidation(done.run) == 0
    assert memory.admin.maintain().healthy


def test_what_was_undone_is_not_merged_again(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for _ in range(2):
        kept(view, "I like tea")
        clock.forward(seconds=1)
    memory.jobs.undo_consolidation(memory.jobs.consolidate().run)
    for _ in range(3):
        clock.forward(days=20)
        assert memory.jobs.consolidate().merged == 0
    assert len(view.list()) == 2


def test_what_somebody_forgot_or_changed_since_stays_so(memory: Memory, clock: SetClock) -> None:
    view, other = private(memory, ALICE), private(memory, BOB)
    for _ in range(2):
        kept(view, "I like tea")
        kept(other, "I like milk")
        clock.forward(seconds=1)
    done = memory.jobs.consolidate()
    assert done.merged == 2
    view.forget(view.list().items[0].id)
    (milk,) = other.list().items
    other.update(milk.id, importance=5, tags=["mine"])
    assert memory.jobs.undo_consolidation(done.run) == 1
    assert contents(view) == []
    assert {one.importance for one in other.list().items} == {3, 5}


def test_history_and_delta_tell_of_it(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    old = kept(view, "I like tea")
    clock.forward(seconds=1)
    new = kept(view, "I like tea")
    since = view.delta().revision
    clock.forward(seconds=1)
    run = memory.jobs.consolidate().run
    (merged,) = [one for one in view.history(new) if one.event is HistoryEvent.MERGE]
    assert (merged.actor, merged.detail["run"], merged.detail["other"]) == ("system", run, old)
    told_of = {change.memory_id: change.event for change in view.delta(since).changes}
    assert told_of == {old: "superseded", new: "merged"}


def test_a_run_that_never_was_undoes_nothing(memory: Memory) -> None:
    assert memory.jobs.undo_consolidation("20260101") == 0
    with pytest.raises(tacit.InvalidInput):
        memory.jobs.undo_consolidation("")
