"""Keys for callers from outside: made, listed, revoked, and told from strangers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.facade import tokens
from tacit.facade.opened import Opened
from tacit.identity.external_keys import parse_external_key
from tacit.identity.resolution import parse_request
from tacit.records import validation
from tacit.records.accounts import Key, NewKey, Scope
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.storage import auth
from tacit.storage.memories import Transaction

PREFIX = "tct"


class MemoryKeys(Opened):
    def create_key(
        self,
        name: str,
        *,
        scopes: Iterable[Scope | str],
        requester: str | None = None,
        agent: str | None = None,
        categories: Iterable[str] | None = None,
        expires_days: int | None = None,
        rate_per_minute: int | None = None,
    ) -> NewKey:
        """A key to this space. Its token is in the answer and nowhere else: keep it. `requester` is
        the one person it acts for; with the scope act-as, its holder says who asks, and where."""
        wanted: dict[str, Any] = {
            "name": validation.parse_screened_identifier("name", name, limits.LABEL_MAX_CHARS),
            "scopes": _scopes(scopes),
            "requester": None if requester is None else parse_external_key(requester),
            "agent": validation.parse_optional_identifier("agent", agent, limits.LABEL_MAX_CHARS),
            "categories": self._parse_categories(categories),
            "rate_per_minute": _whole(
                "rate_per_minute", rate_per_minute, limits.SERVER_RATE_HIGHEST_PER_MINUTE
            ),
        }
        days = _whole("expires_days", expires_days, limits.API_KEY_MAX_DAYS)
        token = tokens.new(PREFIX)

        def work(w: Transaction) -> Key:
            if auth.count_api_keys(w) >= limits.API_KEYS_MAX_COUNT:
                most = limits.API_KEYS_MAX_COUNT
                raise InvalidInput("name", f"there are {most:,} keys already; revoke some")
            key = Key(
                id=token.id,
                space=w.space,
                created_at=w.at,
                expires_at=None if days is None else w.at + timedelta(days=days),
                **wanted,
            )
            auth.insert_api_key(w, key, token.digest)
            return key

        made = self._storage.write_as(self._space, "system", work)
        return NewKey(key=made, token=token.text)

    def keys(self) -> list[Key]:
        """The keys to this space, oldest first, with those that open nothing any more."""
        with self._storage.database.read() as connection:
            return auth.list_api_keys(connection, self._space)

    def revoke_key(self, id: str) -> None:
        """From now on it opens nothing: here at once, in other processes within seconds."""
        named = validation.parse_identifier("id", id, limits.LABEL_MAX_CHARS)
        found = self._storage.write_as(
            self._space, "system", lambda w: auth.revoke_api_key(w, named)
        )
        self._storage.api_keys.clear()
        if not found:
            raise NotFound("key")

    def key_of(self, token: object) -> Key | None:
        """The key that a token belongs to, of whichever space. None where it opens nothing: whether
        it is unknown, expired or revoked is not told, and takes as long to find out."""
        read = tokens.read(PREFIX, token)
        if read is None:
            return None
        store = self._storage
        return store.api_keys.find(store.database, read.id, read.digest, store.clock())

    def has_keys(self) -> bool:
        """Whether some key opens something, in any space."""
        with self._storage.database.read() as connection:
            return auth.has_valid_api_key(connection, self._storage.clock())

    def chat(self, requester: Requester, id: str) -> Chat:
        """A chat for somebody for whom nobody vouches: a group that they are known to be in now, or
        a private chat that is known to be theirs. Any other is of unknown kind, whether there is
        one or not. Whether they are still there is looked up again by whatever is done in it."""
        for kind in (ChatKind.GROUP, ChatKind.PRIVATE):
            chat = Chat(id, kind, vouched=False)
            asking = parse_request(requester, chat)
            found = self._storage.read(self._space, asking, lambda _, request: request)
            if found.private or found.kind is ChatKind.GROUP:
                return chat
        return Chat.unknown(id)

    def _parse_categories(self, categories: object) -> tuple[str, ...] | None:
        if categories is None:
            return None
        named = validation.parse_categories(categories)
        return tuple(
            validation.parse_category(one, self._options.categories, "categories") for one in named
        )


def _scopes(scopes: object) -> frozenset[Scope]:
    if isinstance(scopes, str) or not isinstance(scopes, Iterable):
        raise InvalidInput("scopes", f"expected a list, of {', '.join(Scope)}")
    found = frozenset(validation.parse_enum("scopes", scope, Scope) for scope in scopes)
    if not found:
        raise InvalidInput("scopes", f"is empty; name some of {', '.join(Scope)}")
    return found


def _whole(field: str, value: object, most: int) -> int | None:
    return None if value is None else validation.parse_int(field, value, 1, most)
