"""The judgement on a caller's claims: what their key is bound to decides whose view they get."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import InvalidInput, KeyRefused, NotAllowed
from tacit.memory import DisabledView, Memory, View
from tacit.records.accounts import Key, Scope
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.settings import Settings
from tacit.surfaces.access.claims import Claims
from tacit.surfaces.access.rates import RateLimiter

NOBODY_ELSE = "local:me"  # the local person, where the settings name none
LOCAL_SCOPES = frozenset({Scope.READ, Scope.WRITE, Scope.ERASE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Somebody who was let in, and how far. Made by `admit` alone."""

    memory: Memory  # of the space that the key belongs to
    key: Key | None  # None: the one local person, without a key
    scopes: frozenset[Scope]
    requester: Requester | None  # None: the key acts for nobody, and there is no view
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
        """`NotAllowed` unless the key has every one of them."""
        if not self.scopes.issuperset(scopes):
            raise NotAllowed

    def view(self, *, thread: str | None = None) -> View | DisabledView:
        """`thread`: another one than the claims named, as in the path of a request."""
        if self.requester is None or self.chat is None:
            if self.has_scope(Scope.ACT_AS):
                raise InvalidInput("requester", "nobody is named; send X-Tacit-Requester")
            raise NotAllowed
        return self.memory.view(
            self.requester,
            self.chat,
            thread=self.thread if thread is None else thread,
            agent=self.agent,
            categories=self.categories,
        )


def local_person(settings: Settings) -> Requester:
    """Whom a server that only this machine reaches answers without a key."""
    return Requester(settings.memory.local_person or NOBODY_ELSE)


def admit(
    memory: Memory,
    claims: Claims,
    *,
    local: Requester | None = None,
    limiter: RateLimiter | None = None,
) -> Admitted:
    """Let somebody in, or refuse: `KeyRefused`, `TooManyRequests`, `NotAllowed`, in this order;
    `InvalidInput` where claims cannot be read. `local`: who asks where there is no key; None: a key
    is needed."""
    key = _key(memory, claims, local)
    if limiter is not None:
        who = "" if key is None else f"{key.space} {key.id}"
        limiter.take(who, None if key is None else key.rate_per_minute)
    if claims.error is not None:
        raise claims.error
    if key is None:
        assert local is not None
        return _local(memory, claims, local)
    own = memory.space(key.space)
    vouches = Scope.ACT_AS in key.scopes
    requester, chat = (_vouched if vouches else _bound)(own, claims, key)
    return Admitted(
        memory=own,
        key=key,
        scopes=key.scopes,
        requester=requester,
        chat=chat,
        thread=claims.thread,
        agent=_agent(claims, key),
        categories=key.categories,
    )


def _key(memory: Memory, claims: Claims, local: Requester | None) -> Key | None:
    """None: the local person."""
    if claims.token is None and local is not None and not claims.remote:
        return None
    key = memory.key_of(claims.token or "")
    if key is None:
        raise KeyRefused
    return key


def _local(memory: Memory, claims: Claims, local: Requester) -> Admitted:
    if claims.requester not in (None, local.key) or claims.chat not in (None, local.key):
        raise NotAllowed
    if claims.kind not in (None, ChatKind.PRIVATE) or claims.participants or claims.complete:
        raise NotAllowed
    return Admitted(
        memory=memory,
        key=None,
        scopes=LOCAL_SCOPES,
        requester=Requester(local.key, claims.name or local.name, claims.username),
        chat=Chat.private(local.key),
        thread=claims.thread,
        agent=claims.agent,
    )


def _vouched(_: Memory, claims: Claims, key: Key) -> tuple[Requester | None, Chat | None]:
    """A channel adapter: who asks, and who is there, is as it says."""
    who = key.requester if claims.requester is None else claims.requester
    if who is None:
        return None, None
    chat = who if claims.chat is None else claims.chat
    kind = claims.kind or (ChatKind.PRIVATE if chat == who else ChatKind.GROUP)
    here = Chat(chat, kind, claims.participants or (), claims.complete or False)
    return Requester(who, claims.name, claims.username), here


def _bound(memory: Memory, claims: Claims, key: Key) -> tuple[Requester | None, Chat | None]:
    """One person's own key: neither who they are nor who is with them is theirs to say."""
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
    chat = memory.chat(requester, claims.chat)
    if chat.kind is ChatKind.UNKNOWN:
        raise NotAllowed
    return requester, chat


def _agent(claims: Claims, key: Key) -> str | None:
    if key.agent is not None and claims.agent not in (None, key.agent):
        raise NotAllowed
    return key.agent or claims.agent
