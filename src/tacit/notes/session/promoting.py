"""Into the long-term index of the person whose private chat it is: one thing a session at most, and
what is used least leaves an index that is full."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learning import memory_writes as learning
from tacit.learning.composition import Ttls, stricter_sensitivity
from tacit.notes.merge.promote import Promotion, Use, overflow
from tacit.notes.mirror.hands import sensitivity_of
from tacit.notes.text import names
from tacit.policy.permissions import ChangeAction, RequesterRole, may_change
from tacit.prompts import readable_notes
from tacit.prompts.readable_notes import MemoryFilter
from tacit.records import notes
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, Memory, Sensitivity, State
from tacit.records.notes import NoteKind, NoteRef
from tacit.storage import learned_facts, memories
from tacit.storage.memories import Transaction
from tacit.storage.notes import (
    NoteRow,
    ensure_note,
    list_visible_items,
    put_item,
    remove_item,
    update_note,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoting:
    tx: Transaction
    session: str  # the path of its note, by which it is told whether it had its one
    ttls: Ttls
    usable: MemoryFilter
    agent: str | None = None

    def promote(self, what: Promotion) -> str | None:
        """The id of what entered the index; None where nothing did."""
        w, request = self.tx, self.tx.request
        if request.subject is None or not request.private:
            return None
        index = [
            memory
            for _, memory in readable_notes.list_index_items(
                w.connection, w.audiences, request, _any
            )
        ]
        if any(memory.run == self.session for memory in index):
            return None
        known = self._find_known(what.content)
        if known is not None and known.id in {memory.id for memory in index}:
            return None
        id = self._remember(what) if known is None else self._index_known(known)
        path = self._ensure_index()
        put_item(w, path, id, what.section, added_on=w.at.date())
        self._make_room(path, id)
        update_note(w, path, updated_at=w.at)
        return id

    def _remember(self, what: Promotion) -> str:
        filed = notes.filing_of_section(what.section)
        draft = Draft(
            content=what.content,
            kind=filed.kind,
            category=filed.category,
            sensitivity=stricter_sensitivity(Sensitivity.PERSONAL, sensitivity_of(what.content)),
            agent=self.agent,
            run=self.session,
        )
        return learning.remember(self.tx, draft, self.ttls).id

    def _index_known(self, known: Memory) -> str:
        """It is remembered already: that one enters."""
        learning.update_memory(
            self.tx, known, RequesterRole.OWNER, Draft(run=self.session), self.ttls
        )
        return known.id

    def _find_known(self, content: str) -> Memory | None:
        """What the person has in the same words."""
        w, said = self.tx, learned_facts.normalized_digest(content)
        found = learned_facts.list_similar_facts(
            w.connection, w.space, w.request.own_identities, [said], [], 1
        )
        memory = memories.get_for_update(w, found[0].id) if found else None
        if memory is None or memory.state is not State.ACTIVE or not memory.kind.lasting:
            return None
        if not self.usable(memory) or learned_facts.normalized_digest(memory.content) != said:
            return None
        own = may_change(ChangeAction.UPDATE, w.request, memory) is RequesterRole.OWNER
        return memory if own else None

    def _ensure_index(self) -> str:
        w, request = self.tx, self.tx.request
        place = NoteRef(kind=NoteKind.LONG_TERM, subject=request.subject)
        row = NoteRow(
            path=names.path_of(place),
            kind=place.kind,
            created_at=w.at,
            updated_at=w.at,
            subject=request.subject,
            chat=request.chat,
            chat_kind=ChatKind.PRIVATE,
        )
        return ensure_note(w, row).path

    def _make_room(self, path: str, new: str) -> None:
        w = self.tx
        rows = list_visible_items(w.connection, w.audiences, w.request, [path])[path]
        items = [notes.item_from_memory(memory, row.section, row.added_on) for row, memory in rows]
        uses = {
            memory.id: Use(
                count=memory.access_count, at=memory.last_accessed_at or memory.created_at
            )
            for _, memory in rows
            if memory.id != new
        }
        for id in overflow(items, uses):
            remove_item(w, path, id)


def _any(_: Memory) -> bool:
    return True
