"""Whether a text tells the assistant what to do from now on, instead of telling something."""

from __future__ import annotations

from functools import cache, lru_cache

from tacit.screening.instructions import Phrases, load, phrased, suspicious

_KEPT_COUNT = 8_192
_START = ". "  # so that the first sentence begins as every other one does
_COMMAND = "command"  # a bare imperative, which is what a task is worded as


@lru_cache(maxsize=_KEPT_COUNT)
def is_order(text: str, *, task: bool = False) -> bool:
    """Broad on purpose: what is taken for an order is still its giver's own memory."""
    found = phrased(_START + text, _phrases())
    return (found is not None and not (task and found == _COMMAND)) or suspicious(text) is not None


@cache
def _phrases() -> Phrases:
    return load("orders.yaml")
