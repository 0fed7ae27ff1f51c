"""Link two identities of one person to one account: offer a code, accept it, confirm."""

from __future__ import annotations

import builtins
import secrets

from sqlalchemy import Connection

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.identity import ACCOUNT_PREFIX, EXTERNAL_PREFIX, create_link_code, is_subject, normalize_link_code
from tacit.records.accounts import Link, LinkKind, LinkOffer, LinkWaiting
from tacit.records.request import Request
from tacit.storage import auth
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.memories import Transaction
from tacit.storage.people import begin_link, current_link, end_link
from tacit.storage.spaces import load_identities
from tacit.view.context import Arguments, Replay, Resource, ViewContext, not_found, read, write
from tacit.view.idempotency import NOTHING

List = builtins.list  # views have a method named `list`
_ACCOUNT_BYTES = 16  # 128 random bits: two accounts never get the same id
_ALREADY_LINKED = "this identity belongs to an account already: offer a code from here, or unlink it first"


def _replay_accepted_link(context: ViewContext, done: IdempotentResult, _: Arguments) -> LinkWaiting:
    """Return the accepted link while it waits. A wrong code is not checked again."""
    me = context.raw_request.subject

    def work(connection: Connection, request: Request) -> auth.PendingLink | None:
        there = me is not None and request.private and done.result["accepted"]
        where = (connection, context.space, me or "", request.at)
        return auth.find_accepted_link(*where) if there else None

    found = context.read(work)
    if found is None:
        raise NotFound("code")
    return build_accepted_link(found)


def _replay_link(context: ViewContext, done: IdempotentResult, _: Arguments) -> Link:
    """Return the link in its current state."""
    me = context.raw_request.subject or ""
    found = context.read(lambda connection, _: load_identities(connection, context.space, (me,)))
    link = next((one for one in found.links if one.id == done.result["link"]), None)
    if link is None:
        raise NotFound("link")
    return link


ACCEPTED_LINK = Replay(record=lambda made, _: ({"accepted": made is not None}, ()), replay=_replay_accepted_link)
LINK = Replay(record=lambda made, _: ({"link": made.id}, ()), replay=_replay_link)


class Account(Resource, name="account"):
    """The requester's identities and the links between them."""

    @write("POST /api/link/offer", disabled=not_found("link"))
    def offer_link(self) -> LinkOffer:
        """Create a one-time code to enter from your other identity within ten minutes.

        A new code replaces the earlier one. Works in your own private chat only. An agent that is
        limited to some categories cannot offer a link, because a link shares all of them.
        """
        code = create_link_code()

        def work(tx: Transaction) -> LinkOffer:
            me = self._require_linkable_identity(tx)
            _account_of(tx, me)
            expires_at = auth.insert_link_offer(tx, me, normalize_link_code(code))
            return LinkOffer(code=code, expires_at=expires_at)

        return self._context.write(work)

    @write("POST /api/link/accept", disabled=not_found("code"), replay=ACCEPTED_LINK)
    def accept_link(self, code: str) -> LinkWaiting:
        """Accept a code that your other identity received; return which identity that is.

        Nothing is shared until that identity confirms. Raises NotFound for a code that is wrong,
        expired, used or your own, and TooManyRequests after several such tries.
        """
        wanted = normalize_link_code(code)

        def work(tx: Transaction) -> LinkWaiting | None:
            me = self._require_linkable_identity(tx)
            if not _is_unlinked(tx, me):  # before the code is looked up: reveals nothing about it
                raise Conflict(_ALREADY_LINKED)
            auth.require_link_tries_left(tx, me)
            found = auth.accept_link_offer(tx, me, wanted)
            if found is None:
                auth.insert_link_try(tx, me)  # committed although the code is refused
                return None
            return build_accepted_link(found)

        waiting = self._context.write(work)
        if waiting is None:
            raise NotFound("code")
        return waiting

    @read("GET /api/link/waiting", disabled=None)
    def pending_link(self) -> LinkWaiting | None:
        """Return the identity that accepted your code and waits for you to confirm it.

        Returns None if there is none, and outside your own private chat.
        """

        def work(connection: Connection, request: Request) -> LinkWaiting | None:
            me = self._context.raw_request.subject
            if me is None or not request.private:
                return None
            found = auth.find_pending_link(connection, self._context.space, me, request.at)
            if found is None:
                return None
            return LinkWaiting(identity=_external_form(found.accepted_by), expires_at=found.expires_at)

        return self._context.read(work)

    @write("POST /api/link/confirm", disabled=not_found("link"), replay=LINK)
    def confirm_link(self) -> Link:
        """Confirm the pending link: from the next read on, both identities are one person."""

        def work(tx: Transaction) -> Link:
            me = self._require_linkable_identity(tx)
            waiting = auth.find_pending_link(tx.connection, tx.space, me, tx.at)
            if waiting is None:
                raise NotFound("link")
            other = waiting.accepted_by
            if not _is_unlinked(tx, other):
                raise Conflict("the other identity is not free any more: begin with a new code")
            account = _account_of(tx, me)
            if account is None:
                account = f"{ACCOUNT_PREFIX}:{secrets.token_hex(_ACCOUNT_BYTES)}"
                begin_link(tx, me, account, LinkKind.LINK, actor=me)
            auth.delete_link_offers(tx.connection, tx.space, (me, other))
            return begin_link(tx, other, account, LinkKind.LINK, actor=me)

        return self._context.write(work, changing=True)

    @write("POST /api/link/refuse", disabled=None, replay=NOTHING)
    def refuse_link(self) -> None:
        """Cancel your code, or your acceptance of one. Works in your own private chat only."""

        def work(tx: Transaction) -> None:
            auth.delete_link_offers(tx.connection, tx.space, (self._require_private_identity(tx),))

        self._context.write(work)

    @write("POST /api/link/unlink", disabled=not_found("link"), replay=LINK)
    def unlink(self) -> Link:
        """Remove this identity from its account at once. Works in your own private chat only.

        Memories that were written as the account stay with the account.
        """

        def work(tx: Transaction) -> Link:
            me = self._require_private_identity(tx)
            link = end_link(tx, me, LinkKind.LINK)
            auth.delete_link_offers(tx.connection, tx.space, (me,))
            return link

        return self._context.write(work, changing=True)

    @read("GET /api/link/identities", disabled=List)
    def identities(self) -> List[str]:
        """List the keys that are you now, including this one; empty outside a private chat."""

        def work(connection: Connection, request: Request) -> List[str]:
            me = self._context.raw_request.subject
            if me is None or not request.private:
                return []
            mine = load_identities(connection, self._context.space, (me,)).current_identities(me)
            return sorted(_external_form(one) for one in mine if is_subject(one))

        return self._context.read(work)

    def _require_private_identity(self, tx: Transaction) -> str:
        """Return the identity of the requester; refuse unless the chat is private."""
        me = self._context.raw_request.subject
        if me is None or not tx.request.private:
            raise InvalidInput("link", "works in a private chat only")
        auth.lock_link_offers(tx, me)
        return me

    def _require_linkable_identity(self, tx: Transaction) -> str:
        """Return the requester's identity; refuse a view that is limited to some categories."""
        if self._context.permitted_categories is not None:
            raise InvalidInput("link", "takes a view of all categories; this one is narrowed")
        return self._require_private_identity(tx)


def _is_unlinked(tx: Transaction, identity: str) -> bool:
    """Return whether the identity can be linked to an account."""
    is_account = identity.startswith(f"{ACCOUNT_PREFIX}:")
    return not is_account and current_link(tx.connection, tx.space, identity) is None


def _account_of(tx: Transaction, identity: str) -> str | None:
    """Return the account of the identity: its link target, or the identity if it is an account."""
    if identity.startswith(f"{ACCOUNT_PREFIX}:"):
        return identity
    link = current_link(tx.connection, tx.space, identity)
    if link is not None and not link.holds:
        raise Conflict("this identity has a link that was never verified: unlink it first")
    return None if link is None else link.target


def build_accepted_link(found: auth.PendingLink) -> LinkWaiting:
    """Build the pending link as shown to the person who accepted it."""
    return LinkWaiting(identity=_external_form(found.offered_by), expires_at=found.expires_at)


def _external_form(identity: str) -> str:
    """Return the external key as the channel writes it."""
    return identity.removeprefix(f"{EXTERNAL_PREFIX}:")
