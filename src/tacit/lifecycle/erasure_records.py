"""Record erasures: tombstones, the journal, pending remains of files, signed certificates."""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import ErasureForged, InvalidInput
from tacit.records.results import Certificate, PendingErasure
from tacit.storage import erasures
from tacit.storage.engine import Database
from tacit.storage.erasures import Erasure
from tacit.storage.memories import Transaction
from tacit.storage.spaces import keyed_digest

# The journal: a file beside the database, which no backup includes. Each line is a signed erasure
# and holds hashes and counts only.

log = logging.getLogger("tacit")
JOURNAL_SUFFIX = ".erasures.jsonl"
_LINE_START, _LAST_FIELD, _LINE_END = b'{"id":"', b'"signature":"', b'"}\n'


def journal_path(database: Path) -> Path:
    return database.with_name(database.name + JOURNAL_SUFFIX)


def append_to_journal(path: Path | None, done: Iterable[Erasure]) -> None:
    """Append erasures to the journal and sync it to disk.

    If that fails, the row in the database stays, and the line is appended when the database is
    opened next: an erasure is never undone for want of a journal line.
    """
    lines = [json.dumps(_public_fields(one), separators=(",", ":")) + "\n" for one in done]
    if path is None or not lines:
        return
    try:
        new = not path.exists()
        with open(path, "a+b", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            # End a line that a crash cut short.
            torn = file.tell() > 0 and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
            file.write(("\n" * torn + "".join(lines)).encode())
            file.flush()
            os.fsync(file.fileno())
        if new:
            fsync_folder(path.parent)
    except OSError as error:
        log.warning(
            "the journal of erasures cannot be written (%s); what was erased is erased, and the "
            "line is added when the database is opened again",
            error.strerror or type(error).__name__,
        )


def fsync_folder(folder: Path) -> None:
    """Sync a folder, where the system can, so that a new file name survives a power cut."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_journal_lines(path: Path, but: Collection[str] = ()) -> Iterator[str]:
    """Yield complete lines, skipping those of known ids without parsing them."""
    with path.open("rb") as file:
        while raw := file.readline(limits.ERASURE_LINE_MAX_BYTES):
            if raw.strip() and raw.endswith(b"\n") and _journal_line_id(raw) not in but:
                yield raw.decode("utf-8", "replace")


def read_journal_ids(path: Path) -> set[str]:
    """Return the ids of complete lines; one that a crash cut short does not count."""
    found = (line.encode() for line in read_journal_lines(path))
    return {_journal_line_id(raw) for raw in found if _LAST_FIELD in raw and raw.endswith(_LINE_END)}


def _journal_line_id(raw: bytes) -> str:
    if not raw.startswith(_LINE_START):
        return ""
    return raw[len(_LINE_START) :].split(b'"', 1)[0].decode("utf-8", "replace")


# What is stored of an erasure: keyed hashes and counts, signed. It suffices to repeat the erasure
# on an older copy, and tells neither what was removed nor whose it was.

SCOPES = ("memory", "owned", "person", "subject", "source", "space")
SPACE_DIGEST, ID_DIGESTS, PEOPLE_DIGESTS = "space", "ids", "people"
OWNER_DIGESTS, SOURCE_DIGESTS = "owners", "sources"
_CERTIFICATE_KEY = "key"  # in the row of an erased space: the key that verifies its certificate
_HASH_CHARS = 32  # of a hexadecimal hash: 128 bits


@dataclass(slots=True)
class Removal:
    """Collect what one erasure has removed so far; its sets are named as their digests are."""

    scope: str
    ids: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def memories(self) -> int:
        return self.counts["memories"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedErasure:
    """A stored erasure, and what its certificate may tell the requester."""

    erasure: Erasure
    key: str  # of its certificate
    count: int
    counts: Mapping[str, int]


def hash_value(secret: str, what: str, value: str) -> str:
    return keyed_digest(secret, f"{what}\n{value}")[:_HASH_CHARS]


def derive_certificate_key(secret: str) -> str:
    """Derive the key of certificates from the secret, without revealing the secret."""
    return keyed_digest(secret, "the key of certificates")


def record_erasure(
    tx: Transaction, removal: Removal, *, count: int | None = None, whole: bool = True
) -> RecordedErasure:
    """Record an erasure in its own transaction.

    A requester who may not know the `whole` of it is told of one memory, not of its versions or of
    what was derived from it.
    """
    erasure = sign_erasure(tx.secret, tx.space, removal, to_micros(tx.at))
    erasures.insert_erasure(tx.connection, tx.space, erasure)
    return RecordedErasure(
        erasure=erasure,
        key=derive_certificate_key(tx.secret),
        count=removal.memories if count is None else count,
        counts=erasure.counts if whole else {"memories": 1},
    )


def record_space_erasure(
    connection: Connection, secret: str, space: str, counts: Counter[str], at: int
) -> RecordedErasure:
    """Record the erasure of a space, after all its rows and its secret are gone."""
    removal = Removal(scope="space", counts=counts)
    erasure = sign_erasure(secret, space, removal, at)
    key = derive_certificate_key(secret)
    kept = replace(erasure, digests={**erasure.digests, _CERTIFICATE_KEY: key})
    erasures.insert_erasure(connection, erasures.NO_SPACE, kept)
    return RecordedErasure(erasure=erasure, key=key, count=removal.memories, counts=erasure.counts)


def sign_erasure(secret: str, space: str, removal: Removal, at: int) -> Erasure:
    digests: dict[str, str | list[str]] = {SPACE_DIGEST: hash_value(secret, SPACE_DIGEST, space)}
    for what in (ID_DIGESTS, PEOPLE_DIGESTS, OWNER_DIGESTS, SOURCE_DIGESTS):
        if values := getattr(removal, what):
            digests[what] = sorted(hash_value(secret, what, value) for value in values)
    bare = Erasure(
        id=secrets.token_hex(8),
        scope=removal.scope,
        digests=digests,
        counts={name: number for name, number in sorted(removal.counts.items()) if number},
        erased_at=at,
        signature="",
    )
    return replace(bare, signature=_tombstone_signature(secret, bare))


def verify_tombstone(secret: str, erasure: Erasure) -> None:
    if not hmac.compare_digest(_tombstone_signature(secret, erasure), erasure.signature):
        raise ErasureForged(
            "a line of the journal of erasures is not as it was signed: put a true copy of the "
            "journal in its place, or move it aside to open the database without it"
        )


def _public_fields(erasure: Erasure) -> dict[str, Any]:
    """Return the fields of a journal line: stable, with the id first."""
    return asdict(erasure) | {
        "digests": {n: v for n, v in sorted(erasure.digests.items()) if n != _CERTIFICATE_KEY},
        "counts": dict(sorted(erasure.counts.items())),
    }


def parse_journal_line(line: object) -> Erasure:
    plain = _parse_object(line)
    if not _is_complete(plain):
        raise InvalidInput("lines", "is not an erasure journal: a line cannot be read")
    return Erasure(**{one.name: plain[one.name] for one in fields(Erasure)})


def _parse_object(text: object) -> dict[str, Any]:
    """Parse a JSON object; return an empty one where it is something else."""
    try:
        plain = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        plain = None
    return plain if isinstance(plain, dict) else {}


def _is_complete(plain: Mapping[str, Any]) -> bool:
    digests, counts = plain.get("digests"), plain.get("counts")
    if not isinstance(digests, dict) or not isinstance(counts, dict):
        return False
    texts = [plain.get(name) for name in ("id", "scope", "signature")] + [digests.get(SPACE_DIGEST)]
    lists: Iterable[Any] = (v for name, v in digests.items() if name != SPACE_DIGEST)
    return (
        all(isinstance(one, str) for one in texts)
        and plain["scope"] in SCOPES
        and all(isinstance(v, list) and all(isinstance(x, str) for x in v) for v in lists)
        and all(type(number) is int for number in (*counts.values(), plain.get("erased_at")))
    )


def _tombstone_signature(secret: str, erasure: Erasure) -> str:
    plain = _public_fields(erasure)
    del plain["signature"]
    return keyed_digest(secret, "erasure\n" + json.dumps(plain, sort_keys=True))


# What database files may still hold of an erasure, and how that ends. Only what was shown to be
# gone counts as gone.

PENDING_ROWS = PendingErasure(
    where="rows",
    what="Other connections may still read the state from before the erasure, so the files of the "
    "database still hold it.",
    ends="`tacit maintain` removes it once those connections have ended their transactions.",
)
PENDING_PAGES = PendingErasure(
    where="pages",
    what="The rows are deleted and vacuumed, but free space in the files of tables and indexes, "
    "and the planner's statistics, may still hold their bytes. So may the write-ahead log.",
    ends="The operator runs `tacit maintain --rewrite`; then the write-ahead log is waited for.",
)
PENDING_LOG = PendingErasure(
    where="log",
    what="Every table was written anew, but segments of the write-ahead log may still hold the bytes.",
    ends="The server writes over these segments in the course of its work; `tacit maintain` looks, "
    "if its role is a member of pg_monitor. CHECKPOINT and pg_switch_wal() make it sooner.",
)
PENDING_SERVER_LOG = PendingErasure(
    where="server_log",
    what="The database server is set to log the values of statements, so its log files may hold "
    "what was written and erased.",
    ends="The operator sets log_parameter_max_length to 0 and deletes the server's log files from before.",
)
PENDING_NOTES = PendingErasure(
    where="notes",
    what="A file of notes beside the database could not be brought up to date, and may still hold what was erased.",
    ends="The operator makes the folder of notes writable and runs `tacit notes sync`.",
)


def list_pending(database: Database, id: str) -> tuple[PendingErasure, ...]:
    """List what is pending of one erasure, as far as the database knows now."""
    follow_write_ahead_log(database)
    with database.autocommit_connection() as connection:
        remains = erasures.get_remains(connection, id)
        logged = database.dialect.logs_parameters(connection)
    return (*_pending_of(remains), *([PENDING_SERVER_LOG] if logged else []))


def follow_write_ahead_log(database: Database) -> dict[str, str | None]:
    """Check the write-ahead log for erasures that wait for nothing else.

    Return what is left of each erasure, by id.
    """
    with database.autocommit_connection() as connection:
        found = erasures.list_unfinished(connection)
        moved = {
            before: database.dialect.track_wal(connection, before) for before in {one for one in found.values() if one}
        }
    moved = {before: left for before, left in moved.items() if left != before}
    for before, left in moved.items():
        database.write(partial(erasures.advance_remains, before=before, left=left))
    now = {id: moved.get(one, one) if one else one for id, one in found.items()}
    return {id: one for id, one in now.items() if one != ""}


def rewrite_files(database: Database) -> bool:
    """Rewrite the files. Return False if a page may still hold erased rows."""
    with database.autocommit_connection() as connection:
        before = list(erasures.list_unfinished(connection))
        left = database.dialect.rewrite(connection)
    if left is None:
        return False
    database.write(lambda connection: erasures.mark_cleaned(connection, before, left))
    return True


def summarize_pending(database: Database) -> list[str]:
    """Describe, over all spaces, how many erasures are pending, why, and how that ends."""
    counted = Counter(one for left in follow_write_ahead_log(database).values() for one in _pending_of(left))
    return [
        f"{count} {'erasure' if count == 1 else 'erasures'}: {one.what} {one.ends}" for one, count in counted.items()
    ]


def _pending_of(remains: str | None) -> tuple[PendingErasure, ...]:
    if remains is None:
        return (PENDING_ROWS,)
    if not remains:
        return ()
    return (PENDING_PAGES,) if remains == erasures.IN_FREE_PAGES else (PENDING_LOG,)


# Certificates: a signed statement for the requester. It tells how much was removed, never what or
# whose.


def issue_certificate(done: RecordedErasure, pending: Sequence[PendingErasure]) -> Certificate:
    bare = Certificate(
        id=done.erasure.id,
        scope=done.erasure.scope,
        erased_at=from_micros(done.erasure.erased_at),
        counts=dict(done.counts),
        complete=not pending,
        pending=tuple(pending),
        signature="",
    )
    return replace(bare, signature=_certificate_signature(done.key, bare.to_json()))


def verify_certificate(connection: Connection, space: str, text: object) -> bool:
    """Report whether this space, or one erased from this database, issued this certificate."""
    return _find_signing_key(connection, space, _parse_certificate(text)) is not None


def find_certified_erasure(connection: Connection, space: str, text: object) -> tuple[RecordedErasure, bool]:
    """Return the erasure that a genuine certificate is about.

    The flag is False for an erased space whose note files could not be removed: nothing tells later
    which files were its own.
    """
    plain = _parse_certificate(text)
    key = _find_signing_key(connection, space, plain)
    id = str(plain["id"])
    erasure = erasures.get_erasure(connection, space, id)
    erasure = erasure or erasures.get_erasure(connection, erasures.NO_SPACE, id)
    counts = plain["counts"]
    if key is None or erasure is None or not isinstance(counts, dict):
        raise InvalidInput("certificate", "is not genuine: pass the text that an erasure returned")
    mirrored = erasure.scope != "space" or f'"{PENDING_NOTES.where}"' not in json.dumps(plain["pending"])
    return RecordedErasure(erasure=erasure, key=key, count=0, counts=counts), mirrored


def _find_signing_key(connection: Connection, space: str, plain: Mapping[str, object]) -> str | None:
    """Return the key it was signed with, or None where it is not genuine."""
    bare = json.dumps({**plain, "signature": ""}, sort_keys=True)
    erased = erasures.get_erasure(connection, erasures.NO_SPACE, str(plain["id"]))
    keys: list[object] = [erased.digests.get(_CERTIFICATE_KEY)] if erased is not None else []
    secret = erasures.list_space_secrets(connection).get(space)
    if secret is not None:
        keys.append(derive_certificate_key(secret))
    for key in keys:
        if isinstance(key, str) and hmac.compare_digest(_certificate_signature(key, bare), str(plain["signature"])):
            return key
    return None


def _parse_certificate(text: object) -> dict[str, object]:
    plain = _parse_object(text)
    if set(plain) != {one.name for one in fields(Certificate)}:
        raise InvalidInput("certificate", "is not a certificate: pass the text that an erasure returned")
    if not str(plain["signature"]).isascii():
        raise InvalidInput("certificate", "is not a certificate: its signature cannot be read")
    return plain


def _certificate_signature(key: str, bare: str) -> str:
    return keyed_digest(key, "certificate\n" + bare)
