"""What a caller says of themselves, read from the headers of a request. It is not believed yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind
from tacit.records.request import Requester
from tacit.records.validation import parse_enum
from tacit.surfaces.access.origins import host_of, is_loopback

AUTHORIZATION = "authorization"
# Header → the field of the claims that it is, and the name that errors have for it.
PLAIN = {
    "x-tacit-requester": "requester",
    "x-tacit-name": "name",
    "x-tacit-username": "username",
    "x-tacit-chat": "chat",
    "x-tacit-thread": "thread",
    "x-tacit-agent": "agent",
}
KIND = "x-tacit-chat-kind"
PARTICIPANTS = "x-tacit-participants"
COMPLETE = "x-tacit-complete"
HEADERS = frozenset({*PLAIN, KIND, PARTICIPANTS, COMPLETE})
# Something stands between the caller and us, so the caller need not be on this machine.
_FORWARDED = frozenset({"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
_UNREADABLE = ""  # a token that opens nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """None: nothing was said of it."""

    token: str | None = field(default=None, repr=False)
    requester: str | None = None
    name: str | None = None
    username: str | None = None
    chat: str | None = None
    kind: ChatKind | None = None
    participants: tuple[Requester, ...] | None = None
    complete: bool | None = None
    thread: str | None = None
    agent: str | None = None
    remote: bool = False  # it may have come from another machine
    error: InvalidInput | None = None  # what could not be read: told to those who are let in

    def with_body(
        self,
        *,
        requester: str | None = None,
        chat: str | None = None,
        thread: str | None = None,
        agent: str | None = None,
    ) -> Claims:
        """With what the body of a request says too; it may not say something else."""
        said = {"requester": requester, "chat": chat, "thread": thread, "agent": agent}
        more: dict[str, Any] = {name: one for name, one in said.items() if one is not None}
        for name, value in more.items():
            if getattr(self, name) not in (None, value):
                problem = f"the header says another one; leave out the header or the {name}"
                return replace(self, error=self.error or InvalidInput(name, problem))
        return replace(self, **more)


def claims_of(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> Claims:
    """Never fails: what is wrong is told by `admit`, once it knows that the key is good."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name.lower(), []).append(value)
    claims = Claims(token=_token(found.get(AUTHORIZATION)), remote=_outside(found))
    try:
        return _read(claims, found)
    except InvalidInput as wrong:
        return replace(claims, error=wrong)


def _read(claims: Claims, found: Mapping[str, list[str]]) -> Claims:
    said = {name: _only(name, values) for name, values in found.items() if name in HEADERS}
    plain: dict[str, Any] = {
        field: _decoded(field, said[name]) for name, field in PLAIN.items() if name in said
    }
    read = replace(claims, **plain)
    if KIND in said:
        read = replace(read, kind=parse_enum("kind", said[KIND].strip().lower(), ChatKind))
    if COMPLETE in said:
        read = replace(read, complete=_flag(said[COMPLETE]))
    if PARTICIPANTS in said:
        read = replace(read, participants=_participants(said[PARTICIPANTS]))
    return read


def _token(values: list[str] | None) -> str | None:
    if values is None:
        return None
    scheme, _, token = values[0].strip().partition(" ")
    good = len(values) == 1 and scheme.lower() == "bearer"
    return token.strip() if good else _UNREADABLE


def _outside(found: Mapping[str, list[str]]) -> bool:
    if not _FORWARDED.isdisjoint(found):
        return True
    names = [host_of(host) for host in found.get("host", [])]
    return not all(name is not None and is_loopback(name) for name in names)


def _only(name: str, values: list[str]) -> str:
    if len(values) > 1:
        raise InvalidInput(name, "stands in the request more than once; send it once")
    return values[0]


def _decoded(field: str, written: str) -> str:
    """Headers are ASCII: any other character is written as its percent-encoded UTF-8."""
    try:
        if not written.isascii():
            raise ValueError
        return unquote(written.strip(), errors="strict")
    except ValueError:
        raise InvalidInput(field, "write it as percent-encoded UTF-8, as in Zo%C3%AB") from None


def _flag(written: str) -> bool:
    word = written.strip().lower()
    if word not in ("true", "false"):
        raise InvalidInput("complete", "must be true or false")
    return word == "true"


def _participants(written: str) -> tuple[Requester, ...]:
    """`telegram:2;Bob;bob_l,slack:T1:U2`: the key, the name and the username of each, and every
    part percent-encoded by itself."""
    parts = [part for part in written.split(",") if part.strip()]
    if len(parts) > limits.PARTICIPANTS_MAX_COUNT:
        most = limits.PARTICIPANTS_MAX_COUNT
        raise InvalidInput("participants", f"takes at most {most:,} people")
    return tuple(_participant(part) for part in parts)


def _participant(written: str) -> Requester:
    key, *called = (_decoded("participants", part) for part in written.split(";"))
    if len(called) > 2:
        raise InvalidInput("participants", "write each as telegram:2;name;username")
    name, username = (*called, "", "")[:2]
    return Requester(key, name=name or None, username=username or None)
