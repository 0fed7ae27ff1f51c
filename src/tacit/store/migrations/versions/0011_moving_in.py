"""Moving in: data that goes with a memory, the steps of graphs, and what came out of other
memories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    _add_data()


def _add_data() -> None:
    op.add_column("memories", sa.Column("data", sa.Text(), nullable=True))
