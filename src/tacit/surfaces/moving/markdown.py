"""The body of one of basic-memory's notes: `- [category] text #tag (context)`, `- type [[Target]]`,
and whatever else stands there, by the paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tacit.surfaces.moving.records import Skipped
from tacit.surfaces.moving.texts import NOT_TEXT, is_text

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,5}[.)])[ \t]+(?=\S)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-_*]\s*){3,}\Z")
_CATEGORY = re.compile(r"\[([^\[\]()]{1,80})\]\s+(?=\S)")
_CLOCK = re.compile(r"\d{1,3}:\d{2}")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#]+)")
_LINKED = re.compile(r"\[\[([^\[\]]{1,300})\]\]\s*")
_OWN_HEADINGS = frozenset({"observations", "relations"})
_CONTEXT_MAX_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    line: int
    category: str | None
    text: str
    tags: tuple[str, ...]
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    line: int
    kind: str
    target: str
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    line: int
    heading: str | None
    text: str


Part = Observation | Relation | Prose


def parts(lines: Sequence[str], first: int, title: str) -> Iterator[Part | Skipped]:
    """From that line on, with the numbers that an editor shows."""
    body = _Body(title=title)
    for number, line in enumerate(lines[first:], start=first + 1):
        if is_text(line):
            yield from body.read_line(number, line)
        else:
            yield from body.end_body()
            yield Skipped(where=f"line {number}", why=NOT_TEXT)
    yield from body.end_body()


@dataclass(slots=True)
class _Body:
    title: str
    heading: str | None = None
    in_fence: bool = False
    prose: list[str] = field(default_factory=list)
    prose_line: int = 0
    item: list[str] = field(default_factory=list)  # of a list, with the lines that belong to it
    item_line: int = 0

    def read_line(self, number: int, text: str) -> Iterator[Part]:
        if self.in_fence or _FENCE.match(text):
            yield from self._item_ended()
            self.in_fence ^= _FENCE.match(text) is not None
            self._add(number, text)
        elif not text.strip() or _RULE.match(text):
            yield from self.end_body()
        elif heading := _HEADING.match(text):
            yield from self.end_body()
            said = heading[1].strip("# \t")
            own = said.casefold() in _OWN_HEADINGS or said.casefold() == self.title.casefold()
            self.heading = None if own else said[:80] or None
        elif _ITEM.match(text):
            yield from self._item_ended()
            self.item, self.item_line = [text], number
        elif self.item and text[0] in " \t":
            self.item.append(text)
        else:
            yield from self._item_ended()
            self._add(number, text)

    def end_body(self) -> Iterator[Part]:
        yield from self._item_ended()
        yield from self._prose_ended()

    def _add(self, number: int, text: str) -> None:
        if not self.prose:
            self.prose_line = number
        self.prose.append(text.rstrip())

    def _prose_ended(self) -> Iterator[Part]:
        text = "\n".join(self.prose).strip()
        self.prose = []
        if text:
            yield Prose(line=self.prose_line, heading=self.heading, text=text)

    def _item_ended(self) -> Iterator[Part]:
        lines, self.item = self.item, []
        if not lines:
            return
        marker = _ITEM.match(lines[0])
        assert marker is not None
        said = " ".join([lines[0][marker.end() :].strip(), *(one.strip() for one in lines[1:])])
        found = _relation(self.item_line, said) or _observation(self.item_line, said)
        if found is not None:
            yield from self._prose_ended()
            yield found
        else:
            for number, line in enumerate(lines, start=self.item_line):
                self._add(number, line)


def _relation(line: int, said: str) -> Relation | None:
    """`type [[Target]] (context)`; a type of several words stands in quotes. Whatever else links
    is a sentence."""
    kind, opening, _ = said.partition("[[")
    kind = kind.strip()
    linked = _LINKED.match(said, said.find("[[")) if opening else None
    if not kind or linked is None:
        return None
    if kind[0] in "\"'" and kind.endswith(kind[0]) and len(kind) > 2:
        kind = kind[1:-1].strip()
    elif len(kind.split()) > 1:
        return None
    rest, context = _context(said[linked.end() :])
    if rest or kind.startswith("["):
        return None
    return Relation(line=line, kind=kind, target=linked[1].strip(), context=context)


def _observation(line: int, said: str) -> Observation | None:
    found = _CATEGORY.match(said)
    category = found[1].strip() if found is not None and _is_category(found[1].strip()) else None
    tags = tuple(_TAG.findall(said))
    if category is None and not tags:
        return None
    text, context = _context(said[found.end() :] if found is not None and category else said)
    text = _without_last_tags(text)
    if not text:
        return None
    return Observation(line=line, category=category, text=text, tags=tags, context=context)


def _without_last_tags(said: str) -> str:
    words = said.split(" ")
    while words and words[-1].startswith("#"):
        words.pop()
    return " ".join(words).strip()


def _is_category(word: str) -> bool:
    """`[x]`, `[ ]` and `[>]` are boxes, and `[00:11]` is a time."""
    if len(word) <= 1:
        return word.isalnum() and word not in "xX"
    return _CLOCK.match(word) is None


def _context(said: str) -> tuple[str, str | None]:
    """What stands in brackets at the end, apart from the rest."""
    bare = said.strip()
    start = bare.rfind("(")
    if not bare.endswith(")") or start < 0 or len(bare) - start > _CONTEXT_MAX_CHARS:
        return bare, None
    return bare[:start].strip(), bare[start + 1 : -1].strip() or None
