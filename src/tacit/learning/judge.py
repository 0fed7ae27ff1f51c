"""Judge with the trained reader how new statements bear on what is known: repeated, replaced, ended, or beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tacit.learning.facts import StatedFact
from tacit.learning.reader.reader import TrainedReader
from tacit.learning.reconciliation import Judgment, Verdict
from tacit.storage import learned_facts
from tacit.storage.learned_facts import ComparedMemory
from tacit.text import stem_words

_WORD = re.compile(r"\w+")
_DENIALS = frozenset(["no", "not", "never", "cannot", "without", "none", "neither", "nor"])
KNOWN_MAX_COUNT = 150  # newest facts of a person that are considered
_CHANGED_PAIRS_MAX_COUNT = 12  # per statement that is said as a change, which may share no word with the old one
_PAIRS_MAX_COUNT = 5  # per other statement
# Chosen on writers whose pairs trained nothing (`training/README.md`).
REPEATED_MIN_CHANCE = 0.97
CHANGED_MIN_CHANCE = 0.98  # where the words say that something is otherwise than before


def judge_statements(
    reader: TrainedReader, statements: Sequence[StatedFact], known: Sequence[ComparedMemory]
) -> Judgment:
    """Return for each new wording the known memory that it repeats, replaces or ends, if there is one."""
    pairs = [(new, old) for new in statements for old in _nominate(new, known)]
    chances = reader.judge([(old.content, new.quote) for new, old in pairs])
    found: dict[str, tuple[str, Verdict]] = {}
    best: dict[str, float] = {}
    for (new, old), chance in zip(pairs, chances, strict=True):
        verdict = find_verdict(chance, turned=new.turned)
        if verdict is Verdict.SAME and (new.explicit or _adds_words(new, old)):
            continue  # what a person asks to have remembered is not left out on a guess
        sure = max(chance["repeats"], chance["replaces"] + chance["ends"])
        if verdict is not None and sure > best.get(new.content, 0.0):
            best[new.content] = sure
            found[new.content] = (old.id, verdict)
    return found


def find_verdict(chance: Mapping[str, float], *, turned: bool) -> Verdict | None:
    """Return what the chances of a pair's relations decide; None where both sentences stay."""
    if chance["repeats"] >= REPEATED_MIN_CHANCE:
        return Verdict.SAME
    if not turned or chance["replaces"] + chance["ends"] < CHANGED_MIN_CHANCE:
        return None
    return Verdict.UPDATES if chance["replaces"] >= chance["ends"] else Verdict.ENDS


def _adds_words(new: StatedFact, old: ComparedMemory) -> bool:
    """Whether a statement has a word that the known one lacks, or one of them denies what the other says.

    "Mia is allergic to nuts" repeats nothing of "Mia is allergic to eggs", however sure the judge is.
    """
    known, said = (_WORD.findall(one.content.casefold()) for one in (old, new))
    stems = set(stem_words(old.content))
    denied = _DENIALS.intersection(known) != _DENIALS.intersection(said)
    return denied or any(word not in known and not stems.intersection(stem_words(word)) for word in said)


def _nominate(new: StatedFact, known: Sequence[ComparedMemory]) -> list[ComparedMemory]:
    """Return the known facts to compare with: those about the same people that share most words, then the newest."""
    words = set(stem_words(new.quote)) | set(stem_words(new.content))
    people = {called.casefold() for one in new.about for called in (one.name, one.relation, one.username) if called}
    scored: list[tuple[int, int, ComparedMemory]] = []
    for place, old in enumerate(known):
        mentions = learned_facts.unpack_mentions(old.fact.about)
        others = {called.casefold() for _, *names in mentions for called in names if called}
        alike = old.fact.about_speaker or bool(people & others) or not (people or others)
        if old.fact.about_speaker != new.about_speaker or not alike:
            continue
        shared = len(words.intersection(stem_words(old.content)))
        if shared or new.turned:
            scored.append((-shared, place, old))
    scored.sort(key=lambda one: one[:2])
    most = _CHANGED_PAIRS_MAX_COUNT if new.turned else _PAIRS_MAX_COUNT
    return [old for _, _, old in scored[:most]]
