"""Read and write notes: their items, what a request may see, and the state of their files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    text,
    union_all,
    update,
)

from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.policy.predicate import sql_literal
from tacit.records.memory import ChatKind, Memory, State
from tacit.records.notes import CHECKBOX_SECTIONS, NoteKind, NoteLink, Section
from tacit.records.request import Request
from tacit.storage import memory_reads, statements
from tacit.storage.engine import Database
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import MEMORY_COLUMNS as MEMORY
from tacit.storage.memory_reads import AudienceCache, to_memory
from tacit.storage.revisions import (
    NOTES_PATH,
    mark_notes_changed,
    stamp_changed_notes,
)
from tacit.storage.rows import chunks
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
from tacit.storage.spaces import keyed_digest

# Convert notes and their items to rows and back.

# Fields that may change while the note keeps its identity.
CHANGEABLE_FIELDS = frozenset(
    {"thread", "summary_id", "source", "channel", "contact_id", "contact_nickname", "tags", "links"}
    | {"layout", "updated_at"}
)
NOTE_COLUMNS = tuple(notes_table.c)[1:]  # without space_id


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
    values = {
        column.name: pack_field(column.name, getattr(row, column.name)) for column in NOTE_COLUMNS
    }
    return {"space_id": space, **values}


def to_note(row: Any) -> NoteRow:
    """Build a note from a row of NOTE_COLUMNS."""
    named = dict(zip((column.name for column in NOTE_COLUMNS), row, strict=True))
    return NoteRow(
        **named
        | {
            "kind": NoteKind(named["kind"]),
            "chat_kind": ChatKind(named["chat_kind"]),
            "day": parse_day(named["day"]),
            "created_at": from_micros(named["created_at"]),
            "updated_at": from_micros(named["updated_at"]),
            "tags": tuple(json.loads(named["tags"])),
            "links": tuple(
                NoteLink(text=text, target=target) for text, target in json.loads(named["links"])
            ),
        }
    )


def pack_field(name: str, value: Any) -> Any:
    """Convert one field of NoteRow to its column value."""
    if name == "tags":
        return json.dumps(list(value), ensure_ascii=False)
    if name == "links":
        return json.dumps([[link.text, link.target] for link in value], ensure_ascii=False)
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, date):
        return value.isoformat()
    return value.value if isinstance(value, NoteKind | ChatKind) else value


def pack_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """Convert changed fields of NoteRow to columns and values."""
    fixed = changes.keys() - CHANGEABLE_FIELDS
    if fixed:
        raise InvalidInput(min(fixed), "is no field of a note that changes")
    return {name: pack_field(name, value) for name, value in changes.items()}


def to_item(memory_id: str, section: str, position: int, added_on: str | None) -> ItemRow:
    return ItemRow(
        memory_id=memory_id,
        section=Section(section),
        position=position,
        added_on=parse_day(added_on),
    )


def parse_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


# Notes as a request may see them: the predicate filters each item.

_NOTE = notes_table.c
_ITEM = note_items.c
_C = chat_members.c
_SHOWN_STATES = frozenset({State.ACTIVE, State.EXPIRED})
_SESSIONS_AT_ONCE_COUNT = 100
_SELECT_ITEMS_OF_PATHS = (
    select(_ITEM.path, _ITEM.memory_id, _ITEM.section, _ITEM.position, _ITEM.added_on)
    .where(_ITEM.space_id == bindparam("space"), _ITEM.path.in_(bindparam("paths", expanding=True)))
    .order_by(_ITEM.path, _ITEM.position, _ITEM.memory_id)
)


def list_visible_items(
    connection: Connection, audiences: AudienceCache, request: Request, paths: Collection[str]
) -> dict[str, ItemMemories]:
    """Return the items of these notes that this request may see, by path and in order.

    Every path is a key of the result, with an empty value if no item is visible. With
    `request.for_management()`, the owner's expired memories are included.
    """
    told: dict[str, ItemMemories] = {path: [] for path in paths}
    rows = [row for some in chunks(told) for row in _item_rows(connection, request.space, some)]
    heard = _visible_memories(connection, audiences, request, {row[1] for row in rows})
    for path, id, *rest in rows:
        if id in heard:
            told[path].append((to_item(id, *rest), heard[id]))
    return told


def list_visible_summaries(
    connection: Connection, audiences: AudienceCache, request: Request, rows: Sequence[NoteRow]
) -> dict[str, Memory]:
    """Return the frontmatter summaries that this request may see, by path."""
    named = {row.path: row.summary_id for row in rows if row.summary_id is not None}
    heard = _visible_memories(connection, audiences, request, set(named.values()))
    return {path: heard[id] for path, id in named.items() if id in heard}


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
        closed = {row.path for row in rooms} - _visible_paths(connection, audiences, request, rooms)
        found += [row for row in page if row.path not in closed]
        if len(found) >= limit:
            break
    return found[:limit]


def _visible_paths(
    connection: Connection, audiences: AudienceCache, request: Request, rows: Sequence[NoteRow]
) -> set[str]:
    """Return the paths of the notes that have a visible item or summary."""
    summed = list_visible_summaries(connection, audiences, request, rows)
    items = list_visible_items(connection, audiences, request, [row.path for row in rows])
    return {path for path, heard in items.items() if heard} | set(summed)


def _session_pages(
    connection: Connection, request: Request, since: date
) -> Iterator[list[NoteRow]]:
    """Yield pages of the sessions that may be listed in this chat."""
    if request.requester is None or not (request.private or request.kind is ChatKind.GROUP):
        return
    rooms, mine = sorted(request.chat_ids), sorted(request.own_identities)
    if request.private:
        found = statements.fetch_rows(
            connection, _SELECT_CHATS, {"space": request.space, "mine": mine}
        )
        rooms = sorted({chat for chat, _ in found})
    params: dict[str, Any] = {
        "space": request.space,
        "since": since.isoformat(),
        "rooms": rooms,
        "most": _SESSIONS_AT_ONCE_COUNT,
        "after": 0,
    }
    statement = _SELECT_GROUP_SESSIONS
    if request.private:
        statement, params = _SELECT_ALL_SESSIONS, params | {"mine": mine}
    while True:
        rows = statements.fetch_rows(connection, statement, params)
        yield [to_note(row) for row in rows]
        if len(rows) < _SESSIONS_AT_ONCE_COUNT:
            return
        params["after"] += _SESSIONS_AT_ONCE_COUNT


def _select_sessions(*which: Any) -> Select[Any]:
    return select(*NOTE_COLUMNS).where(
        _NOTE.space_id == bindparam("space"),
        _NOTE.kind == sql_literal(NoteKind.SESSION),
        _NOTE.day >= bindparam("since"),
        *which,
    )


def _newest_sessions(rows: FromClause) -> Select[Any]:
    order = (rows.c.day.desc(), rows.c.updated_at.desc(), rows.c.path)
    return select(rows).order_by(*order).limit(bindparam("most")).offset(bindparam("after"))


# Columns outside the primary key are selected here: a filter on them would make SQLite scan more
# rows.
_SELECT_CHATS = select(_C.chat, _C.left_at).where(
    _C.space_id == bindparam("space"), _C.person.in_(bindparam("mine", expanding=True))
)
_GROUP_SESSIONS = _select_sessions(
    _NOTE.chat.in_(bindparam("rooms", expanding=True)),
    _NOTE.chat_kind == sql_literal(ChatKind.GROUP),
)
_OWN_SESSIONS = _select_sessions(
    _NOTE.subject.in_(bindparam("mine", expanding=True)),
    _NOTE.chat_kind == sql_literal(ChatKind.PRIVATE),
)
_SELECT_GROUP_SESSIONS = _newest_sessions(_GROUP_SESSIONS.subquery())
_SELECT_ALL_SESSIONS = _newest_sessions(union_all(_OWN_SESSIONS, _GROUP_SESSIONS).subquery())


def _item_rows(connection: Connection, space: str, paths: list[str]) -> Sequence[tuple[Any, ...]]:
    return statements.fetch_rows(
        connection, _SELECT_ITEMS_OF_PATHS, {"space": space, "paths": paths}
    )


def _visible_memories(
    connection: Connection, audiences: AudienceCache, request: Request, ids: set[str]
) -> dict[str, Memory]:
    heard: dict[str, Memory] = {}
    for some in chunks(ids):
        found = memory_reads.list_visible(connection, audiences, request, some)
        heard |= {id: memory for id, (memory, _) in found.items() if memory.state in _SHOWN_STATES}
    return heard


# Visible tasks of notes, without the other items: for many notes at once, which are otherwise
# represented by their summaries.

_TASK_ITEM = note_items.c
_SELECT_TASKS = (
    select(
        _TASK_ITEM.path,
        _TASK_ITEM.memory_id,
        _TASK_ITEM.section,
        _TASK_ITEM.position,
        _TASK_ITEM.added_on,
    )
    .where(
        _TASK_ITEM.space_id == bindparam("space"),
        _TASK_ITEM.path.in_(bindparam("paths", expanding=True)),
        _TASK_ITEM.section.in_([sql_literal(section) for section in sorted(CHECKBOX_SECTIONS)]),
    )
    .order_by(_TASK_ITEM.path, _TASK_ITEM.position, _TASK_ITEM.memory_id)
)


def list_visible_tasks(
    connection: Connection, audiences: AudienceCache, request: Request, paths: Collection[str]
) -> dict[str, ItemMemories]:
    """List tasks and follow-ups, filtered as in `list_visible_items`."""
    told: dict[str, ItemMemories] = {path: [] for path in paths}
    rows = [
        row
        for some in chunks(told)
        for row in statements.fetch_rows(
            connection, _SELECT_TASKS, {"space": request.space, "paths": some}
        )
    ]
    heard = {
        id: memory
        for some in chunks({row[1] for row in rows})
        for id, (memory, _) in memory_reads.list_visible(
            connection, audiences, request, some
        ).items()
        if memory.state is State.ACTIVE
    }
    for path, id, *rest in rows:
        if id in heard:
            told[path].append((to_item(id, *rest), heard[id]))
    return told


# Sync state of note files: the content at the last time file and store were equal.


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


_FILE_ROW = note_files.c
_L = note_lines.c
_FILE_NOTE = notes_table.c
_FILE_MEMORY = memories_table.c
_FOLDER_PARAMS: Any = (bindparam("space"), bindparam("folder"))
_SELECT_FILES = select(
    _FILE_ROW.path, _FILE_ROW.digest, _FILE_ROW.stamp, _FILE_ROW.problem, _FILE_ROW.asked
).where(_FILE_ROW.space_id == _FOLDER_PARAMS[0], _FILE_ROW.folder == _FOLDER_PARAMS[1])
_SELECT_LINES = select(_L.path, _L.memory_id, _L.version, _L.done, _L.digest).where(
    _L.space_id == _FOLDER_PARAMS[0], _L.folder == _FOLDER_PARAMS[1]
)
_SELECT_FILE, _SELECT_LINES_OF_FILE = (
    _SELECT_FILES.where(_FILE_ROW.path == bindparam("path")),
    _SELECT_LINES.where(_L.path == bindparam("path")),
)
_UPSERT_FILE = text(
    "INSERT INTO note_files "
    "(space_id, folder, path, digest, stamp, problem, asked, subject, chat) "
    "VALUES (:space, :folder, :path, :digest, :stamp, :problem, :asked, :subject, :chat) "
    "ON CONFLICT (space_id, folder, path) DO UPDATE SET digest = excluded.digest, "
    "stamp = excluded.stamp, problem = excluded.problem, asked = excluded.asked, "
    "subject = coalesce(excluded.subject, note_files.subject), "
    "chat = coalesce(excluded.chat, note_files.chat)"
)


def get_file_state(connection: Connection, space: str, folder: str, path: str) -> FileState | None:
    named = {"space": space, "folder": folder, "path": path}
    files = statements.fetch_rows(connection, _SELECT_FILE, named)
    if not files:
        return None
    return _to_file_states(
        folder, files, statements.fetch_rows(connection, _SELECT_LINES_OF_FILE, named)
    )[path]


def list_file_states(connection: Connection, space: str, folder: str) -> dict[str, FileState]:
    """Return the state of every file of a folder by path, in two statements."""
    named = {"space": space, "folder": folder}
    files = statements.fetch_rows(connection, _SELECT_FILES, named)
    return _to_file_states(folder, files, statements.fetch_rows(connection, _SELECT_LINES, named))


def _to_file_states(folder: str, files: Any, lines: Any) -> dict[str, FileState]:
    by_path: dict[str, dict[str, LineState]] = {}
    for path, id, version, done, digest in lines:
        line = LineState(version=version, digest=digest, done=None if done is None else bool(done))
        by_path.setdefault(path, {})[id] = line
    return {
        path: FileState(
            folder=folder,
            path=path,
            digest=digest,
            stamp=stamp,
            lines=by_path.get(path, {}),
            problem=problem,
            asked=asked,
        )
        for path, digest, stamp, problem, asked in files
    }


def save_file_state(tx: Transaction, state: FileState) -> None:
    """Replace the state of a file. Lines of memories that do not exist are left out."""
    named = {"space": tx.space, "folder": state.folder, "path": state.path}
    values = {
        "digest": state.digest,
        "stamp": state.stamp,
        "problem": state.problem,
        "asked": state.asked,
    }
    if _has_deleted_memories(tx, state):
        values["stamp"] = -1  # a memory of it was erased meanwhile: the file must be read again
    note = get_note(tx.connection, tx.space, state.path)
    values["subject"] = None if note is None else note.subject
    values["chat"] = None if note is None else note.chat
    tx.connection.execute(_UPSERT_FILE, named | values)
    old = {
        id: (v, d, g)
        for _, id, v, d, g in statements.fetch_rows(tx.connection, _SELECT_LINES_OF_FILE, named)
    }
    new = {id: (line.version, line.done, line.digest) for id, line in state.lines.items()}
    changed = {id for id, line in new.items() if old.get(id) != line}
    there = _existing_ids(tx, changed)
    of = (_L.space_id == tx.space, _L.folder == state.folder, _L.path == state.path)
    for some in chunks((old.keys() - new.keys()) | (changed & old.keys())):
        tx.connection.execute(delete(note_lines).where(*of, _L.memory_id.in_(some)))
    file: dict[str, Any] = {"space_id": tx.space, "folder": state.folder, "path": state.path}
    rows = [
        file | {"memory_id": id, "version": line.version, "done": line.done, "digest": line.digest}
        for id, line in sorted(state.lines.items())
        if id in there
    ]
    if rows:
        tx.connection.execute(insert(note_lines), rows)


def _has_deleted_memories(tx: Transaction, state: FileState) -> bool:
    return len(_existing_ids(tx, state.lines)) < len(state.lines)


def _existing_ids(tx: Transaction, ids: Collection[str]) -> set[str]:
    found: set[str] = set()
    for some in chunks(ids):
        there = select(_FILE_MEMORY.id).where(
            _FILE_MEMORY.space_id == tx.space, _FILE_MEMORY.id.in_(some)
        )
        found |= set(tx.connection.execute(there).scalars())
    return found


def delete_file_state(tx: Transaction, folder: str, path: str) -> None:
    of = (_FILE_ROW.space_id == tx.space, _FILE_ROW.folder == folder, _FILE_ROW.path == path)
    tx.connection.execute(delete(note_files).where(*of))


def list_orphaned_files(connection: Connection, space: str, folder: str) -> list[str]:
    """List files whose notes no longer exist: the mirror must delete them."""
    noted = exists().where(
        _FILE_NOTE.space_id == _FILE_ROW.space_id, _FILE_NOTE.path == _FILE_ROW.path
    )
    gone = select(_FILE_ROW.path).where(
        _FILE_ROW.space_id == space, _FILE_ROW.folder == folder, ~noted
    )
    return sorted(connection.execute(gone).scalars())


# Delete notes after an erasure, and keep the hashes of their paths.

_ERASED_NOTE = notes_table.c
_ERASED_ITEM = note_items.c
_ERASED_FILE = note_files.c
_SPACE: Any = bindparam("space")
_PATHS: Any = bindparam("paths", expanding=True)
_SELECT_TOMBSTONE = select(tombstones.c.digest).where(
    tombstones.c.space_id == _SPACE, tombstones.c.digest == bindparam("digest")
)
_DELETE_EMPTY_SESSIONS = delete(notes_table).where(
    _ERASED_NOTE.space_id == _SPACE,
    _ERASED_NOTE.path.in_(_PATHS),
    _ERASED_NOTE.kind == NoteKind.SESSION.value,
    _ERASED_NOTE.summary_id.is_(None),
    ~select(_ERASED_ITEM.path)
    .where(_ERASED_ITEM.space_id == _ERASED_NOTE.space_id, _ERASED_ITEM.path == _ERASED_NOTE.path)
    .exists(),
)


def list_summaries_of(tx: Transaction, paths: Collection[str]) -> set[str]:
    """Return the summaries of these notes, which were generated from their items."""
    found: set[str] = set()
    for some in chunks(paths):
        heads = select(_ERASED_NOTE.summary_id).where(
            _ERASED_NOTE.space_id == tx.space, _ERASED_NOTE.path.in_(some)
        )
        found |= {id for id in tx.connection.execute(heads).scalars() if id is not None}
    return found


def delete_empty_sessions(tx: Transaction, paths: Collection[str]) -> int:
    """Delete sessions without items, with their links, and return how many.

    Call this after an erasure. The state of their files remains, so the mirror deletes the files.
    """
    count = 0
    for some in chunks(paths):
        count += tx.connection.execute(
            _DELETE_EMPTY_SESSIONS, {"space": tx.space, "paths": some}
        ).rowcount
    return count


def is_tombstoned(tx: Transaction, name: str) -> bool:
    """Return whether a memory with this id, or a note with this path, was erased."""
    params = {"space": tx.space, "digest": keyed_digest(tx.secret, name)}
    return bool(statements.fetch_rows(tx.connection, _SELECT_TOMBSTONE, params))


def erase_notes(
    tx: Transaction, subjects: Collection[str], chats: Collection[str] = ()
) -> Counter[str]:
    """Delete the notes of erased people and chats, and the state of their files.

    Hashes of the paths remain, so that the mirror does not import such a file again. Return the
    number of deleted rows by table.
    """
    paths: set[str] = set()
    for n in (_ERASED_NOTE, _ERASED_FILE):
        whose = or_(n.subject.in_(sorted(subjects)), n.chat.in_(sorted(chats)))
        theirs = select(n.path).where(n.space_id == tx.space, whose)
        paths |= set(tx.connection.execute(theirs).scalars())
    counts: Counter[str] = Counter()
    for some in chunks(paths):
        rows = [
            {
                "space_id": tx.space,
                "digest": keyed_digest(tx.secret, path),
                "erased_at": to_micros(tx.at),
                "actor": tx.actor if tx.actor.startswith("operator:") else "",
                "scrubbed": False,
            }
            for path in some
        ]
        tx.dialect.insert_missing(tx.connection, tombstones, rows)
        for table, column in (
            (note_items, _ERASED_ITEM.path),
            (note_files, _ERASED_FILE.path),
            (notes_table, _ERASED_NOTE.path),
        ):
            gone = delete(table).where(table.c.space_id == tx.space, column.in_(some))
            counts[table.name] += tx.connection.execute(gone).rowcount
    named = (_ERASED_NOTE.space_id == tx.space, _ERASED_NOTE.contact_id.in_(sorted(subjects)))
    met = list(tx.connection.execute(select(_ERASED_NOTE.path).where(*named)).scalars())
    unnamed = update(notes_table).where(*named).values(contact_id=None, contact_nickname=None)
    tx.connection.execute(unnamed)
    mark_notes_changed(tx, {*paths, *met})
    return counts


# Notes as rows: the notes, and the order of the memories in them.
#
# The text of a note is in its memories. Each change of a note advances its stamp (`stamp_notes`),
# so the mirror reads one number to learn whether any note changed.

_N = notes_table.c
_I = note_items.c
_F = note_files.c
_M = memories_table.c
_SELECT_NOTE = select(*NOTE_COLUMNS).where(_N.space_id == _SPACE)
_SELECT_BY_PATH = _SELECT_NOTE.where(_N.path == bindparam("path"))
_SELECT_LATER = _SELECT_NOTE.where(_N.stamp > bindparam("stamp")).order_by(_N.stamp, _N.path)
_SELECT_OF_SUBJECTS = _SELECT_NOTE.where(
    _N.subject.in_(bindparam("who", expanding=True)), _N.kind == bindparam("kind")
)
_ITEM_COLUMNS = (_I.memory_id, _I.section, _I.position, _I.added_on)
_IS_IN_NOTE = (_I.space_id == _SPACE, _I.path == bindparam("path"))
_SELECT_ITEMS = select(*_ITEM_COLUMNS).where(*_IS_IN_NOTE).order_by(_I.position, _I.memory_id)
_SELECT_SHOWN = (
    select(*_ITEM_COLUMNS, *MEMORY)
    .join(memories_table, (_M.space_id == _I.space_id) & (_M.id == _I.memory_id))
    .where(*_IS_IN_NOTE, _M.state.in_([sql_literal(State.ACTIVE), sql_literal(State.EXPIRED)]))
    .order_by(_I.position, _I.memory_id)
)
_AUDIENCE = MEMORY.index(_M.audience)
_UPSERT_ITEM = text(
    "INSERT INTO note_items (space_id, path, memory_id, section, position, added_on) VALUES "
    "(:space, :path, :id, :section, :position, :added_on) "
    "ON CONFLICT (space_id, path, memory_id) DO UPDATE SET section = excluded.section, "
    "position = CASE WHEN :moves THEN excluded.position ELSE note_items.position END, "
    "added_on = coalesce(excluded.added_on, note_items.added_on)"
)
_SELECT_REVISION = select(revisions.c.rev).where(
    revisions.c.space_id == _SPACE,
    revisions.c.access_path == sql_literal(NOTES_PATH),
)


def ensure_note(tx: Transaction, row: NoteRow) -> NoteRow:
    """Return the note with this path; insert `row` if there is none."""
    found = get_note(tx.connection, tx.space, row.path)
    if found is None:
        tx.dialect.insert_missing(
            tx.connection, notes_table, [to_note_columns(tx.space, row) | {"stamp": 0}]
        )
        touch_notes(tx, row.path)
        found = get_note(tx.connection, tx.space, row.path)
        assert found is not None
    return found


def get_note(connection: Connection, space: str, path: str) -> NoteRow | None:
    """Return a note by path, without a check of visibility: that is the caller's task."""
    found = statements.fetch_rows(connection, _SELECT_BY_PATH, {"space": space, "path": path})
    return to_note(found[0]) if found else None


def update_note(tx: Transaction, path: str, **changes: Any) -> None:
    """Update fields of NoteRow by name.

    Allowed are thread, summary_id, source, channel, contact_id, contact_nickname, tags, links,
    layout and updated_at.
    """
    one = update(notes_table).where(_N.space_id == tx.space, _N.path == path)
    if not tx.connection.execute(one.values(**pack_changes(changes))).rowcount:
        raise NotFound("note")
    touch_notes(tx, path)


def touch_notes(tx: Transaction, *paths: str) -> None:
    """Mark notes as changed; the write stamps them at its end, or in `stamp_notes`."""
    mark_notes_changed(tx, paths)


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
    of = (_I.space_id == tx.space, _I.path == path)
    tx.connection.execute(update(note_items).where(*of).values(path=to.path))
    delete_note(tx, path)
    return done


def delete_note(tx: Transaction, path: str) -> None:
    """Delete a note and its items; keep its memories and the state of its file."""
    tx.connection.execute(delete(notes_table).where(_N.space_id == tx.space, _N.path == path))
    touch_notes(tx, path)


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
    moves = position is not None
    if position is None:
        last = select(func.max(_I.position)).where(_I.space_id == tx.space, _I.path == path)
        found = tx.connection.execute(last).scalar()
        position = 0 if found is None else found + 1
    params = {
        "space": tx.space,
        "path": path,
        "id": memory_id,
        "section": section.value,
        "position": position,
        "moves": moves,
        "added_on": None if added_on is None else added_on.isoformat(),
    }
    tx.connection.execute(_UPSERT_ITEM, params)
    touch_notes(tx, path)


def replace_item(tx: Transaction, path: str, old_id: str, new_id: str) -> None:
    """Replace one memory of a note by another, at the same position.

    A memory that supersedes another with the same home needs no call: both then have a row, and the
    superseded one is not shown.
    """
    of = (_I.space_id == tx.space, _I.path == path)
    old = tx.connection.execute(
        select(*_ITEM_COLUMNS[1:]).where(*of, _I.memory_id == old_id)
    ).first()
    if old is None or old_id == new_id:
        return
    item = to_item(new_id, *old)
    tx.connection.execute(delete(note_items).where(*of, _I.memory_id == old_id))
    put_item(tx, path, new_id, item.section, item.position, item.added_on)


def remove_item(tx: Transaction, path: str, memory_id: str) -> None:
    """Remove a memory from a note; keep the memory."""
    of = (_I.space_id == tx.space, _I.path == path, _I.memory_id == memory_id)
    if tx.connection.execute(delete(note_items).where(*of)).rowcount:
        touch_notes(tx, path)


def list_items(connection: Connection, space: str, path: str) -> list[ItemRow]:
    """List all item rows by position, including forgotten and superseded memories."""
    found = statements.fetch_rows(connection, _SELECT_ITEMS, {"space": space, "path": path})
    return [to_item(*row) for row in found]


def list_file_items(
    connection: Connection, audiences: AudienceCache, space: str, path: str
) -> ItemMemories:
    """List the items that the note's file shows: active and expired memories.

    Visibility is not checked: for the mirror only.
    """
    found = statements.fetch_rows(connection, _SELECT_SHOWN, {"space": space, "path": path})
    first = len(_ITEM_COLUMNS)
    members = audiences.get_people(connection, space, [row[first + _AUDIENCE] for row in found])
    return [
        (to_item(*row[:first]), to_memory(row[first:], members[row[first + _AUDIENCE]]))
        for row in found
    ]


def list_note_paths(
    connection: Connection, space: str, ids: Collection[str]
) -> dict[str, set[str]]:
    """Return, by memory, the notes that hold it as an item or as the summary."""
    found: dict[str, set[str]] = {id: set() for id in ids}
    for some in chunks(ids):
        of_item = select(_I.memory_id, _I.path).where(_I.space_id == space, _I.memory_id.in_(some))
        of_head = select(_N.summary_id, _N.path).where(
            _N.space_id == space, _N.summary_id.in_(some)
        )
        for id, path in connection.execute(of_item.union_all(of_head)):
            found[id].add(path)
    return found


def list_index_notes(
    connection: Connection, space: str, subjects: Collection[str]
) -> list[NoteRow]:
    """List the index notes of all identities of a person, by path."""
    return _list_notes_of(connection, space, subjects, NoteKind.LONG_TERM)


def list_page_notes(connection: Connection, space: str, subjects: Collection[str]) -> list[NoteRow]:
    """List the pages of all identities of a person, by path."""
    return _list_notes_of(connection, space, subjects, NoteKind.PAGE)


def _list_notes_of(
    connection: Connection, space: str, subjects: Collection[str], kind: NoteKind
) -> list[NoteRow]:
    params = {"space": space, "who": sorted(subjects), "kind": kind.value}
    found = [to_note(row) for row in statements.fetch_rows(connection, _SELECT_OF_SUBJECTS, params)]
    return sorted(found, key=lambda row: row.path)  # ORDER BY would scan all paths


def list_changed_notes(connection: Connection, space: str, stamp: int) -> list[NoteRow]:
    """List notes with a later stamp, oldest change first; all notes for stamp 0.

    `list_orphaned_files` reports deleted notes. If `notes_revision` is lower than before, the space
    was erased in between.
    """
    params = {"space": space, "stamp": stamp}
    return [to_note(row) for row in statements.fetch_rows(connection, _SELECT_LATER, params)]


def notes_revision(connection: Connection, space: str) -> int:
    """Return the notes revision of a space; 0 if no note ever changed.

    Every change of a note increments it. All changes with a stamp up to it are committed. The read
    fetches one row by primary key.
    """
    found = statements.fetch_rows(connection, _SELECT_REVISION, {"space": space})
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
