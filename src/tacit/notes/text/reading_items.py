"""Items from the lines of a list, and their lines: the first is the bullet, each further line of
the content a bullet inside it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from tacit.notes.text.blocks import Block, closes, fence_of
from tacit.notes.text.wording import id_in, read_first, read_text, write_first, write_text
from tacit.records.notes import NoteItem, NoteKind, Section

_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])(?:[ \t]++|\Z)")


def lines_of(
    item: NoteItem,
    kind: NoteKind,
    indent: str,
    marker: str,
    asides: str = "",
    *,
    flat: bool = False,
) -> list[str]:
    """The lines of an item that is written anew. Without a marker it is a paragraph; if it is to
    be flat, it has one line, whatever is around it."""
    more = [] if flat else item.content.split("\n")[1:]
    if more and not marker:
        marker = "-"
    text = write_first(item, dated=kind is NoteKind.LONG_TERM, asides=asides, flat=flat)
    inside = indent + " " * (len(marker) + 1)
    return [
        f"{indent}{marker} {text}".rstrip(" ") if marker else indent + text,
        *(more_line(line, inside) for line in more),
    ]


def more_line(line: str, inside: str) -> str:
    return f"{inside}- {write_text(line)}".rstrip(" ")


def entry_of(
    lines: Sequence[str], block: Block, section: Section, kind: NoteKind
) -> dict[str, Any] | None:
    """What an entry is made of, or None where the item says nothing that can be seen."""
    first = block.text if block.marker else lines[block.start]
    more, raw, id_line = _leading(lines, block, first)
    read = read_first(raw, section, dated=kind is NoteKind.LONG_TERM)
    content = read.text
    if more < block.end:
        content = "\n".join([content, *_further(lines, more, block)])
    if not content or content.isspace():
        return None
    item = NoteItem(
        section=section,
        content=content,
        id=read.id,
        done=read.done,
        added=read.added,
        conflict=read.conflict,
    )
    return {
        "item": item,
        "start": block.start,
        "more": more,
        "end": block.end,
        "indent": block.indent,
        "marker": block.marker,
        "id_line": id_line,
    }


def _leading(lines: Sequence[str], block: Block, first: str) -> tuple[int, str, int]:
    """The text before any inner list, with the lines that were wrapped; its id moved to the end."""
    more, id_line = block.start + 1, block.start
    if more == block.end or (block.marker and (not first or fence_of(first) is not None)):
        return more, first, id_line
    parts, id = [first.strip(" \t\r")], None
    while more < block.end:
        bare = lines[more].strip(" \t\r")
        if not bare or (block.marker and _is_inner(bare) and id_in(bare)[0]):
            break
        parts.append(bare)
        more += 1
    if len(parts) == 1:
        return more, first, id_line
    for index, part in enumerate(parts):
        text, found = id_in(part)
        if found and id is None:
            parts[index], id, id_line = text, found, block.start + index
    joined = _joined(parts)
    return more, f"{joined} {id}" if id else joined, id_line


def _is_inner(bare: str) -> bool:
    """Whether a line inside an item begins something else than more of its text."""
    marker = _MARKER.match(bare)
    if marker is not None:
        return marker[1] in ("-", "+", "*", "1.", "1)")
    return bare.startswith(("#", ">", "<!--")) or fence_of(bare) is not None


def _further(lines: Sequence[str], at: int, block: Block) -> list[str]:
    """What the lines inside an item say, one by one."""
    found: list[list[str]] = []  # each with the lines that it was wrapped into
    fence = fence_of(block.text) if block.marker and at == block.start + 1 else None
    goes_on = in_list = hidden = False
    for line in lines[at : block.end]:
        bare = line.strip(" \t\r")
        if fence is not None:
            found.append([line.rstrip("\r")[len(block.indent) + 2 :] if bare else ""])
            fence = None if closes(bare, fence) else fence
            goes_on = False
            continue
        if hidden or bare.startswith("<!--"):
            hidden = "-->" not in (bare if hidden else bare[2:])
            goes_on = False
            continue
        if not bare:
            goes_on = False
            continue
        marker = _MARKER.match(bare)
        if marker is not None and (in_list or not goes_on or _is_inner(bare)):
            bare = bare[marker.end() :]
            in_list = True
            fence = fence_of(bare)
            found.append([read_text(bare)])
            goes_on = bool(bare) and fence is None
        elif goes_on and not _is_inner(bare):
            found[-1].append(read_text(bare))
        else:
            fence = fence_of(bare)
            found.append([read_text(bare)])
            goes_on = fence is None
    return [_joined(parts) for parts in found]


def _joined(parts: list[str]) -> str:
    """Lines of one text as one: people put no blanks between the signs of some scripts."""
    if len(parts) == 1:
        return parts[0]
    pieces: list[str] = []
    for part in filter(None, parts):
        if pieces and not (_is_wide(pieces[-1][-1]) and _is_wide(part[0])):
            pieces.append(" ")
        pieces.append(part)
    return "".join(pieces)


def _is_wide(char: str) -> bool:
    return char >= "\u1100" and unicodedata.east_asian_width(char) in "WF"
