"""An item of a note written anew where it stands: as little of its lines as the change needs."""

from __future__ import annotations

import re
from dataclasses import replace

from tacit.notes.text.document import Document, Entry
from tacit.notes.text.reading_items import lines_of, more_line
from tacit.notes.text.wording import asides_of, id_comment, without_id
from tacit.records.notes import NoteItem, NoteKind

_BOX = re.compile(r"([ \t]*+(?:[-+*]|[0-9]{1,9}[.)])[ \t]++\[)[ xX](\].*)", re.DOTALL)
_BLANKS = " \t\r"
_WORD = re.compile(r"[A-Za-z]?[a-z]{7}")


def reworded(document: Document, entry: Entry, item: NoteItem, *, flat: bool) -> list[str]:
    """The lines of an entry once it says this."""
    lines = list(document.lines[entry.start : entry.end])
    end = "\r" if document.lines[0].endswith("\r") else ""
    made = _reworded(lines, entry, item, document.kind, flat=flat)
    if made == lines:
        return lines
    made = [line if line in lines else line.removesuffix("\r") + end for line in made]
    if entry.end == len(document.lines):  # nothing ends the last line
        made = [line.removesuffix("\r") + end for line in made]
        made[-1] = made[-1].removesuffix("\r")
    return made


def _reworded(
    now: list[str], entry: Entry, item: NoteItem, kind: NoteKind, *, flat: bool
) -> list[str]:
    old = entry.item
    if replace(item, id=old.id, conflict=old.conflict, done=old.done) == old:
        ticked = now[0] if item.done == old.done else _ticked(now[0], done=bool(item.done))
        if ticked is not None:
            now = [ticked, *now[1:]]
            at = entry.id_line - entry.start
            if (item.id, item.conflict) != (old.id, old.conflict):
                now[at] = _identified(now[at], old, item)
            return now
    leading = now[: entry.more - entry.start]
    aside = " ".join(filter(None, map(asides_of, leading)))
    if old.id != item.id and old.id and _WORD.fullmatch(old.id):
        aside = f"{aside} {id_comment(old)}".strip()
    if item.id is None:
        aside = _bare(aside)
    fresh = lines_of(item, kind, entry.indent, entry.marker, aside, flat=flat)
    if flat:
        return fresh
    return [fresh[0], *_further(now[entry.more - entry.start :], old, item, fresh)]


def _further(now: list[str], old: NoteItem, item: NoteItem, fresh: list[str]) -> list[str]:
    """The inner lines; those that say what they said stay as they are."""
    was, wants = old.content.split("\n")[1:], item.content.split("\n")[1:]
    if was == wants:
        return now
    if not now or len(now) != len(was):
        return fresh[1:]
    inside = now[0][: len(now[0]) - len(now[0].lstrip(" \t"))]
    made = [more_line(line, inside) for line in wants]
    head = 0
    while head < min(len(was), len(wants)) and was[head] == wants[head]:
        made[head] = now[head]
        head += 1
    tail = 1
    while tail <= min(len(was), len(wants)) - head and was[-tail] == wants[-tail]:
        made[-tail] = now[-tail]
        tail += 1
    return made


def _ticked(line: str, *, done: bool) -> str | None:
    found = _BOX.fullmatch(line)
    return None if found is None else f"{found[1]}{'x' if done else ' '}{found[2]}"


def _identified(line: str, old: NoteItem, item: NoteItem) -> str:
    """The line with another id. A word of eight letters was hardly an id, but a person's remark."""
    if item.id is None:
        return _bare(line)
    remark = old.id is not None and old.id != item.id and _WORD.fullmatch(old.id)
    return f"{(line if remark else without_id(line)).rstrip(_BLANKS)} {id_comment(item)}"


def _bare(line: str) -> str:
    """Without anything at the end that would be read as an id."""
    while (shorter := without_id(line).rstrip(_BLANKS)) != line.rstrip(_BLANKS):
        line = shorter
    return line
