"""When a statement is the fact that a label means, and the counts that `learn.py` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from bench.learn_data import SAID_AT, Fact, Message
from tacit.learning.corrections.supersession import KnownFact, Supersession, find_superseded, make_known_fact
from tacit.learning.extraction.locale import Locale, guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import Mention, StatedFact
from tacit.learning.verification import classify_statement

# The first message of a pair comes shortly before the second.
EARLIER = SAID_AT - timedelta(minutes=10)
COVERED_MIN_SHARE = 0.5  # of the content words of a label
PART_COVERED_MIN_SHARE = 0.66  # of those of a part of it
_JOINED = re.compile(r" (?:and|und|so|who|which|because|after|with|but) |, ")
# Days that stand for no day of their own: "in the week of", "around", "two weeks before".
_WEEK = re.compile(
    r"\b(?:week (?:of|before)|around|woche vom|um den|\w+ (?:weeks?|months?) before)"
    r" \d+\.? \w+(?: \d{4})?",
    re.IGNORECASE,
)
_SPELT = ((re.compile(r"\btime zone\b", re.IGNORECASE), "timezone"),)
_AFTERNOON = re.compile(r"\b(\d{1,2})(:\d\d)? ?(?:pm|p\.m\.)", re.IGNORECASE)
_FULL_HOUR = re.compile(r"\b(\d{1,2}):00\b")
_WORD = re.compile(r"[\w@][\w@'’.:/-]*")
_TRIM = ".,:;!?'’-/"
_OWNED = re.compile(r"['’]s?$")
_STEM_MIN_CHARS = 3
_SUFFIXES = ("ing", "ed", "es", "en", "er", "st", "te", "s", "e", "n", "t", "d")
_YEARS = frozenset({"2024", "2025", "2026"})
LABELS = ("kind", "sensitivity", "portable", "hearsay", "withheld_from", "hold")


def learnt(text: str, speaker: str) -> list[StatedFact]:
    """What the product makes of a message without a model."""
    own = load_locale(guess_locale(text))
    return [classify_statement(one, own, SAID_AT) for one in extract_by_rules(text, speaker, SAID_AT, own)]


def matches(statement: StatedFact, fact: Fact, message: Message) -> bool:
    """Whether a statement is the fact that a label means.

    Both are about the speaker, or both are not; what is about no person may stand for a thing of
    the speaker's. Every number and name of the statement is in the label. And the statement has at
    least half of the content words of the label, or two thirds of one of the parts that the label
    joins with "and" and the like. Words count by their stems; the speaker's name, small words and
    what templates add do not count, nor does the year that a date was completed with, nor the
    days of a week.
    """
    if not _same_side(statement, fact):
        return False
    own = load_locale(guess_locale(message.text))
    said, meant = _content(statement.content, message, own), _content(fact.content, message, own)
    if not said.exact <= meant.exact | meant.first | _YEARS:
        return False
    parts = [_content(part, message, own) for part in _JOINED.split(fact.content)]
    return _covers(said, meant, COVERED_MIN_SHARE) or (
        len(parts) > 1 and any(_covers(said, part, PART_COVERED_MIN_SHARE) for part in parts)
    )


def _same_side(statement: StatedFact, fact: Fact) -> bool:
    if not statement.about_speaker and not statement.about:
        return fact.about_speaker or not fact.about
    return statement.about_speaker == fact.about_speaker or not fact.about


@dataclass(frozen=True, slots=True)
class _Words:
    stems: frozenset[str]
    exact: frozenset[str]  # numbers and names
    first: frozenset[str]  # the word with a capital that may be a name


def _covers(said: _Words, meant: _Words, share: float) -> bool:
    wanted = meant.stems | {_stem(word) for word in meant.exact - _YEARS}
    found = said.stems | {_stem(word) for word in said.exact}
    return bool(wanted) and len(wanted & found) >= share * len(wanted)


def _content(text: str, message: Message, own: Locale) -> _Words:
    ignored = {word.casefold() for word in message.speaker.split()}
    ignored |= {f"{word}s" for word in ignored} | own.words["small"] | own.words["glue"]
    ignored |= own.dates.kept
    for pattern, new in _SPELT:
        text = pattern.sub(new, text)
    stems: set[str] = set()
    exact: set[str] = set()
    numbers = own.dates.words["numbers"]
    for position, raw in enumerate(_WORD.findall(_clocked(_WEEK.sub(" ", text)))):
        word = _OWNED.sub("", raw.strip(_TRIM)).removeprefix("@")
        folded = word.casefold()
        if folded in ignored:
            continue
        folded = str(numbers.get(folded, folded))
        if any(char.isdigit() for char in folded):
            exact |= {str(int(digits)) for digits in re.findall(r"\d+", folded)}
        elif position and word[:1].isupper() and own.texts["names"] == "capital":
            exact.add(folded)
        else:
            stems.add(_stem(own.kin[folded].word if folded in own.kin else folded))
    first = {_OWNED.sub("", text.split()[0].strip(_TRIM)).casefold()} if text.strip() else set()
    return _Words(frozenset(stems), frozenset(exact), frozenset(first))


def _clocked(text: str) -> str:
    """ "2pm" and "14:00" are one hour."""
    text = _AFTERNOON.sub(lambda m: f"{int(m[1]) % 12 + 12}{m[2] or ''}", text)
    return _FULL_HOUR.sub(r"\1", text)


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM_MIN_CHARS:
            return word[: -len(suffix)]
    return word


@dataclass(slots=True)
class Count:
    """Messages and statements of one kind, and what became of them."""

    kept: int = 0  # messages labelled to keep
    found: int = 0  # … that yield anything
    recalled: int = 0  # … with at least one fact matched
    stray: int = 0  # messages with nothing to keep that yield something
    refused: int = 0  # messages with nothing to keep
    stated: int = 0  # statements
    right: int = 0
    labels: dict[str, list[bool]] = field(default_factory=dict)
    amiss: list[str] = field(default_factory=list)  # labels that disagree

    @property
    def message_precision(self) -> float:
        return _share(self.found, self.found + self.stray)

    @property
    def message_recall(self) -> float:
        return _share(self.found, self.kept)

    @property
    def precision(self) -> float:
        return _share(self.right, self.stated)

    @property
    def recall(self) -> float:
        return _share(self.recalled, self.kept)

    def accuracy(self, label: str) -> float:
        seen = self.labels.get(label, [])
        return _share(sum(seen), len(seen))

    def add(self, message: Message, statements: list[StatedFact]) -> list[StatedFact]:
        """Counts one message; returns the statements that are wrong."""
        wrong, hit = [], False
        for statement in statements:
            fact = next((f for f in message.facts if matches(statement, f, message)), None)
            if fact is None:
                wrong.append(statement)
                continue
            hit = True
            for label, same in _compared(statement, fact):
                self.labels.setdefault(label, []).append(same)
                if not same:
                    self.amiss.append(f"{label}: {statement.content!r}, {fact}")
        self.stated += len(statements)
        self.right += len(statements) - len(wrong)
        if message.keep:
            self.kept += 1
            self.found += bool(statements)
            self.recalled += hit
        else:
            self.refused += 1
            self.stray += bool(statements)
        return wrong


def _compared(statement: StatedFact, fact: Fact) -> Iterable[tuple[str, bool]]:
    # What is held back is not portable, whatever its kind: the product asks for both.
    held = statement.hold is not None and statement.hold.value != "share"
    yield "kind", statement.kind in fact.kinds
    yield "sensitivity", statement.sensitivity is fact.sensitivity
    yield "portable", (bool(statement.portable) and not held) == fact.portable
    yield "hearsay", statement.hearsay == fact.hearsay
    yield "withheld_from", _names(statement.withheld_from) == _plain(fact.withheld_from)
    yield "hold", (statement.hold and statement.hold.value) == fact.hold


def _names(mentions: tuple[Mention, ...]) -> set[str]:
    return _plain(one.name or one.username or one.relation or one.text for one in mentions)


def _plain(names: Iterable[str]) -> set[str]:
    return {name.casefold().removeprefix("@").removeprefix("my ") for name in names}


def remembered(statements: Iterable[StatedFact]) -> list[KnownFact]:
    """Statements of an earlier message, as they are known when the next one comes."""
    return [make_known_fact(one, EARLIER) for one in statements]


def told(fact: str) -> KnownFact:
    """A fact of a label, as if the rules had understood it; it has no slot."""
    return KnownFact(content=fact, slot=None, value=None, about_speaker=True, said_at=EARLIER, just_said=True)


def superseded(known: list[KnownFact], text: str, speaker: str) -> list[Supersession]:
    """What the product decides when a message comes to what is known."""
    own = load_locale(guess_locale(text))
    return find_superseded(text, learnt(text, speaker), speaker, known, own, said_at=SAID_AT)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
