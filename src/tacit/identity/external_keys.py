"""Parse external keys, chat ids and subjects: telegram:123, slack:T1:U2, acct:42."""

from __future__ import annotations

import re
from functools import lru_cache

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import ChatKind

ACCOUNT_PREFIX = "acct"
EXTERNAL_PREFIX = "ext"
PERSON_PREFIX = "person"
_RESERVED_PREFIXES = frozenset({EXTERNAL_PREFIX, PERSON_PREFIX})

_PART = re.compile(r"[A-Za-z0-9._@+=-]+")
_TELEGRAM_USER = re.compile(r"[1-9][0-9]{0,18}")
_TELEGRAM_CHAT = re.compile(r"-?[1-9][0-9]{0,18}")
_KEY_FORMATS = {
    "telegram": "telegram:<user id, digits>",
    "slack": "slack:<team id>:<user id>",
    ACCOUNT_PREFIX: "acct:<account id>",
}


def parse_external_key(value: object, field: str = "requester") -> str:
    """Check a channel's key for a person and return it in its canonical form."""
    channel, parts = _split_key(field, value)
    if channel in _RESERVED_PREFIXES:
        raise InvalidInput(
            field, f"{channel}: is a reserved prefix; write the channel, as telegram:123"
        )
    good = (
        (channel == "telegram" and len(parts) == 1 and bool(_TELEGRAM_USER.fullmatch(parts[0])))
        or (channel == "slack" and len(parts) == 2)
        or (channel == ACCOUNT_PREFIX and len(parts) == 1)
        or channel not in _KEY_FORMATS
    )
    if not good:
        raise InvalidInput(field, f"is not of the form {_KEY_FORMATS[channel]}")
    return ":".join((channel, *parts))


def parse_chat_id(value: object) -> str:
    channel, parts = _split_key("chat", value)
    if channel in _RESERVED_PREFIXES:
        raise InvalidInput("chat", f"{channel}: names people, not chats; write telegram:-100123")
    if channel == "telegram" and not (len(parts) == 1 and _TELEGRAM_CHAT.fullmatch(parts[0])):
        raise InvalidInput("chat", "is not of the form telegram:<chat id, digits>")
    return ":".join((channel, *parts))


def subject_of_key(key: str) -> str:
    """Return the subject of a checked external key that is not linked."""
    return key if key.startswith(f"{ACCOUNT_PREFIX}:") else f"{EXTERNAL_PREFIX}:{key}"


def parse_subject(value: object, field: str = "subject") -> str:
    """Parse a subject (`ext:telegram:1`, `acct:42`) or an external key."""
    if isinstance(value, str) and value.startswith(f"{EXTERNAL_PREFIX}:"):
        return f"{EXTERNAL_PREFIX}:{parse_external_key(value.removeprefix(f'{EXTERNAL_PREFIX}:'), field)}"
    return subject_of_key(parse_external_key(value, field))


def parse_identity(value: object, field: str) -> str | None:
    """Parse an identity, or return None if the text can only be a name."""
    if not isinstance(value, str) or ":" not in value or " " in value:
        return None
    if value.startswith(f"{PERSON_PREFIX}:"):
        if validation.parse_memory_id(value.removeprefix(f"{PERSON_PREFIX}:")) is None:
            raise InvalidInput(field, "person:… takes 8 letters and digits")
        return value
    return parse_subject(value, field)


def is_subject(identity: str) -> bool:
    return identity.startswith((f"{EXTERNAL_PREFIX}:", f"{ACCOUNT_PREFIX}:"))


def infer_chat_kind(chat: str) -> ChatKind | None:
    """Return the kind of a chat if the channel's numbering determines it."""
    channel, _, rest = chat.partition(":")
    if channel != "telegram":
        return None
    return ChatKind.GROUP if rest.startswith("-") else ChatKind.PRIVATE


def infer_private_chat_person(chat: str) -> str | None:
    """Return the subject of a private chat if the channel's numbering determines it."""
    channel, _, rest = chat.partition(":")
    if channel == "telegram" and _TELEGRAM_USER.fullmatch(rest):
        return subject_of_key(chat)
    return None


def channel_of_chat(chat: str | None) -> str | None:
    return chat.partition(":")[0] if chat else None


def _split_key(field: str, value: object) -> tuple[str, tuple[str, ...]]:
    key = validation.parse_identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS)
    return _split_parts(field, key)


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _split_parts(field: str, key: str) -> tuple[str, tuple[str, ...]]:
    channel, *parts = key.split(":")
    validation.parse_channel(field, channel)
    if not parts or not all(_PART.fullmatch(part) for part in parts):
        raise InvalidInput(
            field, "is not of the form <channel>:<id>; write for example telegram:123"
        )
    return channel, tuple(parts)
