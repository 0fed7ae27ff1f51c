"""Which fields of a memory a request may see, and what may enter its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tacit import limits
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, Source, Visibility
from tacit.records.request import Request
from tacit.screening.instructions import is_standing_instruction

# Which fields of a memory a request may see, once `decide` lets it have the memory at all.
#
# The owner in private sees the whole record, and so does every member for a room's own fact,
# which only members change, in the room. Everybody else, and the owner where others read along,
# gets what was said: id, content, key, speaker, subjects, kind and category. Whatever the owner
# may have added in private (tags, slot, data, importance, a pin, dates, labels) has its neutral
# value instead, in the record and in everything that ranks, filters or counts.

UNKNOWN_SPEAKER = "Another person"  # who said it, where the requester knows no name of theirs


def is_owner(request: Request, memory: Memory) -> bool:
    return memory.owner is not None and request.person(memory.owner) == request.requester


def can_see_all_fields(request: Request, memory: Memory) -> bool:
    return memory.owner is None or (request.private and is_owner(request, memory))


def can_see_data(request: Request, memory: Memory) -> bool:
    """Data belongs to the wording: other data, given elsewhere, makes another memory. So what goes
    with a memory of this very room was given here, and its owner's program reads it here."""
    here = memory.learned_kind is ChatKind.GROUP and memory.learned_in in request.chat_ids
    return can_see_all_fields(request, memory) or (here and is_owner(request, memory))


def redact_memory(
    request: Request, memory: Memory, called: Mapping[str, str] = MappingProxyType({})
) -> Memory:
    """The record as it may leave for this request. `called` has the names of people, by identity,
    as the requester may know them; what somebody else said is told with the name of who did."""
    if not can_see_all_fields(request, memory):
        memory = _strip_owner_fields(request, memory)
    if memory.speaker and not memory.is_turn and not _is_said_by_requester(request, memory):
        memory = replace(memory, name=called.get(memory.speaker, UNKNOWN_SPEAKER))
    if request.private and is_owner(request, memory):
        return memory
    # Whom one named oneself stays as one named them.
    own = request.requester in {request.person(o) for o in (memory.owner, memory.speaker) if o}
    return replace(
        memory,
        owner=None if memory.owner is None else request.visible_identity(memory.owner),
        speaker=None if memory.speaker is None else request.visible_identity(memory.speaker),
        subjects=memory.subjects
        if own
        else frozenset(map(request.visible_identity, memory.subjects)),
        learned_in=None,
        heard_by=frozenset(),
        withheld_from=frozenset(),
        withheld_unknown=False,
        source=Source(),
        thread=None,
        agent=None,
        run=None,
        last_accessed_at=None,
        access_count=0,
        session=None if memory.session is None else "",
    )


def _is_said_by_requester(request: Request, memory: Memory) -> bool:
    return memory.speaker is not None and request.person(memory.speaker) == request.requester


def _strip_owner_fields(request: Request, memory: Memory) -> Memory:
    in_group = memory.learned_kind is ChatKind.GROUP
    return replace(
        memory,
        slot=None,
        data=memory.data if can_see_data(request, memory) else None,
        # How far it reaches is all that its being here tells.
        visibility=Visibility.ROOM if in_group else Visibility.PUBLIC_OK,
        sensitivity=Sensitivity.PERSONAL,
        portable=False,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
        tags=(),
        role=memory.role if memory.is_turn else None,  # of a turn it says who spoke
        observed_at=memory.observed_at if memory.is_turn else None,
        expires_at=None,
    )


# Standing orders count for their giver alone.
#
# "From now on, answer in French" is an order to the assistant. Whoever else may hear it must
# not have it in a prompt, in a group as little as in private: a prompt is where an order would
# be obeyed. This is decided on what is stored, whichever way it came in, and for everything
# that prompts are made of: blocks, the fresh part, recall, listings, notes and deltas.


def may_enter_prompt(request: Request, memory: Memory) -> bool:
    """Whether this may stand in the requester's prompt: it is no order, or they gave it."""
    givers = [request.person(one) for one in (memory.owner, memory.speaker) if one]
    if request.requester in givers:
        return True
    if memory.kind is Kind.PROCEDURE:
        return False
    return not is_standing_instruction(memory.content, task=memory.kind is Kind.TASK)
