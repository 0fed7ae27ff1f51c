"""The schema of a graph's steps: what LangGraph calls checkpoints, for the person they were made
with. Nothing here is a memory: no recall reads it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, text

from tacit.store.columns import metadata, time, words

# Whose they are, and where: in private `place` is empty, else it is the chat. A thread is one
# run of conversation, and each subgraph in it has a namespace of its own.
_WHERE = ("space_id", "person", "place", "thread", "ns")
_ELSEWHERE = text("place <> ''")


def _whose() -> list[Column[str]]:
    return [words(name) for name in _WHERE]


def _sealed() -> list[Column[Any]]:
    """In front of whom, by an agent that may use what, and when. All of them are asked of each
    row, so that no row tells more than the step it belongs to."""
    return [
        words("heard", null=True),  # the set of people who were there, in audience_people
        words("categories", null=True),  # JSON list, if the agent may not use everything
        time("saved_at"),
    ]


def _by_place(name: str) -> Index:
    columns = ("space_id", "place", "person", "thread", "heard")
    return Index(name, *columns, sqlite_where=_ELSEWHERE, postgresql_where=_ELSEWHERE)


# The state of a graph after a step, without the values of its channels.
graph_steps = Table(
    "graph_steps",
    metadata,
    *_whose(),
    words("id"),  # sorts by time, as LangGraph makes them
    words("parent", null=True),
    words("type"),  # how `data` is written, as its serializer says
    words("run", null=True),
    *_sealed(),
    words("metadata"),  # JSON
    words("versions"),  # JSON: channel → version, which lead to graph_values
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_WHERE, "id"),
    Index(
        "ix_graph_steps_run",
        "space_id",
        "run",
        "person",
        sqlite_where=text("run IS NOT NULL"),
        postgresql_where=text("run IS NOT NULL"),
    ),
    _by_place("ix_graph_steps_place"),
)

# The value of a channel, once for all steps that it did not change in.
graph_values = Table(
    "graph_values",
    metadata,
    *_whose(),
    words("channel"),
    words("version"),
    words("type"),
    *_sealed(),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_WHERE, "channel", "version"),
    _by_place("ix_graph_values_place"),
)

# What a task wrote after a step, before the next one was made of it.
graph_writes = Table(
    "graph_writes",
    metadata,
    *_whose(),
    words("step"),
    words("task"),
    Column("idx", Integer, nullable=False),
    words("path"),  # of the task, by which its writes are put in order
    words("channel"),
    words("type"),
    *_sealed(),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*_WHERE, "step", "task", "idx"),
    _by_place("ix_graph_writes_place"),
)
