"""What SQLite and PostgreSQL do differently, and the full-text document both index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Connection, Insert, Select, Table, TextClause
from sqlalchemy.exc import DBAPIError

from tacit import limits
from tacit.policy.predicate import AccessPath
from tacit.records.memory import Memory
from tacit.records.text import index_terms, join_neighbors, key_words
from tacit.storage.statements import Statement

# A memory as the full-text indexes have it: its words for all who search, and each once more
# behind a token of its owner. By those the beginning of a word is looked for among one person's
# memories, and what others wrote, however much it is, costs nothing.

_TOKEN_CHARS = 8  # two owners with the same token cost a little: their rows are told apart anyway


class FtsDocument(NamedTuple):
    words: list[str]
    owner_words: list[str]


def fts_document(memory: Memory) -> FtsDocument:
    owner = None if memory.is_turn else memory.owner
    return build_fts_document(memory.space, owner, memory.content, memory.key)


def build_fts_document(
    space: str, owner: str | None, content: str, key: str | None = None
) -> FtsDocument:
    """`owner`: None also for a turn, which is not searched like this."""
    words = index_terms(content)
    if key is not None:
        parts = key_words(key)
        words += index_terms(" ".join([*parts, *join_neighbors(parts)]))
    if owner is None:
        return FtsDocument(words, [])
    token = fts_owner_token(space, owner)
    return FtsDocument(words, [token + word for word in words])


def fts_lexemes(words: FtsDocument) -> list[str]:
    """Both in one column: those behind their owner's token begin as no word does."""
    return sorted({*words.words, *(f"_{word}" for word in words.owner_words)})


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def fts_owner_token(space: str, owner: str) -> str:
    """Of plain letters, whatever the name holds."""
    return "x" + hashlib.sha256(f"{space}\n{owner}".encode()).hexdigest()[:_TOKEN_CHARS]


# What the two databases do differently, behind one small interface. Everything else is shared.

DIALECT_OPTION = "tacit_dialect"


class EqualByType:
    """Statements are kept for each dialect. Two of a kind build the same ones, however many
    databases a process opens."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class Dialect(Protocol):
    name: str

    def __hash__(self) -> int: ...

    one_writer: bool
    vector_in: str  # a vector as a statement takes it
    vector_out: str  # and as it gives it
    has_notify: bool  # a commit can wake the workers of other processes
    defers_fts_index: bool  # they are indexed when somebody searches by them: see `words.py`
    plans_go_stale: bool  # a statement keeps the plan that was made when the tables were empty
    read_options: Mapping[str, Any]
    write_options: Mapping[str, Any]  # with itself under OPTION
    bare_options: Mapping[str, Any]  # outside any transaction

    def is_busy(self, error: DBAPIError) -> bool:
        """Whether trying the whole transaction again may help."""

    def lock_for_migration(self, connection: Connection) -> None:
        """Hold off every other process that starts at the same time, until the transaction ends."""

    def insert_missing(
        self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Insert those rows whose primary key is new."""

    def insert_missing_statement(self, table: Table) -> Insert:
        """The statement that does so, to be filled with rows or with a query."""

    def lock_space(self, connection: Connection, space: str) -> None:
        """For a change of people, links or chats: wait for writes that rely on them."""

    def lock_space_shared(self, statement: Select[Any]) -> Select[Any]:
        """For a write: the selected space's people, links and chats stay as they are."""

    def acquire_lock(self, connection: Connection, what: str) -> None:
        """Wait for another transaction that is doing the same thing at this moment."""

    def lock_memory(self, statement: Select[Any]) -> Select[Any]:
        """Hold the selected memory until the transaction ends."""

    def notify_workers(self, connection: Connection) -> None:
        """Wake the workers of every process when this transaction commits."""

    def insert_memory_statements(self, row: Mapping[str, Any], content: str) -> list[Statement]:
        """A new row of `memories`, with its words or with a note that they are to be indexed."""

    def reindex_words(self, connection: Connection, memory: Memory, doors: str) -> None:
        """Its words, or its doors, have changed."""

    def unindex_words(self, connection: Connection, space: str, ids: Sequence[str]) -> None: ...

    def unindex_space(self, connection: Connection, space: str) -> None: ...

    def word_match_condition(self, door: AccessPath) -> ColumnElement[bool]:
        """On memories: contains at least one of the words, and lies behind this door."""

    def word_match_params(
        self, words: Sequence[str], doors: Mapping[AccessPath, Callable[[], Sequence[str] | None]]
    ) -> dict[str, str]:
        """What `has_words` takes as parameters: no word acts as an operator."""

    def prefix_match_ids(self) -> TextClause:
        """From the index: the ids of a space in which each of some beginnings begins a word."""

    def prefix_match_condition(self, count: int) -> TextClause:
        """On memories: the same of so many beginnings, asked of what something else leads to."""

    def prefix_match_params(self, begun: Sequence[str], owner: str | None) -> dict[str, str]:
        """What these two take as parameters, for words as `terms.begun` spells them: letters and
        digits alone. `owner`: the token of the one whose memories are searched; None: everybody's.
        """

    def encode_vector(self, vector: bytes) -> Any:
        """float32, little-endian, as the parameter of `vector_in`."""

    def decode_vector(self, sent: bytes) -> bytes:
        """The same of what `vector_out` gives."""

    def index_vectors(self, connection: Connection) -> list[str]:
        """Where there are many vectors of a model, an index that leads to the nearest. Says what
        it did."""

    def vector_distance(self, dimension: int) -> TextClause | None:
        """On vectors: how far each is from the one asked for; None where rows are compared in the
        process alone."""

    def prepare_vector_search(self, connection: Connection) -> None:
        """Before a search by nearness."""

    def vector_distance_params(self, vector: bytes) -> dict[str, bytes]:
        """What `nearness` takes as parameters."""

    remains_after_scrub: str  # what files may hold after it, as in `erasures.remains`

    def rewrite(self, connection: Connection) -> str | None:
        """Make the files of every table and index anew. Returns what is left, as in
        `erasures.remains`; None where it cannot be shown that no page holds deleted rows."""

    def track_wal(self, connection: Connection, remains: str) -> str:
        """What is left by now, where the write-ahead log was left before."""

    def logs_parameters(self, connection: Connection) -> bool:
        """Whether the server writes the values of statements to log files of its own."""

    def scrub(self, connection: Connection) -> bool:
        """After rows were erased: leave no trace of them. False where somebody is in the way."""

    def check(self, connection: Connection) -> list[str]:
        """What is broken in the files or indexes; empty when all is well."""

    def analyze(self, connection: Connection) -> None:
        """Refresh the figures the query planner works from."""

    def compact(self, connection: Connection) -> None:
        """Give back the room that deleted rows took."""


def dialect_of(connection: Connection) -> Dialect:
    """The dialect of a connection that writes."""
    found: Dialect = connection.get_execution_options()[DIALECT_OPTION]
    return found
