"""How well everything within reach answers a question: one pass over arrays, the same everywhere.

Evidence (words and meaning, each alone and with the conversation around it) times fit (who, when,
how important). Every figure is taken over what the requester may hear and over nothing else, so
that a score tells nothing of what is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.clock import to_micros
from tacit.recall import shelf as s
from tacit.recall.dates import MICROS_A_DAY, near
from tacit.recall.own_facts import about_requester, own_facts
from tacit.recall.shelf import Codes, Floats
from tacit.recall.standing import Standing
from tacit.recall.understand import Asked
from tacit.recall.weights import WEIGHTS as W
from tacit.recall.within import Within
from tacit.records.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One value for each position; `parts` are named as in `Signals`."""

    total: Floats
    fits: NDArray[np.bool_]  # whether there is anything to it at all
    similarity: Floats  # from 0 to 1, whatever else is within reach
    parts: dict[str, Floats]
    term_counts: Floats  # how often each term is said: terms by positions
    terms: tuple[str, ...]


def score(
    asked: Asked, vector: Floats | None, within: Within, request: Request, codes: Codes
) -> Scores:
    standing, sessions = within.static_scores, within.static_scores.sessions
    terms, said = _said(asked, within)
    lengths = standing.lengths
    alone, rarity = _bm25(said, lengths, W.k1, W.b)
    around, _ = _bm25(
        _spread(said, standing, W.word_reach),
        _spread(lengths, standing, W.word_reach),
        W.k1_around,
        W.b,
    )
    answer = np.zeros_like(alone)
    if standing.has_turns:
        asks = within.facts[s.ASKS] > 0
        answer[1:] = alone[:-1] * ((sessions[1:] == sessions[:-1]) & asks[:-1])
    evidence = W.words * alone + W.words_around * around + W.answer * answer
    parts = {"words": alone, "importance": standing.importance, "pinned": standing.pinned}
    parts |= {"trust": standing.trust}
    if standing.has_turns:
        parts["around"] = np.where(sessions >= 0, np.maximum(around, answer), np.float32(0))
    similarity = _coverage(said, rarity)
    fits = evidence > 0
    if vector is not None:
        cosines, _ = within.cosines(vector)
        cosines = np.maximum(cosines, 0)
        evidence += _by_meaning(cosines, standing)
        similarity = np.maximum(similarity, cosines)
        fits |= cosines >= W.min_cosine
        parts["meaning"] = cosines
    parts["recency"] = _recency(within, request)
    factor = 1 + standing.prior + W.recency * parts["recency"]
    if asked.speakers or asked.people:
        parts["person"] = _person(asked, within, codes)
        factor += W.person * parts["person"]
    if asked.asks_when or asked.day is not None:
        parts["time"] = _time(asked, within)
        factor += W.time * parts["time"]
    evidence /= W.max_evidence
    if asked.personal_topics:
        of_them = about_requester(within, request, codes)
        parts["own"] = own_facts(asked.personal_topics, of_them, within, request, codes)
        evidence *= np.where(of_them | (sessions >= 0), np.float32(1), np.float32(W.of_others))
        evidence += W.own * parts["own"]
        fits |= parts["own"] > 0
        similarity = np.maximum(similarity, parts["own"])
    return Scores(
        total=(evidence * factor).astype(np.float32),
        fits=fits,
        similarity=np.minimum(similarity, 1),
        parts=parts,
        term_counts=said,
        terms=terms,
    )


def _said(asked: Asked, within: Within) -> tuple[tuple[str, ...], Floats]:
    """The terms that count, and how often each is said at each position. Two words that are one in
    a key count only where there is such a key."""
    pairs = {term: within.postings(term) for term in asked.joined_terms}
    keyed = tuple(term for term, (positions, _) in pairs.items() if len(positions))
    terms = asked.terms + keyed + asked.speaker_terms
    said = np.zeros((len(terms), len(within)), np.float32)
    for line, term in enumerate(terms):
        positions, counts = pairs.get(term) or within.postings(term)
        said[line, positions] = counts
    if asked.speaker_terms:
        # Among turns a name says who speaks; in a memory it is a word of the text.
        said[len(terms) - len(asked.speaker_terms) :, within.static_scores.sessions >= 0] = 0
    return terms, said


def _bm25(said: Floats, lengths: Floats, k1: float, b: float) -> tuple[Floats, Floats]:
    """BM25 divided by its largest value, and the weight of each term. A term that is said nowhere
    within reach raises nothing."""
    count = len(lengths)
    total = np.zeros(count, np.float32)
    found_in = np.count_nonzero(said, axis=1)
    rarity = np.log(1 + (count - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    if not count or not len(said):
        return total, rarity
    damping = (k1 * (1 - b + b * lengths / max(float(lengths.mean()), 1.0))).astype(np.float32)
    for times, weight, found in zip(said, rarity, found_in, strict=True):
        if found:
            total += weight * (times / (times + damping))
    largest = total.max()
    return (total / largest if largest > 0 else total), rarity


def _spread(values: Floats, standing: Standing, reach: Sequence[float]) -> Floats:
    """Each value with a share of its neighbours in the same conversation, along the last axis."""
    if not standing.has_turns:
        return values
    sessions, spread = standing.sessions, values.copy()
    for step, share in enumerate(reach, start=1):
        same = np.float32(share) * (sessions[step:] == sessions[:-step]).astype(np.float32)
        spread[..., step:] += values[..., :-step] * same
        spread[..., :-step] += values[..., step:] * same
    return spread


def _by_meaning(cosines: Floats, standing: Standing) -> Floats:
    full = np.sqrt(np.float32(1 + 2 * sum(W.vector_reach)))
    if not standing.has_turns:  # what stands alone is its own surroundings
        alone: Floats = np.float32(W.vector + W.vector_around * full + W.session) * cosines
        return alone
    sessions = standing.sessions
    share = _spread(np.ones_like(cosines), standing, W.vector_reach)
    around = _spread(cosines, standing, W.vector_reach) / np.sqrt(share)
    around = np.where(sessions < 0, cosines * full, around)
    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]])
    counts = np.diff(np.r_[starts, len(sessions)])
    best = np.repeat(np.maximum.reduceat(cosines, starts), counts)
    found = W.vector * cosines + W.vector_around * around + W.session * best
    return found.astype(np.float32)


def _coverage(said: Floats, rarity: Floats) -> Floats:
    """The share of the question's words that are said, the rare ones weighing more."""
    whole = float(rarity.sum())
    if whole <= 0:
        return np.zeros(said.shape[1], np.float32)
    return (rarity @ (said > 0) / np.float32(whole)).astype(np.float32)


def _recency(within: Within, request: Request) -> Floats:
    age = (to_micros(request.at) - within.facts[s.WORDED]).astype(np.float32) / MICROS_A_DAY
    fading: Floats = np.exp(-np.maximum(age, 0) / np.float32(W.recency_days))
    return fading


def _time(asked: Asked, within: Within) -> Floats:
    found = np.zeros(len(within), np.float32)
    if asked.asks_when:
        found += np.float32(W.when / W.time) * (within.facts[s.TELLS_TIME] > 0)
    if asked.day is not None:
        found += near(asked.day, within.facts[s.OBSERVED])
    return found


def _person(asked: Asked, within: Within, codes: Codes) -> Floats:
    """Said by, or about, somebody whom the question names; the fewer it names, the more it says."""
    named = len(asked.speakers | set(asked.people))
    by: NDArray[np.bool_] = np.zeros(len(within), np.bool_)
    if asked.speakers:
        by |= np.isin(within.facts[s.NAME], [codes.of(name) for name in asked.speakers])
    meant = frozenset().union(*asked.people.values())
    if meant:
        by |= within.mask_about(meant)
    return by.astype(np.float32) / np.float32(max(named, 1))
