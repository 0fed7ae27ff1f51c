"""Who is asking, and where: what a channel adapter hands to `memory.view`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.errors import InvalidInput
from tacit.model.words import ChatKind


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
