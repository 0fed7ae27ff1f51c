"""An update of the Bot API, as it came, becomes what was heard. Nothing is asked or kept here."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from tacit import Chat, Requester
from tacit.surfaces.chat.heard import Around, Came, Heard, Moved, Pressed, Said, Unsaid, Went
from tacit.surfaces.telegram.fields import NOTHING, Fields, number, part, parts, words
from tacit.surfaces.telegram.words import read, shown

CHANNEL = "telegram"
# What we ask Telegram for; of anything else it is not to tell us.
KINDS = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "chat_member",
)
_GROUPS = frozenset({"group", "supergroup"})
_PRESENT = frozenset({"creator", "administrator", "member"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The bot itself, as Telegram knows it."""

    id: int
    username: str


class Reading:
    def __init__(self, me: Me, allowed: Collection[str] = ()) -> None:
        self._me = me
        self._allowed = frozenset(allowed)

    def __call__(self, payload: str) -> Heard | None:
        """As it was taken in. A chat that is no longer allowed is no longer heard."""
        update = json.loads(payload)
        heard = self.parse(update) if isinstance(update, dict) else None
        return heard if heard is not None and self.allows(heard.chat) else None

    def allows(self, chat: Chat) -> bool:
        return not self._allowed or chat.id in self._allowed

    def parse(self, update: Fields) -> Heard | None:
        """None: nothing that we know what to do with."""
        id = number(update, "update_id")
        if id is None:
            return None
        # Another bot in our place counts its updates anew.
        name = f"{self._me.id}.{id}"
        for kind in ("message", "channel_post"):
            if kind in update:
                return self._message(name, part(update, kind), edited=False)
            if f"edited_{kind}" in update:
                return self._message(name, part(update, f"edited_{kind}"), edited=True)
        if "callback_query" in update:
            return _pressed(name, part(update, "callback_query"))
        for kind in ("my_chat_member", "chat_member"):
            if kind in update:
                return self._membership(name, part(update, kind))
        return None

    def _message(self, update: str, message: Fields, *, edited: bool) -> Heard | None:
        where, who = part(message, "chat"), _speaker(message)
        chat, id = _chat(where, who), number(message, "message_id")
        if chat is None or id is None:
            return None
        around = Around(channel=CHANNEL, update=update, chat=chat, who=who, thread=_thread(message))
        return self._service_message(around, message) or self._text_message(
            around, message, str(id), edited=edited
        )

    def _service_message(self, around: Around, message: Fields) -> Heard | None:
        """What Telegram itself says in a chat about the chat."""
        to, before = number(message, "migrate_to_chat_id"), number(message, "migrate_from_chat_id")
        if to is not None:
            here = around["chat"].id
            around["chat"] = Chat.group(f"{CHANNEL}:{to}")
            return Moved(**around, before=here)
        if before is not None:
            return Moved(**around, before=f"{CHANNEL}:{before}")
        came = self._others(parts(message, "new_chat_members"))
        if came:
            return Came(**around, people=came)
        went = self._others([part(message, "left_chat_member")])
        return _went(around, went) if went else None

    def _text_message(
        self, around: Around, message: Fields, id: str, *, edited: bool
    ) -> Said | Unsaid | None:
        said = read(message, self._me.id, self._me.username)
        if said is None or said.addresses_other_bot:
            # Words that were there before may be gone; where somebody is changes all the time.
            words_gone = edited and "location" not in message
            return Unsaid(**around, message=id) if words_gone else None
        private = part(message, "chat").get("type") == "private"
        when = (number(message, "edit_date") if edited else None) or number(message, "date")
        return Said(
            **around,
            text=said.own,
            message=id,
            at=None if when is None else datetime.fromtimestamp(when, UTC),
            edited=edited,
            quoted=said.quoted,
            forwarded=said.forwarded,
            addressed=private or said.addresses_bot or said.own.startswith("/"),
        )

    def _membership(self, update: str, change: Fields) -> Heard | None:
        """Told to admins; of ourselves, to everybody."""
        after, where = part(change, "new_chat_member"), part(change, "chat")
        by, user = _person(part(change, "from")), part(after, "user")
        chat = _chat(where, by)
        was, now = _is_there(part(change, "old_chat_member")), _is_there(after)
        if chat is None or where.get("type") not in _GROUPS or was == now:
            return None
        around = Around(channel=CHANNEL, update=update, chat=chat, who=by, thread=None)
        if number(user, "id") == self._me.id:
            # Who lets us in is there; of who is there when we are out we hear nothing.
            there = () if by is None else (by,)
            return Came(**around, people=there, bot_joined=True) if now else None
        people = self._others([user])
        if not people:
            return None
        return Came(**around, people=people) if now else _went(around, people)

    def _others(self, users: list[Fields]) -> tuple[Requester, ...]:
        found = (_person(user) for user in users if number(user, "id") != self._me.id)
        return tuple(person for person in found if person is not None)


def _went(around: Around, people: tuple[Requester, ...]) -> Went:
    """Who goes by themselves has told us so, and is not there any more."""
    around["chat"] = Chat.group(around["chat"].id)
    return Went(**around, people=people)


def _pressed(update: str, query: Fields) -> Pressed | None:
    message, who = part(query, "message"), _person(part(query, "from"))
    chat, id, data = (
        _chat(part(message, "chat"), None),
        number(message, "message_id"),
        query.get("data"),
    )
    if chat is None or who is None or not isinstance(data, str):
        return None
    if chat.id != who.key:
        # Who only looks into a public group can press its buttons: the store has to know them.
        chat = Chat(chat.id, chat.kind, vouched=False)
    return Pressed(
        channel=CHANNEL,
        update=update,
        chat=chat,
        who=who,
        thread=_thread(message),
        data=data,
        message=None if id is None else str(id),
    )


def _chat(where: Fields, who: Requester | None) -> Chat | None:
    id, kind = number(where, "id"), where.get("type")
    if not id:
        return None
    name = f"{CHANNEL}:{id}"
    if kind == "private":
        return Chat.private(name)
    if kind in _GROUPS:
        return Chat.group(name, [] if who is None else [who])
    return Chat.unknown(name)


def _thread(message: Fields) -> str | None:
    """Only topics: elsewhere the same field numbers the answers to a message."""
    topic = number(message, "message_thread_id")
    return str(topic) if topic is not None and message.get("is_topic_message") is True else None


def _speaker(message: Fields) -> Requester | None:
    """Nobody where a chat speaks: a channel, an admin who does not show their name, or somebody in
    the name of their channel."""
    return None if "sender_chat" in message else _person(part(message, "from"))


def _person(user: Fields) -> Requester | None:
    id = number(user, "id")
    if user is NOTHING or id is None or id <= 0:
        return None
    return Requester(
        f"{CHANNEL}:{id}",
        name=shown(user) or None,
        username=words(user, "username") or None,
        is_bot=user.get("is_bot") is not False,
    )


def _is_there(member: Fields) -> bool:
    if member.get("status") == "restricted":
        return member.get("is_member") is True
    return member.get("status") in _PRESENT
