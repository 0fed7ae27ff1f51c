"""Signing in: a link that works once, and a sitting, for as long as somebody is signed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignIn:
    """The only time that a token is shown."""

    token: str = field(repr=False)  # tcl_<id>_<secret>
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
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

    sitting: Sitting
    cookie: str = field(repr=False)  # tcs_<id>_<secret>
