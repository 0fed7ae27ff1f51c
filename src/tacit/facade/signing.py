"""Signing in to the console: links that work once, and who is signed in, for how long."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from tacit import limits
from tacit.errors import InvalidInput, SignInRefused, StoreBusy
from tacit.facade import tokens
from tacit.facade.opened import Opened
from tacit.identity import external_keys
from tacit.records import validation
from tacit.records.accounts import NewSignIn, SignedIn, WebSession
from tacit.storage import auth, spaces
from tacit.storage.auth import SignInOwner
from tacit.storage.memories import Transaction

LINK, COOKIE = "tcl", "tcs"  # how what is in a link begins, and what is in a cookie
_SEEN = timedelta(seconds=limits.WEB_SESSION_SEEN_SECONDS)


class MemorySigning(Opened):
    def offer_sign_in(
        self, *, person: str | None = None, operator: str | None = None, minutes: int | None = None
    ) -> NewSignIn:
        """What signs one person in, or one operator of this space, once and soon. It is in the
        answer and nowhere else. `minutes`: for how long; without it, as the settings say."""
        who = _who(person, operator)
        lasts = self._options.sign_in_minutes if minutes is None else minutes
        lasting = timedelta(
            minutes=validation.parse_int("minutes", lasts, 1, limits.SIGN_IN_MAX_MINUTES)
        )
        token = tokens.new(LINK)

        def work(w: Transaction) -> datetime:
            expires_at = w.at + lasting
            auth.insert_sign_in_link(w, token.id, token.digest, who, expires_at)
            return expires_at

        expires_at = self._storage.write_as(self._space, "system", work)
        return NewSignIn(token=token.text, expires_at=expires_at)

    def sign_in(self, token: object) -> SignedIn:
        """Whoever brings it is signed in, in whichever space it is of. `SignInRefused` where it is
        unknown, used or expired: which of these is not told."""
        read = tokens.read(LINK, token)
        if read is None:
            raise SignInRefused
        with self._storage.database.read() as connection:
            used = auth.find_sign_in_link(connection, *read)
        if used is None or used.expires_at <= self._storage.clock():
            raise SignInRefused
        cookie = tokens.new(COOKIE)

        def work(w: Transaction) -> WebSession:
            began = WebSession(
                id=cookie.id,
                space=w.space,
                person=auth.external_key(used.who.person),
                operator=used.who.operator,
                created_at=w.at,
                seen_at=w.at,
                expires_at=w.at + timedelta(hours=self._options.web_session_hours),
            )
            if not auth.begin_web_session(w, used, cookie.digest, began):
                raise SignInRefused
            return began

        return SignedIn(
            sitting=self._storage.write_as(used.space, "system", work), cookie=cookie.text
        )

    def signed_in(self, cookie: object) -> WebSession | None:
        """Who a cookie belongs to, of whichever space. None where it is unknown, they were away for
        too long, it is too old or they signed out. To ask is to be there: it is noted, though not
        more often than once a minute."""
        found = self._find_web_session(cookie)
        now = self._storage.clock()
        if found is None or not self._is_live(found, now):
            return None
        if abs(now - found.seen_at) < _SEEN:
            return found
        with suppress(StoreBusy):  # whoever comes next notes it
            if not self._storage.database.write(lambda c: auth.touch_web_session(c, found, now)):
                return None
            return replace(found, seen_at=now)
        return found

    def sign_out(self, cookie: object) -> None:
        """From now on it opens nothing, if it did before."""
        found = self._find_web_session(cookie)
        if found is not None:
            self._storage.database.write(lambda connection: auth.end_web_session(connection, found))

    def sign_out_everywhere(self, *, person: str | None = None, operator: str | None = None) -> int:
        """Wherever a person is signed in, under the identities they have now, or an operator of
        this space; links that wait for them go too. Says how many sittings ended."""
        who = _who(person, operator)

        def work(w: Transaction) -> int:
            if who.person is None:
                assert who.operator is not None
                return auth.end_operator_web_sessions(w.connection, w.space, who.operator)
            now = spaces.load_identities(w.connection, w.space, [who.person]).current_identities(
                who.person
            )
            return auth.end_web_sessions(w.connection, w.space, now)

        return self._storage.write_as(self._space, "system", work)

    def _find_web_session(self, cookie: object) -> WebSession | None:
        read = tokens.read(COOKIE, cookie)
        if read is None:
            return None
        with self._storage.database.read() as connection:
            return auth.find_web_session(connection, *read)

    def _is_live(self, found: WebSession, now: datetime) -> bool:
        """Who was last seen far in the future came by a clock that was wrong, and goes with it."""
        idle = timedelta(minutes=self._options.web_session_idle_minutes)
        return now < found.expires_at and abs(now - found.seen_at) < idle


def _who(person: object, operator: object) -> SignInOwner:
    if (person is None) is (operator is None):
        raise InvalidInput("person", "name either a person, as telegram:123, or an operator")
    if operator is not None:
        return SignInOwner(
            operator=validation.parse_identifier("operator", operator, limits.LABEL_MAX_CHARS)
        )
    return SignInOwner(person=external_keys.parse_subject(person, "person"))
