"""The one place that writes to the terminal. What people wrote is made safe here, all of it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator
from typing import IO, Any

from tacit.surfaces.cli.exits import Exit

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# They join letters and pictures in many scripts, and do nothing to a terminal.
_JOINERS = frozenset("\u200c\u200d")
# What our own layout uses, for terminals that have nothing but ASCII.
_PLAIN = str.maketrans({"·": "-", "─": "-", "—": "-", "…": "...", "⏎": "\\n", "’": "'",
                        "“": '"', "”": '"', "↳": ">"})  # fmt: skip


def safe(line: str) -> str:
    """One line that cannot move the cursor, change colours or turn the reading direction."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(_escaped(char) for char in line)


def _escaped(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE or char in _JOINERS:
        return char
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class Console:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def document(self, document: dict[str, Any]) -> None:
        _write(sys.stdout, json.dumps(document))

    def lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            _write(sys.stdout, safe(line))

    def raw(self, lines: Iterable[str]) -> None:
        """JSON lines: characters that the output cannot carry become JSON escapes."""
        for line in lines:
            _write(sys.stdout, line if _fits(sys.stdout, line) else _ascii_json(line))

    def note(self, text: str) -> None:
        """A remark for people. It never stands in the way of the output itself."""
        if not self.as_json:
            _write(sys.stderr, safe(text))

    def failed(self, error: Exception, code: Exit, message: str) -> None:
        if self.as_json:
            flat = " ".join(message.split())
            told: dict[str, Any] = {"type": type(error).__name__, "message": flat, "exit": code}
            if field := getattr(error, "field", None):
                told["field"] = field
            _write(sys.stderr, json.dumps({"error": told}))
            return
        for line in f"tacit: {message}".split("\n"):
            _write(sys.stderr, safe(line))

    def flush(self) -> None:
        if sys.stdout is not None:
            with _muted_on_failure():
                sys.stdout.flush()


class _Remarks(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.note(f"tacit: {record.getMessage()}")


@contextlib.contextmanager
def remarks(console: Console) -> Iterator[None]:
    """What the library warns of is told as a remark: never where a program reads stderr."""
    log, handler = logging.getLogger("tacit"), _Remarks(console)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class Progress:
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
            _write(sys.stderr, told)
            self._next = 2 * count

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            _write(sys.stderr, "")


class Portion:
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
            _write(sys.stderr, told)

    def __enter__(self) -> Portion:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            _write(sys.stderr, "")


@contextlib.contextmanager
def _muted_on_failure() -> Iterator[None]:
    """After stdout failed, nothing more goes there, also not when the interpreter ends."""
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


def _write(stream: IO[str] | None, line: str) -> None:
    if stream is None:  # closed by whoever started us
        return
    if not _fits(stream, line):
        encoding = getattr(stream, "encoding", None) or "ascii"
        line = line.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    if stream is sys.stdout:
        with _muted_on_failure():
            stream.write(line + "\n")
        return
    with contextlib.suppress(OSError):  # nobody reads what went wrong: the exit code tells it
        stream.write(line + "\n")


def _fits(stream: IO[str] | None, line: str) -> bool:
    try:
        line.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _ascii_json(line: str) -> str:
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in line)
