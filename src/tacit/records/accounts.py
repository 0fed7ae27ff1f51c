"""People, linked identities, API keys, sign-in links and web sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class NameKind(StrEnum):
    NAME = "name"
    USERNAME = "username"
    ALIAS = "alias"
    RELATION = "relation"  # "my boss": valid for its speaker only
    WITHHELD = "withheld"  # an unidentified person of a hold; callers never set it


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    kind: NameKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person that memories are about, with or without an account."""

    id: str
    names: tuple[Name, ...]
    identities: frozenset[str]


class LinkKind(StrEnum):
    LINK = "link"  # an external key and its account
    MERGE = "merge"  # two people found to be one


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A period in which `source` and `target` are the same person."""

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
    def was_verified(self) -> bool:
        """Whether the link was ever verified, ended or not."""
        return self.verified_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOffer:
    """A new link code. It is shown only once."""

    code: str = field(repr=False)  # XXXXX-XXXXX
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWaiting:
    """An accepted code that the person who offered it has not confirmed. Nothing is shared yet."""

    identity: str  # external key of the other side: slack:T1:U2
    expires_at: datetime


class Scope(StrEnum):
    """What an API key allows."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"  # hard delete of one memory or of all own memories
    ADMIN = "admin"  # the whole space: links, events, jobs, counts, metrics
    ACT_AS = "act-as"  # name the requester, the chat and its participants


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key as operators see it. The storage keeps no token, only its hash."""

    id: str
    space: str
    name: str  # chosen by the operator
    scopes: frozenset[Scope]
    requester: str | None = None  # external key of the person it acts for
    agent: str | None = None  # None: the caller names the agent
    categories: tuple[str, ...] | None = None  # None: all categories
    rate_per_minute: int | None = None  # None: the server's setting
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds_at(self, now: datetime) -> bool:
        """Whether the key is valid at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new API key with its token, which is shown only once."""

    key: Key
    token: str = field(repr=False)  # tct_<key id>_<secret>


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignIn:
    """A sign-in link that works once. Its token is shown only here."""

    token: str = field(repr=False)  # tcl_<id>_<secret>
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A signed-in person or operator; exactly one of the two is set."""

    id: str
    space: str
    person: str | None  # external key: telegram:1001
    operator: str | None  # the operator's name in the access log
    created_at: datetime
    seen_at: datetime  # time of the last request, to the minute
    expires_at: datetime  # also if the session is in use


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A new web session with its cookie, which is shown only once."""

    sitting: WebSession
    cookie: str = field(repr=False)  # tcs_<id>_<secret>
