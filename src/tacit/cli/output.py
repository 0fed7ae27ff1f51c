"""Output: exit codes, text and tables for people, JSON documents for programs."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum, IntEnum
from typing import IO, TYPE_CHECKING, Any

from tacit.errors import (
    Conflict,
    EmbeddingFailed,
    InvalidInput,
    LanguageFailed,
    MissingExtra,
    SettingsError,
    StoreError,
    TacitError,
)
from tacit.records.accounts import Person
from tacit.records.memory import HistoryEntry, Memory
from tacit.records.results import (
    Block,
    Bullet,
    Change,
    EmbeddingStatus,
    Fresh,
    LearningQueueStatus,
    Proposal,
    Quarantined,
    Recalled,
    Remembered,
)

if TYPE_CHECKING:
    from tacit.memory import Link


# How a command ends: one exit code for each kind of outcome, and which error leads to which.


class ExitCode(IntEnum):
    OK = 0
    ABSENT = 1
    USAGE = 2
    DISABLED = 3
    CONFLICT = 4
    STORE = 5
    SETUP = 6
    BUG = 70  # EX_SOFTWARE
    INTERRUPTED = 130  # as a shell reports SIGINT
    PIPE = 141  # as a shell reports SIGPIPE


EXIT_CODE_MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.ABSENT: "not found or not for you, not done, or a line of an import was refused, "
    "or nothing was found in it",
    ExitCode.USAGE: "bad usage, or input that cannot be used",
    ExitCode.DISABLED: "memory is disabled: nobody is known to be asking, or it is switched off",
    ExitCode.CONFLICT: "conflict: the memory moved on, or its key is taken",
    ExitCode.STORE: "trouble with the database",
    ExitCode.SETUP: "the settings, a missing extra, a model or a file is in the way",
    ExitCode.BUG: "a bug in Tacit",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.PIPE: "whoever read the output stopped reading",
}


class BadUsage(Exception):
    """The command line itself cannot be understood."""


class MemoryDisabled(Exception):
    """There is nobody to act for, or memory is switched off."""


class NotDone(Exception):
    """The person at the terminal said no."""


_EXIT_CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (BadUsage, ExitCode.USAGE),
    (InvalidInput, ExitCode.USAGE),
    (MemoryDisabled, ExitCode.DISABLED),
    (Conflict, ExitCode.CONFLICT),
    (StoreError, ExitCode.STORE),
    (SettingsError, ExitCode.SETUP),
    (MissingExtra, ExitCode.SETUP),
    (EmbeddingFailed, ExitCode.SETUP),
    (LanguageFailed, ExitCode.SETUP),
    (NotDone, ExitCode.ABSENT),
    (TacitError, ExitCode.ABSENT),
    (OSError, ExitCode.SETUP),
)


def find_exit_code(error: Exception) -> ExitCode:
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), ExitCode.BUG)


# What a command answers with: once for people, once for programs.

NOTHING_FOUND = "nothing that may be said here"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    document: dict[str, Any]  # what --json prints
    lines: Iterable[str]  # what people read; each is one line, and is made safe when printed
    notes: tuple[str, ...] = ()  # for people too, beside the output: on stderr
    exit: ExitCode = ExitCode.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedResult:
    """JSON lines, printed as they come and the same with --json."""

    lines: Iterable[str]


# The one place that writes to the terminal. What people wrote is made safe here, all of it.

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# They join letters and pictures in many scripts, and do nothing to a terminal.
_JOINERS = frozenset("\u200c\u200d")
# What our own layout uses, for terminals that have nothing but ASCII.
_ASCII_FALLBACKS = str.maketrans({"·": "-", "─": "-", "—": "-", "…": "...", "⏎": "\\n", "’": "'",
                        "“": '"', "”": '"', "↳": ">"})  # fmt: skip


def escape_controls(line: str) -> str:
    """One line that cannot move the cursor, change colours or turn the reading direction."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(_escape_char(char) for char in line)


def _escape_char(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE_CATEGORIES or char in _JOINERS:
        return char
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class TerminalWriter:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def document(self, document: dict[str, Any]) -> None:
        _write_line(sys.stdout, json.dumps(document))

    def lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            _write_line(sys.stdout, escape_controls(line))

    def raw(self, lines: Iterable[str]) -> None:
        """JSON lines: characters that the output cannot carry become JSON escapes."""
        for line in lines:
            _write_line(sys.stdout, line if _is_encodable(sys.stdout, line) else _escape_json(line))

    def note(self, text: str) -> None:
        """A remark for people. It never stands in the way of the output itself."""
        if not self.as_json:
            _write_line(sys.stderr, escape_controls(text))

    def failed(self, error: Exception, code: ExitCode, message: str) -> None:
        if self.as_json:
            flat = " ".join(message.split())
            told: dict[str, Any] = {"type": type(error).__name__, "message": flat, "exit": code}
            if field := getattr(error, "field", None):
                told["field"] = field
            _write_line(sys.stderr, json.dumps({"error": told}))
            return
        for line in f"tacit: {message}".split("\n"):
            _write_line(sys.stderr, escape_controls(line))

    def flush(self) -> None:
        if sys.stdout is not None:
            with _mute_stdout_on_error():
                sys.stdout.flush()


class _WarningHandler(logging.Handler):
    def __init__(self, console: TerminalWriter) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.note(f"tacit: {record.getMessage()}")


@contextlib.contextmanager
def print_warnings(console: TerminalWriter) -> Iterator[None]:
    """What the library warns of is told as a remark: never where a program reads stderr."""
    log, handler = logging.getLogger("tacit"), _WarningHandler(console)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class CountProgress:
    """How far something long has come, on stderr. A terminal has one line for it, which grows;
    elsewhere a line comes each time the count has doubled, so that a log stays short."""

    def __init__(self, what: str, *, quiet: bool) -> None:
        self._what = what
        self._quiet = quiet or sys.stderr is None
        self._next = 1
        self._open = False  # a line of the terminal that is not ended yet

    def __call__(self, count: int) -> None:
        if self._quiet or count < self._next:
            return
        told = f"{count} {self._what}"
        if sys.stderr.isatty():
            with contextlib.suppress(OSError):
                sys.stderr.write(f"\r{told}")
                sys.stderr.flush()
            self._next, self._open = count + 1, True
        else:
            _write_line(sys.stderr, told)
            self._next = 2 * count

    def __enter__(self) -> CountProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            _write_line(sys.stderr, "")


class ShareProgress:
    """How much of something is done, on stderr. A terminal has one line for it, which is written
    anew; elsewhere there is one a second."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet or sys.stderr is None
        self._told_at = -1.0
        self._open = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        on_terminal = not self._quiet and sys.stderr.isatty()
        pause = 0.1 if on_terminal else 1.0
        if self._quiet or (now - self._told_at < pause and done < total):
            return
        self._told_at = now
        told = f"{done:,} of {total:,}"
        if on_terminal:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"\r{told}")
                sys.stderr.flush()
            self._open = True
        else:
            _write_line(sys.stderr, told)

    def __enter__(self) -> ShareProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            _write_line(sys.stderr, "")


@contextlib.contextmanager
def _mute_stdout_on_error() -> Iterator[None]:
    """After stdout failed, nothing more goes there, also not when the interpreter ends."""
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


def _write_line(stream: IO[str] | None, line: str) -> None:
    if stream is None:  # closed by whoever started us
        return
    if not _is_encodable(stream, line):
        encoding = getattr(stream, "encoding", None) or "ascii"
        line = (
            line.translate(_ASCII_FALLBACKS).encode(encoding, "backslashreplace").decode(encoding)
        )
    if stream is sys.stdout:
        with _mute_stdout_on_error():
            stream.write(line + "\n")
        return
    with contextlib.suppress(OSError):  # nobody reads what went wrong: the exit code tells it
        stream.write(line + "\n")


def _is_encodable(stream: IO[str] | None, line: str) -> bool:
    try:
        line.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escape_json(line: str) -> str:
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in line)


# The records as people read them in a terminal: compact, aligned, one line for each.

_COLUMN_GAP = "  "
_NEWLINE_MARK = " ⏎ "
_TEXT_MIN_COLUMNS = 20
_AGE_UNITS = (("y", timedelta(days=365)), ("d", timedelta(days=1)), ("h", timedelta(hours=1)),
          ("m", timedelta(minutes=1)))  # fmt: skip


def format_memories(items: Iterable[Memory], now: datetime) -> list[str]:
    """What is filed under, how far it goes and how old it is; the words last, to run free."""
    rows = [
        (m.id, format_category(m), m.visibility.value, format_age(m.created_at, now), m.content)
        for m in items
    ]
    return format_table(rows)


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell. The last is cut on a terminal, and never in a pipe."""
    cells = [[escape_controls(to_one_line(cell)) for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(text_width(row[n]) for row in cells) for n in range(len(cells[0]) - 1)]
    room = _terminal_columns()
    if room is not None:
        room = max(_TEXT_MIN_COLUMNS, room - sum(widths) - len(_COLUMN_GAP) * len(widths))
    return [
        _COLUMN_GAP.join([*(_pad(cell, w) for cell, w in zip(row, widths, strict=False)),
                   _truncate(row[-1], room)]).rstrip()
        for row in cells
    ]  # fmt: skip


def format_fields(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names and values, one pair on a line; a pair without a value is left out."""
    shown = [(name, value) for name, value in pairs if value]
    widest = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        yield f"  {name.ljust(widest)}  {to_one_line(value)}"


def indent_text(text: str, indent: str = "  ") -> list[str]:
    """Somebody's words as they wrote them, line by line."""
    return [indent + line for line in text.replace("\r\n", "\n").split("\n")]


def format_category(memory: Memory) -> str:
    return f"{memory.category}/{memory.key}" if memory.key else memory.category


def format_age(then: datetime, now: datetime) -> str:
    passed = now - then
    for unit, length in _AGE_UNITS:
        if passed >= length:
            return f"{passed // length}{unit}"
    return "now"


def format_time(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else ""


def text_width(text: str) -> int:
    """Columns on a terminal: pictures and CJK take two, marks on a letter take none."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def to_one_line(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", _NEWLINE_MARK).replace("\t", " ")


def _pad(cell: str, columns: int) -> str:
    return cell + " " * (columns - text_width(cell))


def _truncate(text: str, room: int | None) -> str:
    if room is None or text_width(text) <= room:
        return text
    kept, used = [], 1  # the ellipsis
    for char in text:
        used += _char_width(char)
        if used > room:
            break
        kept.append(char)
    return "".join(kept) + "…"


def _terminal_columns() -> int | None:
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


# The records as JSON: the fields that `--json` promises, listed in docs/cli.md.

MEMORY_FIELDS = (
    "id", "content", "kind", "category", "key", "version", "visibility", "sensitivity", "trust",
    "importance", "confidence", "pinned", "tags", "state", "owner", "speaker", "subjects",
    "created_at", "updated_at", "observed_at", "expires_at", "data",
)  # fmt: skip
# Where it came from and where it may not go: for its owner alone.
OWNER_FIELDS = (
    "learned_in", "learned_kind", "heard_by", "confidential", "portable", "withheld_from", "slot",
    "inferred", "source", "thread", "agent", "run", "role", "last_accessed_at", "access_count",
    "purge_at", "superseded_by",
)  # fmt: skip


def memory_document(record: Memory) -> dict[str, Any]:
    return {name: to_json(getattr(record, name)) for name in MEMORY_FIELDS}


def owner_document(record: Memory) -> dict[str, Any]:
    found = {name: to_json(getattr(record, name)) for name in OWNER_FIELDS if name != "source"}
    return found | {"source": asdict(record.source)}


def recalled_document(one: Recalled) -> dict[str, Any]:
    return {
        "memory": memory_document(one.memory),
        "score": one.score,
        "why": one.why,
        "rule": one.rule,
        "similarity": one.similarity,
        "signals": asdict(one.signals),
        "related": [memory_document(other) for other in one.related],
        "turn": turn_document(one.memory),
    }


def turn_document(record: Memory) -> dict[str, Any] | None:
    """Who spoke, of a turn of a conversation; a memory is none."""
    return {"role": record.role, "name": record.name} if record.is_turn else None


def bullet_document(one: Bullet) -> dict[str, Any]:
    return {
        "id": one.id,
        "category": one.category,
        "text": one.text,
        "related": one.related,
        "recalled": None if one.recalled is None else recalled_document(one.recalled),
    }


def block_document(one: Block) -> dict[str, Any]:
    return {
        "text": one.text,
        "revision": one.revision,
        "ids": list(one.ids),
        "cut": dict(one.cut),
        "tokens": one.tokens,
    }


def fresh_document(one: Fresh) -> dict[str, Any]:
    found = [recalled_document(each) for each in one.recalled]
    return {
        "text": one.text,
        "revision": one.revision,
        "recalled": found,
        "tokens": one.tokens,
    }


def embedding_document(one: EmbeddingStatus) -> dict[str, Any]:
    return asdict(one) | {"complete": one.complete}


def remembered_document(done: Remembered) -> dict[str, Any]:
    return {
        "id": done.id,
        "state": to_json(done.state),
        "version": done.version,
        "created": done.created,
        "supersedes": done.supersedes,
    }


def change_document(one: Change) -> dict[str, Any]:
    return {name: to_json(value) for name, value in asdict(one).items()}


def proposal_document(one: Proposal) -> dict[str, Any]:
    return {name: to_json(value) for name, value in asdict(one).items()}


def quarantined_document(one: Quarantined) -> dict[str, Any]:
    return {name: to_json(value) for name, value in asdict(one).items()}


def waiting_document(one: LearningQueueStatus) -> dict[str, Any]:
    return {name: to_json(value) for name, value in asdict(one).items()}


def record_document(record: Any) -> dict[str, Any]:
    """A record of records, each under the names of its own fields."""
    return {one.name: _encode_nested(getattr(record, one.name)) for one in fields(record)}


def _encode_nested(value: object) -> Any:
    if is_dataclass(value):
        return record_document(value)
    return [_encode_nested(one) for one in value] if isinstance(value, tuple) else to_json(value)


def history_document(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "event": entry.event.value,
        "at": to_json(entry.at),
        "actor": entry.actor,
        "version": entry.version,
        "content": entry.content,
        "detail": entry.detail,
    }


def person_document(one: Person) -> dict[str, Any]:
    names = [{"kind": name.kind.value, "text": name.text} for name in one.names]
    return {"id": one.id, "names": names, "identities": sorted(one.identities)}


def link_document(one: Link) -> dict[str, Any]:
    return {
        "id": one.id,
        "source": one.source,
        "target": one.target,
        "kind": one.kind.value,
        "actor": one.actor,
        "created_at": to_json(one.created_at),
        "verified_at": to_json(one.verified_at),
        "ended_at": to_json(one.ended_at),
    }


def to_json(value: object) -> Any:
    if isinstance(value, date):  # or a moment
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    if (
        isinstance(value, Iterable)
        and not isinstance(value, Mapping)
        and not isinstance(value, str)
    ):
        return list(value)
    return value
