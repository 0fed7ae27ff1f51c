"""Lines of a note put in the place of others, or between them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.notes.text import links, yaml_head
from tacit.notes.text.blocks import Shape
from tacit.notes.text.document import Document, Entry, is_numbered
from tacit.notes.text.reading_items import lines_of
from tacit.notes.text.rewording import reworded
from tacit.records.notes import (
    SECTION_HEADINGS,
    SECTIONS_BY_KIND,
    NoteItem,
    NoteKind,
    NoteLink,
    Section,
)

_NUMBER = re.compile(r"([0-9]{1,9})([.)])")


@dataclass(slots=True)
class Patch:
    """Lines to be put in the place of others, and between others."""

    document: Document
    apart: bool = False  # with blank lines around whatever is new
    flat: bool = False  # each new item on one line, and in a page without a marker
    replaced: dict[int, tuple[int, list[str]]] = field(default_factory=dict)
    inserted: dict[int, list[str]] = field(default_factory=dict)
    last_marker: dict[int, str] = field(default_factory=dict)  # of what is put there
    sections: dict[Section, list[NoteItem | NoteLink]] = field(default_factory=dict)  # to be made
    linked: set[str] = field(default_factory=set)

    def set_entry(self, entry: Entry, item: NoteItem) -> None:
        if item.section is not entry.item.section:
            self.drop_entry(entry)
            self.add_item(item, None)
            return
        lines = reworded(self.document, entry, item, flat=self.flat)
        gap = [line + self.line_end for line in self.gap()]
        self.replaced[entry.start] = entry.end, [*gap, *lines, *gap]

    def drop_entry(self, entry: Entry) -> None:
        self.replaced[entry.start] = entry.end, [line + self.line_end for line in self.gap()]

    def add_item(self, item: NoteItem, after: Entry | None) -> None:
        if after is None or after.item.section is not item.section:
            after = self.last_entry_of(item.section)
        if after is None:
            place = self.end_of_section(item.section)
            if place is None:
                self.sections.setdefault(item.section, []).append(item)
                return
            self.insert_item(place, item, "")
            return
        if not after.marker:
            self.insert_item(after.end, item, "", blank=True)
        else:
            self.insert_item(after.end, item, after.indent, after.marker)

    def insert_item(
        self, at: int, item: NoteItem, indent: str, behind: str = "", *, blank: bool = False
    ) -> None:
        kind = self.document.kind
        new = self.inserted.setdefault(at, [])
        if not new and (blank or (not behind and self.is_text(at - 1))):
            new.append("")
        behind = self.last_marker.get(at, behind)
        marker = _next(behind) if behind else "1." if is_numbered(kind, item.section) else "-"
        self.last_marker[at] = marker
        if self.flat and kind is NoteKind.PAGE:
            marker = ""
        lines = lines_of(item, kind, indent, marker, flat=self.flat)
        new += [*self.gap(), *lines, *self.gap()]

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
        new += [*self.gap(), f"- {links.written(link)}", *self.gap()]

    def drop_link(self, target: str) -> None:
        """What else is linked to on the same lines keeps a line of its own."""
        lines = self.document.link_lines
        for start, end in {(at.start, at.end) for at in lines if at.link.target == target}:
            others = [at.link for at in lines if at.start == start and at.link.target != target]
            self.replaced[start] = (
                end,
                [f"- {links.written(link)}{self.line_end}" for link in others],
            )

    def set_head(self, changes: Mapping[str, object]) -> None:
        body, lines = self.document.body, self.document.lines
        if not body:
            made = yaml_head.changed("", changes).split("\n")[:-1]
            if made:
                self.inserted.setdefault(0, [])[:0] = ["---", *made, "---", ""]
            return
        inner = "".join(f"{line}\n" for line in lines[1 : body - 1])
        self.replaced[1] = body - 1, yaml_head.changed(inner, changes).split("\n")[:-1]

    @property
    def line_end(self) -> str:
        """What lines of this file end with, before the line feed."""
        return "\r" if self.document.lines[0].endswith("\r") else ""

    def gap(self) -> list[str]:
        return [""] if self.apart else []

    def is_text(self, at: int) -> bool:
        """Whether a line would be read together with one that follows it."""
        if at < self.document.body or not self.document.lines[at].strip():
            return False
        return not any(heading.end == at + 1 for heading in self.document.headings)

    def last_entry_of(self, section: Section) -> Entry | None:
        """The last item under the heading of the section; of a page, the last one of all."""
        entries = self.document.entries
        if self.document.kind is NoteKind.PAGE:
            last = self.document.blocks[-1] if self.document.blocks else None
            return entries[-1] if entries and last and entries[-1].start == last.start else None
        found = [e for e in entries if e.is_in_section and e.item.section is section]
        return found[-1] if found else None

    def end_of_section(self, section: Section) -> int | None:
        """Where an item may stand in a section that has none; None where the section is not
        there."""
        document = self.document
        if document.kind is NoteKind.PAGE:
            return self.end_of_file()
        heading = next((h for h in document.headings if h.section is section), None)
        if heading is None:
            return None
        end = heading.end
        for block in document.blocks:
            if block.start >= heading.end:
                if block.kind is Shape.HEADING or block.is_open:
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
            lines = [f"## {SECTION_HEADINGS[section]}"]
            marker = "1." if is_numbered(kind, section) else "-"
            for what in self.sections[section]:
                if isinstance(what, NoteLink):
                    lines.append(f"- {links.written(what)}")
                else:
                    lines += lines_of(what, kind, "", marker, flat=self.flat)
                    marker = _next(marker)
            if at is not None:
                self.inserted.setdefault(at, []).extend([*self.gap(), *lines, ""])
            else:
                end = self.end_of_file()
                self.inserted.setdefault(end, []).extend(
                    ["", *lines, *self.gap()] if end else lines
                )

    def lines(self) -> list[str]:
        """The lines of the file with all of this done."""
        old, end = self.document.lines, self.line_end
        made: list[str] = []
        at = 0
        while True:
            new = self.inserted.get(at, [])
            if at == len(old):
                if new:  # behind a last line that nothing ends
                    made[-1:] = [made[-1].removesuffix("\r") + end] if made else []
                    made += [line + end for line in new[:-1]] + new[-1:]
                return made
            made += [line + end for line in new]
            after, lines = self.replaced.get(at, (at, []))
            made += lines
            if after == at:
                made.append(old[at])
                after += 1
            elif after == len(old) and not lines:
                made.append("")  # what stood before the last line keeps its end
            at = after


def _next(marker: str) -> str:
    number = _NUMBER.fullmatch(marker)
    if number is None:
        return marker
    return f"{min(int(number[1]) + 1, 999_999_999)}{number[2]}"
