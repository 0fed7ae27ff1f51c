"""Writing, deleting and renaming the files of a view: every act is one write, by its own request.

What is written is compared with what may be read here. A line that is new is remembered, one that
was changed is updated, one that is missing is forgotten; whatever is not shown here stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NoteMoved, NotFound
from tacit.identity.external_keys import channel_of_chat
from tacit.notes.mirror.hands import Keeping
from tacit.notes.mirror.pairing import Shown
from tacit.notes.mirror.plan import Agreed
from tacit.notes.mirror.reading_back import Reading, Rules
from tacit.notes.pages import virtual
from tacit.notes.pages.alignment import aligned, changed_at_least
from tacit.notes.pages.tree import Opened, Tree
from tacit.notes.pages.view_hand import ViewHand
from tacit.notes.pages.virtual import Spot
from tacit.notes.session.sessions import same_listeners, session_of
from tacit.notes.text.document import Document, digest_of, parse
from tacit.notes.text.layout import furniture, layout_of
from tacit.notes.text.names import path_of
from tacit.notes.text.splices import SetItem, revise
from tacit.records import validation
from tacit.records.memory import ChatKind
from tacit.records.notes import (
    SECTION_HEADINGS,
    SECTIONS_BY_KIND,
    NoteItem,
    NoteKind,
    NoteRef,
    Section,
    filing_of_section,
    item_from_memory,
)
from tacit.screening.instructions import find_instruction
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import NoteRow

_RULES = Rules(strict=True, own_only=True)  # all of it is taken, or nothing
_TITLES = ("# Long-Term Memory",)
NOT_THEIRS = "holds what is not yours to change here; leave those lines as they are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """Whoever writes, and how."""

    tx: Transaction
    tree: Tree  # as they read it
    retention: Keeping
    thread: str
    agent: str | None
    may_file: Callable[[str], str]  # raises where the agent may not use a category

    def write(self, spot: Spot, said: str, *, new: bool, instead_of: str | None) -> None:
        found = next(iter(self._lock_files(spot)), None)
        if new and found is not None:
            raise Conflict("there is such a file already; choose another name")
        if instead_of is not None:
            if found is None:
                raise NotFound("file")
            if found.text != instead_of:
                raise NoteMoved
        assert spot.kind is not None
        if found is not None and found.text == said:
            return
        if found is not None and not self._is_from_here(found):
            raise InvalidInput("text", NOT_THEIRS)
        before = "" if found is None else found.text
        _screen(before, said)
        document = parse(said.encode(), spot.kind)
        _check_form(spot, document, before, said)
        row = found.rows[0] if found is not None else self._make_row(spot)
        self._read_back(row, found, document)

    def delete(self, spot: Spot) -> None:
        """Everything in it is forgotten, and can be restored as anything that is forgotten."""
        hand = ViewHand(self.tx, self.retention, self.agent)
        for one in self._find_target(spot):
            if not self._is_from_here(one):
                raise InvalidInput("path", NOT_THEIRS)
            own = [row for row in one.rows if row.chat_kind is not ChatKind.GROUP]
            where = (self.tx.connection, self.tx.audiences, self.tree.request)
            summed_up = notes.list_visible_summaries(*where, own).values()
            for memory in (*(memory for _, memory in one.shown), *summed_up):
                now = memories.get_for_update(self.tx, memory.id) or memory
                try:
                    hand.forget(now)
                except NotFound:
                    raise InvalidInput("path", NOT_THEIRS) from None
            for row in own:
                notes.update_note(self.tx, row.path, layout=None, links=(), updated_at=self.tx.at)

    def rename(self, old: Spot, new: Spot) -> None:
        found = self._find_target(old)
        if any(one.path.kind is not NoteKind.PAGE for one in found):
            raise InvalidInput("path", "only pages have a name of your choice; this one stays")
        if (old.kind, new.kind) not in ((NoteKind.PAGE,) * 2, (None, None)):
            raise InvalidInput("path", "the new name is of another kind; a page is named trips.md")
        for one in found:
            to = virtual.file_spot(new.path + one.path.path.removeprefix(old.path))
            if to.kind is not NoteKind.PAGE:
                raise InvalidInput("path", "only pages can be moved, and only to be pages")
            self._check_free(to, one.path.path)
            for row in one.rows:
                assert row.subject is not None
                path = path_of(NoteRef(kind=NoteKind.PAGE, subject=row.subject, name=to.path))
                if notes.get_note(self.tx.connection, self.tx.space, path) is not None:
                    notes.delete_note(self.tx, path)  # of one that was deleted
                notes.rename_note(self.tx, row.path, replace(row, path=path, updated_at=self.tx.at))

    def _find_target(self, spot: Spot) -> list[Opened]:
        found = self._lock_files(spot)
        if not found:
            raise NotFound("file")
        return found

    def _lock_files(self, spot: Spot) -> list[Opened]:
        """The file, or all of a folder, as it stays until this write is done."""
        held: set[str] = set()
        while True:
            found = (
                self.tree.list_files(spot.path) if spot.kind is None else self.tree.find_files(spot)
            )
            ids = {memory.id for one in found for _, memory in one.shown}
            if ids <= held:
                return found
            for id in sorted(ids - held):
                memories.get_for_update(self.tx, id)
            held |= ids

    def _make_row(self, spot: Spot) -> NoteRow:
        """The note of a file that is not there yet, where there may be one."""
        w, request = self.tx, self.tx.request
        session = session_of(request, self.thread)
        if spot.kind is NoteKind.SESSION:
            if session is None or spot.path != session.path:
                raise NotFound("file")
            place = NoteRef(kind=NoteKind.SESSION, day=session.day, session=session.name)
        elif not request.private:
            where = "" if session is None else f"; write to {session.path}"
            raise InvalidInput("path", f"only sessions are kept here{where}")
        else:
            if spot.kind is NoteKind.PAGE:
                self.may_file(filing_of_section(Section.PAGE).category)
            self._check_free(spot)
            name = spot.path if spot.kind is NoteKind.PAGE else None
            assert spot.kind is not None
            place = NoteRef(kind=spot.kind, subject=request.subject, name=name)
        room, of_a_day = request.kind is ChatKind.GROUP, place.day is not None
        row = NoteRow(
            path=path_of(place),
            kind=place.kind,
            subject=None if room else request.subject,
            day=place.day,
            session=place.session,
            chat=request.chat,
            chat_kind=request.kind,
            thread=self.thread if of_a_day else None,
            source=channel_of_chat(request.chat) if of_a_day else None,
            channel=request.chat if of_a_day else None,
            created_at=w.at,
            updated_at=w.at,
        )
        return notes.ensure_note(w, row)

    def _check_free(self, spot: Spot, besides: str | None = None) -> None:
        """A page of this name is none yet, in any spelling that a file system takes for it."""
        if spot.kind is not NoteKind.PAGE:
            return
        rows = notes.list_page_notes(
            self.tx.connection, self.tx.space, self.tree.request.own_identities
        )
        count = sum(row.layout is not None for row in rows)
        taken = {name for row in rows if (name := virtual.name_of(row.path)) is not None}
        if count >= limits.PAGES_MAX_COUNT and besides is None:
            raise InvalidInput(
                "path", f"there are {limits.PAGES_MAX_COUNT:,} pages already; delete one first"
            )
        if self.tree.open_file(spot) is not None:
            raise Conflict("there is such a file already; choose another name")
        for name in taken - {spot.path, besides}:
            if virtual.alike(name, spot.path):
                raise InvalidInput("path", "is another spelling of a name that is taken")

    def _is_from_here(self, found: Opened) -> bool:
        """What a group has heard is read in private, and never changed there: the group would see
        what was said behind its back."""
        return all(same_listeners(self.tx.request, row) for row in found.rows)

    def _read_back(self, row: NoteRow, found: Opened | None, document: Document) -> None:
        self.tx.dialect.acquire_lock(self.tx.connection, f"{self.tx.space} note {row.path}")
        if document.links and row.chat_kind is ChatKind.GROUP:
            raise InvalidInput("text", "links are not kept in a group's note; write what they say")
        shown = [] if found is None else found.shown
        old = [item_from_memory(memory, item.section, item.added_on) for item, memory in shown]
        for item in document.items:
            validation.check_storable("content", item.content, limits.CONTENT_MAX_CHARS)
        _check_changes(changed_at_least(old, document.items))
        known = aligned(old, document.items)
        _check_changes(_changed(old, document.items, known))
        for item, before in zip(document.items, known, strict=True):
            if before is None or before.section is not item.section:
                self.may_file(filing_of_section(item.section).category)
        named = parse(revise(document, _named(document, known)), row.kind)
        hand = ViewHand(self.tx, self.retention, self.agent)
        try:
            done = Reading(self.tx, hand, row, named, shown, _agreed(shown), _RULES).read()
        except NotFound:
            raise InvalidInput("text", NOT_THEIRS) from None
        after = parse(revise(named, done.edits), row.kind)
        places = self._save_order(row, after.items)
        changes: dict[str, object] = {"updated_at": self.tx.at}
        if row.kind is NoteKind.PAGE:
            others = {item.id for item in after.items if item.id not in places}
            changes["layout"] = layout_of(after, {id for id in others if id is not None})
        elif row.kind is NoteKind.SESSION and row.chat_kind is not ChatKind.GROUP:
            changes["links"] = document.links
        notes.update_note(self.tx, row.path, **changes)

    def _save_order(self, row: NoteRow, items: Sequence[NoteItem]) -> dict[str, int]:
        """Positions as they stand in the text. They share the places that they had: what stands
        between them and is not shown here stays where it is, and nothing tells of it."""
        had = {
            item.memory_id: item
            for item in notes.list_items(self.tx.connection, self.tx.space, row.path)
        }
        wanted = [item for item in items if item.id in had]
        free = sorted(had[item.id].position for item in wanted if item.id is not None)
        places: dict[str, int] = {}
        last = -1
        for position, item in enumerate(wanted):
            assert item.id is not None
            # A page is marked out by the positions of its items: there they are 0, 1, 2…
            last = position if row.kind is NoteKind.PAGE else max(free[position], last + 1)
            places[item.id] = last
            if had[item.id].position != last:
                notes.put_item(self.tx, row.path, item.id, item.section, last)
        return places


def _named(document: Document, known: Sequence[NoteItem | None]) -> list[SetItem]:
    """Each line with the id of the memory that it is, and with no other."""
    return [
        SetItem(entry=entry, item=wanted)
        for entry, before in zip(document.entries, known, strict=True)
        if (wanted := replace(entry.item, id=before.id if before else None, conflict=False))
        != entry.item
    ]


def _changed(
    old: Sequence[NoteItem], items: Sequence[NoteItem], known: Sequence[NoteItem | None]
) -> int:
    """Lines that are new, worded otherwise, or gone."""
    come = sum(
        before is None or (before.content, before.section) != (item.content, item.section)
        for item, before in zip(items, known, strict=True)
    )
    return come + len(old) - sum(before is not None for before in known)


def _check_changes(count: int) -> None:
    """Each line that changes is a write of its own, and all of them are one transaction."""
    most = limits.FILE_CHANGED_LINES_MAX_COUNT
    if count > most:
        raise InvalidInput("text", f"changes more than {most} lines at once; write it in parts")


def _agreed(shown: Sequence[Shown]) -> dict[str, Agreed]:
    """What was read is what both sides say."""
    items = ((memory, item_from_memory(memory, row.section, row.added_on)) for row, memory in shown)
    return {
        memory.id: Agreed(
            digest=digest_of(item), version=memory.version, done=item.done, content=item.content
        )
        for memory, item in items
    }


def _screen(before: str, said: str) -> None:
    """Only what is new: an older line may say what people may say and a model may not."""
    seen = set(before.split("\n"))
    fresh = "\n".join(line for line in said.split("\n") if line not in seen)
    validation.refuse_secrets("text", fresh)
    if find_instruction(fresh) is not None:
        raise InvalidInput("text", "reads like an instruction to the agent; write down facts alone")


def _check_form(spot: Spot, document: Document, before: str, said: str) -> None:
    """A page may hold anything; of the others only bullets under their headings are kept, and what
    would be lost is refused."""
    if any(not item.content.strip() for item in document.items):
        raise InvalidInput("text", "has a bullet with nothing in it; leave it out")
    if spot.kind is NoteKind.PAGE:
        return
    assert spot.kind is not None
    headings = [f"## {SECTION_HEADINGS[section]}" for section in SECTIONS_BY_KIND[spot.kind]]
    usual = {*headings, *_TITLES, *(line.strip() for line in before.split("\n"))}
    if spot.kind is NoteKind.SESSION:
        usual.add(f"# {spot.path.split('/')[0]} Short-Term Memory")
    for line in furniture(document):
        if line not in usual:
            raise InvalidInput(
                "text",
                f"has a line that is no bullet under one of {', '.join(headings)}; "
                "put free text into a page",
            )
    if spot.kind is NoteKind.LONG_TERM and len(said) > len(before):
        _check_size(document.items)


def _check_size(items: Sequence[NoteItem]) -> None:
    count, chars = limits.LONG_TERM_ITEMS_MAX_COUNT, limits.LONG_TERM_MAX_CHARS
    if len(items) > count or sum(len(item.content) for item in items) > chars:
        raise InvalidInput(
            "text",
            f"the index holds {count} lines of {chars:,} characters in all; "
            "put the rest into a page",
        )
