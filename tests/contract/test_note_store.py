"""Notes as rows: what is put in one is found there, and whatever changes it moves its stamp."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import pytest
from sqlalchemy import Connection

from bench.plans import recorded
from tacit.memory import Memory
from tacit.records.notes import NoteLink, Section
from tacit.records.request import Request
from tacit.storage import notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import NoteRow
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.lessons import only, told
from tests.contract.noting import (
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
    revision,
    shown,
)
from tests.contract.rooms import ALICE, ALOUD, BOB, SetClock, group, kept, private
from tests.contract.test_erasures import _restore, _tables, lines
from tests.contract.threads import together


def items(memory: Memory, path: str) -> list[notes.ItemRow]:
    with memory._storage.database.read() as connection:
        return notes.list_items(connection, SPACE, path)


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


def test_what_supersedes_takes_the_place_and_gives_it_back(memory: Memory) -> None:
    own = private(memory, ALICE)
    old = kept(group(memory, ALICE), "I live in Porto", **ALOUD)
    last = kept(own, "I like tea")
    noted(memory, INDEX, old, last, section=Section.KEY_FACTS)
    new = own.update(old, "I live in Lisbon")
    assert new.supersedes == old
    assert shown(memory, INDEX.path) == ["I live in Lisbon", "I like tea"]
    own.update(new.id, "I live in Faro")
    assert shown(memory, INDEX.path) == ["I live in Faro", "I like tea"]
    memory.operator("root").erase(new.id)
    assert shown(memory, INDEX.path) == ["I like tea"]
    theirs = kept(group(memory, ALICE), "Bob lives in Rome", about=[BOB.key], **ALOUD)
    noted(memory, INDEX, theirs)
    group(memory, BOB).update(theirs, "Bob lives in Milan")  # what somebody else put in its place
    assert shown(memory, INDEX.path) == ["I like tea"]


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


OPEN = {"visibility": "room", "sensitivity": "public", "for_room": True}


def recent(view: View, since: date = DAY, limit: int = 50) -> list[str]:
    audiences = view._context.storage.audiences
    rows = view._context.read(lambda c, request: notes.list_recent_sessions(c, audiences, request, since, limit))
    return [row.path for row in rows]


def heard(view: View, *paths: str, managing: bool = False) -> dict[str, list[str]]:
    audiences = view._context.storage.audiences

    def work(connection: Connection, request: Request) -> dict[str, notes.ItemMemories]:
        asked = request.for_management() if managing else request
        return notes.list_visible_items(connection, audiences, asked, paths)

    return {path: [one.content for _, one in rows] for path, rows in view._context.read(work).items()}


def test_a_room_note_with_a_subject_is_no_way_round_the_rules(memory: Memory) -> None:
    team = group(memory, BOB)
    id = kept(team, "Alice gets a party", withheld_from=[ALICE.key], **OPEN)
    noted(memory, replace(ROOM, subject=INDEX.subject), id)
    assert recent(private(memory, ALICE)) == recent(group(memory, ALICE)) == []


def test_a_summary_is_heard_by_the_rules_too(memory: Memory) -> None:
    team = group(memory, ALICE)
    id = kept(team, "We planned a party", withheld_from=[BOB.key], **OPEN)
    noted(memory, ROOM)
    act(memory, lambda w: notes.update_note(w, ROOM.path, summary_id=id))
    for who, summaries in ((ALICE, ["We planned a party"]), (BOB, [])):
        view = private(memory, who)
        audiences = view._context.storage.audiences

        def work(connection: Connection, request: Request) -> list[str]:
            row = notes.get_note(connection, SPACE, ROOM.path)
            assert row is not None
            found = notes.list_visible_summaries(connection, audiences, request, [row])  # noqa: B023
            return [one.content for one in found.values()]

        assert view._context.read(work) == summaries
        assert recent(view) == ([ROOM.path] if summaries else [])


def test_many_sessions_are_looked_through_page_by_page(memory: Memory) -> None:
    team = group(memory, ALICE)
    kept(private(memory, BOB), "so that he is known")
    secret = kept(team, "Bob gets a party", withheld_from=[BOB.key], **OPEN)
    opened = kept(team, "Standup is at 9", **OPEN)
    for number in range(120):
        noted(memory, replace(ROOM, path=f"2026-03-01/a{number:03}.md"), secret)
    noted(memory, replace(ROOM, path="2026-03-01/z.md"), opened)
    assert recent(private(memory, BOB), limit=5) == ["2026-03-01/z.md"]
    assert len(recent(private(memory, ALICE), limit=500)) == 121


def test_what_is_past_its_time_is_heard_by_its_owner_who_asks_for_it(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id, gone = kept(own, "Rain today", expires_at=clock.now + timedelta(days=1)), kept(own, "x")
    noted(memory, OWN, id, gone)
    own.forget(gone)
    clock.forward(days=2)
    assert heard(own, OWN.path) == {OWN.path: []}
    assert heard(own, OWN.path, managing=True) == {OWN.path: ["Rain today"]}
    memory.jobs.expire()
    assert heard(own, OWN.path, managing=True) == {OWN.path: ["Rain today"]}


def days(memory: Memory, count: int) -> list[notes.NoteRow]:
    rows = []
    for number in range(count):
        day = DAY - timedelta(days=number)
        rows.append(replace(OWN, path=f"{day}/telegram_1001.md", day=day))
        noted(memory, rows[-1])
    return rows


def test_recent_sessions_are_the_newest_first_and_no_older_than_asked(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("so that she is known")
    paths = [row.path for row in days(memory, 9)]
    later = replace(OWN, path="2026-03-01/b.md", updated_at=OWN.updated_at + timedelta(hours=1))
    noted(memory, later)
    assert recent(own, DAY - timedelta(days=6)) == [later.path, *paths[:7]]
    assert recent(own, DAY - timedelta(days=6), limit=3) == [later.path, *paths[:2]]


def written(memory: Memory, row: NoteRow, *ids: str) -> None:
    """A note with these memories, and its file."""
    noted(memory, row, *ids)
    mirrored(memory, row.path, *ids)


def orphaned(memory: Memory) -> list[str]:
    with memory._storage.database.read() as connection:
        return notes.list_orphaned_files(connection, SPACE, FOLDER)


def test_what_is_purged_leaves_the_file_alike(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id, other = kept(own, "I like tea"), kept(own, "I like figs")
    written(memory, OWN, id, other)
    own.forget(id)
    clock.forward(days=40)
    memory.jobs.expire()
    memory.jobs.purge(confirm_clock=True)
    state = known(memory, OWN.path)
    assert state is not None
    assert (state.stamp, set(state.lines)) == (-1, {other})


def test_with_a_person_go_their_notes_and_what_is_known_of_their_files(memory: Memory) -> None:
    own, bob = private(memory, ALICE), private(memory, BOB)
    noted(memory, INDEX, kept(own, "I run"))
    noted(memory, replace(OWN, layout="of hers"), kept(own, "I swim"))
    nobodys = replace(OWN, path="2026-03-01/n.md", subject=None)  # of her chat
    noted(memory, nobodys)
    his = replace(INDEX, path="_longterms/bob/_index.md", subject="ext:telegram:2002")
    noted(memory, replace(his, contact_id=INDEX.subject, contact_nickname="Al"), kept(bob, "x"))
    for path in (INDEX.path, OWN.path, his.path):
        mirrored(memory, path)
    stamp = found(memory, his.path).stamp
    memory.admin.erase_person(ALICE.key)
    for path in (INDEX.path, OWN.path, nobodys.path):
        assert maybe(memory, path) is None
        assert known(memory, path) is None
        assert act(memory, lambda w, path=path: notes.is_tombstoned(w, path))  # type: ignore[misc]
    left = found(memory, his.path)
    assert (left.contact_id, left.contact_nickname) == (None, None)
    assert left.stamp > stamp
    assert shown(memory, his.path) == ["x"]
    assert not act(memory, lambda w: notes.is_tombstoned(w, his.path))


def test_an_older_copy_loses_the_notes_again(memory: Memory) -> None:
    """By who they are about, though nothing else is there of them."""
    private(memory, BOB).remember("Bob's own")
    noted(memory, OWN)
    before = _tables(memory)
    memory.admin.erase_person(ALICE.key)
    noted_then = lines(memory)
    _restore(memory, before)
    assert maybe(memory, OWN.path) is not None
    memory.admin.replay_erasures(noted_then)
    assert maybe(memory, OWN.path) is None
    assert act(memory, lambda w: notes.is_tombstoned(w, OWN.path))


def test_a_session_of_which_nothing_is_left_goes_with_its_links(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I like tea")
    noted(memory, replace(OWN, links=(NoteLink(text="tea", target="https://example.org"),)), id)
    noted(memory, INDEX, id)
    mirrored(memory, OWN.path, id)
    before = revision(memory)
    own.erase(id)
    assert maybe(memory, OWN.path) is None
    assert orphaned(memory) == [OWN.path]
    assert maybe(memory, INDEX.path) is not None
    assert revision(memory) > before


def test_an_erased_source_leaves_the_notes(learning: Memory) -> None:
    own = private(learning, ALICE)
    told(learning, own, "I live in Lisbon")
    noted(learning, OWN, only(own, "Lisbon").id, kept(own, "I swim"))
    learning.operator("root").erase_source(ALICE.key)
    assert shown(learning, OWN.path) == ["I swim"]
