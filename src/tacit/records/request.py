"""The requester, the chat, and the resolved request that policy decides on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind, Purpose

# Who is asking, and where: what a channel adapter hands to `memory.view`.


@dataclass(frozen=True, slots=True)
class Requester:
    """A person as their channel knows them."""

    key: str  # external key: telegram:123, slack:T1:U2, or acct:42
    name: str | None = None
    username: str | None = None
    is_bot: bool = False  # bots are not people: their view is disabled


@dataclass(frozen=True, slots=True)
class Chat:
    """Where an answer goes. The adapter vouches for the kind and the participants."""

    id: str
    kind: ChatKind
    participants: tuple[str | Requester, ...] = ()  # external keys known to be here now
    complete: bool = False  # true only where the channel proves that this is everybody
    # False: nobody says that the requester is there, so only what the store knows of it counts.
    vouched: bool = True

    @classmethod
    def private(cls, id: str) -> Chat:
        return cls(id, ChatKind.PRIVATE)

    @classmethod
    def group(
        cls, id: str, participants: Iterable[str | Requester] = (), *, complete: bool = False
    ) -> Chat:
        if isinstance(participants, str) or not isinstance(participants, Iterable):
            raise InvalidInput("participants", "expected a list: telegram:123 or Requesters")
        return cls(id, ChatKind.GROUP, tuple(participants), complete)

    @classmethod
    def unknown(cls, id: str) -> Chat:
        """A place whose audience nobody can tell: only what is safe for everybody is said."""
        return cls(id, ChatKind.UNKNOWN)


# A resolved request: who asks, in front of whom, and every identity those people have.


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Person ids are the head of each person's identities; `same` leads to them."""

    space: str
    at: datetime  # expiry is judged at this time
    requester: str | None
    subject: str | None = None  # what the requester writes as: acct:… once linked
    chat: str | None = None
    kind: ChatKind = ChatKind.UNKNOWN
    participants: frozenset[str] = frozenset()
    complete: bool = False
    purpose: Purpose = Purpose.RECALL
    chat_ids: frozenset[str] = frozenset()  # every id this chat has had
    confidential: bool = False
    present: frozenset[str] = frozenset()  # the identities that the audience has in this chat
    person_by_identity: Mapping[str, str] = field(
        default_factory=dict
    )  # identity → person, verified links now
    audience_identities: frozenset[str] = frozenset()  # every identity the audience ever had
    identity_rev: int = 0  # of everybody's identities, when this was resolved
    turns: bool = False  # asks for turns of conversations; otherwise for memories, never for both

    @property
    def audience(self) -> frozenset[str]:
        return self.participants | {self.requester} if self.requester else self.participants

    @property
    def private(self) -> bool:
        return (
            self.kind is ChatKind.PRIVATE
            and self.requester is not None
            and self.participants <= {self.requester}
        )

    def person(self, identity: str) -> str:
        return self.person_by_identity.get(identity, identity)

    def identities(self, person: str) -> frozenset[str]:
        return frozenset(i for i, p in self.person_by_identity.items() if p == person) | {person}

    def visible_identity(self, identity: str) -> str:
        """Somebody in this chat goes by the identity they have here: that they have others is
        theirs to tell."""
        here = (i for i in self.present if self.person(i) == self.person(identity))
        return min(here, default=identity)

    @property
    def own_identities(self) -> frozenset[str]:
        """The requester's identities, as far as this request reads them together."""
        return self.identities(self.requester) if self.requester else frozenset()

    def for_management(self) -> Request:
        return replace(self, purpose=Purpose.MANAGE)

    def for_turns(self) -> Request:
        return replace(self, turns=True)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a memory may be used in a request, and which rule says so."""

    allowed: bool
    rule: str
