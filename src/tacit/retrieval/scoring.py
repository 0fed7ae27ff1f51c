"""Score, rank and explain candidates against a parsed question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from tacit import limits
from tacit.clock import to_micros
from tacit.records.memory import Memory, Trust
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.records.results import Signals
from tacit.retrieval import partition_index as s
from tacit.retrieval.filters import Mask
from tacit.retrieval.partition_index import CandidateSet, Floats, Ints, StaticScores, StringCodes
from tacit.retrieval.query_parser import ParsedQuery
from tacit.retrieval.text_features import (
    MICROS_PER_DAY,
    PersonalTopic,
    date_terms,
    list_openings,
    list_topic_slots,
    score_date_proximity,
)
from tacit.retrieval.weights import WEIGHTS
from tacit.storage.memory_reads import MemoryDecision, MemoryEdge

# Which facts within reach tell of the requester what they ask about themselves.

BoolArray = NDArray[np.bool_]


def mask_about_requester(within: CandidateSet, request: Request, codes: StringCodes) -> BoolArray:
    """What the requester told of themselves."""
    facts = within.facts
    mine: BoolArray = np.isin(facts[s.OWNER], [codes.of(one) for one in request.own_identities])
    mine &= (facts[s.ABOUT_OWNER] > 0) & (facts[s.SESSION] < 0)
    mine &= facts[s.TRUST] != codes.of(Trust.HEARSAY)
    return mine


def score_own_facts(
    topics: Sequence[PersonalTopic],
    of_them: BoolArray,
    within: CandidateSet,
    request: Request,
    codes: StringCodes,
) -> Floats:
    """For each position 1 by its slot, less by its words alone, else 0. Slots are for the owner in
    private to see: where others are, they rank nothing."""
    slots = within.facts[s.SLOT]
    found = np.zeros(len(within), np.float32)
    names = within.names.labels_of(request.own_identities)
    for topic in topics:
        by_words = (
            of_them & _mask_topic_words(topic, within) & _mask_openings(topic, within, names, codes)
        )
        if request.private:
            others = list_topic_slots() - topic.slots
            by_words &= ~np.isin(slots, [codes.of(one) for one in others])
            found[of_them & np.isin(slots, [codes.of(one) for one in topic.slots])] = 1.0
        found[by_words] = np.maximum(found[by_words], np.float32(WEIGHTS.own_by_words))
    return found


def _mask_topic_words(topic: PersonalTopic, within: CandidateSet) -> BoolArray:
    """Whether it has a word of the topic."""
    told = np.zeros(len(within), np.bool_)
    for term in topic.content_stems | topic.name_stems:
        told[within.postings(term)[0]] = True
    return told


def _mask_openings(
    topic: PersonalTopic, within: CandidateSet, names: Sequence[str], codes: StringCodes
) -> BoolArray:
    return np.isin(within.facts[s.OPENING], [codes.of(one) for one in list_openings(topic, names)])


# How well everything within reach answers a question: one pass over arrays, the same everywhere.
#
# Evidence (words and meaning, each alone and with the conversation around it) times fit (who, when,
# how important). Every figure is taken over what the requester may hear and over nothing else, so
# that a score tells nothing of what is hidden.


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One value for each position; `parts` are named as in `Signals`."""

    total: Floats
    fits: NDArray[np.bool_]  # whether there is anything to it at all
    similarity: Floats  # from 0 to 1, whatever else is within reach
    parts: dict[str, Floats]
    term_counts: Floats  # how often each term is said: terms by positions
    terms: tuple[str, ...]


def score_candidates(
    asked: ParsedQuery,
    vector: Floats | None,
    within: CandidateSet,
    request: Request,
    codes: StringCodes,
) -> Scores:
    standing, sessions = within.static_scores, within.static_scores.sessions
    terms, said = _count_terms(asked, within)
    lengths = standing.lengths
    alone, rarity = _bm25(said, lengths, WEIGHTS.k1, WEIGHTS.b)
    around, _ = _bm25(
        _spread_to_neighbors(said, standing, WEIGHTS.word_reach),
        _spread_to_neighbors(lengths, standing, WEIGHTS.word_reach),
        WEIGHTS.k1_around,
        WEIGHTS.b,
    )
    answer = np.zeros_like(alone)
    if standing.has_turns:
        asks = within.facts[s.HAS_QUESTION] > 0
        answer[1:] = alone[:-1] * ((sessions[1:] == sessions[:-1]) & asks[:-1])
    evidence = WEIGHTS.words * alone + WEIGHTS.words_around * around + WEIGHTS.answer * answer
    parts = {"words": alone, "importance": standing.importance, "pinned": standing.pinned}
    parts |= {"trust": standing.trust}
    if standing.has_turns:
        parts["around"] = np.where(sessions >= 0, np.maximum(around, answer), np.float32(0))
    similarity = _term_coverage(said, rarity)
    fits = evidence > 0
    if vector is not None:
        cosines, _ = within.cosines(vector)
        cosines = np.maximum(cosines, 0)
        evidence += _score_vectors(cosines, standing)
        similarity = np.maximum(similarity, cosines)
        fits |= cosines >= WEIGHTS.min_cosine
        parts["meaning"] = cosines
    parts["recency"] = _recency(within, request)
    factor = 1 + standing.prior + WEIGHTS.recency * parts["recency"]
    if asked.speakers or asked.people:
        parts["person"] = _person_fit(asked, within, codes)
        factor += WEIGHTS.person * parts["person"]
    if asked.asks_when or asked.day is not None:
        parts["time"] = _time_fit(asked, within)
        factor += WEIGHTS.time * parts["time"]
    evidence /= WEIGHTS.max_evidence
    if asked.personal_topics:
        of_them = mask_about_requester(within, request, codes)
        parts["own"] = score_own_facts(asked.personal_topics, of_them, within, request, codes)
        evidence *= np.where(
            of_them | (sessions >= 0), np.float32(1), np.float32(WEIGHTS.of_others)
        )
        evidence += WEIGHTS.own * parts["own"]
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


def _count_terms(asked: ParsedQuery, within: CandidateSet) -> tuple[tuple[str, ...], Floats]:
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


def _spread_to_neighbors(values: Floats, standing: StaticScores, reach: Sequence[float]) -> Floats:
    """Each value with a share of its neighbours in the same conversation, along the last axis."""
    if not standing.has_turns:
        return values
    sessions, spread = standing.sessions, values.copy()
    for step, share in enumerate(reach, start=1):
        same = np.float32(share) * (sessions[step:] == sessions[:-step]).astype(np.float32)
        spread[..., step:] += values[..., :-step] * same
        spread[..., :-step] += values[..., step:] * same
    return spread


def _score_vectors(cosines: Floats, standing: StaticScores) -> Floats:
    full = np.sqrt(np.float32(1 + 2 * sum(WEIGHTS.vector_reach)))
    if not standing.has_turns:  # what stands alone is its own surroundings
        alone: Floats = (
            np.float32(WEIGHTS.vector + WEIGHTS.vector_around * full + WEIGHTS.session) * cosines
        )
        return alone
    sessions = standing.sessions
    share = _spread_to_neighbors(np.ones_like(cosines), standing, WEIGHTS.vector_reach)
    around = _spread_to_neighbors(cosines, standing, WEIGHTS.vector_reach) / np.sqrt(share)
    around = np.where(sessions < 0, cosines * full, around)
    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]])
    counts = np.diff(np.r_[starts, len(sessions)])
    best = np.repeat(np.maximum.reduceat(cosines, starts), counts)
    found = WEIGHTS.vector * cosines + WEIGHTS.vector_around * around + WEIGHTS.session * best
    return found.astype(np.float32)


def _term_coverage(said: Floats, rarity: Floats) -> Floats:
    """The share of the question's words that are said, the rare ones weighing more."""
    whole = float(rarity.sum())
    if whole <= 0:
        return np.zeros(said.shape[1], np.float32)
    return (rarity @ (said > 0) / np.float32(whole)).astype(np.float32)


def _recency(within: CandidateSet, request: Request) -> Floats:
    age = (to_micros(request.at) - within.facts[s.CONTENT_CHANGED]).astype(
        np.float32
    ) / MICROS_PER_DAY
    fading: Floats = np.exp(-np.maximum(age, 0) / np.float32(WEIGHTS.recency_days))
    return fading


def _time_fit(asked: ParsedQuery, within: CandidateSet) -> Floats:
    found = np.zeros(len(within), np.float32)
    if asked.asks_when:
        found += np.float32(WEIGHTS.when / WEIGHTS.time) * (within.facts[s.MENTIONS_TIME] > 0)
    if asked.day is not None:
        found += score_date_proximity(asked.day, within.facts[s.OBSERVED])
    return found


def _person_fit(asked: ParsedQuery, within: CandidateSet, codes: StringCodes) -> Floats:
    """Said by, or about, somebody whom the question names; the fewer it names, the more it says."""
    named = len(asked.speakers | set(asked.people))
    by: NDArray[np.bool_] = np.zeros(len(within), np.bool_)
    if asked.speakers:
        by |= np.isin(within.facts[s.NAME], [codes.of(name) for name in asked.speakers])
    meant = frozenset().union(*asked.people.values())
    if meant:
        by |= within.mask_about(meant)
    return by.astype(np.float32) / np.float32(max(named, 1))


# Why a memory came to mind, as a sentence: the signals that raised it, in plain words.

_WORDS_SHOWN_COUNT = 4
_CLOSE_MEANING = 0.5
_SOMEWHAT_CLOSE_MEANING = 0.3
_RECENT = 0.5
_IMPORTANT = 0.75


def explain_signals(signals: Signals, shared: Sequence[str], named: Sequence[str]) -> str:
    """`shared` are words of the question as they were asked, `named` the people it names."""
    parts = []
    if shared:
        parts.append(_describe_words(shared))
    if signals.meaning >= _CLOSE_MEANING:
        parts.append("it is close in meaning")
    elif signals.meaning >= _SOMEWHAT_CLOSE_MEANING:
        parts.append("it is somewhat close in meaning")
    if signals.own > 0:
        parts.append("it answers what you ask about yourself")
    if named:
        parts.append(f"it is about {_join_names(named)}")
    if signals.around > signals.words:
        parts.append("what was said right before or after it fits")
    if signals.time > 0:
        parts.append("it is from the time that was asked for")
    if signals.related > 0:
        parts.append("it is related to another memory that fits")
    if signals.pinned > 0:
        parts.append("it is pinned")
    if signals.importance >= _IMPORTANT:
        parts.append("it is important")
    if not parts and signals.meaning > 0:
        parts.append("it is a little close in meaning")
    if signals.recency >= _RECENT:
        parts.append("it is recent")
    text = "; ".join(parts) if parts else "it fits the question a little"
    return text[0].upper() + text[1:] + "."


def _describe_words(shared: Sequence[str]) -> str:
    some = [f"“{word}”" for word in shared[:_WORDS_SHOWN_COUNT]]
    return f"it shares the word{'s' if len(shared) > 1 else ''} {_join_names(some)}"


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# From scores to answers: the best, once more through the predicate, with their reasons.

_POOL_COUNT = 50  # among these, relations raise one another
_DIGITS = 6  # beyond, two machines may differ
_SIGNAL_NAMES = tuple(f.name for f in fields(Signals))


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    id: str
    position: int
    total: float
    related: float = 0.0
    related_ids: tuple[str, ...] = ()  # ids of what it is related to and that is not in the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    memory: Memory
    rule: str
    score: float
    similarity: float
    signals: Signals
    why: str
    related: tuple[Memory, ...] = field(default=())


def rank_candidates(
    scores: Scores, kept: Mask, owned: Mask, within: CandidateSet, question: RecallQuery
) -> list[RankedCandidate]:
    fits = kept & scores.fits & (scores.similarity >= question.threshold)
    positions = np.flatnonzero(fits)
    totals = np.round(scores.total[positions].astype(np.float64), _DIGITS)
    pool = max(_POOL_COUNT, question.top_k)
    if len(positions) > pool:
        least = np.partition(totals, len(totals) - pool)[len(totals) - pool]
        positions, totals = positions[totals >= least], totals[totals >= least]
    # Of equals the newest first, and then by their ids: by nothing that differs between processes.
    newest = within.facts[s.CONTENT_CHANGED, positions].tolist()
    places, worth = positions.tolist(), totals.tolist()
    ids = within.ids(places)
    order = sorted(range(len(ids)), key=lambda at: (-worth[at], -newest[at], ids[at]))[:pool]
    best = [RankedCandidate(ids[at], places[at], worth[at]) for at in order]
    return _apply_relations(best, kept, owned, within, question.top_k)


def _apply_relations(
    best: list[RankedCandidate], kept: Mask, owned: Mask, within: CandidateSet, top_k: int
) -> list[RankedCandidate]:
    """Relations raise what was found together, and bring 1–2 others along. Those that were found by
    likeness count among what is the requester's own: which ones were found depends on all that its
    owner has, and that is hidden from everybody else. What somebody stated counts everywhere."""
    where = {one.id: one.position for one in best}
    edges = within.edges(where)
    if edges:
        best = [_boost_related(one, edges.get(one.id, {}), where, owned) for one in best]
        best.sort(key=lambda one: -one.total)
    return _attach_related(best[:top_k], edges, kept, owned, within)


def _boost_related(
    one: RankedCandidate, near: Mapping[str, MemoryEdge], where: Mapping[str, int], owned: Mask
) -> RankedCandidate:
    strength = 0.0
    for other in near.keys() & where.keys():
        edge = near[other]
        if not edge.found or (owned[one.position] and owned[where[other]]):
            strength = max(strength, edge.strength)
    if not strength:
        return one
    total = round(one.total * (1 + WEIGHTS.related * strength), _DIGITS)
    return RankedCandidate(one.id, one.position, total, strength)


def _attach_related(
    answers: list[RankedCandidate],
    edges: Mapping[str, Mapping[str, MemoryEdge]],
    kept: Mask,
    owned: Mask,
    within: CandidateSet,
) -> list[RankedCandidate]:
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


def list_answer_ids(best: Sequence[RankedCandidate]) -> list[str]:
    """The ids that an answer is made of."""
    ids = [one.id for one in best]
    return ids + [other for one in best for other in one.related_ids]


def build_answers(
    found: Mapping[str, MemoryDecision],
    within: CandidateSet,
    scores: Scores,
    asked: ParsedQuery,
    best: Sequence[RankedCandidate],
) -> list[RecallAnswer]:
    """`found` is what came through the predicate; whatever did not is left out."""
    answers = []
    for one in best:
        if one.id not in found:
            continue
        memory, decision = found[one.id]
        signals = _make_signals(scores, one)
        answers.append(
            RecallAnswer(
                memory=memory,
                rule=decision.rule,
                score=round(one.total, 4),
                similarity=round(float(scores.similarity[one.position]), 4),
                signals=signals,
                why=_explain(scores, asked, signals, one.position, memory, within.facts),
                related=tuple(found[other][0] for other in one.related_ids if other in found),
            )
        )
    return answers


def _make_signals(scores: Scores, one: RankedCandidate) -> Signals:
    values = {
        name: round(float(scores.parts[name][one.position]), 4)
        for name in _SIGNAL_NAMES
        if name in scores.parts
    }
    return Signals(**values, related=round(one.related, 4))


def _explain(
    scores: Scores, asked: ParsedQuery, signals: Signals, position: int, memory: Memory, facts: Ints
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
    return explain_signals(signals, shared, named)
