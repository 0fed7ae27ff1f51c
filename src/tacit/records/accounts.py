"""People, linked identities, API keys, sign-in links and web sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

# Somebody memories are about, with or without an account.


class NameKind(StrEnum):
    NAME = "name"
    USERNAME = "username"
    ALIAS = "alias"
    RELATION = "relation"  # "my boss": true for the one who says it
    WITHHELD = "withheld"  # whom something is kept from, whoever that is: never given by a caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    kind: NameKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    id: str
    names: tuple[Name, ...]
    identities: frozenset[str]


# That two identities are one person: links, and the codes that lead to them.


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


# Keys of callers: what each is bound to, and how far it reaches. Its secret is not kept.


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


# Signing in: a link that works once, and a sitting, for as long as somebody is signed in.


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignIn:
    """The only time that a token is shown."""

    token: str = field(repr=False)  # tcl_<id>_<secret>
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """Somebody who is signed in: a person, or an operator; exactly one of both."""

    id: str
    space: str
    person: str | None  # external key: telegram:1001
    operator: str | None  # the name that their looks stand under
    created_at: datetime
    seen_at: datetime  # when they last did something, to the minute
    expires_at: datetime  # whatever they do until then


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """The only time that a cookie is shown."""

    sitting: WebSession
    cookie: str = field(repr=False)  # tcs_<id>_<secret>
