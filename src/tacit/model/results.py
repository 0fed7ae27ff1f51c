"""What the public API answers with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from tacit.model.memory import Memory
from tacit.model.upkeep import Certificate
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
class Signals:
    """What raised one memory, before weighting: from 0 to 1, and below 0 where it lowers."""

    words: float = 0.0  # its own words, by BM25 over what the requester may hear
    around: float = 0.0  # its words together with those of the turns before and after it
    meaning: float = 0.0  # the cosine of its vector with the question's
    person: float = 0.0  # it is about, or was said by, somebody the question names
    own: float = 0.0  # it tells of the requester what they ask about themselves
    time: float = 0.0  # it says when, or is from the time that the question names
    related: float = 0.0  # the strength of its relation to something else that was found
    importance: float = 0.0
    recency: float = 0.0
    pinned: float = 0.0
    trust: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory that came to mind, how strongly, why, and the rule that lets it be said."""

    memory: Memory
    score: float  # ranks what came to mind for one question; from 0 to about 1, of `own` to 2
    why: str  # a sentence
    rule: str
    similarity: float = 0.0  # from 0 to 1, whatever else there is; what `threshold` compares with
    signals: Signals = field(default_factory=Signals)
    related: tuple[Memory, ...] = ()  # what else is known beside it, as far as it may be said


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One line for a prompt, with the record behind it where that was asked for."""

    id: str
    category: str
    text: str
    related: bool = False  # not asked for, but related to what was
    recalled: Recalled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Text for the cached beginning of a prompt."""

    text: str = ""
    revision: int = 0  # hand it to `delta` or `fresh` to hear what changed since
    ids: tuple[str, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)  # how many of a category did not fit
    tokens: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """Text for the part of a prompt that is new each turn."""

    text: str = ""
    revision: int = 0
    recalled: tuple[Recalled, ...] = ()
    tokens: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Turns of a conversation that were kept, in order; none of them, from a disabled view. What
    the speaker asked not to remember has no id."""

    ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Turns that wait to be learned; none of them, from a disabled view."""

    turns: int = 0
    refused: tuple[str, ...] = ()  # kinds of secrets; the messages that held them were not queued

    def __bool__(self) -> bool:
        return self.turns > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A memory that is better updated than joined by another one."""

    id: str
    content: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something that is kept if you say yes."""

    id: str
    content: str
    reason: str
    replaces: str | None  # the memory that would give way
    created_at: datetime
    expires_at: datetime
    widens: bool = False  # it is kept already: a yes lets others hear it, so no model may give it


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What was accepted in a space and is not learned yet."""

    turns: int = 0
    parked: int = 0  # tried often enough; `Memory.retry_learning` tries again
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a message on its way to memory."""

    stage: str  # screen | extract | verify | classify | attribute | reconcile | consent | kept
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """Something that was set aside: where it came from and why, and not what it says."""

    id: str
    owner: str | None
    chat: str | None
    message: str | None
    agent: str | None
    role: str | None
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """What went, or in a dry run would go, with everything that was learned from one source."""

    forgotten: int = 0  # memories; restorable
    reworded: int = 0  # memories that have their earlier wording back, as a new version
    restored: int = 0  # memories that had been replaced, and stand again
    proposals: int = 0  # that waited for somebody's yes
    turns: int = 0  # that were accepted and not learned yet
    recorded: int = 0  # turns that were kept as they were said; gone, where a person unlearns

    def __bool__(self) -> bool:
        done = (self.forgotten, self.reworded, self.restored, self.proposals, self.turns)
        return any((*done, self.recorded))


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Which model makes the vectors, and how many memories have one of its."""

    model: str | None  # None: recall goes by words alone
    dimension: int
    done: int
    total: int
    running: bool

    @property
    def complete(self) -> bool:
        return self.model is None or self.done >= self.total


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
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What changed in a thread since a revision, as far as the requester may hear it."""

    revision: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was removed for good. No query finds it. `complete` is false while files of the database
    may still hold its bytes: `certificate.pending` says which, and how that ends."""

    count: int
    complete: bool
    certificate: Certificate | None = None  # None where there was nothing to remove


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
    pending: tuple[str, ...] = ()  # erasures whose bytes may still be in files, and how that ends

    @property
    def healthy(self) -> bool:
        return not self.problems
