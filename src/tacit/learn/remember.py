"""The explicit write path: what a person asks to be remembered, put under a key, or corrected.

A memory's provenance is that of its current wording. So a wording from another chat than the
memory's own makes a new memory, with its own provenance, that supersedes the old one.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.errors import Conflict, InvalidInput
from tacit.learn import asking
from tacit.learn.compose import (
    Ttls,
    compose,
    data_of,
    heard_with,
    refiled,
    source,
    stricter,
    withholding,
)
from tacit.policy.permissions import ChangeAction, RequesterRole, effective_visibility, may_change
from tacit.policy.rules import decide
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import (
    CATEGORY_OF_KIND,
    ChatKind,
    HistoryEvent,
    Kind,
    Memory,
    State,
    Trust,
    Visibility,
)
from tacit.records.results import Remembered
from tacit.storage import memories, memory_reads, relations
from tacit.storage.memories import Transaction, update_key_precedence
from tacit.storage.spaces import load_identities

_NO_NEWS = ("expires_at", "trust")  # that alone: what is remembered is the same
_FROM_ITS_OWNER = (
    "is whose memory it is, and they would never hear it again; so that nobody does, forget it. "
    "For somebody else of that name, use their key"
)


def remember(w: Transaction, draft: Draft, ttls: Ttls) -> Remembered:
    _check_place(w, draft)
    if asking.must_ask(draft):
        done = asking.propose(w, draft, None, ttls)
    elif draft.key is not None:
        done = _put(w, draft, ttls)
    else:
        memory = compose(w, draft, None, ttls)
        memories.insert_memory(w, memory)
        done = Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if draft.turns:
        relations.insert_source_turns(w, done.id, draft.turns)
    return done


def update(
    w: Transaction, memory: Memory, standing: RequesterRole, draft: Draft, ttls: Ttls
) -> Remembered:
    """`memory` is one the requester may change, in this standing."""
    if memory.state is not State.ACTIVE:
        raise Conflict(f"this memory is {memory.state}; restore it before changing it")
    if draft.turns:
        raise InvalidInput("turns", "are named when something is remembered, not when it changes")
    if standing is not RequesterRole.OWNER and draft.given_fields - {"content", "message"}:
        raise InvalidInput("update", "only the owner changes more than the wording")
    if memory.key is not None and draft.category not in (None, memory.category):
        raise InvalidInput("category", "a memory with a key stays where it is filed")
    here = memory.learned_in is not None and memory.learned_in in w.request.chat_ids
    if _says_the_same(memory, draft):
        return _refile(w, memory, draft, ttls)
    if asking.must_ask(draft, memory):
        if standing is RequesterRole.OWNER:
            return asking.propose(w, draft, memory, ttls)
        return asking.propose(w, _about_the_same(memory, draft), None, ttls)
    if here and standing is not RequesterRole.SUBJECT:
        return _reword(w, memory, draft, ttls)
    if standing is RequesterRole.OWNER:
        return _supersede(w, memory, draft, ttls)
    return _correct(w, memory, standing, draft, ttls)


def withhold(w: Transaction, memory: Memory, who: tuple[object, ...]) -> None:
    """Who it is withheld from is nobody's business: the delta does not tell of it."""
    changed = withholding(w, memory, Draft(withheld_from=who))
    added = changed.withheld_from - memory.withheld_from
    if not added.isdisjoint(_owners(w, memory)):
        raise InvalidInput("who", _FROM_ITS_OWNER)
    if changed != memory:
        changed = replace(changed, updated_at=w.at)
        memories.update_fields(w, changed, HistoryEvent.UPDATE, None, {"fields": "withheld_from"})


def _owners(w: Transaction, memory: Memory) -> frozenset[str]:
    """The owner's identities, for the owner and for an operator. Anybody else would learn by a
    refusal whose some key is."""
    if memory.owner is None:
        return frozenset()
    if w.request.requester is None:
        return load_identities(w.connection, w.space, [memory.owner]).current_identities(
            memory.owner
        )
    return w.request.own_identities if memory.owner in w.request.own_identities else frozenset()


def end(w: Transaction, old: Memory) -> None:
    """It no longer holds, and nothing takes its place."""
    gone = replace(old, state=State.SUPERSEDED, updated_at=w.at, shadowed=False)
    memories.update_fields(w, gone, HistoryEvent.SUPERSEDE, "superseded")


def give_way(w: Transaction, old: Memory, by: str) -> None:
    if old.state is State.ACTIVE:
        _retire(w, old, by)


def _put(w: Transaction, draft: Draft, ttls: Ttls) -> Remembered:
    """One value for each key: written again it becomes a version, and keeps what is not named."""
    if draft.category is None:
        draft = replace(draft, category=CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE])
    own, alias = _holders(w, draft)
    if own is None:
        memory = compose(w, draft, _kept_private(alias), ttls)
        memories.insert_memory(w, memory)
        settle(w, memory)
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if draft.for_room and may_change(ChangeAction.UPDATE, w.request, own) is None:
        # The room has a value that this member may not hear. It gives way, and nothing tells.
        memory = compose(w, draft, None, ttls)
        _retire(w, own, memory.id)
        memories.insert_memory(w, memory)
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if own.learned_in is None or own.learned_in not in w.request.chat_ids or _raises(w, own, draft):
        return _supersede(w, own, draft, ttls)
    if _says_the_same(own, draft):
        return _refile(w, own, draft, ttls)
    return _reword(w, own, draft, ttls)


def _kept_private(alias: Memory | None) -> Memory | None:
    """The value of a linked identity, as far as a new one takes it over: how far that one may go
    its owner said of that value, and of no other."""
    return None if alias is None else replace(alias, visibility=Visibility.PRIVATE_ONLY)


def _holders(w: Transaction, draft: Draft) -> tuple[Memory | None, Memory | None]:
    """The value of this key that the writer holds, and one that an alias of theirs holds."""
    assert draft.category is not None
    assert draft.key is not None
    rows = memories.list_key_holders(w, draft.category, draft.key, for_room=draft.for_room)
    owner = None if draft.for_room else w.request.subject
    own = next((row.id for row in rows if row.owner == owner), None)
    alias = next((row.id for row in rows if row.owner != owner and not row.shadowed), None)
    held = memories.get_for_update(w, own) if own else None
    other = memories.get_for_update(w, alias) if alias and not own else None
    # Another writer may have retired it while we waited for its row.
    return (
        held if held and held.state is State.ACTIVE else None,
        other if other and other.state is State.ACTIVE else None,
    )


def _says_the_same(memory: Memory, draft: Draft) -> bool:
    """Data is part of what is said: other data is another version, heard by whoever is there."""
    return draft.content in (None, memory.content) and validation.is_same_json(
        data_of(draft, memory), memory.data
    )


def _reword(w: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    changed = replace(
        refiled(w, memory, draft, ttls),
        content=draft.content or memory.content,
        version=memory.version + 1,
        speaker=w.request.subject,
        heard_by=heard_with(w, draft, memory),
        source=source(w, draft),
        updated_at=w.at,
    )
    same_words = changed.content == memory.content
    # Fields are what changed where the words did not.
    told = _other_sensitivity(memory, changed)
    if not validation.is_same_json(changed.data, memory.data):
        told["fields" if same_words else "also"] = "data"
    memories.update_content(w, changed, told or None, same_words=same_words)
    settle(w, changed)
    return _answer(w, changed)


def _refile(w: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """The same wording. What changes nothing leaves no trace."""
    changed = refiled(w, memory, draft, ttls)
    if changed != memory:
        fields = draft.given_fields - {"content"}
        fields |= {"trust"} if changed.trust is not memory.trust else set()
        named = ", ".join(sorted(fields))
        changed = replace(changed, updated_at=w.at)
        news = None if named in _NO_NEWS else "updated"
        detail = {"fields": named, **_other_sensitivity(memory, changed)}
        memories.update_fields(w, changed, HistoryEvent.UPDATE, news, detail)
        settle(w, changed)
    return _answer(w, changed)


def _other_sensitivity(before: Memory, after: Memory) -> dict[str, str]:
    """What the history says where it is another one: an owner who lowers it can be told later."""
    if before.sensitivity is after.sensitivity:
        return {}
    return {"sensitivity": f"{before.sensitivity} to {after.sensitivity}"}


def _answer(w: Transaction, memory: Memory) -> Remembered:
    """What may be told here of a memory that was there before: if it may not be said, nothing."""
    if not w.request.private and not decide(w.request, memory).allowed:
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    seen, _ = memory_reads.visible_version(w.connection, w.audiences, w.request, memory)
    return Remembered(id=memory.id, state=memory.state, version=seen, created=False)


def _supersede(w: Transaction, old: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """A new memory with this chat's provenance, in the place of one with the same owner."""
    if old.key is not None and old.owner != w.request.subject and memories.is_key_taken(w, old):
        raise Conflict("its key has another value by now: change that one")
    new = compose(w, draft, old, ttls)
    _retire(w, old, new.id)
    memories.insert_memory(w, new)
    settle(w, new)
    return Remembered(id=new.id, state=new.state, version=1, created=True, supersedes=_tell(w, old))


def _correct(
    w: Transaction, old: Memory, standing: RequesterRole, draft: Draft, ttls: Ttls
) -> Remembered:
    """Somebody corrects what another said. Hearsay about the speaker gives way; all else stays."""
    new = compose(w, _about_the_same(old, draft), None, ttls)
    gives_way = standing is RequesterRole.SUBJECT and old.trust is Trust.HEARSAY and old.owner
    if gives_way:
        _retire(w, old, new.id)
    memories.insert_memory(w, new)
    return Remembered(
        id=new.id,
        state=new.state,
        version=1,
        created=True,
        supersedes=old.id if gives_way else None,
    )


def _about_the_same(old: Memory, draft: Draft) -> Draft:
    return replace(
        draft,
        kind=draft.kind or old.kind,
        category=draft.category or old.category,
        about=draft.about if draft.about is not None else tuple(sorted(old.subjects)),
        sensitivity=stricter(draft.sensitivity or old.sensitivity, old.sensitivity),
    )


def _retire(w: Transaction, old: Memory, by: str) -> None:
    gone = replace(old, state=State.SUPERSEDED, superseded_by=by, updated_at=w.at, shadowed=False)
    memories.update_fields(w, gone, HistoryEvent.SUPERSEDE, "superseded", {"by": by})


def _tell(w: Transaction, old: Memory) -> str | None:
    """Only the owner in private may be told what was there before."""
    return old.id if w.request.private else None


def _check_place(w: Transaction, draft: Draft) -> None:
    """What depends on the room alone, and so tells nothing about what is stored."""
    if draft.visibility is Visibility.PUBLIC_OK and not w.request.private:
        raise InvalidInput("visibility", "public_ok is for the owner to give in a private chat")
    if draft.visibility is Visibility.ROOM and w.request.kind is not ChatKind.GROUP:
        raise InvalidInput("visibility", "room means something in a group only; use private_only")
    if draft.for_room and w.request.kind is not ChatKind.GROUP:
        raise InvalidInput("for_room", "only a member, in the group itself, speaks for a room")


def _raises(w: Transaction, memory: Memory, draft: Draft) -> bool:
    """A wider visibility asked for where others listen goes to a new memory, not to older words."""
    return (
        draft.visibility is not None
        and not w.request.private
        and draft.visibility.rank > effective_visibility(memory).rank
    )


def settle(w: Transaction, memory: Memory) -> None:
    if memory.key is not None and memory.owner is not None:
        owners = w.request.identities(w.request.person(memory.owner))
        update_key_precedence(w.connection, w.space, sorted(owners), memory.category, memory.key)
