"""Link, merge and erase people as an operator, and keep who is in which chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tacit.admin.space import SpaceContext
from tacit.errors import InvalidInput
from tacit.identity import (
    ACCOUNT_PREFIX,
    parse_chat_id,
    parse_external_key,
    parse_identity,
    parse_request,
    parse_subject,
    subject_of_key,
)
from tacit.lifecycle import erasure, erasure_records, erasure_replay
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records import validation
from tacit.records.accounts import Link, LinkKind
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.records.results import Certificate, Erased
from tacit.storage import chats, people, spaces
from tacit.storage.memories import Transaction

# Links between identities.


class IdentityAdmin(SpaceContext):
    def link(self, external_key: str, account: str, *, verified: bool = True, actor: str = "system") -> Link:
        """Link an external key to an account. An unverified link has no effect yet."""
        source, target = _parse_external_key(external_key), _parse_account(account)
        sure = validation.parse_bool("verified", verified)
        return self._begin_link(source, target, LinkKind.LINK, actor, verified=sure)

    def verify_link(self, external_key: str) -> Link:
        source = _parse_external_key(external_key)
        return self._write_identities(lambda tx: people.verify_link(tx, source))

    def unlink(self, external_key: str) -> Link:
        """Unlink a key: from the next read on, the key and the account are two people."""
        source = _parse_external_key(external_key)
        return self._write_identities(lambda tx: people.end_link(tx, source, LinkKind.LINK))

    def links(self, identity: str) -> list[Link]:
        """List all links of an identity, past and present, oldest first."""
        who = parse_identity(identity, "identity")
        if who is None:
            raise InvalidInput("identity", "is not of the form telegram:123, acct:42 or person:…")
        with self._storage.database.read() as connection:
            return spaces.list_link_history(connection, self._space, who)

    def merge_people(self, person: str, into: str, *, actor: str = "system") -> Link:
        """Merge two people. The first must be known by name only."""
        source, target = (parse_identity(person, "person"), parse_identity(into, "into"))
        if source is None or target is None:
            raise InvalidInput("person", "merging takes person:… ids or keys, never names")
        return self._begin_link(source, target, LinkKind.MERGE, actor, verified=True)

    def unmerge_people(self, person: str) -> Link:
        """Undo the merge of this person into another."""
        source = parse_identity(person, "person")
        if source is None:
            raise InvalidInput("person", "takes a person:… id")
        return self._write_identities(lambda tx: people.end_link(tx, source, LinkKind.MERGE))

    # Chats.

    def _begin_link(self, source: str, target: str, kind: LinkKind, actor: str, *, verified: bool) -> Link:
        by = validation.parse_label("actor", actor)

        return self._write_identities(
            lambda tx: people.begin_link(tx, source, target, kind, actor=by, verified=verified)
        )


def _parse_external_key(key: str) -> str:
    found = subject_of_key(parse_external_key(key, "external_key"))
    if found.startswith(f"{ACCOUNT_PREFIX}:"):
        raise InvalidInput("external_key", "is an account; name the channel's key, as telegram:123")
    return found


def _parse_account(account: str) -> str:
    found = subject_of_key(parse_external_key(account, "account"))
    if not found.startswith(f"{ACCOUNT_PREFIX}:"):
        raise InvalidInput("account", "is not of the form acct:<account id>")
    return found


# Erasure by an operator: a person, everything about a person, a space; and its replay.


class ErasureAdmin(SpaceContext):
    def erase_person(self, subject: str) -> Erased:
        """Erase everything that a person owns, under their current identities.

        This includes what they said, their names and their chat memberships.
        """
        return self._erase_people(parse_subject(subject), erasure.erase_person)

    def erase_about(self, person: str) -> Erased:
        """Erase everything about a person, from every owner.

        Only an operator can do this: a person can erase only what they may see about themselves,
        and does not learn of the rest.
        """
        who = parse_identity(person, "person")
        if who is None:
            raise InvalidInput("person", "is a name; use a key such as telegram:123 or person:…")
        return self._erase_people(who, erasure.erase_subject)

    def erase_space(self) -> Erased:
        """Erase the whole space, for good."""
        store, space = self._storage, self._space
        done = store.database.write(lambda c: erasure.erase_space(c, store, space))
        store.events.discard(space)
        store.api_keys.clear()
        mirrored = self._runtime.mirroring is None or self._runtime.mirroring.mirror.remove_space(space)
        if done is None:
            return Erased(count=0, complete=erasure.scrub_files(store.database) and mirrored)
        return erasure.finish_erasure(store, done, mirrored=mirrored)

    def replay_erasures(self, lines: Iterable[str] | Path | str) -> Erased:
        """Repeat the erasures of a journal in all spaces of a restored database.

        `lines` holds the lines of the journal, or its path. Erasures that this database already has
        are skipped. A line with an invalid signature is refused, and then nothing is erased.
        """
        if not isinstance(lines, str | Path):
            return erasure_replay.replay_lines(self._storage, lines)
        try:
            return erasure_replay.replay_lines(self._storage, erasure_records.read_journal_lines(Path(lines)))
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("lines", "that file cannot be read; name a journal") from None

    def verify_certificate(self, text: str) -> bool:
        """Return whether this space, or an erased one of this database, issued the certificate."""
        with self._storage.database.read() as connection:
            return erasure_records.verify_certificate(connection, self._space, text)

    def renew_certificate(self, text: str) -> Certificate:
        """Return the certificate with its current pending parts; refuse one that is not genuine."""
        store = self._storage
        with store.database.read() as connection:
            issued, mirrored = erasure_records.find_certified_erasure(connection, self._space, text)
        done = erasure.finish_erasure(store, issued, again=True, mirrored=mirrored)
        assert done.certificate is not None
        return done.certificate

    def _erase_people(self, who: str, how: Callable[[Transaction, frozenset[str]], RecordedErasure]) -> Erased:
        named: list[frozenset[str]] = []

        def work(tx: Transaction) -> RecordedErasure:
            now = spaces.load_identities(tx.connection, tx.space, [who]).current_identities(who)
            named[:] = [now]
            return how(tx, now)

        done = self._storage.change_identities(self._space, "system", work)
        self._storage.api_keys.clear()  # keys that acted for the person are deleted too
        if how is erasure.erase_person:
            self._storage.events.discard(self._space, (), owners=named[0])
        return erasure.finish_erasure(self._storage, done)


class Chats(SpaceContext):
    """The members of chats, as adapters report them."""

    def join(self, chat: str, person: str) -> None:
        """Record that a person joined a group, or spoke there."""
        room, who = parse_chat_id(chat), parse_subject(person, "person")
        self._write_identities(lambda tx: chats.join_chat(tx, room, who))

    def leave(self, chat: str, person: str | None = None) -> None:
        """Record that a person left a group.

        Without a person, all members are removed: for an adapter that was offline and does not know
        who left meanwhile.
        """
        room = parse_chat_id(chat)
        who = None if person is None else parse_subject(person, "person")
        self._write_identities(lambda tx: chats.leave_chat(tx, room, who))

    def set_confidential(self, chat: str, on: bool = True) -> None:
        """Set whether a group is confidential: what is said there is then never shown elsewhere."""
        room, flag = parse_chat_id(chat), validation.parse_bool("on", on)
        self._write_identities(lambda tx: chats.set_chat_confidential(tx, room, flag))

    def migrate(self, old: str, new: str) -> None:
        """Record the new id that a channel gave a group."""
        was, now = parse_chat_id(old), parse_chat_id(new)
        self._write_identities(lambda tx: chats.migrate_chat(tx, was, now))

    def resolve(self, requester: Requester, id: str) -> Chat:
        """Return a chat for a requester whose claims are not trusted.

        The result is a group that the requester is known to be in now, or a private chat known to
        be theirs. Any other id gives a chat of unknown kind, whether or not it exists. Each
        operation checks the membership again.
        """
        for kind in (ChatKind.GROUP, ChatKind.PRIVATE):
            chat = Chat(id, kind, vouched=False)
            asking = parse_request(requester, chat)
            found = self._storage.read(self._space, asking, lambda _, request: request)
            if found.private or found.kind is ChatKind.GROUP:
                return chat
        return Chat.unknown(id)
