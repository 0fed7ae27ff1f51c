"""What becomes of a statement beside what is known already. Likeness alone decides nothing: the
same words are the same memory, another value of the same slot takes its place, all else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from tacit.learn.amending.known import Known
from tacit.learn.amending.slots import replaces
from tacit.learn.amending.superseding import supersedes
from tacit.learn.attribute import Attributed
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading.tongue import Tongue
from tacit.learn.turn import Turn
from tacit.records.memory import ChatKind
from tacit.storage import learned_facts, memory_reads
from tacit.storage.learned_facts import ComparedMemory, StoredFact
from tacit.storage.memories import Transaction

_LOOKED_AT_COUNT = 40  # of somebody's newest
_ALIKE_MAX_COUNT = 50


# By a new wording: which memory it says again, or updates.
Judgement = Mapping[str, tuple[str, Literal["same", "updates"]]]


class Outcome(StrEnum):
    NEW = "new"
    SAME = "same"  # said again
    CHANGED = "changed"  # another wording or value of what was there
    ENDED = "ended"  # what was there no longer holds, and nothing takes its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with one thing that a message says. `old` is what it says again, or changes."""

    outcome: Outcome
    reason: str
    content: str
    statement: Statement | None  # None: it is the old memory with another value in it
    old: ComparedMemory | None = None
    also: tuple[ComparedMemory, ...] = ()  # further memories that it puts an end to


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What is compared with: the speaker's own memories, newest first."""

    kept: Sequence[ComparedMemory]
    known: Sequence[Known]  # in the same order
    audible: Sequence[bool]  # whether it may be heard where the turn was said


def look(w: Transaction, turn: Turn, statements: Sequence[Statement]) -> Shelf:
    """The newest, and whatever says the same or fills the same slots, of what may be used."""
    mine = w.request.own_identities
    said = {learned_facts.normalized_digest(one.content) for one in statements}
    slots = {one.slot for one in statements if one.slot}
    found = learned_facts.list_newest_facts(w.connection, w.space, mine, _LOOKED_AT_COUNT)
    older = len(found) == _LOOKED_AT_COUNT  # otherwise there is nothing beyond these
    rooms = w.request.chat_ids if w.request.kind is ChatKind.GROUP else frozenset()
    if rooms:
        found += learned_facts.list_chat_facts(w.connection, w.space, rooms, _LOOKED_AT_COUNT)
        found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
    if older and (said or slots):
        further = learned_facts.list_similar_facts(
            w.connection, w.space, mine, said, slots, _ALIKE_MAX_COUNT
        )
        there = {one.id for one in found}
        found += [one for one in further if one.id not in there]
    if turn.only is not None:
        found = [one for one in found if turn.may_use(one.category)]
    last = (
        learned_facts.last_turn_at(w.connection, w.space, w.request.subject, w.at.date())
        if found
        else None
    )
    return Shelf(
        kept=found,
        known=[_known(one)._replace(just_said=one.updated_at == last) for one in found],
        audible=_audible(w, found),
    )


def reconcile(
    turn: Turn,
    statements: Sequence[tuple[Statement, Attributed]],
    shelf: Shelf,
    speaker: str,
    tongue: Tongue,
) -> list[Decision]:
    """One decision for each statement; and one more where the message corrects something that is
    known without stating it in full ("Thursday, not Monday")."""
    decisions = [_decided(one, whom, shelf) for one, whom in statements]
    if any(one.outcome is not Outcome.NEW for one in decisions):
        return decisions
    # Only what may be heard here: the new wording repeats the rest of the old one.
    audible = [known for known, heard in zip(shelf.known, shelf.audible, strict=True) if heard]
    said = [one for one, _ in statements]
    asked = turn.question_before
    for one in supersedes(
        turn.text, said, speaker, audible, tongue, said_at=turn.said_at, asked=asked
    ):
        old = _kept_of(one.old, shelf)
        at = next((n for n, d in enumerate(decisions) if d.statement is one.new), None)
        if one.new is not None and at is not None:
            changed = replace(decisions[at], outcome=Outcome.CHANGED, reason=one.reason, old=old)
            decisions[at] = changed
        else:
            decisions.append(
                Decision(
                    outcome=Outcome.ENDED if one.content is None else Outcome.CHANGED,
                    reason=one.reason,
                    content=one.content or old.content,
                    statement=None,
                    old=old,
                )
            )
    return decisions


def _decided(statement: Statement, whom: Attributed, shelf: Shelf) -> Decision:
    new = Decision(
        outcome=Outcome.NEW,
        reason="nothing like it is known",
        content=statement.content,
        statement=statement,
    )
    same = learned_facts.normalized_digest(statement.content)
    for kept, audible in zip(shelf.kept, shelf.audible, strict=True):
        if kept.content_digest == same and audible:
            return replace(new, outcome=Outcome.SAME, reason="said again", old=kept)
    given_way = [
        kept
        for kept, known in zip(shelf.kept, shelf.known, strict=True)
        if replaces(_seen_as(known, kept, statement, whom), statement) and _may_replace(kept, whom)
    ]
    if not given_way:
        return new
    reason = "it ended" if statement.negated else "another value of the same"
    old, *also = given_way
    return replace(new, outcome=Outcome.CHANGED, reason=reason, old=old, also=tuple(also))


def _may_replace(kept: ComparedMemory, whom: Attributed) -> bool:
    """What is said of a person does not replace a room's own fact."""
    return kept.owner is not None or not whom.about


def by_judgement(w: Transaction, turn: Turn, decision: Decision, judgement: Judgement) -> Decision:
    """What a model found to say the same as something known, or to update it."""
    found = judgement.get(decision.content)
    if decision.outcome is not Outcome.NEW or found is None:
        return decision
    id, verdict = found
    old = learned_facts.get_fact(w.connection, w.space, w.request.own_identities, id)
    if old is None or not turn.may_use(old.category):
        return decision
    if verdict == "same":
        return replace(decision, outcome=Outcome.SAME, reason="the same in other words", old=old)
    return replace(decision, outcome=Outcome.CHANGED, reason="it holds in its place now", old=old)


def is_rooms_own(statement: Statement, whom: Attributed) -> bool:
    """A fact about nobody, said before everybody: "standup is at 9"."""
    return not whom.about and not whom.withheld_from and not statement.about_speaker


def _seen_as(known: Known, kept: ComparedMemory, statement: Statement, whom: Attributed) -> Known:
    """Who is the same person counts as called the same: "my wife" is Sarah."""
    return known._replace(about=statement.about) if kept.subjects == whom.about else known


def _audible(w: Transaction, found: Sequence[ComparedMemory]) -> list[bool]:
    """In private everything of one's own; where others listen, what comes through the predicate."""
    if w.request.private:
        return [True] * len(found)
    ids = [one.id for one in found]
    heard = memory_reads.list_visible(w.connection, w.audiences, w.request, ids)
    return [id in heard for id in ids]


@lru_cache(maxsize=4_096)
def _known(kept: ComparedMemory) -> Known:
    fact = kept.fact
    return Known(
        content=kept.content,
        slot=fact.slot,
        value=fact.value,
        about_speaker=fact.about_speaker,
        said_at=kept.updated_at,
        about=tuple(
            Mention(text=text, name=name, relation=relation, username=username)
            for text, name, relation, username in learned_facts.unpack_mentions(fact.about)
        ),
        negated=fact.negated,
    )


def fact_of(statement: Statement) -> StoredFact:
    about = [(one.text, one.name, one.relation, one.username) for one in statement.about]
    return StoredFact(
        slot=statement.slot,
        value=statement.value,
        negated=statement.negated,
        about_speaker=statement.about_speaker,
        about=learned_facts.pack_mentions(about),
    )


def _kept_of(known: Known, shelf: Shelf) -> ComparedMemory:
    return next(kept for kept, one in zip(shelf.kept, shelf.known, strict=True) if one is known)
