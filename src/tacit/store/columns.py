"""The columns that tables are made of. Times are whole microseconds since 1970, in UTC."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, ForeignKeyConstraint, MetaData, Text

metadata = MetaData()


def words(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def time(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def of_memory() -> Any:
    """Rows that live and die with their memory."""
    return ForeignKeyConstraint(
        ["space_id", "memory_id"], ["memories.space_id", "memories.id"], ondelete="CASCADE"
    )
