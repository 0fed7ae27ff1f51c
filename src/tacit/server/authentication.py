"""Authenticate a caller: claims in headers, keys, rate limits, allowed hosts and origins."""

from __future__ import annotations

import ipaddress
import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal
from urllib.parse import unquote

from cachetools import LRUCache

from tacit import limits
from tacit.errors import InvalidInput, KeyRefused, NotAllowed, TooManyRequests
from tacit.memory import Memory, View
from tacit.records.accounts import Key, Scope
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.records.validation import parse_enum
from tacit.settings import Settings

# Allowed hosts and origins, against web pages that reach for a local server.

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WILDCARD_HOSTS = frozenset({"0.0.0.0", "::", ""})
# A name, or an address in brackets, and a port.
_HOST_PATTERN = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN_PATTERN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@]+)")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the names of this machine, of the listening address and of the console, and those of
    the settings."""
    host, console = settings.server.host, _parse_origin(_configured_console_url(settings))
    named = frozenset() if is_wildcard_host(host) else frozenset({bracket_host(host)})
    reached = frozenset() if console is None else frozenset({console[1]})
    return LOOPBACK_HOSTS | named | reached | frozenset(settings.server.allowed_hosts)


def allowed_origins(settings: Settings) -> frozenset[str]:
    """Return the origins of the settings, and the console's own: behind a proxy it has another
    scheme than the server knows of."""
    console = _configured_console_url(settings)
    return frozenset(settings.server.allowed_origins) | ({console} if console else set())


def _configured_console_url(settings: Settings) -> str:
    """Return the URL of the console, or an empty string where it has none of its own."""
    return settings.console.url if settings.console.enabled else ""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host, as far as its name tells."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def is_wildcard_host(host: str) -> bool:
    """Return whether the host stands for every address of this machine."""
    return host in _WILDCARD_HOSTS


def parse_host(header: str | None) -> str | None:
    """Return the name in a Host header without its port, or None where it is no name."""
    if header is None or not header.isascii():  # other characters may fold to ASCII
        return None
    found = _HOST_PATTERN.fullmatch(header.lower())
    return None if found is None else found["name"]


def is_host_allowed(header: str | None, allowed: Collection[str]) -> bool:
    return parse_host(header) in allowed


def is_origin_allowed(
    origin: str | None, host: str | None, *, scheme: Literal["http", "https"] = "http", allowed: Collection[str] = ()
) -> bool:
    """Return whether a page of `origin` may send the request with this host and scheme. A client
    that sends no origin is no web page."""
    if origin is None:
        return True
    if not origin.isascii():
        return False
    if origin.lower() in allowed:
        return True
    asking, here = _parse_origin(origin), _parse_origin(f"{scheme}://{host}") if host else None
    return asking is not None and asking == here


def _parse_origin(written: str) -> tuple[str, str, int] | None:
    found = _ORIGIN_PATTERN.fullmatch(written.lower())
    named = _HOST_PATTERN.fullmatch(found["host"]) if found is not None else None
    if found is None or named is None:
        return None
    port = int(named["port"]) if named["port"] else _DEFAULT_PORTS[found["scheme"]]
    return found["scheme"], named["name"], port


def bracket_host(host: str) -> str:
    """Return the host as a URL has it."""
    return f"[{host.strip('[]')}]".lower() if ":" in host else host.lower()


# Links that sign a person in to the console.

SIGN_IN_PATH = "/sign-in"
_LOOPBACK_ADDRESS = "127.0.0.1"


def sign_in_url(console: str, token: str) -> str:
    return f"{console}{SIGN_IN_PATH}?token={token}"


def console_url(settings: Settings) -> str | None:
    """Return the URL of the console, or None where only the server itself knows its port."""
    if settings.console.url:
        return settings.console.url
    host, port = settings.server.host, settings.server.port
    named = _LOOPBACK_ADDRESS if is_wildcard_host(host) else bracket_host(host)
    return f"http://{named}:{port}" if port else None


class RateLimiter:
    """A token bucket for each caller, within this process. Safe to share between threads."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        # Caller → (left, seen at). The caller with the oldest request, who is likely to have a full
        # bucket by now, is dropped first.
        self._buckets: LRUCache[str, tuple[float, float]] = LRUCache(limits.RATE_BUCKETS_MAX_COUNT)
        self._lock = Lock()

    def take(self, who: str, per_minute: int | None = None) -> None:
        """Take one request of a caller; raise `TooManyRequests` where none is left."""
        rate = (per_minute or self._per_minute) / 60
        most = max(1.0, rate * 60 * limits.RATE_BURST_SHARE)
        with self._lock:
            now = self._clock()
            left, since = self._buckets.get(who, (most, now))
            left = min(most, left + max(0.0, now - since) * rate)
            enough = left >= 1
            self._buckets[who] = (left - 1 if enough else left, now)
        if not enough:
            raise TooManyRequests(max(1, math.ceil((1 - left) / rate)))


# What a request claims about its caller. Nothing of it is trusted yet.

AUTHORIZATION_HEADER = "authorization"
# Sent by proxies: the caller need not be on this machine.
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
_INVALID_TOKEN = ""  # a token that opens nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a request says of its caller; None where it says nothing."""

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
    error: InvalidInput | None = None  # raised once the key is known to be good

    def with_agent(self, agent: str) -> Claims:
        """Return the claims with the agent of the body, which must not contradict the header."""
        if self.agent not in (None, agent):
            problem = "the header says another one; leave out the header or the agent"
            return replace(self, error=self.error or InvalidInput("agent", problem))
        return replace(self, agent=agent)


def parse_claims(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> Claims:
    """Return the claims of the headers. Errors are kept for `authenticate`, which raises them once
    the key is known to be good."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name.lower(), []).append(value)
    claims = Claims(token=_parse_token(found.get(AUTHORIZATION_HEADER)), remote=_is_remote(found))
    try:
        return _parse_headers(claims, found)
    except InvalidInput as wrong:
        return replace(claims, error=wrong)


def _parse_headers(claims: Claims, found: Mapping[str, list[str]]) -> Claims:
    said: dict[str, Any] = {}
    for name, values in found.items():
        if name in CLAIM_HEADERS:
            if len(values) > 1:
                raise InvalidInput(name, "stands in the request more than once; send it once")
            claim, parse = CLAIM_HEADERS[name]
            said[claim] = parse(claim, values[0])
    return replace(claims, **said)


def _parse_token(values: list[str] | None) -> str | None:
    if values is None:
        return None
    scheme, _, token = values[0].strip().partition(" ")
    good = len(values) == 1 and scheme.lower() == "bearer"
    return token.strip() if good else _INVALID_TOKEN


def _is_remote(found: Mapping[str, list[str]]) -> bool:
    if not _PROXY_HEADERS.isdisjoint(found):
        return True
    names = [parse_host(host) for host in found.get("host", [])]
    return not all(name is not None and is_loopback(name) for name in names)


def _decode_value(field: str, written: str) -> str:
    """Decode a header, which is ASCII with percent-encoded UTF-8."""
    try:
        if not written.isascii():
            raise ValueError
        return unquote(written.strip(), errors="strict")
    except ValueError:
        raise InvalidInput(field, "write it as percent-encoded UTF-8, as in Zo%C3%AB") from None


def _parse_chat_kind(field: str, written: str) -> ChatKind:
    return parse_enum(field, written.strip().lower(), ChatKind)


def _parse_flag(field: str, written: str) -> bool:
    word = written.strip().lower()
    if word not in ("true", "false"):
        raise InvalidInput(field, "must be true or false")
    return word == "true"


def _parse_participants(field: str, written: str) -> tuple[Requester, ...]:
    """Parse `telegram:2;Bob;bob_l,slack:T1:U2`: key, name and username of each participant, every
    part percent-encoded by itself."""
    parts = [part for part in written.split(",") if part.strip()]
    if len(parts) > limits.PARTICIPANTS_MAX_COUNT:
        most = limits.PARTICIPANTS_MAX_COUNT
        raise InvalidInput(field, f"takes at most {most:,} people")
    return tuple(_parse_participant(part) for part in parts)


def _parse_participant(written: str) -> Requester:
    key, *called = (_decode_value("participants", part) for part in written.split(";"))
    if len(called) > 2:
        raise InvalidInput("participants", "write each as telegram:2;name;username")
    name, username = (*called, "", "")[:2]
    return Requester(key, name=name or None, username=username or None)


# Header → claim, which is also its name in errors, and how it is parsed.
CLAIM_HEADERS: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    **{
        f"x-tacit-{claim}": (claim, _decode_value)
        for claim in ("requester", "name", "username", "chat", "thread", "agent")
    },
    "x-tacit-chat-kind": ("kind", _parse_chat_kind),
    "x-tacit-participants": ("participants", _parse_participants),
    "x-tacit-complete": ("complete", _parse_flag),
}


# Authentication: the key decides which claims hold and which view the caller gets.

DEFAULT_LOCAL_PERSON = "local:me"  # the local person, where the settings name none
LOCAL_SCOPES = frozenset({Scope.READ, Scope.WRITE, Scope.ERASE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller and their scopes. Made by `authenticate` alone."""

    memory: Memory  # of the space that the key belongs to
    key: Key | None  # None: the one local person, without a key
    scopes: frozenset[Scope]
    requester: Requester | None  # None: the key acts for no person, and there is no view
    chat: Chat | None
    thread: str | None = None
    agent: str | None = None
    categories: tuple[str, ...] | None = None  # that the key is narrowed to; None: it is not

    @property
    def is_local(self) -> bool:
        return self.key is None

    def has_scope(self, scope: Scope) -> bool:
        return scope in self.scopes

    def require_scopes(self, *scopes: Scope) -> None:
        """Raise `NotAllowed` unless the key has every one of the scopes."""
        if not self.scopes.issuperset(scopes):
            raise NotAllowed

    def view(self, *, thread: str | None = None) -> View:
        """Return the caller's view. `thread` replaces the one of the claims, as a path does."""
        if self.requester is None or self.chat is None:
            if self.has_scope(Scope.ACT_AS):
                raise InvalidInput("requester", "is missing; send X-Tacit-Requester")
            raise NotAllowed
        return self.memory.view(
            self.requester,
            self.chat,
            thread=self.thread if thread is None else thread,
            agent=self.agent,
            categories=self.categories,
        )


def local_person(settings: Settings) -> Requester:
    """Return the requester of a caller without a key, on a server that only this machine reaches."""
    return Requester(settings.memory.local_person or DEFAULT_LOCAL_PERSON)


def authenticate(
    memory: Memory, claims: Claims, *, local: Requester | None = None, limiter: RateLimiter | None = None
) -> Caller:
    """Return the caller of a request.

    Raise `KeyRefused`, `TooManyRequests`, `InvalidInput` or `NotAllowed`, in this order. `local` is
    the caller where there is no key; None: a key is needed.
    """
    key = _find_key(memory, claims, local)
    if limiter is not None:
        who = "" if key is None else f"{key.space} {key.id}"
        limiter.take(who, None if key is None else key.rate_per_minute)
    if claims.error is not None:
        raise claims.error
    if key is None:
        assert local is not None
        return _authenticate_local(memory, claims, local)
    own = memory.space(key.space)
    vouches = Scope.ACT_AS in key.scopes
    requester, chat = (_resolve_act_as if vouches else _resolve_bound)(own, claims, key)
    return Caller(
        memory=own,
        key=key,
        scopes=key.scopes,
        requester=requester,
        chat=chat,
        thread=claims.thread,
        agent=_resolve_agent(claims, key),
        categories=key.categories,
    )


def _find_key(memory: Memory, claims: Claims, local: Requester | None) -> Key | None:
    """Return the key of the claims, or None for the local person."""
    if claims.token is None and local is not None and not claims.remote:
        return None
    key = memory.keys.authenticate(claims.token or "")
    if key is None:
        raise KeyRefused
    return key


def _authenticate_local(memory: Memory, claims: Claims, local: Requester) -> Caller:
    if claims.requester not in (None, local.key) or claims.chat not in (None, local.key):
        raise NotAllowed
    if claims.kind not in (None, ChatKind.PRIVATE) or claims.participants or claims.complete:
        raise NotAllowed
    return Caller(
        memory=memory,
        key=None,
        scopes=LOCAL_SCOPES,
        requester=Requester(local.key, claims.name or local.name, claims.username),
        chat=Chat.private(local.key),
        thread=claims.thread,
        agent=claims.agent,
    )


def _resolve_act_as(_: Memory, claims: Claims, key: Key) -> tuple[Requester | None, Chat | None]:
    """Trust a channel adapter on the requester and the participants."""
    who = key.requester if claims.requester is None else claims.requester
    if who is None:
        return None, None
    chat = who if claims.chat is None else claims.chat
    kind = claims.kind or (ChatKind.PRIVATE if chat == who else ChatKind.GROUP)
    here = Chat(chat, kind, claims.participants or (), claims.complete or False)
    return Requester(who, claims.name, claims.username), here


def _resolve_bound(memory: Memory, claims: Claims, key: Key) -> tuple[Requester | None, Chat | None]:
    """Take the requester and the chat of a personal key from the storage, not from its claims."""
    said = (claims.name, claims.username, claims.kind, claims.participants, claims.complete)
    if claims.requester not in (None, key.requester) or any(one is not None for one in said):
        raise NotAllowed
    if key.requester is None:
        if claims.chat is not None:
            raise NotAllowed
        return None, None
    requester = Requester(key.requester)
    if claims.chat in (None, key.requester):
        return requester, Chat.private(key.requester)
    assert claims.chat is not None
    chat = memory.chats.resolve(requester, claims.chat)
    if chat.kind is ChatKind.UNKNOWN:
        raise NotAllowed
    return requester, chat


def _resolve_agent(claims: Claims, key: Key) -> str | None:
    if key.agent is not None and claims.agent not in (None, key.agent):
        raise NotAllowed
    return key.agent or claims.agent
