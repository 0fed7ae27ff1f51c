"""Read the memories that ChatGPT and Claude export, or that a person copied as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from tacit import limits
from tacit.records.drafts import ImportItem
from tacit.transfer.importers.parsing import (
    NO_MEMORY,
    NOT_TEXT,
    TOO_LONG,
    FoundItem,
    JsonElement,
    ReadResult,
    SkippedPart,
    TextLine,
    begins_as_json,
    describe_field,
    find_source_id,
    find_text,
    guess_category,
    is_valid_text,
    open_text,
    parse_import_tags,
    parse_moment,
    read_records,
    read_text_lines,
    split_text,
)

# Memories as copied text: bullets, numbers, dates in brackets, headings and paragraphs, with or
# without a code fence.

LineSource = Callable[[], Iterable[TextLine]]

_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*(?:[-=_*]\s*){3,}\Z")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•◦‣▪–—]|\d{1,5}[.)])[ \t]+(?=\S)")
_BOX = re.compile(r"\[[ xX]\]\s+")
_BRACKET = re.compile(r"\[([^\[\]]{1,40})\]\s*[.:]?\s*(?:[-–—:]\s+)?(?=\S)")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\s*(?:[-–—:]|\s)\s*(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+([^\n]+)")
_BOLD_LINE = re.compile(r"\s*(?:\*\*([^*]{1,80})\*\*|__([^_]{1,80})__):?\s*\Z")
_SLANTED_LINE = re.compile(r"\s*(?:\*([^*]{1,80})\*|_([^_]{1,80})_):?\s*\Z")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_NO_DATE = frozenset({"unknown", "date unknown", "unknown date", "no date", "undated", "n/a", "-"})
_STATUSES = frozenset({"stated", "inferred"})
_WRITTEN_DAYS = ("%Y/%m/%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y")
_ENDS = (".", "!", "?", ":", ";", "…", '"', "”", ")")
_WRAPPED_FROM_CHARS = 60  # a shorter line was not wrapped
_PARENT_MAX_CHARS = 120
_PARENTS_MAX_COUNT = 3  # added to what is below them
_HEADING_MAX_WORDS = 4
_HEADING_MAX_CHARS = 80
_SENTENCE_ENDS = (".", "!", "?", ";", "…")
_TITLES = frozenset({"memory", "memories", "saved memories", "your memories", "my memories"})
_LEFT_OF_ALL = -1  # the indent of a line above a list
_OUTSIDE_REASON = "stands outside the code block"
_INTRODUCTION_REASON = "only introduces a list"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    line: int
    text: str
    headings: tuple[str, ...] = ()  # above it, the widest first
    created_at: datetime | None = None
    status: str | None = None  # `stated` or `inferred`, where the text says so


def parse_entries(lines: LineSource) -> Iterator[ListEntry | SkippedPart]:
    """Yield the entries of a text. Where most of it is in code fences, the rest is chatter."""
    only_fenced = _is_fenced(lines())
    listing = _EntryParser()
    fenced = False
    for line in lines():
        where = f"line {line.number}"
        if line.text is None or not is_valid_text(line.text):
            yield from listing.end_entry()
            yield SkippedPart(where=where, why=TOO_LONG if line.text is None else NOT_TEXT)
        elif _FENCE.match(line.text):
            yield from listing.end_entry()
            fenced = not fenced
        elif only_fenced and not fenced:
            if line.head:
                yield SkippedPart(where=where, why=_OUTSIDE_REASON, is_no_memory=True)
        else:
            yield from listing.read_line(line.number, line.text)
    yield from listing.end_entry()


def lines_of_text(text: str) -> LineSource:
    """Read the lines of a text inside a document."""
    return lambda: (
        TextLine(number=number, head=one.strip()[:1], text=one) for number, one in enumerate(text.splitlines(), start=1)
    )


def _is_fenced(lines: Iterable[TextLine]) -> bool:
    inside = outside = 0
    fenced = False
    for line in lines:
        if line.text is not None and _FENCE.match(line.text):
            fenced = not fenced
        elif line.head:
            inside, outside = inside + fenced, outside + (not fenced)
    return inside >= max(outside, 1)


@dataclass(slots=True)
class _OpenEntry:
    """The entry being read."""

    line: int
    parts: list[str]
    indent: int | None = None  # of its bullet; None: it is prose
    created_at: datetime | None = None
    status: str | None = None

    @property
    def is_wrapped(self) -> bool:
        last = self.parts[-1]
        return len(last) >= _WRAPPED_FROM_CHARS and not last.endswith(_ENDS)

    @property
    def may_introduce(self) -> bool:
        """Report whether it may introduce the list below it."""
        said = self.parts[-1]
        short = len(self.parts) == 1 and len(said) <= _PARENT_MAX_CHARS
        return short and said.endswith(":")


@dataclass(slots=True)
class _EntryParser:
    heading: str | None = None
    below: str | None = None  # a subheading
    above: str | None = None  # the line that introduces the list being read
    now: _OpenEntry | None = None
    after_blank: bool = False
    parents: list[tuple[int, str]] = field(default_factory=list)  # bullets with others below them

    def read_line(self, number: int, text: str) -> Iterator[ListEntry | SkippedPart]:
        if not text.strip():
            self.after_blank = True
            if self.now is not None and self.now.indent is None and not self.now.may_introduce:
                yield from self.end_entry()
            return
        if _is_heading(text) or _RULE.match(text):
            yield from self.end_entry()
            self._list_ended()
            self._headed(text)
            return
        bullet = _BULLET.match(text)
        if bullet is not None:
            yield from self._bullet(number, text, bullet)
        elif self._continues(text):
            assert self.now is not None
            self.now.parts.append(text.strip())
        else:
            yield from self.end_entry()
            self._list_ended()
            if _clean_title(text).casefold() in _TITLES:
                yield SkippedPart(where=f"line {number}", why=_INTRODUCTION_REASON, is_no_memory=True)
            else:
                self.now = _begin_entry(number, text.strip(), None)
        self.after_blank = False

    def end_entry(self) -> Iterator[ListEntry]:
        now, self.now = self.now, None
        if now is None:
            return
        parents = [parent for _, parent in self.parents[-_PARENTS_MAX_COUNT:]]
        said = " ".join([*parents, "\n".join(now.parts)])
        under = (self.heading, self.below, self.above)
        for part in split_text(_BOLD.sub(r"\1", said), limits.CONTENT_MAX_CHARS):
            yield ListEntry(
                line=now.line,
                text=part,
                headings=tuple(one for one in under if one),
                created_at=now.created_at,
                status=now.status,
            )

    def _headed(self, text: str) -> None:
        if hashed := _HEADING.match(text):
            self.heading, self.below = _clean_title(_BOLD.sub(r"\1", hashed[1])), None
        elif bold := _BOLD_LINE.match(text):
            self.heading, self.below = _clean_title(bold[1] or bold[2]), None
        elif slanted := _SLANTED_LINE.match(text):
            self.below = _clean_title(slanted[1] or slanted[2])

    def _list_ended(self) -> None:
        self.parents.clear()
        self.above = None

    def _bullet(self, number: int, text: str, bullet: re.Match[str]) -> Iterator[ListEntry | SkippedPart]:
        indent = len(bullet[1].expandtabs(4))
        last = self.now
        if last is not None and last.may_introduce:
            said = last.parts[-1]
            if last.indent is None:
                self.now = None
                yield from self._introduced(last.line, said)
            elif last.indent < indent:
                self.parents.append((last.indent, said))
                self.now = None
        yield from self.end_entry()
        while self.parents and self.parents[-1][0] >= indent:
            self.parents.pop()
        self.now = _begin_entry(number, text[bullet.end() :].strip(), indent)

    def _introduced(self, line: int, said: str) -> Iterator[SkippedPart]:
        """Handle a line above a list.

        The name of a category heads it, as `Projects:` does. Other short lines are added to each
        entry, because they may be half a sentence: `Wants recipes:`.
        """
        title = said.rstrip(": ")
        if len(said.split()) > _HEADING_MAX_WORDS:
            yield SkippedPart(where=f"line {line}", why=_INTRODUCTION_REASON, is_no_memory=True)
        elif guess_category(title) is not None:
            self.above = title
        else:
            self.parents.append((_LEFT_OF_ALL, said))

    def _continues(self, text: str) -> bool:
        if self.now is None or _match_date(text.strip()) is not None:
            return False
        if self.now.indent is not None and text[0] in " \t":
            return True
        return not self.after_blank and self.now.is_wrapped


def _is_heading(text: str) -> bool:
    """Report whether a line is a heading: emphasized as a whole, and no sentence."""
    emphasised = _BOLD_LINE.match(text) or _SLANTED_LINE.match(text)
    if emphasised is None:
        return _HEADING.match(text) is not None
    return not (emphasised[1] or emphasised[2]).rstrip().endswith(_SENTENCE_ENDS)


def _clean_title(said: str) -> str:
    return said.strip("#: \t")[:_HEADING_MAX_CHARS]


def _begin_entry(number: int, text: str, indent: int | None) -> _OpenEntry:
    text = _BOX.sub("", text, count=1) if indent is not None else text
    created_at = standing = None
    dated = _match_date(text)
    if dated is not None:
        said = dated[1].strip()
        created_at = _parse_day(said)
        standing = said.lower() if said.lower() in _STATUSES else None
        text = text[dated.end() :]
    return _OpenEntry(number, [text], indent, created_at, standing)


def _match_date(text: str) -> re.Match[str] | None:
    """Match a date, or "unknown", in brackets before an entry. Other brackets are content."""
    found = _BRACKET.match(text)
    if found is not None:
        said = found[1].strip()
        known = said.lower() in _NO_DATE or said.lower() in _STATUSES
        return found if known or _parse_day(said) is not None else None
    found = _DAY.match(text)
    return found if found is not None and _parse_day(found[1]) is not None else None


def _parse_day(text: str) -> datetime | None:
    found = parse_moment(text)
    for form in _WRITTEN_DAYS if found is None else ():
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return found


# ChatGPT: the saved memories copied as text, `memories.json`, and what it noted in the
# conversations of an export.

_CHATGPT_LISTS = frozenset({"memories", "memory", "conversations"})
_TEXT_FIELDS = ("content", "memory", "text", "value")
_BIO_TOOL = "bio"  # the recipient of a message that saves a memory
_FORGET_PREFIX = "forget "


def read_chatgpt(path: Path) -> Iterator[ReadResult]:
    if not begins_as_json(path):
        yield from read_entries(lines_of_file(path))
        return
    said: set[str] = set()  # conversations may repeat each other's entries
    records = read_records(path, _CHATGPT_LISTS, lambda one: _read_element(one.where, one.value))
    for found in records:
        if isinstance(found, SkippedPart):
            yield found
        elif found.item.content not in said:
            said.add(found.item.content)
            yield found


def lines_of_file(path: Path) -> LineSource:
    def read_lines() -> Iterator[TextLine]:
        with open_text(path) as file:
            yield from read_text_lines(file)

    return read_lines


def read_entries(
    lines: LineSource, *, within: str = "", filed: str | None = None, tags: tuple[str, ...] = ()
) -> Iterator[ReadResult]:
    """Yield the entries of a text as items to import."""
    for one in parse_entries(lines):
        where = one.where if isinstance(one, SkippedPart) else f"line {one.line}"
        where = f"{within}, {where}" if within else where
        if isinstance(one, SkippedPart):
            yield replace(one, where=where)
            continue
        named = (guess_category(heading) for heading in reversed(one.headings))
        item = ImportItem(
            content=one.text,
            category=next(filter(None, named), filed),
            tags=parse_import_tags((*tags, *one.headings, one.status or "")),
            created_at=one.created_at,
        )
        yield FoundItem(where=where, item=item)


def _read_element(where: str, value: Any) -> Iterator[ReadResult]:
    if isinstance(value, str) and value.strip():
        yield FoundItem(where=where, item=ImportItem(content=value.strip()))
    elif isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        for node in value["mapping"].values():
            message = node.get("message") if isinstance(node, dict) else None
            if isinstance(message, dict):
                yield from _read_message(where, message)
    elif isinstance(value, dict):
        yield _read_saved_memory(where, value)
    else:
        yield SkippedPart(where=where, why="is no memory")


def _read_saved_memory(where: str, value: dict[str, Any]) -> ReadResult:
    words = find_text(value, _TEXT_FIELDS)
    if not words:
        return SkippedPart(where=where, why=NO_MEMORY)
    if value.get("enabled") is False:
        return SkippedPart(where=where, why="was disabled", is_no_memory=True)
    created_at = parse_moment(value.get("created_at") or value.get("updated_at"))
    item = ImportItem(content=words, created_at=created_at, source=find_source_id(value))
    return FoundItem(where=where, item=item)


def _read_message(where: str, message: dict[str, Any]) -> Iterator[ReadResult]:
    content = message.get("content")
    if not isinstance(content, dict):
        return
    known = content.get("model_set_context")  # the list shown to the model
    if isinstance(known, str):
        yield from read_entries(lines_of_text(known), within=where)
    if message.get("recipient") != _BIO_TOOL:
        return
    parts = content.get("parts")
    said = "\n".join(part for part in parts or () if isinstance(part, str)).strip()
    if said.lower().startswith(_FORGET_PREFIX):
        yield SkippedPart(where=where, why="asks to forget something", is_no_memory=True)
    elif said:
        created_at = parse_moment(message.get("create_time"))
        yield FoundItem(where=where, item=ImportItem(content=said, created_at=created_at))


# Claude: its memory copied as text, and `memories.json` of an export.

_CONVERSATIONS_FIELD = "conversations_memory"
_PROJECTS_FIELD = "project_memories"
_FILES_FIELD = "memory_files"
_PARTS = frozenset({_CONVERSATIONS_FIELD, _PROJECTS_FIELD, _FILES_FIELD})
_PROJECT = "project"


def read_claude(path: Path) -> Iterator[ReadResult]:
    if not begins_as_json(path):
        return read_entries(lines_of_file(path))
    return read_records(path, _PARTS, _read_claude_element)


def _read_claude_element(one: JsonElement) -> Iterator[ReadResult]:
    if one.name == _FILES_FIELD:
        yield from _read_memory_file(one.where, one.value)
    elif one.name is not None:
        yield from _read_part(one.name, one.value, one.name)
    elif isinstance(one.value, dict) and not _PARTS.isdisjoint(one.value):
        for name, value in one.value.items():
            yield from _read_part(name, value, f"{one.where}, {describe_field(name)}")
    else:
        yield SkippedPart(where=one.where, why=NO_MEMORY)


def _read_part(name: str, value: Any, where: str) -> Iterator[ReadResult]:
    if name == _CONVERSATIONS_FIELD and isinstance(value, str):
        yield from read_entries(lines_of_text(value), within=where)
    elif name == _PROJECTS_FIELD and isinstance(value, Mapping):
        for number, text in enumerate(value.values(), start=1):
            here = f"{where} {number}"
            if isinstance(text, str):
                lines = lines_of_text(text)
                yield from read_entries(lines, within=here, filed=_PROJECT, tags=(_PROJECT,))
            else:
                yield SkippedPart(where=here, why=NO_MEMORY)
    elif name == _FILES_FIELD and isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield from _read_memory_file(f"{where} {number}", one)


def _read_memory_file(where: str, value: Any) -> Iterator[ReadResult]:
    given = value if isinstance(value, Mapping) else {}
    path, content = given.get("path"), given.get("content")
    if not isinstance(path, str) or not isinstance(content, str):
        yield SkippedPart(where=where, why=NO_MEMORY)
        return
    topic = PurePosixPath(path).stem
    filed = guess_category(topic)
    yield from read_entries(lines_of_text(content), within=where, filed=filed, tags=(topic,))
