"""Edit the file of a note in place, and fill the layout of a page: other lines stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tacit.errors import InvalidInput, NoteUnreadable
from tacit.notes import frontmatter, markdown
from tacit.notes.document import Document, Entry, format_section, is_numbered, parse_note
from tacit.notes.frontmatter import HeadValue
from tacit.records.notes import CHECKBOX_SECTIONS, SECTIONS_BY_KIND, NoteItem, NoteKind, NoteLink, Section

# Reword an item in place, changing as few of its lines as possible.

_BOX = re.compile(r"([ \t]*+(?:[-+*]|[0-9]{1,9}[.)])[ \t]++\[)[ xX](\].*)", re.DOTALL)
_BLANKS = " \t\r"
_EIGHT_LETTERS = re.compile(r"[A-Za-z]?[a-z]{7}")


def reword_entry(document: Document, entry: Entry, item: NoteItem, *, flat: bool) -> list[str]:
    """Return the lines of an entry once it says this."""
    now, old = list(document.lines[entry.start : entry.end]), entry.item
    if replace(item, id=old.id, conflict=old.conflict, done=old.done) == old:
        ticked = now[0] if item.done == old.done else _tick_line(now[0], done=bool(item.done))
        if ticked is not None:
            now = [ticked, *now[1:]]
            at = entry.id_line - entry.start
            if (item.id, item.conflict) != (old.id, old.conflict):
                now[at] = _set_line_id(now[at], old, item)
            return now
    leading = now[: entry.more - entry.start]
    aside = " ".join(filter(None, map(markdown.find_comments, leading)))
    if old.id != item.id and old.id and _EIGHT_LETTERS.fullmatch(old.id):
        aside = f"{aside} {markdown.format_id_comment(old)}".strip()
    if item.id is None:
        aside = _strip_trailing_id(aside)
    fresh = markdown.format_item_lines(item, document.kind, entry.indent, entry.marker, aside, flat=flat)
    if flat:
        return fresh
    return [fresh[0], *_reword_inner_lines(now[entry.more - entry.start :], old, item, fresh)]


def _reword_inner_lines(now: list[str], old: NoteItem, item: NoteItem, fresh: list[str]) -> list[str]:
    """Reword the inner lines; those that say the same stay as they are."""
    was, wants = old.content.split("\n")[1:], item.content.split("\n")[1:]
    if was == wants:
        return now
    if not now or len(now) != len(was):
        return fresh[1:]
    inside = now[0][: len(now[0]) - len(now[0].lstrip(" \t"))]
    made = [markdown.format_inner_line(line, inside) for line in wants]
    head = 0
    while head < min(len(was), len(wants)) and was[head] == wants[head]:
        made[head] = now[head]
        head += 1
    tail = 1
    while tail <= min(len(was), len(wants)) - head and was[-tail] == wants[-tail]:
        made[-tail] = now[-tail]
        tail += 1
    return made


def _tick_line(line: str, *, done: bool) -> str | None:
    found = _BOX.fullmatch(line)
    return None if found is None else f"{found[1]}{'x' if done else ' '}{found[2]}"


def _set_line_id(line: str, old: NoteItem, item: NoteItem) -> str:
    """Set the id of a line. An unknown eight-letter comment is rather a person's remark."""
    if item.id is None:
        return _strip_trailing_id(line)
    remark = old.id is not None and old.id != item.id and _EIGHT_LETTERS.fullmatch(old.id)
    return f"{(line if remark else markdown.strip_line_id(line)).rstrip(_BLANKS)} {markdown.format_id_comment(item)}"


def _strip_trailing_id(line: str) -> str:
    """Strip what would be read as an id from the end of a line."""
    while (shorter := markdown.strip_line_id(line).rstrip(_BLANKS)) != line.rstrip(_BLANKS):
        line = shorter
    return line


# Patch the lines of a note.

_ORDERED_MARKER = re.compile(r"([0-9]{1,9})([.)])")


@dataclass(slots=True)
class LinePatch:
    """Lines to replace, and lines to insert."""

    document: Document
    apart: bool = False  # with blank lines around new lines
    flat: bool = False  # each new item on one line; in a page without a marker
    replaced: dict[int, tuple[int, list[str]]] = field(default_factory=dict)
    inserted: dict[int, list[str]] = field(default_factory=dict)
    last_marker: dict[int, str] = field(default_factory=dict)  # of the lines inserted there
    # To be created.
    sections: dict[Section, list[NoteItem | NoteLink]] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)

    def set_entry(self, entry: Entry, item: NoteItem) -> None:
        if item.section is not entry.item.section:
            self.drop_entry(entry)
            self.add_item(item, None)
            return
        lines = reword_entry(self.document, entry, item, flat=self.flat)
        self.replaced[entry.start] = entry.end, [*self.gap(), *lines, *self.gap()]

    def drop_entry(self, entry: Entry) -> None:
        # Without a block between them, the lines around it may be one item.
        self.replaced[entry.start] = entry.end, ["<!-- -->"] if self.flat else self.gap()

    def add_item(self, item: NoteItem, after: Entry | None) -> None:
        if after is None or after.item.section is not item.section:
            after = self.last_entry_of(item.section)
        if after is not None:
            self.insert_item(after.end, item, after.indent, after.marker, blank=not after.marker)
        elif (place := self.end_of_section(item.section)) is not None:
            self.insert_item(place, item)
        else:
            self.sections.setdefault(item.section, []).append(item)

    def insert_item(self, at: int, item: NoteItem, indent: str = "", behind: str = "", *, blank: bool = False) -> None:
        kind = self.document.kind
        indent = "" if blank else indent
        new = self.inserted.setdefault(at, [])
        if not new and (blank or (not behind and self.is_text(at - 1))):
            new.append("")
        behind = self.last_marker.get(at, behind)
        first = "1." if is_numbered(kind, item.section) else "-"
        marker = _next_marker(behind) if behind else first
        self.last_marker[at] = marker
        if self.flat and kind is NoteKind.PAGE:
            marker = ""
        lines = markdown.format_item_lines(item, kind, indent, marker, flat=self.flat)
        new += [*self.gap(), *lines, *self.gap()]
        if self.flat and self.document.lines[at : at + 1] and self.document.lines[at][:1].isspace():
            new.append("<!-- -->")  # the indented text below would be part of the new item

    def add_link(self, link: NoteLink) -> None:
        same = self.document.link_lines
        if link.target in self.linked or any(line.link.target == link.target for line in same):
            return
        self.linked.add(link.target)
        at = same[-1].end if same else self.end_of_section(Section.LINKS)
        if at is None:
            self.sections.setdefault(Section.LINKS, []).append(link)
            return
        new = self.inserted.setdefault(at, [])
        if not new and not same and self.is_text(at - 1):
            new.append("")
        new += [*self.gap(), f"- {markdown.format_link(link)}", *self.gap()]

    def drop_link(self, target: str) -> None:
        """Remove a link; other links on the same lines keep a line of their own."""
        lines = self.document.link_lines
        for start, end in {(at.start, at.end) for at in lines if at.link.target == target}:
            others = [at.link for at in lines if at.start == start and at.link.target != target]
            self.replaced[start] = end, [f"- {markdown.format_link(link)}" for link in others]

    def set_head(self, changes: Mapping[str, HeadValue]) -> None:
        body, lines = self.document.body, self.document.lines
        if not body:
            made = frontmatter.update_frontmatter("", changes).split("\n")[:-1]
            if made:
                self.inserted.setdefault(0, [])[:0] = ["---", *made, "---", ""]
            return
        inner = "".join(f"{line}\n" for line in lines[1 : body - 1])
        self.replaced[1] = body - 1, frontmatter.update_frontmatter(inner, changes).split("\n")[:-1]

    def gap(self) -> list[str]:
        return [""] if self.apart else []

    def is_text(self, at: int) -> bool:
        """Report whether a line would join a line that follows it."""
        if at < self.document.body or not self.document.lines[at].strip():
            return False
        return not any(heading.end == at + 1 for heading in self.document.headings)

    def last_entry_of(self, section: Section) -> Entry | None:
        """Return the last item under the section's heading; of a page, the last one at all."""
        entries = self.document.entries
        if self.document.kind is NoteKind.PAGE:
            last = self.document.blocks[-1] if self.document.blocks else None
            return entries[-1] if entries and last and entries[-1].start == last.start else None
        found = [e for e in entries if e.is_in_section and e.item.section is section]
        return found[-1] if found else None

    def end_of_section(self, section: Section) -> int | None:
        """Return where the first item of an empty section goes, or None without that section."""
        document = self.document
        if document.kind is NoteKind.PAGE:
            return self.end_of_file()
        heading = next((h for h in document.headings if h.section is section), None)
        if heading is None:
            return None
        end = heading.end
        for block in document.blocks:
            if block.start >= heading.end:
                if block.kind is markdown.BlockKind.HEADING or block.is_open:
                    break
                end = block.end
        return end

    def end_of_file(self) -> int:
        blocks = self.document.blocks
        if not blocks:
            return self.document.body
        return blocks[-1].start if blocks[-1].is_open else blocks[-1].end

    def make_sections(self) -> None:
        kind = self.document.kind
        order = [*SECTIONS_BY_KIND[kind], Section.LINKS]
        for section in order:
            if section not in self.sections:
                continue
            later = order[order.index(section) + 1 :]
            at = min((h.start for h in self.document.headings if h.section in later), default=None)
            lines = format_section(kind, section, self.sections[section], flat=self.flat)
            if at is not None:
                self.inserted.setdefault(at, []).extend([*self.gap(), *lines, ""])
            else:
                end = self.end_of_file()
                self.inserted.setdefault(end, []).extend(["", *lines, *self.gap()] if end else lines)

    def lines(self) -> list[str]:
        """Return the lines of the patched file; new ones end like its first line."""
        old = self.document.lines
        end = "\r" if old[0].endswith("\r") else ""
        made: list[str] = []
        at = 0
        while at < len(old):
            made += [line + end for line in self.inserted.get(at, [])]
            after, lines = self.replaced.get(at, (at, []))
            kept = old[at:after]
            made += [line if line in kept else line.removesuffix("\r") + end for line in lines]
            if after == at:
                made.append(old[at])
                after += 1
            elif after == len(old) and not lines:
                made.append("")  # keeps the end of the former last line
            at = after
        if new := self.inserted.get(at):
            made[-1] = made[-1].removesuffix("\r") + end
            made += [line + end for line in new]
        if made[-1] != old[-1]:  # the last line has no line feed
            made[-1] = made[-1].removesuffix("\r")
        return made


def _next_marker(marker: str) -> str:
    number = _ORDERED_MARKER.fullmatch(marker)
    if number is None:
        return marker
    return f"{min(int(number[1]) + 1, 999_999_999)}{number[2]}"


# Edits of an existing note: only the lines of what changed are rewritten.


@dataclass(frozen=True, slots=True, kw_only=True)
class SetItem:
    """Set what an entry says. In another section it moves to the end of that section."""

    entry: Entry
    item: NoteItem


@dataclass(frozen=True, slots=True, kw_only=True)
class DropItem:
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class AddItem:
    """Add an item after an entry, or else at the end of its section."""

    item: NoteItem
    after: Entry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLink:
    """Add a link, unless there is one to the same target."""

    link: NoteLink


@dataclass(frozen=True, slots=True, kw_only=True)
class DropLink:
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetHead:
    """Set frontmatter keys to text, times, counts or lists of text; None removes a key."""

    changes: Mapping[str, HeadValue]


Edit = SetItem | DropItem | AddItem | AddLink | DropLink | SetHead


def apply_edits(document: Document, edits: Sequence[Edit]) -> bytes:
    """Apply edits and keep every other line as it was.

    Raises `NoteUnreadable` where the file cannot be written so that it is read back as meant.
    """
    for apart, flat in ((False, False), (True, False), (True, True)) if edits else ():
        patch = LinePatch(document, apart=apart, flat=flat)
        wanted = _apply_to_patch(patch, edits)
        data = _encode_lines(document, patch.lines())
        try:
            found = parse_note(data, document.kind)
        except NoteUnreadable:
            continue
        if (Counter(found.items), {link.target for link in found.links}) == wanted:
            return data
    if edits:
        raise NoteUnreadable("its form leaves no place for a change; add a heading for the section")
    return _encode_lines(document, document.lines)


def _apply_to_patch(patch: LinePatch, edits: Sequence[Edit]) -> tuple[Counter[NoteItem], set[str]]:
    """Return the items and link targets that the file must have afterwards."""
    document = patch.document
    items = {entry.start: entry.item for entry in document.entries}
    more: list[NoteItem] = []
    targets = {link.target for link in document.links}
    changes: dict[str, HeadValue] = {}
    for edit in edits:
        match edit:
            case SetItem():
                items[edit.entry.start] = item = _fit_item(edit.item, document.kind)
                patch.set_entry(edit.entry, item)
            case DropItem():
                items.pop(edit.entry.start, None)
                patch.drop_entry(edit.entry)
            case AddItem():
                more.append(_fit_item(edit.item, document.kind))
                patch.add_item(more[-1], edit.after)
            case AddLink():
                if document.kind is NoteKind.PAGE:
                    raise InvalidInput("link", "a page has its links in its text")
                targets.add(edit.link.target)
                patch.add_link(edit.link)
            case DropLink():
                targets.discard(edit.target)
                patch.drop_link(edit.target)
            case SetHead():
                changes |= edit.changes
    if changes:
        patch.set_head(changes)
    patch.make_sections()
    return Counter([*items.values(), *more]), targets


def _encode_lines(document: Document, lines: Sequence[str]) -> bytes:
    return b"\xef\xbb\xbf" * document.has_bom + "\n".join(lines).encode()


def _fit_item(item: NoteItem, kind: NoteKind) -> NoteItem:
    """Return the item as it will be read back: only some sections have boxes, one kind has dates."""
    if item.section not in SECTIONS_BY_KIND[kind] or item.section is Section.LINKS:
        raise InvalidInput("section", f"a note of this kind has no items in {item.section}")
    return replace(
        item,
        done=bool(item.done) if item.section in CHECKBOX_SECTIONS else None,
        added=item.added if kind is NoteKind.LONG_TERM else None,
        conflict=item.conflict and item.id is not None,
    )


# The layout of a page: its headings and all else between its items. Items are memories and stored
# as such; the layout has a mark where each stood, without an id, so that nothing is left of an
# erased one. A page therefore reads back as written, also where no file mirrors it.

PlacedItem = tuple[int, NoteItem]  # by the position of its row, which is that of its mark

_ITEM_MARK = "\x1f"  # no stored text contains this character
_DEFAULT_MARKER = "- "


def extract_layout(document: Document, without: Collection[str] = ()) -> str:
    """Extract the text without its items, which get the positions 0, 1, 2…

    Items of another note, given by their ids, leave no mark.
    """
    out: list[str] = []
    at = position = 0
    for entry in document.entries:
        out += document.lines[at : entry.start]
        at = entry.end
        if entry.item.id not in without:
            marker = f"{entry.indent}{entry.marker} " if entry.marker else ""
            out.append(f"{_ITEM_MARK}{position}{_ITEM_MARK}{marker}")
            position += 1
    return "\n".join([*out, *document.lines[at:]])


def list_other_lines(document: Document) -> list[str]:
    """Return the nonblank lines that belong to no item."""
    inside = {line for one in document.entries for line in range(one.start, one.end)}
    inside |= {line for one in document.link_lines for line in range(one.start, one.end)}
    lines = enumerate(document.lines)
    return [line.strip() for number, line in lines if number not in inside and line.strip()]


def fill_layout(layout: str, items: Sequence[PlacedItem]) -> str:
    """Fill a layout with items: each where it stood, new ones after their predecessor.

    Of the forms that parse to exactly these items, choose the closest to what was written.
    """
    ordered = sorted(items, key=lambda one: one[0])
    said = [item.content for _, item in ordered]
    for marked, escape in ((True, str), (True, markdown.escape_line), (False, markdown.escape_line)):
        text = _fill(layout, ordered, escape, marked=marked)
        try:
            entries = parse_note(text.encode(), NoteKind.PAGE).entries
        except NoteUnreadable:
            continue
        # A carriage return: no editor would leave it like this.
        if "\r" not in text and [entry.item.content for entry in entries] == said:
            return text
    bullets = (_format_lines(item, _DEFAULT_MARKER, markdown.escape_line) for _, item in ordered)
    return "".join(f"{line}\n" for lines in bullets for line in lines)


def fill_layout_with_ids(layout: str, items: Sequence[PlacedItem]) -> bytes:
    """Fill a layout for a file, in which each line has the id of its memory."""
    document = parse_note(fill_layout(layout, items).encode(), NoteKind.PAGE)
    ordered = [item for _, item in sorted(items, key=lambda one: one[0])]
    pairs = zip(document.entries, ordered, strict=True)
    return apply_edits(document, [SetItem(entry=entry, item=replace(entry.item, id=item.id)) for entry, item in pairs])


def _fill(layout: str, items: Sequence[PlacedItem], escape: Callable[[str], str], *, marked: bool) -> str:
    """Fill in the items, with the markers that they had (`marked`) or as bullets."""
    lines = layout.split("\n")
    marks = {int(line.split(_ITEM_MARK)[1]) for line in lines if line.startswith(_ITEM_MARK)}
    placed: dict[int, list[NoteItem]] = {}
    last = -1
    for position, item in items:
        last = position if position in marks else last
        placed.setdefault(last, []).append(item)
    out: list[str] = []
    for line in lines:
        if not line.startswith(_ITEM_MARK):
            out.append(line)
            continue
        _, mark, marker = line.split(_ITEM_MARK)
        for item in placed.get(int(mark), ()):
            out += _format_lines(item, marker if marked else _DEFAULT_MARKER, escape)
            # Two paragraphs need a blank line between them: a further one is a bullet.
            number = marker.strip()[:-1]
            if number.isdecimal():
                marker = marker.replace(number, str(int(number) + 1), 1)
            marker = marker or _DEFAULT_MARKER
    rest = placed.get(-1, ())
    if rest:  # at the end, which stays the end of a line
        out = out[:-1] if not out[-1] else out
        for item in rest:
            out += _format_lines(item, _DEFAULT_MARKER, escape)
        out.append("")
    return "\n".join(out)


def _format_lines(item: NoteItem, marker: str, escape: Callable[[str], str]) -> list[str]:
    first, *others = item.content.split("\n")
    indent = " " * (len(marker) or 2)
    return [marker + escape(first), *(f"{indent}- {escape(line)}" for line in others)]
