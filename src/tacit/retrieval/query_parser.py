"""Parse a question into terms, people, dates and personal topics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tacit import limits
from tacit.records.text import fold_text, join_neighbors, split_words, stem_word, stem_words
from tacit.retrieval.partition_index import KEY_TERM_PREFIX
from tacit.retrieval.text_features import (
    PartialDate,
    PersonalTopic,
    asks_when,
    find_personal_topics,
    parse_date,
)

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
