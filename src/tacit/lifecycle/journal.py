"""The journal of erasures: a file beside the database, which no backup takes with it. Each line is
an erasure as it was signed; there is nothing in it but hashes and counts."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from tacit import limits

log = logging.getLogger("tacit")
SUFFIX = ".erasures.jsonl"
_BEGIN, _LAST, _END = b'{"id":"', b'"signature":"', b'"}\n'


def beside(database: Path) -> Path:
    return database.with_name(database.name + SUFFIX)


def append(path: Path | None, lines: Iterable[str]) -> None:
    """On the disk before this returns. Where that fails, the row in the database is left, and the
    next one who opens it writes the line: an erasure is never undone for want of a note."""
    if path is None:
        return
    try:
        _append(path, lines)
    except OSError as error:
        log.warning(
            "the journal of erasures cannot be written (%s); what was erased is erased, and the "
            "line is added when the database is opened again",
            error.strerror or type(error).__name__,
        )


def _append(path: Path, lines: Iterable[str]) -> None:
    new = not path.exists()
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(handle).st_size
        # A line that a crash cut short stays alone.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        text = ("\n" if torn else "") + "".join(line + "\n" for line in lines)
        rest = text.encode()
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    if new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """So that the name of a new file outlives a power cut, where a folder can be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def lines(path: Path, but: Collection[str] = ()) -> Iterator[str]:
    """Whole lines, without those of these ids: to know what is new, most need not be parsed."""
    with path.open("rb") as file:
        while raw := file.readline(limits.ERASURE_LINE_MAX_BYTES):
            if raw.strip() and raw.endswith(b"\n") and _id(raw) not in but:
                yield raw.decode("utf-8", "replace")


def ids(path: Path) -> set[str]:
    """Of lines that are whole to their last field: one that a crash cut short does not count."""
    found = (line.encode() for line in lines(path))
    return {_id(raw) for raw in found if _LAST in raw and raw.endswith(_END)}


def _id(raw: bytes) -> str:
    if not raw.startswith(_BEGIN):
        return ""
    return raw[len(_BEGIN) :].split(b'"', 1)[0].decode("utf-8", "replace")
