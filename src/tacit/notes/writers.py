"""Apply edits of a note to memories: for its owner, a chat, or a view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.learning import memory_writes
from tacit.learning.composition import (
    Ttls,
    compose_memory,
    compute_expiry,
    find_floor,
    stricter_sensitivity,
)
from tacit.learning.consent import refuse_profile
from tacit.lifecycle import forget as forgetting
from tacit.policy.permissions import ChangeAction, RequesterRole, may_change
from tacit.records import notes, validation
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Memory, Sensitivity, State
from tacit.records.notes import Filing, NoteItem
from tacit.retrieval.text_features import KnownNames
from tacit.storage import chats, memories, people
from tacit.storage.memories import Transaction

# Apply a note to memories, as its owner or, for a group's note, as the operator of the folder.

NOTES_OPERATOR = "operator:notes"  # in the history of a group's memories


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRetention:
    """The operator's retention options for memories that notes create and forget."""

    ttls: Ttls = field(default_factory=dict)
    restorable_days: int = limits.RESTORABLE_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """What a file tells of a memory of another database."""

    id: str | None
    created_at: datetime
    updated_at: datetime


class NoteWriter(Protocol):
    """Change memories for a note; every method returns the memory, whose id may be new.

    Raises `NotFound` where the requester may not change it, and `InvalidInput` where the content
    may not be stored.
    """

    def remember(
        self, content: str, filed: Filing, known: ForeignMemory | None = None
    ) -> Memory: ...
    def reword(self, memory: Memory, content: str) -> Memory: ...
    def refile(self, memory: Memory, filed: Filing) -> Memory: ...
    def forget(self, memory: Memory) -> None: ...
    def restore(self, memory: Memory) -> Memory: ...
    def may_restore(self, memory: Memory) -> bool: ...


def file_new_item(item: NoteItem) -> Filing:
    """Return how a new item is filed."""
    plain = notes.filing_of_section(item.section)
    return plain._replace(tags=notes.tags_of_item(item.section, item.done))


def chat_sensitivity(content: str) -> Sensitivity:
    """Return the sensitivity of a group's words: the lexicon's, or public."""
    return find_floor(f"{content} ")


def raise_sensitivity(tx: Transaction, memory: Memory) -> Memory:
    """Raise the sensitivity of a reworded memory to that of its new words."""
    kept = stricter_sensitivity(memory.sensitivity, chat_sensitivity(memory.content))
    if kept is memory.sensitivity:
        return memory
    changed = replace(memory, sensitivity=kept, updated_at=tx.at)
    memories.update_fields(
        tx, changed, HistoryEvent.UPDATE, None, {"fields": f"sensitivity {kept}"}
    )
    return changed


@dataclass(frozen=True, slots=True)
class OwnerNoteWriter:
    """Write as the requester: the note's owner, or the requester of a view."""

    tx: Transaction
    retention: NoteRetention

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        asked = _build_draft(content, filed, for_room=self.tx.request.kind is ChatKind.GROUP)
        least = Sensitivity.PUBLIC if asked.for_room else Sensitivity.PERSONAL
        asked = replace(asked, sensitivity=stricter_sensitivity(least, chat_sensitivity(content)))
        memory = _apply_foreign_identity(
            compose_memory(self.tx, asked, None, self.retention.ttls), known
        )
        memories.insert_memory(self.tx, memory)
        return memory

    def reword(self, memory: Memory, content: str) -> Memory:
        wording = validation.parse_content(content)
        if memory.state is not State.ACTIVE:
            memory = self.restore(memory)
        tx = self._in_own_chat(memory)
        standing = may_change(ChangeAction.UPDATE, tx.request, memory)
        if standing is None:
            raise NotFound
        if memory.owner is None:
            standing = RequesterRole.MEMBER  # a subject may, too, and the group words it
        done = memory_writes.update_memory(
            tx, memory, standing, Draft(content=wording), self.retention.ttls
        )
        return raise_sensitivity(tx, _get_locked(tx, done.id))

    def refile(self, memory: Memory, filed: Filing) -> Memory:
        if may_change(ChangeAction.UPDATE, self._in_own_chat(memory).request, memory) is None:
            raise NotFound
        return _refile_memory(self.tx, memory, filed, self.retention)

    def forget(self, memory: Memory) -> None:
        if may_change(ChangeAction.FORGET, self._in_own_chat(memory).request, memory) is None:
            raise NotFound
        forgetting.forget_memory(self.tx, memory, self.retention.restorable_days)

    def restore(self, memory: Memory) -> Memory:
        if may_change(ChangeAction.RESTORE, self._in_own_chat(memory).request, memory) is None:
            raise NotFound
        forgetting.restore_memory(self.tx, memory, self.retention.ttls)
        return _get_locked(self.tx, memory.id)

    def may_restore(self, memory: Memory) -> bool:
        request = self._in_own_chat(memory).request
        return may_change(ChangeAction.RESTORE, request, memory) is not None and not memory.is_turn

    def _in_own_chat(self, memory: Memory) -> Transaction:
        """Return a transaction in the private chat that a memory is from.

        Only its owner reads a person's note, so what stands in it stays in that chat.
        """
        request = self.tx.request
        own = memory.owner is not None and request.person(memory.owner) == request.requester
        private = memory.learned_kind is ChatKind.PRIVATE and memory.learned_in
        if not (own and private and request.private) or memory.learned_in in request.chat_ids:
            return self.tx
        there = replace(request, chat=memory.learned_in, chat_ids=request.chat_ids | {private})
        return replace(self.tx, request=there)


@dataclass(frozen=True, slots=True)
class ChatNoteWriter:
    """Write a group's own memories as the operator, without speaker and audience."""

    tx: Transaction
    retention: NoteRetention
    chat: str

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        asked = _build_draft(content, filed, for_room=True)
        asked = replace(asked, sensitivity=chat_sensitivity(content))
        there = replace(
            self.tx.request,
            chat=self.chat,
            kind=ChatKind.GROUP,
            chat_ids=frozenset({self.chat}),
            confidential=chats.read_chat(self.tx.connection, self.tx.space, self.chat).confidential,
        )
        tx = replace(self.tx, request=there, thread=self.chat)
        memory = _apply_foreign_identity(
            compose_memory(tx, asked, None, self.retention.ttls), known
        )
        memories.insert_memory(tx, memory)
        return memory

    def reword(self, memory: Memory, content: str) -> Memory:
        wording = validation.parse_content(content)
        if memory.state is not State.ACTIVE:
            memory = self.restore(memory)
        changed = replace(
            memory,
            content=wording,
            version=memory.version + 1,
            speaker=None,  # as of a new line: about whom it names, heard by no one
            heard_by=frozenset(),
            updated_at=self.tx.at,
        )
        memories.update_content(self.tx, changed)
        return raise_sensitivity(self.tx, changed)

    def refile(self, memory: Memory, filed: Filing) -> Memory:
        return _refile_memory(self.tx, memory, filed, self.retention)

    def forget(self, memory: Memory) -> None:
        forgetting.forget_memory(self.tx, memory, self.retention.restorable_days)

    def restore(self, memory: Memory) -> Memory:
        forgetting.restore_memory(self.tx, memory, self.retention.ttls)
        return _get_locked(self.tx, memory.id)

    def may_restore(self, memory: Memory) -> bool:
        return memory.owner is None and memory.learned_in == self.chat and not memory.is_turn


def _build_draft(content: str, filed: Filing, *, for_room: bool) -> Draft:
    return Draft(
        content=validation.parse_content(content),
        kind=filed.kind,
        category=filed.category,
        tags=filed.tags,
        for_room=for_room,
    )


def _apply_foreign_identity(memory: Memory, known: ForeignMemory | None) -> Memory:
    if known is None:
        return memory
    created, updated = min(known.created_at, memory.created_at), known.updated_at
    updated = max(created, min(updated, memory.updated_at))
    return replace(memory, id=known.id or memory.id, created_at=created, updated_at=updated)


def _refile_memory(tx: Transaction, memory: Memory, filed: Filing, how: NoteRetention) -> Memory:
    """File the same words under another section, or tick them. Keyed memories stay."""
    kind, category = memory.kind, memory.category
    if memory.key is None:
        kind, category = filed.kind, filed.category
    changed = replace(memory, kind=kind, category=category, tags=filed.tags)
    if changed == memory:
        return memory
    if kind is not memory.kind:
        changed = replace(changed, expires_at=compute_expiry(kind, tx.at, how.ttls))
    changed = replace(changed, updated_at=tx.at)
    memories.update_fields(tx, changed, HistoryEvent.UPDATE, "updated", {"fields": "tags"})
    return changed


def _get_locked(tx: Transaction, id: str) -> Memory:
    found = memories.get_for_update(tx, id)
    assert found is not None  # written in this transaction
    return found


# The writer of a view: what a model writes into a note, as the person it works for may say it
# there. In a group all members see it. The subjects decide who may see a text, so they are found
# before it is stored; what is too private for a group is not put into its note.


@dataclass(frozen=True, slots=True)
class ViewNoteWriter(OwnerNoteWriter):
    agent: str | None = None
    _names: list[KnownNames] = field(default_factory=list)

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        """Remember as a new memory: a model knows no ids."""
        assert known is None
        said, room = validation.parse_content(content), self.tx.request.kind is ChatKind.GROUP
        subjects = frozenset[str]()
        if room:
            _require_shareable(said)
            subjects = find_subjects(self.tx, self._names, said)
        asked = Draft(
            content=said,
            kind=filed.kind,
            category=filed.category,
            tags=filed.tags,
            sensitivity=stricter_sensitivity(
                Sensitivity.PUBLIC if room else Sensitivity.PERSONAL, chat_sensitivity(said)
            ),
            about=tuple(sorted(subjects)) or None,
            for_room=room,
            agent=self.agent,
            by_model=True,
        )
        refuse_profile(asked, "text")
        done = memory_writes.remember(self.tx, asked, self.retention.ttls)
        memory = memories.get_for_update(self.tx, done.id)
        assert memory is not None
        return memory

    def reword(self, memory: Memory, content: str) -> Memory:
        refuse_profile(Draft(content=content, by_model=True), "text", memory)
        if memory.owner is not None:
            return OwnerNoteWriter.reword(self, memory, content)
        _require_shareable(content)
        subjects = find_subjects(self.tx, self._names, content)
        if are_same_people(self.tx, subjects, memory.subjects):
            return OwnerNoteWriter.reword(self, memory, content)
        if may_change(ChangeAction.UPDATE, self.tx.request, memory) is None:
            raise NotFound
        # Words of a group about other people have another audience: make another memory.
        new = self.remember(content, Filing(memory.kind, memory.category, memory.tags))
        memory_writes.supersede_memory(self.tx, memory, new.id)
        return new


def find_subjects(tx: Transaction, names: list[KnownNames], content: str) -> frozenset[str]:
    """Find the people that a text names, as far as the requester knows them; `names` caches."""
    if not names:
        known = people.list_known_people(tx.connection, tx.request)
        names.append(KnownNames(tx.request, known))
    found = frozenset[str]().union(*names[0].find_in(content).values())
    return frozenset(sorted(found)[: limits.PEOPLE_PER_MEMORY_MAX_COUNT])


def are_same_people(tx: Transaction, some: Iterable[str], others: Iterable[str]) -> bool:
    return set(map(tx.request.person, some)) == set(map(tx.request.person, others))


def _require_shareable(content: str) -> None:
    if chat_sensitivity(content) is not Sensitivity.PUBLIC:
        raise InvalidInput(
            "text", "has a line that is too private for a note of the whole group; leave it out"
        )
