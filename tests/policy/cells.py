"""A small world of people and rooms, and the requests and memories that can be in it.

A cell is one request and one memory. The matrix in bench/ and the tests share these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from tacit.records.memory import ChatKind, Kind, Memory, Purpose, Sensitivity, Source, State, Trust, Visibility
from tacit.records.request import Request

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPACE = "default"
HERE, HERE_BEFORE, ELSEWHERE = "telegram:-1002", "telegram:-1", "telegram:-3"
PRIVATE_CHAT = "telegram:1"
GROUP = ChatKind.GROUP


@dataclass(frozen=True)
class Person:
    now: tuple[str, ...]  # identities by verified links; the first is the person's id
    past: tuple[str, ...] = ()  # identities that were unlinked

    @property
    def id(self) -> str:
        return self.now[0]

    @property
    def ever(self) -> tuple[str, ...]:
        return self.now + self.past


ALICE = Person(("acct:alice", "ext:telegram:1", "person:Alice001"), ("ext:telegram:100",))
BOB = Person(("acct:bob", "ext:slack:T1:UBOB"), ("ext:telegram:200",))
CAROL = Person(("ext:telegram:3",), ("acct:carol-before",))
DAVE = Person(("ext:telegram:4",))
PEOPLE = (ALICE, BOB, CAROL, DAVE)
SARAH = "person:Sarah001"  # known by name only: nobody could recognise her in a room


def request(
    requester: Person | None,
    kind: ChatKind = ChatKind.PRIVATE,
    others: Iterable[Person] = (),
    *,
    complete: bool = False,
    purpose: Purpose = Purpose.RECALL,
    chat: str = HERE,
    rooms: Collection[str] = (HERE, HERE_BEFORE),
    union: bool = True,
    at: datetime = NOW,
) -> Request:
    """A request as `identity.resolve` would make it for people with these links."""
    present = {*others} | ({requester} if requester else set())
    same: dict[str, str] = {}
    for person in present:
        known = person.now if union or person is not requester else person.now[:1]
        same.update(dict.fromkeys(known, person.id))
    return Request(
        space=SPACE,
        at=at,
        requester=requester.id if requester else None,
        subject=requester.id if requester else None,
        chat=chat,
        kind=kind,
        participants=frozenset(person.id for person in present),
        complete=complete,
        purpose=purpose,
        chat_ids=frozenset(rooms) | {chat},
        person_by_identity=same,
        audience_identities=frozenset(identity for person in present for identity in person.ever),
    )


_PLAIN: dict[str, Any] = {
    "id": "AAAAAAAA",
    "space": SPACE,
    "owner": None,
    "speaker": None,
    "subjects": frozenset(),
    "learned_in": None,
    "learned_kind": None,
    "heard_by": frozenset(),
    "confidential": False,
    "kind": Kind.KNOWLEDGE,
    "category": "fact",
    "key": None,
    "slot": None,
    "content": "The lighthouse keeper drinks tea",
    "version": 1,
    "visibility": Visibility.PRIVATE_ONLY,
    "sensitivity": Sensitivity.PERSONAL,
    "portable": False,
    "withheld_from": frozenset(),
    "withheld_unknown": False,
    "inferred": False,
    "trust": Trust.STATED,
    "importance": 3,
    "confidence": None,
    "pinned": False,
    "tags": (),
    "source": Source(),
    "thread": None,
    "agent": None,
    "run": None,
    "role": None,
    "created_at": NOW - timedelta(days=1),
    "updated_at": NOW - timedelta(days=1),
    "observed_at": None,
    "expires_at": None,
    "last_accessed_at": None,
    "access_count": 0,
    "state": State.ACTIVE,
    "purge_at": None,
    "superseded_by": None,
    "overridden": False,
}
MEMORY_FIELDS = tuple(f.name for f in fields(Memory))


def memory(**changed: Any) -> Memory:
    """The strictest memory there is, but for what is changed. None stands for a missing field."""
    return Memory(**(_PLAIN | changed))


Fields = dict[str, Any]


def group_learned(chat: str) -> Fields:
    return {"learned_in": chat, "learned_kind": GROUP}


def withheld(*identities: str) -> Fields:
    return {"withheld_from": frozenset(identities), "withheld_unknown": SARAH in identities}


NO_PROVENANCE: Fields = {"learned_in": None, "learned_kind": None}
PRIVATE_LEARNED: Fields = {"learned_in": PRIVATE_CHAT, "learned_kind": ChatKind.PRIVATE}
LAPSED: Fields = {"state": State.ACTIVE, "expires_at": NOW}
