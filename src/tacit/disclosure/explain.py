"""A decision in plain words."""

from __future__ import annotations

from tacit.disclosure.decide import PLAIN_WORDS, SHADOWED, decide
from tacit.model.hearing import Hearing
from tacit.model.memory import Memory
from tacit.model.request import Decision, Request
from tacit.model.results import Explanation


def settled(request: Request, memory: Memory) -> Decision:
    """What the rules say, after what is settled before them."""
    return SHADOWED if memory.shadowed else decide(request, memory)


def explained(decision: Decision) -> Explanation:
    says = PLAIN_WORDS[decision.rule]
    return Explanation(allowed=decision.allowed, rule=decision.rule, says=says)


def hearing_of(memory: Memory, decision: Decision) -> Hearing:
    says = PLAIN_WORDS[decision.rule]
    return Hearing(memory=memory, allowed=decision.allowed, rule=decision.rule, says=says)
