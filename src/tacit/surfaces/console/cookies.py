"""The two cookies: whose sitting it is, and what the page before wants said. Both are for this host
alone, and no script reads them.

What a form has to bring along to be believed is made of the first one, and what is said on the next
page is signed with it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tacit.settings import Settings

SITTING = "tacit_sitting"
SAID = "tacit_said"
_SAID_SECONDS = 60
_SAID_IDS_MAX_COUNT = 200
_FORM, _NOTE = b"tacit console: form", b"tacit console: said"
_WORD = re.compile(r"[a-z][a-z-]{0,39}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def form_token(sitting: str) -> str:
    """What every form of this sitting holds: nobody makes it who does not have the cookie."""
    return hmac.new(sitting.encode(), _FORM, hashlib.sha256).hexdigest()


def is_form_token(sitting: str, sent: str | None) -> bool:
    return hmac.compare_digest(form_token(sitting).encode(), (sent or "").encode())


def sitting_of(request: Request) -> str | None:
    """None also where there are two: one of them somebody else has put there."""
    found = _sent(request, SITTING)
    return found[0] if len(found) == 1 and found[0] else None


def give(answer: Response, request: Request, cookie: str, settings: Settings) -> None:
    _set(answer, SITTING, cookie, secure=is_secure(request, settings))


def take_back(answer: Response, request: Request, settings: Settings) -> None:
    for name in (SITTING, SAID):
        _set(answer, name, "", secure=is_secure(request, settings), seconds=0)


def is_secure(request: Request, settings: Settings) -> bool:
    return request.url.scheme == "https" or (settings.console.url or "").startswith("https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A word of those that pages know, and the ids of what it is about. Nothing that people said
    is in a cookie."""

    key: str
    ids: tuple[str, ...] = ()
    count: int = 0  # of what it is about: there may be more than ids are kept of


def leave(answer: Response, request: Request, settings: Settings, sitting: str, note: Note) -> None:
    ids = [one for one in note.ids if _ID.fullmatch(one)][:_SAID_IDS_MAX_COUNT]
    written = ".".join([note.key, str(note.count), *ids])
    value = f"{written}.{_signature(sitting, written)}"
    _set(answer, SAID, value, secure=is_secure(request, settings), seconds=_SAID_SECONDS)


def left(request: Request, sitting: str) -> Note | None:
    found = _sent(request, SAID)
    written, _, signature = found[0].rpartition(".") if len(found) == 1 else ("", "", "")
    if not hmac.compare_digest(_signature(sitting, written).encode(), signature.encode()):
        return None
    word, count, *ids = written.split(".")
    return Note(key=word, count=int(count), ids=tuple(ids)) if _WORD.fullmatch(word) else None


def forget_note(answer: Response, request: Request, settings: Settings) -> None:
    _set(answer, SAID, "", secure=is_secure(request, settings), seconds=0)


def _signature(sitting: str, written: str) -> str:
    return hmac.new(sitting.encode(), _NOTE + written.encode(), hashlib.sha256).hexdigest()


def _sent(request: Request, name: str) -> Sequence[str]:
    pairs = (
        one.strip().partition("=")
        for header in request.headers.getlist("cookie")
        for one in header.split(";")
    )
    return [value for found, _, value in pairs if found == name]


def _set(
    answer: Response, name: str, value: str, *, secure: bool, seconds: int | None = None
) -> None:
    """Without `seconds` it goes when the browser is closed; the sitting itself may end sooner."""
    answer.set_cookie(
        name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict"
    )
