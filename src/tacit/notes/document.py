"""Parse the file of a note into entries with their lines, and render new files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.notes import frontmatter, markdown
from tacit.notes.frontmatter import UNDATED, YamlValue
from tacit.notes.markdown import BlockKind, Entry, MarkdownBlock, digest_item, parse_blocks
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    SECTION_HEADINGS,
    SECTIONS_BY_KIND,
    Frontmatter,
    Note,
    NoteItem,
    NoteKind,
    NoteLink,
    NoteRef,
    Section,
)

__all__ = ["UNDATED", "Document", "Entry", "digest_item", "parse_note", "render_note"]

_BOM = b"\xef\xbb\xbf"
_HEAD_OPENING = re.compile(rb"---[ \t]*+\r?\n")
_HEAD_CLOSING = re.compile(rb"^(?:---|\.\.\.)[ \t]*+\r?$", re.MULTILINE)
_MERGE_CONFLICT = re.compile(rb"^<<<<<<< ", re.MULTILINE)
_YAML_KEY = re.compile(rb"[A-Za-z_\"'][\w \"'-]*+:(?:[ \t\r\n]|\Z)")
_SECTION_BY_HEADING = {text.casefold(): section for section, text in SECTION_HEADINGS.items()}
# The section of a bullet under a heading that a person added.
DEFAULT_SECTIONS: Mapping[NoteKind, Section] = {
    NoteKind.SESSION: Section.FACTS,
    NoteKind.LONG_TERM: Section.KEY_FACTS,
    NoteKind.PAGE: Section.PAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLine:
    link: NoteLink
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    section: Section | None  # None: a heading that a person added
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    kind: NoteKind
    head: Frontmatter
    fields: Mapping[str, YamlValue]  # all of the frontmatter, as written
    entries: tuple[Entry, ...]
    lines: tuple[str, ...]  # joined by \n they are the file
    body: int  # the first line below the frontmatter; 0: there is none
    has_bom: bool
    headings: tuple[Heading, ...]
    link_lines: tuple[LinkLine, ...]
    blocks: tuple[MarkdownBlock, ...]

    @property
    def items(self) -> tuple[NoteItem, ...]:
        return tuple(entry.item for entry in self.entries)

    @property
    def links(self) -> tuple[NoteLink, ...]:
        """Return one link per target, the first of each."""
        found: dict[str, NoteLink] = {}
        for line in self.link_lines:
            found.setdefault(line.link.target, line.link)
        return tuple(found.values())

    def note(self, place: NoteRef) -> Note:
        return Note(place=place, head=self.head, items=self.items, links=self.links)


def parse_note(data: bytes, kind: NoteKind) -> Document:
    """Parse a file. Raises `NoteUnreadable`; the file must then be left alone."""
    if len(data) > limits.NOTE_FILE_MAX_BYTES:
        raise NoteUnreadable("it is larger than a note may be; split it")
    bare = data.removeprefix(_BOM)
    if b"<<<<<<< " in bare and _MERGE_CONFLICT.search(bare) and b"\n>>>>>>> " in bare:
        raise NoteUnreadable("a merge in it is not finished; choose between the two sides")
    after = _find_head_end(bare)
    try:
        lines = bare.decode().split("\n")
    except UnicodeDecodeError:
        raise NoteUnreadable("it is not UTF-8; save it as UTF-8") from None
    if len(lines) > limits.NOTE_LINES_MAX_COUNT:
        raise NoteUnreadable(f"it has more than {limits.NOTE_LINES_MAX_COUNT:,} lines; split it")
    if max(map(len, lines)) > limits.NOTE_LINE_MAX_CHARS:
        raise NoteUnreadable("a line is longer than a memory may be; break it")
    body = bare.count(b"\n", 0, after) + 1 if after else 0
    fields = frontmatter.parse_frontmatter("\n".join(lines[1 : body - 1]) + "\n") if body else {}
    blocks = parse_blocks(lines, body)
    entries, headings, link_lines = _read_blocks(lines, blocks, kind)
    return Document(
        kind=kind,
        head=frontmatter.build_head(fields),
        fields=fields,
        entries=tuple(entries),
        lines=tuple(lines),
        body=body,
        has_bom=len(bare) < len(data),
        headings=tuple(headings),
        link_lines=tuple(link_lines),
        blocks=tuple(blocks),
    )


def render_note(note: Note) -> bytes:
    """Render a note as a new file, in the form of the templates."""
    kind = note.place.kind
    lines = ["---", *frontmatter.format_frontmatter(note), "---", ""]
    if kind is NoteKind.SESSION and note.place.day is not None:
        lines += [f"# {note.place.day.isoformat()} Short-Term Memory", ""]
    elif kind is NoteKind.LONG_TERM:
        lines += ["# Long-Term Memory", ""]
    linked = (Section.LINKS,) if kind is NoteKind.LONG_TERM and note.links else ()
    for section in (*SECTIONS_BY_KIND[kind], *linked):
        said: list[NoteItem | NoteLink] = [one for one in note.items if one.section is section]
        if section is Section.LINKS:
            said += note.links
        if said or not (kind is NoteKind.LONG_TERM and section in CHECKBOX_SECTIONS):
            lines += [*format_section(kind, section, said), ""]
    return "\n".join(lines).encode()


def format_section(
    kind: NoteKind, section: Section, said: Sequence[NoteItem | NoteLink], *, flat: bool = False
) -> list[str]:
    """Format a section: its heading, except in a page, and what stands under it."""
    lines = [] if kind is NoteKind.PAGE else [f"## {SECTION_HEADINGS[section]}"]
    for number, one in enumerate(said, start=1):
        if isinstance(one, NoteLink):
            lines.append(f"- {markdown.format_link(one)}")
        else:
            marker = f"{number}." if is_numbered(kind, section) else "-"
            lines += markdown.format_item_lines(one, kind, "", marker, flat=flat)
    return lines


def is_numbered(kind: NoteKind, section: Section) -> bool:
    return kind is NoteKind.SESSION and section in (Section.SUMMARY, Section.FACTS)


def _find_head_end(data: bytes) -> int:
    """Return where the line that closes the frontmatter ends, or 0 where there is none."""
    opened = _HEAD_OPENING.match(data)
    if opened is None:
        return 0
    closed = _HEAD_CLOSING.search(data, opened.end())
    if closed is not None:
        return closed.end()
    if _YAML_KEY.match(data, opened.end()):
        raise NoteUnreadable("the frontmatter is not closed; write --- below it")
    return 0  # only a thematic break


def _read_blocks(
    lines: Sequence[str], blocks: Sequence[MarkdownBlock], kind: NoteKind
) -> tuple[list[Entry], list[Heading], list[LinkLine]]:
    entries: list[Entry] = []
    headings: list[Heading] = []
    link_lines: list[LinkLine] = []
    elsewhere = section = DEFAULT_SECTIONS[kind]
    level, above, at_home = 0, None, kind is NoteKind.PAGE
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            above = block.start
            known = _section_of_heading(block.text, kind)
            headings.append(Heading(section=known, start=block.start, end=block.end))
            if known is not None or block.level <= level:
                section, level = known or elsewhere, block.level if known else 0
                at_home = known is not None
        elif section is Section.LINKS:
            link_lines += [
                LinkLine(link=link, start=block.start, end=block.end)
                for link in markdown.find_links(" ".join(lines[block.start : block.end]))
            ]
        elif block.kind is BlockKind.ITEM or (kind is NoteKind.PAGE and block.kind is BlockKind.PARAGRAPH):
            entry = markdown.parse_entry(lines, block, section, kind, heading=above, is_in_section=at_home)
            if len(entries) == limits.NOTE_ITEMS_MAX_COUNT:
                most = f"{limits.NOTE_ITEMS_MAX_COUNT:,}"
                raise NoteUnreadable(f"it has more than {most} items; split it")
            if entry is not None:
                entries.append(entry)
    return entries, headings, link_lines


def _section_of_heading(heading: str, kind: NoteKind) -> Section | None:
    if kind is NoteKind.PAGE:
        return None
    found = _SECTION_BY_HEADING.get(" ".join(heading.split()).casefold().removesuffix(":"))
    return found if found in SECTIONS_BY_KIND[kind] or found is Section.LINKS else None
