"""Create and check API keys, and sign people in to the console with one-time links."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tacit import limits
from tacit.errors import InvalidInput, NotFound, SignInRefused, StoreBusy
from tacit.identity import parse_external_key, parse_subject
from tacit.records import validation
from tacit.records.accounts import Key, NewKey, NewSignIn, Scope, SignedIn, WebSession
from tacit.storage import auth, spaces
from tacit.storage.auth import SignInOwner
from tacit.storage.memories import Transaction
from tacit.view.context import SpaceContext

# Tokens: an id that finds the record, and a secret of which only a hash is stored.

_ID_CHARS = 12
_SECRET_BYTES = 32
_ID_ALPHABET = string.ascii_letters + string.digits
_TOKEN_PATTERN = re.compile(rf"([a-z]+)_([A-Za-z0-9]{{{_ID_CHARS}}})_([A-Za-z0-9_-]{{43}})", re.ASCII)


class ParsedToken(NamedTuple):
    """The parts of a token, whether or not it is valid."""

    id: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretToken:
    """A new token. Its text is returned to its holder once and is not stored."""

    id: str
    digest: bytes
    text: str = field(repr=False)


def create_token(prefix: str) -> SecretToken:
    id = "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_CHARS))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    return SecretToken(id=id, digest=_hash_secret(secret), text=f"{prefix}_{id}_{secret}")


def parse_token(prefix: str, token: object) -> ParsedToken | None:
    """Parse a token; return None if it does not have the format of this prefix."""
    written = _TOKEN_PATTERN.fullmatch(token) if isinstance(token, str) else None
    if written is None or written[1] != prefix:
        return None
    return ParsedToken(written[2], _hash_secret(written[3]))


def _hash_secret(secret: str) -> bytes:
    """Hash a secret. A fast hash is enough for 256 random bits: they cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


# API keys: create, list, revoke, authenticate.

API_KEY_PREFIX = "tct"


class Keys(SpaceContext):
    """The API keys of a space."""

    def create(
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
        """Create a key to this space. Its token is returned once and is not stored.

        `requester` is the one person it acts for. With the scope act-as, its holder names the
        requester and the chat.
        """
        wanted: dict[str, Any] = {
            "name": validation.parse_screened_identifier("name", name, limits.LABEL_MAX_CHARS),
            "scopes": _parse_scopes(scopes),
            "requester": None if requester is None else parse_external_key(requester),
            "agent": validation.parse_optional_label("agent", agent),
            "categories": self._parse_categories(categories),
            "rate_per_minute": _parse_optional_count(
                "rate_per_minute", rate_per_minute, limits.SERVER_RATE_HIGHEST_PER_MINUTE
            ),
        }
        days = _parse_optional_count("expires_days", expires_days, limits.API_KEY_MAX_DAYS)
        token = create_token(API_KEY_PREFIX)

        def work(tx: Transaction) -> Key:
            if auth.count_api_keys(tx) >= limits.API_KEYS_MAX_COUNT:
                most = limits.API_KEYS_MAX_COUNT
                raise InvalidInput("name", f"there are {most:,} keys already; revoke some")
            key = Key(
                id=token.id,
                space=tx.space,
                created_at=tx.at,
                expires_at=None if days is None else tx.at + timedelta(days=days),
                **wanted,
            )
            auth.insert_api_key(tx, key, token.digest)
            return key

        made = self._storage.write_as(self._space, "system", work)
        return NewKey(key=made, token=token.text)

    def list(self) -> list[Key]:
        """List the keys to this space, oldest first, including expired and revoked ones."""
        with self._storage.database.read() as connection:
            return auth.list_api_keys(connection, self._space)

    def revoke(self, id: str) -> None:
        """Revoke a key: in this process at once, in other processes within seconds."""
        named = validation.parse_label("id", id)
        found = self._storage.write_as(self._space, "system", lambda tx: auth.revoke_api_key(tx, named))
        self._storage.api_keys.clear()
        if not found:
            raise NotFound("key")

    def authenticate(self, token: object) -> Key | None:
        """Return the key of a token, from any space; None if it is unknown, expired or revoked.

        The result does not tell these apart, and each takes the same time.
        """
        read = parse_token(API_KEY_PREFIX, token)
        if read is None:
            return None
        store = self._storage
        return store.api_keys.find(store.database, read.id, read.digest, store.clock())

    def any_active(self) -> bool:
        """Return whether any space has a valid key."""
        with self._storage.database.read() as connection:
            return auth.has_valid_api_key(connection, self._storage.clock())

    def _parse_categories(self, categories: object) -> tuple[str, ...] | None:
        if categories is None:
            return None
        named = validation.parse_categories(categories)
        return tuple(validation.parse_category(one, self._options.categories, "categories") for one in named)


def _parse_scopes(scopes: object) -> frozenset[Scope]:
    if isinstance(scopes, str) or not isinstance(scopes, Iterable):
        raise InvalidInput("scopes", f"expected a list, of {', '.join(Scope)}")
    found = frozenset(validation.parse_enum("scopes", scope, Scope) for scope in scopes)
    if not found:
        raise InvalidInput("scopes", f"is empty; name some of {', '.join(Scope)}")
    return found


def _parse_optional_count(field: str, value: object, most: int) -> int | None:
    return None if value is None else validation.parse_int(field, value, 1, most)


# Console sign-in: one-time links and web sessions.

SIGN_IN_PREFIX, COOKIE_PREFIX = ("tcl", "tcs")  # prefixes of the token in a link and of the token in a cookie
_SEEN_INTERVAL = timedelta(seconds=limits.WEB_SESSION_SEEN_SECONDS)


class Console(SpaceContext):
    """Sign-in links to the console, and the web sessions that they begin."""

    def create_link(
        self, *, person: str | None = None, operator: str | None = None, minutes: int | None = None
    ) -> NewSignIn:
        """Create a one-time link that signs in one person, or one operator of this space.

        The link is returned once and is not stored. `minutes` is its lifetime; the default is in
        the settings.
        """
        who = _parse_who(person, operator)
        lasts = self._options.sign_in_minutes if minutes is None else minutes
        lasting = timedelta(minutes=validation.parse_int("minutes", lasts, 1, limits.SIGN_IN_MAX_MINUTES))
        token = create_token(SIGN_IN_PREFIX)

        def work(tx: Transaction) -> datetime:
            expires_at = tx.at + lasting
            auth.insert_sign_in_link(tx, token.id, token.digest, who, expires_at)
            return expires_at

        expires_at = self._storage.write_as(self._space, "system", work)
        return NewSignIn(token=token.text, expires_at=expires_at)

    def sign_in(self, token: object) -> SignedIn:
        """Sign in the holder of a link, in the space of the link.

        Raises `SignInRefused` if the link is unknown, used or expired, without telling which.
        """
        read = parse_token(SIGN_IN_PREFIX, token)
        if read is None:
            raise SignInRefused
        with self._storage.database.read() as connection:
            used = auth.find_sign_in_link(connection, *read)
        if used is None or used.expires_at <= self._storage.clock():
            raise SignInRefused
        cookie = create_token(COOKIE_PREFIX)

        def work(tx: Transaction) -> WebSession:
            began = WebSession(
                id=cookie.id,
                space=tx.space,
                person=auth.external_key(used.who.person),
                operator=used.who.operator,
                created_at=tx.at,
                seen_at=tx.at,
                expires_at=tx.at + timedelta(hours=self._options.web_session_hours),
            )
            if not auth.begin_web_session(tx, used, cookie.digest, began):
                raise SignInRefused
            return began

        return SignedIn(sitting=self._storage.write_as(used.space, "system", work), cookie=cookie.text)

    def session(self, cookie: object) -> WebSession | None:
        """Return the web session of a cookie, from any space, and update when it was last seen.

        Returns None if the cookie is unknown, or the session was idle for too long, expired or
        ended. The time is updated at most once a minute.
        """
        found = self._find_web_session(cookie)
        now = self._storage.clock()
        if found is None or not self._is_live(found, now):
            return None
        if abs(now - found.seen_at) < _SEEN_INTERVAL:
            return found
        with suppress(StoreBusy):  # the next request updates it
            if not self._storage.database.write(lambda c: auth.touch_web_session(c, found, now)):
                return None
            return replace(found, seen_at=now)
        return found

    def sign_out(self, cookie: object) -> None:
        """End the web session of a cookie, if there is one."""
        found = self._find_web_session(cookie)
        if found is not None:
            self._storage.database.write(lambda connection: auth.end_web_session(connection, found))

    def sign_out_everywhere(self, *, person: str | None = None, operator: str | None = None) -> int:
        """End all web sessions of a person or of an operator of this space, and void their links.

        A person's sessions are those under their current identities. Return how many sessions
        ended.
        """
        who = _parse_who(person, operator)

        def work(tx: Transaction) -> int:
            person = who.person or ""
            found = spaces.load_identities(tx.connection, tx.space, [person])
            now = found.current_identities(person)
            return auth.end_web_sessions(tx.connection, tx.space, now, who.operator)

        return self._storage.write_as(self._space, "system", work)

    def _find_web_session(self, cookie: object) -> WebSession | None:
        read = parse_token(COOKIE_PREFIX, cookie)
        if read is None:
            return None
        with self._storage.database.read() as connection:
            return auth.find_web_session(connection, *read)

    def _is_live(self, found: WebSession, now: datetime) -> bool:
        """Return whether a web session is valid.

        A session last seen far in the future comes from a wrong clock and is not valid.
        """
        idle = timedelta(minutes=self._options.web_session_idle_minutes)
        return now < found.expires_at and abs(now - found.seen_at) < idle


def _parse_who(person: object, operator: object) -> SignInOwner:
    if (person is None) is (operator is None):
        raise InvalidInput("person", "name either a person, as telegram:123, or an operator")
    if operator is not None:
        return SignInOwner(operator=validation.parse_label("operator", operator))
    return SignInOwner(person=parse_subject(person, "person"))
