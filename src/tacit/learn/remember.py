"""The explicit write path: what a person asks to be remembered, put under a key, or corrected.

A memory's provenance is that of its current wording. So a wording from another chat than the
memory's own makes a new memory, with its own provenance, that supersedes the old one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tacit.disclosure.change import Standing, effective_visibility
from tacit.disclosure.decide import decide
from tacit.errors import Conflict, InvalidInput
from tacit.identity.keys import channel_of
from tacit.model.draft import Draft
from tacit.model.memory import Memory, Source
from tacit.model.results import Remembered
from tacit.model.words import (
    CATEGORY_OF_KIND,
    ChatKind,
    Event,
    Kind,
    Sensitivity,
    State,
    Trust,
    Visibility,
)
from tacit.store import keyed, people, reads, writes
from tacit.store.identities import around
from tacit.store.settle import settle_key
from tacit.store.writes import Writing

Ttls = dict[str, int]  # days, by kind


def remember(w: Writing, draft: Draft, ttls: Ttls) -> Remembered:
    _check_place(w, draft)
    if draft.key is not None:
        return _put(w, draft, ttls)
    memory = _new(w, draft, None, ttls)
    writes.add(w, memory)
    return Remembered(id=memory.id, state=memory.state, version=1, created=True)


def update(w: Writing, memory: Memory, standing: Standing, draft: Draft, ttls: Ttls) -> Remembered:
    """`memory` is one the requester may change, in this standing."""
    if memory.state is not State.ACTIVE:
        raise Conflict(f"this memory is {memory.state}; restore it before changing it")
    if standing is not Standing.OWNER and draft.named - {"content", "for_room", "message"}:
        raise InvalidInput("update", "only the owner changes more than the wording")
    if memory.key is not None and draft.category not in (None, memory.category):
        raise InvalidInput("category", "a memory with a key stays where it is filed")
    here = memory.learned_in is not None and memory.learned_in in w.request.rooms
    if draft.content is None or draft.content == memory.content:
        return _refile(w, memory, draft, ttls)
    if here and standing is not Standing.SUBJECT:
        return _reword(w, memory, draft, ttls)
    if standing is Standing.OWNER:
        return _supersede(w, memory, draft, ttls)
    return _correct(w, memory, standing, draft, ttls)


def withhold(w: Writing, memory: Memory, who: tuple[object, ...]) -> None:
    """Who it is withheld from is nobody's business: the delta does not tell of it."""
    changed = _refiled(w, memory, Draft(withheld_from=who), {})
    if changed != memory:
        changed = replace(changed, updated_at=w.at)
        writes.change(w, changed, Event.UPDATE, None, {"fields": "withheld_from"})


def _put(w: Writing, draft: Draft, ttls: Ttls) -> Remembered:
    """One value for each key: written again it becomes a version, and keeps what is not named."""
    if draft.category is None:
        draft = replace(draft, category=CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE])
    own, alias = _holders(w, draft)
    if own is None:
        memory = _new(w, draft, alias, ttls)
        writes.add(w, memory)
        _settle(w, memory)
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if own.learned_in is None or own.learned_in not in w.request.rooms or _raises(w, own, draft):
        return _supersede(w, own, draft, ttls)
    if draft.content == own.content:
        return _refile(w, own, draft, ttls)
    return _reword(w, own, draft, ttls)


def _holders(w: Writing, draft: Draft) -> tuple[Memory | None, Memory | None]:
    """The value of this key that the writer holds, and one that an alias of theirs holds."""
    assert draft.category is not None
    assert draft.key is not None
    rows = keyed.holders(w, draft.category, draft.key, for_room=draft.for_room)
    owner = None if draft.for_room else w.request.subject
    own = next((row.id for row in rows if row.owner == owner), None)
    alias = next((row.id for row in rows if row.owner != owner and not row.shadowed), None)
    return (
        writes.held(w, own) if own else None,
        writes.held(w, alias) if alias and not own else None,
    )


def _reword(w: Writing, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    changed = replace(
        _refiled(w, memory, draft, ttls),
        content=draft.content or memory.content,
        version=memory.version + 1,
        speaker=w.request.subject,
        heard_by=_heard(w),
        source=_source(w, draft),
        updated_at=w.at,
    )
    writes.reword(w, changed)
    _settle(w, changed)
    return _answer(w, changed)


def _refile(w: Writing, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """The same wording. What changes nothing leaves no trace."""
    changed = _refiled(w, memory, draft, ttls)
    if changed != memory:
        named = ", ".join(sorted(draft.named - {"content", "for_room"}))
        changed = replace(changed, updated_at=w.at)
        writes.change(w, changed, Event.UPDATE, "updated", {"fields": named})
        _settle(w, changed)
    return _answer(w, changed)


def _answer(w: Writing, memory: Memory) -> Remembered:
    """What may be told here of a memory that was there before: if it may not be said, nothing."""
    if not w.request.private and not decide(w.request, memory).allowed:
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    seen = reads.seen_version(w.connection, w.audiences, w.request, memory)
    return Remembered(id=memory.id, state=memory.state, version=seen, created=False)


def _supersede(w: Writing, old: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """A new memory with this chat's provenance, in the place of one with the same owner."""
    new = _new(w, draft, old, ttls)
    _retire(w, old, new.id)
    writes.add(w, new)
    _settle(w, new)
    return Remembered(id=new.id, state=new.state, version=1, created=True, supersedes=_tell(w, old))


def _correct(w: Writing, old: Memory, standing: Standing, draft: Draft, ttls: Ttls) -> Remembered:
    """Somebody corrects what another said. Hearsay about the speaker gives way; all else stays."""
    about = draft.about if draft.about is not None else tuple(sorted(old.subjects))
    draft = replace(draft, kind=draft.kind or old.kind, category=draft.category or old.category)
    new = _new(w, replace(draft, about=about), None, ttls)
    new = replace(new, sensitivity=_stricter(new.sensitivity, old.sensitivity))
    gives_way = standing is Standing.SUBJECT and old.trust is Trust.HEARSAY and old.owner
    if gives_way:
        _retire(w, old, new.id)
    writes.add(w, new)
    return Remembered(
        id=new.id,
        state=new.state,
        version=1,
        created=True,
        supersedes=old.id if gives_way else None,
    )


def _retire(w: Writing, old: Memory, by: str) -> None:
    gone = replace(old, state=State.SUPERSEDED, superseded_by=by, updated_at=w.at, shadowed=False)
    writes.change(w, gone, Event.SUPERSEDE, "superseded", {"by": by})


def _tell(w: Writing, old: Memory) -> str | None:
    """Only the owner in private may be told what was there before."""
    return old.id if w.request.private else None


def _new(w: Writing, draft: Draft, old: Memory | None, ttls: Ttls) -> Memory:
    """A memory as this chat's provenance makes it; what is not said is taken over from `old`."""
    request, subject = w.request, w.request.subject
    subjects = _about(w, draft, old)
    withheld = _withheld(w, draft, old)
    kind = draft.kind or (old.kind if old else Kind.KNOWLEDGE)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    plain = Visibility.ROOM if draft.for_room else Visibility.PRIVATE_ONLY
    return Memory(
        id=writes.fresh_id(w),
        space=w.space,
        owner=None if draft.for_room else subject,
        speaker=subject,
        subjects=subjects,
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=_heard(w),
        confidential=in_group and request.confidential,
        kind=kind,
        category=draft.category or (old.category if old else CATEGORY_OF_KIND[kind]),
        key=draft.key or (old.key if old else None),
        slot=draft.slot or (old.slot if old else None),
        content=draft.content or (old.content if old else ""),
        version=1,
        visibility=draft.visibility or (old.visibility if old else plain),
        sensitivity=_sensitivity(w, draft, old),
        portable=_portable(draft, old),
        withheld_from=withheld,
        withheld_unknown=_unknown(w, withheld),
        inferred=False,
        trust=draft.trust or _trust(w, subjects),
        importance=draft.importance or (old.importance if old else 3),
        confidence=_first(draft.confidence, old.confidence if old else None),
        pinned=_first(draft.pinned, old.pinned if old else False) or False,
        tags=draft.tags if draft.tags is not None else (old.tags if old else ()),
        source=_source(w, draft),
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
    )


def _refiled(w: Writing, memory: Memory, draft: Draft, ttls: Ttls) -> Memory:
    """The memory with the fields that were named, and no others, changed."""
    kind = draft.kind or memory.kind
    withheld = _withheld(w, draft, memory)
    expires = draft.expires_at or memory.expires_at
    if draft.expires_at is None and (kind is not memory.kind or _lapsed(memory, w.at)):
        expires = expiry(kind, w.at, ttls)
    return replace(
        memory,
        kind=kind,
        category=draft.category or memory.category,
        slot=draft.slot or memory.slot,
        subjects=_about(w, draft, memory),
        withheld_from=withheld,
        withheld_unknown=_unknown(w, withheld)
        if withheld != memory.withheld_from
        else memory.withheld_unknown,
        visibility=draft.visibility or memory.visibility,
        sensitivity=_sensitivity(w, draft, memory),
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
    )


def _check_place(w: Writing, draft: Draft) -> None:
    """What depends on the room alone, and so tells nothing about what is stored."""
    if draft.visibility is Visibility.PUBLIC_OK and not w.request.private:
        raise InvalidInput("visibility", "public_ok is for the owner to give in a private chat")
    if draft.visibility is Visibility.ROOM and w.request.kind is not ChatKind.GROUP:
        raise InvalidInput("visibility", "room means something in a group only; use private_only")
    if draft.for_room and w.request.kind is not ChatKind.GROUP:
        raise InvalidInput("for_room", "only a member, in the group itself, speaks for a room")


def _raises(w: Writing, memory: Memory, draft: Draft) -> bool:
    """A wider visibility asked for where others listen goes to a new memory, not to older words."""
    return (
        draft.visibility is not None
        and not w.request.private
        and draft.visibility.rank > effective_visibility(memory).rank
    )


def _heard(w: Writing) -> frozenset[str]:
    if w.request.kind is not ChatKind.GROUP:
        return frozenset()
    return w.request.audience


def _source(w: Writing, draft: Draft) -> Source:
    chat = w.request.chat
    return Source(channel=channel_of(chat), chat=chat, message=draft.message)


def _about(w: Writing, draft: Draft, old: Memory | None) -> frozenset[str]:
    if draft.about is None:
        return old.subjects if old else frozenset()
    return people.refer(w.connection, w.dialect, w.request, draft.about, "about", w.at)


def _withheld(w: Writing, draft: Draft, old: Memory | None) -> frozenset[str]:
    """Only ever grows here: to let somebody hear it again is an act of its own."""
    before = old.withheld_from if old else frozenset()
    if draft.withheld_from is None:
        return before
    named = people.refer(
        w.connection, w.dialect, w.request, draft.withheld_from, "withheld_from", w.at
    )
    return before | named


def _unknown(w: Writing, withheld: frozenset[str]) -> bool:
    if not withheld:
        return False
    known = around(w.connection, w.space, withheld).known
    return not all(known(person) for person in withheld)


def _sensitivity(w: Writing, draft: Draft, old: Memory | None) -> Sensitivity:
    if draft.sensitivity is None:
        return old.sensitivity if old else Sensitivity.PERSONAL
    if old is not None and not w.request.private:
        return _stricter(draft.sensitivity, old.sensitivity)
    return draft.sensitivity


def _stricter(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    return max(one, other, key=lambda s: s.rank)


def _portable(draft: Draft, old: Memory | None) -> bool:
    """True for lasting kinds, false for passing ones and where nobody said what it is."""
    if draft.portable is not None:
        return draft.portable
    if old is not None:
        return old.portable
    return draft.kind is not None and draft.kind.lasting


def _trust(w: Writing, subjects: frozenset[str]) -> Trust:
    mine = {w.request.person(s) for s in subjects}
    return Trust.STATED if not mine or w.request.requester in mine else Trust.HEARSAY


def _settle(w: Writing, memory: Memory) -> None:
    if memory.key is not None and memory.owner is not None:
        owners = w.request.identities(w.request.person(memory.owner))
        settle_key(w.connection, w.space, sorted(owners), memory.category, memory.key)


def _lapsed(memory: Memory, at: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= at


def expiry(kind: Kind, at: datetime, ttls: Ttls) -> datetime | None:
    days = ttls.get(kind.value)
    return None if days is None else at + timedelta(days=days)


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one
