"""The end of the path: what was decided becomes rows, with the reason in their history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.learn import asking
from tacit.learn import remember as remembering
from tacit.learn.attribute import Attributed
from tacit.learn.compose import Ttls, compose
from tacit.learn.consent import Consent, Verdict
from tacit.learn.facts import Hold, Statement
from tacit.learn.reconcile import Decision, Outcome, fact_of, is_rooms_own
from tacit.learn.turn import Turn
from tacit.policy.permissions import RequesterRole, effective_visibility
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
from tacit.storage import learned_facts, memories, relations
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction

QUARANTINE_TAG = "quarantine"  # on it until an operator lets it out


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What came of one thing that was said."""

    id: str
    outcome: Outcome
    state: State
    content: str


def keep(
    w: Transaction, turn: Turn, decision: Decision, whom: Attributed, agreed: Consent, ttls: Ttls
) -> Kept | None:
    """None where nothing was to be written."""
    if agreed.verdict is Verdict.DROP:
        return None
    w = replace(w, why=f"{decision.reason}; {agreed.reason}")
    if agreed.verdict is not Verdict.KEEP:
        return _propose(w, turn, decision, whom, agreed, ttls)
    old = _standing(w, decision.old)
    if decision.outcome is Outcome.ENDED:
        return None if old is None else _ended(w, old)
    draft = _draft(w, turn, decision, whom)
    if old is None:
        done = remembering.remember(w, draft, ttls)
    else:
        standing = RequesterRole.OWNER if old.owner is not None else RequesterRole.MEMBER
        done = remembering.update(w, old, standing, _onto(old, draft, decision), ttls)
    if turn.recorded is not None:
        relations.insert_source_turns(w, done.id, [turn.recorded])
    for further in decision.also:
        held = _standing(w, further)
        if held is not None:
            remembering.give_way(w, held, done.id)
    if decision.statement is not None:
        whose = _room(w) if draft.for_room else _owner(w)
        fact = fact_of(decision.statement)
        learned_facts.save_fact(w, done.id, whose, decision.content, fact, new=done.created)
    return Kept(id=done.id, outcome=decision.outcome, state=State.ACTIVE, content=decision.content)


def _standing(w: Transaction, old: learned_facts.ComparedMemory | None) -> Memory | None:
    """As it is now, locked; None if it gave way meanwhile."""
    held = None if old is None else memories.get_for_update(w, old.id)
    return held if held is not None and held.state is State.ACTIVE else None


def _ended(w: Transaction, old: Memory) -> Kept:
    remembering.end(w, old)
    return Kept(id=old.id, outcome=Outcome.ENDED, state=State.SUPERSEDED, content=old.content)


def _onto(old: Memory, draft: Draft, decision: Decision) -> Draft:
    """What was said again changes nothing but how far it may go, and that only to be stricter."""
    if old.owner is None:  # a room's own fact: its wording is everybody's, and nothing else of it
        said = decision.outcome is Outcome.SAME
        return Draft(content=old.content if said else draft.content, message=draft.message)
    lower = draft.visibility
    if lower is not None and lower.rank >= effective_visibility(old).rank:
        lower = None
    if decision.outcome is Outcome.SAME:
        return Draft(content=old.content, withheld_from=draft.withheld_from, visibility=lower)
    return replace(draft, category=None if old.key is not None else draft.category)


def quarantine(w: Transaction, turn: Turn, reason: str, ttls: Ttls) -> Kept:
    """The text itself, with where it came from, for somebody to look at: nothing recalls it."""
    w = replace(w, why=reason)
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
    memory = replace(compose(w, draft, None, ttls), state=State.QUARANTINED)
    memories.insert_memory(w, memory, told=False)
    return Kept(id=memory.id, outcome=Outcome.NEW, state=State.QUARANTINED, content=memory.content)


def _propose(
    w: Transaction, turn: Turn, decision: Decision, whom: Attributed, agreed: Consent, ttls: Ttls
) -> Kept:
    """Its words are a memory that nothing recalls until somebody says yes."""
    assert decision.statement is not None
    asked = _asked(w, whom)
    said = learned_facts.normalized_digest(decision.content)
    before = learned_facts.find_same_proposal(w, {asked}, said)
    if before is not None:
        learned_facts.add_proposal_signal(w, before.memory_id)
        return Kept(
            id=before.memory_id,
            outcome=Outcome.SAME,
            state=State.PENDING,
            content=decision.content,
        )
    composed = compose(w, _draft(w, turn, decision, whom), None, ttls)
    memory = replace(composed, state=State.PENDING)
    memories.insert_memory(w, memory, told=False)
    whose = _room(w) if memory.owner is None else _owner(w)
    learned_facts.save_fact(
        w, memory.id, whose, memory.content, fact_of(decision.statement), new=True
    )
    if turn.recorded is not None:
        relations.insert_source_turns(w, memory.id, [turn.recorded])
    replaced = decision.old.id if decision.old else None
    learned_facts.insert_proposal(w, memory.id, asked, agreed.reason, replaced, signals=1)
    return Kept(id=memory.id, outcome=decision.outcome, state=State.PENDING, content=memory.content)


def _asked(w: Transaction, whom: Attributed) -> str:
    """Whom it concerns, if they heard it anyway; otherwise whoever said it: to ask somebody about
    what was said behind their back would tell them of it."""
    heard = sorted(whom.about & w.request.present) if w.request.kind is ChatKind.GROUP else []
    return heard[0] if heard and not whom.withheld_from else _owner(w)


def _owner(w: Transaction) -> str:
    assert w.request.subject is not None
    return w.request.subject


def _room(w: Transaction) -> str:
    assert w.request.chat is not None
    return w.request.chat


def _draft(w: Transaction, turn: Turn, decision: Decision, whom: Attributed) -> Draft:
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
        visibility=Visibility.PRIVATE_ONLY if whom.unclear else _visibility(w, said),
        sensitivity=said.sensitivity,
        classified=True,
        portable=said.portable,
        importance=said.importance,
        observed_at=said.observed_at or turn.said_at,
        expires_at=said.expires_at,
        message=turn.message,
        agent=turn.agent,
        role=str(turn.role),
        for_room=w.request.kind is ChatKind.GROUP and is_rooms_own(said, whom),
    )


def _visibility(w: Transaction, said: Statement) -> Visibility | None:
    """As the speaker said. What is said in a group is the room's, and "between us" there is between
    those who are in it."""
    if w.request.kind is ChatKind.GROUP:
        return Visibility.ROOM
    if said.hold in (Hold.ROOM, Hold.PRIVATE):
        return Visibility.PRIVATE_ONLY
    if said.hold is Hold.SHARE and w.request.private:
        return Visibility.PUBLIC_OK
    return None


def approve(
    w: Transaction, waiting: learned_facts.PendingProposal, memory: Memory, old: Sequence[Memory]
) -> None:
    """Somebody said yes: it is a memory like others from here on."""
    w = replace(w, why=f"approved; {waiting.reason}")
    active = replace(memory, state=State.ACTIVE, updated_at=w.at)
    gives_way = {one.id: one for one in (*old, *asking.holders(w, memory))}
    for one in gives_way.values():
        remembering.give_way(w, one, memory.id)
    memories.update_fields(w, active, HistoryEvent.CONSENT, "created")
    remembering.settle(w, active)
    learned_facts.delete_proposal(w, memory.id)


def decline(w: Transaction, waiting: learned_facts.PendingProposal, memory: Memory) -> None:
    """Somebody said no: the words go, and are not asked about again for a while."""
    learned_facts.insert_refusal(w, waiting.concerns, asking.question(memory))
    learned_facts.delete_proposal(w, memory.id)
    hard_delete(w, [memory.id])


def withdraw(w: Transaction, waiting: learned_facts.PendingProposal) -> None:
    """It was kept by now: there is nothing left to ask."""
    learned_facts.delete_proposal(w, waiting.memory_id)
    hard_delete(w, [waiting.memory_id])
