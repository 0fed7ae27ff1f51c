"""Whether something is kept at once, asked about first, or not kept: a person has the last word."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tacit.learn.facts import Statement
from tacit.learn.reconcile import Decision, Outcome
from tacit.records.memory import Sensitivity

SIGNALS_NEEDED_COUNT = 2
# What somebody is called and where they are at home is theirs to say, whoever else knows it.
PROFILE_SLOTS = frozenset({"name", "pronouns", "home_city", "home", "language"})


class Confirm(StrEnum):
    """What is asked about before it is kept, besides what always is."""

    NEVER = "never"
    NEW = "new"
    ALWAYS = "always"


class Verdict(StrEnum):
    KEEP = "keep"
    ASK = "ask"
    WAIT = "wait"  # for a second signal
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What consent depends on besides the statement itself."""

    confirm: Confirm
    own_word: bool  # said in the first person, by the one it is about
    declined: bool  # they said no to it before
    signals: int = 0  # how often it was said before without being kept
    inferred: bool = False  # a model read it between the lines
    of_family: bool = False  # told in private of one's own child, partner or parent


def consent(decision: Decision, statement: Statement | None, c: Circumstances) -> Consent:
    if statement is None or decision.outcome in (Outcome.SAME, Outcome.ENDED):
        return Consent(verdict=Verdict.KEEP, reason="what is known is kept current")
    if statement.explicit and c.own_word:
        return Consent(verdict=Verdict.KEEP, reason="the person asked for it")
    if c.declined:
        return Consent(verdict=Verdict.DROP, reason="the person said no to it before")
    family = c.of_family and not c.inferred
    if not (c.own_word or family) and _delicate(statement):
        return Consent(verdict=Verdict.ASK, reason="it is personal, and not the person's own word")
    if c.inferred and c.signals + 1 < SIGNALS_NEEDED_COUNT:
        return Consent(verdict=Verdict.WAIT, reason="it was read between the lines, and only once")
    if statement.explicit:
        return Consent(verdict=Verdict.KEEP, reason="the person asked for it")
    if c.confirm is Confirm.ALWAYS:
        return Consent(verdict=Verdict.ASK, reason="everything is asked about here")
    if c.confirm is Confirm.NEW and decision.outcome is Outcome.NEW:
        return Consent(verdict=Verdict.ASK, reason="new things are asked about here")
    if decision.outcome is Outcome.CHANGED:
        return Consent(verdict=Verdict.KEEP, reason="what is known is kept current")
    return Consent(verdict=Verdict.KEEP, reason="the person said it")


def _delicate(statement: Statement) -> bool:
    profile = (statement.slot or "").partition(":")[0] in PROFILE_SLOTS
    return profile or statement.sensitivity is Sensitivity.SENSITIVE
