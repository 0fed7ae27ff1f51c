"""Records that the public API returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from tacit.records.accounts import Person
from tacit.records.memory import ChatKind, HistoryEvent, Memory, State

# Erasure, backup, jobs and other maintenance.


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingErasure:
    """A place that may still hold bytes of erased rows, and how that ends."""

    where: str  # rows | pages | log | server_log | notes
    what: str
    ends: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A signed record of an erasure: how much was erased, never what or whose."""

    id: str
    scope: str  # memory | owned | person | subject | source | space
    erased_at: datetime
    counts: Mapping[str, int]  # rows by table that the caller may know of
    complete: bool  # nothing is pending: no byte is left in the database files
    pending: tuple[PendingErasure, ...]
    signature: str

    @property
    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def to_json(self) -> str:
        plain = {
            **self.fields,
            "erased_at": self.erased_at.isoformat(),
            "pending": [asdict(one) for one in self.pending],
        }
        return json.dumps(plain, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A verified copy of the database."""

    path: str  # or the address of a database, without its password
    schema: str
    counts: Mapping[str, int]  # rows by table
    size_bytes: int = 0
    problems: tuple[str, ...] = ()
    erased_again: int = 0  # memories of the erasure journal that the copy still had

    @property
    def healthy(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup that replaced a database."""

    path: str
    aside: str | None  # path of the replaced database
    counts: Mapping[str, int]
    erasures: int  # later than the backup, and repeated on it


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One finished or failed run of a scheduled job."""

    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    problem: str | None  # kind of failure


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A scheduled job of a space: due time, progress and last run."""

    task: str
    # idle: not due yet. running: a worker holds the lease. waiting: due or interrupted, without a
    # worker. failed: retried when due. off: runs only on request.
    state: Literal["idle", "running", "waiting", "failed", "off"]
    due_at: datetime | None = None  # None: not scheduled yet
    counts: Mapping[str, int] = field(default_factory=dict)  # of an unfinished run
    attempts: int = 0  # failures since the last finished run
    last: JobRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of problem with its count. Holds no content, names or identities."""

    check: str
    says: str  # the problem, to be read after the count
    mends: str  # what repair does, or who can repair it
    count: int
    repairable: int
    repaired: int = 0
    ids: tuple[str, ...] = ()  # some of the memories

    @property
    def left(self) -> int:
        return self.count - self.repaired


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Problems that the doctor found in a space, and repaired if asked."""

    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether no problem was found, or all were repaired."""
        return not any(one.left for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """Counts of an expiry sweep."""

    expired: int = 0  # past expires_at
    faded: int = 0  # unused and of low importance
    evicted: int = 0  # above the cap of an owner
    turns: int = 0  # episodes past their retention
    proposals: int = 0  # unanswered
    cleared: int = 0  # rows of logs and caches
    waits: str | None = None  # why it did nothing, or stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """Counts of a purge."""

    count: int = 0
    postponed: int = 0  # dated by a wrong clock: their retention starts again
    waits: str | None = None  # why it did nothing, or stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """Counts of a consolidation run over all owners."""

    run: str  # pass it to undo the run
    merged: int = 0
    certain: int = 0  # of these, merged without a model
    pairs: int = 0  # sent to a model
    asked: int = 0  # model calls
    left: int = 0  # owners postponed because the model did not answer
    skipped: str = ""  # why the run or the model was skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    people: int = 0
    insights: int = 0
    refused: int = 0  # insights that failed the checks
    left: int = 0  # people postponed to another day
    skipped: str = ""  # why the run was skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    sessions: int = 0  # ended sessions
    summaries: int = 0
    refused: int = 0
    left: int = 0  # people postponed to another day
    skipped: str = ""  # why the run was skipped


# Memories, recall, prompts and learning.

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The result of a write. False from a disabled view, which writes nothing."""

    id: str  # empty if nothing was written
    state: State | None
    version: int
    created: bool  # a new memory, not a new version
    supersedes: str | None = None  # the replaced memory, if the requester may see it

    def __bool__(self) -> bool:
        return bool(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list; pass `cursor` to get the next page, until it is None."""

    items: tuple[T, ...] = ()
    cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The parts of a score before weighting: from 0 to 1, negative if they lower it."""

    words: float = 0.0  # BM25 over the memories that the requester may see
    around: float = 0.0  # BM25 with the turns before and after it
    meaning: float = 0.0  # cosine of its vector and the query's
    person: float = 0.0  # about, or said by, a person named in the query
    own: float = 0.0  # answers a question of the requester about themselves
    time: float = 0.0  # states a time, or is from the time named in the query
    related: float = 0.0  # strength of its relation to another result
    importance: float = 0.0
    recency: float = 0.0
    pinned: float = 0.0
    trust: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory found by recall: its score, the reason, and the rule that discloses it."""

    memory: Memory
    score: float  # ranks the results of one query; from 0 to about 1, with `own` to 2
    why: str  # a sentence
    rule: str
    similarity: float = 0.0  # from 0 to 1, independent of other results; `threshold` applies to it
    signals: Signals = field(default_factory=Signals)
    related: tuple[Memory, ...] = ()  # related memories that may be shown here


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One line for a prompt, with its record if requested."""

    id: str
    category: str
    text: str
    related: bool = False  # related to a result, not a result
    recalled: Recalled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Text for the cached part of a prompt."""

    text: str = ""
    revision: int = 0  # pass it to `delta` or `fresh` to get later changes
    ids: tuple[str, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)  # memories left out, by category
    tokens: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """Text for the per-turn part of a prompt."""

    text: str = ""
    revision: int = 0
    recalled: tuple[Recalled, ...] = ()
    tokens: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Ids of stored episodes, in order; empty from a disabled view.

    A turn that the speaker asked not to remember has no id.
    """

    ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The number of turns queued for learning; zero from a disabled view."""

    turns: int = 0
    refused: tuple[str, ...] = ()  # kinds of secrets in messages that were not queued

    def __bool__(self) -> bool:
        return self.turns > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A memory to update instead of adding a new one."""

    id: str
    content: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that waits for the owner's consent."""

    id: str
    content: str
    reason: str
    replaces: str | None  # the memory that it would supersede
    created_at: datetime
    expires_at: datetime
    widens: bool = False  # consent widens the audience of a stored memory; no model may give it


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningQueueStatus:
    """Turns of a space that are queued and not learned yet."""

    turns: int = 0
    parked: int = 0  # failed too often; `memory.jobs.retry_learning` queues them again
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One step of learning from a message."""

    stage: str  # screen | extract | verify | classify | attribute | reconcile | consent | kept
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A quarantined memory: its source and the reason, without its content."""

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
    """What reverting one source removed, or in a dry run would remove."""

    forgotten: int = 0  # memories; restorable
    reworded: int = 0  # memories set back to their earlier wording, as a new version
    restored: int = 0  # memories that had been superseded
    proposals: int = 0
    turns: int = 0  # queued turns
    recorded: int = 0  # episodes; erased if a person unlearns

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStatus:
    """The embedding model, and how many memories have a vector of it."""

    model: str | None  # None: full-text search only
    dimension: int
    done: int
    total: int
    running: bool

    @property
    def complete(self) -> bool:
        return self.model is None or self.done >= self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Whether a memory may be shown in a chat."""

    allowed: bool
    rule: str  # name of the disclosure rule
    says: str  # the rule as a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a delta. A deletion carries no content."""

    revision: int
    event: str  # created | updated | deleted | restored | superseded | merged
    memory_id: str
    category: str | None
    content: str | None
    at: datetime
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Changes in a thread since a revision that the requester may see."""

    revision: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """The result of a hard delete. No query finds the rows anymore.

    `complete` is false while database files may still hold their bytes: `certificate.pending` says
    which files, and how that ends.
    """

    count: int
    complete: bool
    certificate: Certificate | None = None  # None if there was nothing to erase


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    created: int = 0
    skipped: int = 0  # already stored, or not active when exported
    refused: tuple[str, ...] = ()  # for each bad line its number and the problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts of the memories of a space."""

    memories: int = 0
    by_state: dict[str, int] = field(default_factory=dict)
    by_kind: dict[str, int] = field(default_factory=dict)
    by_category: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """The result of `maintain`."""

    problems: tuple[str, ...]
    did: tuple[str, ...]
    pending: tuple[str, ...] = ()  # erasures whose bytes may still be in files

    @property
    def healthy(self) -> bool:
        return not self.problems


# Audience reports.


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceChat:
    """A chat and its other known members, by their names in that chat."""

    id: str
    kind: ChatKind
    confidential: bool  # memories learned there are never shown elsewhere
    people: tuple[Person, ...] = ()
    complete: bool = True  # False: the chat has more known members than `people` lists


@dataclass(frozen=True, slots=True, kw_only=True)
class AudiencePreview:
    """A memory, and whether it would be shown to a person in a chat."""

    memory: Memory
    allowed: bool
    rule: str  # name of the disclosure rule
    says: str  # the rule as a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceReport:
    """Whether one memory would be shown in each chat, and to each person in a private chat.

    Chats and people that would see it come first.
    """

    rooms: tuple[tuple[AudienceChat, Explanation], ...] = ()
    people: tuple[tuple[Person, Explanation], ...] = ()
    rooms_left_out: int = 0  # beyond the limit
    people_left_out: int = 0


# Graph of memories and people.


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str  # of a memory, or an identity of a person
    kind: Literal["memory", "person"]
    label: str  # beginning of the content, or the name of the person
    category: str | None = None  # of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A relation from a memory to its subject or speaker, or between two memories."""

    source: str
    target: str
    kind: Literal["about", "said_by", "related"]
    strength: float = 1.0  # from 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()  # both ends of each are among the nodes
    left_out: int = 0  # memories beyond the limit


# Activity and access log.

# Names of the counts of a day, one for each history event.
COUNT_NAMES: Mapping[HistoryEvent, str] = {
    HistoryEvent.ADD: "learned",
    HistoryEvent.UPDATE: "updated",
    HistoryEvent.DELETE: "forgotten",
    HistoryEvent.MERGE: "merged",
    HistoryEvent.LINK: "related",
    HistoryEvent.TTL: "expired",
    HistoryEvent.RESTORE: "restored",
    HistoryEvent.SUPERSEDE: "replaced",
    HistoryEvent.ERASE: "erased",
    HistoryEvent.CONSENT: "agreed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityEntry:
    """One event of one memory. Erasing a memory erases its events."""

    at: datetime
    event: HistoryEvent
    memory_id: str
    category: str
    content: str | None  # the wording at that time; None if it is gone
    actor: str
    reason: str | None  # the reason or the changed fields, if known
    owner: str | None = None  # set for operators only


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """Number of events on one day in UTC, without zeros."""

    day: date
    counts: Mapping[str, int] = field(default_factory=dict)  # by the names in COUNT_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLogEntry:
    """One read by an operator. A person sees only what concerns their own memories."""

    id: str
    at: datetime
    actor: str  # operator:NAME
    word: str  # the operation: browse, show, history, …
    count: int  # memories shown; for a person their own; 0 if the read showed names only
    memory_id: str | None = None  # if exactly one was shown and it still exists


# Event counts: fixed names, without content.


class EventNode(StrEnum):
    """The part of the system in which an event happened."""

    HOTPATH = "hotpath"  # writes of people and agents, and learning
    CONTEXT = "context"  # recall and prompts
    EPISODIC = "episodic"  # episodes
    WORKER = "worker"  # scheduled jobs


class EventOperation(StrEnum):
    CLASSIFY = "classify"
    SEARCH = "search"
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    LINK = "link"
    TTL = "ttl"
    DELETE = "delete"
    RESTORE = "restore"
    ERASE = "erase"


class EventStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCounts:
    """The number of events of one kind on one day in UTC."""

    day: date
    node: EventNode
    op: EventOperation
    status: EventStatus
    count: int
