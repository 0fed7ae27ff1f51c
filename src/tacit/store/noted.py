"""Memories that stand in notes: whatever changes one of them changes its notes.

A write collects the notes it changed, and moves their stamps once, as the last thing it does: so
nobody who holds the revision of all notes waits for a memory, and ten items cost one revision.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import CompoundSelect, bindparam, select, text, union_all, update

from tacit.records.memory import Memory, State
from tacit.store import partitions, rendered
from tacit.store.identities import around
from tacit.store.tables import memories, note_files, note_items, note_lines, notes

if TYPE_CHECKING:
    from tacit.store.writes import Writing

_N = notes.c
_I = note_items.c
_F = note_files.c
_L = note_lines.c
_M = memories.c
_AT_ONCE_COUNT = 500
_SPACE: Any = bindparam("space")
_IDS: Any = bindparam("ids", expanding=True)
_PATHS: Any = bindparam("paths", expanding=True)


def _in_notes(of_item: Any, of_summary: Any) -> CompoundSelect[Any]:
    return union_all(
        select(_I.path).where(_I.space_id == _SPACE, of_item),
        select(_N.path).where(_N.space_id == _SPACE, of_summary),
    )


_WITH_ONE = _in_notes(_I.memory_id == bindparam("id"), _N.summary_id == bindparam("id"))
_WITH_SOME = _in_notes(_I.memory_id.in_(_IDS), _N.summary_id.in_(_IDS))
_ON_LINES = (
    select(_L.path).where(_L.space_id == _SPACE, _L.memory_id.in_(_IDS)).distinct()
)  # also where it left the note, and the file does not know yet
_STAMP = (
    update(notes)
    .where(_N.space_id == bindparam("b_space"), _N.path == bindparam("b_path"))
    .values(stamp=bindparam("b_stamp"))
)
_UNSEEN = update(note_files).where(_F.space_id == _SPACE, _F.path.in_(_PATHS)).values(stamp=-1)
_UNSUMMED = (
    update(notes).where(_N.space_id == _SPACE, _N.summary_id.in_(_IDS)).values(summary_id=None)
)
_PLACE = text(
    "INSERT INTO note_items (space_id, path, memory_id, section, position, added_on) "
    "SELECT space_id, path, :new, section, position, added_on FROM note_items "
    "WHERE space_id = :space AND path = :path AND memory_id = :old ON CONFLICT DO NOTHING"
)


def changed(w: Writing, memory: Memory) -> None:
    """For every change of one memory: a look at two indexes, where nothing of it is noted."""
    for (path,) in rendered.rows(w.connection, _WITH_ONE, {"space": w.space, "id": memory.id}):
        superseded = w.changed_notes.setdefault(path, set())
        if memory.state is State.SUPERSEDED and memory.superseded_by:
            superseded.add(memory.id)


def retired(w: Writing, ids: Sequence[str]) -> set[str]:
    """The same for many; the notes that they stand in."""
    params = {"space": w.space, "ids": list(ids)}
    paths = set(w.connection.execute(_WITH_SOME, params).scalars())
    touch(w, paths)
    return paths


def buried(w: Writing, ids: Sequence[str]) -> None:
    """Before these memories go, and their rows here with them: no file is as it was known."""
    params = {"space": w.space, "ids": list(ids)}
    paths = retired(w, ids) | set(w.connection.execute(_ON_LINES, params).scalars())
    if not paths:
        return
    touch(w, paths)
    w.connection.execute(_UNSUMMED, params)
    for some in pages(paths):
        w.connection.execute(_UNSEEN, {"space": w.space, "paths": some})


def touch(w: Writing, paths: Collection[str]) -> None:
    for path in paths:
        w.changed_notes.setdefault(path, set())


def settle(w: Writing) -> None:
    """At the end of a write that changed notes: one revision for all of them. Whoever sees it sees
    everything up to it, because the next one waits for this write."""
    for path, superseded in sorted(w.changed_notes.items()):
        for id in sorted(superseded):
            _succeed(w, path, id)
    stamp = partitions.bump(w.connection, w.space, [partitions.NOTES])[partitions.NOTES]
    of = {"b_space": w.space, "b_stamp": stamp}
    w.connection.execute(_STAMP, [of | {"b_path": path} for path in sorted(w.changed_notes)])
    w.changed_notes.clear()


def _succeed(w: Writing, path: str, id: str) -> None:
    """What took its place takes its place here too, if it has the same home. The old one keeps its
    row: should the new one be reverted, it stands where it stood."""
    row = _home(w, id)
    after = None if row is None or row.superseded_by is None else _home(w, row.superseded_by)
    if row is None or after is None or not _same_home(w, row, after):
        return
    params = {"space": w.space, "path": path, "old": id, "new": row.superseded_by}
    rendered.run(w.connection, [(_PLACE, params)])
    one = update(notes).where(_N.space_id == w.space, _N.path == path, _N.summary_id == id)
    w.connection.execute(one.values(summary_id=row.superseded_by))


def _home(w: Writing, id: str) -> Any:
    one = select(_M.owner, _M.learned_in, _M.superseded_by)
    return w.connection.execute(one.where(_M.space_id == w.space, _M.id == id)).first()


def _same_home(w: Writing, before: Any, after: Any) -> bool:
    if before.owner is None or after.owner is None:
        return bool(before.owner == after.owner and before.learned_in == after.learned_in)
    return after.owner in around(w.connection, w.space, [before.owner]).current_identities(
        before.owner
    )


def pages(names: Collection[str]) -> list[list[str]]:
    """Lists that a statement can take."""
    todo = sorted(names)
    return [todo[at : at + _AT_ONCE_COUNT] for at in range(0, len(todo), _AT_ONCE_COUNT)]
