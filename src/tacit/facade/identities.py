"""Who is who, and who is where."""

from __future__ import annotations

from tacit import limits
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.identity import external_keys
from tacit.records import validation
from tacit.records.accounts import Link, LinkKind
from tacit.storage import chats, people, spaces
from tacit.storage.memories import Transaction


class MemoryIdentities(Opened):
    def link(
        self, external_key: str, account: str, *, verified: bool = True, actor: str = "system"
    ) -> Link:
        """Say whose account an external key belongs to. Unverified, it changes nothing yet."""
        source, target = _external(external_key), _account(account)
        sure = validation.parse_bool("verified", verified)
        return self._begin_link(source, target, LinkKind.LINK, actor, verified=sure)

    def verify_link(self, external_key: str) -> Link:
        source = _external(external_key)
        return self._write_identities(
            lambda w: people.verify_link(w.connection, w.space, source, w.at)
        )

    def unlink(self, external_key: str) -> Link:
        """From the next read on, the key and the account are two people again."""
        source = _external(external_key)
        return self._write_identities(
            lambda w: people.end_link(w.connection, w.space, source, LinkKind.LINK, w.at)
        )

    def links(self, identity: str) -> list[Link]:
        """Every link an identity has had, oldest first."""
        who = external_keys.parse_identity(identity, "identity")
        if who is None:
            raise InvalidInput("identity", "is not of the form telegram:123, acct:42 or person:…")
        with self._storage.database.read() as connection:
            return spaces.list_link_history(connection, self._space, who)

    def merge_people(self, person: str, into: str, *, actor: str = "system") -> Link:
        """Two people turned out to be one. The first must be known by name only."""
        source, target = (
            external_keys.parse_identity(person, "person"),
            external_keys.parse_identity(into, "into"),
        )
        if source is None or target is None:
            raise InvalidInput("person", "merging takes person:… ids or keys, never names")
        return self._begin_link(source, target, LinkKind.MERGE, actor, verified=True)

    def unmerge_people(self, person: str) -> Link:
        """Undo the merge of this person into another."""
        source = external_keys.parse_identity(person, "person")
        if source is None:
            raise InvalidInput("person", "takes a person:… id")
        return self._write_identities(
            lambda w: people.end_link(w.connection, w.space, source, LinkKind.MERGE, w.at)
        )

    # Chats

    def joined(self, chat: str, person: str) -> None:
        """Somebody came into a group, or spoke there."""
        room, who = external_keys.parse_chat_id(chat), external_keys.parse_subject(person, "person")
        self._write_identities(
            lambda w: chats.join_chat(w.connection, w.dialect, w.space, room, who, w.at)
        )

    def left(self, chat: str, person: str | None = None) -> None:
        """Somebody is not in a group any more. Without a person, everybody: for whoever was away
        from there, and does not know who went meanwhile."""
        room = external_keys.parse_chat_id(chat)
        who = None if person is None else external_keys.parse_subject(person, "person")
        self._write_identities(
            lambda w: chats.leave_chat(w.connection, w.dialect, w.space, room, who, w.at)
        )

    def set_confidential(self, chat: str, on: bool = True) -> None:
        """What is said in a confidential group does not leave it, whatever it is."""
        room, flag = external_keys.parse_chat_id(chat), validation.parse_bool("on", on)
        self._write_identities(
            lambda w: chats.set_chat_confidential(
                w.connection, w.dialect, w.space, room, flag, w.at
            )
        )

    def migrated(self, old: str, new: str) -> None:
        """A channel gave a group a new id."""
        was, now = external_keys.parse_chat_id(old), external_keys.parse_chat_id(new)
        self._write_identities(
            lambda w: chats.migrate_chat(w.connection, w.dialect, w.space, was, now, w.at)
        )

    def _begin_link(
        self, source: str, target: str, kind: LinkKind, actor: str, *, verified: bool
    ) -> Link:
        by = validation.parse_identifier("actor", actor, limits.LABEL_MAX_CHARS)

        def work(w: Transaction) -> Link:
            return people.begin_link(
                w.connection, w.space, source, target, kind, verified=verified, actor=by, at=w.at
            )

        return self._write_identities(work)


def _external(key: str) -> str:
    found = external_keys.subject_of_key(external_keys.parse_external_key(key, "external_key"))
    if found.startswith(f"{external_keys.ACCOUNT_PREFIX}:"):
        raise InvalidInput("external_key", "is an account; name the channel's key, as telegram:123")
    return found


def _account(account: str) -> str:
    found = external_keys.subject_of_key(external_keys.parse_external_key(account, "account"))
    if not found.startswith(f"{external_keys.ACCOUNT_PREFIX}:"):
        raise InvalidInput("account", "is not of the form acct:<account id>")
    return found
