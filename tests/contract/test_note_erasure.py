"""Notes and what was erased: its lines, its summaries and its files' states go with it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tacit.memory import Memory
from tacit.records.notes import NoteLink
from tacit.storage import notes
from tacit.storage.notes import NoteRow
from tests.contract.conftest import Open
from tests.contract.lessons import BY_HAND, only, told
from tests.contract.noting import (
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
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private
from tests.contract.rows import rows
from tests.contract.test_erasures import _restore, _tables, lines

OPEN = {"visibility": "room", "sensitivity": "public", "for_room": True}


def written(memory: Memory, row: NoteRow, *ids: str) -> None:
    """A note with these memories, and its file."""
    noted(memory, row, *ids)
    mirrored(memory, row.path, *ids)


def orphaned(memory: Memory) -> list[str]:
    with memory._storage.database.read() as connection:
        return notes.list_orphaned_files(connection, SPACE, FOLDER)


def test_an_erased_memory_leaves_the_note_and_its_file_is_looked_at_again(memory: Memory) -> None:
    own = private(memory, ALICE)
    id, other = kept(own, "I like tea"), kept(own, "I like figs")
    written(memory, OWN, id, other)
    own.erase(id)
    assert shown(memory, OWN.path) == ["I like figs"]
    state = known(memory, OWN.path)
    assert state is not None
    assert (state.stamp, set(state.lines)) == (-1, {other})
    assert act(memory, lambda w: notes.is_tombstoned(w, id))
    assert not act(memory, lambda w: notes.is_tombstoned(w, other))


def test_a_file_that_still_has_an_erased_line_is_looked_at_though_its_note_has_not(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I like tea")
    written(memory, INDEX, id)
    act(memory, lambda w: notes.remove_item(w, INDEX.path, id))
    before = found(memory, INDEX.path)
    own.erase(id)
    state = known(memory, INDEX.path)
    assert state is not None
    assert (state.stamp, dict(state.lines)) == (-1, {})
    assert found(memory, INDEX.path).stamp > before.stamp


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


def test_with_an_item_goes_the_summary_that_was_made_of_it(memory: Memory) -> None:
    own = private(memory, ALICE)
    id, summary, other = kept(own, "I like tea"), kept(own, "Tea!"), kept(own, "I like figs")
    noted(memory, OWN, id, other)
    act(memory, lambda w: notes.update_note(w, OWN.path, summary_id=summary))
    assert own.erase(id).count == 2
    assert found(memory, OWN.path).summary_id is None
    assert [one.content for one in own.list()] == ["I like figs"]


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


def test_who_wipes_what_is_theirs_wipes_their_notes(memory: Memory) -> None:
    own, team = private(memory, ALICE), group(memory, ALICE)
    noted(memory, INDEX, kept(own, "I run"))
    noted(memory, ROOM, kept(team, "Standup is at 9", **OPEN))
    mirrored(memory, INDEX.path)
    own.wipe()
    assert maybe(memory, INDEX.path) is None
    assert known(memory, INDEX.path) is None
    assert shown(memory, ROOM.path) == ["Standup is at 9"]


def test_with_a_space_go_its_notes_and_their_revision(memory: Memory) -> None:
    noted(memory, OWN, kept(private(memory, ALICE), "I run"))
    mirrored(memory, OWN.path)
    memory.admin.erase_space()
    for table in ("notes", "note_items", "note_files", "note_lines"):
        assert rows(memory, f"SELECT count(*) FROM {table}") == [(0,)]
    assert revision(memory) == 0


def test_an_erased_source_leaves_the_notes(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=BY_HAND)
    own = private(memory, ALICE)
    told(memory, own, "I live in Lisbon")
    noted(memory, OWN, only(own, "Lisbon").id, kept(own, "I swim"))
    memory.operator("root").erase_source(ALICE.key)
    assert shown(memory, OWN.path) == ["I swim"]


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


def test_with_a_person_go_the_states_of_files_whose_notes_went_before(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I run")
    written(memory, OWN, id)
    own.erase(id)
    assert known(memory, OWN.path) is not None
    memory.admin.erase_person(ALICE.key)
    assert known(memory, OWN.path) is None


@pytest.mark.parametrize("days", [0, 5])
def test_the_doctor_has_nothing_against_notes(memory: Memory, clock: SetClock, days: int) -> None:
    own = private(memory, ALICE)
    id = kept(own, "I run", expires_at=clock.now + timedelta(days=3))
    written(memory, OWN, id)
    clock.forward(days=days)
    memory.jobs.expire()
    assert memory.admin.maintain().healthy
    assert memory.admin.doctor().healthy
