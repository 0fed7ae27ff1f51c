"""What is the same for every clause of a message: who speaks, when, and how."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tacit.learn.reading.tongue import Tongue


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is the same for every clause of a message."""

    speaker: str
    said_at: datetime
    locale: Tongue
    lower: bool  # the message has no capitals
    laughing: bool = False
    explicit: bool = False
    weighty: bool = False  # the speaker said how far it may go: it is no chatter
    noted: bool = False  # said to be known from now on: "fyi", "heads up"
    meant: str | None = None  # whom him, her or them must mean
