"""How a page is laid out: its headings and whatever else stands between its items.

Items are memories and live in the store as such; this is the rest, with a mark where each stood: a
place and no id, because what is erased leaves nothing behind. So a page reads back as it was
written, also where no file mirrors it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tacit.errors import NoteUnreadable
from tacit.notes.text.document import Document, parse
from tacit.notes.text.splices import SetItem, revise
from tacit.notes.text.wording import write_text
from tacit.records.notes import NoteItem, NoteKind

Placed = tuple[int, NoteItem]  # by the position of its row, which is that of its mark
Write = Callable[[NoteItem, str], list[str]]

_MARK = "\x1f"  # no text that is kept has this character in it
_USUAL = "- "


def layout_of(document: Document, without: Collection[str] = ()) -> str:
    """The text without its items, which are at the positions 0, 1, 2… Of those of another note,
    named by their ids, there is no mark."""
    out: list[str] = []
    at = position = 0
    for entry in document.entries:
        out += document.lines[at : entry.start]
        at = entry.end
        if entry.item.id not in without:
            marker = f"{entry.indent}{entry.marker} " if entry.marker else ""
            out.append(f"{_MARK}{position}{_MARK}{marker}")
            position += 1
    return "\n".join([*out, *document.lines[at:]])


def furniture(document: Document) -> list[str]:
    """The lines that are no items, as far as anything stands in them."""
    inside = {line for one in document.entries for line in range(one.start, one.end)}
    inside |= {line for one in document.link_lines for line in range(one.start, one.end)}
    lines = enumerate(document.lines)
    return [line.strip() for number, line in lines if number not in inside and line.strip()]


def laid_out(layout: str, items: Sequence[Placed]) -> str:
    """The page with these items: each where it stood, what is new after the one before it. Of
    the forms that say exactly these items, the one that is closest to how it was written."""
    ordered = sorted(items, key=lambda one: one[0])
    said = [item.content for _, item in ordered]
    for write in (_as_said, _with_its_marker, _as_a_bullet):
        text = _filled(layout, ordered, write)
        if "\r" not in text and _says(text) == said:  # which no editor would leave as it is
            return text
    return "".join(f"{line}\n" for _, item in ordered for line in _as_a_bullet(item, _USUAL))


def with_ids(layout: str, items: Sequence[Placed]) -> bytes:
    """The same for a file, in which each line tells the id of its memory."""
    document = parse(laid_out(layout, items).encode(), NoteKind.PAGE)
    ordered = [item for _, item in sorted(items, key=lambda one: one[0])]
    pairs = zip(document.entries, ordered, strict=True)
    return revise(
        document,
        [SetItem(entry=entry, item=replace(entry.item, id=item.id)) for entry, item in pairs],
    )


def _filled(layout: str, items: Sequence[Placed], write: Write) -> str:
    lines = layout.split("\n")
    marks = {int(line.split(_MARK)[1]) for line in lines if line.startswith(_MARK)}
    placed: dict[int, list[NoteItem]] = {}
    last = -1
    for position, item in items:
        last = position if position in marks else last
        placed.setdefault(last, []).append(item)
    out: list[str] = []
    for line in lines:
        if not line.startswith(_MARK):
            out.append(line)
            continue
        _, mark, marker = line.split(_MARK)
        for item in placed.get(int(mark), ()):
            out += write(item, marker)
            marker = _next(marker)
    rest = [line for item in placed.get(-1, ()) for line in write(item, _USUAL)]
    if rest:  # at the end, which stays the end of a line
        out = [*(out[:-1] if not out[-1] else out), *rest, ""]
    return "\n".join(out)


def _next(marker: str) -> str:
    """Of a further item in the same place. Two paragraphs with no line between would be one."""
    number = marker.strip()[:-1]
    if number.isdecimal():
        return marker.replace(number, str(int(number) + 1), 1)
    return marker or _USUAL


def _as_said(item: NoteItem, marker: str) -> list[str]:
    return _lines(item, marker, lambda line: line)


def _with_its_marker(item: NoteItem, marker: str) -> list[str]:
    return _lines(item, marker, write_text)


def _as_a_bullet(item: NoteItem, _: str) -> list[str]:
    return _lines(item, _USUAL, write_text)


def _lines(item: NoteItem, marker: str, write: Callable[[str], str]) -> list[str]:
    first, *others = item.content.split("\n")
    indent = " " * (len(marker) or 2)
    return [marker + write(first), *(f"{indent}- {write(line)}" for line in others)]


def _says(text: str) -> list[str]:
    try:
        return [entry.item.content for entry in parse(text.encode(), NoteKind.PAGE).entries]
    except NoteUnreadable:
        return []
