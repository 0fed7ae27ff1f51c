"""When the last turn of a requester was read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("learning_days", sa.Column("last_turn_at", sa.BigInteger(), nullable=True))
