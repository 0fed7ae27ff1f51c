"""Imports that meet each other, are cut off half-way, or end with the person they belong to."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tacit
from tacit import ImportItem
from tacit.lifecycle import revert
from tacit.memory import Memory
from tacit.storage import imports
from tacit.storage.memories import Transaction
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, BOB, SetClock, private, said
from tests.contract.threads import together
from tests.contract.traces import traces

WHOLE = [ImportItem(content=f"Item number {n}", source=f"id {n}") for n in range(60)]
ACCOUNT = tacit.Requester("acct:42")


def take_over(view: View, run: str, items: Sequence[ImportItem] = WHOLE, size: int = 10) -> int:
    """All of it, in order, as whoever goes on after an interruption does: from the start."""
    created = 0
    for start in range(0, len(items), size):
        some = items[start : start + size]
        created += view.imports.add(run, some, source="mem0", total=len(items), after=start).created
    return created


def test_two_processes_that_import_the_same_file_at_once_import_it_once(shared_url: str, opened: Open) -> None:
    views = [private(opened(shared_url), ALICE) for _ in range(2)]
    for runs, new in ((("same", "same"), len(WHOLE)), (("one", "other"), 0)):
        assert sum(together(2, lambda n, runs=runs: take_over(views[n], runs[n]))) == new  # type: ignore[arg-type,misc]
    assert said(views[0].list(limit=100)) == sorted(one.content for one in WHOLE)
    listed = {one.run: one for one in views[0].imports.list()}
    same = listed["same"]
    assert (same.created, same.already, same.done) == (len(WHOLE), 0, len(WHOLE))
    assert listed["one"].already == listed["other"].already == len(WHOLE)
    assert views[1].imports.revert("same").forgotten == len(WHOLE)
    assert [*views[0].list()] == []


def test_a_call_that_is_cut_off_leaves_nothing_and_the_next_one_goes_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    noted: Callable[..., None] = imports.insert_imported
    calls = iter(range(100))

    def cut_off(w: Transaction, made: Any) -> None:
        noted(w, made)
        if next(calls) == 3:
            raise KeyboardInterrupt  # after every row is written, and before the end

    monkeypatch.setattr(imports, "insert_imported", cut_off)
    with pytest.raises(KeyboardInterrupt):
        take_over(view, "moving")
    (run,) = view.imports.list()
    assert (run.created, run.done, view.count()) == (30, 30, 30)
    assert take_over(view, "moving", WHOLE) == 30
    (run,) = view.imports.list()
    assert (run.created, run.already, run.refused, run.done) == (60, 0, 0, 60)


def test_a_revert_that_is_cut_off_goes_on_and_tells_the_whole(
    shared_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch, clock: SetClock
) -> None:
    view = private(opened(shared_url), ALICE)
    take_over(view, "moving")
    clock.forward(seconds=1)
    view.pin(view.list().items[0].id)
    monkeypatch.setattr(revert, "_IMPORTED_AT_ONCE_COUNT", 25)
    with monkeypatch.context() as cutting:
        step, steps = revert.revert_import_step, iter(range(100))

        def cut_off(*args: Any) -> Any:
            if next(steps) == 1:
                raise KeyboardInterrupt
            return step(*args)

        cutting.setattr(revert, "revert_import_step", cut_off)
        with pytest.raises(KeyboardInterrupt):
            view.imports.revert("moving")
    later = private(opened(shared_url), ALICE)
    (run,) = later.imports.list()
    assert (run.reverting, run.reverted_at) == (True, None)
    assert later.count() in (35, 36)
    with pytest.raises(tacit.Conflict, match="being reverted"):
        later.imports.add("moving", WHOLE[:1], source="mem0")
    done = later.imports.revert("moving")
    assert (done.forgotten, done.changed, later.count()) == (59, 1, 1)
    (run,) = later.imports.list()
    assert (run.reverting, run.reverted_at) == (False, clock.now)
    assert take_over(later, "moving") == 59


def test_whichever_of_somebodys_identities_imports_it_is_known_to_all(memory: Memory) -> None:
    here, there = private(memory, ALICE), private(memory, ACCOUNT)
    assert take_over(here, "moving", WHOLE[:10]) == 10
    assert take_over(there, "moving", WHOLE[:12]) == 12
    memory.admin.link(ALICE.key, ACCOUNT.key)
    assert take_over(here, "more", WHOLE[:20]) == 8
    assert take_over(there, "more", WHOLE[:20]) == 0
    assert there.imports.revert("moving").forgotten == 22
    assert {one.run for one in here.imports.list() if one.reverted_at is None} == {"more"}
    memory.admin.unlink(ALICE.key)
    assert take_over(here, "moving", WHOLE[:10]) == 10


def test_nothing_of_an_import_outlives_the_person_and_its_runs_are_theirs_to_take_along(
    shared_url: str, opened: Open
) -> None:
    memory = opened(shared_url)
    view = private(memory, ALICE)
    moved = [ImportItem(content="I play the Qxharmonium", source="Qxforeign")]
    view.imports.add("Qxzwetschge", moved, source="Qxquitte")
    private(memory, BOB).imports.add("theirs", moved[:0], source="mem0")
    told = [json.loads(line) for line in view.export(everything=True)]
    (run,) = (one for one in told if one["type"] == "import")
    assert (run["run"], run["source"], run["created"]) == ("Qxzwetschge", "Qxquitte", 1)
    assert "Qxquitte (Qxzwetschge)" in "\n".join(view.export(format="markdown"))
    assert not traces(shared_url, "Qxforeign")  # an id that others gave is nowhere, but as a hash
    gone = view.wipe()
    assert gone.certificate is not None
    assert gone.certificate.counts["imports"] == 1
    for word in ("Qxzwetschge", "Qxquitte", "Qxharmonium"):
        assert not traces(shared_url, word)
    assert len(private(memory, BOB).imports.list()) == 1
    assert view.imports.add("Qxzwetschge", moved, source="Qxquitte").created == 1


def test_what_is_erased_alone_is_no_longer_known(memory: Memory) -> None:
    view = private(memory, ALICE)
    take_over(view, "moving", WHOLE[:2])
    view.erase(view.list().items[0].id)
    assert take_over(view, "moving", WHOLE[:2]) == 1


def test_meanings_are_found_before_the_write_and_only_for_what_is_new(database_url: str, opened: Open) -> None:
    table = Table({"item": [1.0]})
    view = private(opened(database_url, embedder=table), ALICE)
    take_over(view, "moving", WHOLE[:20])
    assert table.asked == [one.content for one in WHOLE[:20]]
    take_over(view, "moving", WHOLE[:20])
    assert len(table.asked) == 20
    assert view.recall("item")[0].signals.meaning == 1.0


def test_the_delta_of_a_thread_tells_what_came_and_what_went(memory: Memory) -> None:
    view = private(memory, ALICE)
    since = view.delta().revision
    take_over(view, "moving", WHOLE[:3])
    came = view.delta(since=since)
    assert sorted((one.event, one.content) for one in came.changes) == [("created", one.content) for one in WHOLE[:3]]
    elsewhere = private(memory, ALICE, thread="elsewhere")
    before = elsewhere.delta().revision
    elsewhere.imports.revert("moving")
    for thread, revision in ((view, came.revision), (elsewhere, before)):
        assert [one.event for one in thread.delta(since=revision).changes] == ["deleted"] * 3
