"""Notes that go with what was erased, and the hashes that are left of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update

from tacit.clock import to_micros
from tacit.records.notes import NoteKind
from tacit.store import rendered
from tacit.store.ids import digest
from tacit.store.noted import pages, touch
from tacit.store.tables import note_files, note_items, notes, tombstones
from tacit.store.writes import Writing

_N = notes.c
_I = note_items.c
_F = note_files.c
_SPACE: Any = bindparam("space")
_PATHS: Any = bindparam("paths", expanding=True)
_TOMBSTONE = select(tombstones.c.digest).where(
    tombstones.c.space_id == _SPACE, tombstones.c.digest == bindparam("digest")
)
_BARE = delete(notes).where(
    _N.space_id == _SPACE,
    _N.path.in_(_PATHS),
    _N.kind == NoteKind.SESSION.value,
    _N.summary_id.is_(None),
    ~select(_I.path).where(_I.space_id == _N.space_id, _I.path == _N.path).exists(),
)


def summed_up(w: Writing, paths: Collection[str]) -> set[str]:
    """The summaries of these notes: they were made of what stood there, in its words."""
    found: set[str] = set()
    for some in pages(paths):
        heads = select(_N.summary_id).where(_N.space_id == w.space, _N.path.in_(some))
        found |= {id for id in w.connection.execute(heads).scalars() if id is not None}
    return found


def bared(w: Writing, paths: Collection[str]) -> int:
    """After an erasure: sessions of which nothing is left go, with their links. Their files are
    still known, and so will be removed. Says how many went."""
    count = 0
    for some in pages(paths):
        count += w.connection.execute(_BARE, {"space": w.space, "paths": some}).rowcount
    return count


def tombstoned(w: Writing, name: str) -> bool:
    """Whether a memory of this id was erased, or a note of this path, with whom it was about."""
    params = {"space": w.space, "digest": digest(w.secret, name)}
    return bool(rendered.rows(w.connection, _TOMBSTONE, params))


def take(w: Writing, subjects: Collection[str], chats: Collection[str] = ()) -> Counter[str]:
    """With a person go their notes, and what is known of the files: hashes of the paths are left,
    so that nobody reads such a file again. Says how many rows went, by table."""
    paths: set[str] = set()
    for n in (_N, _F):
        whose = or_(n.subject.in_(sorted(subjects)), n.chat.in_(sorted(chats)))
        theirs = select(n.path).where(n.space_id == w.space, whose)
        paths |= set(w.connection.execute(theirs).scalars())
    counts: Counter[str] = Counter()
    for some in pages(paths):
        rows = [
            {
                "space_id": w.space,
                "digest": digest(w.secret, path),
                "erased_at": to_micros(w.at),
                "actor": w.actor if w.actor.startswith("operator:") else "",
                "scrubbed": False,
            }
            for path in some
        ]
        w.dialect.insert_missing(w.connection, tombstones, rows)
        for table, column in ((note_items, _I.path), (note_files, _F.path), (notes, _N.path)):
            gone = delete(table).where(table.c.space_id == w.space, column.in_(some))
            counts[table.name] += w.connection.execute(gone).rowcount
    named = (_N.space_id == w.space, _N.contact_id.in_(sorted(subjects)))
    met = list(w.connection.execute(select(_N.path).where(*named)).scalars())
    unnamed = update(notes).where(*named).values(contact_id=None, contact_nickname=None)
    w.connection.execute(unnamed)
    touch(w, {*paths, *met})
    return counts
