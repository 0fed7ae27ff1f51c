"""Memories as a text that somebody copied: bullets, numbers, dates in brackets, headings and
paragraphs, with or without a code fence around."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tacit import limits
from tacit.surfaces.moving.filing import category
from tacit.surfaces.moving.records import Skipped
from tacit.surfaces.moving.scanning import TOO_LONG
from tacit.surfaces.moving.texts import NOT_TEXT, Line, is_text, moment, pieces

Lines = Callable[[], Iterable[Line]]

_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*(?:[-=_*]\s*){3,}\Z")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•◦‣▪–—]|\d{1,5}[.)])[ \t]+(?=\S)")
_BOX = re.compile(r"\[[ xX]\]\s+")
_BRACKET = re.compile(r"\[([^\[\]]{1,40})\]\s*[.:]?\s*(?:[-–—:]\s+)?(?=\S)")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\s*(?:[-–—:]|\s)\s*(?=\S)")
_HASHED = re.compile(r" {0,3}#{1,6}[ \t]+([^\n]+)")
_BOLD_LINE = re.compile(r"\s*(?:\*\*([^*]{1,80})\*\*|__([^_]{1,80})__):?\s*\Z")
_SLANTED_LINE = re.compile(r"\s*(?:\*([^*]{1,80})\*|_([^_]{1,80})_):?\s*\Z")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_NO_DATE = frozenset({"unknown", "date unknown", "unknown date", "no date", "undated", "n/a", "-"})
_STANDINGS = frozenset({"stated", "inferred"})
_WRITTEN_DAYS = ("%Y/%m/%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y")
_ENDS = (".", "!", "?", ":", ";", "…", '"', "”", ")")
_WRAPPED_FROM_CHARS = 60  # a shorter line was not broken by the margin
_PARENT_MAX_CHARS = 120
_PARENTS_MAX_COUNT = 3  # that are told with what is below them
_HEADING_MAX_WORDS = 4
_HEADING_MAX_CHARS = 80
_SENTENCE_ENDS = (".", "!", "?", ";", "…")
_TITLES = frozenset({"memory", "memories", "saved memories", "your memories", "my memories"})
_LEFT_OF_ALL = -1  # the indent of a line above a list
_OUTSIDE = "stands outside the code block"
_INTRODUCES = "only introduces a list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    line: int
    text: str
    headings: tuple[str, ...] = ()  # that it stands under, the widest first
    created_at: datetime | None = None
    status: str | None = None  # `stated` or `inferred`, where the text says so


def entries(lines: Lines) -> Iterator[Entry | Skipped]:
    """What the text lists. Where most of it stands in code fences, what is outside is chatter."""
    only_fenced = _is_fenced(lines())
    listing = _Listing()
    fenced = False
    for line in lines():
        where = f"line {line.number}"
        if line.text is None or not is_text(line.text):
            yield from listing.end_entry()
            yield Skipped(where=where, why=TOO_LONG if line.text is None else NOT_TEXT)
        elif _FENCE.match(line.text):
            yield from listing.end_entry()
            fenced = not fenced
        elif only_fenced and not fenced:
            if line.head:
                yield Skipped(where=where, why=_OUTSIDE, is_no_memory=True)
        else:
            yield from listing.read_line(line.number, line.text)
    yield from listing.end_entry()


def text_lines(text: str) -> Lines:
    """Of a text that is part of something else."""
    return lambda: (
        Line(number=number, head=one.strip()[:1], text=one)
        for number, one in enumerate(text.splitlines(), start=1)
    )


def _is_fenced(lines: Iterable[Line]) -> bool:
    inside = outside = 0
    fenced = False
    for line in lines:
        if line.text is not None and _FENCE.match(line.text):
            fenced = not fenced
        elif line.head:
            inside, outside = inside + fenced, outside + (not fenced)
    return inside >= max(outside, 1)


@dataclass(slots=True)
class _Open:
    """The entry that is being read."""

    line: int
    parts: list[str]
    indent: int | None = None  # of its bullet; none: it is prose
    created_at: datetime | None = None
    status: str | None = None

    @property
    def is_wrapped(self) -> bool:
        last = self.parts[-1]
        return len(last) >= _WRAPPED_FROM_CHARS and not last.endswith(_ENDS)

    @property
    def may_introduce(self) -> bool:
        """Whether what follows is listed below it, if it is a list."""
        said = self.parts[-1]
        short = len(self.parts) == 1 and len(said) <= _PARENT_MAX_CHARS
        return short and said.endswith(":")


@dataclass(slots=True)
class _Listing:
    heading: str | None = None
    below: str | None = None  # a lesser heading under it
    above: str | None = None  # the name of the list that is being read
    now: _Open | None = None
    after_blank: bool = False
    parents: list[tuple[int, str]] = field(default_factory=list)  # bullets that others are below

    def read_line(self, number: int, text: str) -> Iterator[Entry | Skipped]:
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
            if _title(text).casefold() in _TITLES:
                yield Skipped(where=f"line {number}", why=_INTRODUCES, is_no_memory=True)
            else:
                self.now = _begun(number, text.strip(), None)
        self.after_blank = False

    def end_entry(self) -> Iterator[Entry]:
        now, self.now = self.now, None
        if now is None:
            return
        parents = [parent for _, parent in self.parents[-_PARENTS_MAX_COUNT:]]
        said = " ".join([*parents, "\n".join(now.parts)])
        under = (self.heading, self.below, self.above)
        for part in pieces(_BOLD.sub(r"\1", said), limits.CONTENT_MAX_CHARS):
            yield Entry(
                line=now.line,
                text=part,
                headings=tuple(one for one in under if one),
                created_at=now.created_at,
                status=now.status,
            )

    def _headed(self, text: str) -> None:
        if hashed := _HASHED.match(text):
            self.heading, self.below = _title(_BOLD.sub(r"\1", hashed[1])), None
        elif bold := _BOLD_LINE.match(text):
            self.heading, self.below = _title(bold[1] or bold[2]), None
        elif slanted := _SLANTED_LINE.match(text):
            self.below = _title(slanted[1] or slanted[2])

    def _list_ended(self) -> None:
        self.parents.clear()
        self.above = None

    def _bullet(self, number: int, text: str, bullet: re.Match[str]) -> Iterator[Entry | Skipped]:
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
        self.now = _begun(number, text[bullet.end() :].strip(), indent)

    def _introduced(self, line: int, said: str) -> Iterator[Skipped]:
        """By a line above a list: the name of a category heads it, as `Projects:` does. Another
        few words are told with each, for they may be half a sentence: `Wants recipes:`."""
        title = said.rstrip(": ")
        if len(said.split()) > _HEADING_MAX_WORDS:
            yield Skipped(where=f"line {line}", why=_INTRODUCES, is_no_memory=True)
        elif category(title) is not None:
            self.above = title
        else:
            self.parents.append((_LEFT_OF_ALL, said))

    def _continues(self, text: str) -> bool:
        if self.now is None or _dated(text.strip()) is not None:
            return False
        if self.now.indent is not None and text[0] in " \t":
            return True
        return not self.after_blank and self.now.is_wrapped


def _is_heading(text: str) -> bool:
    """A line that is emphasised as a whole is one, unless it is a sentence."""
    emphasised = _BOLD_LINE.match(text) or _SLANTED_LINE.match(text)
    if emphasised is None:
        return _HASHED.match(text) is not None
    return not (emphasised[1] or emphasised[2]).rstrip().endswith(_SENTENCE_ENDS)


def _title(said: str) -> str:
    return said.strip("#: \t")[:_HEADING_MAX_CHARS]


def _begun(number: int, text: str, indent: int | None) -> _Open:
    text = _BOX.sub("", text, count=1) if indent is not None else text
    created_at = standing = None
    dated = _dated(text)
    if dated is not None:
        said = dated[1].strip()
        created_at = _day(said)
        standing = said.lower() if said.lower() in _STANDINGS else None
        text = text[dated.end() :]
    return _Open(number, [text], indent, created_at, standing)


def _dated(text: str) -> re.Match[str] | None:
    """What stands before an entry: a day, or that none is known. Other brackets are its words."""
    found = _BRACKET.match(text)
    if found is not None:
        said = found[1].strip()
        known = said.lower() in _NO_DATE or said.lower() in _STANDINGS
        return found if known or _day(said) is not None else None
    found = _DAY.match(text)
    return found if found is not None and _day(found[1]) is not None else None


def _day(text: str) -> datetime | None:
    found = moment(text)
    for form in _WRITTEN_DAYS if found is None else ():
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return found
