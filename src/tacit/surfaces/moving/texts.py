"""Files as text, within bounds: only plain files, only text, and no more of a line than fits."""

from __future__ import annotations

import codecs
import json
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from tacit import limits
from tacit.errors import InvalidInput

FIELD = "path"
_SNIFFED_BYTES = 65_536
# The longer ones first: the mark of UTF-16 is how that of UTF-32 begins.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZIPPED = (b"PK\x03\x04", b"\x1f\x8b")
_PAGES = (b"<!doctype", b"<html")
_JSON = re.compile(r'\{\s*(?:["}]|\Z)|\[\s*(?:["{\[\]]|\Z)')
NOT_TEXT = "is not UTF-8 text; save the file as UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    number: int
    head: str  # its first character that is no blank; empty for a blank line
    text: str | None  # none: it is longer than a line may be


def checked_size(path: Path, most: int = limits.IMPORTER_FILE_MAX_BYTES) -> int:
    """Of a plain file that is small enough to be read."""
    try:
        found = path.stat()
    except ValueError:
        raise InvalidInput(FIELD, "is no file name") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(FIELD, "is a folder; name the file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(FIELD, "is no plain file; save it to one first")
    if found.st_size > most:
        raise InvalidInput(FIELD, f"is larger than {most:,} bytes; split it")
    return found.st_size


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """As text in the encoding that its mark tells, else UTF-8. Bytes that are none of it come as
    halves of surrogate pairs: whoever reads them knows, and the rest of the file is still read."""
    checked_size(path)
    with path.open("rb") as raw:
        yield _as_text(raw)


def _as_text(raw: BinaryIO) -> TextIO:
    head = raw.read(_SNIFFED_BYTES)
    if head.startswith(_ZIPPED):
        raise InvalidInput(FIELD, "is an archive; unpack it, and name the file in it")
    if head.lstrip().lower().startswith(_PAGES):
        raise InvalidInput(FIELD, "is a web page; name the file of JSON or text beside it")
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    if b"\0" in head and not encoding.startswith(("utf-16", "utf-32")):
        raise InvalidInput(FIELD, "is no text; name a file that another memory wrote as text")
    raw.seek(0)
    errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    return TextIOWrapper(raw, encoding=encoding, errors=errors, newline=None)


def lines(file: TextIO) -> Iterator[Line]:
    most = limits.IMPORTER_RECORD_MAX_CHARS
    number = 0
    while text := file.readline(most + 1):
        number += 1
        fits = len(text) <= most or text.endswith("\n")
        rest = text
        while len(rest) > most and not rest.endswith("\n"):
            rest = file.readline(most + 1)
        head = text.lstrip()[:1]
        yield Line(number=number, head=head, text=text.removesuffix("\n") if fits else None)


def is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parsed(text: str) -> Any:
    """JSON. Raises `ValueError` with a reason that says nothing of what stands there."""
    if not is_text(text):
        raise ValueError(NOT_TEXT)
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("is nested too deep") from None
    except ValueError:
        raise ValueError("is not JSON") from None


def _refuse(_: str) -> NoReturn:
    raise ValueError


def moment(value: object) -> datetime | None:
    """A time as another memory writes it; none where it is not to be understood."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def end_of_day(value: object) -> datetime | None:
    """The last moment of a date; a time is itself."""
    if isinstance(value, str):
        try:
            return datetime.combine(date.fromisoformat(value.strip()), time.max, UTC)
        except ValueError:
            pass
    return moment(value)


def pieces(text: str, most: int) -> list[str]:
    """Cut where a line, else a word ends, so that each part is within the bound."""
    found = []
    while len(text) > most:
        at = max(text.rfind("\n", 1, most), 0) or max(text.rfind(" ", 1, most), 0) or most
        found.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [one for one in (*found, text) if one]


def begins_as_json(path: Path) -> bool:
    """A list of things in brackets; `[2025-01-03] - …` is none."""
    with opened(path) as file:
        first = next((line for line in lines(file) if line.head), None)
    if first is None or first.head not in ("{", "["):
        return False
    return first.text is None or _JSON.match(first.text.lstrip()) is not None
