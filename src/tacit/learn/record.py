"""Turns of a conversation, kept as they were said, so that recall can quote them.

A turn has the provenance of the chat it was said in and goes no further than a personal memory of
it would: in private it is its owner's alone; what was said in a group is told there to its speaker,
and in private to those who heard it. A hold in the words ("don't tell Quinn") is on the turn as it
is on the facts learned from it, and the lexicon says whether the turn is sensitive. When its time
is up nobody hears it any more, and the next sweep removes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tacit import limits
from tacit.identity.external_keys import channel_of_chat
from tacit.learn.attribute import withheld_people
from tacit.learn.batch import HeldMessage
from tacit.learn.compose import heard, is_unknown
from tacit.learn.facts import Hold
from tacit.learn.floor import find_floor
from tacit.records.conversation import Role
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

CATEGORY = "conversation"
_KEPT_HERE = (Hold.ROOM, Hold.PRIVATE)


def record(
    w: Transaction, kept: Sequence[HeldMessage], session: str | None, keep_days: int
) -> list[str]:
    """Insert a turn for each message, under the hold that was read for it."""
    ids = []
    for one in kept:
        turn = _turn(w, one, session, keep_days)
        memories.insert_turn(w, turn)
        ids.append(turn.id)
    return ids


def _turn(w: Transaction, kept: HeldMessage, session: str | None, keep_days: int) -> Memory:
    said, request = kept.said, w.request
    when = said.at or w.at
    withheld, unclear = withheld_people(w, kept.scope.withheld_from)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    # Only what the requester says themselves is theirs to have said.
    own = said.role is Role.USER and said.name is None
    return Memory(
        id=memories.draw_memory_id(w),
        space=w.space,
        owner=request.subject,
        speaker=request.subject if own else None,
        subjects=frozenset(),
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=heard(w),
        confidential=in_group and (request.confidential or kept.scope.hold in _KEPT_HERE),
        kind=Kind.OBSERVATION,
        category=CATEGORY,
        key=None,
        slot=None,
        content=said.content,
        version=1,
        visibility=Visibility.ROOM if in_group and not unclear else Visibility.PRIVATE_ONLY,
        sensitivity=find_floor(f"{said.content} ", Sensitivity.PERSONAL),
        portable=False,
        withheld_from=withheld,
        withheld_unknown=is_unknown(w, withheld),
        inferred=False,
        trust=Trust.STATED if said.role is Role.USER else Trust.UNTRUSTED,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
        tags=(),
        source=Source(channel=channel_of_chat(request.chat), chat=request.chat, message=said.id),
        thread=w.thread,
        agent=None,
        run=None,
        role=said.role.value,
        created_at=w.at,
        updated_at=w.at,
        observed_at=when,
        expires_at=w.at + timedelta(days=keep_days),
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        shadowed=False,
        session=session or f"{w.thread} {when.date().isoformat()}",
        name=said.name,
    )
