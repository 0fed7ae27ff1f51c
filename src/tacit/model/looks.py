"""That an operator looked at memories: what the people concerned are told of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look. To a person, no more of it than what concerns their own memories."""

    id: str
    at: datetime
    actor: str  # operator:NAME
    word: str  # what was asked for: browse, show, history, …
    # How many memories it showed; to a person, how many of theirs. None at all: what they are
    # called, or what they call somebody.
    count: int
    memory_id: str | None = None  # where it was exactly one, as long as there is one
