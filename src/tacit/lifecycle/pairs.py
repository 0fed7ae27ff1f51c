"""Which two of somebody's memories may say the same, and of which that is certain.

Two that do not reach the same people are never a pair, whatever they say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tacit import limits
from tacit.learning.corrections.supersession import KnownFact, replaces
from tacit.learning.facts import Mention, StatedFact
from tacit.learning.reconciliation import FactPair
from tacit.records.memory import Memory
from tacit.records.text import split_terms
from tacit.storage import learned_facts
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.relations import STATED_BY_PERSON, PairCheck, PairKey, WordedMemory, pair_key

_DECILE = 0.9
_FOLLOWING_COUNT = 20  # newer ones that one is compared with, of those with its words or its slot
_NUMBER = re.compile(r"\d+")
# Signs that make another thing of the same words: C and C++, 5 and -5, a smile and a tear.
_SIGN = re.compile(r"[^\w\s.,;:!'\"’‘“”()–—-]|-(?=\d)")
# Of these the value alone is not the fact: what is on Monday is in the words around it.
_OPEN_SLOTS = frozenset({"frame", "end", "event", "thing", "schedule", "plan"})

Reach = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One memory as it is compared."""

    memory: Memory
    worded_at: datetime
    normalized: str  # its normalised wording
    fact: StoredFact | None  # None: nothing but its words is known of it

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def sort_key(self) -> tuple[datetime, str]:
        return self.worded_at, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Two:
    older: Note
    newer: Note
    likeness: float
    replaced: bool = False  # the newer holds in the place of the older, whatever they are worth

    @property
    def key(self) -> PairKey:
        return pair_key(self.older.id, self.newer.id)

    @property
    def pair(self) -> FactPair:
        return FactPair(
            id=self.older.id,
            older=self.older.memory.content,
            newer=self.newer.memory.content,
            likeness=self.likeness,
        )


May = Callable[[Two], bool]


def reach_of(memory: Memory) -> Reach:
    """Everything that says who may hear it, where, and which agent may use it."""
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


def pool(
    found: Sequence[WordedMemory], known: Mapping[str, learned_facts.ComparedMemory], now: datetime
) -> list[Note]:
    """What is worth a look: new or changed, important, or among the most used."""
    counts = sorted(one.memory.access_count for one in found)
    often = max(1, counts[int(len(counts) * _DECILE)]) if counts else 1
    recent = now - timedelta(hours=limits.CONSOLIDATE_RECENT_HOURS)
    return [
        _note(one, known.get(one.memory.id))
        for one in found
        if one.memory.updated_at >= recent
        or one.memory.importance >= limits.CONSOLIDATE_IMPORTANCE_MIN
        or one.memory.access_count >= often
    ]


def _note(one: WordedMemory, kept: learned_facts.ComparedMemory | None) -> Note:
    said = kept.content_digest if kept else learned_facts.normalized_digest(one.memory.content)
    fact = kept.fact if kept and kept.fact.slot else None
    return Note(memory=one.memory, worded_at=one.worded_at, normalized=said, fact=fact)


def groups(notes: Sequence[Note]) -> list[list[Note]]:
    """Those that reach the same people; each oldest first."""
    found: defaultdict[Reach, list[Note]] = defaultdict(list)
    for note in notes:
        found[reach_of(note.memory)].append(note)
    return [sorted(one, key=lambda n: n.sort_key) for one in found.values() if len(one) > 1]


def two(one: Note, other: Note, likeness: float, *, replaced: bool = False) -> Two:
    older, newer = sorted((one, other), key=lambda n: n.sort_key)
    return Two(older=older, newer=newer, likeness=likeness, replaced=replaced)


def certain(notes: Sequence[Note], checked: Mapping[PairKey, PairCheck], may: May) -> list[Two]:
    """What needs nobody's opinion: the same words, or the same slot as learning compares it. Each
    memory is in one pair at most; the rest follows in the next round. `may` says which two can
    become one at all."""
    found: list[Two] = []
    taken: set[str] = set()
    for group in groups(notes):
        for pair in [*_same_words(group), *_same_slots(group)]:
            check = checked.get(pair.key)
            undone = check is not None and check.similarity == STATED_BY_PERSON
            if undone or taken & {*pair.key} or not may(pair):
                continue
            taken |= {*pair.key}
            found.append(pair)
    return found


def _same_words(group: Sequence[Note]) -> Iterator[Two]:
    by_words: defaultdict[tuple[str, tuple[str, ...]], list[Note]] = defaultdict(list)
    for note in group:
        if split_terms(note.memory.content):
            by_words[note.normalized, _signs(note.memory.content)].append(note)
    for same in by_words.values():
        for at, older in enumerate(same):
            yield from (two(older, newer, 1.0) for newer in same[at + 1 :][:_FOLLOWING_COUNT])


def _same_slots(group: Sequence[Note]) -> Iterator[Two]:
    by_slot: defaultdict[str, list[Note]] = defaultdict(list)
    for note in group:
        if note.fact is not None and note.fact.slot:
            by_slot[note.fact.slot].append(note)
    for same in by_slot.values():
        for at, older in enumerate(same):
            for newer in same[at + 1 :][:_FOLLOWING_COUNT]:
                if _same_value(older, newer):
                    yield two(older, newer, 1.0)
                elif _replaced(older, newer):
                    yield two(older, newer, 1.0, replaced=True)


def _same_value(older: Note, newer: Note) -> bool:
    one, other = older.fact, newer.fact
    assert one is not None
    assert other is not None
    return (
        one.value is not None
        and one == other
        and (one.slot or "").split(":", 1)[0] not in _OPEN_SLOTS
        and numbers(older.memory.content) == numbers(newer.memory.content)
    )


def _replaced(older: Note, newer: Note) -> bool:
    """As learning would have it. What somebody brought back or filed anew since then stays."""
    if older.memory.updated_at > newer.memory.updated_at:
        return False
    assert older.fact is not None
    assert newer.fact is not None
    known = KnownFact(
        content=older.memory.content,
        slot=older.fact.slot,
        value=older.fact.value,
        about_speaker=older.fact.about_speaker,
        said_at=older.worded_at,
        about=_mentions(older.fact),
        negated=older.fact.negated,
    )
    statement = StatedFact(
        content=newer.memory.content,
        quote=newer.memory.content,
        explicit=False,
        kind=newer.memory.kind,
        about_speaker=newer.fact.about_speaker,
        about=_mentions(newer.fact),
        hearsay=False,
        slot=newer.fact.slot,
        value=newer.fact.value,
        negated=newer.fact.negated,
        observed_at=newer.memory.observed_at,
        withheld_from=(),
        hold=None,
    )
    return replaces(known, statement)


def _mentions(fact: StoredFact) -> tuple[Mention, ...]:
    return tuple(
        Mention(text=text, name=name, relation=relation, username=username)
        for text, name, relation, username in learned_facts.unpack_mentions(fact.about)
    )


def hundredths(likeness: float) -> int:
    return round(likeness * 100)


def numbers(content: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(content))


def numbers_agree(pair: Two) -> bool:
    """One may say more than the other; two that each have a number of their own differ."""
    one, other = (numbers(note.memory.content) for note in (pair.older, pair.newer))
    return one <= other or other <= one


def _signs(content: str) -> tuple[str, ...]:
    return tuple(_SIGN.findall(content))
