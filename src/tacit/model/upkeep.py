"""What upkeep answers with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
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
    pending: tuple[Pending, ...]
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
class Swept:
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
