"""Create all tables. Each database has its own file of SQL beside this one."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0100"
down_revision = None


def upgrade() -> None:
    connection = op.get_bind()
    script = Path(__file__).with_name(f"0100_{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for statement in script.split(";\n"):
        if statement.strip():
            connection.exec_driver_sql(statement)
