"""Parse external keys, link identities of one person, and resolve a request.

External keys and subjects: telegram:123, slack:T1:U2, acct:42.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.accounts import Link, LinkKind
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Request, Requester

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
        raise InvalidInput(field, f"{channel}: is a reserved prefix; write the channel, as telegram:123")
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


def _split_key(field: str, value: object) -> tuple[str, tuple[str, ...]]:
    key = validation.parse_identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS)
    return _split_parts(field, key)


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _split_parts(field: str, key: str) -> tuple[str, tuple[str, ...]]:
    channel, *parts = key.split(":")
    validation.parse_channel(field, channel)
    if not parts or not all(_PART.fullmatch(part) for part in parts):
        raise InvalidInput(field, "is not of the form <channel>:<id>; write for example telegram:123")
    return channel, tuple(parts)


# Links between the identities of one person.

# Link codes: short enough to copy by hand, without 0 and O, 1 and I. 32 characters: 5 bits each.
LINK_CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_HALF = limits.LINK_CODE_CHARS // 2
# Separators between the halves, with the variants that keyboards produce.
_SEPARATORS = str.maketrans("", "", " \t\n\u00a0-\u2010\u2011\u2012\u2013\u2014\u2212")
_WRITTEN_MAX_CHARS = 4 * limits.LINK_CODE_CHARS
INVALID_LINK_CODE = ""  # stands for every text that cannot be a code


def create_link_code() -> str:
    """Return a new code in the form XXXXX-XXXXX."""
    code = "".join(secrets.choice(LINK_CODE_ALPHABET) for _ in range(limits.LINK_CODE_CHARS))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def normalize_link_code(code: object) -> str:
    """Return a code in its canonical form.

    Never raise for a malformed code: it is looked up like any other code and not found.
    """
    if not isinstance(code, str):
        raise InvalidInput("code", "expected the code as text, as it was shown")
    if len(code) > _WRITTEN_MAX_CHARS:
        return INVALID_LINK_CODE
    found = code.translate(_SEPARATORS)
    # Only if ASCII: letters of other scripts may have ASCII capitals.
    found = found.upper() if found.isascii() else INVALID_LINK_CODE
    good = len(found) == limits.LINK_CODE_CHARS and set(found) <= set(LINK_CODE_ALPHABET)
    return found if good else INVALID_LINK_CODE


@dataclass(frozen=True)
class Identities:
    """Which identities are one person: currently by verified links, and ever, for holds.

    An identity without links is a person of its own.
    """

    links: tuple[Link, ...] = ()
    _now: dict[str, frozenset[str]] = field(init=False, repr=False)
    _ever: dict[str, frozenset[str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_now", _group_identities(x for x in self.links if x.holds))
        object.__setattr__(self, "_ever", _group_identities(x for x in self.links if x.was_verified))

    def current_identities(self, identity: str) -> frozenset[str]:
        return self._now.get(identity, frozenset({identity}))

    def all_identities(self, identity: str) -> frozenset[str]:
        return self._ever.get(identity, frozenset({identity}))

    def person_id(self, identity: str) -> str:
        """Return the person id: the last target of the links; in a cycle the smallest."""
        return self._follow(identity, frozenset(LinkKind))

    def subject(self, identity: str) -> str:
        """Return the owner of this identity's writes: the account, once linked."""
        return self._follow(identity, frozenset({LinkKind.LINK}))

    def is_recognizable(self, identity: str) -> bool:
        """Whether the person could be recognized in a chat."""
        return any(is_subject(i) for i in self.current_identities(identity))

    def _follow(self, identity: str, kinds: frozenset[LinkKind]) -> str:
        leads = {x.source: x.target for x in self.links if x.holds and x.kind in kinds}
        path = [identity]
        while path[-1] in leads:
            following = leads[path[-1]]
            if following in path:
                return min(path[path.index(following) :])
            path.append(following)
        return path[-1]


def _group_identities(links: Iterable[Link]) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for link in links:
        joined = groups.get(link.source, {link.source}) | groups.get(link.target, {link.target})
        for identity in joined:
            groups[identity] = joined
    return {identity: frozenset(group) for identity, group in groups.items()}


# Resolve a requester and a chat into a request that policy decides on.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChat:
    """A chat as the storage knows it."""

    id: str  # the newest id, after migrations
    kind: ChatKind | None = None  # None: never seen
    confidential: bool = False
    chat_ids: frozenset[str] = frozenset()  # every id it has had
    members: frozenset[str] = frozenset()  # people who joined or spoke and did not leave


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A checked requester and chat, with subjects instead of external keys."""

    subject: str | None
    chat: str
    kind: ChatKind
    participants: frozenset[str]
    complete: bool
    names: tuple[tuple[str, str, str], ...] = ()  # (subject, name | username, text)
    vouched: bool = True  # by an adapter; otherwise only stored members count as present

    @property
    def people(self) -> frozenset[str]:
        return self.participants | ({self.subject} if self.subject else frozenset())


def parse_request(requester: Requester | None, chat: Chat) -> RawRequest:
    """Check a requester and a chat; cache the result of plain private chats."""
    plain = _cache_key(requester, chat)
    return _parse_cached(*plain) if plain is not None else _parse_uncached(requester, chat)


def _cache_key(requester: object, chat: object) -> tuple[str, str | None, str | None, str] | None:
    """Return the cache key of a plain private chat, or None.

    Plain strings only: values of other types may be equal and yet be checked differently.
    """
    if type(requester) is not Requester or type(chat) is not Chat:
        return None
    found = (requester.key, requester.name, requester.username, chat.id)
    plain = all(one is None or type(one) is str for one in found)
    private = chat.kind is ChatKind.PRIVATE and chat.participants == () and chat.complete is False
    vouched = chat.vouched is True and requester.is_bot is False
    return found if plain and private and vouched else None


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _parse_cached(key: str, name: str | None, username: str | None, chat: str) -> RawRequest:
    return _parse_uncached(Requester(key, name, username), Chat.private(chat))


def _parse_uncached(requester: Requester | None, chat: Chat) -> RawRequest:
    if not isinstance(chat, Chat):
        raise InvalidInput("chat", "expected a tacit.Chat, for example Chat.private('telegram:1')")
    if requester is not None and not isinstance(requester, Requester):
        raise InvalidInput("requester", "expected a tacit.Requester, or None if it is unknown")
    if not isinstance(chat.participants, tuple):
        raise InvalidInput("participants", "expected a list of people: telegram:123 or Requesters")
    if len(chat.participants) > limits.PARTICIPANTS_MAX_COUNT:
        raise InvalidInput("chat", f"takes at most {limits.PARTICIPANTS_MAX_COUNT:,} participants")
    vouched = validation.parse_bool("vouched", chat.vouched)
    claimed = chat.participants if vouched else ()
    here = [p if isinstance(p, Requester) else Requester(p) for p in claimed]
    for person in (*here, *([requester] if requester else [])):
        validation.parse_bool("is_bot", person.is_bot)
    people = [p for p in here if not p.is_bot]
    subject = None
    if requester is not None and not requester.is_bot:
        subject = subject_of_key(parse_external_key(requester.key))
        people.append(requester)
    return RawRequest(
        subject=subject,
        chat=parse_chat_id(chat.id),
        kind=validation.parse_enum("chat", chat.kind, ChatKind),
        participants=frozenset(subject_of_key(parse_external_key(p.key, "participants")) for p in here if not p.is_bot),
        # Other bots may forward messages, so the audience cannot be complete with them.
        complete=validation.parse_bool("complete", chat.complete) and vouched and not any(p.is_bot for p in here),
        names=tuple(dict.fromkeys(name for person in people for name in _display_names(person))),
        vouched=vouched,
    )


def _display_names(person: Requester) -> list[tuple[str, str, str]]:
    subject = subject_of_key(parse_external_key(person.key, "participants"))
    shown = (
        ("name", validation.clean_display_name(person.name)),
        ("username", validation.clean_display_name(person.username)),
    )
    return [(subject, kind, name) for kind, name in shown if name]


def resolve_request(
    space: str, at: datetime, raw: RawRequest, chat: StoredChat, identities: Identities, *, union: bool
) -> Request:
    here = set(raw.participants)
    if not raw.complete:
        here |= chat.members
    if raw.kind is ChatKind.PRIVATE:
        whose = infer_private_chat_person(raw.chat)
        here = here - chat.members | {whose} if whose else here | chat.members
    participants = frozenset(identities.person_id(i) for i in here)
    requester = identities.person_id(raw.subject) if raw.subject else None
    subject = identities.subject(raw.subject) if raw.subject else None
    kind = raw.kind
    numbered = infer_chat_kind(raw.chat)
    claimed = kind not in (chat.kind or kind, ChatKind.UNKNOWN) or kind not in (numbered or kind, ChatKind.UNKNOWN)
    needs_proof = kind is ChatKind.GROUP or not raw.vouched
    if claimed or (needs_proof and requester not in participants):
        kind = ChatKind.UNKNOWN

    # A requester who is not a member must not learn who is.
    stranger = kind is ChatKind.UNKNOWN or (kind is ChatKind.PRIVATE and not participants <= {requester})
    present = frozenset({raw.subject}) if raw.subject else frozenset()
    present |= frozenset() if stranger else here

    person_by_identity: dict[str, str] = {}
    ever: set[str] = set()
    for person in participants | ({requester} if requester else set()):
        ever |= identities.all_identities(person)
        if person == requester and not union and subject:
            person_by_identity[subject] = person
        else:
            person_by_identity.update(dict.fromkeys(identities.current_identities(person), person))
    return Request(
        space=space,
        at=at,
        requester=requester,
        subject=subject,
        chat=chat.id,
        kind=kind,
        participants=participants,
        complete=raw.complete and kind is ChatKind.GROUP,
        chat_ids=chat.chat_ids | {raw.chat, chat.id},
        confidential=chat.confidential,
        present=present,
        person_by_identity=person_by_identity,
        audience_identities=frozenset(ever),
    )
