"""What is remembered of a speaker, as a correction looks at it, and what a correction says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tacit.learn.facts import Mention


class Known(NamedTuple):  # made for everything that is known, for each turn
    """One existing memory of the speaker's own."""

    content: str
    slot: str | None
    value: str | None
    about_speaker: bool
    said_at: datetime
    about: tuple[Mention, ...] = ()  # others whom it is about
    negated: bool = False
    # Stated in the speaker's message before this one: what a bare "I meant Porto" may correct.
    just_said: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """One existing memory that a message corrects or ends."""

    corrects: Known
    content: str | None  # what holds now, in the third person; None where it simply ended
    reason: str  # in plain words, for the history
    ends: bool  # the message says that it is over, and no value in its place
