"""Read and write notes: their items, what a request may see, and the state of their files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import count
from typing import Any

from sqlalchemy import Connection, FromClause, Select, bindparam, exists, func, insert, or_, select, union_all, update

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.policy.rules import sql_literal
from tacit.records.memory import ChatKind, Memory, State
from tacit.records.notes import NoteKind, NoteLink, Section
from tacit.records.request import Request
from tacit.storage import memory_reads
from tacit.storage.engine import (
    Database,
    chunks,
    delete_rows,
    encode,
    fetch_mappings,
    fetch_rows,
    has_row,
    insert_missing,
    select_set,
    to_columns,
    to_record,
    update_rows,
    upsert,
)
from tacit.storage.erasures import insert_tombstones
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import MEMORY_COLUMNS as MEMORY
from tacit.storage.memory_reads import AudienceCache, to_memory
from tacit.storage.schema import (
    chat_members,
    memories_table,
    note_files,
    note_items,
    note_lines,
    notes_table,
    spaces_table,
    tombstones,
)
from tacit.storage.schema import revisions_table as revisions
from tacit.storage.spaces import NOTES_PATH, keyed_digest, mark_notes_changed, stamp_changed_notes

# Notes as rows: the notes, and the order of the memories in them.
#
# The text of a note is in its memories. Each change of a note advances its stamp (`stamp_notes`),
# so the mirror reads one number to learn whether any note changed.

_N = notes_table.c
_I = note_items.c
_F = note_files.c
_L = note_lines.c
_M = memories_table.c
_C = chat_members.c
_ITEM_COLUMNS = (_I.memory_id, _I.section, _I.position, _I.added_on)
_SPACE: Any = bindparam("space")
_PATH: Any = bindparam("path")
_SELECT_NOTES = select(notes_table).where(_N.space_id == _SPACE)
_SELECT_NOTE = _SELECT_NOTES.where(_N.path == _PATH)
_SELECT_CHANGED = _SELECT_NOTES.where(_N.stamp > bindparam("stamp")).order_by(_N.stamp, _N.path)
_SELECT_NOTES_OF = _SELECT_NOTES.where(_N.subject.in_(bindparam("who", expanding=True)), _N.kind == bindparam("kind"))
_SELECT_ITEMS = (
    select(*_ITEM_COLUMNS).where(_I.space_id == _SPACE, _I.path == _PATH).order_by(_I.position, _I.memory_id)
)
_SELECT_FILE_ITEMS = (
    select(*_ITEM_COLUMNS, *MEMORY)
    .select_from(note_items)
    .join(memories_table, (_M.space_id == _I.space_id) & (_M.id == _I.memory_id))
    .where(_I.space_id == _SPACE, _I.path == _PATH)
    .where(_M.state.in_([sql_literal(State.ACTIVE), sql_literal(State.EXPIRED)]))
    .order_by(_I.position, _I.memory_id)
)
_AUDIENCE = len(_ITEM_COLUMNS) + MEMORY.index(_M.audience)
_SELECT_REVISION = select(revisions.c.rev).where(
    revisions.c.space_id == _SPACE, revisions.c.access_path == sql_literal(NOTES_PATH)
)
# Fields that may change while the note keeps its identity.
CHANGEABLE_FIELDS = frozenset(
    {"thread", "summary_id", "source", "channel", "contact_id", "contact_nickname", "tags", "links"}
    | {"layout", "updated_at"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    path: str  # as `notes.paths.note_path` returns it, without the folder of the space
    kind: NoteKind
    created_at: datetime
    updated_at: datetime
    subject: str | None = None  # person of the note; None: the note of a chat
    day: date | None = None  # sessions only
    session: str | None = None
    chat: str | None = None
    chat_kind: ChatKind = ChatKind.UNKNOWN
    thread: str | None = None
    summary_id: str | None = None  # memory that holds the summary in the frontmatter
    source: str | None = None
    channel: str | None = None
    contact_id: str | None = None
    contact_nickname: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[NoteLink, ...] = ()
    layout: str | None = None  # pages only: the text between the items, without ids
    stamp: int = 0  # revision of the last change; `ensure_note` ignores it


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    memory_id: str
    section: Section
    position: int
    added_on: date | None = None


ItemMemories = list[tuple[ItemRow, Memory]]


def to_note_columns(space: str, row: NoteRow) -> dict[str, Any]:
    """Return the columns of a `notes` row."""
    columns = to_columns(replace(row, links=()), notes_table)
    return {"space_id": space, **columns, "links": _pack_links(row.links)}


def _pack_links(links: Sequence[NoteLink]) -> str:
    return json.dumps([[link.text, link.target] for link in links], ensure_ascii=False)


def _list_notes(connection: Connection, statement: Select[Any], params: Mapping[str, Any]) -> list[NoteRow]:
    found = []
    for row in fetch_mappings(connection, statement, params):
        links = (NoteLink(text=text, target=target) for text, target in json.loads(row["links"]))
        found.append(to_record(NoteRow, row, links=tuple(links)))
    return found


def ensure_note(tx: Transaction, row: NoteRow) -> NoteRow:
    """Return the note with this path; insert `row` if there is none."""
    found = get_note(tx.connection, tx.space, row.path)
    if found is None:
        new = to_note_columns(tx.space, replace(row, stamp=0))
        insert_missing(tx.connection, notes_table, tx.space, [new])
        mark_notes_changed(tx, [row.path])
        found = get_note(tx.connection, tx.space, row.path)
        assert found is not None
    return found


def get_note(connection: Connection, space: str, path: str) -> NoteRow | None:
    """Return a note by path, without a check of visibility: that is the caller's task."""
    return next(iter(_list_notes(connection, _SELECT_NOTE, {"space": space, "path": path})), None)


def update_note(tx: Transaction, path: str, **changes: Any) -> None:
    """Update fields of NoteRow by name, those in CHANGEABLE_FIELDS."""
    fixed = changes.keys() - CHANGEABLE_FIELDS
    if fixed:
        raise InvalidInput(min(fixed), "is no field of a note that changes")
    if "links" in changes:
        changes["links"] = _pack_links(changes["links"])
    if not update_rows(tx.connection, notes_table, tx.space, _N.path == path, **changes):
        raise NotFound("note")
    mark_notes_changed(tx, [path])


def stamp_notes(tx: Transaction) -> int:
    """Stamp the notes changed so far and return the space's new notes revision.

    Call this before the end of a write that also stores a note's stamp.
    """
    if tx.changed_notes:
        stamp_changed_notes(tx)
    return notes_revision(tx.connection, tx.space)


def rename_note(tx: Transaction, path: str, to: NoteRow) -> NoteRow:
    """Move a note with its items to the path of `to`, which must be free.

    The state of its file stays under the old path, so the mirror deletes the old file.
    """
    if get_note(tx.connection, tx.space, to.path) is not None:
        raise Conflict("there is a note of that name already; choose another one")
    done = ensure_note(tx, to)
    update_rows(tx.connection, note_items, tx.space, _I.path == path, path=to.path)
    delete_note(tx, path)
    return done


def delete_note(tx: Transaction, path: str) -> None:
    """Delete a note and its items; keep its memories and the state of its file."""
    delete_rows(tx.connection, notes_table, tx.space, _N.path == path)
    mark_notes_changed(tx, [path])


def put_item(
    tx: Transaction,
    path: str,
    memory_id: str,
    section: Section,
    position: int | None = None,
    added_on: date | None = None,
) -> None:
    """Insert a memory into a note, or move it within the note.

    Without a position, a new item goes to the end and an existing item keeps its position. The same
    applies to the day.
    """
    given = {"section": section, "position": position, "added_on": added_on}
    changes = {name: encode(value) for name, value in given.items() if value is not None}
    if position is None:
        last = select(func.max(_I.position)).where(_I.space_id == tx.space, _I.path == path)
        found = tx.connection.execute(last).scalar()
        given["position"] = 0 if found is None else found + 1
    row = {name: encode(value) for name, value in given.items()}
    key = {"space_id": tx.space, "path": path, "memory_id": memory_id}
    upsert(tx.connection, note_items, key | row, **changes)
    mark_notes_changed(tx, [path])


def remove_item(tx: Transaction, path: str, memory_id: str) -> None:
    """Remove a memory from a note; keep the memory."""
    this = (_I.path == path, _I.memory_id == memory_id)
    if delete_rows(tx.connection, note_items, tx.space, *this):
        mark_notes_changed(tx, [path])


def list_items(connection: Connection, space: str, path: str) -> list[ItemRow]:
    """List all item rows by position, including forgotten and superseded memories."""
    rows = fetch_mappings(connection, _SELECT_ITEMS, {"space": space, "path": path})
    return [to_record(ItemRow, row) for row in rows]


def list_file_items(connection: Connection, audiences: AudienceCache, space: str, path: str) -> ItemMemories:
    """List the items that the note's file shows: active and expired memories.

    Visibility is not checked: for the mirror only.
    """
    params = {"space": space, "path": path}
    found = fetch_rows(connection, _SELECT_FILE_ITEMS, params)
    members = audiences.get_people(connection, space, [row[_AUDIENCE] for row in found])
    count = len(_ITEM_COLUMNS)
    names = [column.name for column in _ITEM_COLUMNS]
    return [
        (
            to_record(ItemRow, dict(zip(names, row[:count], strict=True))),
            to_memory(row[count:], members[row[_AUDIENCE]]),
        )
        for row in found
    ]


def list_note_paths(connection: Connection, space: str, ids: Collection[str]) -> dict[str, set[str]]:
    """Return, by memory, the notes that hold it as an item or as the summary."""
    found: dict[str, set[str]] = {id: set() for id in ids}
    for some in chunks(ids):
        of_item = select(_I.memory_id, _I.path).where(_I.space_id == space, _I.memory_id.in_(some))
        of_head = select(_N.summary_id, _N.path).where(_N.space_id == space, _N.summary_id.in_(some))
        for id, path in connection.execute(of_item.union_all(of_head)):
            found[id].add(path)
    return found


def list_notes_of(connection: Connection, space: str, subjects: Collection[str], kind: NoteKind) -> list[NoteRow]:
    """List the index notes or the pages of all identities of a person, by path."""
    params = {"space": space, "who": sorted(subjects), "kind": kind.value}
    found = _list_notes(connection, _SELECT_NOTES_OF, params)
    return sorted(found, key=lambda row: row.path)  # ORDER BY would scan all paths


def list_changed_notes(connection: Connection, space: str, stamp: int) -> list[NoteRow]:
    """List notes with a later stamp, oldest change first; all notes for stamp 0.

    `list_orphaned_files` reports deleted notes. If `notes_revision` is lower than before, the space
    was erased in between.
    """
    return _list_notes(connection, _SELECT_CHANGED, {"space": space, "stamp": stamp})


def notes_revision(connection: Connection, space: str) -> int:
    """Return the notes revision of a space; 0 if no note ever changed.

    Every change of a note increments it. All changes with a stamp up to it are committed. The read
    fetches one row by primary key.
    """
    found = fetch_rows(connection, _SELECT_REVISION, {"space": space})
    return int(found[0][0]) if found else 0


def have_notes_changed(database: Database, seen: Mapping[str, int]) -> bool:
    """Return whether a note of these spaces changed since their revisions.

    This runs on the driver because idle processes poll it.
    """
    for space, revision_then in seen.items():
        rows = database.fetch_directly(_SELECT_REVISION, {"space": space})
        if (int(rows[0][0]) if rows else 0) != revision_then:
            return True
    return False


def list_spaces_with_notes(connection: Connection) -> list[str]:
    """List the spaces that have notes or file states."""
    s = spaces_table.c.space_id
    some = or_(exists().where(_N.space_id == s), exists().where(_F.space_id == s))
    return list(connection.execute(select(s).where(some).order_by(s)).scalars())


# Notes as a request may see them: the predicate filters each item.

_SHOWN_STATES = frozenset({State.ACTIVE, State.EXPIRED})
_SESSIONS_AT_ONCE_COUNT = 100
_SELECT_ITEMS_OF_PATHS = (
    select(_I.path, *_ITEM_COLUMNS)
    .where(_I.space_id == _SPACE, _I.path.in_(bindparam("paths", expanding=True)))
    .where(_I.section.in_(bindparam("sections", expanding=True)))
    .order_by(_I.path, _I.position, _I.memory_id)
)
# Columns outside the primary key are selected here: a filter on them would make SQLite scan more
# rows.
_SELECT_CHATS = select(_C.chat, _C.left_at).where(
    _C.space_id == _SPACE, _C.person.in_(bindparam("mine", expanding=True))
)
_SESSIONS = _SELECT_NOTES.where(_N.kind == sql_literal(NoteKind.SESSION), _N.day >= bindparam("since"))
_GROUP_SESSIONS = _SESSIONS.where(
    _N.chat.in_(bindparam("rooms", expanding=True)), _N.chat_kind == sql_literal(ChatKind.GROUP)
)
_OWN_SESSIONS = _SESSIONS.where(
    _N.subject.in_(bindparam("mine", expanding=True)), _N.chat_kind == sql_literal(ChatKind.PRIVATE)
)


def _newest(sessions: FromClause) -> Select[Any]:
    c = sessions.c
    ordered = select(sessions).order_by(c.day.desc(), c.updated_at.desc(), c.path)
    return ordered.limit(bindparam("most")).offset(bindparam("after"))


_SELECT_GROUP_SESSIONS = _newest(_GROUP_SESSIONS.subquery())
_SELECT_ALL_SESSIONS = _newest(union_all(_OWN_SESSIONS, _GROUP_SESSIONS).subquery())


def list_visible_items(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    paths: Collection[str],
    *,
    sections: Collection[Section] = tuple(Section),
    states: Collection[State] = _SHOWN_STATES,
) -> dict[str, ItemMemories]:
    """Return the items of these notes that this request may see, by path and in order.

    Every path is a key of the result, with an empty value if no item is visible. With
    `request.for_management()`, the owner's expired memories are included.
    """
    told: dict[str, ItemMemories] = {path: [] for path in paths}
    named = {"space": request.space, "sections": [section.value for section in sections]}
    rows = [
        row
        for some in chunks(told)
        for row in fetch_mappings(connection, _SELECT_ITEMS_OF_PATHS, named | {"paths": some})
    ]
    heard = _visible_memories(connection, audiences, request, {row["memory_id"] for row in rows})
    for row in rows:
        memory = heard.get(row["memory_id"])
        if memory is not None and memory.state in states:
            told[row["path"]].append((to_record(ItemRow, row), memory))
    return told


def list_visible_summaries(
    connection: Connection, audiences: AudienceCache, request: Request, rows: Sequence[NoteRow]
) -> dict[str, Memory]:
    """Return the frontmatter summaries that this request may see, by path."""
    named = {row.path: row.summary_id for row in rows if row.summary_id is not None}
    heard = _visible_memories(connection, audiences, request, set(named.values()))
    return {path: heard[id] for path, id in named.items() if id in heard}


def _visible_memories(
    connection: Connection, audiences: AudienceCache, request: Request, ids: set[str]
) -> dict[str, Memory]:
    heard: dict[str, Memory] = {}
    for some in chunks(ids):
        found = memory_reads.list_visible(connection, audiences, request, some)
        heard |= {id: memory for id, (memory, _) in found.items() if memory.state in _SHOWN_STATES}
    return heard


def list_recent_sessions(
    connection: Connection, audiences: AudienceCache, request: Request, since: date, limit: int
) -> list[NoteRow]:
    """List sessions since that day, newest first, if any of their items is visible.

    The requester's private sessions appear in private chats only. Sessions of a group appear in
    that group, and in the private chats of people who were present.
    """
    found: list[NoteRow] = []
    for page in _session_pages(connection, request, since):
        rooms = [row for row in page if row.chat_kind is ChatKind.GROUP]
        items = list_visible_items(connection, audiences, request, [row.path for row in rooms])
        open_ = {path for path, heard in items.items() if heard}
        open_ |= set(list_visible_summaries(connection, audiences, request, rooms))
        found += [row for row in page if row.chat_kind is not ChatKind.GROUP or row.path in open_]
        if len(found) >= limit:
            break
    return found[:limit]


def _session_pages(connection: Connection, request: Request, since: date) -> Iterator[list[NoteRow]]:
    """Yield pages of the sessions that may be listed in this chat."""
    if request.requester is None or not (request.private or request.kind is ChatKind.GROUP):
        return
    rooms, mine = sorted(request.chat_ids), sorted(request.own_identities)
    if request.private:
        been = {"space": request.space, "mine": mine}
        found = fetch_rows(connection, _SELECT_CHATS, been)
        rooms = sorted({chat for chat, _ in found})
    params = {"space": request.space, "since": since.isoformat(), "rooms": rooms}
    statement = _SELECT_GROUP_SESSIONS
    if request.private:
        statement, params = _SELECT_ALL_SESSIONS, params | {"mine": mine}
    most = _SESSIONS_AT_ONCE_COUNT
    for after in count(0, most):
        page = _list_notes(connection, statement, params | {"most": most, "after": after})
        yield page
        if len(page) < most:
            return


# Sync state of note files: the content at the last time file and store were equal.


_FOLDER: Any = bindparam("folder")
_SELECT_FILES = select(note_files).where(_F.space_id == _SPACE, _F.folder == _FOLDER)
_SELECT_LINES = select(note_lines).where(_L.space_id == _SPACE, _L.folder == _FOLDER)
_SELECT_FILE = _SELECT_FILES.where(_F.path == _PATH)
_SELECT_LINES_OF_FILE = _SELECT_LINES.where(_L.path == _PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineState:
    """Hold the state of one item of a file at the last sync."""

    version: int  # version of the memory
    digest: str  # hash of the lines
    done: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    folder: str
    path: str
    digest: str = ""  # hash of the file's bytes; empty: read the file in any case
    stamp: int = 0  # stamp of the note
    lines: Mapping[str, LineState] = field(default_factory=dict)  # by memory id
    problem: str | None = None
    asked: int = 0  # number of deletions that wait for confirmation


def get_file_state(connection: Connection, space: str, folder: str, path: str) -> FileState | None:
    return list_file_states(connection, space, folder, path).get(path)


def list_file_states(connection: Connection, space: str, folder: str, path: str | None = None) -> dict[str, FileState]:
    """Return the state of every file of a folder by path, or of one file, in two statements."""
    files, lines = _SELECT_FILES, _SELECT_LINES
    params = {"space": space, "folder": folder}
    if path is not None:
        files, lines, params = _SELECT_FILE, _SELECT_LINES_OF_FILE, params | {"path": path}
    by_path: dict[str, dict[str, LineState]] = {}
    for row in fetch_mappings(connection, lines, params):
        by_path.setdefault(row["path"], {})[row["memory_id"]] = to_record(LineState, row)
    return {
        row["path"]: to_record(FileState, row, lines=by_path.get(row["path"], {}))
        for row in fetch_mappings(connection, files, params)
    }


def save_file_state(tx: Transaction, state: FileState) -> None:
    """Replace the state of a file. Lines of memories that do not exist are left out."""
    before = get_file_state(tx.connection, tx.space, state.folder, state.path)
    old = {} if before is None else before.lines
    there = {
        id
        for some in chunks(state.lines)
        for id in select_set(tx.connection, select(_M.id).where(_M.space_id == tx.space, _M.id.in_(some)))
    }
    file = {"space_id": tx.space, "folder": state.folder, "path": state.path}
    row = file | to_columns(state, note_files)
    if len(there) < len(state.lines):
        row["stamp"] = -1  # a memory of it was erased meanwhile: the file must be read again
    note = get_note(tx.connection, tx.space, state.path)
    if note is not None:
        named = {"subject": note.subject, "chat": note.chat}
        row |= {name: value for name, value in named.items() if value is not None}
    upsert(tx.connection, note_files, row)
    same = {id for id, line in state.lines.items() if old.get(id) == line}
    of_file = (_L.folder == state.folder, _L.path == state.path)
    for some in chunks(old.keys() - same):
        delete_rows(tx.connection, note_lines, tx.space, *of_file, _L.memory_id.in_(some))
    rows = [file | {"memory_id": id} | to_columns(state.lines[id], note_lines) for id in sorted(there - same)]
    if rows:
        tx.connection.execute(insert(note_lines), rows)


def delete_file_state(tx: Transaction, folder: str, path: str) -> None:
    delete_rows(tx.connection, note_files, tx.space, _F.folder == folder, _F.path == path)


def list_orphaned_files(connection: Connection, space: str, folder: str) -> list[str]:
    """List files whose notes no longer exist: the mirror must delete them."""
    noted = exists().where(_N.space_id == _F.space_id, _N.path == _F.path)
    gone = select(_F.path).where(_F.space_id == space, _F.folder == folder, ~noted)
    return sorted(connection.execute(gone).scalars())


# Delete notes after an erasure, and keep the hashes of their paths.


def list_summaries_of(tx: Transaction, paths: Collection[str]) -> set[str]:
    """Return the summaries of these notes, which were generated from their items."""
    found: set[str | None] = set()
    for some in chunks(paths):
        heads = select(_N.summary_id).where(_N.space_id == tx.space, _N.path.in_(some))
        found |= select_set(tx.connection, heads)
    return {id for id in found if id is not None}


def delete_empty_sessions(tx: Transaction, paths: Collection[str]) -> int:
    """Delete sessions without items, with their links, and return how many.

    Call this after an erasure. The state of their files remains, so the mirror deletes the files.
    """
    items = select(_I.path).where(_I.space_id == _N.space_id, _I.path == _N.path)
    empty = (_N.kind == NoteKind.SESSION.value, _N.summary_id.is_(None), ~items.exists())
    return sum(delete_rows(tx.connection, notes_table, tx.space, _N.path.in_(some), *empty) for some in chunks(paths))


def is_tombstoned(tx: Transaction, name: str) -> bool:
    """Return whether a memory with this id, or a note with this path, was erased."""
    t, digest = tombstones.c, keyed_digest(tx.secret, name)
    this = select(t.digest).where(t.space_id == tx.space, t.digest == digest)
    return has_row(tx.connection, this)


def erase_notes(tx: Transaction, subjects: Collection[str], chats: Collection[str] = ()) -> Counter[str]:
    """Delete the notes of erased people and chats, and the state of their files.

    Hashes of the paths remain, so that the mirror does not import such a file again. Return the
    number of deleted rows by table.
    """
    paths: set[str] = set()
    for n in (_N, _F):
        whose = or_(n.subject.in_(sorted(subjects)), n.chat.in_(sorted(chats)))
        paths |= select_set(tx.connection, select(n.path).where(n.space_id == tx.space, whose))
    counts: Counter[str] = Counter()
    for some in chunks(paths):
        insert_tombstones(tx, some)
        for table in (note_items, note_files, notes_table):
            gone = delete_rows(tx.connection, table, tx.space, table.c.path.in_(some))
            counts[table.name] += gone
    named = (_N.space_id == tx.space, _N.contact_id.in_(sorted(subjects)))
    met = update(notes_table).where(*named).values(contact_id=None, contact_nickname=None)
    paths |= select_set(tx.connection, met.returning(_N.path))
    mark_notes_changed(tx, paths)
    return counts
