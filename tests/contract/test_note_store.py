"""Notes as rows: what is put in one is found there, and whatever changes it moves its stamp."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

import tacit
from bench.plans import recorded
from tacit.memory import Memory
from tacit.records.notes import NoteKind, NoteLink, Section
from tacit.storage import notes
from tacit.storage.memories import Transaction
from tacit.storage.revisions import mark_notes_changed
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.noting import (
    AT,
    DAY,
    FOLDER,
    INDEX,
    OWN,
    ROOM,
    SPACE,
    act,
    found,
    known,
    maybe,
    mirrored,
    noted,
    records,
    revision,
    shown,
)
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private
from tests.contract.test_concurrency import together

OPEN = {"visibility": "room", "sensitivity": "public"}


def items(memory: Memory, path: str) -> list[notes.ItemRow]:
    with memory._storage.database.read() as connection:
        return notes.list_items(connection, SPACE, path)


def test_a_note_is_made_once_and_read_back_as_it_was_given(memory: Memory) -> None:
    row = replace(
        OWN,
        thread="t",
        source="telegram",
        channel="telegram:1001",
        contact_id="1001",
        contact_nickname="Älice",
        tags=("b", "a"),
        links=(NoteLink(text="Docs [1]", target="https://example.org/ü"),),
        layout="# Ünder\n",
    )
    first = act(memory, lambda w: notes.ensure_note(w, row))
    again = act(memory, lambda w: notes.ensure_note(w, replace(row, tags=("other",))))
    assert replace(first, stamp=0) == row
    assert replace(again, stamp=0) == row
    assert maybe(memory, "2026-03-01/other.md") is None


def test_a_head_changes_by_its_fields(memory: Memory) -> None:
    before = noted(memory, OWN)
    later = AT + timedelta(hours=1)
    act(memory, lambda w: notes.update_note(w, OWN.path, tags=("x",), source="web", updated_at=later))
    after = found(memory, OWN.path)
    assert (after.tags, after.source, after.updated_at) == (("x",), "web", later)
    assert after.stamp > before.stamp


def test_who_a_note_is_about_does_not_change(memory: Memory) -> None:
    noted(memory, OWN)
    with pytest.raises(tacit.InvalidInput, match="subject"):
        act(memory, lambda w: notes.update_note(w, OWN.path, subject="acct:42"))
    with pytest.raises(tacit.NotFound):
        act(memory, lambda w: notes.update_note(w, "2026-03-01/none.md", source="web"))


def test_items_keep_their_order_and_their_day(memory: Memory) -> None:
    own = private(memory, ALICE)
    a, b, c = (kept(own, f"fact {letter}") for letter in "abc")
    noted(memory, INDEX, a, b, section=Section.GOALS)
    act(memory, lambda w: notes.put_item(w, INDEX.path, c, Section.KEY_FACTS, -1, DAY))
    act(memory, lambda w: notes.put_item(w, INDEX.path, c, Section.GOALS))
    first = items(memory, INDEX.path)[0]
    assert shown(memory, INDEX.path) == ["fact c", "fact a", "fact b"]
    assert (first.section, first.position, first.added_on) == (Section.GOALS, -1, DAY)


def test_a_memory_moves_to_another_section_and_one_leaves_the_note(memory: Memory) -> None:
    own = private(memory, ALICE)
    a, b = (kept(own, f"fact {letter}") for letter in "ab")
    noted(memory, INDEX, a, b)
    act(memory, lambda w: notes.put_item(w, INDEX.path, a, Section.GOALS, added_on=DAY))
    assert items(memory, INDEX.path)[0] == notes.ItemRow(memory_id=a, section=Section.GOALS, position=0, added_on=DAY)
    act(memory, lambda w: notes.remove_item(w, INDEX.path, b))
    assert shown(memory, INDEX.path) == ["fact a"]
    assert len(own.list()) == 2


def test_a_note_is_renamed_with_its_items_and_its_file_is_known_to_have_to_go(memory: Memory) -> None:
    id = kept(private(memory, ALICE), "a plan")
    page = replace(INDEX, path="_longterms/x/plan.md", kind=NoteKind.PAGE)
    noted(memory, page, id, section=Section.PAGE)
    mirrored(memory, page.path, id)
    to = replace(page, path="_longterms/x/goal.md")
    act(memory, lambda w: notes.rename_note(w, page.path, to))
    assert maybe(memory, page.path) is None
    assert shown(memory, to.path) == ["a plan"]
    with memory._storage.database.read() as connection:
        assert notes.list_orphaned_files(connection, SPACE, FOLDER) == [page.path]
        pages = notes.list_notes_of(connection, SPACE, [INDEX.subject or ""], NoteKind.PAGE)
        assert [row.path for row in pages] == [to.path]
    act(memory, lambda w: notes.ensure_note(w, page))
    with pytest.raises(tacit.Conflict):
        act(memory, lambda w: notes.rename_note(w, to.path, page))


CHANGES: dict[str, Callable[[View, str], object]] = {
    "update": lambda view, id: view.update(id, "other words"),
    "pin": lambda view, id: view.pin(id),
    "forget": lambda view, id: view.forget(id),
    "erase": lambda view, id: view.erase(id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_a_memory_moves_the_stamp_of_its_notes_alone(memory: Memory, change: str) -> None:
    own = private(memory, ALICE)
    id, other, summary = kept(own, "I like tea"), kept(own, "I like figs"), kept(own, "We talked")
    noted(memory, OWN, id, other)
    noted(memory, INDEX, id)
    act(memory, lambda w: notes.update_note(w, INDEX.path, summary_id=summary))
    apart = noted(memory, ROOM, other)
    before = revision(memory)
    CHANGES[change](own, id)
    assert revision(memory) == before + 1
    assert {found(memory, path).stamp for path in (OWN.path, INDEX.path)} == {before + 1}
    assert found(memory, ROOM.path).stamp == apart.stamp
    with memory._storage.database.read() as connection:
        later = notes.list_changed_notes(connection, SPACE, before)
        assert {row.path for row in later} == {OWN.path, INDEX.path}
        assert len(notes.list_changed_notes(connection, SPACE, 0)) == 3


def test_a_changed_summary_moves_the_stamp(memory: Memory) -> None:
    own = private(memory, ALICE)
    summary = kept(own, "We talked")
    before = noted(memory, OWN)
    act(memory, lambda w: notes.update_note(w, OWN.path, summary_id=summary))
    own.update(summary, "We talked about tea")
    assert found(memory, OWN.path).stamp == before.stamp + 2


def test_what_stands_in_no_note_moves_nothing(memory: Memory) -> None:
    own = private(memory, ALICE)
    id, other = kept(own, "I like tea"), kept(own, "I like figs")
    noted(memory, OWN, id)
    before = revision(memory)
    for change in CHANGES.values():
        change(own, other)
    kept(own, "I like rain")
    assert revision(memory) == before > 0


def test_to_remember_asks_nothing_of_notes(memory: Memory) -> None:
    own = private(memory, ALICE)
    noted(memory, OWN, kept(own, "I like tea"))
    with recorded(memory) as ran:
        kept(own, "I like figs")
    assert ran
    assert [one.sql for one in ran if "note" in one.sql] == []


def test_to_change_what_stands_in_no_note_is_one_look(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I like tea")
    for change in ("update", "pin", "forget"):
        with recorded(memory) as ran:
            CHANGES[change](own, id)
        assert len([one.sql for one in ran if "note" in one.sql]) == 1


def test_what_ages_moves_the_stamp_and_stays_on_the_page(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id = kept(own, "Rain today", expires_at=clock.now + timedelta(days=1))
    before = noted(memory, OWN, id)
    clock.forward(days=2)
    memory.jobs.expire()
    expired = found(memory, OWN.path)
    assert expired.stamp > before.stamp
    assert shown(memory, OWN.path) == ["Rain today"]  # a diary
    clock.forward(days=400)
    memory.jobs.purge(confirm_clock=True)
    assert found(memory, OWN.path).stamp > expired.stamp
    assert shown(memory, OWN.path) == []


def test_what_is_forgotten_leaves_the_page_and_comes_back_to_its_place(memory: Memory) -> None:
    own = private(memory, ALICE)
    a, b = kept(own, "fact a"), kept(own, "fact b")
    noted(memory, OWN, a, b)
    own.forget(a)
    assert shown(memory, OWN.path) == ["fact b"]
    own.restore(a)
    assert shown(memory, OWN.path) == ["fact a", "fact b"]


def test_what_supersedes_takes_the_place_and_gives_it_back(memory: Memory) -> None:
    own = private(memory, ALICE)
    old = kept(group(memory, ALICE), "I live in Porto", **OPEN)
    last = kept(own, "I like tea")
    noted(memory, INDEX, old, last, section=Section.KEY_FACTS)
    new = own.update(old, "I live in Lisbon")
    assert new.supersedes == old
    assert shown(memory, INDEX.path) == ["I live in Lisbon", "I like tea"]
    own.update(new.id, "I live in Faro")
    assert shown(memory, INDEX.path) == ["I live in Faro", "I like tea"]
    assert {one.section for one in items(memory, INDEX.path)} == {Section.KEY_FACTS}
    memory.operator("root").erase(new.id)
    assert shown(memory, INDEX.path) == ["I like tea"]


def test_what_somebody_else_put_in_its_place_does_not_come_onto_the_page(memory: Memory) -> None:
    old = kept(group(memory, ALICE), "Bob lives in Rome", about=[BOB.key], **OPEN)
    noted(memory, INDEX, old)
    group(memory, BOB).update(old, "Bob lives in Milan")
    assert records(memory, INDEX.path) == []


def test_a_write_that_needs_the_new_stamp_can_have_it(memory: Memory) -> None:
    noted(memory, OWN)

    def work(w: Transaction) -> tuple[int, int]:
        mark_notes_changed(w, [OWN.path])
        rev = notes.stamp_notes(w)
        row = notes.get_note(w.connection, SPACE, OWN.path)
        assert row is not None
        return rev, row.stamp

    rev, stamp = act(memory, work)
    assert rev == stamp == revision(memory)
    assert act(memory, notes.stamp_notes) == rev


def test_the_state_of_a_file_is_kept_by_folder(memory: Memory) -> None:
    own = private(memory, ALICE)
    a, b = kept(own, "fact a"), kept(own, "fact b")
    noted(memory, OWN, a, b)
    first = mirrored(memory, OWN.path, a, b)
    assert known(memory, OWN.path) == first
    changed = replace(
        first,
        digest="d2",
        stamp=2**60,
        problem="asks",
        asked=6,
        lines={
            b: notes.LineState(version=2, digest="new", done=True),
            "unknown1": notes.LineState(version=1, digest="x"),
        },
    )
    act(memory, lambda w: notes.save_file_state(w, changed))
    # A line of what is gone is not kept, and the file has to be looked at.
    kept_state = replace(changed, stamp=-1, lines={b: changed.lines[b]})
    elsewhere = replace(first, folder="f2")
    act(memory, lambda w: notes.save_file_state(w, elsewhere))
    with memory._storage.database.read() as connection:
        assert notes.list_file_states(connection, SPACE, FOLDER) == {OWN.path: kept_state}
        assert notes.list_file_states(connection, SPACE, "f2") == {OWN.path: elsewhere}
        assert notes.list_spaces_with_notes(connection) == [SPACE]
    act(memory, lambda w: notes.delete_file_state(w, FOLDER, OWN.path))
    assert known(memory, OWN.path) is None


def _add(id: str, w: Transaction) -> None:
    notes.put_item(w, OWN.path, id, Section.TASKS)


def test_many_who_change_one_note_at_once_wait_for_each_other(shared_url: str, opened: Open) -> None:
    """Whoever writes a note and then a memory, or the other way round: nobody is sent away."""
    memory = opened(shared_url)
    own = private(memory, ALICE)
    ids = [kept(own, f"fact {number}") for number in range(8)]
    noted(memory, OWN, *ids)
    before = revision(memory)

    def change(number: int) -> object:
        for turn in range(4):
            if number % 2:
                own.update(ids[number], f"fact {number}, told {turn} times")
            else:
                new = kept(own, f"more {number} {turn}")
                act(memory, partial(_add, new))
        return number

    assert together(8, change) == list(range(8))
    assert revision(memory) == before + 32 == found(memory, OWN.path).stamp
    assert len(items(memory, OWN.path)) == 8 + 16
