"""Which two of somebody's memories are alike enough to ask a model about them, nearest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tacit import limits
from tacit.learning.reconciliation import LIKENESS_MIN, is_worth_asking
from tacit.lifecycle.pairs import May, Note, Two, groups, hundredths, two
from tacit.records.text import stem_words
from tacit.storage.relations import STATED_BY_PERSON, PairCheck, PairKey

_COMMON_MAX_COUNT = 50  # memories with a word in them, for the word to lead from one to another


def nearest(
    notes: Sequence[Note],
    vectors: Mapping[str, bytes] | None,
    checked: Mapping[PairKey, PairCheck],
    may: May,
) -> Iterator[Two]:
    """Pairs to ask about, most alike first; by words alone where there are no `vectors`."""
    alike: list[tuple[float, Note, Note]] = []
    for group in groups(notes):
        few = [n for n in group if len(n.memory.content) <= limits.CONSOLIDATE_TEXT_MAX_CHARS]
        alike += _by_words(few) if vectors is None else _by_meaning(few, vectors)
    alike.sort(key=lambda one: (-one[0], one[1].id, one[2].id))
    for likeness, one, other in alike[: limits.CONSOLIDATE_CANDIDATES_MAX_COUNT]:
        pair = two(one, other, likeness)
        check = checked.get(pair.key)
        known = check is not None and not _stale(pair, check)
        if not known and may(pair) and is_worth_asking(pair.pair):
            yield pair


def _stale(pair: Two, check: PairCheck) -> bool:
    """One was reworded since, or they are no longer as alike as they were."""
    if check.similarity == STATED_BY_PERSON:
        return False
    return pair.newer.worded_at > check.checked_at or hundredths(pair.likeness) != check.similarity


def _by_meaning(
    group: Sequence[Note], vectors: Mapping[str, bytes]
) -> list[tuple[float, Note, Note]]:
    placed = [note for note in group if note.id in vectors]
    if len({len(vectors[note.id]) for note in placed}) != 1:
        return []
    matrix = np.stack([np.frombuffer(vectors[note.id], np.float32) for note in placed])
    cosines = np.triu(matrix @ matrix.T, k=1)
    first, second = np.nonzero(cosines >= LIKENESS_MIN)
    likeness = cosines[first, second]
    best = np.argsort(-likeness, kind="stable")[: limits.CONSOLIDATE_CANDIDATES_MAX_COUNT]
    return [
        (min(1.0, float(likeness[at])), placed[int(first[at])], placed[int(second[at])])
        for at in best
    ]


def _by_words(group: Sequence[Note]) -> list[tuple[float, Note, Note]]:
    """How much of their words two have in common."""
    words = [frozenset(stem_words(note.memory.content)) for note in group]
    where: defaultdict[str, list[int]] = defaultdict(list)
    for at, some in enumerate(words):
        for word in some:
            where[word].append(at)
    seen = {
        (one, other)
        for places in where.values()
        if len(places) <= _COMMON_MAX_COUNT
        for n, one in enumerate(places)
        for other in places[n + 1 :]
    }
    found = []
    for one, other in seen:
        shared = len(words[one] & words[other])
        likeness = 2 * shared / (len(words[one]) + len(words[other]))
        if likeness >= LIKENESS_MIN:
            found.append((likeness, group[one], group[other]))
    return found
