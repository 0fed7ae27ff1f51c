"""The notes of a view as files that a model lists, reads, writes, renames and deletes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher
from itertools import product

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NoteMoved, NoteOutside, NotFound
from tacit.notes import paths
from tacit.notes.document import UNDATED, Document, digest_item, parse_note, render_note
from tacit.notes.edits import SetItem, apply_edits, extract_layout, fill_layout, list_other_lines
from tacit.notes.markdown import strip_ids
from tacit.notes.paths import INDEX_FILE, PAGE_SUFFIXES, check_page_name, fold_file_name, note_path, parse_note_path
from tacit.notes.readback import AgreedLine, Readback
from tacit.notes.sessions import find_session, has_same_audience
from tacit.notes.writers import NoteRetention, ViewNoteWriter
from tacit.records import validation
from tacit.records.memory import ChatKind, Memory
from tacit.records.notes import (
    SECTION_HEADINGS,
    SECTIONS_BY_KIND,
    Frontmatter,
    Note,
    NoteItem,
    NoteKind,
    NoteRef,
    Section,
    filing_of_section,
    item_from_memory,
)
from tacit.records.request import Request
from tacit.screening.instructions import find_instruction
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import ItemMemories, NoteRow

# Match the lines of an edited text with those before. Pure functions. Editors see no ids: a line is
# recognized by its words, or by its position and the share of its words that is left.

_ALIKE_MIN = 0.4  # share of words; with less in common it is another item
_COMPARED_MAX_COUNT = 10_000  # pairs of lines; beyond that they are matched in order
_COMPARED_WORDS_MAX_COUNT = 2_000_000  # pairs of words, which is the number of steps
_WORDS_COUNT = 60  # of a line that are compared


def count_changes_at_least(old: Sequence[NoteItem], new: Sequence[NoteItem]) -> int:
    """Count new and missing lines by words alone, quickly, before they are aligned."""
    before, after = Counter(map(_item_key, old)), Counter(map(_item_key, new))
    return max((after - before).total(), (before - after).total())


def align_items(old: Sequence[NoteItem], new: Sequence[NoteItem]) -> list[NoteItem | None]:
    """Return for each new item the old one that it is, or None. No item is used twice."""
    found: list[NoteItem | None] = [None] * len(new)
    before, after = [_item_key(item) for item in old], [_item_key(item) for item in new]
    blocks: list[tuple[range, range]] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            found[c:d] = old[a:b]
        else:
            blocks.append((range(a, b), range(c, d)))
    left: dict[tuple[str, str], list[int]] = {}
    for removed, _ in reversed(blocks):
        for one in reversed(removed):
            left.setdefault(before[one], []).append(one)
    for _, added in blocks:  # the same words elsewhere: it was moved
        for one in added:
            if left.get(after[one]):
                found[one] = old[left[after[one]].pop()]
    waiting = {one for some in left.values() for one in some}
    for removed, added in blocks:
        _pair_edited(
            {one: old[one] for one in removed if one in waiting},
            {one: new[one] for one in added if found[one] is None},
            found,
        )
    return found


def _pair_edited(removed: dict[int, NoteItem], added: dict[int, NoteItem], found: list[NoteItem | None]) -> None:
    """Pair the lines replaced at one place, most similar first."""
    before = {one: _first_words(item) for one, item in removed.items()}
    after = {one: _first_words(item) for one, item in added.items()}
    words = sum(map(len, before.values())) * sum(map(len, after.values()))
    few = len(removed) * len(added) <= _COMPARED_MAX_COUNT and words <= _COMPARED_WORDS_MAX_COUNT
    pairs = product(removed, added) if few else zip(removed, added, strict=False)
    rated = sorted(
        (-SequenceMatcher(None, before[a], after[c], autojunk=False).ratio(), a, c)
        for a, c in pairs
        if (removed[a].done is None) == (added[c].done is None)  # a fact is no task
    )
    used: set[int] = set()
    for unlikeness, a, c in rated:
        if -unlikeness >= _ALIKE_MIN and a not in used and found[c] is None:
            found[c] = removed[a]
            used.add(a)


def _first_words(item: NoteItem) -> list[str]:
    return item.content[:2_000].casefold().split()[:_WORDS_COUNT]


def _item_key(item: NoteItem) -> tuple[str, str]:
    """Return the key of an item; ticked or not, it is the same task."""
    return item.section.value, " ".join(item.content.split())


# The files of a view, by the names that a model uses, checked before anything is looked up.
# `_index.md` is the person's long-term index, `trips.md` or `work/plans.md` one of their pages, and
# `2026-03-01/telegram_1001.md` the session of a day.

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPath:
    """A place in the tree. A folder has no kind."""

    path: str
    kind: NoteKind | None

    def stored_paths(self, subjects: Collection[str]) -> list[str]:
        """Return the stored paths of these people's notes, or of the session."""
        if self.kind is NoteKind.SESSION:
            return [self.path]
        name = self.path if self.kind is NoteKind.PAGE else None
        return [
            note_path(NoteRef(kind=self.kind or NoteKind.PAGE, subject=subject, name=name))
            for subject in sorted(subjects)
        ]


def parse_view_path(path: object) -> ViewPath:
    """Parse a path or raise the reason why it is invalid, without a lookup."""
    names = paths.split_path(path)
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        # Refuse what decoding or normalization would turn into another path.
        if any(char in plain for char in "/\\%") or plain.startswith("."):
            raise NoteOutside("a name holds one of / \\ % or begins with a dot; use another")
    validation.refuse_secrets("path", "/".join(names))
    whole = "/".join(names)
    if whole == INDEX_FILE:
        return ViewPath(path=whole, kind=NoteKind.LONG_TERM)
    if names[0].startswith("_") or names[-1].startswith("_"):
        raise NoteOutside("a name begins with _, which only _index.md does; use another")
    of_day = _DAY.fullmatch(names[0]) is not None
    if len(names) == 1 and (of_day or not whole.endswith(PAGE_SUFFIXES)):
        return ViewPath(path=whole, kind=None)
    if of_day:
        found = parse_note_path(whole)
        if found is None or found[1].kind is not NoteKind.SESSION:
            raise NoteOutside("names no session; in the folder of a day there is nothing else")
        return ViewPath(path=whole, kind=NoteKind.SESSION)
    if any(name.endswith(PAGE_SUFFIXES) for name in names[:-1]):
        raise NoteOutside("leads through a file; name the folder without .md or .txt")
    try:
        return ViewPath(path=check_page_name(whole), kind=NoteKind.PAGE)
    except InvalidInput as error:
        raise NoteOutside(error.problem) from None


def parse_file_path(path: object) -> ViewPath:
    """Parse a path that must name a file."""
    found = parse_view_path(path)
    if found.kind is None:
        raise NoteOutside("names a folder; a file ends with .md or .txt")
    return found


def view_name(path: str) -> str | None:
    """Return a view's name for the note at this stored path."""
    found = parse_note_path(path)
    if found is None:
        return None
    place = found[1]
    if place.kind is NoteKind.SESSION:
        return path
    return INDEX_FILE if place.kind is NoteKind.LONG_TERM else place.name


# The files that one request may read, built from the database alone. In a person's private chat:
# their index, their pages, and the sessions visible to them; in a group: the group's sessions. Each
# file contains only what this audience may see, and a file without visible content does not exist.

_ROW_STRIDE = 2**32  # separates the items of two notes in one file
_END_OF_HEAD = "\n---\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewFile:
    """A file as it may be read here."""

    path: ViewPath
    rows: tuple[NoteRow, ...]  # several, where a person's identities each have a page of that name
    shown: ItemMemories  # what the text is made of
    text: str


@dataclass(frozen=True, slots=True)
class FileTree:
    connection: Connection
    audiences: AudienceCache
    request: Request
    may_use: Callable[[Memory], bool]  # whether the reading agent may use it
    has_pages: bool = True  # whether that agent may use the categories of pages

    def find_files(self, where: ViewPath | None = None) -> list[ViewFile]:
        """Return the file of a path, all files of a folder, or all files, by name."""
        folder = where.path if where is not None and where.kind is None else ""
        by_name: dict[str, list[NoteRow]] = {}
        for row in self._list_rows() if where is None or folder else self._get_rows(where):
            name = view_name(row.path)
            if name is not None and (not folder or name.startswith(f"{folder}/")):
                by_name.setdefault(name, []).append(row)
        shown = self._visible_items([row for rows in by_name.values() for row in rows])
        found = (
            self._make_file(ViewPath(path=name, kind=rows[0].kind), rows, shown)
            for name, rows in sorted(by_name.items())
        )
        return [one for one in found if one is not None]

    def open_file(self, where: ViewPath) -> ViewFile | None:
        """Return one file, or None where this audience has none."""
        return next(iter(self.find_files(where)), None)

    def _list_rows(self) -> list[NoteRow]:
        found = notes.list_recent_sessions(
            self.connection, self.audiences, self.request, date.min, limits.FILES_LISTED_MAX_COUNT
        )
        if self.request.private:
            mine, space = self.request.own_identities, self.request.space
            found += notes.list_notes_of(self.connection, space, mine, NoteKind.LONG_TERM)
            found += notes.list_notes_of(self.connection, space, mine, NoteKind.PAGE) if self.has_pages else ()
        return found

    def _get_rows(self, where: ViewPath) -> list[NoteRow]:
        paths = where.stored_paths(self.request.own_identities)
        found = (notes.get_note(self.connection, self.request.space, path) for path in paths)
        return [row for row in found if row is not None and self._may_open(row)]

    def _may_open(self, row: NoteRow) -> bool:
        request = self.request
        if row.chat_kind is ChatKind.GROUP:
            return request.private or (
                request.kind is ChatKind.GROUP and row.chat is not None and row.chat in request.chat_ids
            )
        if row.kind is NoteKind.PAGE and not self.has_pages:
            return False
        return request.private and row.subject in request.own_identities

    def _visible_items(self, rows: Sequence[NoteRow]) -> dict[str, ItemMemories]:
        paths = [row.path for row in rows]
        heard = notes.list_visible_items(self.connection, self.audiences, self.request, paths)
        return {path: [one for one in some if self.may_use(one[1])] for path, some in heard.items()}

    def _make_file(
        self, view_path: ViewPath, rows: Sequence[NoteRow], heard: dict[str, ItemMemories]
    ) -> ViewFile | None:
        # The current identity first: its layout counts.
        ordered = sorted(rows, key=lambda row: (row.subject != self.request.subject, row.path))
        shown = [one for row in ordered for one in heard[row.path]]
        if not shown and all(row.layout is None for row in ordered):
            return None
        text = self._render_text(ordered, heard)
        return ViewFile(path=view_path, rows=tuple(ordered), shown=shown, text=text)

    def _render_text(self, rows: Sequence[NoteRow], heard: dict[str, ItemMemories]) -> str:
        first = rows[0]
        items = [
            (_ROW_STRIDE * n + item.position, item_from_memory(memory, item.section, item.added_on))
            for n, row in enumerate(rows)
            for item, memory in heard[row.path]
        ]
        if first.kind is NoteKind.PAGE:
            return fill_layout(first.layout or "", items)
        # The head has ids of people and times of hidden items, so it is not shown.
        place = NoteRef(kind=first.kind, subject=first.subject, day=first.day, session=first.session)
        own = first.chat_kind is not ChatKind.GROUP and self.request.private
        note = Note(
            place=place,
            head=Frontmatter(created_at=UNDATED, updated_at=UNDATED),
            items=tuple(item for _, item in items),
            # No disclosure rule covers links: only the note's owner sees them.
            links=first.links if own else (),
        )
        text = render_note(note).decode().partition(_END_OF_HEAD)[2]
        return strip_ids(text.lstrip("\n"))


# Write, delete and rename the files of a view; each is one transaction by its own request. The text
# is compared with what may be read here: a new line is remembered, a changed one updated, a missing
# one forgotten. What is not shown here stays.

_TITLES = ("# Long-Term Memory",)
NOT_YOURS = "holds what is not yours to change here; leave those lines as they are"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEditor:
    """The requester who writes, and how."""

    tx: Transaction
    tree: FileTree  # as they read it
    retention: NoteRetention
    thread: str
    agent: str | None
    may_file: Callable[[str], str]  # raises where the agent may not use a category

    def write(self, view_path: ViewPath, said: str, *, new: bool, instead_of: str | None) -> None:
        found = next(iter(self._lock_files(view_path)), None)
        if new and found is not None:
            raise Conflict("the file exists already; choose another name")
        if instead_of is not None:
            if found is None:
                raise NotFound("file")
            if found.text != instead_of:
                raise NoteMoved
        assert view_path.kind is not None
        before = "" if found is None else found.text
        if found is not None:
            if found.text == said:
                return
            if not self._is_from_here(found):
                raise InvalidInput("text", NOT_YOURS)
        _screen_new_text(before, said)
        document = parse_note(said.encode(), view_path.kind)
        _check_form(view_path, document, before, said)
        row = found.rows[0] if found is not None else self._make_row(view_path)
        self._read_back(row, [] if found is None else found.shown, document)

    def delete(self, view_path: ViewPath) -> None:
        """Forget everything in a file; it can be restored like any forgotten memory."""
        writer = ViewNoteWriter(self.tx, self.retention, self.agent)
        for one in self._lock_files(view_path, required=True):
            if not self._is_from_here(one):
                raise InvalidInput("path", NOT_YOURS)
            own = [row for row in one.rows if row.chat_kind is not ChatKind.GROUP]
            where = (self.tx.connection, self.tx.audiences, self.tree.request)
            summed_up = notes.list_visible_summaries(*where, own).values()
            for memory in (*(memory for _, memory in one.shown), *summed_up):
                now = memories.get_for_update(self.tx, memory.id) or memory
                try:
                    writer.forget(now)
                except NotFound:
                    raise InvalidInput("path", NOT_YOURS) from None
            for row in own:
                notes.update_note(self.tx, row.path, layout=None, links=(), updated_at=self.tx.at)

    def rename(self, old: ViewPath, new: ViewPath) -> None:
        found = self._lock_files(old, required=True)
        if any(one.path.kind is not NoteKind.PAGE for one in found):
            raise InvalidInput("path", "only pages have a name of your choice; this one stays")
        if (old.kind, new.kind) not in ((NoteKind.PAGE,) * 2, (None, None)):
            raise InvalidInput("path", "the new name is of another kind; a page is named trips.md")
        for one in found:
            to = parse_file_path(new.path + one.path.path.removeprefix(old.path))
            if to.kind is not NoteKind.PAGE:
                raise InvalidInput("path", "only pages can be moved, and only to be pages")
            self._check_free(to, one.path.path)
            for row in one.rows:
                assert row.subject is not None
                path = note_path(NoteRef(kind=NoteKind.PAGE, subject=row.subject, name=to.path))
                if notes.get_note(self.tx.connection, self.tx.space, path) is not None:
                    notes.delete_note(self.tx, path)  # of a deleted one
                notes.rename_note(self.tx, row.path, replace(row, path=path, updated_at=self.tx.at))

    def _lock_files(self, view_path: ViewPath, *, required: bool = False) -> list[ViewFile]:
        """Lock and return the file, or all files of a folder, until this write ends."""
        held: set[str] = set()
        while True:
            found = self.tree.find_files(view_path)
            if required and not found:
                raise NotFound("file")
            ids = {memory.id for one in found for _, memory in one.shown}
            if ids <= held:
                return found
            for id in sorted(ids - held):
                memories.get_for_update(self.tx, id)
            held |= ids

    def _make_row(self, view_path: ViewPath) -> NoteRow:
        """Build the note of a new file, where one is allowed."""
        tx, request = self.tx, self.tx.request
        session = find_session(request, self.thread)
        if view_path.kind is NoteKind.SESSION:
            if session is None or view_path.path != session.path:
                raise NotFound("file")
            place = NoteRef(kind=NoteKind.SESSION, day=session.day, session=session.name)
        elif not request.private:
            where = "" if session is None else f"; write to {session.path}"
            raise InvalidInput("path", f"only sessions are kept here{where}")
        else:
            if view_path.kind is NoteKind.PAGE:
                self.may_file(filing_of_section(Section.PAGE).category)
            self._check_free(view_path)
            name = view_path.path if view_path.kind is NoteKind.PAGE else None
            assert view_path.kind is not None
            place = NoteRef(kind=view_path.kind, subject=request.subject, name=name)
        room, of_a_day = request.kind is ChatKind.GROUP, place.day is not None
        row = NoteRow(
            path=note_path(place),
            kind=place.kind,
            subject=None if room else request.subject,
            day=place.day,
            session=place.session,
            chat=request.chat,
            chat_kind=request.kind,
            thread=self.thread if of_a_day else None,
            source=request.channel if of_a_day else None,
            channel=request.chat if of_a_day else None,
            created_at=tx.at,
            updated_at=tx.at,
        )
        return notes.ensure_note(tx, row)

    def _check_free(self, view_path: ViewPath, besides: str | None = None) -> None:
        """Raise if a page of this name exists, in any equivalent spelling."""
        if view_path.kind is not NoteKind.PAGE:
            return
        mine = self.tree.request.own_identities
        rows = notes.list_notes_of(self.tx.connection, self.tx.space, mine, NoteKind.PAGE)
        count = sum(row.layout is not None for row in rows)
        taken = {name for row in rows if (name := view_name(row.path)) is not None}
        if count >= limits.PAGES_MAX_COUNT and besides is None:
            raise InvalidInput("path", f"there are {limits.PAGES_MAX_COUNT:,} pages already; delete one first")
        if self.tree.open_file(view_path) is not None:
            raise Conflict("the file exists already; choose another name")
        for name in taken - {view_path.path, besides}:
            if fold_file_name(name) == fold_file_name(view_path.path):
                raise InvalidInput("path", "is another spelling of a name that is taken")

    def _is_from_here(self, found: ViewFile) -> bool:
        """Report whether it may be changed here.

        In private a group's memories can be read but not changed: the group would see what was said
        elsewhere.
        """
        return all(has_same_audience(self.tx.request, row) for row in found.rows)

    def _read_back(self, row: NoteRow, shown: ItemMemories, document: Document) -> None:
        self.tx.dialect.acquire_lock(self.tx.connection, f"{self.tx.space} note {row.path}")
        if document.links and row.chat_kind is ChatKind.GROUP:
            raise InvalidInput("text", "links are not kept in a group's note; write what they say")
        old = [item_from_memory(memory, item.section, item.added_on) for item, memory in shown]
        for item in document.items:
            validation.check_storable("content", item.content, limits.CONTENT_MAX_CHARS)
        _check_change_count(count_changes_at_least(old, document.items))
        known = align_items(old, document.items)
        named: list[SetItem] = []  # each line with the id of its memory, and no other
        changed = len(old) - sum(before is not None for before in known)
        for entry, before in zip(document.entries, known, strict=True):
            item = replace(entry.item, id=before.id if before else None, conflict=False)
            if item != entry.item:
                named.append(SetItem(entry=entry, item=item))
            if before is None or before.section is not item.section:
                self.may_file(filing_of_section(item.section).category)
                changed += 1
            else:
                changed += before.content != item.content
        _check_change_count(changed)
        document_with_ids = parse_note(apply_edits(document, named), row.kind)
        read = Readback(
            tx=self.tx,
            writer=ViewNoteWriter(self.tx, self.retention, self.agent),
            row=row,
            document=document_with_ids,
            shown=shown,
            agreed={  # what was read
                memory.id: AgreedLine(
                    digest=digest_item(item), version=memory.version, done=item.done, content=item.content
                )
                for (_, memory), item in zip(shown, old, strict=True)
            },
            strict=True,  # all or nothing
        )
        try:
            read.read_lines()
        except NotFound:
            raise InvalidInput("text", NOT_YOURS) from None
        after = parse_note(apply_edits(document_with_ids, read.edits), row.kind)
        places = self._save_order(row, after.items)
        changes: dict[str, object] = {"updated_at": self.tx.at}
        if row.kind is NoteKind.PAGE:
            others = {item.id for item in after.items if item.id not in places}
            changes["layout"] = extract_layout(after, {id for id in others if id is not None})
        elif row.kind is NoteKind.SESSION and row.chat_kind is not ChatKind.GROUP:
            changes["links"] = document.links
        notes.update_note(self.tx, row.path, **changes)

    def _save_order(self, row: NoteRow, items: Sequence[NoteItem]) -> dict[str, int]:
        """Store the positions as they stand in the text.

        The items share the positions they had: hidden items between them stay where they are,
        unnoticed.
        """
        had = {item.memory_id: item for item in notes.list_items(self.tx.connection, self.tx.space, row.path)}
        wanted = [item for item in items if item.id in had]
        free = sorted(had[item.id].position for item in wanted if item.id is not None)
        places: dict[str, int] = {}
        last = -1
        for position, item in enumerate(wanted):
            assert item.id is not None
            # The layout of a page needs the positions 0, 1, 2…
            last = position if row.kind is NoteKind.PAGE else max(free[position], last + 1)
            places[item.id] = last
            if had[item.id].position != last:
                notes.put_item(self.tx, row.path, item.id, item.section, last)
        return places


def _check_change_count(count: int) -> None:
    """Limit the changed lines: each is a write, and all are one transaction."""
    most = limits.FILE_CHANGED_LINES_MAX_COUNT
    if count > most:
        raise InvalidInput("text", f"changes more than {most} lines at once; write it in parts")


def _screen_new_text(before: str, said: str) -> None:
    """Screen new text only: older lines may say what people may write and a model may not."""
    seen = set(before.split("\n"))
    fresh = "\n".join(line for line in said.split("\n") if line not in seen)
    validation.refuse_secrets("text", fresh)
    if find_instruction(fresh) is not None:
        raise InvalidInput("text", "reads like an instruction to the agent; write down facts alone")


def _check_form(view_path: ViewPath, document: Document, before: str, said: str) -> None:
    """Check the form: a page may contain anything, other files only bullets under their headings."""
    if any(not item.content.strip() for item in document.items):
        raise InvalidInput("text", "has a bullet with nothing in it; leave it out")
    if view_path.kind is NoteKind.PAGE:
        return
    assert view_path.kind is not None
    headings = [f"## {SECTION_HEADINGS[section]}" for section in SECTIONS_BY_KIND[view_path.kind]]
    usual = {*headings, *_TITLES, *(line.strip() for line in before.split("\n"))}
    if view_path.kind is NoteKind.SESSION:
        usual.add(f"# {view_path.path.split('/')[0]} Short-Term Memory")
    for line in list_other_lines(document):
        if line not in usual:
            raise InvalidInput(
                "text", f"has a line that is not a bullet under one of {', '.join(headings)}; put free text into a page"
            )
    count, chars = limits.LONG_TERM_ITEMS_MAX_COUNT, limits.LONG_TERM_MAX_CHARS
    size = sum(len(item.content) for item in document.items)
    grows = view_path.kind is NoteKind.LONG_TERM and len(said) > len(before)
    if grows and (len(document.items) > count or size > chars):
        raise InvalidInput(
            "text", f"the index holds {count} lines of {chars:,} characters in all; put the rest into a page"
        )
