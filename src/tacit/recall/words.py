"""Recall by words: memories that share words with the question, the most shared first."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit import limits
from tacit.model.memory import Memory
from tacit.model.request import Request
from tacit.model.results import Recalled
from tacit.model.terms import terms
from tacit.store import listing
from tacit.store.audiences import Audiences
from tacit.store.dialect import Dialect
from tacit.store.listing import Filter

_CANDIDATES_COUNT = 200


def words_of(query: str) -> tuple[str, ...]:
    """The distinct words of a question, in order. Nothing a person types is an operator."""
    return tuple(dict.fromkeys(terms(query)))[: limits.RECALL_WORDS_MAX_COUNT]


def recall(
    connection: Connection,
    audiences: Audiences,
    dialect: Dialect,
    request: Request,
    words: tuple[str, ...],
) -> list[Recalled]:
    if not words:
        return []
    wanted = Filter(words=words)
    found = listing.page(connection, audiences, dialect, request, wanted, _CANDIDATES_COUNT)
    recalled = [_judged(memory, decision.rule, words) for memory, decision in found]
    # The listing is newest first, and sorting keeps that order among equals.
    return sorted(recalled, key=lambda one: one.score, reverse=True)


def _judged(memory: Memory, rule: str, words: tuple[str, ...]) -> Recalled:
    said = set(terms(memory.content))
    shared = [word for word in words if word in said]
    score = len(shared) / len(words) + memory.importance / 100
    return Recalled(
        memory=memory,
        score=round(score, 4),
        why="it shares the words " + ", ".join(shared) if shared else "it matches the question",
        rule=rule,
    )
