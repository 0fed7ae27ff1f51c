"""The requester, the chat, and the resolved request that policy decides on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind, Purpose


@dataclass(frozen=True, slots=True)
class Requester:
    """A person as their channel knows them."""

    key: str  # external key: telegram:123, slack:T1:U2, or acct:42
    name: str | None = None
    username: str | None = None
    is_bot: bool = False  # the view of a bot is disabled


@dataclass(frozen=True, slots=True)
class Chat:
    """The chat that an answer goes to. The channel adapter asserts its kind and participants."""

    id: str
    kind: ChatKind
    participants: tuple[str | Requester, ...] = ()  # external keys known to be here now
    complete: bool = False  # true only if the channel proves that the list is complete
    vouched: bool = True  # False: the requester counts as present only if the storage says so

    @classmethod
    def private(cls, id: str) -> Chat:
        return cls(id, ChatKind.PRIVATE)

    @classmethod
    def group(cls, id: str, participants: Iterable[str | Requester] = (), *, complete: bool = False) -> Chat:
        if isinstance(participants, str) or not isinstance(participants, Iterable):
            raise InvalidInput("participants", "expected a list: telegram:123 or Requesters")
        return cls(id, ChatKind.GROUP, tuple(participants), complete)

    @classmethod
    def unknown(cls, id: str) -> Chat:
        """Return a chat with an unknown audience: only memories safe for everyone are shown."""
        return cls(id, ChatKind.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A resolved request: requester, audience, and all identities of these people.

    The person id is the first of a person's identities; `person_by_identity` maps to it.
    """

    space: str
    at: datetime  # expiry is evaluated at this time
    requester: str | None
    subject: str | None = None  # owner of the requester's writes: acct:… once linked
    chat: str | None = None
    kind: ChatKind = ChatKind.UNKNOWN
    participants: frozenset[str] = frozenset()
    complete: bool = False
    purpose: Purpose = Purpose.RECALL
    chat_ids: frozenset[str] = frozenset()  # every id this chat has had
    confidential: bool = False
    present: frozenset[str] = frozenset()  # identities of the audience in this chat
    person_by_identity: Mapping[str, str] = field(default_factory=dict)  # by verified links
    audience_identities: frozenset[str] = frozenset()  # every identity the audience ever had
    identity_rev: int = 0  # revision of the identities at resolution
    turns: bool = False  # read episodes instead of memories, never both

    @property
    def audience(self) -> frozenset[str]:
        return self.participants | {self.requester} if self.requester else self.participants

    @property
    def channel(self) -> str | None:
        return self.chat.partition(":")[0] if self.chat else None

    @property
    def private(self) -> bool:
        return self.kind is ChatKind.PRIVATE and self.requester is not None and self.participants <= {self.requester}

    def person(self, identity: str) -> str:
        return self.person_by_identity.get(identity, identity)

    def identities(self, person: str) -> frozenset[str]:
        return frozenset(i for i, p in self.person_by_identity.items() if p == person) | {person}

    def visible_identity(self, identity: str) -> str:
        """Return the person's identity in this chat, so that no other identity is disclosed."""
        here = (i for i in self.present if self.person(i) == self.person(identity))
        return min(here, default=identity)

    @property
    def own_identities(self) -> frozenset[str]:
        """The requester's identities that this request reads together."""
        return self.identities(self.requester) if self.requester else frozenset()

    def for_management(self) -> Request:
        return replace(self, purpose=Purpose.MANAGE)

    def for_turns(self) -> Request:
        return replace(self, turns=True)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a memory may be shown in a request, and the rule that decides."""

    allowed: bool
    rule: str
