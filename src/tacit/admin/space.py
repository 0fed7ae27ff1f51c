"""Operate one space of an open database: counts, health, events, vectors and backups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput, StoreError
from tacit.identity import parse_subject
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.backup import create_backup, maintain_database
from tacit.lifecycle.doctor.check import DoctorContext
from tacit.lifecycle.doctor.examination import examine_space
from tacit.records import validation
from tacit.records.queries import make_page, parse_cursor, parse_micros
from tacit.records.results import (
    Backup,
    Diagnosis,
    EmbeddingStatus,
    EventCounts,
    EventNode,
    EventOperation,
    EventStatus,
    Finding,
    Maintained,
    Page,
    Stats,
)
from tacit.storage import auth, history, search, spaces
from tacit.storage.history import EventPosition
from tacit.storage.memories import Transaction
from tacit.view.context import Runtime, ViewOptions

T = TypeVar("T")


class SpaceContext:
    """One space of an open database."""

    def __init__(self, runtime: Runtime, options: ViewOptions, space: str, enabled: bool) -> None:
        self._runtime = runtime
        self._storage = runtime.storage
        self._options = options
        self._space = space
        self._enabled = enabled

    @property
    def _shared(self) -> tuple[Runtime, ViewOptions, str, bool]:
        return self._runtime, self._options, self._space, self._enabled

    def _write_identities(self, work: Callable[[Transaction], T]) -> T:
        """Run a transaction that changes people, links or chats."""
        return self._storage.change_identities(self._space, "system", work)


# Forget, count and maintain a space; create vectors.


class SpaceAdmin(SpaceContext):
    def forget_person(self, subject: str) -> int:
        """Forget everything that a person owns; it can be restored for 30 days.

        The person is signed out of all web sessions.
        """
        who = parse_subject(subject)

        def work(tx: Transaction) -> int:
            now = spaces.load_identities(tx.connection, tx.space, [who]).current_identities(who)
            auth.end_web_sessions(tx.connection, tx.space, now)
            return forgetting.forget_owned(tx, now, self._options.restorable_days)

        return self._storage.write_as(self._space, "system", work)

    def stats(self) -> Stats:
        """Count the memories of the whole space, for its operator."""
        with self._storage.database.read() as connection:
            return search.read_space_stats(connection, self._space, self._storage.clock())

    def maintain(self, *, rewrite: bool = False) -> Maintained:
        """Check, analyze and compact the database.

        `rewrite` rewrites every table of a PostgreSQL database (VACUUM FULL), so that no page holds
        erased data; other sessions wait meanwhile.
        """
        self._storage.accesses.flush()
        return maintain_database(self._storage.database, rewrite=rewrite)

    def embedding(self) -> EmbeddingStatus:
        """Return which model creates the vectors, and its progress."""
        return self._runtime.embedding(self._space)

    def reembed(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Create every missing vector now; return how many.

        Otherwise this happens in the background. `progress` is called with the number so far.
        """
        return self._runtime.reembed(progress)


# Health checks and repairs.


class HealthAdmin(SpaceContext):
    def is_ready(self) -> bool:
        """Return whether the database can be read now, for a load balancer's readiness check."""
        try:
            with self._storage.database.read() as connection:
                spaces.identity_revision(connection, self._space)
        except StoreError:
            return False
        return True

    def doctor(self, *, repair: bool = False, checks: Sequence[str] | None = None) -> Diagnosis:
        """Check this space for problems.

        Nothing is changed unless `repair` is set; each change is then recorded in the history of
        its memory. The report for the operator has counts of problems and no text of memories.
        """
        mind = self._runtime
        sure = validation.parse_bool("repair", repair)
        named, of_notes = self._split_checks(checks)
        patient = DoctorContext(
            store=self._storage,
            space=self._space,
            model=mind.embedder.name if mind.embedder is not None else None,
            embed=(lambda: mind.reembed(lambda _: None)) if mind.embedder is not None else None,
            wake=mind.wake_learners,
        )
        found = examine_space(patient, repair=sure, names=named)
        return Diagnosis(findings=(*found.findings, *self._examine_notes(of_notes, repair=sure)))

    def _split_checks(self, checks: Sequence[str] | None) -> tuple[Sequence[str] | None, frozenset[str]]:
        """Split checks into those of storage and those of notes, which run after them."""
        if self._runtime.mirroring is None:
            return checks, frozenset()
        from tacit.notes.mirror import NOTES_CHECK_NAMES

        if checks is None:
            return None, frozenset(NOTES_CHECK_NAMES)
        if not isinstance(checks, list | tuple | set | frozenset):
            return checks, frozenset()
        return [one for one in checks if one not in NOTES_CHECK_NAMES], frozenset(NOTES_CHECK_NAMES) & {*checks}

    def _examine_notes(self, names: frozenset[str], *, repair: bool) -> tuple[Finding, ...]:
        if self._runtime.mirroring is None or not names:
            return ()
        from tacit.notes.mirror import check_notes

        return check_notes(self._runtime.mirroring.mirror, self._space, names, repair=repair)


# Event counts of a space, and the metrics of this process.


class EventAdmin(SpaceContext):
    def events(
        self,
        node: EventNode | str | None = None,
        op: EventOperation | str | None = None,
        since: datetime | None = None,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[EventCounts]:
        """Count the events of this space by day, newest first, for its operator.

        The counts go back as many days as `events.keep_days` says.
        """
        nodes = list(EventNode) if node is None else [validation.parse_enum("node", node, EventNode)]
        wanted = None if op is None else validation.parse_enum("op", op, EventOperation)
        start = None if since is None else validation.parse_datetime("since", since)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = parse_cursor(cursor, _parse_event_position)
        self._storage.events.flush()  # include events that this process has not written yet
        with self._storage.database.read() as connection:
            found = history.count_events(connection, self._space, nodes, wanted, start, most + 1, after)
        return make_page(found, most, _event_position)

    def metrics(self) -> str:
        """Return the metrics of this process, for all its memories and spaces, for Prometheus."""
        told = getattr(self._storage.meter, "text", None)
        if told is None:
            raise InvalidInput("metrics", "are not for Prometheus: set metrics.exporter to it")
        return str(told())


def _event_position(last: EventCounts) -> EventPosition:
    day = to_micros(datetime(last.day.year, last.day.month, last.day.day, tzinfo=UTC))
    return day, last.node.value, last.op.value, last.status.value


def _parse_event_position(day: str, node: str, op: str, status: str) -> EventPosition:
    if (at := parse_micros(day)) < 0:
        raise ValueError(day)
    return at, EventNode(node).value, EventOperation(op).value, EventStatus(status).value


# Backup of a database in use.


class BackupAdmin(SpaceContext):
    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy a SQLite database while it is in use, and verify the copy.

        An existing backup is kept unless `overwrite` is set. `tacit restore --from` puts the copy
        in place of a database, and repeats the erasures made since.
        """
        again = validation.parse_bool("overwrite", overwrite)
        self._storage.accesses.flush()
        return create_backup(self._storage.database, path, overwrite=again)
