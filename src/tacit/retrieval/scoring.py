"""Parse a question, and filter, score, rank and explain the candidates."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Memory, Trust
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.records.results import Signals
from tacit.retrieval.index_cache import (
    ABOUT_OWNER,
    AGENT,
    CATEGORY,
    CONTENT_CHANGED,
    EXPIRES,
    HAS_QUESTION,
    IMPORTANCE,
    KEY_TERM_PREFIX,
    KIND,
    MENTIONS_TIME,
    NAME,
    OBSERVED,
    OPENING,
    OWNER,
    PINNED,
    ROLE,
    RUN,
    SESSION,
    SLOT,
    SPEAKER,
    TRUST,
    UPDATED,
    WEIGHTS,
    CandidateSet,
    Floats,
    Ints,
    StaticScores,
    StringCodes,
)
from tacit.retrieval.text_features import (
    MICROS_PER_DAY,
    PartialDate,
    PersonalTopic,
    asks_when,
    date_terms,
    find_personal_topics,
    list_openings,
    list_topic_slots,
    parse_date,
    score_date_proximity,
)
from tacit.storage import people
from tacit.storage.memory_reads import MemoryDecision, MemoryEdge
from tacit.text import fold_text, join_neighbors, split_words, stem_word, stem_words

# The question: terms, people, dates and topics.

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    terms: tuple[str, ...]  # without names of speakers
    speaker_terms: tuple[str, ...]  # terms that are names of speakers
    text: str  # the text to embed, without names of speakers
    people: Mapping[str, frozenset[str]] = field(default_factory=dict)  # name → identities
    speakers: frozenset[str] = frozenset()  # folded names of speakers of episodes
    asks_when: bool = False
    day: PartialDate | None = None
    word_of_term: Mapping[str, str] = field(default_factory=dict)  # term → word of the question
    joined_terms: tuple[str, ...] = ()  # key terms made of two neighboring words
    personal_topics: tuple[PersonalTopic, ...] = ()  # questions of the requester about themselves


def parse_query(text: str, people: Mapping[str, frozenset[str]], speakers: frozenset[str]) -> ParsedQuery:
    """Parse a question.

    The name of a speaker selects who, not what, so it is removed from terms and text: the episodes
    that contain it are mostly other people's. In a memory a name is a term like any other.
    """
    words = set(split_words(text))
    named = frozenset(name for name in speakers if set(split_words(name)) & words and _contains_name(text, name))
    dropped = {stem_word(part) for name in named for part in split_words(name)}
    terms = tuple(dict.fromkeys(stem_words(text)))[: limits.RECALL_TERMS_MAX_COUNT]
    pairs = _join_pairs(split_words(text)[: limits.RECALL_TERMS_MAX_COUNT])
    return ParsedQuery(
        terms=tuple(term for term in terms if term not in dropped),
        speaker_terms=tuple(term for term in terms if term in dropped),
        text=_remove_names(text, named),
        people=people,
        speakers=named,
        asks_when=asks_when(text),
        day=parse_date(text),
        word_of_term={
            term: word.lower()
            for word in reversed(_WORD.findall(text))  # the first of several words counts
            if (term := stem_word(fold_text(word))) in terms
        }
        | pairs,
        joined_terms=tuple(pairs),
        personal_topics=() if people or named else find_personal_topics(text),
    )


def _join_pairs(asked: list[str]) -> dict[str, str]:
    """Map each two neighbors, as a term of a key, to the words of the question."""
    both = [f"{one} {other}" for one, other in pairwise(asked)]
    return dict(zip((KEY_TERM_PREFIX + word for word in join_neighbors(asked)), both, strict=True))


def _contains_name(text: str, name: str) -> bool:
    return f" {' '.join(split_words(name))} " in f" {' '.join(split_words(text))} "


def _remove_names(text: str, names: frozenset[str]) -> str:
    plain = text
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"\b{re.escape(name)}(?:['\u2019]s)?(?!\w)"
        plain = re.sub(pattern, "", plain, flags=re.IGNORECASE)
    return " ".join(plain.split()) or text


# The filters of a question, as boolean masks over the candidates.

Mask = NDArray[np.bool_]


def build_filter_mask(
    connection: Connection, request: Request, question: RecallQuery, candidates: CandidateSet, codes: StringCodes
) -> Mask:
    facts = candidates.facts
    kept: Mask = facts[EXPIRES] > to_micros(request.at)
    owned = mask_owned(request, candidates, codes)
    for column, words in (
        (CATEGORY, question.only),
        (CATEGORY, question.categories),
        (KIND, question.kinds),
        (ROLE, None if question.role is None else {question.role}),
    ):
        if words is not None:
            kept &= _mask_values(candidates, column, words, codes)
    for column, word in ((AGENT, question.agent), (RUN, question.run)):
        if word is not None:
            kept &= owned & (facts[column] == codes.of(word))
    for column, who, name in ((OWNER, question.user, "user"), (SPEAKER, question.actor, "actor")):
        if who is not None:
            meant = people.resolve_person(connection, request, who, name) or frozenset()
            kept &= _mask_shown_people(request, candidates, column, meant, codes)
    if question.pinned is not None:
        kept &= (facts[PINNED] > 0) == question.pinned
    if question.importance_min is not None:
        kept &= facts[IMPORTANCE] >= question.importance_min
    if question.importance_max is not None:
        kept &= facts[IMPORTANCE] <= question.importance_max
    if question.updated_after is not None or question.updated_before is not None:
        updated, changed = facts[UPDATED], facts[CONTENT_CHANGED]
        moved = np.where(owned, updated, changed)
        if question.updated_after is not None:
            kept &= moved > to_micros(question.updated_after)
        if question.updated_before is not None:
            kept &= moved < to_micros(question.updated_before)
    # A query finds procedures only if it asks for their kind or category.
    filed = CATEGORY_OF_KIND[Kind.PROCEDURE]
    if Kind.PROCEDURE not in (question.kinds or ()) and filed not in (question.categories or ()):
        kept &= facts[KIND] != codes.of(Kind.PROCEDURE)
    return kept


def _mask_shown_people(
    request: Request, candidates: CandidateSet, column: int, meant: frozenset[str], codes: StringCodes
) -> Mask:
    """Match only by identities that the result would show."""
    mine = meant & request.own_identities if request.private else frozenset()
    found = [
        code
        for code in np.unique(candidates.facts[column]).tolist()
        if code >= 0 and ((who := codes.word(code)) in mine or request.visible_identity(who) in meant)
    ]
    return np.isin(candidates.facts[column], found)


def mask_categories(candidates: CandidateSet, categories: Collection[str], codes: StringCodes) -> Mask:
    return _mask_values(candidates, CATEGORY, categories, codes)


def mask_owned(request: Request, candidates: CandidateSet, codes: StringCodes) -> Mask:
    """Mask the memories that the requester sees with all fields."""
    if not request.private:
        return np.zeros(len(candidates), np.bool_)
    return _mask_values(candidates, OWNER, request.own_identities, codes)


def _mask_values(candidates: CandidateSet, column: int, words: Collection[str], codes: StringCodes) -> Mask:
    return np.isin(candidates.facts[column], [codes.of(str(word)) for word in words])


# Questions of the requester about themselves.

BoolArray = NDArray[np.bool_]


def mask_about_requester(candidates: CandidateSet, request: Request, codes: StringCodes) -> BoolArray:
    """Mask what the requester stated about themselves."""
    facts = candidates.facts
    mine: BoolArray = np.isin(facts[OWNER], [codes.of(one) for one in request.own_identities])
    mine &= (facts[ABOUT_OWNER] > 0) & (facts[SESSION] < 0)
    mine &= facts[TRUST] != codes.of(Trust.HEARSAY)
    return mine


def score_own_facts(
    topics: Sequence[PersonalTopic], of_them: BoolArray, candidates: CandidateSet, request: Request, codes: StringCodes
) -> Floats:
    """Score each position: 1 for a matching slot, less for matching words alone, else 0.

    Only the owner in private may see slots, so in other chats they are not used.
    """
    slots = candidates.facts[SLOT]
    found = np.zeros(len(candidates), np.float32)
    names = candidates.names.labels_of(request.own_identities)
    for topic in topics:
        by_words = np.zeros(len(candidates), np.bool_)
        for term in topic.content_stems | topic.name_stems:
            by_words[candidates.postings(term)[0]] = True
        openings = [codes.of(one) for one in list_openings(topic, names)]
        by_words &= of_them & np.isin(candidates.facts[OPENING], openings)
        if request.private:
            others = list_topic_slots() - topic.slots
            by_words &= ~np.isin(slots, [codes.of(one) for one in others])
            found[of_them & np.isin(slots, [codes.of(one) for one in topic.slots])] = 1.0
        found[by_words] = np.maximum(found[by_words], np.float32(WEIGHTS.own_by_words))
    return found


# Scores: evidence (words and vectors, each alone and with the surrounding turns) times fit (people,
# time, importance). All statistics cover only what the requester may see, so that a score reveals
# nothing about hidden memories.


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One value per position; `parts` are named as in `Signals`."""

    total: Floats
    fits: NDArray[np.bool_]  # whether it is a result at all
    similarity: Floats  # from 0 to 1, independent of other candidates
    parts: dict[str, Floats]
    term_counts: Floats  # terms by positions
    terms: tuple[str, ...]


def score_candidates(
    query: ParsedQuery, vector: Floats | None, candidates: CandidateSet, request: Request, codes: StringCodes
) -> Scores:
    static, sessions = candidates.static_scores, candidates.static_scores.sessions
    terms, term_counts = _count_terms(query, candidates)
    lengths = static.lengths
    alone, rarity = _bm25(term_counts, lengths, WEIGHTS.k1, WEIGHTS.b)
    around, _ = _bm25(
        _spread_to_neighbors(term_counts, static, WEIGHTS.word_reach),
        _spread_to_neighbors(lengths, static, WEIGHTS.word_reach),
        WEIGHTS.k1_around,
        WEIGHTS.b,
    )
    answer = np.zeros_like(alone)
    if static.has_turns:
        asks = candidates.facts[HAS_QUESTION] > 0
        answer[1:] = alone[:-1] * ((sessions[1:] == sessions[:-1]) & asks[:-1])
    evidence = WEIGHTS.words * alone + WEIGHTS.words_around * around + WEIGHTS.answer * answer
    parts = {"words": alone, "importance": static.importance, "pinned": static.pinned}
    parts |= {"trust": static.trust}
    if static.has_turns:
        parts["around"] = np.where(sessions >= 0, np.maximum(around, answer), np.float32(0))
    similarity = _term_coverage(term_counts, rarity)
    fits = evidence > 0
    if vector is not None:
        cosines, _ = candidates.cosines(vector)
        cosines = np.maximum(cosines, 0)
        evidence += _score_vectors(cosines, static)
        similarity = np.maximum(similarity, cosines)
        fits |= cosines >= WEIGHTS.min_cosine
        parts["meaning"] = cosines
    parts["recency"] = _recency(candidates, request)
    factor = 1 + static.prior + WEIGHTS.recency * parts["recency"]
    if query.speakers or query.people:
        parts["person"] = _person_fit(query, candidates, codes)
        factor += WEIGHTS.person * parts["person"]
    if query.asks_when or query.day is not None:
        parts["time"] = _time_fit(query, candidates)
        factor += WEIGHTS.time * parts["time"]
    evidence /= WEIGHTS.max_evidence
    if query.personal_topics:
        of_them = mask_about_requester(candidates, request, codes)
        parts["own"] = score_own_facts(query.personal_topics, of_them, candidates, request, codes)
        evidence *= np.where(of_them | (sessions >= 0), np.float32(1), np.float32(WEIGHTS.of_others))
        evidence += WEIGHTS.own * parts["own"]
        fits |= parts["own"] > 0
        similarity = np.maximum(similarity, parts["own"])
    return Scores(
        total=(evidence * factor).astype(np.float32),
        fits=fits,
        similarity=np.minimum(similarity, 1),
        parts=parts,
        term_counts=term_counts,
        terms=terms,
    )


def _count_terms(query: ParsedQuery, candidates: CandidateSet) -> tuple[tuple[str, ...], Floats]:
    """Return the terms, and the count of each at each position.

    A pair of words that may be one word of a key is a term only if there is such a key.
    """
    pairs = {term: candidates.postings(term) for term in query.joined_terms}
    keyed = tuple(term for term, (positions, _) in pairs.items() if len(positions))
    terms = query.terms + keyed + query.speaker_terms
    term_counts = np.zeros((len(terms), len(candidates)), np.float32)
    for line, term in enumerate(terms):
        positions, counts = pairs.get(term) or candidates.postings(term)
        term_counts[line, positions] = counts
    if query.speaker_terms:
        # In an episode a name selects the speaker; in a memory it is a term.
        term_counts[len(terms) - len(query.speaker_terms) :, candidates.static_scores.sessions >= 0] = 0
    return terms, term_counts


def _bm25(term_counts: Floats, lengths: Floats, k1: float, b: float) -> tuple[Floats, Floats]:
    """Return BM25 divided by its largest value, and the weight of each term."""
    count = len(lengths)
    total = np.zeros(count, np.float32)
    found_in = np.count_nonzero(term_counts, axis=1)
    rarity = np.log(1 + (count - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    if not count or not len(term_counts):
        return total, rarity
    damping = (k1 * (1 - b + b * lengths / max(float(lengths.mean()), 1.0))).astype(np.float32)
    for times, weight, found in zip(term_counts, rarity, found_in, strict=True):
        if found:
            total += weight * (times / (times + damping))
    largest = total.max()
    return (total / largest if largest > 0 else total), rarity


def _spread_to_neighbors(values: Floats, static: StaticScores, reach: Sequence[float]) -> Floats:
    """Add to each value a share of its neighbors in the same session, along the last axis."""
    if not static.has_turns:
        return values
    sessions, spread = static.sessions, values.copy()
    for step, share in enumerate(reach, start=1):
        same = np.float32(share) * (sessions[step:] == sessions[:-step]).astype(np.float32)
        spread[..., step:] += values[..., :-step] * same
        spread[..., :-step] += values[..., step:] * same
    return spread


def _score_vectors(cosines: Floats, static: StaticScores) -> Floats:
    full = np.sqrt(np.float32(1 + 2 * sum(WEIGHTS.vector_reach)))
    if not static.has_turns:  # a memory without neighbors counts as its own neighborhood
        alone: Floats = np.float32(WEIGHTS.vector + WEIGHTS.vector_around * full + WEIGHTS.session) * cosines
        return alone
    sessions = static.sessions
    share = _spread_to_neighbors(np.ones_like(cosines), static, WEIGHTS.vector_reach)
    around = _spread_to_neighbors(cosines, static, WEIGHTS.vector_reach) / np.sqrt(share)
    around = np.where(sessions < 0, cosines * full, around)
    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]])
    counts = np.diff(np.r_[starts, len(sessions)])
    best = np.repeat(np.maximum.reduceat(cosines, starts), counts)
    found = WEIGHTS.vector * cosines + WEIGHTS.vector_around * around + WEIGHTS.session * best
    return found.astype(np.float32)


def _term_coverage(term_counts: Floats, rarity: Floats) -> Floats:
    """Return the share of the question's terms that occur, weighted by rarity."""
    whole = float(rarity.sum())
    if whole <= 0:
        return np.zeros(term_counts.shape[1], np.float32)
    return (rarity @ (term_counts > 0) / np.float32(whole)).astype(np.float32)


def _recency(candidates: CandidateSet, request: Request) -> Floats:
    age = (to_micros(request.at) - candidates.facts[CONTENT_CHANGED]).astype(np.float32) / MICROS_PER_DAY
    fading: Floats = np.exp(-np.maximum(age, 0) / np.float32(WEIGHTS.recency_days))
    return fading


def _time_fit(query: ParsedQuery, candidates: CandidateSet) -> Floats:
    found = np.zeros(len(candidates), np.float32)
    if query.asks_when:
        found += np.float32(WEIGHTS.when / WEIGHTS.time) * (candidates.facts[MENTIONS_TIME] > 0)
    if query.day is not None:
        found += score_date_proximity(query.day, candidates.facts[OBSERVED])
    return found


def _person_fit(query: ParsedQuery, candidates: CandidateSet, codes: StringCodes) -> Floats:
    """Score memories by or about a person in the question; more if it names fewer people."""
    named = len(query.speakers | set(query.people))
    by: NDArray[np.bool_] = np.zeros(len(candidates), np.bool_)
    if query.speakers:
        by |= np.isin(candidates.facts[NAME], [codes.of(name) for name in query.speakers])
    meant = frozenset().union(*query.people.values())
    if meant:
        by |= candidates.mask_about(meant)
    return by.astype(np.float32) / np.float32(max(named, 1))


# Explanations: the signals of a result as a sentence.

_WORDS_SHOWN_COUNT = 4
_CLOSE_MEANING = 0.5
_SOMEWHAT_CLOSE_MEANING = 0.3
_RECENT = 0.5
_IMPORTANT = 0.75


def explain_signals(signals: Signals, shared: Sequence[str], named: Sequence[str]) -> str:
    """Return a sentence. `shared` are words of the question, `named` the people it names."""
    words = _join_names([f"“{word}”" for word in shared[:_WORDS_SHOWN_COUNT]])
    close = signals.meaning >= _CLOSE_MEANING
    reasons = {
        f"it shares the word{'s' if len(shared) > 1 else ''} {words}": bool(shared),
        "it is close in meaning": close,
        "it is somewhat close in meaning": not close and signals.meaning >= _SOMEWHAT_CLOSE_MEANING,
        "it answers what you ask about yourself": signals.own > 0,
        f"it is about {_join_names(named)}": bool(named),
        "what was said right before or after it fits": signals.around > signals.words,
        "it is from the time that was asked for": signals.time > 0,
        "it is related to another memory that fits": signals.related > 0,
        "it is pinned": signals.pinned > 0,
        "it is important": signals.importance >= _IMPORTANT,
    }
    parts = [reason for reason, holds in reasons.items() if holds]
    if not parts and signals.meaning > 0:
        parts.append("it is a little close in meaning")
    if signals.recency >= _RECENT:
        parts.append("it is recent")
    text = "; ".join(parts) if parts else "it fits the question a little"
    return text[0].upper() + text[1:] + "."


def _join_names(names: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


# From scores to ranked answers.

_POOL_COUNT = 50  # the best results, which relations may reorder
_DIGITS = 6  # further digits may differ between machines
_SIGNAL_NAMES = tuple(f.name for f in fields(Signals))


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    id: str
    position: int
    total: float
    related: float = 0.0
    related_ids: tuple[str, ...] = ()  # related memories that are not among the results


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
    scores: Scores, kept: Mask, owned: Mask, candidates: CandidateSet, question: RecallQuery
) -> list[RankedCandidate]:
    fits = kept & scores.fits & (scores.similarity >= question.threshold)
    positions = np.flatnonzero(fits)
    totals = np.round(scores.total[positions].astype(np.float64), _DIGITS)
    pool = max(_POOL_COUNT, question.top_k)
    if len(positions) > pool:
        least = np.partition(totals, len(totals) - pool)[len(totals) - pool]
        positions, totals = positions[totals >= least], totals[totals >= least]
    # Break ties by time and id, which are the same in every process.
    newest = candidates.facts[CONTENT_CHANGED, positions].tolist()
    places, worth = positions.tolist(), totals.tolist()
    ids = candidates.ids(places)
    order = sorted(range(len(ids)), key=lambda at: (-worth[at], -newest[at], ids[at]))[:pool]
    best = [RankedCandidate(ids[at], places[at], worth[at]) for at in order]
    return _apply_relations(best, kept, owned, candidates, question.top_k)


def _apply_relations(
    best: list[RankedCandidate], kept: Mask, owned: Mask, candidates: CandidateSet, top_k: int
) -> list[RankedCandidate]:
    """Boost results that are related to each other, and attach one or two related memories.

    Relations that were found by similarity count only between memories that the requester owns:
    they depend on all memories of the owner, which are hidden from others. Stated relations count
    everywhere.
    """
    where = {one.id: one.position for one in best}
    edges = candidates.edges(where)
    if edges:
        best = [_boost_related(one, edges.get(one.id, {}), where, owned) for one in best]
        best.sort(key=lambda one: -one.total)
    return _attach_related(best[:top_k], edges, kept, owned, candidates)


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
    candidates: CandidateSet,
) -> list[RankedCandidate]:
    taken = {one.id for one in answers}
    room = limits.RELATED_MAX_COUNT
    found = []
    for one in answers:
        beside: list[str] = []
        near = edges.get(one.id, {}) if room else {}
        for other, edge in sorted(near.items(), key=lambda pair: (-pair[1].strength, pair[0])):
            position = candidates.position_of(other) if room and other not in taken else None
            if position is None or not kept[position]:
                continue
            if not edge.found or (owned[one.position] and owned[position]):
                taken.add(other)
                beside.append(other)
                room -= 1
        found.append(replace(one, related_ids=tuple(beside)) if beside else one)
    return found


def list_answer_ids(best: Sequence[RankedCandidate]) -> list[str]:
    """Return the ids of the results and of their related memories."""
    ids = [one.id for one in best]
    return ids + [other for one in best for other in one.related_ids]


def build_answers(
    found: Mapping[str, MemoryDecision],
    candidates: CandidateSet,
    scores: Scores,
    query: ParsedQuery,
    best: Sequence[RankedCandidate],
) -> list[RecallAnswer]:
    """Build the answers from `found`, the memories that came through the predicate."""
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
                why=_explain(scores, query, signals, one.position, memory, candidates.facts),
                related=tuple(found[other][0] for other in one.related_ids if other in found),
            )
        )
    return answers


def _make_signals(scores: Scores, one: RankedCandidate) -> Signals:
    values = {name: round(float(scores.parts[name][one.position]), 4) for name in _SIGNAL_NAMES if name in scores.parts}
    return Signals(**values, related=round(one.related, 4))


def _explain(scores: Scores, query: ParsedQuery, signals: Signals, position: int, memory: Memory, facts: Ints) -> str:
    term_counts = scores.term_counts[:, position].tolist()
    shared = []
    if any(term_counts):
        dated = date_terms(memory.observed_at or memory.created_at)
        shared = [
            query.word_of_term.get(term, term)
            for term, times in zip(scores.terms, term_counts, strict=True)
            if times > dated.count(term)  # not only in its date
        ]
    named = []
    if signals.person > 0:
        about = memory.subjects | {memory.speaker}
        named = [name for name, who in query.people.items() if about & who]
        if not named and facts[NAME, position] >= 0 and memory.name:
            named = [memory.name]
    return explain_signals(signals, shared, named)
