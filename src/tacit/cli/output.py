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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum, IntEnum
from typing import IO, Any, Self, TypeVar

from tacit import errors
from tacit.records.memory import Memory
from tacit.records.results import Page, Recalled

T = TypeVar("T")

# Exit codes.


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
    ExitCode.ABSENT: "not found or not visible, declined, or an import with rejected or no lines",
    ExitCode.USAGE: "invalid usage or input",
    ExitCode.DISABLED: "memory is disabled: no requester, or turned off in the settings",
    ExitCode.CONFLICT: "conflict: the memory has a newer version, or its key is taken",
    ExitCode.STORE: "database error",
    ExitCode.SETUP: "invalid settings, missing extra, or a model or file that cannot be used",
    ExitCode.BUG: "a bug in Tacit",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.PIPE: "the reader of the output closed it",
}


class BadUsage(Exception):
    """The command line is invalid."""


class MemoryDisabled(Exception):
    """There is no requester, or memory is turned off."""


class NotDone(Exception):
    """The user declined at the prompt."""


_EXIT_CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (BadUsage, ExitCode.USAGE),
    (errors.InvalidInput, ExitCode.USAGE),
    (MemoryDisabled, ExitCode.DISABLED),
    (errors.Conflict, ExitCode.CONFLICT),
    (errors.StoreError, ExitCode.STORE),
    (errors.SettingsError, ExitCode.SETUP),
    (errors.MissingExtra, ExitCode.SETUP),
    (errors.EmbeddingFailed, ExitCode.SETUP),
    (errors.LanguageFailed, ExitCode.SETUP),
    (NotDone, ExitCode.ABSENT),
    (errors.TacitError, ExitCode.ABSENT),
    (OSError, ExitCode.SETUP),
)


def find_exit_code(error: Exception) -> ExitCode:
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), ExitCode.BUG)


# Results of commands.

NOTHING_FOUND = "No memories found."


@dataclass(frozen=True, slots=True)
class CommandResult:
    document: dict[str, Any]  # what --json prints
    lines: Iterable[str]  # for people; control characters are escaped when printed
    notes: tuple[str, ...] = ()  # for people, on stderr
    exit: ExitCode = ExitCode.OK


@dataclass(frozen=True, slots=True)
class StreamedResult:
    """JSON lines, printed as they come, with and without --json."""

    lines: Iterable[str]


def done_result(done: str, id: str, more: str = "", **fields: Any) -> CommandResult:
    return CommandResult({"id": id, "done": done, **fields}, [f"{done}  {id}{more}"])


def list_result(
    name: str, found: Sequence[T] | Page[T], row: Callable[[T], Sequence[str]], empty: str = NOTHING_FOUND
) -> CommandResult:
    """Show one record per line, and how to get the next page if there is one."""
    items: Sequence[T] = found.items if isinstance(found, Page) else found
    document = {name: to_json(items)}
    notes: tuple[str, ...] = () if items else (empty,)
    if isinstance(found, Page):
        document["cursor"] = found.cursor
        if found.cursor is not None:
            notes += (f"More results: repeat the command with --cursor {found.cursor}",)
    return CommandResult(document, format_table([row(one) for one in items]), notes)


# Writing to the terminal.

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Zero-width joiners, which scripts and emoji need and terminals ignore.
_JOINERS = frozenset("\u200c\u200d")
# For terminals without Unicode.
_ASCII_FALLBACKS = str.maketrans({"·": "-", "─": "-", "—": "-", "…": "...", "⏎": "\\n", "’": "'",
                        "“": '"', "”": '"', "↳": ">"})  # fmt: skip


def escape_controls(line: str) -> str:
    """Escape characters that move the cursor, change colors or reverse the text direction."""
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
        """Print JSON lines; characters outside the encoding become JSON escapes."""
        for line in lines:
            _write_line(sys.stdout, line if _is_encodable(sys.stdout, line) else _escape_json(line))

    def note(self, text: str) -> None:
        """Print a remark on stderr, unless the output is JSON."""
        if not self.as_json:
            _write_line(sys.stderr, escape_controls(text))

    def failed(self, error: Exception, code: ExitCode, message: str) -> None:
        if self.as_json:
            flat = " ".join(message.split())
            shown: dict[str, Any] = {"type": type(error).__name__, "message": flat, "exit": code}
            if field := getattr(error, "field", None):
                shown["field"] = field
            _write_line(sys.stderr, json.dumps({"error": shown}))
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
    """Print warnings of the library as remarks, so that --json keeps stderr parseable."""
    log, handler = logging.getLogger("tacit"), _WarningHandler(console)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class Progress:
    """A count on stderr: one growing line on a terminal, a line per second in a log."""

    def __init__(self, what: str = "", *, quiet: bool) -> None:
        self._what = what
        self._quiet = quiet or sys.stderr is None
        self._on_terminal = not self._quiet and sys.stderr.isatty()
        self._printed_at = -1.0
        self._unprinted: str | None = None

    def __call__(self, done: int, total: int | None = None) -> None:
        of = "" if total is None else f" of {total:,}"
        self._unprinted = f"{done:,}{of} {self._what}".rstrip() if done else None
        pause = 0.1 if self._on_terminal else 1.0
        if done == total or time.monotonic() - self._printed_at >= pause:
            self._print()

    def _print(self) -> None:
        if self._quiet or self._unprinted is None:
            return
        if self._on_terminal:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"\r{self._unprinted}")
                sys.stderr.flush()
        else:
            _write_line(sys.stderr, self._unprinted)
        self._printed_at, self._unprinted = time.monotonic(), None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._print()
        if self._on_terminal and self._printed_at >= 0:
            _write_line(sys.stderr, "")


@contextlib.contextmanager
def _mute_stdout_on_error() -> Iterator[None]:
    """Redirect stdout to /dev/null after an error, so that the interpreter's last flush passes."""
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


def _write_line(stream: IO[str] | None, line: str) -> None:
    if stream is None:  # closed by the parent process
        return
    if not _is_encodable(stream, line):
        encoding = getattr(stream, "encoding", None) or "ascii"
        line = line.translate(_ASCII_FALLBACKS).encode(encoding, "backslashreplace").decode(encoding)
    if stream is sys.stdout:
        with _mute_stdout_on_error():
            stream.write(line + "\n")
        return
    with contextlib.suppress(OSError):  # stderr is closed: the exit code reports the failure
        stream.write(line + "\n")


def _is_encodable(stream: IO[str] | None, line: str) -> bool:
    try:
        line.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escape_json(line: str) -> str:
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in line)


# Text for people.

_COLUMN_GAP = "  "
_NEWLINE_MARK = " ⏎ "
_TEXT_MIN_COLUMNS = 20
_AGE_UNITS = (("y", timedelta(days=365)), ("d", timedelta(days=1)), ("h", timedelta(hours=1)),
          ("m", timedelta(minutes=1)))  # fmt: skip


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns. The last one is cut to the width of a terminal, and never in a pipe."""
    cells = [[escape_controls(to_one_line(cell)) for cell in row] for row in rows]
    widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)][:-1]
    room = _terminal_columns()
    if room is not None:
        room = max(_TEXT_MIN_COLUMNS, room - sum(widths) - len(_COLUMN_GAP) * len(widths))
    lines = []
    for *first, last in cells:
        padded = [cell + " " * (w - text_width(cell)) for cell, w in zip(first, widths, strict=True)]
        lines.append(_COLUMN_GAP.join([*padded, _truncate(last, room)]).rstrip())
    return lines


def format_fields(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Format one name and value per line, without empty values."""
    shown = [(name, value) for name, value in pairs if value]
    widest = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        yield f"  {name.ljust(widest)}  {to_one_line(value)}"


def indent_text(text: str, indent: str = "  ") -> list[str]:
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
    """Count terminal columns: emoji and CJK take two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def to_one_line(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", _NEWLINE_MARK).replace("\t", " ")


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


def format_count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_memory_count(number: int) -> str:
    return format_count(number, "memory", "memories")


# JSON documents: the fields that docs/cli.md lists.

MEMORY_FIELDS = (
    "id", "content", "kind", "category", "key", "version", "visibility", "sensitivity", "trust",
    "importance", "confidence", "pinned", "tags", "state", "owner", "speaker", "subjects",
    "created_at", "updated_at", "observed_at", "expires_at", "data",
)  # fmt: skip
OWNER_FIELDS = (
    "learned_in", "learned_kind", "heard_by", "confidential", "portable", "withheld_from", "slot",
    "inferred", "source", "thread", "agent", "run", "role", "last_accessed_at", "access_count",
    "purge_at", "superseded_by",
)  # fmt: skip


def document_of(record: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Encode these fields of a record, or all, and the records in them."""
    chosen = names if names is not None else [one.name for one in fields(record)]
    return {name: to_json(getattr(record, name)) for name in chosen}


def to_json(value: object) -> Any:
    if isinstance(value, Memory):
        return document_of(value, MEMORY_FIELDS)
    if isinstance(value, Recalled):
        memory = value.memory  # a turn of a conversation names its speaker, a memory has none
        turn = {"role": memory.role, "name": memory.name} if memory.is_turn else None
        return {
            "memory": to_json(memory),
            **document_of(value, ("score", "why", "rule", "similarity", "signals", "related")),
            "turn": turn,
        }
    if is_dataclass(value):
        return document_of(value)
    if isinstance(value, date):  # or datetime
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset):
        return sorted(map(to_json, value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [to_json(one) for one in value]
    return value
