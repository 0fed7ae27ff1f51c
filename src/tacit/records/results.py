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

# What upkeep answers with.


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingErasure:
    """Where bytes of something that was erased may still be, and how that ends."""

    where: str  # rows | pages | log | server_log | notes
    what: str
    ends: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was removed, signed. It tells how much, and never what or whose."""

    id: str
    scope: str  # memory | owned | person | subject | source | space
    erased_at: datetime
    counts: Mapping[str, int]  # rows by table, as far as whoever erased may know
    complete: bool  # nothing is pending: no byte of it is left in the files of the database
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
    """A copy that was checked after it was made."""

    path: str  # or the address of a database, without its password
    schema: str
    counts: Mapping[str, int]  # rows by table
    size_bytes: int = 0
    problems: tuple[str, ...] = ()
    erased_again: int = 0  # memories that a journal of erasures named and the copy still had

    @property
    def healthy(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup that took the place of a database."""

    path: str
    aside: str | None  # where the database before it is kept
    counts: Mapping[str, int]
    erasures: int  # done again, because they came after the backup


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One run of a task, from its first step to its last, or to what went wrong."""

    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]  # what was done, by plain words
    problem: str | None  # what kind of failure it was


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A task that comes round in a space: when, how far it is, and how it went last."""

    task: str
    # idle: until it is due. running: somebody is at it. waiting: due, or interrupted, and nobody is
    # at it. failed: to be tried again when it is due. off: it does not come round by itself.
    state: Literal["idle", "running", "waiting", "failed", "off"]
    due_at: datetime | None = None  # None: nobody has planned it yet
    counts: Mapping[str, int] = field(default_factory=dict)  # of a run that is not at its end
    attempts: int = 0  # that failed since it last came to its end
    last: JobRun | None = None  # None: it never ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of trouble: how much of it there is, and what became of it. Never what people said,
    what they are called, or who is who."""

    check: str
    says: str  # what is wrong, for people, to be read behind the count
    mends: str  # what repair does about it, or who can
    count: int
    repairable: int  # of these
    repaired: int = 0
    ids: tuple[str, ...] = ()  # some of the memories, for an operator who looks further

    @property
    def left(self) -> int:
        return self.count - self.repaired


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the doctor found in a space, and mended if asked."""

    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Nothing was found, or nothing of it is left."""
        return not any(one.left for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """What a sweep put out of mind, and what it let go for good."""

    expired: int = 0  # past their time
    faded: int = 0  # unused, and of little importance
    evicted: int = 0  # more than an owner may have
    turns: int = 0  # past their retention
    proposals: int = 0  # that nobody answered
    cleared: int = 0  # rows that were kept for a while only
    waits: str | None = None  # why it did nothing, or stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What was removed for good."""

    count: int = 0
    postponed: int = 0  # dated by a clock that was wrong: they have their whole time again
    waits: str | None = None  # why it did nothing, or stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """One run over everybody's memories: what became one, and what that took."""

    run: str  # by this name it can be undone
    merged: int = 0
    certain: int = 0  # … of them without asking a model
    pairs: int = 0  # that a model was asked about
    asked: int = 0  # questions to a model
    left: int = 0  # people whose pairs wait for another day, because the model did not answer
    skipped: str = ""  # why nothing was done, or nobody asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    people: int = 0  # who were thought about
    insights: int = 0
    refused: int = 0  # insights that were not fit to be kept
    left: int = 0  # people for another day
    skipped: str = ""  # why nothing was done


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    sessions: int = 0  # conversations that had ended
    summaries: int = 0
    refused: int = 0
    left: int = 0  # people for another day
    skipped: str = ""  # why nothing was done


# What the public API answers with.

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
class LearningQueueStatus:
    """What was accepted in a space and is not learned yet."""

    turns: int = 0
    parked: int = 0  # tried often enough; `Memory.retry_learning` tries again
    oldest: datetime | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
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
class EmbeddingStatus:
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


# Who would hear a memory: the rooms there are, and what would be said in them, to whom and why.


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceChat:
    """A chat, and who else is known to be there, by the names that they have there."""

    id: str
    kind: ChatKind
    confidential: bool  # nothing that is said there leaves it
    people: tuple[Person, ...] = ()
    complete: bool = True  # false: more people are known to be there than `people` names


@dataclass(frozen=True, slots=True, kw_only=True)
class AudiencePreview:
    """A memory, whether it would be said to somebody in some chat, and by which rule."""

    memory: Memory
    allowed: bool
    rule: str  # as in the disclosure rules
    says: str  # the rule in plain words


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceReport:
    """One memory in every room, where anybody who is there may ask, and for each of these people
    in a private chat of their own. Where it would be said comes first."""

    rooms: tuple[tuple[AudienceChat, Explanation], ...] = ()
    people: tuple[tuple[Person, Explanation], ...] = ()
    rooms_left_out: int = 0  # there are so many more
    people_left_out: int = 0


# Memories and people as a picture: who and what there is, and what belongs together.


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str  # of a memory, or an identity of a person
    kind: Literal["memory", "person"]
    label: str  # the beginning of what it says, or what they are called
    category: str | None = None  # of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """From a memory to a person whom it is about or who said it, or between two memories."""

    source: str
    target: str
    kind: Literal["about", "said_by", "related"]
    strength: float = 1.0  # from 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()  # both ends of each are among the nodes
    left_out: int = 0  # memories for which there was no room


# What happened to memories: one by one, and how often on each day.

# By these a day is counted; each event of a history has its own.
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
    """One thing that happened to one memory. What is erased takes its history along."""

    at: datetime
    event: HistoryEvent
    memory_id: str
    category: str
    content: str | None  # as it was worded then; None where that wording is gone
    actor: str  # who did it
    reason: str | None  # why, or what about it changed, where that is known
    owner: str | None = None  # whose it is: told to operators


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """How often what happened on one day, in UTC. What did not happen is not counted."""

    day: date
    counts: Mapping[str, int] = field(default_factory=dict)  # by the words of COUNTED_AS


# That an operator looked at memories: what the people concerned are told of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLogEntry:
    """One look. To a person, no more of it than what concerns their own memories."""

    id: str
    at: datetime
    actor: str  # operator:NAME
    word: str  # what was asked for: browse, show, history, …
    # How many memories it showed; to a person, how many of theirs. None at all: what they are
    # called, or what they call somebody.
    count: int
    memory_id: str | None = None  # where it was exactly one, as long as there is one


# What happened, in closed vocabularies: for counts over time, never for content.


class EventNode(StrEnum):
    """Where in the flow of a conversation it happened."""

    HOTPATH = "hotpath"  # what people and their agents do, and what is learned from them
    CONTEXT = "context"  # bringing to mind what a prompt is made of
    EPISODIC = "episodic"  # what was said, word for word
    WORKER = "worker"  # upkeep, by nobody's wish


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
    """How often one thing happened on one day, in UTC."""

    day: date
    node: EventNode
    op: EventOperation
    status: EventStatus
    count: int
