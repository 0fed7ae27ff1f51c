"""Changes to a note that is there already: only the lines of what changed are written anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.errors import InvalidInput, NoteUnreadable
from tacit.notes.text.document import Document, Entry, parse
from tacit.notes.text.patch import Patch
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    SECTIONS_BY_KIND,
    NoteItem,
    NoteKind,
    NoteLink,
    Section,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetItem:
    """The entry says this now. In another section it moves to the end of that."""

    entry: Entry
    item: NoteItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """A further item, right behind an entry, or else at the end of its section."""

    item: NoteItem
    after: Entry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLink:
    """Nothing, where there is a link to the target already."""

    link: NoteLink


@dataclass(frozen=True, slots=True, kw_only=True)
class DropLink:
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetHead:
    """Keys of the frontmatter: text, times, counts, lists of text; None leaves a key out."""

    changes: Mapping[str, object]


Edit = SetItem | Drop | Add | AddLink | DropLink | SetHead


def revise(document: Document, edits: Sequence[Edit]) -> bytes:
    """The file with the edits made, every other line as it was. Raises `NoteUnreadable` where
    there is no way to write it so that it would be read as it was meant."""
    if not edits:
        return _bytes(document, document.lines)
    wanted = _wanted(document, edits)
    for patch in (Patch(document), Patch(document, apart=True), Patch(document, True, True)):
        data = _made(patch, edits)
        if _reads(data, document.kind, wanted):
            return data
    raise NoteUnreadable("its form leaves no place for a change; add a heading for the section")


def _made(patch: Patch, edits: Sequence[Edit]) -> bytes:
    document = patch.document
    changes: dict[str, object] = {}
    for edit in edits:
        match edit:
            case SetItem():
                patch.set_entry(edit.entry, _fitting(edit.item, document.kind))
            case Drop():
                patch.drop_entry(edit.entry)
            case Add():
                patch.add_item(_fitting(edit.item, document.kind), edit.after)
            case AddLink():
                patch.add_link(edit.link)
            case DropLink():
                patch.drop_link(edit.target)
            case SetHead():
                changes |= edit.changes
    if changes:
        patch.set_head(changes)
    patch.make_sections()
    return _bytes(document, patch.lines())


def _bytes(document: Document, lines: Sequence[str]) -> bytes:
    return b"\xef\xbb\xbf" * document.has_bom + "\n".join(lines).encode()


def _fitting(item: NoteItem, kind: NoteKind) -> NoteItem:
    """As it will be read: only some sections have boxes, only one kind of note has dates."""
    if item.section not in SECTIONS_BY_KIND[kind] or item.section is Section.LINKS:
        raise InvalidInput("section", f"a note of this kind has no items in {item.section}")
    return replace(
        item,
        done=bool(item.done) if item.section in CHECKBOX_SECTIONS else None,
        added=item.added if kind is NoteKind.LONG_TERM else None,
        conflict=item.conflict and item.id is not None,
    )


def _wanted(document: Document, edits: Sequence[Edit]) -> tuple[Counter[NoteItem], set[str]]:
    """The items and the targets of links that the file is to have afterwards."""
    items = {entry.start: [entry.item] for entry in document.entries}
    more: list[NoteItem] = []
    targets = {link.target for link in document.links}
    for edit in edits:
        match edit:
            case SetItem():
                items[edit.entry.start] = [_fitting(edit.item, document.kind)]
            case Drop():
                items[edit.entry.start] = []
            case Add():
                more.append(_fitting(edit.item, document.kind))
            case AddLink():
                if document.kind is NoteKind.PAGE:
                    raise InvalidInput("link", "a page has its links in its text")
                targets.add(edit.link.target)
            case DropLink():
                targets.discard(edit.target)
            case SetHead():
                pass
    said = Counter(item for found in items.values() for item in found)
    said.update(more)
    return said, targets


def _reads(data: bytes, kind: NoteKind, wanted: tuple[Counter[NoteItem], set[str]]) -> bool:
    try:
        found = parse(data, kind)
    except NoteUnreadable:
        return False
    return (Counter(found.items), {link.target for link in found.links}) == wanted
