"""Operate one space of an open database: counts, links, erasure, health, events and backups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput, StoreError
from tacit.identity import ACCOUNT_PREFIX, parse_external_key, parse_identity, parse_subject, subject_of_key
from tacit.lifecycle import erasure, erasure_records, erasure_replay
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.backup import create_backup, maintain_database
from tacit.lifecycle.doctor.check import DoctorContext
from tacit.lifecycle.doctor.examination import examine_space
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records import validation
from tacit.records.accounts import Link, LinkKind
from tacit.records.queries import make_page, parse_cursor, parse_micros
from tacit.records.results import (
    Backup,
    Certificate,
    Diagnosis,
    EmbeddingStatus,
    Erased,
    EventCounts,
    EventNode,
    EventOperation,
    EventStatus,
    Finding,
    Maintained,
    Page,
    Stats,
)
from tacit.storage import auth, history, people, search, spaces
from tacit.storage.history import EventPosition
from tacit.storage.memories import Transaction
from tacit.view.context import SpaceContext


class Admin(SpaceContext):
    """Administration of a space by an operator of the database."""

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

    # Links between identities.

    def link(self, external_key: str, account: str, *, verified: bool = True, actor: str = "system") -> Link:
        """Link an external key to an account. An unverified link has no effect yet."""
        source, target = _parse_external_key(external_key), _parse_account(account)
        sure = validation.parse_bool("verified", verified)
        return self._begin_link(source, target, LinkKind.LINK, actor, verified=sure)

    def verify_link(self, external_key: str) -> Link:
        source = _parse_external_key(external_key)
        return self._write_identities(lambda tx: people.verify_link(tx, source))

    def unlink(self, external_key: str) -> Link:
        """Unlink a key: from the next read on, the key and the account are two people."""
        source = _parse_external_key(external_key)
        return self._write_identities(lambda tx: people.end_link(tx, source, LinkKind.LINK))

    def links(self, identity: str) -> list[Link]:
        """List all links of an identity, past and present, oldest first."""
        who = parse_identity(identity, "identity")
        if who is None:
            raise InvalidInput("identity", "is not of the form telegram:123, acct:42 or person:…")
        with self._storage.database.read() as connection:
            return spaces.list_link_history(connection, self._space, who)

    def merge_people(self, person: str, into: str, *, actor: str = "system") -> Link:
        """Merge two people. The first must be known by name only."""
        source, target = (parse_identity(person, "person"), parse_identity(into, "into"))
        if source is None or target is None:
            raise InvalidInput("person", "merging takes person:… ids or keys, never names")
        return self._begin_link(source, target, LinkKind.MERGE, actor, verified=True)

    def unmerge_people(self, person: str) -> Link:
        """Undo the merge of this person into another."""
        source = parse_identity(person, "person")
        if source is None:
            raise InvalidInput("person", "takes a person:… id")
        return self._write_identities(lambda tx: people.end_link(tx, source, LinkKind.MERGE))

    def _begin_link(self, source: str, target: str, kind: LinkKind, actor: str, *, verified: bool) -> Link:
        by = validation.parse_label("actor", actor)

        return self._write_identities(
            lambda tx: people.begin_link(tx, source, target, kind, actor=by, verified=verified)
        )

    # Erasure of a person, of everything about a person, of the space; and its replay.

    def erase_person(self, subject: str) -> Erased:
        """Erase everything that a person owns, under their current identities.

        This includes what they said, their names and their chat memberships.
        """
        return self._erase_people(parse_subject(subject), erasure.erase_person)

    def erase_about(self, person: str) -> Erased:
        """Erase everything about a person, from every owner.

        Only an operator can do this: a person can erase only what they may see about themselves,
        and does not learn of the rest.
        """
        who = parse_identity(person, "person")
        if who is None:
            raise InvalidInput("person", "is a name; use a key such as telegram:123 or person:…")
        return self._erase_people(who, erasure.erase_subject)

    def erase_space(self) -> Erased:
        """Erase the whole space, for good."""
        store, space = self._storage, self._space
        done = store.database.write(lambda c: erasure.erase_space(c, store, space))
        store.events.discard(space)
        store.api_keys.clear()
        mirrored = self._runtime.mirroring is None or self._runtime.mirroring.mirror.remove_space(space)
        if done is None:
            return Erased(count=0, complete=erasure.scrub_files(store.database) and mirrored)
        return erasure.finish_erasure(store, done, mirrored=mirrored)

    def replay_erasures(self, lines: Iterable[str] | Path | str) -> Erased:
        """Repeat the erasures of a journal in all spaces of a restored database.

        `lines` holds the lines of the journal, or its path. Erasures that this database already has
        are skipped. A line with an invalid signature is refused, and then nothing is erased.
        """
        if not isinstance(lines, str | Path):
            return erasure_replay.replay_lines(self._storage, lines)
        try:
            return erasure_replay.replay_lines(self._storage, erasure_records.read_journal_lines(Path(lines)))
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("lines", "that file cannot be read; name a journal") from None

    def verify_certificate(self, text: str) -> bool:
        """Return whether this space, or an erased one of this database, issued the certificate."""
        with self._storage.database.read() as connection:
            return erasure_records.verify_certificate(connection, self._space, text)

    def renew_certificate(self, text: str) -> Certificate:
        """Return the certificate with its current pending parts; refuse one that is not genuine."""
        store = self._storage
        with store.database.read() as connection:
            issued, mirrored = erasure_records.find_certified_erasure(connection, self._space, text)
        done = erasure.finish_erasure(store, issued, again=True, mirrored=mirrored)
        assert done.certificate is not None
        return done.certificate

    def _erase_people(self, who: str, how: Callable[[Transaction, frozenset[str]], RecordedErasure]) -> Erased:
        named: list[frozenset[str]] = []

        def work(tx: Transaction) -> RecordedErasure:
            now = spaces.load_identities(tx.connection, tx.space, [who]).current_identities(who)
            named[:] = [now]
            return how(tx, now)

        done = self._storage.change_identities(self._space, "system", work)
        self._storage.api_keys.clear()  # keys that acted for the person are deleted too
        if how is erasure.erase_person:
            self._storage.events.discard(self._space, (), owners=named[0])
        return erasure.finish_erasure(self._storage, done)

    # Health checks and repairs.

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

    # Event counts of the space, and the metrics of this process.

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

    # Backup of a database in use.

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy a SQLite database while it is in use, and verify the copy.

        An existing backup is kept unless `overwrite` is set. `tacit restore --from` puts the copy
        in place of a database, and repeats the erasures made since.
        """
        again = validation.parse_bool("overwrite", overwrite)
        self._storage.accesses.flush()
        return create_backup(self._storage.database, path, overwrite=again)


def _parse_external_key(key: str) -> str:
    found = subject_of_key(parse_external_key(key, "external_key"))
    if found.startswith(f"{ACCOUNT_PREFIX}:"):
        raise InvalidInput("external_key", "is an account; name the channel's key, as telegram:123")
    return found


def _parse_account(account: str) -> str:
    found = subject_of_key(parse_external_key(account, "account"))
    if not found.startswith(f"{ACCOUNT_PREFIX}:"):
        raise InvalidInput("account", "is not of the form acct:<account id>")
    return found


def _event_position(last: EventCounts) -> EventPosition:
    day = to_micros(datetime(last.day.year, last.day.month, last.day.day, tzinfo=UTC))
    return day, last.node.value, last.op.value, last.status.value


def _parse_event_position(day: str, node: str, op: str, status: str) -> EventPosition:
    if (at := parse_micros(day)) < 0:
        raise ValueError(day)
    return at, EventNode(node).value, EventOperation(op).value, EventStatus(status).value
