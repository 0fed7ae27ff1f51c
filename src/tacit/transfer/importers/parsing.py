"""Read text, JSON and JSON lines of other systems within bounds, record by record."""

from __future__ import annotations

import codecs
import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO, TypeAlias

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem, ImportPreviewItem

# What readers yield and what an import returns.


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """An item to import, and where it stands in the source."""

    where: str
    item: ImportItem


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPart:
    """A part that cannot be read, and why, without its content."""

    where: str
    why: str
    is_no_memory: bool = False  # text around memories, not a lost memory

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


ReadResult: TypeAlias = "FoundItem | SkippedPart"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePreview:
    """What an import would do."""

    run: str  # the name that the import would have
    total: int  # items that could be read
    new: int
    already: int  # stored already, or repeated in the source
    sensitive: int  # of the new ones
    refused: int  # by Tacit
    skipped: int  # by the reader
    problems: tuple[str, ...]  # the first refusals and skipped parts, with reasons
    shown: tuple[ImportPreviewItem, ...]  # the first new ones, as they would be stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """What an import did; false for a disabled view, which imports nothing."""

    run: str  # `imports.revert` takes it
    total: int
    created: int = 0
    already: int = 0
    refused: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    enabled: bool = True

    def __bool__(self) -> bool:
        return self.enabled


class ProblemList:
    """Collect the first problems as text, and count all that may be lost memories."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.count = 0

    def add(self, problem: str, *, counts: bool = True) -> None:
        self.count += counts
        if len(self.shown) < limits.IMPORTER_PROBLEMS_SHOWN_COUNT:
            self.shown.append(problem)


# Map the labels of other systems: words to tags, headings to categories.

_NON_WORD = re.compile(r"[\W_]+")
# The first match in a heading decides. Without one, the content does.
_CATEGORY_WORDS = (
    ("preference", ("preference", "preferences", "instruction", "instructions", "style", "tone")),
    ("project", ("project", "projects", "work")),
    ("goal", ("goal", "goals", "plans")),
    ("relationship", ("family", "friends", "relationship", "relationships", "people")),
    ("event", ("event", "events", "history")),
    ("procedure", ("procedure", "procedures", "method", "technique", "workflow", "workflows")),
    ("task_state", ("task", "tasks", "todo", "todos")),
    ("profile", ("personal", "profile", "identity", "demographics", "about")),
)


def make_tag(words: str) -> str | None:
    """Return a valid tag: `Work context` gives `work-context`."""
    return _NON_WORD.sub("-", words.casefold()).strip("-")[: limits.TAG_MAX_CHARS].strip("-") or None


def parse_import_tags(words: object) -> tuple[str, ...] | None:
    """Return tags of a list or of comma-separated words; None where there are none."""
    listed: Iterable[object] = ()
    if isinstance(words, str):
        listed = words.split(",")
    elif isinstance(words, Iterable):
        listed = words
    found = dict.fromkeys(one for word in listed if isinstance(word, str) and (one := make_tag(word)))
    return tuple(found)[: limits.TAGS_MAX_COUNT] or None


def guess_category(heading: str | None) -> str | None:
    said = set(_NON_WORD.sub(" ", (heading or "").casefold()).split())
    return next((name for name, words in _CATEGORY_WORDS if not said.isdisjoint(words)), None)


# Files as text, within limits: only plain files, only text, with a limit on line length.

PATH_FIELD = "path"
_SNIFFED_BYTES = 65_536
# Longer ones first: the UTF-32 mark starts with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ARCHIVE_STARTS = (b"PK\x03\x04", b"\x1f\x8b")
_HTML_STARTS = (b"<!doctype", b"<html")
_JSON_START = re.compile(r'\{\s*(?:["}]|\Z)|\[\s*(?:["{\[\]]|\Z)')
NOT_TEXT = "is not UTF-8 text; save the file as UTF-8"
NO_MEMORY = "has no memory in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    number: int
    head: str  # its first nonblank character; empty for a blank line
    text: str | None  # None: it exceeds the limit of a line


def check_size(path: Path, most: int = limits.IMPORTER_FILE_MAX_BYTES) -> int:
    """Return the size of a plain file that is small enough to read."""
    try:
        found = path.stat()
    except ValueError:
        raise InvalidInput(PATH_FIELD, "is not a file name") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(PATH_FIELD, "is a folder; name the file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(PATH_FIELD, "is not a plain file; save it as one first")
    if found.st_size > most:
        raise InvalidInput(PATH_FIELD, f"is larger than {most:,} bytes; split it")
    return found.st_size


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a file as text, in the encoding of its byte order mark or UTF-8.

    Invalid bytes become lone surrogates, so that callers detect them and still read the rest.
    """
    check_size(path)
    with path.open("rb") as raw:
        yield _decode_stream(raw)


def _decode_stream(raw: BinaryIO) -> TextIO:
    head = raw.read(_SNIFFED_BYTES)
    if head.startswith(_ARCHIVE_STARTS):
        raise InvalidInput(PATH_FIELD, "is an archive; unpack it, and name the file in it")
    if head.lstrip().lower().startswith(_HTML_STARTS):
        raise InvalidInput(PATH_FIELD, "is a web page; name the JSON or text file beside it")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")
    if b"\0" in head and not encoding.startswith(("utf-16", "utf-32")):
        raise InvalidInput(PATH_FIELD, "is not text; name a text file that another system exported")
    raw.seek(0)
    errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    return TextIOWrapper(raw, encoding=encoding, errors=errors, newline=None)


def read_text_lines(file: TextIO) -> Iterator[TextLine]:
    most = limits.IMPORTER_RECORD_MAX_CHARS
    number = 0
    while text := file.readline(most + 1):
        number += 1
        fits = len(text) <= most or text.endswith("\n")
        rest = text
        while len(rest) > most and not rest.endswith("\n"):
            rest = file.readline(most + 1)
        head = text.lstrip()[:1]
        yield TextLine(number=number, head=head, text=text.removesuffix("\n") if fits else None)


def is_valid_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_json(text: str) -> Any:
    """Parse JSON. Raises `ValueError` with a reason that does not quote the input."""
    if not is_valid_text(text):
        raise ValueError(NOT_TEXT)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deep") from None
    except ValueError:
        raise ValueError("is not JSON") from None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def parse_moment(value: object) -> datetime | None:
    """Parse a time as other systems write it; None where it is invalid."""
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


def parse_end_of_day(value: object) -> datetime | None:
    """Return the last moment of a date; a time is returned as it is."""
    if isinstance(value, str):
        try:
            return datetime.combine(date.fromisoformat(value.strip()), time.max, UTC)
        except ValueError:
            pass
    return parse_moment(value)


def split_text(text: str, most: int) -> list[str]:
    """Split a text at line ends, else at word ends, into parts within the limit."""
    found = []
    while len(text) > most:
        at = max(text.rfind("\n", 1, most), 0) or max(text.rfind(" ", 1, most), 0) or most
        found.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [one for one in (*found, text) if one]


def begins_as_json(path: Path) -> bool:
    """Report whether a file starts like JSON; `[2025-01-03] - …` does not."""
    with open_text(path) as file:
        first = next((line for line in read_text_lines(file) if line.head), None)
    if first is None or first.head not in ("{", "["):
        return False
    return first.text is None or _JSON_START.match(first.text.lstrip()) is not None


# Read a JSON document incrementally: the elements of its list, or of each list that a field has,
# and its other fields. Each is parsed on its own, so that one that is broken, too long or nested
# too deep is skipped without the others.

TOO_LONG = "is longer than a record may be; leave out what is not needed"
_CUT_SHORT = "the file ends in the middle of it; fetch the file again"
_CHUNK_CHARS = 262_144
_NAME_MAX_CHARS = 200  # of a list, with the whitespace around it
_WHERE_MAX_CHARS = 60
_STRUCTURE_CHARS = re.compile(r'["{}\[\],]')
_STRING_CHARS = re.compile(r'["\\]')
_FIELD_NAME = re.compile(r'\s*+"((?:[^"\\]|\\.)*+)"\s*+:\s*+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonElement:
    where: str
    value: Any
    name: str | None = None  # of the list or field that it is in


def describe_number(name: str | None, number: int) -> str:
    return f"{'item' if name is None else describe_field(name)} {number}"


def describe_field(name: str) -> str:
    """Describe a field of a document as a place."""
    return name[:_WHERE_MAX_CHARS]


def scan_json(file: TextIO) -> Iterator[JsonElement | SkippedPart]:
    scan = _JsonScanner()
    while chunk := file.read(_CHUNK_CHARS):
        yield from scan.chunk(chunk)
    yield from scan.rest()


class _JsonScanner:
    def __init__(self) -> None:
        self._depth = 0
        self._level = 0  # the depth of elements
        self._in_object = False  # the document is an object: its parts have names
        self._name: str | None = None  # of the list being read
        self._number = 0
        self._kept: list[str] = []  # of the element being read
        self._size = 0
        self._in_string = False
        self._escaped = False  # the first character of the next chunk is escaped

    def chunk(self, text: str) -> Iterator[JsonElement | SkippedPart]:
        at, start = int(self._escaped), 0
        self._escaped = False
        while found := (_STRING_CHARS if self._in_string else _STRUCTURE_CHARS).search(text, at):
            at, mark = found.end(), found[0]
            if mark == "\\":
                self._escaped = at == len(text)
                at += 1
            elif mark == '"':
                self._in_string = not self._in_string
            elif mark in "{[":
                self._depth += 1
                if self._depth == 1 or (mark == "[" and self._begins_list(text[start : at - 1])):
                    self._open_bracket(mark)
                    start = at
            elif self._depth == 0:
                continue  # ignore anything between documents
            elif self._depth == self._level:
                yield from self._end_element(text[start : at - 1])
                start = at
                if mark != ",":
                    self._close_bracket()
            elif mark != ",":
                self._depth -= 1
        if self._depth:
            self._keep(text[start:])

    def rest(self) -> Iterator[SkippedPart]:
        if self._depth:
            yield SkippedPart(where=describe_number(self._name, self._number + 1), why=_CUT_SHORT)

    def _begins_list(self, before: str) -> bool:
        """Report whether a list of a field of the document starts here, and note its name."""
        in_field = self._in_object and self._level == 1 and self._depth == 2
        if not in_field or self._size + len(before) >= _NAME_MAX_CHARS:
            return False
        found = _FIELD_NAME.fullmatch("".join(self._kept) + before)
        if found is not None:
            self._name = found[1]
        return found is not None

    def _open_bracket(self, mark: str) -> None:
        if self._depth == 1:
            self._in_object, self._name = mark == "{", None
        self._level, self._number = self._depth, 0
        self._kept, self._size = [], 0

    def _close_bracket(self) -> None:
        self._depth -= 1
        self._level = self._depth
        self._name = None
        if self._depth:
            self._number = 0

    def _keep(self, text: str) -> None:
        self._size += len(text)
        if self._size <= limits.IMPORTER_RECORD_MAX_CHARS:
            self._kept.append(text)

    def _end_element(self, last: str) -> Iterator[JsonElement | SkippedPart]:
        self._keep(last)
        fits, text = self._size <= limits.IMPORTER_RECORD_MAX_CHARS, "".join(self._kept)
        self._kept, self._size = [], 0
        if fits and not text.strip():
            return
        self._number += 1
        where = describe_number(self._name, self._number)
        if not fits:
            yield SkippedPart(where=where, why=TOO_LONG)
            return
        try:
            if self._in_object and self._level == 1:
                for name, value in parse_json(f"{{{text}}}").items():
                    yield JsonElement(where=describe_field(name), value=value, name=name)
            else:
                yield JsonElement(where=where, value=parse_json(text), name=self._name)
        except ValueError as error:
            yield SkippedPart(where=where, why=str(error))


# Records of a JSON file, one at a time: JSON Lines, or a document with a list. One that is broken,
# too long or nested too deep does not affect the others.

_LOOKED_AT_LINES = 8  # to tell JSON Lines from a document
_JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")


def read_records(
    path: Path, wrappers: frozenset[str], read: Callable[[JsonElement], Iterable[ReadResult]]
) -> Iterator[ReadResult]:
    """Yield what `read` finds in the elements of a file, and the parts that cannot be read."""
    for one in read_elements(path, wrappers):
        yield from [one] if isinstance(one, SkippedPart) else read(one)


def read_elements(path: Path, wrappers: frozenset[str]) -> Iterator[JsonElement | SkippedPart]:
    """Yield the elements of a file; `wrappers` are field names that identify a document."""
    if _is_json_lines(path):
        with open_text(path) as file:
            yield from (_parse_json_line(line) for line in read_text_lines(file) if line.head)
        return
    if check_size(path) <= limits.IMPORTER_RECORD_MAX_CHARS:
        with open_text(path) as file:
            whole = file.read()
        try:
            value = parse_json(whole)
        except ValueError:
            pass  # its valid parts are read one by one
        else:
            yield from _document_elements(value, wrappers)
            return
    with open_text(path) as file:
        yield from scan_json(file)


def _is_json_lines(path: Path) -> bool:
    """Report whether a file is JSON Lines.

    Each line starts with a brace, or most are records by themselves; neither holds for the lines of
    a document.
    """
    if path.suffix.lower() in _JSON_LINES_SUFFIXES:
        return True
    with open_text(path) as file:
        lines = (line for line in read_text_lines(file) if line.head)
        looked_at = list(islice(lines, _LOOKED_AT_LINES))
    heads = [line.head for line in looked_at]
    if len(heads) > 1 and heads[0] != "[":
        whole = sum(line.head == "{" and isinstance(_parse_json_line(line), JsonElement) for line in looked_at)
        if set(heads) == {"{"} or whole * 2 >= len(heads):
            return True
    if heads and heads[0] not in ("{", "["):
        raise InvalidInput(PATH_FIELD, "is not JSON; check the file and the format")
    return False


def _parse_json_line(line: TextLine) -> JsonElement | SkippedPart:
    where = f"line {line.number}"
    if line.text is None:
        return SkippedPart(where=where, why=TOO_LONG)
    try:
        return JsonElement(where=where, value=parse_json(line.text))
    except ValueError as error:
        return SkippedPart(where=where, why=str(error))


def _document_elements(value: Any, wrappers: frozenset[str]) -> Iterator[JsonElement]:
    parts: Iterable[tuple[str | None, Any]] = [(None, value if isinstance(value, list) else [value])]
    if isinstance(value, dict) and not wrappers.isdisjoint(value):
        parts = value.items()
    for name, one in parts:
        if name is not None and not isinstance(one, list):
            yield JsonElement(where=describe_field(name), value=one, name=name)
            continue
        for number, element in enumerate(one, start=1):
            yield JsonElement(where=describe_number(name, number), value=element, name=name)


def find_text(value: Mapping[str, Any], fields: Iterable[str]) -> str:
    """Return the first of these fields that is a text, stripped; empty without one."""
    return next((value[name] for name in fields if isinstance(value.get(name), str)), "").strip()


def find_source_id(value: Mapping[str, Any]) -> str | None:
    id = value.get("id")
    return id if isinstance(id, str) and id else None
