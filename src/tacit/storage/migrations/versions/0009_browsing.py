"""Looking through memories: indexes that hold every filter, and words by how they begin."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tacit.storage.dialect import build_fts_document, fts_lexemes

revision = "0009"
down_revision = "0008"

_BROWSED = (
    "state", "expires_at", "category", "kind", "visibility", "sensitivity", "pinned", "learned_in",
)  # fmt: skip
_WORDS = """
    CREATE VIRTUAL TABLE search_words
        USING fts5 (content, doors, own, tokenize = 'ascii', detail = column, columnsize = 0)
"""
_AT_ONCE_COUNT = 1_000
_NEXT = sa.text(
    "SELECT space_id, id, owner, is_turn, content FROM memories "
    "WHERE (space_id, id) > (:space, :id) ORDER BY space_id, id LIMIT :most"
)
_SET = sa.text(
    "UPDATE memories SET words = array_to_tsvector(CAST(:words AS text[])) "
    "WHERE space_id = :space AND id = :id"
)


def upgrade() -> None:
    op.drop_index("ix_memories_owner", "memories")
    lead = ["space_id", "owner", "is_turn", "created_at", "id"]
    op.create_index("ix_memories_owner", "memories", [*lead, *_BROWSED])
    op.create_index(
        "ix_memories_created",
        "memories",
        ["space_id", "created_at", "id", *_BROWSED],
        sqlite_where=sa.text("is_turn IS 0 AND version > 0"),
        postgresql_where=sa.text("is_turn IS false AND version > 0"),
    )
    if op.get_bind().dialect.name == "sqlite":
        # Empty: whoever searches first has it filled.
        op.execute("DROP TABLE search_words")
        op.execute(_WORDS)
    else:
        _index_anew(op.get_bind())


def _index_anew(connection: sa.Connection) -> None:
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
                        build_fts_document(
                            row.space_id, None if row.is_turn else row.owner, row.content
                        )
                    ),
                }
                for row in rows
            ],
        )
        space, id = rows[-1].space_id, rows[-1].id
