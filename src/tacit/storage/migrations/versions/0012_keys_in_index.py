"""The words of a key find its value: index and embed what was kept under keys again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tacit.storage.dialect import build_fts_document, fts_lexemes

revision = "0012"
down_revision = "0011"

_WORDS = """
    CREATE VIRTUAL TABLE search_words
        USING fts5 (content, doors, own, tokenize = 'ascii', detail = column, columnsize = 0)
"""
_AT_ONCE_COUNT = 1_000
_NEXT = sa.text(
    "SELECT space_id, id, owner, content, key FROM memories "
    "WHERE (space_id, id) > (:space, :id) AND key IS NOT NULL "
    "ORDER BY space_id, id LIMIT :most"
)
_SET = sa.text(
    "UPDATE memories SET words = array_to_tsvector(CAST(:words AS text[])) "
    "WHERE space_id = :space AND id = :id"
)
_UNMARK = """
    DELETE FROM embedded WHERE EXISTS (
        SELECT 1 FROM memories m WHERE m.space_id = embedded.space_id AND m.key IS NOT NULL
    )
"""
_DROP_VECTORS = """
    DELETE FROM vectors WHERE EXISTS (
        SELECT 1 FROM memories m
        WHERE m.space_id = vectors.space_id AND m.id = vectors.memory_id AND m.key IS NOT NULL
    )
"""


def upgrade() -> None:
    # The vectors are made again in the background; until then the words find these memories.
    op.execute(_UNMARK)
    op.execute(_DROP_VECTORS)
    if op.get_bind().dialect.name == "sqlite":
        # Empty: the first search fills it.
        op.execute("DROP TABLE search_words")
        op.execute(_WORDS)
    else:
        _index_keyed(op.get_bind())


def _index_keyed(connection: sa.Connection) -> None:
    space = id = ""
    while True:
        params = {"space": space, "id": id, "most": _AT_ONCE_COUNT}
        rows = connection.execute(_NEXT, params).all()
        if not rows:
            return
        connection.execute(
            _SET,
            [
                {
                    "space": row.space_id,
                    "id": row.id,
                    "words": fts_lexemes(
                        build_fts_document(row.space_id, row.owner, row.content, row.key)
                    ),
                }
                for row in rows
            ],
        )
        space, id = rows[-1].space_id, rows[-1].id
