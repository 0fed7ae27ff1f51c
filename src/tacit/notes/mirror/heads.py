"""The head of a note, both ways: its summary, which is a memory, and what else stands there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound, StoreError
from tacit.notes.merge.merging import merged_links
from tacit.notes.mirror.hands import Hand, Known
from tacit.notes.mirror.plan import Agreed, Alone, Kept, Line, missing, settle
from tacit.notes.mirror.reading_back import Outcome, Rules
from tacit.notes.text.document import Document
from tacit.notes.text.splices import AddLink, DropLink, SetHead
from tacit.records import validation
from tacit.records.memory import Memory, State
from tacit.records.notes import SESSION_SUMMARY_FILING, Frontmatter, NoteChange, NoteKind, NoteLink
from tacit.storage import memories, notes
from tacit.storage.memories import Transaction
from tacit.storage.notes import FileState, NoteRow

OTHER_SUMMARY = "summary_conflict"  # the wording of the store, where both were changed
INDEX_SUMMARY = "Most important and stable long-term facts and project state."
_FIELDS = ("source", "channel", "tags", "contact_id", "contact_nickname")
STANDING = (State.ACTIVE, State.EXPIRED)


def summary_digest(summary: str) -> str:
    return hashlib.sha256(summary.encode()).hexdigest()


def head_of(row: NoteRow, summary: str) -> Frontmatter:
    return Frontmatter(
        created_at=row.created_at,
        updated_at=row.updated_at,
        summary=INDEX_SUMMARY if row.kind is NoteKind.LONG_TERM else summary,
        session_id=row.session,
        source=row.source,
        channel=row.channel,
        tags=row.tags,
        subject_id=row.subject,
        contact_id=row.contact_id,
        contact_nickname=row.contact_nickname,
    )


def summary_of(w: Transaction, row: NoteRow) -> Memory | None:
    """The summary of a session, where there is one that stands."""
    memory = memories.get_for_update(w, row.summary_id) if row.summary_id else None
    return memory if memory is not None and memory.state in STANDING else None


def keepable(value: str | NoteLink | tuple[str, ...] | None) -> bool:
    """Whether it may be stored. What may not stays in the file, and is left alone there."""
    if isinstance(value, NoteLink):
        value = (value.text, value.target)
    parts = value if isinstance(value, tuple) else () if value is None else (value,)
    try:
        for part in parts:
            validation.refuse_secrets(
                "head", validation.check_storable("head", part, limits.LINK_MAX_CHARS)
            )
    except InvalidInput:
        return False
    return len(parts) <= limits.TAGS_MAX_COUNT


class HeadReading:
    """The head of one file in one write."""

    def __init__(
        self,
        w: Transaction,
        hand: Hand,
        row: NoteRow,
        document: Document,
        agreed: Mapping[str, Agreed],
        rules: Rules,
        outcome: Outcome,
    ) -> None:
        self._tx, self._writer, self._row, self._document = w, hand, row, document
        self._agreed, self._rules, self._outcome = agreed, rules, outcome

    def read(self, state: FileState | None, *, touched: bool) -> None:
        """`touched`: a person changed the file. What stands in the head then counts."""
        if self._row.kind is NoteKind.SESSION:
            try:
                self._summary(state)
            except StoreError:
                raise
            except (InvalidInput, NotFound, Conflict):
                if self._rules.strict:
                    raise
                self._outcome.refused += 1
                self._record_change("refused", None, self._document.head.summary)
        if self._row.kind is not NoteKind.PAGE:
            self._fields(touched=touched)
            self._links(state, touched=touched)

    def _summary(self, state: FileState | None) -> None:
        memory, said = summary_of(self._tx, self._row), self._document.head.summary
        if memory is None:
            self._add_summary(said, state)
            return
        before, kept = self._agreed.get(memory.id), _kept(memory)
        if not said:
            self._remove_summary(memory, before, kept)
            return
        other = self._document.fields.get(OTHER_SUMMARY)
        others = (other,) if isinstance(other, str) else ()
        line = Line(content=said, digest=summary_digest(said), alternatives=others)
        found = settle(line, before, kept)
        if found.conflict is not None:
            self._set(**{OTHER_SUMMARY: found.conflict})
            self._outcome.has_conflicts = True
            self._record_change("conflict", found.conflict, said)
        elif found.changes_store:
            memory = self._writer.reword(memory, said)
            self._is(memory)
            self._record_change("update", kept.content, said)
        elif found.changes_file:
            self._set(summary=found.content)
            self._record_change("show", said, found.content)
        self._outcome.versions[memory.id] = (memory.version, None)

    def _add_summary(self, said: str, state: FileState | None) -> None:
        """No memory stands for it: it is new, or what it was is gone."""
        if not said:
            return
        id = self._row.summary_id
        before = self._agreed.get(id) if id else None
        forgotten = before is not None and before.digest == summary_digest(said)
        buried = id is None and state is not None and state.stamp < 0
        if forgotten or buried:
            self._set(summary="")
            if OTHER_SUMMARY in self._document.fields:
                self._set(**{OTHER_SUMMARY: None})
            self._record_change("drop", said)
            return
        known = None
        if state is None:
            at = (self._row.created_at, self._row.updated_at)
            known = Known(id=None, created_at=at[0], updated_at=at[1])
        memory = self._writer.remember(said, SESSION_SUMMARY_FILING, known)
        self._is(memory)
        self._outcome.versions[memory.id] = (memory.version, None)
        self._record_change("remember", None, said)

    def _remove_summary(self, memory: Memory, before: Agreed | None, kept: Kept) -> None:
        if self._rules.restore_lines or missing(before, kept) is Alone.ADD:
            self._set(summary=memory.content)
            self._outcome.versions[memory.id] = (memory.version, None)
            self._record_change("show", None, memory.content)
        elif self._rules.forget:
            self._writer.forget(memory)
            self._record_change("forget", memory.content)
        else:
            self._outcome.asked += 1
            self._outcome.unresolved.add(memory.id)
            self._record_change("asks", memory.content)

    def _is(self, memory: Memory) -> None:
        if memory.id != self._row.summary_id:
            notes.update_note(self._tx, self._row.path, summary_id=memory.id)

    def _fields(self, *, touched: bool) -> None:
        said, row = self._document.head, self._row
        written = self._document.fields
        differ = [
            one
            for one in _FIELDS
            if getattr(said, one) != getattr(row, one) and keepable(getattr(said, one))
        ]
        if not differ:
            return
        if touched:
            changes = {one: getattr(said, one) for one in differ if one in written}
            if changes:
                notes.update_note(self._tx, row.path, **changes)
        else:
            self._set(**{one: getattr(row, one) for one in differ})

    def _links(self, state: FileState | None, *, touched: bool) -> None:
        row = self._row
        said = tuple(link for link in self._document.links if keepable(link))
        if said == row.links:
            return
        wanted = row.links
        if touched:
            alone = state is not None and state.stamp == row.stamp
            wanted = said if alone else merged_links(row.links, said)
        if wanted != row.links:
            notes.update_note(self._tx, row.path, links=wanted)
        targets = {link.target for link in wanted}
        here = {link.target for link in said}
        self._outcome.edits += [DropLink(target=one) for one in sorted(here - targets)]
        self._outcome.edits += [AddLink(link=one) for one in wanted if one.target not in here]

    def _set(self, **changes: object) -> None:
        self._outcome.edits.append(SetHead(changes=changes))

    def _record_change(self, act: str, before: str | None = None, after: str | None = None) -> None:
        self._outcome.changes.append(
            NoteChange(path=self._row.path, act=act, before=before, after=after)
        )


def _kept(memory: Memory) -> Kept:
    return Kept(content=memory.content, version=memory.version)
