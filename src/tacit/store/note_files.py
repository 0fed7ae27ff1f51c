"""What a mirror knows of its files: how each was when file and store last agreed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, insert, select, text

from tacit.store import rendered
from tacit.store.noted import pages
from tacit.store.tables import memories, note_files, note_lines, notes
from tacit.store.writes import Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class LineState:
    """An item of a file as both had it."""

    version: int  # of the memory
    digest: str  # of the lines
    done: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    folder: str
    path: str
    digest: str = ""  # of the bytes; empty: to be looked at, whatever they are
    stamp: int = 0  # of the note
    lines: Mapping[str, LineState] = field(default_factory=dict)  # by memory
    problem: str | None = None
    asked: int = 0  # how many deletions wait for a yes


_F = note_files.c
_L = note_lines.c
_N = notes.c
_M = memories.c
_FOLDER: Any = (bindparam("space"), bindparam("folder"))
_FILES = select(_F.path, _F.digest, _F.stamp, _F.problem, _F.asked).where(
    _F.space_id == _FOLDER[0], _F.folder == _FOLDER[1]
)
_LINES = select(_L.path, _L.memory_id, _L.version, _L.done, _L.digest).where(
    _L.space_id == _FOLDER[0], _L.folder == _FOLDER[1]
)
_FILE, _LINES_OF_FILE = (
    _FILES.where(_F.path == bindparam("path")),
    _LINES.where(_L.path == bindparam("path")),
)
_SET = text(
    "INSERT INTO note_files "
    "(space_id, folder, path, digest, stamp, problem, asked, subject, chat) "
    "VALUES (:space, :folder, :path, :digest, :stamp, :problem, :asked, "
    "(SELECT subject FROM notes WHERE space_id = :space AND path = :path), "
    "(SELECT chat FROM notes WHERE space_id = :space AND path = :path)) "
    "ON CONFLICT (space_id, folder, path) DO UPDATE SET digest = excluded.digest, "
    "stamp = excluded.stamp, problem = excluded.problem, asked = excluded.asked, "
    "subject = coalesce(excluded.subject, note_files.subject), "
    "chat = coalesce(excluded.chat, note_files.chat)"
)


def state(connection: Connection, space: str, folder: str, path: str) -> FileState | None:
    named = {"space": space, "folder": folder, "path": path}
    files = rendered.rows(connection, _FILE, named)
    if not files:
        return None
    return _read(folder, files, rendered.rows(connection, _LINES_OF_FILE, named))[path]


def states(connection: Connection, space: str, folder: str) -> dict[str, FileState]:
    """All of a folder, by path, in two statements."""
    named = {"space": space, "folder": folder}
    files = rendered.rows(connection, _FILES, named)
    return _read(folder, files, rendered.rows(connection, _LINES, named))


def _read(folder: str, files: Any, lines: Any) -> dict[str, FileState]:
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


def set_state(w: Writing, state: FileState) -> None:
    """In the place of what was known. Lines of memories that are not there are left out."""
    named = {"space": w.space, "folder": state.folder, "path": state.path}
    values = {
        "digest": state.digest,
        "stamp": state.stamp,
        "problem": state.problem,
        "asked": state.asked,
    }
    if _lost(w, state):
        values["stamp"] = -1  # something of it was buried since: it has to be looked at
    w.connection.execute(_SET, named | values)
    old = {id: (v, d, g) for _, id, v, d, g in rendered.rows(w.connection, _LINES_OF_FILE, named)}
    new = {id: (line.version, line.done, line.digest) for id, line in state.lines.items()}
    changed = {id for id, line in new.items() if old.get(id) != line}
    there = _present(w, changed)
    of = (_L.space_id == w.space, _L.folder == state.folder, _L.path == state.path)
    for some in pages((old.keys() - new.keys()) | (changed & old.keys())):
        w.connection.execute(delete(note_lines).where(*of, _L.memory_id.in_(some)))
    file: dict[str, Any] = {"space_id": w.space, "folder": state.folder, "path": state.path}
    rows = [
        file | {"memory_id": id, "version": line.version, "done": line.done, "digest": line.digest}
        for id, line in sorted(state.lines.items())
        if id in there
    ]
    if rows:
        w.connection.execute(insert(note_lines), rows)


def _lost(w: Writing, state: FileState) -> bool:
    return len(_present(w, state.lines)) < len(state.lines)


def _present(w: Writing, ids: Collection[str]) -> set[str]:
    found: set[str] = set()
    for some in pages(ids):
        there = select(_M.id).where(_M.space_id == w.space, _M.id.in_(some))
        found |= set(w.connection.execute(there).scalars())
    return found


def drop_state(w: Writing, folder: str, path: str) -> None:
    of = (_F.space_id == w.space, _F.folder == folder, _F.path == path)
    w.connection.execute(delete(note_files).where(*of))


def orphaned(connection: Connection, space: str, folder: str) -> list[str]:
    """Files that are known, and whose notes are gone: they have to go too."""
    noted = exists().where(_N.space_id == _F.space_id, _N.path == _F.path)
    gone = select(_F.path).where(_F.space_id == space, _F.folder == folder, ~noted)
    return sorted(connection.execute(gone).scalars())
