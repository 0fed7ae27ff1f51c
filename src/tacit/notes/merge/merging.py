"""Merging what a session says anew with what its note holds, by rules. Pure: nothing is stored."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tacit import limits
from tacit.notes.merge import similar
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, NoteLink, Section

Alike = Callable[[str, str], bool]
Matched = tuple[NoteItem, NoteItem | None]  # what is new, and what it continues

TOPIC = "Topic"  # a label that every topic has: what follows it tells them apart
_LIKENESS_MAX_COUNT = 100_000  # pairs that are compared by their words; then none is alike
_LINK = re.compile(r"\]\(\s*<?([^()\s<>]{1,2000})>?[^()]{0,200}\)|(https?://[^\s<>()\"']{1,2000})")


def matched(
    old: Sequence[NoteItem], new: Sequence[NoteItem], alike: Alike = similar.alike
) -> list[Matched]:
    """Each new item, in order, with the old one of its section that it continues: by id, text,
    title, link target, and last by likeness; a task by its text alone. None is taken twice."""
    return Matching(old, new).match_by_rules(alike)


class Matching:
    """Who continues whom, found out step by step: a sure reason goes before a vague one, whichever
    item it is for."""

    def __init__(self, old: Sequence[NoteItem], new: Sequence[NoteItem]) -> None:
        self._old, self._new = old, new
        self._found: dict[int, int] = {}  # place of the new one -> place of the old one
        self._taken: set[int] = set()

    def match_by_rules(self, alike: Alike) -> list[Matched]:
        self.match_surely()
        self._by_likeness(alike)
        return self.pairs()

    def match_surely(self) -> None:
        self._by_keys(_id_key)
        self._by_keys(_text_keys)
        self._by_keys(_said_keys)
        self._by_keys(_title_keys)
        self._by_keys(_link_keys)

    def pairs(self) -> list[Matched]:
        found = self._found
        return [
            (item, self._old[found[n]] if n in found else None) for n, item in enumerate(self._new)
        ]

    def open_old(self) -> list[int]:
        """Those that nothing continues so far. Of two wordings in conflict a person chooses."""
        free = (n for n in range(len(self._old)) if n not in self._taken)
        return [n for n in free if not self._old[n].conflict]

    def open_new(self) -> list[int]:
        return [n for n in range(len(self._new)) if n not in self._found]

    def match_pair(self, new: int, old: int) -> bool:
        """False where it cannot be: another section, or one of them is taken."""
        same = self._new[new].section is self._old[old].section
        if not same or new in self._found or old in self._taken:
            return False
        self._found[new] = old
        self._taken.add(old)
        return True

    def _by_keys(self, keys: Callable[[NoteItem], Iterable[object]]) -> None:
        places: dict[object, deque[int]] = {}
        exact = keys in (_id_key, _text_keys)
        for place, item in enumerate(self._old):
            if place not in self._taken and (exact or not item.conflict):
                for key in keys(item):
                    places.setdefault((item.section, key), deque()).append(place)
        for new in self.open_new():
            item = self._new[new]
            for key in keys(item):
                left = places.get((item.section, key), deque())
                while left and new not in self._found:
                    self.match_pair(new, left.popleft())  # which fails for one that is taken

    def _by_likeness(self, alike: Alike) -> None:
        free: dict[Section, list[int]] = {}
        for old in self.open_old():
            free.setdefault(self._old[old].section, []).append(old)
        left = _LIKENESS_MAX_COUNT
        for new in self.open_new():
            rivals = free.get(self._new[new].section, [])[:left]
            left -= len(rivals)
            found = next((old for old in rivals if self._continues(new, old, alike)), None)
            if found is not None:
                self.match_pair(new, found)
                free[self._new[new].section].remove(found)

    def _continues(self, new: int, old: int, alike: Alike) -> bool:
        before, after = (_head(one) for one in (self._old[old], self._new[new]))
        if _titled_apart(before, after):
            return False
        if self._new[new].section in CHECKBOX_SECTIONS:
            # A part that is done does not finish the whole, nor is it the whole.
            return similar.same_words(before, after)
        return alike(before, after)


def merged(old: NoteItem, new: NoteItem) -> NoteItem:
    """One item of two: the new wording, the old id and day, further lines that the new one says
    nothing about. What is done stays done."""
    return replace(
        old,
        content=_merged_content(old, new),
        id=old.id or new.id,
        added=old.added or new.added,
        done=bool(old.done or new.done) if old.section in CHECKBOX_SECTIONS else None,
    )


def merged_items(
    old: Sequence[NoteItem], new: Sequence[NoteItem], pairs: Sequence[Matched] | None = None
) -> tuple[NoteItem, ...]:
    """The items of a note after a session: old ones in their order, further ones after them.
    `pairs` is what `matched` or `semantic.matched_by_model` found of the same items."""
    found = matched(old, distinct(new)) if pairs is None else pairs
    continued = {id(before): item for item, before in found if before is not None}
    kept = []
    for one in old:
        newer = continued.pop(id(one), None)
        kept.append(one if newer is None else merged(one, newer))
    return (*kept, *(item for item, before in found if before is None))


def merged_links(old: Sequence[NoteLink], new: Sequence[NoteLink]) -> tuple[NoteLink, ...]:
    """Each target once, where it first stood, under its newest text."""
    found: dict[str, NoteLink] = {}
    for link in (*old, *new):
        target = link.target.strip()
        if target:
            before = found.get(target)
            text = link.text or (before.text if before else "")
            found[target] = replace(link, text=text, target=target)
    return tuple(found.values())


def distinct(items: Sequence[NoteItem]) -> tuple[NoteItem, ...]:
    """Without what is said twice in the same words in a section; done if either is."""
    found: dict[object, NoteItem] = {}
    for item in items:
        key = (item.section, similar.plain(item.content), item.conflict)
        before = found.get(key)
        found[key] = item if before is None else merged(before, item)
    return tuple(found.values())


def title_of(content: str) -> str | None:
    """What stands before the first colon, where that is short enough to be a title."""
    head = content.partition("\n")[0]
    title, colon, rest = head.partition(":")
    title = title.strip()
    if not colon or not title or (rest and not rest[0].isspace()):
        return None
    return title if len(title) <= limits.NOTE_TITLE_MAX_CHARS and "." not in title else None


def _id_key(item: NoteItem) -> Iterable[object]:
    return [item.id] if item.id else []


def _text_keys(item: NoteItem) -> Iterable[object]:
    return [similar.plain(item.content)]


def _said_keys(item: NoteItem) -> Iterable[object]:
    """The first line tells what it is about, also where nothing in it is a title."""
    return [similar.plain(_head(item))]


def _title_keys(item: NoteItem) -> Iterable[object]:
    """Not of tasks: "Bob: call", "Bob: pay" are two."""
    title = None if item.section in CHECKBOX_SECTIONS else title_of(item.content)
    if title is None or similar.plain(title) == similar.plain(TOPIC):
        return []
    return [similar.plain(title)]


def _link_keys(item: NoteItem) -> Iterable[object]:
    if item.section in CHECKBOX_SECTIONS:
        return []
    return [one or other for one, other in _LINK.findall(item.content)]


def _head(item: NoteItem) -> str:
    return item.content.partition("\n")[0]


def _titled_apart(one: str, other: str) -> bool:
    """Two titles are two things, however alike the rest is."""
    titles = [title_of(one), title_of(other)]
    return None not in titles and similar.plain(titles[0] or "") != similar.plain(titles[1] or "")


def _merged_content(old: NoteItem, new: NoteItem) -> str:
    """The new first line, unless it is only alike and says less."""
    before, after = old.content.split("\n"), new.content.split("\n")
    meant = old.id is not None and old.id == new.id
    titled = title_of(after[0]) is not None and not _titled_apart(before[0], after[0])
    less = not meant and not titled and similar.says_less(after[0], before[0])
    head = before[0] if less else after[0]
    return "\n".join([head, *_merged_lines(before[1:], after[1:])])


def _merged_lines(old: list[str], new: list[str]) -> list[str]:
    """A line with a label takes the place of the one with that label; no other line goes."""
    lines, left = list(old), dict(enumerate(new))
    open_ones = _exchanged(lines, range(len(old)), left, similar.plain)
    _exchanged(lines, open_ones, left, _label)
    return [*lines, *left.values()]


def _exchanged(
    lines: list[str], places: Iterable[int], left: dict[int, str], key: Callable[[str], str]
) -> list[int]:
    """Puts what is left of the new lines in the place of the old ones with the same key; which old
    ones remain."""
    waiting: dict[str, deque[int]] = {}
    for at, line in left.items():
        waiting.setdefault(key(line), deque()).append(at)
    remaining: list[int] = []
    for place in places:
        label = key(lines[place])
        found = waiting.get(label) if label else None
        if found:
            lines[place] = left.pop(found.popleft())
        else:
            remaining.append(place)
    return remaining


def _label(line: str) -> str:
    return similar.plain(title_of(line) or "")
