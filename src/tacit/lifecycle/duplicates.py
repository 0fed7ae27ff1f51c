"""Find pairs of memories of one owner that say the same, or may."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from tacit import limits
from tacit.learning.corrections.supersession import KnownFact, replaces
from tacit.learning.facts import Mention, StatedFact
from tacit.learning.reconciliation import LIKENESS_MIN, FactPair, is_worth_asking
from tacit.records.memory import Memory
from tacit.storage import learned_facts
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.relations import STATED_BY_PERSON, PairCheck, PairKey, WordedMemory, pair_key
from tacit.text import split_terms, stem_words

# Which two memories of an owner may be duplicates, and which certainly are. Memories with different
# disclosure are never a pair.

_DECILE = 0.9
_FOLLOWING_COUNT = 20  # newer memories with the same words or slot that one is compared with
_NUMBER = re.compile(r"\d+")
# Signs that change the meaning of equal words: C and C++, 5 and -5, two opposite smileys.
_SIGN = re.compile(r"[^\w\s.,;:!'\"’‘“”()–—-]|-(?=\d)")
# For these kinds the value alone is not the fact: what is on Monday stands in the words around it.
_OPEN_SLOTS = frozenset({"frame", "end", "event", "thing", "schedule", "plan"})

DisclosureKey = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateCandidate:
    """A memory as it is compared."""

    memory: Memory
    worded_at: datetime
    normalized: str  # normalized content
    fact: StoredFact | None  # None: only its words are known

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def sort_key(self) -> tuple[datetime, str]:
        return self.worded_at, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPair:
    older: DuplicateCandidate
    newer: DuplicateCandidate
    likeness: float
    replaced: bool = False  # the newer one replaces the older, whatever their fields are

    @property
    def key(self) -> PairKey:
        return pair_key(self.older.id, self.newer.id)

    @property
    def pair(self) -> FactPair:
        return FactPair(
            id=self.older.id, older=self.older.memory.content, newer=self.newer.memory.content, likeness=self.likeness
        )


MayMerge = Callable[[MemoryPair], bool]


def disclosure_key(memory: Memory) -> DisclosureKey:
    """Return every field that decides who may see it, where, and which agent may use it."""
    return (
        memory.owner,
        memory.speaker,
        effective_subjects(memory),
        memory.learned_in,
        memory.learned_kind,
        memory.heard_by,
        memory.confidential,
        memory.visibility,
        memory.sensitivity,
        memory.portable,
        memory.withheld_from,
        memory.withheld_unknown,
        memory.inferred,
        memory.trust,
        memory.category,
    )


def select_candidates(
    found: Sequence[WordedMemory], known: Mapping[str, learned_facts.ComparedMemory], now: datetime
) -> list[DuplicateCandidate]:
    """Select memories worth a comparison: changed, important, or among the most used."""
    counts = sorted(one.memory.access_count for one in found)
    often = max(1, counts[int(len(counts) * _DECILE)]) if counts else 1
    recent = now - timedelta(hours=limits.CONSOLIDATE_RECENT_HOURS)
    return [
        DuplicateCandidate(
            memory=one.memory,
            worded_at=one.worded_at,
            normalized=learned_facts.normalized_digest(one.memory.content),
            fact=kept.fact if kept and kept.fact.slot else None,
        )
        for one in found
        if one.memory.updated_at >= recent
        or one.memory.importance >= limits.CONSOLIDATE_IMPORTANCE_MIN
        or one.memory.access_count >= often
        for kept in [known.get(one.memory.id)]
    ]


def group_by_disclosure(notes: Sequence[DuplicateCandidate]) -> list[list[DuplicateCandidate]]:
    """Group memories with the same disclosure; oldest first in each group."""
    found: defaultdict[DisclosureKey, list[DuplicateCandidate]] = defaultdict(list)
    for note in notes:
        found[disclosure_key(note.memory)].append(note)
    return [sorted(one, key=lambda n: n.sort_key) for one in found.values() if len(one) > 1]


def make_pair(
    one: DuplicateCandidate, other: DuplicateCandidate, likeness: float, *, replaced: bool = False
) -> MemoryPair:
    older, newer = sorted((one, other), key=lambda n: n.sort_key)
    return MemoryPair(older=older, newer=newer, likeness=likeness, replaced=replaced)


def find_certain_pairs(
    notes: Sequence[DuplicateCandidate], checked: Mapping[PairKey, PairCheck], may: MayMerge
) -> list[MemoryPair]:
    """Find pairs that need no model: equal words, or the same slot as learning compares it.

    Each memory is in one pair at most; the next round finds the rest. `may` tells which pairs can
    merge.
    """
    found: list[MemoryPair] = []
    taken: set[str] = set()
    for group in group_by_disclosure(notes):
        for pair in [*_pairs_with_same_words(group), *_pairs_with_same_slot(group)]:
            check = checked.get(pair.key)
            undone = check is not None and check.similarity == STATED_BY_PERSON
            if undone or taken & {*pair.key} or not may(pair):
                continue
            taken |= {*pair.key}
            found.append(pair)
    return found


def _pairs_with_same_words(group: Sequence[DuplicateCandidate]) -> Iterator[MemoryPair]:
    by_words: defaultdict[object, list[DuplicateCandidate]] = defaultdict(list)
    for note in group:
        if split_terms(note.memory.content):
            by_words[note.normalized, tuple(_SIGN.findall(note.memory.content))].append(note)
    return (make_pair(older, newer, 1.0) for older, newer in _following(by_words.values()))


def _pairs_with_same_slot(group: Sequence[DuplicateCandidate]) -> Iterator[MemoryPair]:
    by_slot: defaultdict[str, list[DuplicateCandidate]] = defaultdict(list)
    for note in group:
        if note.fact is not None and note.fact.slot:
            by_slot[note.fact.slot].append(note)
    for older, newer in _following(by_slot.values()):
        assert older.fact is not None
        assert newer.fact is not None
        before, after = older.memory, newer.memory
        if (
            older.fact.value is not None
            and older.fact == newer.fact
            and (older.fact.slot or "").split(":", 1)[0] not in _OPEN_SLOTS
            and find_numbers(before.content) == find_numbers(after.content)
        ):
            yield make_pair(older, newer, 1.0)
        # Not if the older one was restored or filed since.
        elif before.updated_at <= after.updated_at and is_replaced(
            older.fact, before.content, older.worded_at, newer.fact, after.content
        ):
            yield make_pair(older, newer, 1.0, replaced=True)


def _following(
    groups: Iterable[Sequence[DuplicateCandidate]],
) -> Iterator[tuple[DuplicateCandidate, DuplicateCandidate]]:
    for same in groups:
        for at, older in enumerate(same):
            yield from ((older, newer) for newer in same[at + 1 :][:_FOLLOWING_COUNT])


def is_replaced(old: StoredFact, old_content: str, said_at: datetime, new: StoredFact, new_content: str) -> bool:
    """Report whether learning would replace the older fact by the newer one."""
    known = KnownFact(
        content=old_content,
        slot=old.slot,
        value=old.value,
        about_speaker=old.about_speaker,
        said_at=said_at,
        about=_parse_mentions(old),
        negated=old.negated,
    )
    statement = StatedFact(
        content=new_content,
        quote=new_content,
        explicit=False,
        kind=None,
        about_speaker=new.about_speaker,
        about=_parse_mentions(new),
        hearsay=False,
        slot=new.slot,
        value=new.value,
        negated=new.negated,
        observed_at=None,
        withheld_from=(),
        hold=None,
    )
    return replaces(known, statement)


def _parse_mentions(fact: StoredFact) -> tuple[Mention, ...]:
    return tuple(
        Mention(text=text, name=name, relation=relation, username=username)
        for text, name, relation, username in learned_facts.unpack_mentions(fact.about)
    )


def to_hundredths(likeness: float) -> int:
    return round(likeness * 100)


def find_numbers(content: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(content))


def numbers_agree(pair: MemoryPair) -> bool:
    """Report whether the numbers of one include those of the other."""
    one, other = (find_numbers(note.memory.content) for note in (pair.older, pair.newer))
    return one <= other or other <= one


# Which two memories of an owner are similar enough to ask a model about, nearest first.

_COMMON_WORD_MAX_COUNT = 50  # a word in more memories than this does not nominate pairs


def find_similar_pairs(
    notes: Sequence[DuplicateCandidate],
    vectors: Mapping[str, bytes] | None,
    checked: Mapping[PairKey, PairCheck],
    may: MayMerge,
) -> Iterator[MemoryPair]:
    """Yield pairs to ask about, most similar first; by words alone without `vectors`."""
    alike: list[tuple[float, DuplicateCandidate, DuplicateCandidate]] = []
    for group in group_by_disclosure(notes):
        few = [n for n in group if len(n.memory.content) <= limits.CONSOLIDATE_TEXT_MAX_CHARS]
        alike += _pairs_by_words(few) if vectors is None else _pairs_by_vectors(few, vectors)
    alike.sort(key=lambda one: (-one[0], one[1].id, one[2].id))
    for likeness, one, other in alike[: limits.CONSOLIDATE_CANDIDATES_MAX_COUNT]:
        pair = make_pair(one, other, likeness)
        check = checked.get(pair.key)
        known = check is not None and not _is_stale(pair, check)
        if not known and may(pair) and is_worth_asking(pair.pair):
            yield pair


def _is_stale(pair: MemoryPair, check: PairCheck) -> bool:
    """Report whether a memory was reworded since the check, or similarity has changed."""
    if check.similarity == STATED_BY_PERSON:
        return False
    return pair.newer.worded_at > check.checked_at or to_hundredths(pair.likeness) != check.similarity


def _pairs_by_vectors(
    group: Sequence[DuplicateCandidate], vectors: Mapping[str, bytes]
) -> list[tuple[float, DuplicateCandidate, DuplicateCandidate]]:
    placed = [note for note in group if note.id in vectors]
    if len({len(vectors[note.id]) for note in placed}) != 1:
        return []
    matrix = np.stack([np.frombuffer(vectors[note.id], np.float32) for note in placed])
    cosines = np.triu(matrix @ matrix.T, k=1)
    first, second = np.nonzero(cosines >= LIKENESS_MIN)
    likeness = cosines[first, second]
    best = np.argsort(-likeness, kind="stable")[: limits.CONSOLIDATE_CANDIDATES_MAX_COUNT]
    return [(min(1.0, float(likeness[at])), placed[int(first[at])], placed[int(second[at])]) for at in best]


def _pairs_by_words(group: Sequence[DuplicateCandidate]) -> list[tuple[float, DuplicateCandidate, DuplicateCandidate]]:
    """Score pairs by the share of words that they have in common."""
    words = [frozenset(stem_words(note.memory.content)) for note in group]
    where: defaultdict[str, list[int]] = defaultdict(list)
    for at, some in enumerate(words):
        for word in some:
            where[word].append(at)
    seen = {
        (one, other)
        for places in where.values()
        if len(places) <= _COMMON_WORD_MAX_COUNT
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
