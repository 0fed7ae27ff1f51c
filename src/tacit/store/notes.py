"""Notes as rows: which there are, and which memories stand in them, in which order.

What a note says is in its memories. Whatever changes a note moves its stamp on (`noted.settle`), so
that whoever mirrors notes to files asks for one number to know whether there is anything to do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, or_, select, text, update

from tacit.errors import Conflict, NotFound
from tacit.policy.predicate import sql_literal
from tacit.records.memory import State
from tacit.records.notes import NoteKind, Section
from tacit.store import noted, partitions, rendered
from tacit.store.audiences import Audiences
from tacit.store.engine import Database
from tacit.store.note_erasing import take, tombstoned
from tacit.store.note_files import (
    FileState,
    LineState,
    drop_state,
    orphaned,
    set_state,
    state,
    states,
)
from tacit.store.note_reads import readable, recent, summaries
from tacit.store.note_rows import (
    COLUMNS,
    ItemRow,
    NoteRow,
    Rows,
    changes_of,
    to_columns,
    to_item,
    to_note,
)
from tacit.store.rows import COLUMNS as MEMORY
from tacit.store.rows import to_memory
from tacit.store.tables import memories, note_files, note_items, notes, spaces
from tacit.store.tables import partitions as revisions
from tacit.store.writes import Writing

__all__ = [
    "FileState",
    "ItemRow",
    "LineState",
    "NoteRow",
    "Rows",
    "changed_since",
    "drop_item",
    "drop_state",
    "ensure",
    "get",
    "head",
    "items",
    "long_term",
    "move_item",
    "orphaned",
    "pages",
    "paths_of",
    "put_item",
    "readable",
    "recent",
    "remove",
    "rename",
    "revision",
    "rows_of",
    "set_state",
    "settle",
    "spaces_with_notes",
    "state",
    "states",
    "summaries",
    "take",
    "tombstoned",
    "touch",
]

_N = notes.c
_I = note_items.c
_F = note_files.c
_M = memories.c
_SPACE: Any = bindparam("space")
_NOTE = select(*COLUMNS).where(_N.space_id == _SPACE)
_BY_PATH = _NOTE.where(_N.path == bindparam("path"))
_LATER = _NOTE.where(_N.stamp > bindparam("stamp")).order_by(_N.stamp, _N.path)
_OF_SUBJECTS = _NOTE.where(
    _N.subject.in_(bindparam("who", expanding=True)), _N.kind == bindparam("kind")
)
_ITEM = (_I.memory_id, _I.section, _I.position, _I.added_on)
_OF_NOTE = (_I.space_id == _SPACE, _I.path == bindparam("path"))
_ITEMS = select(*_ITEM).where(*_OF_NOTE).order_by(_I.position, _I.memory_id)
_SHOWN = (
    select(*_ITEM, *MEMORY)
    .join(memories, (_M.space_id == _I.space_id) & (_M.id == _I.memory_id))
    .where(*_OF_NOTE, _M.state.in_([sql_literal(State.ACTIVE), sql_literal(State.EXPIRED)]))
    .order_by(_I.position, _I.memory_id)
)
_HEARD = MEMORY.index(_M.heard)
_PUT = text(
    "INSERT INTO note_items (space_id, path, memory_id, section, position, added_on) VALUES "
    "(:space, :path, :id, :section, coalesce(:position, (SELECT coalesce(max(position), -1) + 1 "
    "FROM note_items WHERE space_id = :space AND path = :path)), :added_on) "
    "ON CONFLICT (space_id, path, memory_id) DO UPDATE SET section = excluded.section, "
    "position = coalesce(:position, note_items.position), "
    "added_on = coalesce(excluded.added_on, note_items.added_on)"
)
_REVISION = select(revisions.c.rev).where(
    revisions.c.space_id == _SPACE,
    revisions.c.door == sql_literal(partitions.NOTES),
)


def ensure(w: Writing, row: NoteRow) -> NoteRow:
    """The note of this path; made of `row` where there is none yet."""
    found = get(w.connection, w.space, row.path)
    if found is None:
        w.dialect.insert_missing(w.connection, notes, [to_columns(w.space, row) | {"stamp": 0}])
        touch(w, row.path)
        found = get(w.connection, w.space, row.path)
        assert found is not None
    return found


def get(connection: Connection, space: str, path: str) -> NoteRow | None:
    """Whether anybody may know of it is for the caller to say."""
    found = rendered.rows(connection, _BY_PATH, {"space": space, "path": path})
    return to_note(found[0]) if found else None


def head(w: Writing, path: str, **changes: Any) -> None:
    """Other values for fields of NoteRow, by their names: thread, summary_id, source, channel,
    contact_id, contact_nickname, tags, links, layout, updated_at."""
    one = update(notes).where(_N.space_id == w.space, _N.path == path)
    if not w.connection.execute(one.values(**changes_of(changes))).rowcount:
        raise NotFound("note")
    touch(w, path)


def touch(w: Writing, *paths: str) -> None:
    """These notes changed. Their stamps move at the end of the write, or at `settle(w)`."""
    noted.touch(w, paths)


def settle(w: Writing) -> int:
    """Moves the stamps of what this write changed now, and not at its end; the space's revision
    from then on. For whoever stores a note's stamp in the same write."""
    if w.changed_notes:
        noted.settle(w)
    return revision(w.connection, w.space)


def rename(w: Writing, path: str, to: NoteRow) -> NoteRow:
    """The note with its items under the path of `to`, which has to be free. The state of its file
    stays under the old path: that is how a mirror knows that it has to go."""
    if get(w.connection, w.space, to.path) is not None:
        raise Conflict("there is a note of that name already; choose another one")
    done = ensure(w, to)
    of = (_I.space_id == w.space, _I.path == path)
    w.connection.execute(update(note_items).where(*of).values(path=to.path))
    remove(w, path)
    return done


def remove(w: Writing, path: str) -> None:
    """The note and its items; not its memories, nor the state of its file."""
    w.connection.execute(delete(notes).where(_N.space_id == w.space, _N.path == path))
    touch(w, path)


def put_item(
    w: Writing,
    path: str,
    memory_id: str,
    section: Section,
    position: int | None = None,
    added_on: date | None = None,
) -> None:
    """The memory stands in the note: newly, or elsewhere from now on. Without a position it goes
    behind all others if it is new, and stays where it was if it is not; so does its day."""
    params = {
        "space": w.space,
        "path": path,
        "id": memory_id,
        "section": section.value,
        "position": position,
        "added_on": None if added_on is None else added_on.isoformat(),
    }
    w.connection.execute(_PUT, params)
    touch(w, path)


def move_item(w: Writing, path: str, old_id: str, new_id: str) -> None:
    """Another memory in the same place. Where one memory supersedes another of the same home, that
    happens by itself: both have the row then, and what is superseded is not shown."""
    of = (_I.space_id == w.space, _I.path == path)
    old = w.connection.execute(select(*_ITEM[1:]).where(*of, _I.memory_id == old_id)).first()
    if old is None or old_id == new_id:
        return
    item = to_item(new_id, *old)
    w.connection.execute(delete(note_items).where(*of, _I.memory_id == old_id))
    put_item(w, path, new_id, item.section, item.position, item.added_on)


def drop_item(w: Writing, path: str, memory_id: str) -> None:
    """Out of the note; the memory stays."""
    of = (_I.space_id == w.space, _I.path == path, _I.memory_id == memory_id)
    if w.connection.execute(delete(note_items).where(*of)).rowcount:
        touch(w, path)


def items(connection: Connection, space: str, path: str) -> list[ItemRow]:
    """All of its rows by position, of forgotten and superseded memories as well."""
    found = rendered.rows(connection, _ITEMS, {"space": space, "path": path})
    return [to_item(*row) for row in found]


def rows_of(connection: Connection, audiences: Audiences, space: str, path: str) -> Rows:
    """What its file shows: active and expired memories. Regardless of who may hear them, for the
    mirror alone."""
    found = rendered.rows(connection, _SHOWN, {"space": space, "path": path})
    first = len(_ITEM)
    heard = audiences.get_people(connection, space, [row[first + _HEARD] for row in found])
    return [
        (to_item(*row[:first]), to_memory(row[first:], heard[row[first + _HEARD]])) for row in found
    ]


def paths_of(connection: Connection, space: str, ids: Collection[str]) -> dict[str, set[str]]:
    """By memory: the notes that it stands in, as an item or as the summary."""
    found: dict[str, set[str]] = {id: set() for id in ids}
    for some in noted.pages(ids):
        of_item = select(_I.memory_id, _I.path).where(_I.space_id == space, _I.memory_id.in_(some))
        of_head = select(_N.summary_id, _N.path).where(
            _N.space_id == space, _N.summary_id.in_(some)
        )
        for id, path in connection.execute(of_item.union_all(of_head)):
            found[id].add(path)
    return found


def long_term(connection: Connection, space: str, subjects: Collection[str]) -> list[NoteRow]:
    """The indexes of all identities of a person, by path."""
    return _of(connection, space, subjects, NoteKind.LONG_TERM)


def pages(connection: Connection, space: str, subjects: Collection[str]) -> list[NoteRow]:
    """What stands beside their indexes, by path."""
    return _of(connection, space, subjects, NoteKind.PAGE)


def _of(
    connection: Connection, space: str, subjects: Collection[str], kind: NoteKind
) -> list[NoteRow]:
    params = {"space": space, "who": sorted(subjects), "kind": kind.value}
    found = [to_note(row) for row in rendered.rows(connection, _OF_SUBJECTS, params)]
    return sorted(found, key=lambda row: row.path)  # in SQL it would walk through all paths


def changed_since(connection: Connection, space: str, stamp: int) -> list[NoteRow]:
    """Those with a later stamp, the oldest change first; with 0 all of them. Of notes that are gone
    tells `orphaned`. Where `revision` is lower than it was, the space was erased in between."""
    params = {"space": space, "stamp": stamp}
    return [to_note(row) for row in rendered.rows(connection, _LATER, params)]


def revision(connection: Connection, space: str) -> int:
    """Moves with every change of any note of the space; 0 where none ever changed. Whatever has a
    stamp up to it is committed. One row by its key."""
    found = rendered.rows(connection, _REVISION, {"space": space})
    return int(found[0][0]) if found else 0


def moved(database: Database, seen: Mapping[str, int]) -> bool:
    """Whether a note of these spaces changed since their revisions. On the driver itself, for it is
    asked again and again where nothing happens."""
    sql, order, constants = rendered.render(database.engine.dialect, _REVISION, ("space",), ())
    for space, revision_then in seen.items():
        row = database.fetch_row(sql, rendered.filled({"space": space}, order, constants))
        if (0 if row is None else int(row[0])) != revision_then:
            return True
    return False


def spaces_with_notes(connection: Connection) -> list[str]:
    """The spaces that have notes, or states of files."""
    s = spaces.c.space_id
    some = or_(exists().where(_N.space_id == s), exists().where(_F.space_id == s))
    return list(connection.execute(select(s).where(some).order_by(s)).scalars())
