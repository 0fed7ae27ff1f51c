"""What a channel brings: kept as it came, from before it is acknowledged until it is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Update:
    """One update, as its channel names and words it."""

    id: str  # the same each time that the channel brings it
    chat: str  # those of one chat are worked on in order
    payload: str  # raw, JSON say
    person: str | None = None  # who sent it, as telegram:1001: it is erased with what is theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUpdate:
    """One that was taken in and is not done."""

    seq: int  # in the order of their coming
    id: str
    chat: str
    payload: str
    attempts: int  # that failed
