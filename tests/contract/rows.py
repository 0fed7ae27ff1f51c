"""The rows behind a memory, for what no word of the public API does or tells."""

from typing import Any

from sqlalchemy import text

from tacit.memory import Memory


def rows(memory: Memory, statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with memory._storage.database.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement), values)]


def set_state(memory: Memory, id: str, state: str) -> None:
    """States that a later stage gives."""
    statement = text("UPDATE memories SET state = :state WHERE id = :id")
    memory._storage.database.write(lambda c: c.execute(statement, {"state": state, "id": id}))
