"""Record turns word for word, each under the holds of its batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from tacit import limits
from tacit.identity import channel_of_chat
from tacit.learning.composition import find_floor, has_unidentified_person, list_listeners
from tacit.learning.extraction.holds import HoldScope, combine_holds, is_only_hold, read_holds
from tacit.learning.facts import Hold
from tacit.learning.reconciliation import find_withheld_people
from tacit.records.conversation import ParsedMessage, Role
from tacit.records.memory import (
    ChatKind,
    Kind,
    Memory,
    Sensitivity,
    Source,
    State,
    Trust,
    Visibility,
)
from tacit.storage import memories
from tacit.storage.memories import Transaction

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


# Record turns of a conversation word for word, so that recall can quote them.
#
# A turn has the provenance of its chat, and the disclosure of a personal memory: in private only
# its owner may see it; a turn of a group is shown there to its speaker, and in private to those who
# heard it. A hold in the text ("don't tell Quinn") applies to the turn as to the facts learned from
# it. The lexicon decides whether the turn is sensitive. An expired turn is not shown, and the next
# sweep deletes it.

EPISODE_CATEGORY = "conversation"
_KEPT_HERE = (Hold.ROOM, Hold.PRIVATE)


def record_episodes(
    tx: Transaction, kept: Sequence[HeldMessage], session: str | None, keep_days: int
) -> list[str]:
    """Insert a turn for each message, under its holds."""
    ids = []
    for one in kept:
        turn = _turn(tx, one, session, keep_days)
        memories.insert_turn(tx, turn)
        ids.append(turn.id)
    return ids


def _turn(tx: Transaction, kept: HeldMessage, session: str | None, keep_days: int) -> Memory:
    said, request = kept.said, tx.request
    when = said.at or tx.at
    withheld, unclear = find_withheld_people(tx, kept.scope.withheld_from)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    # The requester is the speaker only of their own messages.
    own = said.role is Role.USER and said.name is None
    return Memory(
        id=memories.draw_memory_id(tx),
        space=tx.space,
        owner=request.subject,
        speaker=request.subject if own else None,
        subjects=frozenset(),
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=list_listeners(tx),
        confidential=in_group and (request.confidential or kept.scope.hold in _KEPT_HERE),
        kind=Kind.OBSERVATION,
        category=EPISODE_CATEGORY,
        key=None,
        slot=None,
        content=said.content,
        version=1,
        visibility=Visibility.ROOM if in_group and not unclear else Visibility.PRIVATE_ONLY,
        sensitivity=find_floor(f"{said.content} ", Sensitivity.PERSONAL),
        portable=False,
        withheld_from=withheld,
        withheld_unknown=has_unidentified_person(tx, withheld),
        inferred=False,
        trust=Trust.STATED if said.role is Role.USER else Trust.UNTRUSTED,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
        tags=(),
        source=Source(channel=channel_of_chat(request.chat), chat=request.chat, message=said.id),
        thread=tx.thread,
        agent=None,
        run=None,
        role=said.role.value,
        created_at=tx.at,
        updated_at=tx.at,
        observed_at=when,
        expires_at=tx.at + timedelta(days=keep_days),
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        shadowed=False,
        session=session or f"{tx.thread} {when.date().isoformat()}",
        name=said.name,
    )
