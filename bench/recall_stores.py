"""Big stores with vectors: one person's, a group's and everybody else's, for measuring recall.

Memories are filled in as bench/filling.py does. Their vectors, and the revisions that guard what is
kept at hand in a process, are added here, past the public API.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import make_url

import tacit
from bench.crowd import Group, Memo, mixed, one_group, one_person, others
from bench.filling import SPACE
from bench.listing import fill
from bench.vectors import Vectors
from tacit.embeddings.embedder import Embedder
from tacit.storage.spaces import audience_path, chat_path, person_path

ALICE = 1_001
ALICE_COUNT = 1_000
LINKER = 3_001  # has as many as edges are measured at
GROUP = Group("telegram:-50", tuple(range(2_001, 2_031)))
GROUP_EACH_COUNT = 2_000
POOL_COUNT = 1_024

_PEOPLE_PER_MEMORY = 1_000  # the others are a thousandth as many as their memories, at least ten
# Everything that leads to a memory, as tacit.storage.spaces names it.
_DOORS = (
    f"SELECT space_id, '{person_path('')}' || id AS access_path FROM subjects "
    f"UNION SELECT space_id, '{chat_path('')}' || id FROM chats "
    f"UNION SELECT space_id, '{audience_path('')}' || audience FROM audience_people"
)
# No memory has changed since: every door is as new as the newest of them.
_REVISIONS = (
    "INSERT INTO revisions (space_id, access_path, rev, cleared_rev) "
    "SELECT d.space_id, d.access_path, r.rev, r.rev "
    f"FROM ({_DOORS}) d, (SELECT max(stamp) AS rev FROM memories) r "
    "WHERE true ON CONFLICT DO NOTHING"
)
# Whoever opens the store need not look for vectors that are missing.
_COMPLETE = (
    "INSERT INTO embedded_spaces (space_id, model, done_at) SELECT space_id, %s, 1 FROM spaces "
    "WHERE true ON CONFLICT DO NOTHING"
)
_HOME = f"coalesce('{person_path('')}' || m.owner, '{chat_path('')}' || m.learned_in, '')"


def everybody(size: int, *, group: bool) -> Iterator[Memo]:
    """Alice, the others up to this size, and the group on top."""
    left = size - ALICE_COUNT
    parts = [(ALICE_COUNT, one_person(ALICE, ALICE_COUNT))]
    if left > 0:
        people = max(10, left // _PEOPLE_PER_MEMORY // 10 * 10)
        parts.append((left, others(left, people)))
    if group:
        count = len(GROUP.members) * GROUP_EACH_COUNT
        parts.append((count, one_group(GROUP, GROUP_EACH_COUNT)))
    return mixed(*parts)


def pool(dimension: int) -> Vectors:
    """Random directions that memories share, some hundred times each in a store of a million."""
    found = np.random.default_rng(11).standard_normal((POOL_COUNT, dimension)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def build(url: str, memos: Iterator[Memo], embedder: Embedder, *, embedded: int | None) -> None:
    """Fill a store. The memories of the person with this number get vectors of their own words."""
    fill(url, memos)
    place(url, embedder.name, pool(embedder.dimension))
    if embedded is not None:
        texts = _texts(url, f"ext:telegram:{embedded}")
        vectors = embedder.embed(list(texts.values()))
        replace(url, dict(zip(texts, vectors, strict=True)))
    os.sync()  # or whoever writes next waits for what the disk still has to do


def place(url: str, model: str, directions: Vectors) -> None:
    """A vector for every memory that has none, and a revision for everything that leads to one."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        assert parsed.database is not None
        _place_in_sqlite(Path(parsed.database), model, directions)
    else:
        _place_in_postgres(url, model, directions)


def _place_in_sqlite(path: Path, model: str, directions: Vectors) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")  # a store that lasts for one run
    connection.execute("PRAGMA cache_size = -1000000")
    connection.execute("BEGIN")
    connection.execute(_REVISIONS)
    blobs = [row.tobytes() for row in directions]
    # In the order of the table, which is kept sorted by home: much faster than in any other.
    rows = connection.execute(
        f"SELECT m.space_id, {_HOME} AS home, m.id FROM memories m "
        "LEFT JOIN vectors v ON v.space_id = m.space_id AND v.memory_id = m.id "
        "WHERE v.memory_id IS NULL ORDER BY 1, 2, 3"
    ).fetchall()
    connection.executemany(
        "INSERT INTO vectors (space_id, home_path, memory_id, model, vector) VALUES (?, ?, ?, ?, ?)",
        ((*row, model, blobs[n % len(blobs)]) for n, row in enumerate(rows)),
    )
    connection.execute(_COMPLETE.replace("%s", "?"), (model,))
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _place_in_postgres(url: str, model: str, directions: Vectors) -> None:
    with _postgres(url) as connection:
        connection.execute(_REVISIONS)
        connection.execute("CREATE TEMP TABLE pool (n integer PRIMARY KEY, vector vector)")
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO pool VALUES (%s, %s)", [(n, _written(row)) for n, row in enumerate(directions)]
            )
        connection.execute(
            "INSERT INTO vectors (space_id, home_path, memory_id, model, vector) "
            f"SELECT m.space_id, {_HOME}, m.id, %s, pool.vector FROM memories m "
            f"JOIN pool ON pool.n = abs(hashtext(m.id) %% {len(directions)}) "
            "ON CONFLICT DO NOTHING",
            (model,),
        )
        connection.execute(_COMPLETE, (model,))
        connection.execute("VACUUM (ANALYZE)")


def replace(url: str, vectors: Mapping[str, Vectors]) -> None:
    """Other vectors for these memories, by id."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        with sqlite3.connect(str(parsed.database)) as file:
            file.executemany(
                f"UPDATE vectors SET vector = ? WHERE space_id = '{SPACE}' AND memory_id = ?",
                [(vector.tobytes(), id) for id, vector in vectors.items()],
            )
        file.close()
        return
    with _postgres(url) as connection, connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE vectors SET vector = %s WHERE space_id = '{SPACE}' AND memory_id = %s",
            [(_written(vector), id) for id, vector in vectors.items()],
        )


def edge_count(url: str) -> int:
    parsed = make_url(url)
    count = "SELECT count(*) FROM relations"
    if parsed.get_backend_name() == "sqlite":
        file = sqlite3.connect(str(parsed.database))
        (found,) = file.execute(count).fetchone()
        file.close()
    else:
        with _postgres(url) as connection:
            (found,) = connection.execute(count).fetchone()
    return int(found)


def _texts(url: str, owner: str) -> dict[str, str]:
    """The words of one person's memories, by id."""
    key = owner.removeprefix("ext:")
    with tacit.open(url, embedder=None) as memory:
        view = memory.view(tacit.Requester(key), tacit.Chat.private(key))
        found: dict[str, str] = {}
        cursor: str | None = None
        while True:
            page = view.list(limit=500, cursor=cursor)
            found |= {one.id: one.content for one in page}
            cursor = page.cursor
            if cursor is None:
                return found


def _postgres(url: str) -> Any:
    import psycopg

    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True)


def _written(vector: Vectors) -> str:
    return "[" + ",".join(f"{number:.9g}" for number in vector) + "]"
