"""Notes are found by indexes: neither a read of them nor a changed memory reads a whole space."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

import tacit
from bench.plans import plans_of, recorded
from tacit.memory import Memory
from tacit.records.notes import NoteKind
from tacit.storage import notes
from tacit.storage.notes import to_note_columns
from tacit.storage.schema import note_files, note_items, note_lines, notes_table
from tests.contract.noting import DAY, FOLDER, INDEX, OWN, ROOM, SPACE, mirrored, noted
from tests.contract.rooms import ALICE, BOB, group, kept, private

# By a range behind the space, as far as something changed; and all files of one folder.
MEANT = re.compile(r"ix_notes_stamp|folder ?=")


@pytest.fixture(params=["sqlite", "sqlite without statistics", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "postgres":
        yield request.getfixturevalue("migrated_postgres_url")
    else:
        yield f"sqlite:///{tmp_path / 'tacit.db'}"


def fill(memory: Memory, ids: list[str]) -> None:
    """Notes of many people and rooms, beside those that are asked for."""
    rows, items, files, lines = [], [], [], []
    for number in range(1_500):
        day = DAY - timedelta(days=number % 30)
        row = replace(
            (OWN, ROOM, INDEX)[number % 3],
            path=f"n{number}.md",
            day=day,
            subject=f"ext:telegram:{number}" if number % 3 != 1 else None,
            chat=f"telegram:-{number}",
            kind=(NoteKind.SESSION, NoteKind.SESSION, NoteKind.LONG_TERM)[number % 3],
            stamp=number,
        )
        rows.append(to_note_columns(SPACE, row))
        of = {"space_id": SPACE, "path": row.path, "memory_id": ids[number % len(ids)]}
        items.append({**of, "section": "facts", "position": 0, "added_on": None})
        file = {"space_id": SPACE, "path": row.path, "folder": "other"}
        files.append({**file, "digest": "", "stamp": 0, "asked": 0})
        lines.append({**of, "folder": "other", "version": 1, "done": None, "digest": ""})

    def work(connection: Connection) -> None:
        filled = ((notes_table, rows), (note_items, items), (note_files, files))
        for table, some in (*filled, (note_lines, lines)):
            connection.execute(table.insert(), some)

    memory._storage.database.write(work)


def reads(memory: Memory, id: str) -> None:
    store = memory._storage
    since: date = DAY - timedelta(days=6)
    for view in (private(memory, ALICE), private(memory, BOB), group(memory, ALICE)):
        view._context.read(lambda c, r: notes.list_recent_sessions(c, store.audiences, r, since, 50))
        view._context.read(lambda c, r: notes.list_visible_items(c, store.audiences, r, [OWN.path, ROOM.path]))
    with store.database.read() as connection:
        notes.get_note(connection, SPACE, OWN.path)
        notes.list_items(connection, SPACE, OWN.path)
        notes.list_file_items(connection, store.audiences, SPACE, OWN.path)
        people = ["ext:telegram:1001", "acct:1"]
        notes.list_notes_of(connection, SPACE, people, NoteKind.LONG_TERM)
        notes.list_notes_of(connection, SPACE, people[:1], NoteKind.PAGE)
        notes.list_note_paths(connection, SPACE, [id])
        notes.list_changed_notes(connection, SPACE, 1_490)
        notes.notes_revision(connection, SPACE)
        notes.get_file_state(connection, SPACE, FOLDER, OWN.path)
        notes.list_file_states(connection, SPACE, FOLDER)
        notes.list_orphaned_files(connection, SPACE, FOLDER)


def test_nothing_of_notes_reads_a_whole_space(url: str, request: pytest.FixtureRequest) -> None:
    with tacit.open(url, embedder=None) as memory:
        own, team = private(memory, ALICE), group(memory, ALICE)
        ids = [kept(own, f"fact {number}") for number in range(40)]
        room = kept(team, "Standup is at 9", for_room=True, sensitivity="public")
        kept(private(memory, BOB), "so that he is known")
        fill(memory, ids[2:])
        noted(memory, OWN, *ids)
        noted(memory, ROOM, room)
        mirrored(memory, OWN.path, *ids)
        memory.admin.maintain()
        if "without" in request.node.name:
            memory._storage.database.write(lambda c: c.exec_driver_sql("DELETE FROM sqlite_stat1"))
    with tacit.open(url, embedder=None) as memory:
        own = private(memory, ALICE)
        with recorded(memory) as ran:
            reads(memory, ids[0])
            own.update(ids[0], "other words")
            own.forget(ids[1])
            own.erase(ids[1])
    asked = [one for one in ran if "note" in one.sql and one.sql.startswith(("SELECT", "WITH"))]
    assert len(asked) > 20
    with closing(plans_of(url)) as plans:
        wide = [(step, one.sql) for one in asked for step in plans.too_wide(one)]
    assert [found for found in wide if not MEANT.search(found[0])] == []
