"""Define what SQLite and PostgreSQL do differently, and the full-text document of both."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Executable, TextClause
from sqlalchemy.exc import DBAPIError

from tacit import limits
from tacit.policy.rules import AccessPath
from tacit.records.memory import Memory
from tacit.text import index_terms, join_neighbors, key_words

Statement = tuple[Executable, Mapping[str, Any]]  # a statement and its parameters

# The full-text document of a memory: its words for all searches, and each word again with a prefix
# token of its owner. A prefix search in one person's memories uses those, so its cost does not
# depend on the memories of others.

_TOKEN_CHARS = 8  # a collision costs little: rows are filtered by owner anyway


class FtsDocument(NamedTuple):
    words: list[str]
    owner_words: list[str]


def fts_document(memory: Memory) -> FtsDocument:
    owner = None if memory.is_turn else memory.owner
    return build_fts_document(memory.space, owner, memory.content, memory.key)


def build_fts_document(space: str, owner: str | None, content: str, key: str | None = None) -> FtsDocument:
    """Build a document; `owner` is None for a turn, too, which has no prefix search."""
    words = index_terms(content)
    if key is not None:
        parts = key_words(key)
        words += index_terms(" ".join([*parts, *join_neighbors(parts)]))
    if owner is None:
        return FtsDocument(words, [])
    token = fts_owner_token(space, owner)
    return FtsDocument(words, [token + word for word in words])


def fts_lexemes(words: FtsDocument) -> list[str]:
    """Merge both word lists into one column; owner words get a prefix that no word has."""
    return sorted({*words.words, *(f"_{word}" for word in words.owner_words)})


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def fts_owner_token(space: str, owner: str) -> str:
    """Hash an owner into one ASCII word."""
    return "x" + hashlib.sha256(f"{space}\n{owner}".encode()).hexdigest()[:_TOKEN_CHARS]


# The differences of the two databases, as one small interface. All other code is shared.


class Dialect(ABC):
    """What a database does differently. Each has one instance, because statements are cached by it."""

    name: str
    one_writer = True
    has_notify = False  # a commit can wake the workers of other processes
    defers_fts_index = True  # a search indexes pending documents first: see `search.py`
    plans_go_stale = False  # a prepared statement keeps its plan for empty tables
    remains_after_scrub = ""  # what files may hold after `scrub`, as in `erasures.remains`
    vector_in: str  # SQL expression of a vector parameter
    vector_out: str  # SQL expression that selects a vector
    read_options: Mapping[str, Any]
    write_options: Mapping[str, Any]
    bare_options: Mapping[str, Any]  # outside any transaction

    @abstractmethod
    def is_busy(self, error: DBAPIError) -> bool:
        """Return whether a retry of the whole transaction may succeed."""

    def lock_for_migration(self, connection: Connection) -> None:  # noqa: B027
        """Block every other process that starts at the same time, until the transaction ends."""

    def acquire_lock(self, connection: Connection, what: str) -> None:  # noqa: B027
        """Wait for concurrent transactions that hold the lock of this name."""

    @abstractmethod
    def notify_workers(self, connection: Connection) -> None:
        """Wake the workers of every process when this transaction commits."""

    @abstractmethod
    def insert_memory_statements(self, row: Mapping[str, Any], content: str) -> list[Statement]:
        """Build the inserts of a memory, with its document or a pending index entry."""

    @abstractmethod
    def reindex_words(self, connection: Connection, memory: Memory, paths: str) -> None:
        """Update the document after a change of the memory's words or access paths."""

    def unindex_words(self, connection: Connection, space: str, ids: Sequence[str]) -> None:  # noqa: B027
        """Delete the documents of these memories, if they do not go with their rows."""

    def unindex_space(self, connection: Connection, space: str) -> None:  # noqa: B027
        """Delete the documents of a space, if they do not go with their rows."""

    @abstractmethod
    def word_match_condition(self, path: AccessPath) -> ColumnElement[bool]:
        """Match memories that contain at least one of the words and have this access path."""

    @abstractmethod
    def word_match_params(
        self, words: Sequence[str], paths: Mapping[AccessPath, Callable[[], Sequence[str] | None]]
    ) -> dict[str, str]:
        """Return the parameters of `word_match_condition`; no word acts as an operator."""

    @abstractmethod
    def prefix_match_ids(self) -> TextClause:
        """Select from the index the ids of a space where each prefix begins a word."""

    @abstractmethod
    def prefix_match_condition(self, count: int) -> TextClause:
        """Test memories that another condition found for words with each of `count` prefixes."""

    @abstractmethod
    def prefix_match_params(self, begun: Sequence[str], owner: str | None) -> dict[str, str]:
        """Return the parameters of both prefix matches.

        Prefixes consist of letters and digits only. `owner` is the token of the owner whose
        memories are searched; None for all owners.
        """

    @abstractmethod
    def encode_vector(self, vector: bytes) -> bytes:
        """Encode float32, little-endian, as the parameter of `vector_in`."""

    @abstractmethod
    def decode_vector(self, sent: bytes) -> bytes:
        """Decode a value of `vector_out` to float32, little-endian."""

    def index_vectors(self, connection: Connection) -> list[str]:  # noqa: ARG002
        """Create a nearest-neighbor index for each model with many vectors; report the actions."""
        return []

    def vector_distance(self, dimension: int) -> TextClause | None:  # noqa: ARG002
        """Build the distance to the vector `n_vector`; None if only the process compares vectors."""
        return None

    def prepare_vector_search(self, connection: Connection) -> None:  # noqa: B027
        """Set the session options of a nearest-neighbor search."""

    @abstractmethod
    def rewrite(self, connection: Connection) -> str | None:
        """Rewrite the files of every table and index, and return the remains.

        The remains are as in `erasures.remains`; None if a page may still hold deleted rows.
        """

    def track_wal(self, connection: Connection, remains: str) -> str:  # noqa: ARG002
        """Return what remains now, if the write-ahead log remained before."""
        return remains

    def logs_parameters(self, connection: Connection) -> bool:  # noqa: ARG002
        """Return whether the server writes statement parameters to its log files."""
        return False

    @abstractmethod
    def scrub(self, connection: Connection) -> bool:
        """Remove all traces of erased rows; False if another transaction prevents it."""

    @abstractmethod
    def check(self, connection: Connection) -> list[str]:
        """List defects of files or indexes; empty if there are none."""

    @abstractmethod
    def analyze(self, connection: Connection) -> None:
        """Refresh the statistics of the query planner."""

    @abstractmethod
    def compact(self, connection: Connection) -> None:
        """Free the disk space of deleted rows."""
