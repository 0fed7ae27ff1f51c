"""What the files of the database still hold of an erasure; empty where it is not known yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("erasures", sa.Column("remains", sa.Text(), nullable=True))
