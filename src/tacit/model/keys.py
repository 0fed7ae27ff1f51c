"""Keys of callers: what each is bound to, and how far it reaches. Its secret is not kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a key lets its holder do."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"  # for good: a memory, or all of one's own
    ADMIN = "admin"  # the space as a whole: links, events, jobs, counts, metrics
    ACT_AS = "act-as"  # name the requester and the chat, and vouch for who is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as its operator sees it. Whoever holds its token is let in with it."""

    id: str
    space: str
    name: str  # the operator's word for it
    scopes: frozenset[Scope]
    requester: str | None = None  # external key of the one person it acts for; None: for nobody
    agent: str | None = None  # the agent that uses it; None: whichever the caller names
    categories: tuple[str, ...] | None = None  # no others are read or written; None: all are
    rate_per_minute: int | None = None  # requests; None: as the server's settings say
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds_at(self, now: datetime) -> bool:
        """Whether it opens anything then."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """The only time that a token is shown."""

    key: Key
    token: str = field(repr=False)  # tct_<key id>_<secret>
