"""Text that instructs the assistant or the memory instead of telling something: why it is suspect.

Phrases come from instructions.yaml; marks, markup and hidden characters from instruction_marks.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from tacit.screening.disguise import readings
from tacit.screening.instruction_marks import decoded, hidden, marked

_MANY_WORDS = 4  # that a repeated element takes at most
_GAP_WORDS = 6
_END = "."
_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.!?](?=\s|$)|\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One element of a phrase: the words it takes, and how often."""

    words: frozenset[str]
    takes: Literal["one", "maybe", "many", "gap", "not", "not_behind", "no_number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    reason: str
    steps: tuple[Step, ...]
    none_before: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    by_first_word: Mapping[str, tuple[Phrase, ...]]
    noise: frozenset[str]  # words that change nothing: please, just
    reasons: tuple[str, ...]


def suspicious(text: str) -> str | None:
    """The name of the reason why a text is taken for an instruction; None for ordinary text."""
    if hidden(text):
        return "hidden_text"
    for reading in readings(text):
        if reason := marked(reading) or phrased(reading, _phrases()):
            return reason
        for blob in decoded(reading):
            if marked(blob) or phrased(blob, _phrases()):
                return "encoded_text"
    return None


def reasons() -> tuple[str, ...]:
    """The reasons that phrases give, in the order of the file."""
    return _phrases().reasons


def phrased(text: str, phrases: Phrases) -> str | None:
    """The reason of the first phrase that the text has."""
    words = _words(text, phrases.noise)
    for place, word in enumerate(words):
        for phrase in phrases.by_first_word.get(word, ()):
            if place and words[place - 1] in phrase.none_before:
                continue
            if _follows(phrase.steps, words, place):
                return phrase.reason
    return None


def _words(text: str, noise: frozenset[str]) -> list[str]:
    """Lower case, with a mark for the end of a sentence; a single line break ends none."""
    pieces = (match[0] for match in _PIECE.finditer(text.lower()))
    return [one if one[0].isalnum() else _END for one in pieces if one not in noise]


def _follows(steps: Sequence[Step], words: Sequence[str], start: int) -> bool:
    """All the places a phrase may have come to, one step after another: no way is tried twice."""
    places = {start}
    for step in steps:
        reached: set[int] = set()
        for place in places:
            reached |= _taken(step, words, place)
        if not reached:
            return False
        places = reached
    return True


def _taken(step: Step, words: Sequence[str], place: int) -> set[int]:
    word = words[place] if place < len(words) else _END
    fits = word in step.words
    match step.takes:
        case "one":
            return {place + 1} if fits else set()
        case "maybe":
            return {place, place + 1} if fits else {place}
        case "not":
            return set() if fits else {place}
        case "not_behind":
            return set() if words[place - 1] in step.words else {place}
        case "no_number":
            return set() if word[0].isdigit() else {place}
    most = _MANY_WORDS if step.takes == "many" else _GAP_WORDS
    reached = {place}
    for after in range(place, min(place + most, len(words))):
        if words[after] == _END or (words[after] in step.words) != (step.takes == "many"):
            break
        reached.add(after + 1)
    return reached


@cache
def _phrases() -> Phrases:
    """Read once, at the first text that is looked at."""
    return load("instructions.yaml")


def load(name: str) -> Phrases:
    """The phrases of a file beside this one."""
    from importlib import resources

    import yaml

    source = resources.files("tacit.screening").joinpath(name).read_text("utf-8")
    data = yaml.safe_load(source)
    sets = {name: frozenset(str(words).split()) for name, words in data["sets"].items()}
    found: dict[str, list[Phrase]] = {}
    for reason, lines in data["reasons"].items():
        for line in lines:
            phrase = _phrase(reason, line, sets)
            for word in phrase.steps[0].words:
                found.setdefault(word, []).append(phrase)
    return Phrases(
        by_first_word={word: tuple(phrases) for word, phrases in found.items()},
        noise=sets["noise"],
        reasons=tuple(data["reasons"]),
    )


def _phrase(reason: str, line: str, sets: Mapping[str, frozenset[str]]) -> Phrase:
    steps = tuple(_step(part, sets) for part in line.removeprefix("^").split())
    if steps[0].takes != "one":
        raise ValueError(f"{reason}: a phrase begins with words: {line}")
    if any(one.takes == other.takes == "gap" for one, other in pairwise(steps)):
        raise ValueError(f"{reason}: two gaps follow each other: {line}")
    doers = sets["doers"] if line.startswith("^") else frozenset[str]()
    return Phrase(reason=reason, steps=steps, none_before=doers)


def _step(part: str, sets: Mapping[str, frozenset[str]]) -> Step:
    takes: Literal["one", "maybe", "many", "gap", "not", "not_behind", "no_number"] = "one"
    if part == "!#":
        part, takes = "", "no_number"
    elif part.startswith("..."):
        part, takes = part[3:], "gap"
    elif part[0] in "!-":
        part, takes = part[1:], "not" if part[0] == "!" else "not_behind"
    elif part[-1] in "?*":
        part, takes = part[:-1], "maybe" if part[-1] == "?" else "many"
    words: set[str] = set()
    for word in part.split("|"):
        words |= sets[word[1:-1]] if word.startswith("<") else {word}
    return Step(words=frozenset(words - {""}), takes=takes)
