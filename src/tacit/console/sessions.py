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

# Two cookies, both HttpOnly and for this host only: the session, and the flash message for the
# next page. The CSRF token is derived from the session cookie, which also signs the flash message.

SESSION_COOKIE = "tacit_session"
FLASH_COOKIE = "tacit_flash"
_FLASH_SECONDS = 60
_FLASH_IDS_MAX_COUNT = 200
_CSRF_CONTEXT, _FLASH_CONTEXT = b"tacit console: form", b"tacit console: flash"
_FLASH_KEY = re.compile(r"[a-z][a-z-]{0,39}")
_FLASH_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def csrf_token(cookie: str) -> str:
    """Derive the CSRF token of a session from its cookie."""
    return hmac.new(cookie.encode(), _CSRF_CONTEXT, hashlib.sha256).hexdigest()


def is_csrf_token(cookie: str, sent: str | None) -> bool:
    return hmac.compare_digest(csrf_token(cookie).encode(), (sent or "").encode())


def get_session_cookie(request: Request) -> str | None:
    """Return the session cookie, or None if there are two: one of them may be injected."""
    found = _cookie_values(request, SESSION_COOKIE)
    return found[0] if len(found) == 1 and found[0] else None


def set_session_cookie(answer: Response, request: Request, cookie: str, settings: Settings) -> None:
    _set_cookie(answer, request, settings, SESSION_COOKIE, cookie)


def delete_cookies(answer: Response, request: Request, settings: Settings) -> None:
    for name in (SESSION_COOKIE, FLASH_COOKIE):
        _set_cookie(answer, request, settings, name, "", seconds=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashMessage:
    """The key of a declared message and ids of memories. A cookie never contains their text."""

    key: str
    ids: tuple[str, ...] = ()
    count: int = 0  # may exceed the number of ids, which is limited


def set_flash(answer: Response, request: Request, settings: Settings, cookie: str, message: FlashMessage) -> None:
    ids = [one for one in message.ids if _FLASH_ID.fullmatch(one)][:_FLASH_IDS_MAX_COUNT]
    payload = ".".join([message.key, str(message.count), *ids])
    value = f"{payload}.{_sign_flash(cookie, payload)}"
    _set_cookie(answer, request, settings, FLASH_COOKIE, value, seconds=_FLASH_SECONDS)


def read_flash(request: Request, cookie: str) -> FlashMessage | None:
    found = _cookie_values(request, FLASH_COOKIE)
    payload, _, signature = found[0].rpartition(".") if len(found) == 1 else ("", "", "")
    if not hmac.compare_digest(_sign_flash(cookie, payload).encode(), signature.encode()):
        return None
    key, count, *ids = payload.split(".")
    if not _FLASH_KEY.fullmatch(key):
        return None
    return FlashMessage(key=key, count=int(count), ids=tuple(ids))


def delete_flash(answer: Response, request: Request, settings: Settings) -> None:
    _set_cookie(answer, request, settings, FLASH_COOKIE, "", seconds=0)


def _sign_flash(cookie: str, payload: str) -> str:
    return hmac.new(cookie.encode(), _FLASH_CONTEXT + payload.encode(), hashlib.sha256).hexdigest()


def _cookie_values(request: Request, name: str) -> Sequence[str]:
    pairs = (one.strip().partition("=") for header in request.headers.getlist("cookie") for one in header.split(";"))
    return [value for found, _, value in pairs if found == name]


def _set_cookie(
    answer: Response, request: Request, settings: Settings, name: str, value: str, seconds: int | None = None
) -> None:
    """Set a cookie; without `seconds` the browser drops it when it closes."""
    secure = request.url.scheme == "https" or (settings.console.url or "").startswith("https://")
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A signed-in person, who uses their own view, or an operator, whose reads are logged."""

    session: WebSession
    memory: Memory  # of the space of the session

    @property
    def is_operator(self) -> bool:
        return self.session.operator is not None

    @property
    def name(self) -> str:
        """The operator's name or the person's external key."""
        return self.session.operator or self.session.person or ""

    @property
    def view(self) -> View:
        """The person's view in their private chat. Raises NotFound for an operator."""
        return self.view_in(None)

    def view_in(self, thread: str | None, agent: str | None = None) -> View:
        """The same view in a given thread and for a given agent."""
        person = self.session.person
        if person is None:
            raise NotFound("page")
        chat = Chat.private(person)
        return self.memory.view(Requester(person), chat, thread=thread, agent=agent)

    @property
    def operator(self) -> Operator:
        """The operator's access to the space. Raises NotFound for a person."""
        if self.session.operator is None:
            raise NotFound("page")
        return self.memory.operator(self.session.operator)

    @property
    def api(self) -> View | Operator:
        """The methods that both have: over the person's own memories, or over the space."""
        return self.operator if self.is_operator else self.view
