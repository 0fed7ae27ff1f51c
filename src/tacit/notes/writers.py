"""Apply edits of a note to memories: for its owner, a chat, or a view."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.learning import memory_writes
from tacit.learning.composition import (
    Ttls,
    compose_memory,
    compute_expiry,
    find_floor,
    refuse_profile,
    stricter_sensitivity,
)
from tacit.lifecycle import forget as forgetting
from tacit.policy.rules import ChangeAction, RequesterRole, may_change
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Kind, Memory, Sensitivity, State, Trust
from tacit.records.notes import Filing
from tacit.retrieval.text_features import KnownNames
from tacit.storage import chats, memories, people
from tacit.storage.memories import Transaction


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


def chat_sensitivity(content: str) -> Sensitivity:
    """Return the sensitivity of a group's words: the lexicon's, or public."""
    return find_floor(f"{content} ")


def draft_item(tx: Transaction, content: str, filed: Filing, **more: Any) -> Draft:
    """Draft the memory of an item. In a group it is public, so that members see it."""
    room = tx.request.kind is ChatKind.GROUP
    least = Sensitivity.PUBLIC if room else Sensitivity.PERSONAL
    return Draft(
        content=content,
        kind=filed.kind,
        category=filed.category,
        tags=filed.tags,
        sensitivity=stricter_sensitivity(least, chat_sensitivity(content)),
        for_room=room,
        **more,
    )


def _raise_sensitivity(tx: Transaction, memory: Memory) -> Memory:
    """Raise the sensitivity of a reworded memory to that of its new words."""
    kept = stricter_sensitivity(memory.sensitivity, chat_sensitivity(memory.content))
    if kept is memory.sensitivity:
        return memory
    changed = replace(memory, sensitivity=kept, updated_at=tx.at)
    told = {"fields": f"sensitivity {kept}"}
    memories.update_fields(tx, changed, HistoryEvent.UPDATE, None, told)
    return changed


def _get_locked(tx: Transaction, id: str) -> Memory:
    found = memories.get_for_update(tx, id)
    assert found is not None  # written in this transaction
    return found


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """Change memories for a note as the requester, who is its owner.

    Methods return the memory, whose id may be new. They raise `NotFound` where the requester may
    not change it, and `InvalidInput` where the content may not be stored.
    """

    tx: Transaction
    retention: NoteRetention

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        draft = draft_item(self.tx, self._parse(content), filed)
        memory = compose_memory(self.tx, draft, None, self.retention.ttls)
        if known is not None:
            created = min(known.created_at, memory.created_at)
            updated = max(created, min(known.updated_at, memory.updated_at))
            id = known.id or memory.id
            memory = replace(memory, id=id, created_at=created, updated_at=updated)
        memories.insert_memory(self.tx, memory)
        return memory

    def reword(self, memory: Memory, content: str) -> Memory:
        wording = self._parse(content)
        if memory.state is not State.ACTIVE:
            memory = self.restore(memory)
        tx = self._in_own_chat(memory)
        standing = may_change(ChangeAction.UPDATE, tx.request, memory)
        if standing is None:
            raise NotFound
        if memory.owner is None:
            standing = RequesterRole.MEMBER  # a subject may, too, and the group words it
        draft = Draft(content=wording)
        done = memory_writes.update_memory(tx, memory, standing, draft, self.retention.ttls)
        return _raise_sensitivity(tx, _get_locked(tx, done.id))

    def refile(self, memory: Memory, filed: Filing) -> Memory:
        """File the same words under another section, or tick them. Keyed memories stay."""
        self._require(ChangeAction.UPDATE, memory)
        changed = replace(memory, tags=filed.tags)
        if memory.key is None:
            changed = replace(changed, kind=filed.kind, category=filed.category)
        if changed == memory:
            return memory
        if changed.kind is not memory.kind:
            expires_at = compute_expiry(changed.kind, self.tx.at, self.retention.ttls)
            changed = replace(changed, expires_at=expires_at)
        changed = replace(changed, updated_at=self.tx.at)
        told = {"fields": "tags"}
        memories.update_fields(self.tx, changed, HistoryEvent.UPDATE, "updated", told)
        return changed

    def forget(self, memory: Memory) -> None:
        self._require(ChangeAction.FORGET, memory)
        forgetting.forget_memory(self.tx, memory, self.retention.restorable_days)

    def restore(self, memory: Memory) -> Memory:
        self._require(ChangeAction.RESTORE, memory)
        forgetting.restore_memory(self.tx, memory, self.retention.ttls)
        return _get_locked(self.tx, memory.id)

    def may_restore(self, memory: Memory) -> bool:
        return self._may(ChangeAction.RESTORE, memory) and not memory.is_turn

    def _parse(self, content: str) -> str:
        return validation.parse_content(content)

    def _require(self, action: ChangeAction, memory: Memory) -> None:
        if not self._may(action, memory):
            raise NotFound

    def _may(self, action: ChangeAction, memory: Memory) -> bool:
        return may_change(action, self._in_own_chat(memory).request, memory) is not None

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
class ChatNoteWriter(NoteWriter):
    """Write a group's own memories as the operator of the folder, without speaker and audience."""

    chat: str

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        stored = chats.read_chat(self.tx.connection, self.tx.space, self.chat)
        there = replace(
            self.tx.request,
            chat=self.chat,
            kind=ChatKind.GROUP,
            chat_ids=frozenset({self.chat}),
            confidential=stored.confidential,
        )
        tx = replace(self.tx, request=there, thread=self.chat)
        return NoteWriter(tx, self.retention).remember(content, filed, known)

    def reword(self, memory: Memory, content: str) -> Memory:
        wording = self._parse(content)
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
        return _raise_sensitivity(self.tx, changed)

    def may_restore(self, memory: Memory) -> bool:
        return memory.owner is None and memory.learned_in == self.chat and not memory.is_turn

    def _may(self, _: ChangeAction, __: Memory) -> bool:
        return True  # the operator of the folder may do all of it


@dataclass(frozen=True, slots=True)
class ViewNoteWriter(NoteWriter):
    """Write what an agent puts into a note, as the person it works for may say it there.

    In a group all members see it. The subjects decide who may see a text, so they are found before
    it is stored; what a model finds too private for a group is not put into its note.
    """

    agent: str | None = None
    by_model: bool = True  # worded by a model, not by the rules of a session
    _names: list[KnownNames] = field(default_factory=list)

    def remember(self, content: str, filed: Filing, known: ForeignMemory | None = None) -> Memory:
        """Remember as a new memory: a model knows no ids."""
        assert known is None
        said, room = self._parse(content), self.tx.request.kind is ChatKind.GROUP
        about: tuple[str, ...] = ()
        if room:
            self._require_shareable(said)
            about = tuple(sorted(self._find_subjects(said)))
        draft = draft_item(self.tx, said, filed, about=about or None, agent=self.agent)
        if self.by_model:
            draft = replace(draft, by_model=True)
            refuse_profile(draft, "text")
        elif room and filed.kind is not Kind.CONTEXT:
            draft = replace(draft, trust=Trust.STATED)
        done = memory_writes.remember(self.tx, draft, self.retention.ttls)
        return _get_locked(self.tx, done.id)

    def reword(self, memory: Memory, content: str) -> Memory:
        if self.by_model:
            refuse_profile(Draft(content=content, by_model=True), "text", memory)
        if memory.owner is not None:
            return NoteWriter.reword(self, memory, content)
        self._require_shareable(content)
        person = self.tx.request.person
        if set(map(person, self._find_subjects(content))) == set(map(person, memory.subjects)):
            return NoteWriter.reword(self, memory, content)
        if may_change(ChangeAction.UPDATE, self.tx.request, memory) is None:
            raise NotFound
        # Words of a group about other people have another audience: make another memory.
        new = self.remember(content, Filing(memory.kind, memory.category, memory.tags))
        memory_writes.supersede_memory(self.tx, memory, new.id)
        return new

    def _parse(self, content: str) -> str:
        return validation.parse_content(content) if self.by_model else content  # checked as a draft

    def _find_subjects(self, content: str) -> frozenset[str]:
        """Find the people that a text names, as far as the requester knows them."""
        if not self._names:
            known = people.list_known_people(self.tx.connection, self.tx.request)
            self._names.append(KnownNames(self.tx.request, known))
        found = frozenset[str]().union(*self._names[0].find_in(content).values())
        return frozenset(sorted(found)[: limits.PEOPLE_PER_MEMORY_MAX_COUNT])

    def _require_shareable(self, content: str) -> None:
        if self.by_model and chat_sensitivity(content) is not Sensitivity.PUBLIC:
            raise InvalidInput("text", "has a line that is too private for a note of the whole group; leave it out")
