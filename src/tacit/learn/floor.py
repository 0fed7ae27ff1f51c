"""The sensitivity floor of a write: the least sensitivity that its words allow, in any locale.

Every write asks for it, so the common answer must be cheap. The exact patterns of the lexicon take
hundreds of microseconds for a sentence, since they try each of some 700 words at each position and
ignore case. Gates hold the same alternatives, sorted by first letter, for a text in lower case:
where they find nothing, no exact pattern can match. Where they find something, the exact patterns
decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tacit.learn.needed import low
from tacit.learn.reading.forms import Lexicon
from tacit.learn.reading.tongue import codes, lexicon
from tacit.records.memory import Sensitivity
from tacit.records.text import split_key

_WORDS = re.compile(r"\\b\(\?:(?P<ways>.*)\)\\b", re.DOTALL)
_GROUP = "(?:"
_CASED = re.compile(r"\(\?-i:")
_CAPITAL = re.compile(r"\\.|[A-ZÄÖÜ]")
_ASIDE = re.compile(r"\(\?<?!")
_BEFORE = re.compile(r"^(?:\\b|(?:\\w|\[\\w\.\])[*+])")
_DIGITS = re.compile(r"^\\d\+")
_QUANTIFIERS = frozenset("?*{")
_REPEATS = ("*", "+", "{")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """The topics of one sensitivity, in every locale."""

    sensitivity: Sensitivity
    gates: tuple[re.Pattern[str], ...]
    topics: tuple[Lexicon, ...]

    def touches(self, text: str, lowered: str) -> bool:
        for gate in self.gates:
            if gate.search(lowered) is not None:
                return any(topic.match.search(text) for topic in self.topics)
        return False


def find_floor(text: str, above: Sensitivity = Sensitivity.PUBLIC) -> Sensitivity:
    """Return the least sensitivity of a text, and no less than `above`. Write a key last: some
    words, such as "phone", count at the end of a text only."""
    lowered = low(text)
    for level in _levels():
        if level.sensitivity.rank > above.rank and level.touches(text, lowered):
            return level.sensitivity
    return above


def join_words(
    content: str,
    *,
    key: str | None = None,
    slot: str | None = None,
    tags: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """Return everything that a memory says as one text to classify. `monthly_salary` and
    `monthlySalary` are words like any other."""
    parts = [content, *tags]
    if data:
        parts.extend(list_texts(data))
    if slot:
        parts.append(split_key(slot))
    if key:
        parts += [key, split_key(key)]
    # What ends with a space ends with no key.
    return " ".join(parts) if key or slot else " ".join(parts) + " "


def list_texts(value: object) -> Iterator[str]:
    """Yield each string of a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name)
            yield split_key(str(name))
            yield from list_texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from list_texts(one)


@cache
def _levels() -> tuple[_Level, ...]:
    """The strictest first. Read on the first write: the data files are large."""
    topics = [topic for code in codes() for topic in lexicon(code)]
    by_rank = sorted({topic.sensitivity for topic in topics}, key=lambda one: -one.rank)
    return tuple(
        _Level(
            sensitivity=one,
            gates=_gates([topic for topic in topics if topic.sensitivity is one]),
            topics=tuple(topic for topic in topics if topic.sensitivity is one),
        )
        for one in by_rank
    )


def _gates(topics: Iterable[Lexicon]) -> tuple[re.Pattern[str], ...]:
    """Two patterns for a text as `low` makes it, which find at least what a topic would find: one
    for words that begin with a letter of their own, and one for everything else."""
    by_letter: dict[str, list[str]] = {}
    loose: list[str] = []
    for topic in topics:
        # `low` folds "ß"; and a text in lower case has no capitals to insist on.
        pattern = _CAPITAL.sub(_lowered, _CASED.sub("(?:", topic.match.pattern)).replace("ß", "ss")
        for part in _ways(pattern):
            whole = _WORDS.fullmatch(part)
            if whole is None or not _is_balanced(whole["ways"]):
                loose.append(_loosened(part))
                continue
            for way in _flat(whole["ways"]):
                if way[:1].isalpha() and way[1:2] not in _QUANTIFIERS:
                    by_letter.setdefault(way[0].lower(), []).append(way[1:])
                else:
                    loose.append(_loosened(way))
    words = "|".join(f"{letter}(?:{'|'.join(ends)})" for letter, ends in sorted(by_letter.items()))
    anywhere = "|".join(sorted(set(loose)))
    return re.compile(rf"\b(?:{words})\b"), re.compile(anywhere)


def _lowered(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") else found[0].lower()


def _loosened(way: str) -> str:
    r"""Without what may stand before it, which is slow to look for: `\w*allerg` is `allerg`."""
    return _DIGITS.sub(r"\\d", _BEFORE.sub("", way))


def _flat(ways: str) -> Iterator[str]:
    """Each alternative without its conditions; where it begins with a group, once for each way
    through that: `(?:net|gross) pay` is `net pay` and `gross pay`."""
    for way in map(_unconditional, _ways(ways)):
        if not way.startswith(_GROUP):
            yield way
            continue
        end = next(at for at, depth in _depths(way) if depth == 0)
        firsts, rest = [*_ways(way[len(_GROUP) : end])], way[end + 1 :]
        if rest.startswith("?"):
            firsts, rest = [*firsts, ""], rest[1:]
        if rest[:1] in _REPEATS:
            yield way
        else:
            for first in firsts:
                yield from _flat(first + rest)


def _unconditional(way: str) -> str:
    """Without a negative look around at its beginning, which only ever rules something out."""
    while _ASIDE.match(way):
        end = next(at for at, depth in _depths(way) if depth == 0)
        way = way[end + 1 :]
    return way


def _ways(pattern: str) -> Iterator[str]:
    """The alternatives of a pattern, as they are divided by bars outside of groups and classes."""
    start = 0
    for at, depth in _depths(pattern):
        if depth == 0 and pattern[at] == "|":
            yield pattern[start:at]
            start = at + 1
    yield pattern[start:]


def _is_balanced(pattern: str) -> bool:
    """Whether no group ends that did not begin here."""
    return all(depth >= 0 for _, depth in _depths(pattern))


def _depths(pattern: str) -> Iterator[tuple[int, int]]:
    """Each character that is neither escaped nor in a class, with the groups that are open."""
    at = depth = 0
    while at < len(pattern):
        here = pattern[at]
        if here == "\\":
            at += 2
            continue
        if here == "[":
            at += 2 if pattern[at + 1] in "]^" else 1
            while pattern[at] != "]":
                at += 2 if pattern[at] == "\\" else 1
        elif here == "(":
            depth += 1
        elif here == ")":
            depth -= 1
        yield at, depth
        at += 1
