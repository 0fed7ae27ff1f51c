"""How something is done, as numbered steps, where somebody asks for that to be remembered."""

from __future__ import annotations

import re

from tacit import limits
from tacit.learn.facts import Statement
from tacit.learn.reading.tongue import Tongue
from tacit.records.memory import Kind, Sensitivity

_NUMBERED = re.compile(r"(?:^|[\s;,.])(?:\d{1,2}[.)]|step \d{1,2}[:.)]?|[-*•])\s+", re.IGNORECASE)
_STEPS_MIN_COUNT, _STEPS_MAX_COUNT = 2, 20


def procedure(text: str, tongue: Tongue) -> Statement | None:
    """None unless it is asked for in so many words and at least two steps follow."""
    match = tongue.patterns["procedure"].match(text.strip())
    if match is None or not match["steps"]:
        return None
    steps = _steps(match["steps"], tongue)
    if not _STEPS_MIN_COUNT <= len(steps) <= _STEPS_MAX_COUNT:
        return None
    goal = match["goal"].strip(" :,.")
    numbered = " ".join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    content = tongue.texts["how_to"].format(goal=goal, steps=numbered)
    if len(content) > limits.PROCEDURE_MAX_CHARS:
        return None
    return Statement(
        content=content,
        quote=text.strip(),
        explicit=True,
        kind=Kind.PROCEDURE,
        about_speaker=False,
        about=(),
        hearsay=False,
        slot=f"procedure:{' '.join(goal.casefold().split())}"[: limits.SLOT_MAX_CHARS],
        value=" ".join(numbered.casefold().split()),
        negated=False,
        observed_at=None,
        withheld_from=(),
        hold=None,
        sensitivity=Sensitivity.PUBLIC,
        portable=False,
    )


def _steps(text: str, tongue: Tongue) -> list[str]:
    pieces = _NUMBERED.split(text)
    if len(pieces) <= _STEPS_MIN_COUNT:
        pieces = tongue.patterns["then"].split(text)
    found = (piece.strip(" \n\t.,;:") for piece in pieces)
    return [_imperative(piece, tongue) for piece in found if piece]


def _imperative(step: str, tongue: Tongue) -> str:
    """ "You then run the tests" is "Run the tests.": a step says what to do."""
    bare = tongue.patterns["step_lead"].sub("", step).strip()
    return f"{bare[:1].upper()}{bare[1:]}."
