"""External keys and subjects: `telegram:123`, `slack:T1:U2`, `acct:42` and what they stand for."""

from __future__ import annotations

import re
from functools import lru_cache

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text
from tacit.model.words import ChatKind

ACCOUNT = "acct"
EXTERNAL = "ext"
PERSON = "person"
_RESERVED = frozenset({EXTERNAL, PERSON})

_PART = re.compile(r"[A-Za-z0-9._@+=-]+")
_TELEGRAM_USER = re.compile(r"[1-9][0-9]{0,18}")
_TELEGRAM_CHAT = re.compile(r"-?[1-9][0-9]{0,18}")
_SHAPES = {
    "telegram": "telegram:<user id, digits>",
    "slack": "slack:<team id>:<user id>",
    ACCOUNT: "acct:<account id>",
}


def external_key(value: object, field: str = "requester") -> str:
    """A channel's own name for a person, checked and in its one spelling."""
    channel, parts = _split(field, value)
    if channel in _RESERVED:
        raise InvalidInput(
            field, f"{channel}: is our own prefix; write the channel, as telegram:123"
        )
    good = (
        (channel == "telegram" and len(parts) == 1 and bool(_TELEGRAM_USER.fullmatch(parts[0])))
        or (channel == "slack" and len(parts) == 2)
        or (channel == ACCOUNT and len(parts) == 1)
        or channel not in _SHAPES
    )
    if not good:
        raise InvalidInput(field, f"is not of the form {_SHAPES[channel]}")
    return ":".join((channel, *parts))


def chat_id(value: object) -> str:
    channel, parts = _split("chat", value)
    if channel in _RESERVED:
        raise InvalidInput("chat", f"{channel}: names people, not chats; write telegram:-100123")
    if channel == "telegram" and not (len(parts) == 1 and _TELEGRAM_CHAT.fullmatch(parts[0])):
        raise InvalidInput("chat", "is not of the form telegram:<chat id, digits>")
    return ":".join((channel, *parts))


def subject_of(key: str) -> str:
    """The subject behind a checked external key, as long as nothing is linked."""
    return key if key.startswith(f"{ACCOUNT}:") else f"{EXTERNAL}:{key}"


def subject(value: object, field: str = "subject") -> str:
    """A subject written out: `ext:telegram:1`, `acct:42`; or an external key, for its subject."""
    if isinstance(value, str) and value.startswith(f"{EXTERNAL}:"):
        return f"{EXTERNAL}:{external_key(value.removeprefix(f'{EXTERNAL}:'), field)}"
    return subject_of(external_key(value, field))


def identity(value: object, field: str) -> str | None:
    """Any identity written out, or None where the text can only be a name."""
    if not isinstance(value, str) or ":" not in value or " " in value:
        return None
    if value.startswith(f"{PERSON}:"):
        if text.memory_id(value.removeprefix(f"{PERSON}:")) is None:
            raise InvalidInput(field, "person:… takes 8 letters and digits")
        return value
    return subject(value, field)


def is_subject(identity: str) -> bool:
    return identity.startswith((f"{EXTERNAL}:", f"{ACCOUNT}:"))


def kind_by_number(chat: str) -> ChatKind | None:
    """What kind of chat this must be, where the channel's numbering says so."""
    channel, _, rest = chat.partition(":")
    if channel != "telegram":
        return None
    return ChatKind.GROUP if rest.startswith("-") else ChatKind.PRIVATE


def private_person(chat: str) -> str | None:
    """Whose private chat this must be, where the channel's numbering says so."""
    channel, _, rest = chat.partition(":")
    if channel == "telegram" and _TELEGRAM_USER.fullmatch(rest):
        return subject_of(chat)
    return None


def channel_of(chat: str | None) -> str | None:
    return chat.partition(":")[0] if chat else None


def _split(field: str, value: object) -> tuple[str, tuple[str, ...]]:
    return _parts(field, text.identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS))


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _parts(field: str, key: str) -> tuple[str, tuple[str, ...]]:
    channel, *parts = key.split(":")
    text.channel(field, channel)
    if not parts or not all(_PART.fullmatch(part) for part in parts):
        raise InvalidInput(
            field, "is not of the form <channel>:<id>; write for example telegram:123"
        )
    return channel, tuple(parts)
