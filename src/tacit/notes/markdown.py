"""Parse and format the Markdown of notes: blocks, links, escapes and list items."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum

from tacit import limits
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, NoteKind, NoteLink, Section

# Blocks of a Markdown file by line: headings, list items, paragraphs, and blocks that are left
# alone. One pass without lookback, so that the cost is linear. markdown-it-py takes 8 to 11 times
# as long for notes, and makes two items of a bullet under `1.` that is indented by two spaces.

# What a line can start with that makes it more than text.
_LINE = re.compile(
    r"([ \t]*+)(?:([-+*]|[0-9]{1,9}[.)])(?=[ \t\r]|\Z)|(#{1,6})(?=[ \t\r]|\Z)"
    r"|(`{3,}+(?=[^`]*+\Z)|~{3,}+)|(<)|(>))?"
)
_RULE = re.compile(r"[ \t]*+(?:(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+)\r?\Z")
_UNDERLINE = re.compile(r" {0,3}(=++|-++)[ \t\r]*+\Z")
_TABLE = re.compile(r"[ \t]*+[|:-][ \t|:-]*+\r?\Z")
_REFERENCE = re.compile(r" {0,3}\[[^\]]++\]:")
_RAW_HTML = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_TAG_BLOCK = re.compile(
    r"</?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir"
    r"|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html"
    r"|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search"
    r"|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|\Z)|<[?!]",
    re.IGNORECASE,
)
_TAG_ALONE = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*+(?:\s[^<>]*+)?/?>\s*\Z")
_COMMENT_START = "<!--"


class BlockKind(Enum):
    HEADING = "heading"
    ITEM = "item"
    PARAGRAPH = "paragraph"
    OTHER = "other"  # code, comments, quotes, tables, rules: not read


@dataclass(slots=True)
class MarkdownBlock:
    """Lines `start` to `end`, without trailing blank lines."""

    kind: BlockKind
    start: int
    end: int
    indent: str = ""
    marker: str = ""
    text: str = ""  # of a heading; of an item what follows its marker
    level: int = 0
    is_open: bool = False  # unclosed: it lasts to the end of the file


def parse_blocks(lines: Sequence[str], at: int) -> list[MarkdownBlock]:
    """Parse the blocks from that line on."""
    found = []
    while at < len(lines):
        line = lines[at]
        if _is_blank(line):
            at += 1
            continue
        block = _parse_block(lines, at)
        found.append(block)
        at = block.end
    return found


def _indent_of(line: str) -> int:
    """Return the width of a line's indentation in columns."""
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return len(indent.expandtabs(4)) if "\t" in indent else len(indent)


def find_fence(text: str) -> str | None:
    """Return the marks that open a fenced block, if the text starts with them."""
    if not text.startswith(("```", "~~~")):
        return None
    found = _LINE.match(text)
    return found[4] if found is not None else None


def closes_fence(text: str, fence: str) -> bool:
    """Report whether a line ends the fenced block."""
    bare = text.strip(" \t\r")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _parse_block(lines: Sequence[str], at: int) -> MarkdownBlock:
    line = lines[at]
    found = _LINE.match(line)
    assert found is not None
    indent, marker, hashes, fence, angle, quote = found.groups()
    if _indent_of(line) >= 4:
        return _block_before(lines, at, lambda line: not _is_blank(line) and _indent_of(line) < 4)
    if (marker or line[len(indent)] in "-_*") and _RULE.match(line):
        return MarkdownBlock(BlockKind.OTHER, at, at + 1)
    if marker:
        return _parse_list_item(lines, at, indent, marker)
    if hashes:
        text = line[found.end() :].strip(" \t\r").rstrip("#").rstrip(" \t")
        return MarkdownBlock(BlockKind.HEADING, at, at + 1, text=text, level=len(hashes))
    if fence:
        return _parse_fenced(lines, at, fence)
    if quote:
        return _parse_quote(lines, at)
    if angle:
        block = _parse_html(lines, at, line.lstrip(" \t"))
        if block is not None:
            return block
    if line.lstrip(" \t").startswith("[") and _REFERENCE.match(line):
        return MarkdownBlock(BlockKind.OTHER, at, at + 1)
    return _parse_paragraph(lines, at)


def _parse_list_item(lines: Sequence[str], at: int, indent: str, marker: str) -> MarkdownBlock:
    text = lines[at][len(indent) + len(marker) :].strip(" \t\r")
    inside = _indent_of(lines[at]) + 2  # people indent by a little more than the marker
    hidden = text.startswith(_COMMENT_START) and "-->" not in text[2:]
    fence = find_fence(text)
    lazy = bool(text) and fence is None and not hidden
    end, blank, here = at + 1, False, at
    while here + 1 < len(lines):
        here += 1
        line = lines[here]
        if _is_blank(line):
            blank = True
            continue
        if _indent_of(line) < inside:
            if blank or not lazy or _begins_block(line):
                break
        else:
            bare = line.strip(" \t\r")
            if fence is not None:
                fence = None if closes_fence(bare, fence) else fence
                lazy = False
            else:
                fence = find_fence(_strip_markers(bare))
                lazy = fence is None and bare[0] not in "#<"
        end, blank = here + 1, False
    shape = BlockKind.OTHER if hidden else BlockKind.ITEM
    return MarkdownBlock(shape, at, end, indent=indent, marker=marker, text=text)


def _strip_markers(text: str) -> str:
    found = _LINE.match(text)
    return text[found.end() :].lstrip(" \t") if found is not None and found[2] else text


def _begins_block(line: str, *, in_paragraph: bool = False) -> bool:
    """Report whether a line starts a block where text could continue."""
    found = _LINE.match(line)
    assert found is not None
    indent, marker, hashes, fence, angle, quote = found.groups()
    if _indent_of(line) >= 4:
        return False
    if hashes or fence or quote:
        return True
    if marker:
        if not in_paragraph or _RULE.match(line):
            return True
        return marker in ("-", "+", "*", "1.", "1)") and not line[found.end() :].isspace()
    if angle:
        bare = line.lstrip(" \t")
        return bool(_TAG_BLOCK.match(bare) or _RAW_HTML.match(bare))
    return line[len(indent)] in "-_*" and _RULE.match(line) is not None


def _parse_paragraph(lines: Sequence[str], at: int) -> MarkdownBlock:
    end = at + 1
    if end < len(lines) and "|" in lines[end] + lines[at] and _TABLE.match(lines[end]):
        return _block_before(lines, at, _is_blank)
    while end < len(lines):
        line = lines[end]
        if _is_blank(line):
            break
        under = _UNDERLINE.match(line)
        if under is not None:
            text = " ".join(part.strip(" \t\r") for part in lines[at:end])
            level = 1 if under[1][0] == "=" else 2
            return MarkdownBlock(BlockKind.HEADING, at, end + 1, text=text, level=level)
        if _begins_block(line, in_paragraph=True):
            break
        end += 1
    return MarkdownBlock(BlockKind.PARAGRAPH, at, end)


def _parse_fenced(lines: Sequence[str], at: int, fence: str) -> MarkdownBlock:
    def closes(line: str) -> bool:
        return fence[0] in line and bool(line[:4].strip(" ")) and closes_fence(line, fence)

    return _block_until(lines, at, at + 1, closes)


def _parse_quote(lines: Sequence[str], at: int) -> MarkdownBlock:
    def ends(line: str) -> bool:
        return _is_blank(line) or not (line.lstrip(" \t").startswith(">") or not _begins_block(line))

    return _block_before(lines, at, ends)


def _parse_html(lines: Sequence[str], at: int, bare: str) -> MarkdownBlock | None:
    raw = _RAW_HTML.match(bare)
    mark = "-->" if bare.startswith(_COMMENT_START) else f"</{raw[1].lower()}>" if raw else None
    if mark is not None:
        return _block_until(lines, at, at, lambda line: mark in line.lower())
    if _TAG_BLOCK.match(bare) or _TAG_ALONE.match(bare):
        return _block_before(lines, at, _is_blank)
    return None


def _block_until(lines: Sequence[str], start: int, at: int, closes: Callable[[str], bool]) -> MarkdownBlock:
    """Return the lines up to the one that closes the block; if none does, all of them."""
    for here in range(at, len(lines)):
        if closes(lines[here]):
            return MarkdownBlock(BlockKind.OTHER, start, here + 1)
    return MarkdownBlock(BlockKind.OTHER, start, len(lines), is_open=True)


def _block_before(lines: Sequence[str], start: int, ends: Callable[[str], bool]) -> MarkdownBlock:
    """Return the lines before the one that is no part of the block."""
    end = next((here for here in range(start + 1, len(lines)) if ends(lines[here])), len(lines))
    while _is_blank(lines[end - 1]):
        end -= 1
    return MarkdownBlock(BlockKind.OTHER, start, end)


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


# Links in Markdown.

_LINK = re.compile(
    r"(?<!\\)\[((?:[^\[\]\\]|\\.)*+)\]"
    r"\((?:<((?:[^<>\\]|\\.)*+)>|((?:[^\s()<>\\]|\\.)*+))(?:[ \t]++\"[^\"]*+\")?\)",
    re.DOTALL,
)
_ESCAPED_IN_TEXT = re.compile(r"[\\\[\]&\r\n]")
_ESCAPED_IN_TARGET = re.compile(r"[\\<>&\r\n]")
_BARE_TARGET = re.compile(r"[^\s()<>\\&]++")
_LINK_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&#(10|13);")


def format_link(link: NoteLink) -> str:
    target = link.target
    if not _BARE_TARGET.fullmatch(target):
        target = f"<{_ESCAPED_IN_TARGET.sub(_escape_link_char, target)}>"
    return f"[{_ESCAPED_IN_TEXT.sub(_escape_link_char, link.text)}]({target})"


def find_links(text: str) -> list[NoteLink]:
    """Return the links in a text, in their order."""
    return [
        NoteLink(
            text=_LINK_ESCAPE.sub(_unescape_link_char, m[1]),
            target=_LINK_ESCAPE.sub(_unescape_link_char, m[2] or m[3] or ""),
        )
        for m in _LINK.finditer(text)
    ]


def _escape_link_char(found: re.Match[str]) -> str:
    char = found[0]
    return f"&#{ord(char)};" if char in "\r\n" else f"\\{char}"


def _unescape_link_char(found: re.Match[str]) -> str:
    return found[1] or chr(int(found[2]))


# Contents of memories as lines of Markdown, and back. Content is Markdown already: only what would
# be misread as the form of a note is escaped. The mapping is one to one.

# Match every run of backslashes as a whole (`*+`), so that no line is scanned twice.
_BACKSLASHES = r"(?<!\\)(\\*+)"
_CHAR_CODE = r"&#(?:9|10|13|32);"
_TO_CODE = re.compile(_BACKSLASHES + rf"({_CHAR_CODE}|[\r\n]|\A[ \t]|[ \t]\Z)")
_FROM_CODE = re.compile(_BACKSLASHES + rf"({_CHAR_CODE})")
_COMMENT = re.compile(_BACKSLASHES + "<!--")
_ID = re.compile(r"(?<!\\)<!-- ([A-Za-z0-9]{8})( conflict)? -->[ \t\r]*\Z")
_ADDED = re.compile(r"\(added ([0-9]{4}-[0-9]{2}-[0-9]{2})\)\Z")
_ADDED_CHARS = len("(added 2026-01-31)")
_TICKS = re.compile("`++")
_BOX = re.compile(r"\[([ xX])\](?=[ \t]|\Z)")

# A title is short, without a full stop and without Markdown syntax.
_READ_CHARS = r"*`\[\]<>\\.:"
_TITLE_TEXT = rf"[^\s&{_READ_CHARS}](?:[^{_READ_CHARS}]{{0,{limits.NOTE_TITLE_MAX_CHARS - 2}}}[^\s{_READ_CHARS}])?"
_TITLE = re.compile(rf"({_TITLE_TEXT}): (?=[^ \t])")
_BOLD = re.compile(rf"\*\*({_TITLE_TEXT})(?:\*\*:|:\*\*)[ \t]+(?=[^ \t])")

_SPECIAL = (
    r"(?=[-+*](?:[ \t]|\Z)|#{1,6}(?:[ \t]|\Z)|>|```|~~~"
    r"|(?:-[ \t]*+){3,}+\Z|(?:_[ \t]*+){3,}+\Z|(?:\*[ \t]*+){3,}+\Z"
    r"|<(?!!--)[!/?A-Za-z]|\[[ xX]\](?:[ \t]|\Z)|\[[^\]]*+\]:{titled})"
)
_START = re.compile(r"(\\*+)" + _SPECIAL.replace("{titled}", ""))
_START_TITLED = re.compile(r"(\\*+)" + _SPECIAL.replace("{titled}", "|" + _BOLD.pattern))
_NUMBER = re.compile(r"([0-9]{1,9})(\\*+)(?=[.)](?:[ \t]|\Z))")


def has_bold_title(section: Section) -> bool:
    """Report whether titles (`Title: rest`) are bold in this section."""
    return section not in CHECKBOX_SECTIONS and section is not Section.PAGE


def format_first_line(item: NoteItem, *, dated: bool, asides: str = "", flat: bool = False) -> str:
    """Format the first line of an item, without its marker.

    `asides` are a person's comments. With `flat` this line holds all of the content.
    """
    bare = dated and item.added is None  # then a date at the end of the content would be read as its own
    line = item.content if flat else item.content.split("\n", 1)[0]
    text = escape_line(line, dated=bare, titled=has_bold_title(item.section))
    parts = [] if item.done is None else ["[x]" if item.done else "[ ]"]
    parts.append(text)
    if dated and item.added is not None:
        parts.append(f"(added {item.added.isoformat()})")
    parts.append(asides)
    if item.id is not None:
        parts.append(format_id_comment(item))
    return " ".join(part for part in parts if part)


def format_id_comment(item: NoteItem) -> str:
    return f"<!-- {item.id}{' conflict' if item.conflict else ''} -->"


def escape_line(line: str, *, dated: bool = False, titled: bool = False) -> str:
    """Escape one line of content as Markdown."""
    text = _TO_CODE.sub(_encode_char, line)
    if "<!--" in text:
        text = _COMMENT.sub(r"\1\\<!--", text)
    if dated and text.endswith(")"):
        text = _ADDED.sub(r"\\\g<0>", text)
    title = _TITLE.match(text) if titled else None
    if title is not None:
        return f"**{title[1]}**: {text[title.end() :]}"
    number = _NUMBER.match(text)
    if number is not None:
        return f"{number[0]}\\{text[number.end() :]}"
    start = _START_TITLED if titled else _START
    return "\\" + text if start.match(text) else text


def parse_first_line(text: str, section: Section, *, dated: bool) -> NoteItem:
    """Parse the first line of an item, whatever a person has written there."""
    text = text.strip(" \t\r")
    id, conflict = None, False
    if text.endswith("-->"):
        found = _ID.search(text, max(0, len(text) - 32))
        if found is not None:
            id, conflict = found[1], found[2] is not None
            text = text[: found.start()].rstrip(" \t")
    done = None
    if section in CHECKBOX_SECTIONS:
        box = _BOX.match(text)
        done = box is not None and box[1] != " "
        text = text[box.end() :].lstrip(" \t") if box is not None else text
    text = _strip_comments(text)
    added = None
    if dated and text.endswith(")"):
        text, added = _strip_date(text)
    return NoteItem(
        section=section,
        content=_unescape(text, titled=has_bold_title(section)),
        id=id,
        conflict=conflict,
        done=done,
        added=added,
    )


def unescape_line(text: str) -> str:
    """Unescape a further line, after its marker."""
    return _unescape(_strip_comments(text.strip(" \t\r")), titled=False)


def split_id_comment(line: str) -> tuple[str, str | None]:
    """Split a line into its text and the comment with the id."""
    found = _ID.search(line) if line.rstrip(" \t\r").endswith("-->") else None
    if found is None:
        return line, None
    return line[: found.start()].rstrip(" \t"), found[0]


def find_comments(text: str) -> str:
    """Return a person's comments in a line, which are not part of the content."""
    text = split_id_comment(text)[0]
    return " ".join(text[start:end] for start, end in _comment_spans(text))


def strip_line_id(line: str) -> str:
    """Return the line without its id comment."""
    text, found = split_id_comment(line)
    return text if found is None or not line.endswith("\r") else f"{text}\r"


def strip_ids(text: str) -> str:
    """Return a note as a model reads it: without id comments."""
    if "<!--" not in text:
        return text
    return "\n".join(strip_line_id(line) for line in text.split("\n"))


def _encode_char(found: re.Match[str]) -> str:
    """Encode a character that a line cannot hold there, or literal text that looks like its code."""
    run, what = found[1], found[2]
    return run * 2 + ("\\" + what if what.startswith("&") else f"&#{ord(what)};")


def _decode_char(found: re.Match[str]) -> str:
    run, what = found[1], found[2]
    half = "\\" * (len(run) // 2)
    return half + (what if len(run) % 2 else chr(int(what[2:-1])))


def _strip_date(text: str) -> tuple[str, date | None]:
    found = _ADDED.fullmatch(text, max(0, len(text) - _ADDED_CHARS))
    if found is None:
        return text, None
    at = found.start()
    if text[:at].endswith("\\"):
        return text[: at - 1] + text[at:], None
    try:
        return text[:at].rstrip(" \t"), date.fromisoformat(found[1])
    except ValueError:
        return text, None


def _unescape(text: str, *, titled: bool) -> str:
    if titled and text.startswith("**"):
        bold = _BOLD.match(text)
        if bold is not None:
            text = f"{bold[1]}: {text[bold.end() :]}"
    elif text.startswith("\\"):
        start = _START_TITLED if titled else _START
        text = text[1:] if start.match(text) else text
    elif "\\" in text[:11]:
        number = _NUMBER.match(text)
        if number is not None and number[2]:
            text = number[1] + text[len(number[1]) + 1 :]
    if "\\<!--" in text:
        text = _COMMENT.sub(lambda m: f"{m[1][1:]}<!--", text)
    return _FROM_CODE.sub(_decode_char, text) if "&#" in text else text


def _strip_comments(text: str) -> str:
    """Strip comments, except in code spans."""
    if "<!--" not in text:
        return text
    kept, at = [], 0
    for start, end in _comment_spans(text):
        kept.append(text[at:start].rstrip(" \t") if at or start else "")
        at = end
    kept.append(text[at:])
    return "".join(kept).strip(" \t")


def _comment_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of closed comments outside code spans."""
    code = _code_spans(text) if "`" in text else []
    spans: list[tuple[int, int]] = []
    at = passed = 0
    for found in _COMMENT.finditer(text):
        start = found.start()
        if start < at or found[1]:
            continue
        while passed < len(code) and code[passed][1] <= start:
            passed += 1
        if passed < len(code) and code[passed][0] < start:
            continue
        end = text.find("-->", start + 2)
        if end < 0:
            break
        at = end + 3
        spans.append((start, at))
    return spans


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Return code spans: from a run of backticks to the next run of the same length."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(text)]
    after: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        after.setdefault(runs[index][1] - runs[index][0], []).append(index)
    spans, at = [], 0
    while at < len(runs):
        start, end = runs[at]
        same = after[end - start]
        while same and same[-1] <= at:
            same.pop()
        if same and (start == 0 or text[start - 1] != "\\"):
            spans.append((start, runs[same[-1]][1]))
            at = same[-1]
        at += 1
    return spans


# Items as lines of a list: the first line is the bullet, each further line of the content a bullet
# inside it.

_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])(?:[ \t]++|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item and its lines `start` to `end`; the text of its first line ends before `more`."""

    item: NoteItem
    start: int
    more: int  # where further lines of the content begin
    end: int
    heading: int | None  # the line of the heading above it
    indent: str = ""
    marker: str = ""  # empty: a paragraph of a page
    id_line: int = 0  # the line that holds the id, or would
    is_in_section: bool = True  # under its section's heading, not under one that a person added

    @property
    def digest(self) -> str:
        return digest_item(self.item)


def digest_item(item: NoteItem) -> str:
    """Hash what an item says and where, however it is written.

    The id is not included, so that a line that lost its id is recognized.
    """
    said = (item.section, item.content, item.done, item.added and str(item.added), item.conflict)
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def format_item_lines(
    item: NoteItem, kind: NoteKind, indent: str, marker: str, asides: str = "", *, flat: bool = False
) -> list[str]:
    """Format the lines of a new item.

    Without a marker it is a paragraph; with `flat` it has one line.
    """
    more = [] if flat else item.content.split("\n")[1:]
    if more and not marker:
        marker = "-"
    text = format_first_line(item, dated=kind is NoteKind.LONG_TERM, asides=asides, flat=flat)
    inside = indent + " " * (len(marker) + 1)
    return [
        f"{indent}{marker} {text}".rstrip(" ") if marker else indent + text,
        *(format_inner_line(line, inside) for line in more),
    ]


def format_inner_line(line: str, inside: str) -> str:
    return f"{inside}- {escape_line(line)}".rstrip(" ")


def parse_entry(
    lines: Sequence[str],
    block: MarkdownBlock,
    section: Section,
    kind: NoteKind,
    *,
    heading: int | None,
    is_in_section: bool,
) -> Entry | None:
    """Parse an entry, or return None where the item has no visible text."""
    first = block.text if block.marker else lines[block.start]
    more, raw, id_line = _read_leading_text(lines, block, first)
    item = parse_first_line(raw, section, dated=kind is NoteKind.LONG_TERM)
    if more < block.end:
        further = _read_inner_lines(lines, more, block)
        item = replace(item, content="\n".join([item.content, *further]))
    if _is_blank(item.content):
        return None
    return Entry(
        item=item,
        start=block.start,
        more=more,
        end=block.end,
        heading=heading,
        indent=block.indent,
        marker=block.marker,
        id_line=id_line,
        is_in_section=is_in_section,
    )


def _read_leading_text(lines: Sequence[str], block: MarkdownBlock, first: str) -> tuple[int, str, int]:
    """Read the text before any inner list, with wrapped lines; its id is moved to the end."""
    more, id_line = block.start + 1, block.start
    if more == block.end or (block.marker and (not first or find_fence(first) is not None)):
        return more, first, id_line
    parts, id = [first.strip(" \t\r")], None
    while more < block.end:
        bare = lines[more].strip(" \t\r")
        if not bare or (block.marker and _begins_inner_block(bare) and split_id_comment(bare)[0]):
            break
        parts.append(bare)
        more += 1
    if len(parts) == 1:
        return more, first, id_line
    for index, part in enumerate(parts):
        text, found = split_id_comment(part)
        if found and id is None:
            parts[index], id, id_line = text, found, block.start + index
    joined = _join_wrapped(parts)
    return more, f"{joined} {id}" if id else joined, id_line


def _begins_inner_block(bare: str) -> bool:
    """Report whether a line inside an item starts something other than more text."""
    marker = _MARKER.match(bare)
    if marker is not None:
        return marker[1] in ("-", "+", "*", "1.", "1)")
    return bare.startswith(("#", ">", "<!--")) or find_fence(bare) is not None


def _read_inner_lines(lines: Sequence[str], at: int, block: MarkdownBlock) -> list[str]:
    """Read the lines inside an item, one by one."""
    found: list[list[str]] = []  # each with the lines that it was wrapped into
    fence = find_fence(block.text) if block.marker and at == block.start + 1 else None
    goes_on = in_list = hidden = False
    for line in lines[at : block.end]:
        bare = line.strip(" \t\r")
        if fence is not None:
            found.append([line.rstrip("\r")[len(block.indent) + 2 :] if bare else ""])
            fence = None if closes_fence(bare, fence) else fence
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
        if goes_on and not (in_list and marker) and not _begins_inner_block(bare):
            found[-1].append(unescape_line(bare))
            continue
        if marker is not None:
            bare, in_list = bare[marker.end() :], True
        fence = find_fence(bare)
        found.append([unescape_line(bare)])
        goes_on = bool(bare) and fence is None
    return [_join_wrapped(parts) for parts in found]


def _join_wrapped(parts: list[str]) -> str:
    """Join wrapped lines; some scripts have no spaces between characters."""
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
