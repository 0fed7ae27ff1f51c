"""Whether something that came to mind has to do with the words that were said."""

from __future__ import annotations

from tacit.records.results import Recalled

# Measured with the embedder that comes along: some of what people meant in other words was at 0.41
# to 0.45, what had nothing to do with their words at 0.37 and below.
_CLOSE_MEANING = 0.4


def fits(one: Recalled) -> bool:
    """It shares a word that counts, is about somebody who was named, tells of the requester what
    they ask about themselves, or is close in meaning. With few memories the best one is otherwise
    just the least far away."""
    signals = one.signals
    named = signals.words > 0 or signals.person > 0 or signals.own > 0
    return named or signals.meaning >= _CLOSE_MEANING
