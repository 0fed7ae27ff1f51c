"""The tree of files that one request may read, made of the store alone.

In the person's own private chat that is their index, their pages, and the sessions they may hear
of; in a group the group's own sessions. Each is made of what this audience may hear and of nothing
else, and one of which nothing may be heard is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection

from tacit import limits
from tacit.notes.pages.virtual import Spot, name_of
from tacit.notes.text.document import UNDATED, render
from tacit.notes.text.layout import laid_out
from tacit.notes.text.wording import without_ids
from tacit.records.memory import ChatKind, Memory
from tacit.records.notes import Frontmatter, Note, NoteKind, NoteLink, NoteRef, item_from_memory
from tacit.records.request import Request
from tacit.storage import notes
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import ItemMemories, NoteRow

_EVER = date.min
_APART = 2**32  # between the items of two notes in one file: those of the first come first
_END_OF_HEAD = "\n---\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file as it may be read here."""

    path: Spot
    rows: tuple[NoteRow, ...]  # several, where a person's identities have a page of that name each
    shown: ItemMemories  # what the text is made of
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    connection: Connection
    audiences: AudienceCache
    request: Request
    may_use: Callable[[Memory], bool]  # whether the agent that reads may hear of it
    has_pages: bool = True  # whether that agent may use what pages are filed as

    def list_files(self, folder: str = "") -> list[Opened]:
        """All files, or those of a folder, by their names."""
        most = limits.FILES_LISTED_MAX_COUNT
        notes_of = notes.list_recent_sessions(
            self.connection, self.audiences, self.request, _EVER, most
        )
        if self.request.private:
            mine, space = self.request.own_identities, self.request.space
            notes_of += notes.list_index_notes(self.connection, space, mine)
            notes_of += (
                notes.list_page_notes(self.connection, space, mine) if self.has_pages else ()
            )
        by_name: dict[str, list[NoteRow]] = {}
        for row in notes_of:
            name = name_of(row.path)
            if name is not None and (not folder or name.startswith(f"{folder}/")):
                by_name.setdefault(name, []).append(row)
        shown = self._visible_items([row for rows in by_name.values() for row in rows])
        found = [
            self._make_file(Spot(path=name, kind=rows[0].kind), rows, shown)
            for name, rows in sorted(by_name.items())
        ]
        return [one for one in found if one is not None]

    def open_file(self, spot: Spot) -> Opened | None:
        """One file; None where there is none for this audience."""
        rows = [row for row in self._find_rows(spot) if self._may_open(row)]
        return self._make_file(spot, rows, self._visible_items(rows)) if rows else None

    def find_files(self, spot: Spot) -> list[Opened]:
        found = self.open_file(spot)
        return [] if found is None else [found]

    def _find_rows(self, spot: Spot) -> list[NoteRow]:
        space = self.request.space
        found = (
            notes.get_note(self.connection, space, path)
            for path in spot.stored_paths(self.request.own_identities)
        )
        return [row for row in found if row is not None]

    def _may_open(self, row: NoteRow) -> bool:
        request = self.request
        if row.chat_kind is ChatKind.GROUP:
            return request.private or (
                request.kind is ChatKind.GROUP
                and row.chat is not None
                and row.chat in request.chat_ids
            )
        if row.kind is NoteKind.PAGE and not self.has_pages:
            return False
        return request.private and row.subject in request.own_identities

    def _visible_items(self, rows: Sequence[NoteRow]) -> dict[str, ItemMemories]:
        paths = [row.path for row in rows]
        heard = notes.list_visible_items(self.connection, self.audiences, self.request, paths)
        return {path: [one for one in some if self.may_use(one[1])] for path, some in heard.items()}

    def _make_file(
        self, spot: Spot, rows: Sequence[NoteRow], heard: dict[str, ItemMemories]
    ) -> Opened | None:
        # One's own name of today first: its layout is the one that counts.
        ordered = sorted(rows, key=lambda row: (row.subject != self.request.subject, row.path))
        shown = [one for row in ordered for one in heard[row.path]]
        if not shown and all(row.layout is None for row in ordered):
            return None
        text = self._render_text(ordered, heard)
        return Opened(path=spot, rows=tuple(ordered), shown=shown, text=text)

    def _render_text(self, rows: Sequence[NoteRow], heard: dict[str, ItemMemories]) -> str:
        first = rows[0]
        items = [
            (_APART * n + item.position, item_from_memory(memory, item.section, item.added_on))
            for n, row in enumerate(rows)
            for item, memory in heard[row.path]
        ]
        if first.kind is NoteKind.PAGE:
            return laid_out(first.layout or "", items)
        # The head of a file has ids of people and times of what is hidden: it is not shown.
        place = NoteRef(
            kind=first.kind, subject=first.subject, day=first.day, session=first.session
        )
        head = Frontmatter(created_at=UNDATED, updated_at=UNDATED)
        whole = render(
            Note(
                place=place,
                head=head,
                items=tuple(item for _, item in items),
                links=self._visible_links(first),
            )
        )
        return without_ids(whole.decode().partition(_END_OF_HEAD)[2].lstrip("\n"))

    def _visible_links(self, row: NoteRow) -> tuple[NoteLink, ...]:
        """No rule judges links: they are told to the person whose note it is."""
        own = row.chat_kind is not ChatKind.GROUP and self.request.private
        return row.links if own else ()
