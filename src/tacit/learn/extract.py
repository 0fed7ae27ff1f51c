"""What a turn states: read by rules, or by a language model whose every claim is checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit import limits
from tacit.learn.facts import Statement
from tacit.learn.procedure import procedure
from tacit.learn.reader import Read, Reader
from tacit.learn.reading import rules
from tacit.learn.reading.holds import Reach, combined
from tacit.learn.reading.mentions import named_once
from tacit.learn.reading.tongue import AUTO, Tongue, guess
from tacit.learn.reading.tongue import tongue as tongue_of
from tacit.learn.turn import Turn

_SAME_MIN_SHARE = 0.6  # of the words that count
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    statements: tuple[Statement, ...]
    inferred: frozenset[str]  # contents that a model read between the lines
    refused: tuple[str, ...] = ()  # why further ones were not taken


def chosen(tongue: str, text: str) -> Tongue:
    """The language to read a text in."""
    return tongue_of(guess(text) if tongue == AUTO else tongue)


def extract(turn: Turn, speaker: str, tongue: Tongue, reader: Reader | None) -> Extracted:
    """At most three things. What the rules read does not depend on a model's wording or mood."""
    found = _extracted(turn, speaker, tongue, reader)
    return Extracted(
        statements=tuple(
            replace(one, content=named_once(one.content, speaker, tongue))
            for one in found.statements
        ),
        inferred=frozenset(named_once(one, speaker, tongue) for one in found.inferred),
        refused=found.refused,
    )


def under(held: Reach, found: Extracted) -> Extracted:
    """The statements under the hold of the whole turn, in whichever language it was said. It can
    only make them stricter: that something may be shared is for the reading of it to say."""
    if not held.guarded:
        return found
    return replace(found, statements=tuple(_held(one, held) for one in found.statements))


def _held(statement: Statement, held: Reach) -> Statement:
    own = Reach(hold=statement.hold, withheld_from=statement.withheld_from)
    both = combined([own, held])
    return replace(statement, hold=both.hold, withheld_from=both.withheld_from)


def _extracted(turn: Turn, speaker: str, tongue: Tongue, reader: Reader | None) -> Extracted:
    how = procedure(turn.text, tongue)
    if how is not None:
        return Extracted(statements=(how,), inferred=frozenset())
    plain = rules.extract(turn.text, speaker, turn.said_at, tongue)
    if reader is None:
        return Extracted(statements=tuple(plain), inferred=frozenset())
    return merged(plain, reader.read(turn, speaker, tongue), speaker, tongue)


def merged(plain: Sequence[Statement], read: Read, speaker: str, tongue: Tongue) -> Extracted:
    """Where both read the same, the rules' wording, people and slot count, and the stricter
    sensitivity; what else the model read comes after."""
    kept = list(plain)
    further: list[Statement] = []
    for one in read.statements:
        words = _words(one.content, speaker, tongue)
        alike = [(n, _words(known.content, speaker, tongue)) for n, known in enumerate(kept)]
        same = [n for n, known in alike if _same(words, known)]
        for n in same:
            kept[n] = _stricter(kept[n], one)
        part = any(words <= known for _, known in alike)
        if not same and not part:
            further.append(_without_slot_of(one, plain))
    kept += further
    return Extracted(
        statements=tuple(kept[: limits.LEARN_WRITES_PER_TURN_MAX_COUNT]),
        inferred=read.inferred - {one.content for one in plain},
        refused=read.refused,
    )


def _stricter(plain: Statement, read: Statement) -> Statement:
    if read.sensitivity is None:
        return plain
    if plain.sensitivity is not None and plain.sensitivity.rank >= read.sensitivity.rank:
        return plain
    return replace(plain, sensitivity=read.sensitivity)


def _without_slot_of(read: Statement, plain: Sequence[Statement]) -> Statement:
    """One value of a slot in a turn: the rules' own."""
    if any(one.slot == read.slot for one in plain):
        return replace(read, slot=None, value=None, negated=False)
    return read


def _words(content: str, speaker: str, tongue: Tongue) -> frozenset[str]:
    own = {*_WORD.findall(speaker.casefold()), "s"}
    return frozenset(_WORD.findall(content.casefold())) - own - tongue.words["small"]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME_MIN_SHARE * max(len(one), len(other), 1)
