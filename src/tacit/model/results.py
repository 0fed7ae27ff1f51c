"""What the public API answers with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from tacit.model.memory import Memory
from tacit.model.words import State

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A write that was done; or, from a disabled view, one that was not: then it is false."""

    id: str  # empty where nothing was done
    state: State | None
    version: int
    created: bool  # a new memory, as against a new version of one
    supersedes: str | None = None  # the memory this one replaced, where the requester may know it

    def __bool__(self) -> bool:
        return bool(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of a list; hand `cursor` back for the next ones, until it is None."""

    items: tuple[T, ...] = ()
    cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory that came to mind, how strongly, why, and the rule that lets it be said."""

    memory: Memory
    score: float
    why: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Whether one memory may be said in one chat."""

    allowed: bool
    rule: str  # as in the disclosure rules
    says: str  # the rule in plain words


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One bullet of a delta. A deletion carries no content."""

    revision: int
    event: str  # created | updated | deleted | restored | superseded | merged
    memory_id: str
    category: str | None
    content: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What changed in a thread since a revision, as far as the requester may hear it."""

    revision: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was removed for good. `complete` is false while somebody else, who began to read before,
    still holds the old bytes; `tacit maintain` finishes then."""

    count: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    created: int = 0
    skipped: int = 0  # already here, or no longer active when it was exported
    refused: tuple[str, ...] = ()  # one line for each bad line: its number and what was wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts only: nothing here says what or about whom."""

    memories: int = 0
    by_state: dict[str, int] = field(default_factory=dict)
    by_kind: dict[str, int] = field(default_factory=dict)
    by_category: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """What `maintain` found and did."""

    problems: tuple[str, ...]
    did: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems
