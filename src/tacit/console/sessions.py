"""Session and flash cookies, CSRF tokens, and the visitor who is signed in."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tacit.errors import NotFound
from tacit.memory import Memory, Operator, View
from tacit.records.accounts import WebSession
from tacit.records.request import Chat, Requester
from tacit.settings import Settings

# The two cookies: whose sitting it is, and what the page before wants said. Both are for this host
# alone, and no script reads them.
#
# What a form has to bring along to be believed is made of the first one, and what is said on
# the next page is signed with it.

SESSION_COOKIE = "tacit_sitting"
FLASH_COOKIE = "tacit_said"
_FLASH_SECONDS = 60
_FLASH_IDS_MAX_COUNT = 200
_CSRF_CONTEXT, _FLASH_CONTEXT = b"tacit console: form", b"tacit console: said"
_FLASH_KEY = re.compile(r"[a-z][a-z-]{0,39}")
_FLASH_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def csrf_token(sitting: str) -> str:
    """What every form of this sitting holds: nobody makes it who does not have the cookie."""
    return hmac.new(sitting.encode(), _CSRF_CONTEXT, hashlib.sha256).hexdigest()


def is_csrf_token(sitting: str, sent: str | None) -> bool:
    return hmac.compare_digest(csrf_token(sitting).encode(), (sent or "").encode())


def get_session_cookie(request: Request) -> str | None:
    """None also where there are two: one of them somebody else has put there."""
    found = _cookie_values(request, SESSION_COOKIE)
    return found[0] if len(found) == 1 and found[0] else None


def set_session_cookie(answer: Response, request: Request, cookie: str, settings: Settings) -> None:
    _set_cookie(answer, SESSION_COOKIE, cookie, secure=needs_secure_cookie(request, settings))


def delete_cookies(answer: Response, request: Request, settings: Settings) -> None:
    for name in (SESSION_COOKIE, FLASH_COOKIE):
        _set_cookie(answer, name, "", secure=needs_secure_cookie(request, settings), seconds=0)


def needs_secure_cookie(request: Request, settings: Settings) -> bool:
    return request.url.scheme == "https" or (settings.console.url or "").startswith("https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashMessage:
    """A word of those that pages know, and the ids of what it is about. Nothing that people said
    is in a cookie."""

    key: str
    ids: tuple[str, ...] = ()
    count: int = 0  # of what it is about: there may be more than ids are kept of


def set_flash(
    answer: Response, request: Request, settings: Settings, sitting: str, note: FlashMessage
) -> None:
    ids = [one for one in note.ids if _FLASH_ID.fullmatch(one)][:_FLASH_IDS_MAX_COUNT]
    written = ".".join([note.key, str(note.count), *ids])
    value = f"{written}.{_sign_flash(sitting, written)}"
    _set_cookie(
        answer,
        FLASH_COOKIE,
        value,
        secure=needs_secure_cookie(request, settings),
        seconds=_FLASH_SECONDS,
    )


def read_flash(request: Request, sitting: str) -> FlashMessage | None:
    found = _cookie_values(request, FLASH_COOKIE)
    written, _, signature = found[0].rpartition(".") if len(found) == 1 else ("", "", "")
    if not hmac.compare_digest(_sign_flash(sitting, written).encode(), signature.encode()):
        return None
    word, count, *ids = written.split(".")
    return (
        FlashMessage(key=word, count=int(count), ids=tuple(ids))
        if _FLASH_KEY.fullmatch(word)
        else None
    )


def delete_flash(answer: Response, request: Request, settings: Settings) -> None:
    _set_cookie(answer, FLASH_COOKIE, "", secure=needs_secure_cookie(request, settings), seconds=0)


def _sign_flash(sitting: str, written: str) -> str:
    return hmac.new(sitting.encode(), _FLASH_CONTEXT + written.encode(), hashlib.sha256).hexdigest()


def _cookie_values(request: Request, name: str) -> Sequence[str]:
    pairs = (
        one.strip().partition("=")
        for header in request.headers.getlist("cookie")
        for one in header.split(";")
    )
    return [value for found, _, value in pairs if found == name]


def _set_cookie(
    answer: Response, name: str, value: str, *, secure: bool, seconds: int | None = None
) -> None:
    """Without `seconds` it goes when the browser is closed; the sitting itself may end sooner."""
    answer.set_cookie(
        name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict"
    )


# Somebody who is signed in, and what they may use: a person their own view, an operator the words
# that are noted as looks.


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    session: WebSession
    memory: Memory  # of the space that the sitting belongs to

    @property
    def is_operator(self) -> bool:
        return self.session.operator is not None

    @property
    def name(self) -> str:
        """What they are signed in as."""
        return self.session.operator or self.session.person or ""

    @property
    def view(self) -> View:
        """Of a person, in private. An operator has none: for them it is not there."""
        return self.view_in(None)

    def view_in(self, thread: str | None, agent: str | None = None) -> View:
        """The same, in a conversation of its own, as some agent uses it."""
        person = self.session.person
        if person is None:
            raise NotFound("page")
        chat = Chat.private(person)
        return self.memory.view(Requester(person), chat, thread=thread, agent=agent)

    @property
    def operator(self) -> Operator:
        """Of an operator; for a person it is not there."""
        if self.session.operator is None:
            raise NotFound("page")
        return self.memory.operator(self.session.operator)

    @property
    def api(self) -> View | Operator:
        """What both have: a person over their own memories, an operator over the space."""
        return self.operator if self.is_operator else self.view
