"""Read text, JSON and JSON lines of other systems within bounds, record by record."""

from __future__ import annotations

import codecs
import json
import re
import stat
from collections.abc import Iterable, Iterator
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

# What readers give, and what comes of it: something to take in, or why something was not.


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """Something to take in, and where it stands."""

    where: str
    item: ImportItem


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPart:
    """A part that cannot be read, and why: never with what it says."""

    where: str
    why: str
    is_no_memory: bool = False  # no memory, but words around one

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


ReadResult: TypeAlias = "FoundItem | SkippedPart"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePreview:
    """What it would come to. Nothing of it is done."""

    run: str  # the name that the import would have
    total: int  # what could be read
    new: int
    already: int  # here by now, or there twice
    sensitive: int  # of the new ones
    refused: int  # by the memory
    skipped: int  # by the reader
    problems: tuple[str, ...]  # the first of what was refused or skipped, and why
    shown: tuple[ImportPreviewItem, ...]  # the first of the new ones, as they would be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """What was done; from a disabled view nothing: then it is false."""

    run: str  # what `revert_import` takes it back by
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
    """The first few in words; all of them as a count, but for words that were no memory."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.count = 0

    def add(self, problem: str, *, counts: bool = True) -> None:
        self.count += counts
        if len(self.shown) < limits.IMPORTER_PROBLEMS_SHOWN_COUNT:
            self.shown.append(problem)


# Where something is filed here that had a place of another kind elsewhere: words as tags, headings
# as categories.

_NON_WORD = re.compile(r"[\W_]+")
# The first of which a word stands in a heading decides. Others are left to the memory.
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
    """In the form that tags have: `Work context` is `work-context`."""
    return (
        _NON_WORD.sub("-", words.casefold()).strip("-")[: limits.TAG_MAX_CHARS].strip("-") or None
    )


def parse_import_tags(words: object) -> tuple[str, ...] | None:
    """Of a list, or of words between commas; none where there are none."""
    listed: Iterable[object] = ()
    if isinstance(words, str):
        listed = words.split(",")
    elif isinstance(words, Iterable):
        listed = words
    found = dict.fromkeys(
        one for word in listed if isinstance(word, str) and (one := make_tag(word))
    )
    return tuple(found)[: limits.TAGS_MAX_COUNT] or None


def guess_category(heading: str | None) -> str | None:
    said = set(_NON_WORD.sub(" ", (heading or "").casefold()).split())
    return next((name for name, words in _CATEGORY_WORDS if not said.isdisjoint(words)), None)


# Files as text, within bounds: only plain files, only text, and no more of a line than fits.

PATH_FIELD = "path"
_SNIFFED_BYTES = 65_536
# The longer ones first: the mark of UTF-16 is how that of UTF-32 begins.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    number: int
    head: str  # its first character that is no blank; empty for a blank line
    text: str | None  # none: it is longer than a line may be


def check_size(path: Path, most: int = limits.IMPORTER_FILE_MAX_BYTES) -> int:
    """Of a plain file that is small enough to be read."""
    try:
        found = path.stat()
    except ValueError:
        raise InvalidInput(PATH_FIELD, "is no file name") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(PATH_FIELD, "is a folder; name the file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(PATH_FIELD, "is no plain file; save it to one first")
    if found.st_size > most:
        raise InvalidInput(PATH_FIELD, f"is larger than {most:,} bytes; split it")
    return found.st_size


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """As text in the encoding that its mark tells, else UTF-8. Bytes that are none of it come as
    halves of surrogate pairs: whoever reads them knows, and the rest of the file is still read."""
    check_size(path)
    with path.open("rb") as raw:
        yield _decode_stream(raw)


def _decode_stream(raw: BinaryIO) -> TextIO:
    head = raw.read(_SNIFFED_BYTES)
    if head.startswith(_ARCHIVE_STARTS):
        raise InvalidInput(PATH_FIELD, "is an archive; unpack it, and name the file in it")
    if head.lstrip().lower().startswith(_HTML_STARTS):
        raise InvalidInput(PATH_FIELD, "is a web page; name the file of JSON or text beside it")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")
    if b"\0" in head and not encoding.startswith(("utf-16", "utf-32")):
        raise InvalidInput(PATH_FIELD, "is no text; name a file that another memory wrote as text")
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
    """JSON. Raises `ValueError` with a reason that says nothing of what stands there."""
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


def parse_end_of_day(value: object) -> datetime | None:
    """The last moment of a date; a time is itself."""
    if isinstance(value, str):
        try:
            return datetime.combine(date.fromisoformat(value.strip()), time.max, UTC)
        except ValueError:
            pass
    return parse_moment(value)


def split_text(text: str, most: int) -> list[str]:
    """Cut where a line, else a word ends, so that each part is within the bound."""
    found = []
    while len(text) > most:
        at = max(text.rfind("\n", 1, most), 0) or max(text.rfind(" ", 1, most), 0) or most
        found.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [one for one in (*found, text) if one]


def begins_as_json(path: Path) -> bool:
    """A list of things in brackets; `[2025-01-03] - …` is none."""
    with open_text(path) as file:
        first = next((line for line in read_text_lines(file) if line.head), None)
    if first is None or first.head not in ("{", "["):
        return False
    return first.text is None or _JSON_START.match(first.text.lstrip()) is not None


# A JSON document in the order of its characters: the elements of its list, or of each list that a
# field of it has, and its other fields. Each is parsed on its own, so that one that is broken, too
# long or nested too deep is left out and the others are not.

TOO_LONG = "is longer than a record may be; leave out what is not needed"
_CUT_SHORT = "the file ends in the middle of it; fetch the file again"
_CHUNK_CHARS = 262_144
_NAME_MAX_CHARS = 200  # of a list, with the blanks around it
_WHERE_MAX_CHARS = 60
_STRUCTURE_CHARS = re.compile(r'["{}\[\],]')
_STRING_CHARS = re.compile(r'["\\]')
_FIELD_NAME = re.compile(r'\s*+"((?:[^"\\]|\\.)*+)"\s*+:\s*+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonElement:
    where: str
    value: Any
    name: str | None = None  # of the list or the field of a document that it stands in


def describe_number(name: str | None, number: int) -> str:
    return f"item {number}" if name is None else f"{describe_field(name)} {number}"


def describe_field(name: str) -> str:
    """A field of a document, as a place in it."""
    return name[:_WHERE_MAX_CHARS]


def scan_json(file: TextIO) -> Iterator[JsonElement | SkippedPart]:
    scan = _JsonScanner()
    while chunk := file.read(_CHUNK_CHARS):
        yield from scan.chunk(chunk)
    yield from scan.rest()


class _JsonScanner:
    def __init__(self) -> None:
        self._depth = 0
        self._level = 0  # the depth at which elements stand
        self._in_object = False  # the document is one: its parts have names
        self._name: str | None = None  # of the list that is being read
        self._number = 0
        self._kept: list[str] = []  # of the element that is being read
        self._size = 0
        self._in_string = False
        self._escaped = False  # the first character of the next chunk is

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
                if self._depth == 1 or (
                    self._may_name(mark, at - start) and self._set_name(text[start : at - 1])
                ):
                    self._open_bracket(mark)
                    start = at
            elif self._depth == 0:
                continue  # between two documents nothing is meant
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

    def _may_name(self, mark: str, near: int) -> bool:
        """Whether a list may begin here that a field of the document has."""
        in_field = self._in_object and self._level == 1 and self._depth == 2
        return mark == "[" and in_field and self._size + near <= _NAME_MAX_CHARS

    def _set_name(self, before: str) -> bool:
        found = _FIELD_NAME.fullmatch("".join(self._kept) + before)
        if found is not None:
            self._name = found[1]
        return found is not None

    def _open_bracket(self, mark: str) -> None:
        if self._depth == 1:
            self._in_object, self._name = mark == "{", None
        self._level, self._number = self._depth, 0
        self._clear()

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

    def _clear(self) -> None:
        self._kept.clear()
        self._size = 0

    def _end_element(self, last: str) -> Iterator[JsonElement | SkippedPart]:
        self._keep(last)
        fits, text = self._size <= limits.IMPORTER_RECORD_MAX_CHARS, "".join(self._kept)
        self._clear()
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


# Records of a JSON file, one at a time: lines of JSON, or a document with a list in it. One that
# is broken, too long or nested too deep does not take the others with it.

_LOOKED_AT_LINES = 8  # to tell lines of JSON from a document
_JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")


def read_elements(path: Path, wrappers: frozenset[str]) -> Iterator[JsonElement | SkippedPart]:
    """What a file holds. `wrappers` are the names by which a document is told from a record."""
    if _is_json_lines(path):
        with open_text(path) as file:
            yield from _read_json_lines(file)
        return
    if check_size(path) <= limits.IMPORTER_RECORD_MAX_CHARS:
        with open_text(path) as file:
            whole = file.read()
        try:
            value = parse_json(whole)
        except ValueError:
            pass  # its good parts are read one by one
        else:
            yield from _document_elements(value, wrappers)
            return
    with open_text(path) as file:
        yield from scan_json(file)


def _is_json_lines(path: Path) -> bool:
    """Lines of JSON each begin with a brace, or most of them are a record by themselves, and a few
    are broken; the lines of a document are neither."""
    if path.suffix.lower() in _JSON_LINES_SUFFIXES:
        return True
    with open_text(path) as file:
        looked_at = list(islice(filter(_is_nonblank, read_text_lines(file)), _LOOKED_AT_LINES))
    heads = [line.head for line in looked_at]
    if len(heads) > 1 and heads[0] != "[":
        whole = sum(_is_record(line) for line in looked_at)
        if set(heads) == {"{"} or whole * 2 >= len(heads):
            return True
    if heads and heads[0] not in ("{", "["):
        raise InvalidInput(PATH_FIELD, "is no JSON; look at what was saved, and which format it is")
    return False


def _is_record(line: TextLine) -> bool:
    found = _parse_json_line(line) if line.head == "{" else None
    return isinstance(found, JsonElement)


def _is_nonblank(line: TextLine) -> bool:
    return bool(line.head)


def _read_json_lines(file: TextIO) -> Iterator[JsonElement | SkippedPart]:
    for line in read_text_lines(file):
        if _is_nonblank(line):
            yield _parse_json_line(line)


def _parse_json_line(line: TextLine) -> JsonElement | SkippedPart:
    where = f"line {line.number}"
    if line.text is None:
        return SkippedPart(where=where, why=TOO_LONG)
    try:
        return JsonElement(where=where, value=parse_json(line.text))
    except ValueError as error:
        return SkippedPart(where=where, why=str(error))


def _document_elements(value: Any, wrappers: frozenset[str]) -> Iterator[JsonElement]:
    if isinstance(value, dict) and not wrappers.isdisjoint(value):
        for name, one in value.items():
            if isinstance(one, list):
                yield from _list_elements(one, name)
            else:
                yield JsonElement(where=describe_field(name), value=one, name=name)
    elif isinstance(value, list):
        yield from _list_elements(value, None)
    else:
        yield JsonElement(where="item 1", value=value)


def _list_elements(values: list[Any], name: str | None) -> Iterator[JsonElement]:
    for number, one in enumerate(values, start=1):
        yield JsonElement(where=describe_number(name, number), value=one, name=name)
