"""What a memory is made of: fields that were said, taken over, or settled by where it was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tacit import limits
from tacit.identity.external_keys import channel_of_chat
from tacit.learn.floor import find_floor, join_words
from tacit.policy.rules import decide
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import (
    CATEGORY_OF_KIND,
    ChatKind,
    Kind,
    Memory,
    Sensitivity,
    Source,
    State,
    Trust,
    Visibility,
)
from tacit.records.request import Request
from tacit.storage import memories, people
from tacit.storage.memories import Transaction
from tacit.storage.spaces import load_identities

Ttls = dict[str, int]  # days, by kind


def compose(w: Transaction, draft: Draft, old: Memory | None, ttls: Ttls) -> Memory:
    """A memory as this chat's provenance makes it; what is not said is taken over from `old`."""
    request, subject = w.request, w.request.subject
    if old is not None and not request.private:
        old = _as_heard_here(request, old)
    subjects = _about(w, draft, old)
    withheld = _withheld(w, draft, old)
    key = draft.key or (old.key if old else None)
    slot = draft.slot or (old.slot if old else None)
    content = draft.content or (old.content if old else "")
    tags = draft.tags if draft.tags is not None else (old.tags if old else ())
    data = data_of(draft, old)
    said = join_words(content, key=key, slot=slot, tags=tags, data=data)
    kind = draft.kind or (old.kind if old else Kind.KNOWLEDGE)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    plain = Visibility.ROOM if draft.for_room else Visibility.PRIVATE_ONLY
    return Memory(
        id=memories.draw_memory_id(w),
        space=w.space,
        owner=None if draft.for_room else subject,
        speaker=subject,
        subjects=subjects,
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=heard_with(w, draft, old),
        confidential=in_group and request.confidential,
        kind=kind,
        category=draft.category or (old.category if old else CATEGORY_OF_KIND[kind]),
        key=key,
        slot=slot,
        content=content,
        version=1,
        visibility=draft.visibility or (old.visibility if old else plain),
        sensitivity=_sensitivity(w, draft, old, said),
        portable=_portable(draft, old),
        withheld_from=withheld,
        withheld_unknown=is_unknown(w, withheld),
        inferred=False,
        trust=draft.trust or _trust(w, subjects),
        importance=draft.importance or (old.importance if old else limits.IMPORTANCE_DEFAULT),
        confidence=_first(draft.confidence, old.confidence if old else None),
        pinned=_first(draft.pinned, old.pinned if old else False) or False,
        tags=tags,
        source=source(w, draft),
        thread=w.thread,
        agent=draft.agent,
        run=draft.run,
        role=draft.role,
        created_at=min(draft.created_at or w.at, w.at),
        updated_at=w.at,
        observed_at=draft.observed_at or w.at,
        expires_at=draft.expires_at or expiry(kind, w.at, ttls),
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        shadowed=False,
        data=data,
    )


def refiled(w: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Memory:
    """The memory with the fields that were named, and no others, changed."""
    kind = draft.kind or memory.kind
    expires = draft.expires_at or memory.expires_at
    said_again = draft.content is not None and _lapsed(memory, w.at)
    if draft.expires_at is None and (kind is not memory.kind or said_again):
        expires = expiry(kind, w.at, ttls)
    # What came from elsewhere is the owner's own as soon as they say it themselves.
    said = (
        draft.content is not None
        and draft.trust is None
        and memory.owner in w.request.own_identities
    )
    own_now = said and memory.trust is Trust.IMPORTED
    subjects = _about(w, draft, memory)
    return replace(
        withholding(w, memory, draft),
        kind=kind,
        trust=_trust(w, subjects) if own_now else memory.trust,
        category=draft.category or memory.category,
        slot=draft.slot or memory.slot,
        subjects=subjects,
        visibility=draft.visibility or memory.visibility,
        sensitivity=_sensitivity(w, draft, memory, _said_anew(draft, memory)),
        portable=_portable(draft, memory),
        importance=draft.importance or memory.importance,
        confidence=_first(draft.confidence, memory.confidence),
        pinned=_first(draft.pinned, memory.pinned) or False,
        tags=draft.tags if draft.tags is not None else memory.tags,
        observed_at=draft.observed_at or memory.observed_at,
        expires_at=expires,
        agent=draft.agent or memory.agent,
        run=draft.run or memory.run,
        role=draft.role or memory.role,
        data=data_of(draft, memory),
    )


def _as_heard_here(request: Request, old: Memory) -> Memory:
    """Words are said anew. Data is not, and stays where it was said and might be heard."""
    allowed = decide(request, old).allowed
    if old.learned_in in request.chat_ids:
        return old if allowed else replace(old, data=None)
    return replace(old, data=None) if allowed else _told_elsewhere(old)


def _told_elsewhere(old: Memory) -> Memory:
    """Of a memory that this room may not hear, a new one takes over what makes it stricter."""
    room = old.visibility is Visibility.ROOM
    return replace(
        old,
        visibility=Visibility.PRIVATE_ONLY if room else old.visibility,
        subjects=frozenset(),
        kind=Kind.KNOWLEDGE,
        slot=None,
        tags=(),
        data=None,
        portable=False,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
    )


def withholding(w: Transaction, memory: Memory, draft: Draft) -> Memory:
    """The memory, withheld from whom the draft names too; nothing else of it moves."""
    withheld = _withheld(w, draft, memory)
    if withheld == memory.withheld_from:
        return memory
    return replace(memory, withheld_from=withheld, withheld_unknown=is_unknown(w, withheld))


def heard(w: Transaction) -> frozenset[str]:
    """By the identities they have here: a link may end, and whoever was there was there."""
    return w.request.present if w.request.kind is ChatKind.GROUP else frozenset()


def heard_with(w: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    """Words and data that are taken over were heard by nobody but those who heard them before."""
    if old is None:
        return heard(w)
    data_is_old = old.data is not None and draft.data is None
    return heard(w) & old.heard_by if data_is_old or draft.content is None else heard(w)


def data_of(draft: Draft, old: Memory | None) -> Mapping[str, Any] | None:
    """What is said of it replaces all of it, and an empty object clears it."""
    if draft.data is None:
        return old.data if old else None
    return draft.data or None


def source(w: Transaction, draft: Draft) -> Source:
    chat = w.request.chat
    return Source(channel=channel_of_chat(chat), chat=chat, message=draft.message)


def stricter(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    return max(one, other, key=lambda s: s.rank)


def expiry(kind: Kind, at: datetime, ttls: Ttls) -> datetime | None:
    days = ttls.get(kind.value)
    return None if days is None else at + timedelta(days=days)


def _about(w: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    if draft.about is None:
        return old.subjects if old else frozenset()
    return people.resolve_or_create_people(
        w.connection, w.dialect, w.request, draft.about, "about", w.at
    )


def _withheld(w: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    """Only ever grows here: to let somebody hear it again is an act of its own."""
    before = old.withheld_from if old else frozenset()
    if draft.withheld_from is None:
        return before
    named = people.resolve_or_create_people(
        w.connection, w.dialect, w.request, draft.withheld_from, "withheld_from", w.at
    )
    return before | named


def is_unknown(w: Transaction, withheld: frozenset[str]) -> bool:
    """Whether one of them is known by nothing but a name."""
    if not withheld:
        return False
    known = load_identities(w.connection, w.space, withheld).is_recognizable
    return not all(known(person) for person in withheld)


def _sensitivity(w: Transaction, draft: Draft, old: Memory | None, said: str) -> Sensitivity:
    """The stricter of what the caller asks for and what the words that are said allow."""
    asked = draft.sensitivity or (old.sensitivity if old else Sensitivity.PERSONAL)
    if old is not None and (draft.by_model or not w.request.private):
        asked = stricter(asked, old.sensitivity)
    return asked if draft.classified else find_floor(said, asked)


def _said_anew(draft: Draft, memory: Memory) -> str:
    """The words of a change; none where the wording and the data stay. Those were classified when
    they were said, and their owner may have lowered that since. Tags and slots that an owner adds
    in private reach no room, so what they say must not take a memory out of one."""
    data = data_of(draft, memory)
    if draft.content in (None, memory.content) and validation.is_same_json(data, memory.data):
        return ""
    return join_words(
        draft.content or memory.content,
        key=memory.key,
        slot=draft.slot or memory.slot,
        tags=memory.tags if draft.tags is None else draft.tags,
        data=data,
    )


def _portable(draft: Draft, old: Memory | None) -> bool:
    """True for lasting kinds, false for passing ones and where nobody said what it is."""
    if draft.portable is not None:
        return draft.portable
    if old is not None:
        return old.portable
    return draft.kind is not None and draft.kind.lasting


def _trust(w: Transaction, subjects: frozenset[str]) -> Trust:
    mine = {w.request.person(s) for s in subjects}
    return Trust.STATED if not mine or w.request.requester in mine else Trust.HEARSAY


def _lapsed(memory: Memory, at: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= at


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one
