"""Keep who is in which chat."""

from __future__ import annotations

from tacit.identity import parse_chat_id, parse_request, parse_subject
from tacit.records import validation
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.storage import chats
from tacit.view.context import SpaceContext


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
