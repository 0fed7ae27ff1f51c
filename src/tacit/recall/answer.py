"""From scores to answers: the best, once more through the predicate, with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from tacit import limits
from tacit.recall import shelf as s
from tacit.recall.dates import date_terms
from tacit.recall.narrow import Mask
from tacit.recall.score import Scores
from tacit.recall.shelf import Whole
from tacit.recall.understand import Asked
from tacit.recall.weights import WEIGHTS
from tacit.recall.why import sentence
from tacit.recall.within import Within
from tacit.records.memory import Memory
from tacit.records.queries import RecallQuery
from tacit.records.results import Signals
from tacit.storage.memory_reads import MemoryDecision, MemoryEdge

_POOL_COUNT = 50  # among these, relations raise one another
_DIGITS = 6  # beyond, two machines may differ
_SIGNALS = tuple(f.name for f in fields(Signals))


@dataclass(frozen=True, slots=True)
class Ranked:
    id: str
    position: int
    total: float
    related: float = 0.0
    related_ids: tuple[str, ...] = ()  # ids of what it is related to and that is not in the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    memory: Memory
    rule: str
    score: float
    similarity: float
    signals: Signals
    why: str
    related: tuple[Memory, ...] = field(default=())


def ranked(
    scores: Scores, kept: Mask, owned: Mask, within: Within, question: RecallQuery
) -> list[Ranked]:
    fits = kept & scores.fits & (scores.similarity >= question.threshold)
    positions = np.flatnonzero(fits)
    totals = np.round(scores.total[positions].astype(np.float64), _DIGITS)
    pool = max(_POOL_COUNT, question.top_k)
    if len(positions) > pool:
        least = np.partition(totals, len(totals) - pool)[len(totals) - pool]
        positions, totals = positions[totals >= least], totals[totals >= least]
    # Of equals the newest first, and then by their ids: by nothing that differs between processes.
    newest = within.facts[s.WORDED, positions].tolist()
    places, worth = positions.tolist(), totals.tolist()
    ids = within.ids(places)
    order = sorted(range(len(ids)), key=lambda at: (-worth[at], -newest[at], ids[at]))[:pool]
    best = [Ranked(ids[at], places[at], worth[at]) for at in order]
    return _related(best, kept, owned, within, question.top_k)


def _related(
    best: list[Ranked], kept: Mask, owned: Mask, within: Within, top_k: int
) -> list[Ranked]:
    """Relations raise what was found together, and bring 1–2 others along. Those that were found by
    likeness count among what is the requester's own: which ones were found depends on all that its
    owner has, and that is hidden from everybody else. What somebody stated counts everywhere."""
    where = {one.id: one.position for one in best}
    edges = within.edges(where)
    if edges:
        best = [_raised(one, edges.get(one.id, {}), where, owned) for one in best]
        best.sort(key=lambda one: -one.total)
    return _with_others(best[:top_k], edges, kept, owned, within)


def _raised(
    one: Ranked, near: Mapping[str, MemoryEdge], where: Mapping[str, int], owned: Mask
) -> Ranked:
    strength = 0.0
    for other in near.keys() & where.keys():
        edge = near[other]
        if not edge.found or (owned[one.position] and owned[where[other]]):
            strength = max(strength, edge.strength)
    if not strength:
        return one
    total = round(one.total * (1 + WEIGHTS.related * strength), _DIGITS)
    return Ranked(one.id, one.position, total, strength)


def _with_others(
    answers: list[Ranked],
    edges: Mapping[str, Mapping[str, MemoryEdge]],
    kept: Mask,
    owned: Mask,
    within: Within,
) -> list[Ranked]:
    taken = {one.id for one in answers}
    room = limits.RELATED_MAX_COUNT
    found = []
    for one in answers:
        beside: list[str] = []
        near = edges.get(one.id, {}) if room else {}
        for other, edge in sorted(near.items(), key=lambda pair: (-pair[1].strength, pair[0])):
            position = within.position_of(other) if room and other not in taken else None
            if position is None or not kept[position]:
                continue
            if not edge.found or (owned[one.position] and owned[position]):
                taken.add(other)
                beside.append(other)
                room -= 1
        found.append(replace(one, related_ids=tuple(beside)) if beside else one)
    return found


def wanted(best: Sequence[Ranked]) -> list[str]:
    """The ids that an answer is made of."""
    ids = [one.id for one in best]
    return ids + [other for one in best for other in one.related_ids]


def told(
    found: Mapping[str, MemoryDecision],
    within: Within,
    scores: Scores,
    asked: Asked,
    best: Sequence[Ranked],
) -> list[Answer]:
    """`found` is what came through the predicate; whatever did not is left out."""
    answers = []
    for one in best:
        if one.id not in found:
            continue
        memory, decision = found[one.id]
        signals = _signals(scores, one)
        answers.append(
            Answer(
                memory=memory,
                rule=decision.rule,
                score=round(one.total, 4),
                similarity=round(float(scores.similarity[one.position]), 4),
                signals=signals,
                why=_why(scores, asked, signals, one.position, memory, within.facts),
                related=tuple(found[other][0] for other in one.related_ids if other in found),
            )
        )
    return answers


def _signals(scores: Scores, one: Ranked) -> Signals:
    values = {
        name: round(float(scores.parts[name][one.position]), 4)
        for name in _SIGNALS
        if name in scores.parts
    }
    return Signals(**values, related=round(one.related, 4))


def _why(
    scores: Scores, asked: Asked, signals: Signals, position: int, memory: Memory, facts: Whole
) -> str:
    said = scores.term_counts[:, position].tolist()
    shared = []
    if any(said):
        dated = date_terms(memory.observed_at or memory.created_at)
        shared = [
            asked.word_of_term.get(term, term)
            for term, times in zip(scores.terms, said, strict=True)
            if times > dated.count(term)  # and not only in the date it was said on
        ]
    named = []
    if signals.person > 0:
        about = memory.subjects | {memory.speaker}
        named = [name for name, who in asked.people.items() if about & who]
        if not named and facts[s.NAME, position] >= 0 and memory.name:
            named = [memory.name]
    return sentence(signals, shared, named)
