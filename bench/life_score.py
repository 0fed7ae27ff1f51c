"""What a memory states, judged by words, and the counts that `life.py` and `said.py` print.

A judge by words is crude: it takes a text for a statement of whatever its words belong to. What the
facts of a life themselves would score (`judged_facts`) shows how often it errs.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache

from bench.life_data import Life, Said, Statement, Words
from tacit.records.memory import Memory

_PLAIN = str.maketrans("’‘“”‐‑–—", "''\"\"----")
_MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
_DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}})\b")
# That something is over, in words that a memory of the present does not have.
_OVER = re.compile(
    r"""\b(?:
    no\ longer | (?:not|never)\b.*\b(?:any\ ?more|any\ longer) | instead\ of | rather\ than
    | former | previous | used\ to\b(?!\ being) | ex-
    | left\b(?![ -](?:hand|arm|leg|foot|knee|eye|ear|side|shoulder|hip|wrist|ankle)) | quit | resigned
    | moved\ (?:away|out|from) | switched\ (?:away\ )?from | gave\ up | given\ up | stopped
    | broke\ up | split\ up | separated\ from | divorced\ from | ended | is\ over
    | outgrew | outgrown | decided\ against
    | sold\b | died | passed\ away | cancell?ed | closed\ down
    )|n't\b.*\b(?:any\ ?more|any\ longer)""",
    re.VERBOSE,
)


def states(text: str, words: Words) -> bool:
    """Whether a text holds, for each requirement, one of its alternatives.

    An alternative is lower-case text that begins where a word begins and may end anywhere. A date in
    full also states its day of the week, but that alone is no statement: too many dates share it.
    """
    plain = _plain(text)
    if len(words) > 1:
        plain = " ".join((plain, *(_weekday(*found.groups()) for found in _DATE.finditer(plain))))
    return all(any(_alternative(one).search(plain) for one in alternatives) for alternatives in words)


def says_over(text: str) -> bool:
    """Whether a text says that something is over: "Nora left Adyen" is not the old employer."""
    return _OVER.search(_plain(text)) is not None


def states_as_current(text: str, words: Words) -> bool:
    return states(text, words) and not says_over(text)


def _weekday(day: str, month: str, year: str) -> str:
    try:
        return f"{date(int(year), _MONTHS.index(month) + 1, int(day)):%A}".lower()
    except ValueError:  # no such day
        return ""


@cache
def _alternative(words: str) -> re.Pattern[str]:
    plain = _plain(words)
    start = r"(?<!\w)" if plain[:1].isalnum() else ""
    return re.compile(start + re.escape(plain))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).translate(_PLAIN).lower().split())


@dataclass(slots=True)
class Tally:
    """Counts over one life, or over several."""

    facts: int = 0
    known: int = 0  # … that an active memory states
    memories: int = 0  # active ones
    wrong: int = 0  # … that state a false claim
    claims: int = 0
    believed: int = 0  # … that an active memory states
    outdated: int = 0
    current: int = 0  # … that an active memory still states as current
    questions: int = 0
    answered: Counter[str] = field(default_factory=Counter)  # by what was searched
    learned: int = 0  # memories that became active
    approved: int = 0  # … because the person approved them
    seconds: list[float] = field(default_factory=list)  # to learn each message
    misses: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def judge(self, life: Life, memories: Sequence[str]) -> None:
        """Count what active memories with these texts state of a life."""
        self.facts += len(life.facts)
        self.claims += len(life.false)
        self.outdated += len(life.outdated)
        self.memories += len(memories)
        self.wrong += sum(any(states(text, claim.words) for claim in life.false) for text in memories)
        for fact in life.facts:
            if _find(memories, fact, states) is None:
                self.misses.append(f"UNKNOWN {life.name}: {fact.text}")
            else:
                self.known += 1
        for claim in life.false:
            if (text := _find(memories, claim, states)) is not None:
                self.believed += 1
                self.misses.append(f"WRONG {life.name}: {claim.text} <- {text}{_excuse(life, text)}")
        for fact in life.outdated:
            if (text := _find(memories, fact, states_as_current)) is not None:
                self.current += 1
                self.misses.append(f"OUTDATED {life.name}: {fact.text} <- {text}{_excuse(life, text)}")

    def judge_answers(self, life: Life, where: str, found: Sequence[Sequence[str]]) -> None:
        """Count the questions of which one of the texts found holds the answer."""
        for question, texts in zip(life.questions, found, strict=True):
            if any(states(text, question.words) for text in texts):
                self.answered[where] += 1
            else:
                self.misses.append(f"UNANSWERED by {where} {life.name}: {question.text} ({question.answer})")


def _find(texts: Iterable[str], wanted: Statement, judge: Callable[[str, Words], bool]) -> str | None:
    return next((text for text in texts if judge(text, wanted.words)), None)


def _excuse(life: Life, text: str) -> str:
    """What else the text states: the judge may take a true memory for another."""
    fact = next((fact for fact in life.facts if states(text, fact.words)), None)
    return "" if fact is None else f" (which states also: {fact.text})"


def judged_facts(life: Life) -> Tally:
    """Count what a memory would score that holds the facts of a life, word for word."""
    tally, texts = Tally(), [fact.text for fact in life.facts]
    tally.judge(life, texts)
    return tally


def find_faults(said: Said, memories: Collection[Memory], *, kept: bool) -> list[str]:
    """Return which checks of a sentence fail on the active memories after it.

    `kept` tells whether the message left anything at all behind.
    """
    held = [one for one in memories if any(states(one.content, words) for words in said.holds)]
    least = said.sensitivity
    faults = {
        "holds": any(not any(states(one.content, words) for one in held) for words in said.holds),
        "gone": any(states_as_current(one.content, words) for one in memories for words in said.gone),
        "sens": least is not None and any(one.sensitivity.rank < least.rank for one in held),
        "portable": said.portable is not None and any(one.portable is not said.portable for one in held),
        "nothing": said.nothing and kept,
    }
    return [name for name, failed in faults.items() if failed]
