"""Judge with the trained reader how new statements bear on what is known: repeated, replaced, ended, or beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.learning.facts import StatedFact
from tacit.learning.reader.reader import TrainedReader
from tacit.learning.reconciliation import Judgment, Verdict
from tacit.storage.learned_facts import ComparedMemory
from tacit.text import stem_words

_WORD_MIN_CHARS = 3
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
    """Whether a statement has a word that the known one lacks, which may say something else or more.

    "Mia is allergic to nuts" repeats nothing of "Mia is allergic to eggs", however sure the judge is.
    """
    known = set(stem_words(old.content))
    return any(
        word not in known for word in stem_words(new.content) if len(word) >= _WORD_MIN_CHARS or word.isdecimal()
    )


def _nominate(new: StatedFact, known: Sequence[ComparedMemory]) -> list[ComparedMemory]:
    """Return the known facts to compare with: those of the same people that share most words, then the newest."""
    words = set(stem_words(new.quote)) | set(stem_words(new.content))
    people = {one.name or one.relation or one.username for one in new.about}
    scored: list[tuple[int, int, ComparedMemory]] = []
    for place, old in enumerate(known):
        shared = len(words.intersection(stem_words(old.content)))
        same_people = old.fact.about_speaker == new.about_speaker
        if not same_people and not any(one and one.casefold() in old.content.casefold() for one in people):
            continue
        if shared or new.turned:
            scored.append((-shared, place, old))
    scored.sort(key=lambda one: one[:2])
    most = _CHANGED_PAIRS_MAX_COUNT if new.turned else _PAIRS_MAX_COUNT
    return [old for _, _, old in scored[:most]]
