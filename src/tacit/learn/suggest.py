"""Whether something is better said by changing a memory that there is than by adding another."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.records.memory import Memory
from tacit.records.text import split_terms
from tacit.storage.learned_facts import normalized_digest

SAME_WORDS = "it says the same"
SAME_SUBJECT = "it is about the same"
_SHARED_MIN_SHARE = 0.34  # of the shorter one's words


def suggested(content: str, known: Sequence[Memory]) -> tuple[Memory, str] | None:
    """Of memories with the same subject, newest first: the one that says the same, or the one that
    has most in common with it, if that is enough to speak of the same thing."""
    same = normalized_digest(content)
    for memory in known:
        if normalized_digest(memory.content) == same:
            return memory, SAME_WORDS
    asked = set(split_terms(content))
    shares = [_shared(asked, set(split_terms(memory.content))) for memory in known]
    if not shares or max(shares) < _SHARED_MIN_SHARE:
        return None
    return known[shares.index(max(shares))], SAME_SUBJECT


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))
