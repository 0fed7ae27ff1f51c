"""What happened, in counts: recorded off the path, and erased with what it is about."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import tacit
from tacit import Message
from tacit.errors import StoreBusy
from tacit.memory import Memory
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.settings import EventsSettings, Settings
from tacit.settings.sections import MemorySettings, SessionsSettings
from tacit.storage.store import BATCH_COUNT
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.lessons import told
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, in_pages, kept, private
from tests.contract.rows import rows

ROWS = "SELECT node, op, status, memory_id FROM events ORDER BY id"


def counted(memory: Memory, **which: Any) -> dict[tuple[str, str, str], int]:
    return {(one.node, one.op, one.status): one.count for one in memory.admin.events(**which)}


def written(memory: Memory) -> list[tuple[Any, ...]]:
    memory._storage.events.flush()
    return rows(memory, ROWS)


def test_what_people_do_is_counted_by_where_what_and_how_in_each_space(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    other = kept(view, "two")
    view.update(id, "three")
    view.relate(id, other)
    view.forget(id)
    view.restore(id)
    view.recall("three")
    view.fresh("three")
    assert counted(memory) == {
        ("context", "search", "ok"): 2,
        ("hotpath", "create", "ok"): 2,
        ("hotpath", "update", "ok"): 1,
        ("hotpath", "link", "ok"): 1,
        ("hotpath", "delete", "ok"): 1,
        ("hotpath", "restore", "ok"): 1,
    }
    assert {one.day for one in memory.admin.events()} == {clock.now.date()}
    assert counted(memory.space("other")) == {}


def test_what_is_learned_is_classified_or_skipped(learning: Memory) -> None:
    told(learning, private(learning, ALICE), "I live in Lisbon", "hm, well, whatever")
    assert counted(learning) == {
        ("hotpath", "classify", "ok"): 1,
        ("hotpath", "classify", "skipped"): 1,
        ("hotpath", "create", "ok"): 1,
        ("episodic", "create", "ok"): 2,
    }


def test_what_was_said_word_for_word_is_episodic(database_url: str, opened: Open) -> None:
    keep = MemorySettings(sessions=SessionsSettings(keep=True))
    memory = opened(database_url, settings=Settings(memory=keep))
    private(memory, ALICE).record([Message("user", "Hello"), Message("assistant", "Hi")])
    assert counted(memory) == {("episodic", "create", "ok"): 2}


def test_what_nobody_asked_for_is_a_workers(memory: Memory) -> None:
    id = kept(private(memory, ALICE), "one")
    memory.admin.forget_person(ALICE.key)
    memory.operator("root").restore(id)
    found = counted(memory)
    assert found["worker", "delete", "ok"] == 1
    assert found["hotpath", "restore", "ok"] == 1


def test_the_likeness_is_that_of_the_nearest(database_url: str, opened: Open) -> None:
    table = Table({"tea": (1, 0, 0, 0), "chai": (0.8, 0.6, 0, 0), "car": (0, 0, 1, 0)})
    memory = opened(database_url, embedder=table)
    view = private(memory, ALICE)
    first = kept(view, "I like tea")
    view.recall("anything")  # from here on, what she has is at hand
    second, third = kept(view, "I like chai"), kept(view, "I drive a car")
    view.update(second, "We like chai")
    memory._storage.events.flush()
    statement = "SELECT memory_id, op, similarity FROM events WHERE memory_id IS NOT NULL ORDER BY id"
    found = [(id, op, likeness and round(likeness, 2)) for id, op, likeness in rows(memory, statement)]
    assert found == [(first, "create", None), (second, "create", 0.8), (third, "create", None), (second, "update", 0.8)]


def test_a_write_that_fails_or_is_rehearsed_leaves_no_event(learning: Memory) -> None:
    view = private(learning, ALICE)
    id = kept(view, "one")
    with pytest.raises(tacit.Conflict):
        view.update(id, "two", if_version=7)
    with pytest.raises(tacit.NotFound):
        private(learning, BOB).forget(id)
    assert view.trace("I live in Lisbon")
    assert counted(learning) == {("hotpath", "create", "ok"): 1}


def test_nothing_is_written_before_there_is_a_batch_or_an_end(shared_url: str, opened: Open) -> None:
    memory, other = opened(shared_url), opened(shared_url)
    kept(private(memory, ALICE), "one")
    assert rows(other, ROWS) == []
    memory.close()
    assert [op for _, op, *_ in rows(other, ROWS)] == ["create"]


def test_a_batch_is_written_by_a_thread_of_its_own(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    view = private(memory, ALICE)
    for number in range(BATCH_COUNT):
        view.remember(f"fact {number}")
    writer = memory._storage.events._writer
    assert writer is not None
    writer.join()
    assert len(rows(memory, ROWS)) == BATCH_COUNT


def test_a_database_that_cannot_be_written_to_costs_events_and_nothing_else(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    kept(view, "one")

    def refuse(_: object) -> None:
        raise StoreBusy("held")

    with monkeypatch.context() as patched:
        patched.setattr(memory._storage.database, "write", refuse)
        memory._storage.events.flush()
        assert [one.memory.content for one in view.recall("one")] == ["one"]
    assert counted(memory) == {("context", "search", "ok"): 1}


ERASES: dict[str, Callable[[Memory, str], object]] = {
    "a view": lambda memory, id: private(memory, ALICE).erase(id),
    "an operator": lambda memory, id: memory.operator("root").erase(id),
    "with the person": lambda memory, _: memory.admin.erase_person(ALICE.key),
    "with everything": lambda memory, _: private(memory, ALICE).wipe(),
}


@pytest.mark.parametrize("flushed", [True, False], ids=["written", "in the batch"])
@pytest.mark.parametrize("how", ERASES)
def test_what_is_erased_takes_its_events_along(memory: Memory, how: str, flushed: bool) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    view.update(id, "two")
    stays = kept(private(memory, BOB), "three")
    if flushed:
        memory._storage.events.flush()
    ERASES[how](memory, id)
    assert [id for *_, id in written(memory) if id is not None] == [stays]
    named = rows(memory, "SELECT count(*) FROM events WHERE owner = 'ext:telegram:1001'")
    assert named == [(0,)]
    assert sum(n for (_, op, _), n in counted(memory).items() if op == "erase") == 1


def test_events_of_an_erased_memory_in_another_process_are_not_written_after_it(shared_url: str, opened: Open) -> None:
    memory, other = opened(shared_url), opened(shared_url)
    id, stays = kept(private(other, ALICE), "one"), kept(private(other, ALICE), "two")
    private(memory, ALICE).erase(id)
    assert [id for *_, id in written(other) if id is not None] == [stays]


def test_an_erased_space_has_no_events_left_and_gets_none(shared_url: str, opened: Open) -> None:
    memory, other = opened(shared_url), opened(shared_url)
    kept(private(memory.space("away"), ALICE), "one")
    private(other.space("away"), ALICE).recall("one")
    memory.space("away").admin.erase_space()
    for one in (memory, other):
        one._storage.events.flush()
    assert rows(memory, "SELECT count(*) FROM events WHERE space_id = 'away'") == [(0,)]


def test_events_are_kept_for_as_many_days_as_the_settings_say(shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(shared_url, settings=Settings(events=EventsSettings(keep_days=10)))
    view = private(memory, ALICE)
    memory.chats.join("telegram:-100", ALICE.key)  # where nobody ever wrote, there is no space yet
    view.recall("one")
    memory._storage.events.flush()
    clock.forward(days=10)
    kept(view, "two")
    assert set(counted(memory)) == {("context", "search", "ok"), ("hotpath", "create", "ok")}
    clock.forward(seconds=1)
    kept(view, "three")
    assert set(counted(memory)) == {("hotpath", "create", "ok")}


def test_with_zero_days_none_are_kept_and_older_ones_go(shared_url: str, opened: Open) -> None:
    before = opened(shared_url)
    private(before, ALICE).recall(kept(private(before, ALICE), "one"))
    before.close()
    assert len(rows(opened(shared_url), ROWS)) == 2
    memory = opened(shared_url, settings=Settings(events=EventsSettings(keep_days=0)))
    kept(private(memory, ALICE), "two")
    assert counted(memory) == {}
    assert rows(memory, ROWS) == []


def test_counts_are_told_newest_day_first_page_by_page(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    first = clock.now
    for _ in range(3):
        kept(view, "one")
        view.recall("one")
        clock.forward(days=1)
    everything = list(memory.admin.events())
    assert [one.day for one in everything] == [(first + timedelta(days=day)).date() for day in (2, 2, 1, 1, 0, 0)]
    assert in_pages(memory.admin.events, limit=1) == everything
    assert counted(memory, node="context") == {("context", "search", "ok"): 1}
    assert [one.op for one in memory.admin.events(op=EventOperation.CREATE)] == [EventOperation.CREATE] * 3
    assert len(memory.admin.events(since=first + timedelta(days=1))) == 4
    assert {one.node for one in everything} == {EventNode.CONTEXT, EventNode.HOTPATH}
    assert {one.status for one in everything} == {EventStatus.OK}


def test_a_question_that_cannot_be_understood_is_refused(memory: Memory) -> None:
    questions: list[dict[str, Any]] = [
        {"node": "elsewhere"}, {"op": "think"}, {"since": "yesterday"}, {"limit": 0},
        {"cursor": "x"}, {"cursor": "MCBhIGIgYw"},
    ]  # fmt: skip
    for wrong in questions:
        with pytest.raises(tacit.InvalidInput):
            memory.admin.events(**wrong)


def test_a_search_that_fails_is_an_error(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    view = private(memory, ALICE)
    with monkeypatch.context() as patched:

        def refuse(*_: object) -> None:
            raise StoreBusy("held")

        patched.setattr(memory._runtime.retriever, "recall", refuse)
        with pytest.raises(StoreBusy):
            view.recall("one")
    kept(view, "one")
    assert counted(memory)["context", "search", "error"] == 1


# What a person may take with them


def test_the_history_of_everything_is_told_as_far_as_it_may_be_heard(memory: Memory) -> None:
    own, bob = private(memory, ALICE), private(memory, BOB)
    mine = kept(own, "one")
    own.update(mine, "two")
    own.forget(mine)
    room = group(memory, ALICE)
    shared = kept(room, "We meet at nine", visibility="room", sensitivity="public")
    hidden = kept(bob, "Bob's own")
    lines = [json.loads(line) for line in own.audit.export_history()]
    told_of = {id: [e["event"] for e in lines if e["memory_id"] == id] for id in (mine, shared)}
    assert told_of == {mine: ["ADD", "UPDATE", "DELETE"], shared: ["ADD"]}
    assert len(lines) == 4
    assert {one["content"] for one in lines} == {"one", "two", "We meet at nine"}
    theirs = [json.loads(line) for line in bob.audit.export_history()]
    assert {one["memory_id"] for one in theirs} == {shared, hidden}
    in_group = [json.loads(line)["memory_id"] for line in room.audit.export_history()]
    assert in_group == [shared]
    assert list(private(memory, CAROL).audit.export_history()) == []


def test_an_exported_history_is_that_of_each_memory(memory: Memory) -> None:
    own, later = private(memory, ALICE), group(memory, CAROL, here=(ALICE, BOB, CAROL))
    id = kept(group(memory, ALICE), "The code is 1", visibility="room", sensitivity="public")
    group(memory, ALICE, here=(ALICE, BOB, CAROL)).update(id, "The code is 2")
    own.pin(id)
    for view in (own, later, private(memory, BOB)):
        lines = [json.loads(line) for line in view.audit.export_history()]
        told_one_by_one = [
            (e.event, e.version, e.content, e.detail, e.actor, e.at.isoformat()) for e in view.history(id)
        ]
        assert [
            (one["event"], one["version"], one["content"], one["detail"], one["actor"], one["at"]) for one in lines
        ] == told_one_by_one


def test_what_is_hidden_changes_nothing_that_a_view_tells(database_url: str, opened: Open, clock: SetClock) -> None:
    """Bob's answers are the same bytes with and without what Alice keeps from him."""
    memory = opened(database_url)
    with_it, without = memory.space("with"), memory.space("without")
    answers = []
    for space in (with_it, without):
        bob = private(space, BOB)
        kept(bob, "Bob's own")
        if space is with_it:
            alice = private(space, ALICE)
            id = kept(alice, "Bob is fired", about=[BOB.key])
            alice.update(id, "Bob is fired tomorrow")
            alice.recall("Bob")
        lines = [json.loads(line) for line in bob.audit.export_history()]
        answers.append([{**line, "memory_id": ""} for line in lines])
    assert answers[0] == answers[1]
    assert not hasattr(private(memory, BOB), "events")
