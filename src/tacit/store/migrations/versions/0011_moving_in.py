"""Moving in: data that goes with a memory, the steps of graphs, and what came out of another memory."""

from __future__ import annotations

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    pass
