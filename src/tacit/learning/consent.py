"""Decide whether a fact is kept, proposed or dropped; propose profile fields."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tacit.errors import Conflict, InvalidInput
from tacit.learning.composition import Ttls, compose_memory
from tacit.learning.extraction.locale import list_locales, load_profile_forms
from tacit.learning.facts import StatedFact
from tacit.learning.reconciliation import ReconcileDecision, ReconcileOutcome
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Memory, Sensitivity, State, Visibility
from tacit.records.results import Remembered
from tacit.records.text import split_key
from tacit.storage import learned_facts, memories
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import PendingProposal
from tacit.storage.memories import NO_VECTORS, Transaction

# Decide whether a fact is kept at once, proposed first, or dropped: the person decides last.

SIGNALS_NEEDED_COUNT = 2
# Only the person may state their name and home, even if other people know them.
PROFILE_SLOTS = frozenset({"name", "pronouns", "home_city", "home", "language"})


class Confirm(StrEnum):
    """Which facts are proposed before they are kept, besides those that always are."""

    NEVER = "never"
    NEW = "new"
    ALWAYS = "always"


class ConsentVerdict(StrEnum):
    KEEP = "keep"
    ASK = "ask"
    WAIT = "wait"  # until it is stated a second time
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentDecision:
    verdict: ConsentVerdict
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentContext:
    """The inputs of a consent decision besides the statement itself."""

    confirm: Confirm
    own_word: bool  # said in the first person, by the subject
    declined: bool  # the person declined it before
    signals: int = 0  # how often it was said before without being kept
    inferred: bool = False  # a model inferred it
    of_family: bool = False  # said in private about the speaker's child, partner or parent


def decide_consent(
    decision: ReconcileDecision, statement: StatedFact | None, c: ConsentContext
) -> ConsentDecision:
    if statement is None or decision.outcome in (ReconcileOutcome.SAME, ReconcileOutcome.ENDED):
        return ConsentDecision(verdict=ConsentVerdict.KEEP, reason="what is known is kept current")
    if statement.explicit and c.own_word:
        return ConsentDecision(verdict=ConsentVerdict.KEEP, reason="the person asked for it")
    if c.declined:
        return ConsentDecision(
            verdict=ConsentVerdict.DROP, reason="the person said no to it before"
        )
    family = c.of_family and not c.inferred
    if not (c.own_word or family) and _delicate(statement):
        return ConsentDecision(
            verdict=ConsentVerdict.ASK, reason="it is personal, and not the person's own word"
        )
    if c.inferred and c.signals + 1 < SIGNALS_NEEDED_COUNT:
        return ConsentDecision(
            verdict=ConsentVerdict.WAIT, reason="it was read between the lines, and only once"
        )
    if statement.explicit:
        return ConsentDecision(verdict=ConsentVerdict.KEEP, reason="the person asked for it")
    if c.confirm is Confirm.ALWAYS:
        return ConsentDecision(verdict=ConsentVerdict.ASK, reason="everything is asked about here")
    if c.confirm is Confirm.NEW and decision.outcome is ReconcileOutcome.NEW:
        return ConsentDecision(verdict=ConsentVerdict.ASK, reason="new things are asked about here")
    if decision.outcome is ReconcileOutcome.CHANGED:
        return ConsentDecision(verdict=ConsentVerdict.KEEP, reason="what is known is kept current")
    return ConsentDecision(verdict=ConsentVerdict.KEEP, reason="the person said it")


def _delicate(statement: StatedFact) -> bool:
    profile = (statement.slot or "").partition(":")[0] in PROFILE_SLOTS
    return profile or statement.sensitivity is Sensitivity.SENSITIVE


# Profile fields that a model writes wait for the person's consent.
#
# A person's name, pronouns, home and language are theirs to state. A tool that writes one, about
# the requester or another person, makes a proposal.

_REASON = "a model would keep it, and it is yours to say"
_PROFILE = CATEGORY_OF_KIND[Kind.IDENTITY]
# The name or language of a project is not personal.
_OF_THINGS = frozenset({"project", "task_state", "goal", "event", "procedure"})


def needs_profile_consent(draft: Draft, old: Memory | None = None) -> bool:
    """Return whether a model writes a profile field: by its key or slot, or by its words."""
    if not draft.by_model:
        return False
    slot = draft.slot or (old.slot if old else None) or ""
    if slot.partition(":")[0] in PROFILE_SLOTS:
        return True
    category = draft.category or (old.category if old else None)
    category = category or CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE]
    if category in _OF_THINGS:
        return False
    key, content = draft.key or (old.key if old else None), draft.content or ""
    names = [word.casefold() for word in split_key(key or "").split()]
    for code in list_locales():
        one = load_profile_forms(code)
        if names and names[-1] in one.keys and one.things.isdisjoint(names):
            return True
        if one.called.search(content) or (category == _PROFILE and one.lived.search(content)):
            return True
    return False


def refuse_profile_sentence(content: str, field: str) -> None:
    """Refuse a sentence that states a person's name or pronouns."""
    refuse_profile(Draft(content=content, by_model=True), field)


def refuse_profile(draft: Draft, field: str, old: Memory | None = None) -> None:
    """Refuse a profile field if the model's tool cannot ask the person about it."""
    if needs_profile_consent(draft, old):
        raise InvalidInput(
            field,
            "says a name, pronouns, a home or a language, which the person is asked about first; "
            "keep that with memory_put or add_memory, and leave it out here",
        )


def propose_profile_field(
    tx: Transaction, draft: Draft, old: Memory | None, ttls: Ttls
) -> Remembered:
    """Insert the draft as a proposal to the requester.

    `old` is the memory that an approval replaces; for a key, it is the value that the requester
    holds. Outside a private chat the answer does not depend on stored memories.
    """
    if old is not None and old.owner is None:
        raise InvalidInput("update", "is the room's own: a member says so in the room itself")
    if draft.visibility is Visibility.PUBLIC_OK or draft.for_room:
        raise InvalidInput("visibility", "is asked about once the value is kept; leave it out")
    if draft.category is None and draft.key is not None:
        draft = replace(draft, category=CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE])
    if old is None and draft.key is not None:
        old = _holder(tx, draft)
    taken_over = None if old is None else replace(old, visibility=Visibility.PRIVATE_ONLY)
    memory = replace(compose_memory(tx, draft, taken_over, ttls), state=State.PENDING)
    if old is not None and _says_the_same(old, memory) and tx.request.private:
        return Remembered(id=old.id, state=old.state, version=old.version, created=False)
    before = _asked_before(tx, memory)
    if before is None and _is_declined(tx, memory):
        if tx.request.private:
            raise Conflict("the person said no to this before: it is not kept, nor asked about")
    elif before is None:
        # No search returns a proposal, so it has no neighbors: its vector is created later.
        memories.insert_memory(replace(tx, vectors=NO_VECTORS, added=[]), memory, in_delta=False)
        assert memory.owner is not None
        replaced = old.id if old is not None and old.owner == memory.owner else None
        learned_facts.insert_proposal(tx, memory.id, memory.owner, _REASON, replaced, signals=1)
    elif tx.request.private:
        learned_facts.add_proposal_signal(tx, before.memory_id)
        return _waits(before.memory_id)
    return _waits(memory.id)


def decline_key(memory: Memory) -> str:
    """Return the digest under which a declined proposal is stored."""
    if memory.key is None:
        return learned_facts.normalized_digest(memory.content)
    return learned_facts.normalized_digest(f"keep {memory.category} {memory.key} {memory.content}")


def lock_current_values(tx: Transaction, memory: Memory) -> list[Memory]:
    """Lock and return the values that a keyed memory replaces."""
    if memory.key is None:
        return []
    rows = memories.list_key_holders(tx, memory.category, memory.key, for_room=False)
    found = [memories.get_for_update(tx, row.id) for row in rows if row.owner == memory.owner]
    return [one for one in found if one is not None]


def _waits(id: str) -> Remembered:
    return Remembered(id=id, state=State.PENDING, version=1, created=True)


def _holder(tx: Transaction, draft: Draft) -> Memory | None:
    """Return the current value: the writer's own, or that of a linked identity."""
    assert draft.category is not None
    assert draft.key is not None
    rows = memories.list_key_holders(tx, draft.category, draft.key, for_room=False)
    rows.sort(key=lambda row: (row.owner != tx.request.subject, row.overridden))
    return memories.get_for_update(tx, rows[0].id) if rows else None


def _asked_before(tx: Transaction, memory: Memory) -> PendingProposal | None:
    """Return the same proposal if it waits already. Another value of the key replaces it."""
    for waiting in learned_facts.list_proposals(
        tx.connection, tx.space, tx.request.own_identities, tx.at
    ):
        other = memories.get_for_update(tx, waiting.memory_id)
        if other is None or other.category != memory.category or other.key != memory.key:
            continue
        if other.visibility is not Visibility.PRIVATE_ONLY:
            continue  # a proposal to share a value is a separate one
        if _says_the_same(other, memory) and other.subjects == memory.subjects:
            return waiting
        if memory.key is not None:
            learned_facts.delete_proposal(tx, waiting.memory_id)
            hard_delete(tx, [waiting.memory_id])
    return None


def _is_declined(tx: Transaction, memory: Memory) -> bool:
    return learned_facts.is_declined(tx, tx.request.own_identities, decline_key(memory))


def _says_the_same(one: Memory, other: Memory) -> bool:
    return one.content == other.content and validation.is_same_json(one.data, other.data)
