"""Build and check memories that the system infers from private statements of a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import LanguageFailed, LanguageOverBudget
from tacit.learning.extraction.locale import Locale
from tacit.learning.verification import check_well_formed
from tacit.lifecycle.tasks import StepProgress
from tacit.llm.budget import Allowance, Budget
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, Source, State, Trust, Visibility
from tacit.records.validation import fold_name
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction
from tacit.storage import memories, relations
from tacit.storage.learned_facts import DatabaseLedger
from tacit.storage.memories import Transaction
from tacit.storage.store import Store
from tacit.text import split_terms

T = TypeVar("T")
# An inference is about a person, never about the model that writes it.
_ASSISTANT_TERMS = frozenset({"ai", "assistant", "chatbot", "bot", "llm", "ki", "assistent", "assistentin"})


def find_refusal_reason(content: str, material: str, speaker: str, locale: Locale) -> str | None:
    """Return why a sentence of the model is not kept, or None if it is."""
    found = check_well_formed(content, material, speaker, locale)
    if found is not None:
        return found
    if find_instruction(content) or secrets.find_secret(content):
        return "it is an instruction or a secret"
    if _ASSISTANT_TERMS & set(split_terms(content)):
        return "it is about the assistant"
    return None


def estimate_sensitivity(content: str, locale: Locale) -> Sensitivity:
    """Estimate the sensitivity of its words by the lexicon: personal at least."""
    floors = [one.sensitivity for one in locale.lexicon if one.match.search(content)]
    return max([Sensitivity.PERSONAL, *floors], key=lambda one: one.rank)


def mentions_others(connection: Connection, space: str, owner: str, content: str) -> bool:
    """Report whether it contains another person's name that the owner knows."""
    single = [fold_name(word) for word in split_terms(content)]
    words = {*single, *map(" ".join, pairwise(single))}
    return relations.is_name_of_other(connection, space, owner, sorted(words))


def build_inferred_memory(
    tx: Transaction,
    content: str,
    *,
    owner: str,
    chat: str,
    channel: str | None,
    thread: str | None,
    kind: Kind,
    category: str,
    sensitivity: Sensitivity,
    importance: int,
    expires_at: datetime | None,
    tags: Sequence[str] = (),
    observed_at: datetime | None = None,
    run: str | None = None,
) -> Memory:
    """Build an inferred memory, which the rules show to its owner in private only."""
    return Memory(
        id=memories.draw_memory_id(tx),
        space=tx.space,
        owner=owner,
        speaker=None,
        subjects=frozenset(),
        learned_in=chat,
        learned_kind=ChatKind.PRIVATE,
        heard_by=frozenset(),
        confidential=False,
        kind=kind,
        category=category,
        key=None,
        slot=None,
        content=content,
        version=1,
        visibility=Visibility.PRIVATE_ONLY,
        sensitivity=sensitivity,
        portable=False,
        withheld_from=frozenset(),
        withheld_unknown=False,
        inferred=True,
        trust=Trust.INFERRED,
        importance=importance,
        confidence=None,
        pinned=False,
        tags=tuple(tags),
        source=Source(channel=channel, chat=chat, message=None),
        thread=thread,
        agent=None,
        run=run,
        role=None,
        created_at=tx.at,
        updated_at=tx.at,
        observed_at=observed_at or tx.at,
        expires_at=expires_at,
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        overridden=False,
    )


def make_budget(store: Store, space: str, allowance: Allowance) -> Budget:
    return Budget(space=space, day=store.clock().date(), allowance=allowance, ledger=DatabaseLedger(store.database))


def find_next_owner(
    store: Store, space: str, after: str, read: Callable[[Connection, str], T | None]
) -> tuple[T | None, str | None]:
    """Find the next owner for whom `read` returns something, and the last one passed over.

    The second is None where no owner is left.
    """
    for _ in range(limits.OWNERS_BATCH_COUNT):
        with store.database.read() as connection:
            owner = relations.next_owner(connection, space, after)
            if owner is None:
                return None, None
            found = read(connection, owner)
        if found is not None:
            return found, after
        after = owner
    return None, after


def count_unanswered(before: StepProgress, owner: str, failed: LanguageFailed) -> StepProgress:
    """Leave an owner for another day because the model did not answer."""
    over = int(isinstance(failed, LanguageOverBudget))
    return before.advance(owner, left=1, unanswered=1, over_budget=over)


def should_ask_model(before: StepProgress) -> bool:
    """Report whether to ask the model again: not if it is down or the budget is spent."""
    failures, answers = (before.counts.get(one, 0) for one in ("unanswered", "answered"))
    down = failures >= limits.LANGUAGE_FAILURES_MAX_COUNT and failures > answers
    return not down and not before.counts.get("over_budget", 0)
