"""A value that a model or a tool would have others hear: its owner is asked first, in private."""

from __future__ import annotations

from dataclasses import replace

from tacit.errors import Conflict
from tacit.learn import keep
from tacit.records import validation
from tacit.records.memory import HistoryEvent, Memory, State, Visibility
from tacit.storage import learned_facts, memories
from tacit.storage.learned_facts import PendingProposal
from tacit.storage.memories import Transaction

_REASON = "it would be said where others listen"


def is_loan(memory: Memory) -> bool:
    """Whether a proposal is about how far a value may go. What is learned has no key, and what a
    model would put under one stays private."""
    return memory.key is not None and memory.visibility is Visibility.PUBLIC_OK


def propose(w: Transaction, category: str, key: str) -> None:
    """Once for each value. What waits is a copy with the same key, so that whatever erases the
    value erases it too."""
    rows = memories.list_key_holders(w, category, key, for_room=False)
    id = next((row.id for row in rows if not row.shadowed), None)
    value = memories.get_for_update(w, id) if id else None
    if value is None or value.owner is None or value.visibility is Visibility.PUBLIC_OK:
        return
    if learned_facts.is_declined(w, {value.owner}, _question(value)):
        return
    for waiting in learned_facts.list_proposals(w.connection, w.space, [value.owner], w.at):
        if waiting.replaces != value.id:
            continue
        before = memories.get_for_update(w, waiting.memory_id)
        if before is not None and is_loan(before):
            if _says_the_same(before, value):
                return
            keep.withdraw(w, waiting)
    copy = replace(
        value,
        id=memories.draw_memory_id(w),
        state=State.PENDING,
        visibility=Visibility.PUBLIC_OK,
        version=1,
        pinned=False,
        created_at=w.at,
        updated_at=w.at,
        last_accessed_at=None,
        access_count=0,
        thread=w.thread,
    )
    memories.insert_memory(w, copy, told=False)
    learned_facts.insert_proposal(w, copy.id, value.owner, _REASON, value.id, signals=1)


def approve(w: Transaction, waiting: PendingProposal, copy: Memory, value: Memory | None) -> None:
    """Only what was shown is agreed to: a value that reads otherwise by now is another question."""
    if value is None or value.state is not State.ACTIVE or not _says_the_same(value, copy):
        raise Conflict("the value is another one by now: decline this, and ask again")
    w = replace(w, why=f"approved; {waiting.reason}")
    lent = replace(value, visibility=Visibility.PUBLIC_OK, updated_at=w.at)
    memories.update_fields(
        w, lent, HistoryEvent.CONSENT, "updated", {"fields": "visibility public_ok"}
    )
    keep.withdraw(w, waiting)


def decline(w: Transaction, waiting: PendingProposal, copy: Memory) -> None:
    """The value stays as it is, and may still be learned: the no is to this question."""
    learned_facts.insert_refusal(w, waiting.concerns, _question(copy))
    keep.withdraw(w, waiting)


def _says_the_same(one: Memory, other: Memory) -> bool:
    return one.content == other.content and validation.is_same_json(one.data, other.data)


def _question(memory: Memory) -> str:
    return learned_facts.normalized_digest(
        f"public_ok {memory.category} {memory.key} {memory.content}"
    )
