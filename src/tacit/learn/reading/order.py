"""Other orders of words, put into the one that forms are written in."""

from __future__ import annotations

from tacit.learn.needed import low, may_match
from tacit.learn.reading.tongue import Tongue


def reordered(text: str, tongue: Tongue) -> str:
    seen = low(text)
    for pattern, new, needs in tongue.rewrites:
        if not may_match(needs, seen) or pattern.search(text) is None:
            continue
        changed = pattern.sub(new, text, count=1)
        if changed != text and changed.endswith(text):
            # A subject was put before it: it no longer opens the sentence.
            changed = changed.removesuffix(text) + lowered(text)
        text = _moved(text, changed, tongue)
        seen = low(text)
    return text


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _moved(text: str, changed: str, tongue: Tongue) -> str:
    """What opened a sentence, and no longer does, loses its capital where it is a small word."""
    first = text.split(" ", 1)[0]
    small = tongue.words["small"] | tongue.words["backward"]
    if changed.startswith(first) or first.casefold() not in small:
        return changed
    return changed.replace(f" {first} ", f" {lowered(first)} ", 1)
