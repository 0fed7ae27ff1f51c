"""Define a queued turn, screen it, find its holds, and find the speaker's name and time zone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import RawRequest
from tacit.learning.extraction.sentences import HoldScope, combine_holds, is_only_hold, read_holds
from tacit.learning.facts import Hold, Mention
from tacit.records.accounts import NameKind
from tacit.records.conversation import ParsedMessage, Role
from tacit.records.memory import ChatKind, State
from tacit.records.request import Request
from tacit.screening.instructions import find_instruction
from tacit.storage import memory_reads, people, queue, search
from tacit.storage.memories import Transaction
from tacit.storage.search import ListFilter
from tacit.storage.store import Store

# A turn between acceptance and learning: its text, speaker and audience.

LEARN_JOB = queue.LEARN_JOB  # job kind in the queue
_ASKS = re.compile(r"[?\uff1f]\W*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedTurn:
    """A turn in the queue, with everything that learning needs later.

    The audience is fixed when the turn is said: a person who joins before it is learned did not
    hear it.
    """

    text: str
    role: Role
    said_at: datetime
    message: str | None  # message id of the channel
    agent: str | None
    asking: RawRequest
    present: frozenset[str]  # identities of the people who heard it
    confidential: bool
    before: tuple[str, ...] = ()  # preceding messages, oldest first, as context for a model
    recorded: str | None = None  # id of the recorded turn, if turns are kept
    hold_words: tuple[str, ...] = ()  # other messages whose holds apply to this one
    only: tuple[str, ...] | None = None  # the categories that may be learned; None: all
    again: bool = False  # learned once before; what was known since then stays

    def may_use(self, category: str) -> bool:
        return self.only is None or category in self.only

    @property
    def speaker(self) -> str:
        """Return the requester's name; empty if they gave none."""
        own = self.asking.subject
        names = [name for who, kind, name in self.asking.names if who == own and kind == "name"]
        return names[0] if names else ""

    @property
    def said_before(self) -> str:
        """Return what was said just before this turn: by the assistant, or in a group by another person."""
        return self.before[-1].partition(": ")[2] if self.before else ""

    @property
    def question_before(self) -> str:
        """Return what the assistant asked between the speaker's last message and this one.

        Empty if its text does not end in a question.
        """
        said: list[str] = []
        for one in reversed(self.before):
            who, _, words = one.partition(": ")
            if who != Role.ASSISTANT:
                break
            said.insert(0, words)
        whole = " ".join(said)
        return whole if is_question(whole) else ""

    def pack(self) -> str:
        fields = asdict(self)
        fields["said_at"] = self.said_at.isoformat()
        fields["present"] = sorted(self.present)
        fields["asking"]["participants"] = sorted(self.asking.participants)
        return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def is_question(text: str) -> bool:
    """Return whether the last sentence of a text is a question."""
    return _ASKS.search(text) is not None


def unpack_turn(payload: str) -> QueuedTurn:
    fields: dict[str, Any] = json.loads(payload)
    asking = fields.pop("asking")
    return QueuedTurn(
        text=fields["text"],
        role=Role(fields["role"]),
        said_at=datetime.fromisoformat(fields["said_at"]),
        message=fields["message"],
        agent=fields["agent"],
        asking=RawRequest(
            subject=asking["subject"],
            chat=asking["chat"],
            kind=ChatKind(asking["kind"]),
            participants=frozenset(asking["participants"]),
            complete=asking["complete"],
            names=tuple((who, kind, name) for who, kind, name in asking["names"]),
            vouched=asking.get("vouched", True),  # turns of earlier versions lack it
        ),
        present=frozenset(fields["present"]),
        confidential=fields["confidential"],
        before=tuple(fields["before"]),
        recorded=fields["recorded"],
        hold_words=tuple(fields.get("hold_words", ())),  # turns of earlier versions lack it
        only=None if fields.get("only") is None else tuple(fields["only"]),
        again=fields.get("again", False),
    )


# The first stage: decide whether a message may be learned from, and as whose statement.

# A tool does not speak for the person: its output is quarantined for review.
_FROM_A_TOOL = "it comes from a tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedTurn:
    outcome: Literal["learn", "quarantine", "skip"]
    reason: str


def read_turn_holds(turn: QueuedTurn) -> HoldScope:
    """Combine the holds in the turn's own text and in the messages about it."""
    return combine_holds(map(read_holds, (turn.text, *turn.hold_words)))


def screen_turn(turn: QueuedTurn) -> ScreenedTurn:
    """Decide whether to learn, quarantine or skip a turn.

    Secrets need no check here: they are refused before the turn is queued.
    """
    if turn.role is Role.TOOL:
        return ScreenedTurn(outcome="quarantine", reason=_FROM_A_TOOL)
    if turn.role is not Role.USER:
        return ScreenedTurn(outcome="skip", reason=f"the {turn.role} said it, not the person")
    if read_turn_holds(turn).hold is Hold.UNKEPT:
        return ScreenedTurn(outcome="skip", reason="the person asked not to remember it")
    found = find_instruction(turn.text)
    if found is not None:
        reason = f"it reads like an instruction ({found.replace('_', ' ')})"
        return ScreenedTurn(outcome="quarantine", reason=reason)
    return ScreenedTurn(outcome="learn", reason="the person's own words")


# The name of a requester whose channel gives none, from stored memories.

_SLOT, _CATEGORY = "name", "profile"
_KEYS = ("preferred_name", "name")
_NAME_MAX_CHARS = 64
_NAME = re.compile(r"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,3}")
# The name comes last: "… wants to be called Nora Becker".
_STATED = re.compile(r"\w.*?\s((?:[^\W\d_a-z][\w'-]*\s)*[^\W\d_a-z][\w'-]*)\W*")


def find_own_name(store: Store, space: str, asking: RawRequest) -> str | None:
    """Return the requester's name; None if none is known.

    The name that the requester set under a key comes first, then the one a channel gave before,
    then the one they stated. It must be visible in this chat; in private, it may also wait for
    consent.
    """

    def work(connection: Connection, request: Request) -> str | None:
        for key in _KEYS:
            value = memory_reads.get_memory_by_key(connection, store.audiences, request, _CATEGORY, key)
            name = "" if value is None else value[0].content
            if len(name) <= _NAME_MAX_CHARS and _NAME.fullmatch(name):
                return name
        given = {
            name.text
            for person in people.read_public_names(connection, space, request.own_identities).values()
            for name in person.names
            if name.kind is NameKind.NAME
        }
        if len(given) == 1:
            return given.pop()
        return _told(store, connection, request)

    return store.read(space, asking, work)


def _told(store: Store, connection: Connection, request: Request) -> str | None:
    states = (State.ACTIVE, State.PENDING) if request.private else (None,)
    for state in states:
        wanted = ListFilter(category=_CATEGORY, owners=tuple(sorted(request.own_identities)), state=state)
        page = search.list_memories(
            connection,
            store.audiences,
            store.database.dialect,
            request if state is None else request.for_management(),
            wanted,
            limits.PAGE_DEFAULT_COUNT,
        )
        stated = (_STATED.fullmatch(one.content) for one, _ in page if one.slot == _SLOT)
        names = [found[1] for found in stated if found and len(found[1]) <= _NAME_MAX_CHARS]
        if names:
            return names[0]
    return None


# The time zone for the speaker's dates.


def parse_timezone(name: str) -> ZoneInfo | None:
    """Return the time zone that a person gave; None if it is not valid."""
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


# Select the messages of one call that may be kept, each with its holds.
#
# A hold is read from the text of a message and from the messages around it: the parts of one long
# message share their holds, a message that is nothing but a hold ("but don't tell Quinn") applies
# to the message before it, and an answer has the holds of the message it answers, because it
# repeats it.


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message that may be kept."""

    said: ParsedMessage
    scope: HoldScope
    hold_words: tuple[str, ...] = ()  # other messages of the batch whose holds apply to this one


def read_held_messages(said: Sequence[ParsedMessage]) -> list[HeldMessage]:
    """Return the messages, without those that the speaker asked not to remember."""
    own = [_own_hold(one) for one in said]
    if not any(one.guarded for one in own):
        return [HeldMessage(one, reach) for one, reach in zip(said, own, strict=True)]
    sources = _sources(said, own)
    whole = [combine_holds(own[n] for n in found) for found in sources]
    return [
        HeldMessage(one, whole[n], tuple(said[m].content for m in sorted(sources[n]) if m != n))
        for n, one in enumerate(said)
        if whole[n].hold is not Hold.UNKEPT
    ]


def find_later_hold(said: Sequence[ParsedMessage]) -> HoldScope | None:
    """Return the hold that the requester's first message puts on what they said before; None if it does not.

    The message is nothing but that hold, such as "but don't tell Quinn".
    """
    first = next((one.content for one in said if one.role is Role.USER and one.name is None), "")
    found = read_holds(first)
    return found if found.guarded and is_only_hold(first) else None


def _own_hold(said: ParsedMessage) -> HoldScope:
    found = read_holds(said.content)
    if found.hold is Hold.UNKEPT and said.role is not Role.USER:
        # Only a person can ask for that: an assistant or a tool repeats or quotes the words.
        return replace(found, hold=Hold.PRIVATE)
    return found


def _sources(said: Sequence[ParsedMessage], own: Sequence[HoldScope]) -> list[set[int]]:
    """Return, for each message, the messages whose holds apply to it."""
    found = [{n} if own[n].guarded else set[int]() for n in range(len(said))]
    spoken: dict[str | None, int] = {}  # the last message of each speaker
    for n, one in enumerate(said):
        if one.role is not Role.USER:
            continue
        before = spoken.get(one.name)
        if before is not None and own[n].guarded and is_only_hold(one.content):
            found[before].add(n)
        spoken[one.name] = n
    for parts in _parts(said):
        shared = set[int]().union(*(found[n] for n in parts))
        for n in parts:
            found[n] |= shared
    answered: set[int] = set()
    for n, one in enumerate(said):
        if one.role is Role.USER:
            answered = found[n]
        else:
            found[n] |= answered
    return found


def _parts(said: Sequence[ParsedMessage]) -> list[list[int]]:
    """Group the messages that a channel split: the parts have the same id."""
    by_id: dict[tuple[str, str | None, str], list[int]] = {}
    for n, one in enumerate(said):
        if one.id is not None:
            by_id.setdefault((one.role, one.name, one.id), []).append(n)
    return [parts for parts in by_id.values() if len(parts) > 1]


def find_withheld_people(tx: Transaction, said: Sequence[Mention]) -> tuple[frozenset[str], bool]:
    """Return the identities that a hold names, and whether one of them is uncertain.

    A name is uncertain if several people have it (all of them are returned), or if it cannot be
    stored as a name.
    """
    names = list(dict.fromkeys(map(spoken_name, said)))
    most = limits.PEOPLE_PER_MEMORY_MAX_COUNT
    found: set[str] = set()
    unclear = len(names) > most
    for name in names[:most]:
        try:
            found |= people.resolve_or_create_people(tx, [name], people.WITHHELD_FIELD)
        except InvalidInput:
            unclear = True
            found.update(people.find_people(tx.connection, tx.request, name, withholding=True)[0])
    # A hold cannot withhold a memory from its owner. Make it private instead.
    unclear = unclear or not found.isdisjoint(tx.request.own_identities)
    return frozenset(found - tx.request.own_identities), unclear


def spoken_name(said: Mention) -> str:
    return said.username or said.name or said.relation or said.text
