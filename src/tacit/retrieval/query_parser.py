"""Parse a question into terms, people, dates and topics, and apply its filters."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.records.memory import CATEGORY_OF_KIND, Kind
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.records.text import fold_text, join_neighbors, split_words, stem_word, stem_words
from tacit.retrieval.index_cache import (
    AGENT,
    CATEGORY,
    CONTENT_CHANGED,
    EXPIRES,
    IMPORTANCE,
    KEY_TERM_PREFIX,
    KIND,
    OWNER,
    PINNED,
    ROLE,
    RUN,
    SPEAKER,
    UPDATED,
    CandidateSet,
    StringCodes,
)
from tacit.retrieval.text_features import (
    PartialDate,
    PersonalTopic,
    asks_when,
    find_personal_topics,
    parse_date,
)
from tacit.storage import people

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


def parse_query(
    text: str, people: Mapping[str, frozenset[str]], speakers: frozenset[str]
) -> ParsedQuery:
    """Parse a question.

    The name of a speaker selects who, not what, so it is removed from terms and text: the episodes
    that contain it are mostly other people's. In a memory a name is a term like any other.
    """
    words = set(split_words(text))
    named = frozenset(
        name for name in speakers if set(split_words(name)) & words and _contains_name(text, name)
    )
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
    connection: Connection,
    request: Request,
    question: RecallQuery,
    candidates: CandidateSet,
    codes: StringCodes,
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
    for column, word in (
        (AGENT, question.agent),
        (RUN, question.run),
    ):
        if word is not None:
            kept &= owned & (facts[column] == codes.of(word))
    for column, who, name in (
        (OWNER, question.user, "user"),
        (SPEAKER, question.actor, "actor"),
    ):
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
    request: Request,
    candidates: CandidateSet,
    column: int,
    meant: frozenset[str],
    codes: StringCodes,
) -> Mask:
    """Match only by identities that the result would show."""
    mine = meant & request.own_identities if request.private else frozenset()
    found = [
        code
        for code in np.unique(candidates.facts[column]).tolist()
        if code >= 0
        and ((who := codes.word(code)) in mine or request.visible_identity(who) in meant)
    ]
    return np.isin(candidates.facts[column], found)


def mask_categories(
    candidates: CandidateSet, categories: Collection[str], codes: StringCodes
) -> Mask:
    return _mask_values(candidates, CATEGORY, categories, codes)


def mask_owned(request: Request, candidates: CandidateSet, codes: StringCodes) -> Mask:
    """Mask the memories that the requester sees with all fields."""
    if not request.private:
        return np.zeros(len(candidates), np.bool_)
    return _mask_values(candidates, OWNER, request.own_identities, codes)


def _mask_values(
    candidates: CandidateSet, column: int, words: Collection[str], codes: StringCodes
) -> Mask:
    return np.isin(candidates.facts[column], [codes.of(str(word)) for word in words])
