"""Write memories: explicit, learned and keyed ones, proposals and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.errors import Conflict, InvalidInput
from tacit.learning import episodes
from tacit.learning.composition import (
    Ttls,
    add_withheld_people,
    change_fields,
    compose_memory,
    decline_key,
    list_listeners_of_both,
    lock_current_values,
    make_source,
    merge_data,
    needs_profile_consent,
    propose_profile_field,
    stricter_sensitivity,
)
from tacit.learning.facts import Hold, StatedFact
from tacit.learning.reconciliation import (
    Attribution,
    ConsentDecision,
    ConsentVerdict,
    ReconcileDecision,
    ReconcileOutcome,
    is_chat_fact,
    make_stored_fact,
)
from tacit.learning.turns import QueuedTurn
from tacit.policy.rules import ChangeAction, RequesterRole, decide, effective_visibility, may_change
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import (
    CATEGORY_OF_KIND,
    ChatKind,
    HistoryEvent,
    Kind,
    Memory,
    Sensitivity,
    State,
    Trust,
    Visibility,
)
from tacit.records.results import Remembered
from tacit.storage import learned_facts, memories, memory_reads
from tacit.storage.episodes import list_sources
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import PendingProposal
from tacit.storage.memories import Transaction, update_key_precedence
from tacit.storage.spaces import load_identities

# The explicit write path: a person remembers, sets or corrects a memory.
#
# A memory's provenance is that of its current wording. So a wording from another chat than the
# memory's own makes a new memory, with its own provenance, that supersedes the old one.

_HOLDING_FIELDS = ("sensitivity", "visibility", "withheld_from", "withheld_unknown", "confidential")
_NO_NEWS = ("expires_at", "trust")  # a change of only these is not in the delta
_FROM_ITS_OWNER = (
    "owns the memory and would lose it; to hide it from all people, forget it. For another person "
    "of that name, use their key"
)


def remember(tx: Transaction, draft: Draft, ttls: Ttls) -> Remembered:
    _check_place(tx, draft)
    if needs_profile_consent(draft):
        done = propose_profile_field(tx, draft, None, ttls)
    elif draft.key is not None:
        done = _put(tx, draft, ttls)
    else:
        memory = compose_memory(tx, draft, None, ttls)
        memories.insert_memory(tx, memory)
        done = Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if draft.turns:
        episodes.link_memory(tx, done.id, draft.turns)
    return done


def update_memory(tx: Transaction, memory: Memory, standing: RequesterRole, draft: Draft, ttls: Ttls) -> Remembered:
    """Update a memory that the requester may change in this role."""
    if memory.state is not State.ACTIVE:
        raise Conflict(f"this memory is {memory.state}; restore it before changing it")
    if draft.turns:
        raise InvalidInput("turns", "are named when something is remembered, not when it changes")
    if standing is not RequesterRole.OWNER and draft.given_fields - {"content", "message"}:
        raise InvalidInput("update", "only the owner changes more than the wording")
    if memory.key is not None and draft.category not in (None, memory.category):
        raise InvalidInput("category", "a memory with a key stays where it is filed")
    here = memory.learned_in is not None and memory.learned_in in tx.request.chat_ids
    if _matches_draft(memory, draft):
        return _refile(tx, memory, draft, ttls)
    if needs_profile_consent(draft, memory):
        if standing is RequesterRole.OWNER:
            return propose_profile_field(tx, draft, memory, ttls)
        return propose_profile_field(tx, _about_the_same(memory, draft), None, ttls)
    if here and standing is not RequesterRole.SUBJECT:
        return _reword(tx, memory, draft, ttls)
    if standing is RequesterRole.OWNER:
        return _supersede(tx, memory, draft, ttls)
    return _correct(tx, memory, standing, draft, ttls)


def withhold_memory(tx: Transaction, memory: Memory, who: tuple[object, ...]) -> None:
    """Withhold a memory without a change in the delta, which would disclose it."""
    changed = add_withheld_people(tx, memory, Draft(withheld_from=who))
    added = changed.withheld_from - memory.withheld_from
    if not added.isdisjoint(_owners(tx, memory)):
        raise InvalidInput("who", _FROM_ITS_OWNER)
    if changed != memory:
        changed = replace(changed, updated_at=tx.at)
        memories.update_fields(tx, changed, HistoryEvent.UPDATE, None, {"fields": "withheld_from"})
        episodes.protect_episodes(tx, changed)


def _owners(tx: Transaction, memory: Memory) -> frozenset[str]:
    """Return the owner's identities if the requester is the owner or an operator, else none.

    A refusal would reveal to any other person which keys belong to the owner.
    """
    if memory.owner is None:
        return frozenset()
    if tx.request.requester is None:
        return load_identities(tx.connection, tx.space, [memory.owner]).current_identities(memory.owner)
    return tx.request.own_identities if memory.owner in tx.request.own_identities else frozenset()


def end_memory(tx: Transaction, old: Memory) -> None:
    """End a memory that is no longer true, without a replacement."""
    gone = replace(old, state=State.SUPERSEDED, updated_at=tx.at, overridden=False)
    memories.update_fields(tx, gone, HistoryEvent.SUPERSEDE, "superseded")


def supersede_memory(tx: Transaction, old: Memory, by: str) -> None:
    if old.state is State.ACTIVE:
        _retire(tx, old, by)


def _put(tx: Transaction, draft: Draft, ttls: Ttls) -> Remembered:
    """Set the one value of a key: a second write adds a version and keeps fields not passed."""
    if draft.category is None:
        draft = replace(draft, category=CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE])
    own, alias = _holders(tx, draft)
    if own is None:
        memory = compose_memory(tx, draft, _kept_private(alias), ttls)
        memories.insert_memory(tx, memory)
        apply_key_precedence(tx, memory)
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if draft.for_room and may_change(ChangeAction.UPDATE, tx.request, own) is None:
        # The group has a value that this member may not see. Replace it without revealing it.
        memory = compose_memory(tx, draft, None, ttls)
        _retire(tx, own, memory.id)
        memories.insert_memory(tx, memory)
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    if own.learned_in is None or own.learned_in not in tx.request.chat_ids or _raises(tx, own, draft):
        return _supersede(tx, own, draft, ttls)
    if _matches_draft(own, draft):
        return _refile(tx, own, draft, ttls)
    return _reword(tx, own, draft, ttls)


def _kept_private(alias: Memory | None) -> Memory | None:
    """Return the value of a linked identity as a template for a new one, private only.

    Its owner set the visibility for that value, not for the new one.
    """
    return None if alias is None else replace(alias, visibility=Visibility.PRIVATE_ONLY)


def _holders(tx: Transaction, draft: Draft) -> tuple[Memory | None, Memory | None]:
    """Return the value of this key that the writer holds, and one that an alias holds."""
    assert draft.category is not None
    assert draft.key is not None
    rows = memories.list_key_holders(tx, draft.category, draft.key, for_room=draft.for_room)
    owner = None if draft.for_room else tx.request.subject
    own = next((row.id for row in rows if row.owner == owner), None)
    alias = next((row.id for row in rows if row.owner != owner and not row.overridden), None)
    held = memories.get_for_update(tx, own) if own else None
    other = memories.get_for_update(tx, alias) if alias and not own else None
    # Another writer may have retired it while this transaction waited for the row lock.
    return (
        held if held and held.state is State.ACTIVE else None,
        other if other and other.state is State.ACTIVE else None,
    )


def _matches_draft(memory: Memory, draft: Draft) -> bool:
    """Return whether content and data are unchanged.

    Changed data makes a new version with the present audience.
    """
    return draft.content in (None, memory.content) and validation.is_same_json(merge_data(draft, memory), memory.data)


def _reword(tx: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    changed = replace(
        change_fields(tx, memory, draft, ttls),
        content=draft.content or memory.content,
        version=memory.version + 1,
        speaker=tx.request.subject,
        heard_by=list_listeners_of_both(tx, draft, memory),
        source=make_source(tx, draft),
        updated_at=tx.at,
    )
    same_words = changed.content == memory.content
    # The history lists data under `fields` if the wording did not change.
    told = _other_sensitivity(memory, changed)
    if not validation.is_same_json(changed.data, memory.data):
        told["fields" if same_words else "also"] = "data"
    memories.update_content(tx, changed, told or None, same_words=same_words)
    _protect_episodes(tx, memory, changed)
    apply_key_precedence(tx, changed)
    return _answer(tx, changed)


def _refile(tx: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """Update fields under the same wording. Write nothing if no field changes."""
    changed = change_fields(tx, memory, draft, ttls)
    if changed != memory:
        fields = draft.given_fields - {"content"}
        fields |= {"trust"} if changed.trust is not memory.trust else set()
        named = ", ".join(sorted(fields))
        changed = replace(changed, updated_at=tx.at)
        news = None if named in _NO_NEWS else "updated"
        detail = {"fields": named, **_other_sensitivity(memory, changed)}
        memories.update_fields(tx, changed, HistoryEvent.UPDATE, news, detail)
        _protect_episodes(tx, memory, changed)
        apply_key_precedence(tx, changed)
    return _answer(tx, changed)


def _protect_episodes(tx: Transaction, before: Memory, after: Memory) -> None:
    if any(getattr(before, name) != getattr(after, name) for name in _HOLDING_FIELDS):
        episodes.protect_episodes(tx, after)


def _other_sensitivity(before: Memory, after: Memory) -> dict[str, str]:
    """Return the history detail of a changed sensitivity, so that the owner can see it later."""
    if before.sensitivity is after.sensitivity:
        return {}
    return {"sensitivity": f"{before.sensitivity} to {after.sensitivity}"}


def _answer(tx: Transaction, memory: Memory) -> Remembered:
    """Return the result for an existing memory; report it as new if it may not be shown here."""
    if not tx.request.private and not decide(tx.request, memory).allowed:
        return Remembered(id=memory.id, state=memory.state, version=1, created=True)
    seen, _ = memory_reads.visible_version(tx.connection, tx.audiences, tx.request, memory)
    return Remembered(id=memory.id, state=memory.state, version=seen, created=False)


def _supersede(tx: Transaction, old: Memory, draft: Draft, ttls: Ttls) -> Remembered:
    """Replace a memory of the same owner by a new one with this chat's provenance."""
    if old.key is not None and old.owner != tx.request.subject and memories.is_key_taken(tx, old):
        raise Conflict("its key has another value by now: change that one")
    new = compose_memory(tx, draft, old, ttls)
    _retire(tx, old, new.id)
    memories.insert_memory(tx, new)
    apply_key_precedence(tx, new)
    return Remembered(id=new.id, state=new.state, version=1, created=True, supersedes=_tell(tx, old))


def _correct(tx: Transaction, old: Memory, standing: RequesterRole, draft: Draft, ttls: Ttls) -> Remembered:
    """Insert a person's correction of what another said.

    It supersedes hearsay about the person who corrects; any other memory stays.
    """
    new = compose_memory(tx, _about_the_same(old, draft), None, ttls)
    gives_way = standing is RequesterRole.SUBJECT and old.trust is Trust.HEARSAY and old.owner
    if gives_way:
        _retire(tx, old, new.id)
    memories.insert_memory(tx, new)
    return Remembered(id=new.id, state=new.state, version=1, created=True, supersedes=old.id if gives_way else None)


def _about_the_same(old: Memory, draft: Draft) -> Draft:
    return replace(
        draft,
        kind=draft.kind or old.kind,
        category=draft.category or old.category,
        about=draft.about if draft.about is not None else tuple(sorted(old.subjects)),
        sensitivity=stricter_sensitivity(draft.sensitivity or old.sensitivity, old.sensitivity),
    )


def _retire(tx: Transaction, old: Memory, by: str) -> None:
    gone = replace(old, state=State.SUPERSEDED, superseded_by=by, updated_at=tx.at, overridden=False)
    memories.update_fields(tx, gone, HistoryEvent.SUPERSEDE, "superseded", {"by": by})


def _tell(tx: Transaction, old: Memory) -> str | None:
    """Return the id of the replaced memory for the owner in private, else None."""
    return old.id if tx.request.private else None


def _check_place(tx: Transaction, draft: Draft) -> None:
    """Refuse what this chat does not allow. The check depends on the chat, not on stored data."""
    if draft.visibility is Visibility.PUBLIC_OK and not tx.request.private:
        raise InvalidInput("visibility", "public_ok is for the owner to give in a private chat")
    if draft.visibility is Visibility.ROOM and tx.request.kind is not ChatKind.GROUP:
        raise InvalidInput("visibility", "room means something in a group only; use private_only")
    if draft.for_room and tx.request.kind is not ChatKind.GROUP:
        raise InvalidInput("for_room", "only a member, in the group itself, speaks for a room")


def _raises(tx: Transaction, memory: Memory, draft: Draft) -> bool:
    """Return whether a visibility wider than the memory's is asked for outside a private chat.

    It then applies to a new memory, not to the earlier wording.
    """
    return (
        draft.visibility is not None
        and not tx.request.private
        and draft.visibility.rank > effective_visibility(memory).rank
    )


def apply_key_precedence(tx: Transaction, memory: Memory) -> None:
    if memory.key is not None and memory.owner is not None:
        owners = tx.request.identities(tx.request.person(memory.owner))
        update_key_precedence(tx.connection, tx.space, sorted(owners), memory.category, memory.key)


# The last stage: write decisions as rows, with the reason in their history.

QUARANTINE_TAG = "quarantine"  # removed when an operator releases the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedFact:
    """The result of one statement."""

    id: str
    outcome: ReconcileOutcome
    state: State
    content: str


def write_decision(
    tx: Transaction,
    turn: QueuedTurn,
    decision: ReconcileDecision,
    whom: Attribution,
    agreed: ConsentDecision,
    ttls: Ttls,
) -> LearnedFact | None:
    """Write one decision; return None if nothing is to be written."""
    if agreed.verdict is ConsentVerdict.DROP:
        return None
    tx = replace(tx, why=f"{decision.reason}; {agreed.reason}")
    if agreed.verdict is not ConsentVerdict.KEEP:
        return _propose(tx, turn, decision, whom, agreed, ttls)
    old = _standing(tx, decision.old)
    if decision.outcome is ReconcileOutcome.ENDED:
        return None if old is None else _ended(tx, old)
    draft = _draft(tx, turn, decision, whom)
    if old is None:
        done = remember(tx, draft, ttls)
    else:
        standing = RequesterRole.OWNER if old.owner is not None else RequesterRole.MEMBER
        done = update_memory(tx, old, standing, _onto(old, draft, decision), ttls)
    if turn.recorded is not None:
        episodes.link_memory(tx, done.id, [turn.recorded])
    for further in decision.also:
        held = _standing(tx, further)
        if held is not None:
            supersede_memory(tx, held, done.id)
    if decision.statement is not None:
        whose = _room(tx) if draft.for_room else _owner(tx)
        fact = make_stored_fact(decision.statement)
        if decision.old is not None and decision.statement.read:
            fact = fact._replace(slot=decision.old.fact.slot)  # the reader knows none; it stays replaceable
        learned_facts.save_fact(tx, done.id, whose, decision.content, fact, new=done.created)
    return LearnedFact(id=done.id, outcome=decision.outcome, state=State.ACTIVE, content=decision.content)


def _standing(tx: Transaction, old: learned_facts.ComparedMemory | None) -> Memory | None:
    """Lock and return the current memory; None if it is no longer active."""
    held = None if old is None else memories.get_for_update(tx, old.id)
    return held if held is not None and held.state is State.ACTIVE else None


def _ended(tx: Transaction, old: Memory) -> LearnedFact:
    end_memory(tx, old)
    return LearnedFact(id=old.id, outcome=ReconcileOutcome.ENDED, state=State.SUPERSEDED, content=old.content)


def _onto(old: Memory, draft: Draft, decision: ReconcileDecision) -> Draft:
    """Return the draft to apply to an existing memory.

    A repeated statement changes only the visibility and the people withheld from, and only to be
    stricter.
    """
    if old.owner is None:  # a fact of the group has only its content in common
        said = decision.outcome is ReconcileOutcome.SAME
        return Draft(content=old.content if said else draft.content, message=draft.message)
    lower = draft.visibility
    if lower is not None and lower.rank >= effective_visibility(old).rank:
        lower = None
    if decision.outcome is ReconcileOutcome.SAME:
        return Draft(content=old.content, withheld_from=draft.withheld_from, visibility=lower)
    return replace(draft, category=None if old.key is not None else draft.category)


def quarantine_turn(tx: Transaction, turn: QueuedTurn, reason: str, ttls: Ttls) -> LearnedFact:
    """Quarantine a text with its source for review: nothing recalls it."""
    tx = replace(tx, why=reason)
    draft = Draft(
        content=turn.text,
        kind=Kind.OBSERVATION,
        message=turn.message,
        agent=turn.agent,
        role=str(turn.role),
        tags=(QUARANTINE_TAG,),
        trust=Trust.UNTRUSTED,
        sensitivity=Sensitivity.PERSONAL,
        portable=False,
    )
    memory = replace(compose_memory(tx, draft, None, ttls), state=State.QUARANTINED)
    memories.insert_memory(tx, memory, in_delta=False)
    return LearnedFact(id=memory.id, outcome=ReconcileOutcome.NEW, state=State.QUARANTINED, content=memory.content)


def _propose(
    tx: Transaction,
    turn: QueuedTurn,
    decision: ReconcileDecision,
    whom: Attribution,
    agreed: ConsentDecision,
    ttls: Ttls,
) -> LearnedFact:
    """Store a proposal: a memory that nothing recalls until it is approved."""
    assert decision.statement is not None
    asked = _asked(tx, whom)
    said = learned_facts.normalized_digest(decision.content)
    before = learned_facts.find_same_proposal(tx, {asked}, said)
    if before is not None:
        learned_facts.add_proposal_signal(tx, before.memory_id)
        return LearnedFact(
            id=before.memory_id, outcome=ReconcileOutcome.SAME, state=State.PENDING, content=decision.content
        )
    composed = compose_memory(tx, _draft(tx, turn, decision, whom), None, ttls)
    memory = replace(composed, state=State.PENDING)
    memories.insert_memory(tx, memory, in_delta=False)
    whose = _room(tx) if memory.owner is None else _owner(tx)
    learned_facts.save_fact(tx, memory.id, whose, memory.content, make_stored_fact(decision.statement), new=True)
    if turn.recorded is not None:
        episodes.link_memory(tx, memory.id, [turn.recorded])
    replaced = decision.old.id if decision.old else None
    learned_facts.insert_proposal(tx, memory.id, asked, agreed.reason, replaced, signals=1)
    return LearnedFact(id=memory.id, outcome=decision.outcome, state=State.PENDING, content=memory.content)


def _asked(tx: Transaction, whom: Attribution) -> str:
    """Return whom to ask: the person concerned if present in the group, else the speaker.

    Asking a person who did not hear the statement would disclose it.
    """
    heard = sorted(whom.about & tx.request.present) if tx.request.kind is ChatKind.GROUP else []
    return heard[0] if heard and not whom.withheld_from else _owner(tx)


def _owner(tx: Transaction) -> str:
    assert tx.request.subject is not None
    return tx.request.subject


def _room(tx: Transaction) -> str:
    assert tx.request.chat is not None
    return tx.request.chat


def _draft(tx: Transaction, turn: QueuedTurn, decision: ReconcileDecision, whom: Attribution) -> Draft:
    said = decision.statement
    if said is None:
        return Draft(content=decision.content, message=turn.message)
    kind = said.kind or Kind.KNOWLEDGE
    return Draft(
        content=decision.content,
        kind=kind,
        category=said.category or CATEGORY_OF_KIND[kind],
        slot=said.slot,
        about=tuple(sorted(whom.about)),
        withheld_from=whom.withheld_from or None,
        visibility=Visibility.PRIVATE_ONLY if whom.unclear else _visibility(tx, said),
        sensitivity=said.sensitivity,
        classified=True,
        portable=said.portable,
        importance=said.importance,
        observed_at=said.observed_at or turn.said_at,
        expires_at=said.expires_at,
        message=turn.message,
        agent=turn.agent,
        role=str(turn.role),
        for_room=tx.request.kind is ChatKind.GROUP and is_chat_fact(said, whom),
    )


def _visibility(tx: Transaction, said: StatedFact) -> Visibility | None:
    """Return the visibility that the speaker asked for.

    In a group it is that of the group, also for "between us", which means its members.
    """
    if tx.request.kind is ChatKind.GROUP:
        return Visibility.ROOM
    if said.hold in (Hold.ROOM, Hold.PRIVATE):
        return Visibility.PRIVATE_ONLY
    if said.hold is Hold.SHARE and tx.request.private:
        return Visibility.PUBLIC_OK
    return None


def approve_proposal(
    tx: Transaction, waiting: learned_facts.PendingProposal, memory: Memory, old: Sequence[Memory]
) -> None:
    """Turn an approved proposal into a memory."""
    tx = replace(tx, why=f"approved; {waiting.reason}")
    active = replace(memory, state=State.ACTIVE, updated_at=tx.at)
    gives_way = {one.id: one for one in (*old, *lock_current_values(tx, memory))}
    for one in gives_way.values():
        supersede_memory(tx, one, memory.id)
    memories.update_fields(tx, active, HistoryEvent.CONSENT, "created")
    apply_key_precedence(tx, active)
    learned_facts.delete_proposal(tx, memory.id)


def decline_proposal(tx: Transaction, waiting: learned_facts.PendingProposal, memory: Memory) -> None:
    """Delete a declined proposal with the episodes that say it, and do not propose it again for a while."""
    learned_facts.insert_refusal(tx, waiting.concerns, decline_key(memory))
    learned_facts.delete_proposal(tx, memory.id)
    hard_delete(tx, [memory.id, *sorted(list_sources(tx, [memory.id]))])


def withdraw_proposal(tx: Transaction, waiting: learned_facts.PendingProposal) -> None:
    """Withdraw a proposal whose fact is remembered by now."""
    learned_facts.delete_proposal(tx, waiting.memory_id)
    hard_delete(tx, [waiting.memory_id])


# A person's own statement outranks hearsay about them; the reverse never happens.

_MAX_COUNT = 20


def supersede_hearsay(tx: Transaction, decision: ReconcileDecision, whom: Attribution, by: str) -> None:
    """Supersede hearsay about the speaker in the same slot, if its owner heard the speaker.

    The memory of an owner who was not present stays: a change would disclose the statement.
    """
    said = decision.statement
    if said is None or not said.about_speaker or whom.hearsay or said.slot is None:
        return
    found = learned_facts.list_hearsay(tx.connection, tx.space, tx.request.own_identities, said.slot, _MAX_COUNT)
    for kept in found:
        if not _heard(tx, kept.owner) or kept.fact.value == said.value:
            continue
        held = memories.get_for_update(tx, kept.id)
        if held is not None and held.state is State.ACTIVE:
            tx = replace(tx, why="the person's own word outranks hearsay")
            supersede_memory(tx, held, by)


def _heard(tx: Transaction, owner: str | None) -> bool:
    return owner is not None and owner not in tx.request.own_identities and owner in tx.request.present


# A model or a tool proposes to share a value: its owner is asked first, in private.

_REASON = "it would be said where others listen"


def is_sharing_proposal(memory: Memory) -> bool:
    """Return whether a proposal is about the visibility of a value.

    A learned proposal has no key, and a keyed proposal of a model is private.
    """
    return memory.key is not None and memory.visibility is Visibility.PUBLIC_OK


def propose_sharing(tx: Transaction, category: str, key: str) -> None:
    """Propose to share a value, once for each value.

    The proposal is a copy with the same key, so that an erasure of the value also erases the copy.
    """
    rows = memories.list_key_holders(tx, category, key, for_room=False)
    id = next((row.id for row in rows if not row.overridden), None)
    value = memories.get_for_update(tx, id) if id else None
    if value is None or value.owner is None or value.visibility is Visibility.PUBLIC_OK:
        return
    if learned_facts.is_declined(tx, {value.owner}, _sharing_decline_key(value)):
        return
    for waiting in learned_facts.list_proposals(tx.connection, tx.space, [value.owner], tx.at):
        if waiting.replaces != value.id:
            continue
        before = memories.get_for_update(tx, waiting.memory_id)
        if before is not None and is_sharing_proposal(before):
            if _matches_value(before, value):
                return
            withdraw_proposal(tx, waiting)
    copy = replace(
        value,
        id=memories.draw_memory_id(tx),
        state=State.PENDING,
        visibility=Visibility.PUBLIC_OK,
        version=1,
        pinned=False,
        created_at=tx.at,
        updated_at=tx.at,
        last_accessed_at=None,
        access_count=0,
        thread=tx.thread,
    )
    memories.insert_memory(tx, copy, in_delta=False)
    learned_facts.insert_proposal(tx, copy.id, value.owner, _REASON, value.id, signals=1)


def approve_sharing(tx: Transaction, waiting: PendingProposal, copy: Memory, value: Memory | None) -> None:
    """Approve sharing only if the value is still the one that was shown."""
    if value is None or value.state is not State.ACTIVE or not _matches_value(value, copy):
        raise Conflict("the value is another one by now: decline this, and ask again")
    tx = replace(tx, why=f"approved; {waiting.reason}")
    lent = replace(value, visibility=Visibility.PUBLIC_OK, updated_at=tx.at)
    memories.update_fields(tx, lent, HistoryEvent.CONSENT, "updated", {"fields": "visibility public_ok"})
    withdraw_proposal(tx, waiting)


def decline_sharing(tx: Transaction, waiting: PendingProposal, copy: Memory) -> None:
    """Decline sharing: the value stays, and may still be learned."""
    learned_facts.insert_refusal(tx, waiting.concerns, _sharing_decline_key(copy))
    withdraw_proposal(tx, waiting)


def _matches_value(one: Memory, other: Memory) -> bool:
    return one.content == other.content and validation.is_same_json(one.data, other.data)


def _sharing_decline_key(memory: Memory) -> str:
    return learned_facts.normalized_digest(f"public_ok {memory.category} {memory.key} {memory.content}")
