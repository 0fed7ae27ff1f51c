"""Whose words a message holds: the sender's own, and those that came along from somebody else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.surfaces.chat.heard import Quoted
from tacit.surfaces.telegram.fields import Fields, number, part, parts, words

_QUOTING = frozenset({"blockquote", "expandable_blockquote"})
_UNIT_BYTES = 2  # Telegram counts in UTF-16 code units
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})@([A-Za-z0-9_]{1,64})(?!\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    own: str
    quoted: tuple[Quoted, ...] = ()
    forwarded: bool = False
    addresses_bot: bool = False  # by our user name, or as the one who is answered
    addresses_other_bot: bool = False  # a command that another bot is to follow


def read(message: Fields, bot: int, username: str) -> Words | None:
    """None: there are no words in it."""
    text = words(message, "text") or words(message, "caption")
    if not text.strip():
        return None
    origin = _from_elsewhere(message)
    if origin is not None:
        return Words(own="", quoted=(Quoted(text=text, by=origin or None),), forwarded=True)
    entities = parts(message, "entities") or parts(message, "caption_entities")
    own, blocks = _apart(text, entities)
    answered = _answered(message, bot)
    quoted = (*([answered] if answered else []), *(Quoted(text=block) for block in blocks))
    addressed = _commanded(_without_name(own, username))
    if addressed is not None and addressed.username != username.lower():
        return Words(own=own, addresses_other_bot=True)
    named = re.search(rf"(?<!\w)@{re.escape(username)}(?!\w)", own, re.IGNORECASE) is not None
    return Words(
        own=_without_name(own, username) if addressed is None else addressed.text,
        quoted=quoted,
        forwarded=not own,
        addresses_bot=named or addressed is not None or _answers_us(message, bot),
    )


@dataclass(frozen=True, slots=True)
class _Commanded:
    username: str
    text: str  # the command, with nobody named any more


def _commanded(own: str) -> _Commanded | None:
    """`/mem@somebot del 1`: for the bot of that name alone."""
    found = _COMMAND.match(own)
    if found is None:
        return None
    return _Commanded(found[2].lower(), f"/{found[1]}{own[found.end() :]}")


def _without_name(own: str, username: str) -> str:
    """Who is called by name first is not what is talked about."""
    called = re.match(rf"@{re.escape(username)}(?!\w)[\s,:;.!-]*", own, re.IGNORECASE)
    return own if called is None else own[called.end() :] or own


def _from_elsewhere(message: Fields) -> str | None:
    """Who had said it, as shown there ("": nobody knows); None: the sender says it now. Anything
    that hints at a forward counts as one, also in the fields of older servers."""
    if not part(message, "via_bot") and not any(key.startswith("forward_") for key in message):
        return "" if message.get("is_automatic_forward") else None
    origin = part(message, "forward_origin")
    return (
        shown(part(origin, "sender_user"))
        or words(origin, "sender_user_name")
        or words(part(origin, "sender_chat"), "title")
        or words(part(origin, "chat"), "title")
        or shown(part(message, "via_bot"))
    )


def _apart(text: str, entities: list[Fields]) -> tuple[str, list[str]]:
    """The sender's own words, and what they set apart as a quotation."""
    raw = text.encode("utf-16-le", "surrogatepass")
    own, blocks, at = [], [], 0
    for entity in sorted(entities, key=lambda one: number(one, "offset") or 0):
        start, length = number(entity, "offset"), number(entity, "length")
        if entity.get("type") not in _QUOTING or start is None or length is None:
            continue
        begin, end = start * _UNIT_BYTES, (start + length) * _UNIT_BYTES
        if at <= begin < end <= len(raw):
            own.append(raw[at:begin])
            blocks.append(_decoded(raw[begin:end]))
            at = end
    own.append(raw[at:])
    return "\n".join(filter(None, (_decoded(piece) for piece in own))), blocks


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace").strip()


def _answered(message: Fields, bot: int) -> Quoted | None:
    """The words that this is an answer to: the part that was marked, or all of them."""
    before = part(message, "reply_to_message")
    marked = words(part(message, "quote"), "text")
    text = marked or words(before, "text") or words(before, "caption")
    if not text.strip():
        return None
    author = part(before, "from")
    elsewhere = part(part(message, "external_reply"), "origin")
    by = shown(author) or shown(part(elsewhere, "sender_user"))
    ours = number(author, "id") == bot
    return Quoted(text=text, by=None if ours else by or None, ours=ours)


def _answers_us(message: Fields, bot: int) -> bool:
    """In a topic every message is an answer to the one that opened it, too; that one does not
    count."""
    before = part(message, "reply_to_message")
    return number(part(before, "from"), "id") == bot and "forum_topic_created" not in before


def shown(user: Fields) -> str:
    return " ".join(filter(None, (words(user, "first_name"), words(user, "last_name"))))
