"""The blocks of a Markdown file by their lines: headings, list items, paragraphs, and what is left
alone. One pass, no look back: a file costs what its lines cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

# Whatever a line can begin with that makes it more than text.
_LINE = re.compile(
    r"([ \t]*+)(?:([-+*]|[0-9]{1,9}[.)])(?=[ \t\r]|\Z)|(#{1,6})(?=[ \t\r]|\Z)"
    r"|(`{3,}+(?=[^`]*+\Z)|~{3,}+)|(<)|(>))?"
)
_RULE = re.compile(r"[ \t]*+(?:(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+)\r?\Z")
_UNDERLINE = re.compile(r" {0,3}(=++|-++)[ \t\r]*+\Z")
_TABLE = re.compile(r"[ \t]*+[|:-][ \t|:-]*+\r?\Z")
_REFERENCE = re.compile(r" {0,3}\[[^\]]++\]:")
_RAW = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_TAG_BLOCK = re.compile(
    r"</?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir"
    r"|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html"
    r"|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search"
    r"|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|\Z)|<[?!]",
    re.IGNORECASE,
)
_TAG_ALONE = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*+(?:\s[^<>]*+)?/?>\s*\Z")
_COMMENT = "<!--"


class Shape(Enum):
    HEADING = "heading"
    ITEM = "item"
    PARAGRAPH = "paragraph"
    OTHER = "other"  # code, comments, quotes, tables, rules: nothing that we read


@dataclass(slots=True)
class Block:
    """Lines from `start` up to `end`, without the blank ones behind."""

    kind: Shape
    start: int
    end: int
    indent: str = ""
    marker: str = ""
    text: str = ""  # of a heading; of an item what follows the marker on its line
    level: int = 0
    is_open: bool = False  # it lasts to the end of the file, because nothing closes it


def scan(lines: Sequence[str], at: int) -> list[Block]:
    """The blocks from that line on."""
    found = []
    while at < len(lines):
        line = lines[at]
        if not line or line.isspace():
            at += 1
            continue
        block = _block(lines, at)
        found.append(block)
        at = block.end
    return found


def width(indent: str) -> int:
    """Columns of blanks at the beginning of a line."""
    return len(indent.expandtabs(4)) if "\t" in indent else len(indent)


def fence_of(text: str) -> str | None:
    """The marks that open a fenced block, if the text begins with such."""
    if not text.startswith(("```", "~~~")):
        return None
    found = _LINE.match(text)
    return found[4] if found is not None else None


def closes(text: str, fence: str) -> bool:
    """Whether a line ends the fenced block."""
    bare = text.strip(" \t\r")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _block(lines: Sequence[str], at: int) -> Block:
    line = lines[at]
    found = _LINE.match(line)
    assert found is not None
    indent, marker, hashes, fence, angle, quote = found.groups()
    if width(indent) >= 4:
        return _code(lines, at)
    if (marker or line[len(indent)] in "-_*") and _RULE.match(line):
        return Block(Shape.OTHER, at, at + 1)
    if marker:
        return _item(lines, at, indent, marker)
    if hashes:
        text = line[found.end() :].strip(" \t\r").rstrip("#").rstrip(" \t")
        return Block(Shape.HEADING, at, at + 1, text=text, level=len(hashes))
    if fence:
        return _fenced(lines, at, fence)
    if quote:
        return _quote(lines, at)
    if angle:
        block = _html(lines, at, line.lstrip(" \t"))
        if block is not None:
            return block
    if line.lstrip(" \t").startswith("[") and _REFERENCE.match(line):
        return Block(Shape.OTHER, at, at + 1)
    return _paragraph(lines, at)


def _item(lines: Sequence[str], at: int, indent: str, marker: str) -> Block:
    text = lines[at][len(indent) + len(marker) :].strip(" \t\r")
    inside = width(indent) + 2  # as people indent: a little more than the marker is inside
    hidden = text.startswith(_COMMENT) and "-->" not in text[2:]
    fence = fence_of(text)
    lazy = bool(text) and fence is None and not hidden
    end, blank, here = at + 1, False, at
    while here + 1 < len(lines):
        here += 1
        line = lines[here]
        if not line or line.isspace():
            blank = True
            continue
        if line[0] not in " \t":
            depth = 0
        else:
            depth = width(line[: len(line) - len(line.lstrip(" \t"))])
        if depth < inside:
            if blank or not lazy or _begins(line):
                break
        else:
            bare = line.strip(" \t\r")
            if fence is not None:
                fence = None if closes(bare, fence) else fence
                lazy = False
            else:
                fence = fence_of(_behind_markers(bare))
                lazy = fence is None and bare[0] not in "#<"
        end, blank = here + 1, False
    shape = Shape.OTHER if hidden else Shape.ITEM
    return Block(shape, at, end, indent=indent, marker=marker, text=text)


def _behind_markers(text: str) -> str:
    found = _LINE.match(text)
    return text[found.end() :].lstrip(" \t") if found is not None and found[2] else text


def _begins(line: str, *, in_paragraph: bool = False) -> bool:
    """Whether a line begins a block of its own where text could go on."""
    found = _LINE.match(line)
    assert found is not None
    indent, marker, hashes, fence, angle, quote = found.groups()
    if width(indent) >= 4:
        return False
    if hashes or fence or quote:
        return True
    if marker:
        if not in_paragraph or _RULE.match(line):
            return True
        return marker in ("-", "+", "*", "1.", "1)") and not line[found.end() :].isspace()
    if angle:
        bare = line.lstrip(" \t")
        return bool(_TAG_BLOCK.match(bare) or _RAW.match(bare))
    return line[len(indent)] in "-_*" and _RULE.match(line) is not None


def _paragraph(lines: Sequence[str], at: int) -> Block:
    end = at + 1
    if end < len(lines) and "|" in lines[end] + lines[at] and _TABLE.match(lines[end]):
        return _until_blank(lines, at)
    while end < len(lines):
        line = lines[end]
        if not line or line.isspace():
            break
        under = _UNDERLINE.match(line)
        if under is not None:
            text = " ".join(part.strip(" \t\r") for part in lines[at:end])
            level = 1 if under[1][0] == "=" else 2
            return Block(Shape.HEADING, at, end + 1, text=text, level=level)
        if _begins(line, in_paragraph=True):
            break
        end += 1
    return Block(Shape.PARAGRAPH, at, end)


def _code(lines: Sequence[str], at: int) -> Block:
    end = here = at + 1
    while here < len(lines):
        line = lines[here]
        if line and not line.isspace():
            if width(line[: len(line) - len(line.lstrip(" \t"))]) < 4:
                break
            end = here + 1
        here += 1
    return Block(Shape.OTHER, at, end)


def _fenced(lines: Sequence[str], at: int, fence: str) -> Block:
    for here in range(at + 1, len(lines)):
        line = lines[here]
        if fence[0] in line and line[:4].strip(" ") and closes(line, fence):
            return Block(Shape.OTHER, at, here + 1)
    return Block(Shape.OTHER, at, len(lines), is_open=True)


def _quote(lines: Sequence[str], at: int) -> Block:
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line or line.isspace():
            break
        if not line.lstrip(" \t").startswith(">") and _begins(line):
            break
        end += 1
    return Block(Shape.OTHER, at, end)


def _html(lines: Sequence[str], at: int, bare: str) -> Block | None:
    if bare.startswith(_COMMENT):
        return _until_closed(lines, at, "-->")
    raw = _RAW.match(bare)
    if raw is not None:
        return _until_closed(lines, at, f"</{raw[1].lower()}>")
    if _TAG_BLOCK.match(bare) or _TAG_ALONE.match(bare):
        return _until_blank(lines, at)
    return None


def _until_closed(lines: Sequence[str], at: int, mark: str) -> Block:
    for here in range(at, len(lines)):
        if mark in lines[here].lower():
            return Block(Shape.OTHER, at, here + 1)
    return Block(Shape.OTHER, at, len(lines), is_open=True)


def _until_blank(lines: Sequence[str], at: int) -> Block:
    end = at + 1
    while end < len(lines) and lines[end] and not lines[end].isspace():
        end += 1
    return Block(Shape.OTHER, at, end)
