"""Resolve a requester and a chat into a request that policy decides on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.identity.links import Identities
from tacit.records import validation
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Request, Requester


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
        subject = external_keys.subject_of_key(external_keys.parse_external_key(requester.key))
        people.append(requester)
    return RawRequest(
        subject=subject,
        chat=external_keys.parse_chat_id(chat.id),
        kind=validation.parse_enum("chat", chat.kind, ChatKind),
        participants=frozenset(
            external_keys.subject_of_key(external_keys.parse_external_key(p.key, "participants"))
            for p in here
            if not p.is_bot
        ),
        # Other bots may forward messages, so the audience cannot be complete with them.
        complete=validation.parse_bool("complete", chat.complete)
        and vouched
        and not any(p.is_bot for p in here),
        names=tuple(dict.fromkeys(name for person in people for name in _display_names(person))),
        vouched=vouched,
    )


def _display_names(person: Requester) -> list[tuple[str, str, str]]:
    subject = external_keys.subject_of_key(
        external_keys.parse_external_key(person.key, "participants")
    )
    shown = (
        ("name", validation.clean_display_name(person.name)),
        ("username", validation.clean_display_name(person.username)),
    )
    return [(subject, kind, name) for kind, name in shown if name]


def resolve_request(
    space: str,
    at: datetime,
    raw: RawRequest,
    chat: StoredChat,
    identities: Identities,
    *,
    union: bool,
) -> Request:
    here = set(raw.participants)
    if not raw.complete:
        here |= chat.members
    if raw.kind is ChatKind.PRIVATE:
        whose = external_keys.infer_private_chat_person(raw.chat)
        here = here - chat.members | {whose} if whose else here | chat.members
    participants = frozenset(identities.person_id(i) for i in here)
    requester = identities.person_id(raw.subject) if raw.subject else None
    subject = identities.subject(raw.subject) if raw.subject else None
    kind = raw.kind
    numbered = external_keys.infer_chat_kind(raw.chat)
    claimed = kind not in (chat.kind or kind, ChatKind.UNKNOWN) or kind not in (
        numbered or kind,
        ChatKind.UNKNOWN,
    )
    needs_proof = kind is ChatKind.GROUP or not raw.vouched
    if claimed or (needs_proof and requester not in participants):
        kind = ChatKind.UNKNOWN

    # A requester who is not a member must not learn who is.
    stranger = kind is ChatKind.UNKNOWN or (
        kind is ChatKind.PRIVATE and not participants <= {requester}
    )
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
