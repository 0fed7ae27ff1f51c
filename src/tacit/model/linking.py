"""That two identities are one person: links, and the codes that lead to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class LinkKind(StrEnum):
    LINK = "link"  # an external key and its account
    MERGE = "merge"  # two people who turned out to be one


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One episode of `source` being the same person as `target`."""

    id: str
    source: str
    target: str
    kind: LinkKind
    actor: str
    created_at: datetime
    verified_at: datetime | None
    ended_at: datetime | None

    @property
    def holds(self) -> bool:
        return self.verified_at is not None and self.ended_at is None

    @property
    def held(self) -> bool:
        """It did once, whether or not it still does."""
        return self.verified_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOffer:
    """The only time that a code is shown."""

    code: str = field(repr=False)  # XXXXX-XXXXX
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWaiting:
    """A code was accepted, and its giver has not said yes. Nothing is shared so far."""

    identity: str  # the other side, as its channel names it: slack:T1:U2
    expires_at: datetime
