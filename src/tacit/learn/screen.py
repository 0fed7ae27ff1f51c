"""The first stage: what of a message may be learned from at all, and as whose word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.learn.facts import Hold
from tacit.learn.reading.holds import Reach, combined, read_holds
from tacit.learn.turn import Turn
from tacit.records.conversation import Role
from tacit.screening.instructions import find_instruction

# A tool reports, it does not speak for the person: what it says is looked at by somebody first.
_FROM_A_TOOL = "it comes from a tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    outcome: Literal["learn", "quarantine", "skip"]
    reason: str


def held_by(turn: Turn) -> Reach:
    """How far a turn may go, by its own words and by those that were said about it."""
    return combined(map(read_holds, (turn.text, *turn.hold_words)))


def screen(turn: Turn) -> Screened:
    """Secrets were refused when the turn was accepted: they are not even queued."""
    if turn.role is Role.TOOL:
        return Screened(outcome="quarantine", reason=_FROM_A_TOOL)
    if turn.role is not Role.USER:
        return Screened(outcome="skip", reason=f"the {turn.role} said it, not the person")
    if held_by(turn).hold is Hold.UNKEPT:
        return Screened(outcome="skip", reason="the person asked not to remember it")
    found = find_instruction(turn.text)
    if found is not None:
        reason = f"it reads like an instruction ({found.replace('_', ' ')})"
        return Screened(outcome="quarantine", reason=reason)
    return Screened(outcome="learn", reason="the person's own words")
