"""Parse an update of the Bot API into an inbound message."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from tacit import Chat, Requester
from tacit.bots import messages
from tacit.bots.channel import JsonObject, get_object, get_objects

# A field of an unexpected type counts as absent: with python-telegram-bot's types, one field that a
# server adds or leaves out would drop the update.


def get_integer(of: JsonObject, key: str) -> int | None:
    found = of.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def get_text(of: JsonObject, key: str) -> str:
    found = of.get(key)
    return found if isinstance(found, str) else ""


# The text of a message: the sender's own words, and quotes.

_QUOTE_ENTITIES = frozenset({"blockquote", "expandable_blockquote"})
_UTF16_UNIT_BYTES = 2  # Telegram counts in UTF-16 code units
_ADDRESSED_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})@([A-Za-z0-9_]{1,64})(?!\S)")  # /mem@bot


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramText:
    own: str
    quoted: tuple[messages.Quote, ...] = ()
    forwarded: bool = False
    addresses_bot: bool = False  # by user name, or as a reply
    addresses_other_bot: bool = False  # a command for another bot


def parse_text(message: JsonObject, bot: int, username: str) -> TelegramText | None:
    """Parse the text of a message; None if it has none."""
    text = get_text(message, "text") or get_text(message, "caption")
    if not text.strip():
        return None
    origin = _forward_author(message)
    if origin is not None:
        return TelegramText(own="", quoted=(messages.Quote(text=text, by=origin or None),), forwarded=True)
    entities = get_objects(message, "entities") or get_objects(message, "caption_entities")
    own, blocks = _split_quotes(text, entities)
    answered = _replied_to_quote(message, bot)
    quoted = (*([answered] if answered else []), *(messages.Quote(text=block) for block in blocks))
    plain = _strip_bot_name(own, username)
    command = _ADDRESSED_COMMAND.match(plain)
    if command is not None:
        if command[2].lower() != username.lower():
            return TelegramText(own=own, addresses_other_bot=True)
        plain = f"/{command[1]}{plain[command.end() :]}"
    named = re.search(rf"(?<!\w)@{re.escape(username)}(?!\w)", own, re.IGNORECASE) is not None
    return TelegramText(
        own=plain,
        quoted=quoted,
        forwarded=not own,
        addresses_bot=named or command is not None or _is_reply_to_bot(message, bot),
    )


def _strip_bot_name(own: str, username: str) -> str:
    """Remove the bot's name from the start of a text."""
    name = re.match(rf"@{re.escape(username)}(?!\w)[\s,:;.!-]*", own, re.IGNORECASE)
    return own if name is None else own[name.end() :] or own


def _forward_author(message: JsonObject) -> str | None:
    """Return the author's name of a forward ("" if unknown); None if it is no forward.

    Any sign of a forward counts, also fields of older servers.
    """
    if not get_object(message, "via_bot") and not any(key.startswith("forward_") for key in message):
        return "" if message.get("is_automatic_forward") else None
    origin = get_object(message, "forward_origin")
    return (
        display_name(get_object(origin, "sender_user"))
        or get_text(origin, "sender_user_name")
        or get_text(get_object(origin, "sender_chat"), "title")
        or get_text(get_object(origin, "chat"), "title")
        or display_name(get_object(message, "via_bot"))
    )


def _split_quotes(text: str, entities: list[JsonObject]) -> tuple[str, list[str]]:
    """Split a text into the sender's own words and block quotes."""
    raw = text.encode("utf-16-le", "surrogatepass")
    own, blocks, at = [], [], 0
    for entity in sorted(entities, key=lambda one: get_integer(one, "offset") or 0):
        start, length = get_integer(entity, "offset"), get_integer(entity, "length")
        if entity.get("type") not in _QUOTE_ENTITIES or start is None or length is None:
            continue
        begin, end = start * _UTF16_UNIT_BYTES, (start + length) * _UTF16_UNIT_BYTES
        if at <= begin < end <= len(raw):
            own.append(raw[at:begin])
            blocks.append(_decode_utf16(raw[begin:end]))
            at = end
    own.append(raw[at:])
    return "\n".join(filter(None, (_decode_utf16(piece) for piece in own))), blocks


def _decode_utf16(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace").strip()


def _replied_to_quote(message: JsonObject, bot: int) -> messages.Quote | None:
    """Return the text that this replies to: the quoted part, or all of it."""
    before = get_object(message, "reply_to_message")
    marked = get_text(get_object(message, "quote"), "text")
    text = marked or get_text(before, "text") or get_text(before, "caption")
    if not text.strip():
        return None
    author = get_object(before, "from")
    elsewhere = get_object(get_object(message, "external_reply"), "origin")
    by = display_name(author) or display_name(get_object(elsewhere, "sender_user"))
    ours = get_integer(author, "id") == bot
    return messages.Quote(text=text, by=None if ours else by or None, ours=ours)


def _is_reply_to_bot(message: JsonObject, bot: int) -> bool:
    """Whether a message replies to the bot. In a topic each message also replies to the message
    that opened it, which does not count."""
    before = get_object(message, "reply_to_message")
    return get_integer(get_object(before, "from"), "id") == bot and "forum_topic_created" not in before


def display_name(user: JsonObject) -> str:
    return " ".join(filter(None, (get_text(user, "first_name"), get_text(user, "last_name"))))


# The parser of updates. It makes no calls and stores nothing.

CHANNEL = "telegram"
# The kinds of updates that we request.
UPDATE_KINDS = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "chat_member",
)
_GROUP_TYPES = frozenset({"group", "supergroup"})
_MEMBER_STATUSES = frozenset({"creator", "administrator", "member"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramIdentity:
    """The bot itself, as Telegram knows it."""

    id: int
    username: str


class TelegramParser:
    def __init__(self, me: TelegramIdentity, allowed: Collection[str] = ()) -> None:
        self._me = me
        self._allowed = frozenset(allowed)

    def __call__(self, payload: str) -> messages.InboundMessage | None:
        """Parse a stored update; None if its chat is no longer allowed."""
        update = json.loads(payload)
        heard = self.parse(update) if isinstance(update, dict) else None
        return heard if heard is not None and self.allows(heard.chat) else None

    def allows(self, chat: Chat) -> bool:
        return not self._allowed or chat.id in self._allowed

    def parse(self, update: JsonObject) -> messages.InboundMessage | None:
        """Parse an update; None if it is of no use."""
        id = get_integer(update, "update_id")
        if id is None:
            return None
        # Update numbers are unique only for one bot.
        name = f"{self._me.id}.{id}"
        kind = next((kind for kind in UPDATE_KINDS if kind in update), "")
        content = get_object(update, kind)
        match kind:
            case "callback_query":
                return _button_pressed(name, content)
            case "my_chat_member" | "chat_member":
                return self._membership(name, content)
            case "":
                return None
        return self._message(name, content, edited=kind.startswith("edited_"))

    def _message(self, update: str, message: JsonObject, *, edited: bool) -> messages.InboundMessage | None:
        where, who = get_object(message, "chat"), _parse_sender(message)
        chat, id = _parse_chat(where, who), get_integer(message, "message_id")
        if chat is None or id is None:
            return None
        around = messages.InboundContext(channel=CHANNEL, update=update, chat=chat, who=who, thread=_topic_of(message))
        return self._service_message(around, message) or self._text_message(around, message, str(id), edited=edited)

    def _service_message(self, around: messages.InboundContext, message: JsonObject) -> messages.InboundMessage | None:
        """Parse a message of Telegram about the chat itself."""
        to = get_integer(message, "migrate_to_chat_id")
        before = get_integer(message, "migrate_from_chat_id")
        if to is not None:
            here = around["chat"].id
            around["chat"] = Chat.group(f"{CHANNEL}:{to}")
            return messages.ChatMoved(**around, before=here)
        if before is not None:
            return messages.ChatMoved(**around, before=f"{CHANNEL}:{before}")
        came = self._others(get_objects(message, "new_chat_members"))
        if came:
            return messages.MembersJoined(**around, people=came)
        went = self._others([get_object(message, "left_chat_member")])
        return _members_left(around, went) if went else None

    def _text_message(
        self, around: messages.InboundContext, message: JsonObject, id: str, *, edited: bool
    ) -> messages.TextMessage | messages.MessageDeleted | None:
        said = parse_text(message, self._me.id, self._me.username)
        if said is None or said.addresses_other_bot:
            # An edit may have removed the text; a live location is edited all the time.
            words_gone = edited and "location" not in message
            return messages.MessageDeleted(**around, message=id) if words_gone else None
        private = get_object(message, "chat").get("type") == "private"
        when = (edited and get_integer(message, "edit_date")) or get_integer(message, "date")
        return messages.TextMessage(
            **around,
            text=said.own,
            message=id,
            at=None if when is None else datetime.fromtimestamp(when, UTC),
            edited=edited,
            quoted=said.quoted,
            forwarded=said.forwarded,
            addressed=private or said.addresses_bot or said.own.startswith("/"),
        )

    def _membership(self, update: str, change: JsonObject) -> messages.InboundMessage | None:
        """Parse a change of members. Only admins get these, except about themselves."""
        after, where = get_object(change, "new_chat_member"), get_object(change, "chat")
        by, user = _parse_person(get_object(change, "from")), get_object(after, "user")
        chat = _parse_chat(where, by)
        was, now = _is_member(get_object(change, "old_chat_member")), _is_member(after)
        if chat is None or where.get("type") not in _GROUP_TYPES or was == now:
            return None
        around = messages.InboundContext(channel=CHANNEL, update=update, chat=chat, who=by, thread=None)
        if get_integer(user, "id") == self._me.id:
            # The person who added the bot is present. After it left, it gets no more updates.
            present = () if by is None else (by,)
            return messages.MembersJoined(**around, people=present, bot_joined=True) if now else None
        people = self._others([user])
        if not people:
            return None
        return messages.MembersJoined(**around, people=people) if now else _members_left(around, people)

    def _others(self, users: list[JsonObject]) -> tuple[Requester, ...]:
        found = (_parse_person(user) for user in users if get_integer(user, "id") != self._me.id)
        return tuple(person for person in found if person is not None)


def _members_left(around: messages.InboundContext, people: tuple[Requester, ...]) -> messages.MembersLeft:
    """Make the message without its sender as a participant: they may be the one who left."""
    around["chat"] = Chat.group(around["chat"].id)
    return messages.MembersLeft(**around, people=people)


def _button_pressed(update: str, query: JsonObject) -> messages.ButtonPressed | None:
    message, who = get_object(query, "message"), _parse_person(get_object(query, "from"))
    chat, data = _parse_chat(get_object(message, "chat"), None), query.get("data")
    id = get_integer(message, "message_id")
    if chat is None or who is None or not isinstance(data, str):
        return None
    if chat.id != who.key:
        # A visitor of a public group can press buttons too, so this proves no membership.
        chat = Chat(chat.id, chat.kind, vouched=False)
    return messages.ButtonPressed(
        channel=CHANNEL,
        update=update,
        chat=chat,
        who=who,
        thread=_topic_of(message),
        data=data,
        message=None if id is None else str(id),
    )


def _parse_chat(where: JsonObject, who: Requester | None) -> Chat | None:
    id, kind = get_integer(where, "id"), where.get("type")
    if not id:
        return None
    name = f"{CHANNEL}:{id}"
    if kind == "private":
        return Chat.private(name)
    if kind in _GROUP_TYPES:
        return Chat.group(name, [] if who is None else [who])
    return Chat.unknown(name)


def _topic_of(message: JsonObject) -> str | None:
    """Return the topic. Outside of topics the same field is the id of a reply thread."""
    topic = get_integer(message, "message_thread_id")
    return str(topic) if topic is not None and message.get("is_topic_message") is True else None


def _parse_sender(message: JsonObject) -> Requester | None:
    """Return the sender; None for a channel, an anonymous admin, or a person as their channel."""
    return None if "sender_chat" in message else _parse_person(get_object(message, "from"))


def _parse_person(user: JsonObject) -> Requester | None:
    id = get_integer(user, "id")
    if id is None or id <= 0:
        return None
    return Requester(
        f"{CHANNEL}:{id}",
        name=display_name(user) or None,
        username=get_text(user, "username") or None,
        is_bot=user.get("is_bot") is not False,
    )


def _is_member(member: JsonObject) -> bool:
    if member.get("status") == "restricted":
        return member.get("is_member") is True
    return member.get("status") in _MEMBER_STATUSES
