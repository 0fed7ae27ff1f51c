"""The summary of a session. It is concluded, and said by nobody: it goes with what it was made of
when that is erased; and where it is a room's nobody hears it, since it may hold words of what not
everybody there may hear. There it is for the file alone."""

from __future__ import annotations

from dataclasses import replace

from tacit import limits
from tacit.identity.external_keys import channel_of_chat
from tacit.learning.composition import Ttls, compute_expiry
from tacit.lifecycle.concluded import Place, concluded
from tacit.notes.mirror.hands import sensitivity_of
from tacit.prompts import readable_notes
from tacit.prompts.fence import clip_text
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, State
from tacit.records.notes import SESSION_SUMMARY_FILING
from tacit.storage import memories, notes, relations
from tacit.storage.memories import Transaction
from tacit.storage.notes import NoteRow

_IMPORTANCE = 2


def sum_up(
    w: Transaction, row: NoteRow, said: str, ttls: Ttls, *, part: bool = False
) -> str | None:
    """The id of the memory that the note's summary is now. Without words for it, it is made of what
    stands in the note. What sums up a part only stands beside what was there before."""
    rows = notes.list_visible_items(w.connection, w.audiences, w.request, [row.path])[row.path]
    content = clip_text(
        said or readable_notes.compose_summary(rows)[0], limits.SESSION_SUMMARY_MAX_CHARS
    )
    old = memories.get_for_update(w, row.summary_id) if row.summary_id is not None else None
    unwanted = old is not None and old.state is not State.ACTIVE  # somebody forgot it
    if not content or unwanted:
        return row.summary_id
    if old is not None and part:
        content = _joined(old.content, content)
    sensitivity = _strictest(sensitivity_of(content), *(memory.sensitivity for _, memory in rows))
    if old is None:
        memory = _new(w, content, sensitivity, ttls)
        memories.insert_memory(w, memory, told=False)
    else:
        memory = _again(w, old, content, sensitivity, ttls)
    relations.insert_sources(w, memory.id, [one.id for _, one in rows])
    return memory.id


def _joined(before: str, after: str) -> str:
    """Both where there is room for both, and the newer one where not."""
    if after in before:
        return before
    both = f"{before.rstrip(' .;')}; {after}"
    return after if before in after or len(both) > limits.SESSION_SUMMARY_MAX_CHARS else both


def _again(
    w: Transaction, old: Memory, content: str, sensitivity: Sensitivity, ttls: Ttls
) -> Memory:
    if content == old.content:
        return old
    memory = replace(
        old,
        content=content,
        version=old.version + 1,
        sensitivity=_strictest(old.sensitivity, sensitivity),
        expires_at=compute_expiry(Kind.EVENT, w.at, ttls),
        updated_at=w.at,
    )
    memories.update_content(w, memory)
    return memory


def _new(w: Transaction, content: str, sensitivity: Sensitivity, ttls: Ttls) -> Memory:
    request = w.request
    assert request.subject is not None
    assert request.chat is not None
    memory = concluded(
        w,
        Place(
            owner=request.subject,
            chat=request.chat,
            channel=channel_of_chat(request.chat),
            thread=w.thread,
        ),
        content,
        kind=SESSION_SUMMARY_FILING.kind,
        category=SESSION_SUMMARY_FILING.category,
        sensitivity=sensitivity,
        importance=_IMPORTANCE,
        expires_at=compute_expiry(Kind.EVENT, w.at, ttls),
        tags=SESSION_SUMMARY_FILING.tags,
    )
    if request.private:
        return memory
    return replace(
        memory, owner=None, learned_kind=ChatKind.GROUP, confidential=request.confidential
    )


def _strictest(*found: Sensitivity) -> Sensitivity:
    return max([Sensitivity.PERSONAL, *found], key=lambda one: one.rank)
