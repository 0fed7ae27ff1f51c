"""Which fields of a memory a request may see, and what may enter its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tacit import limits
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, Source, Visibility
from tacit.records.request import Request
from tacit.screening.instructions import is_standing_instruction

# Fields of a memory that `decide` allows. The owner in a private chat sees the whole record, and so
# does every member for a chat's own fact, which only members change. Every other requester, and
# the owner in front of others, gets what was said: id, content, key, speaker, subjects, kind and
# category. Fields that the owner may have set in private (tags, slot, data, importance, pin, dates,
# labels) get a neutral value, in the record and in all ranking, filters and counts.

UNKNOWN_SPEAKER = "Another person"  # a speaker whose name the requester does not know


def is_owner(request: Request, memory: Memory) -> bool:
    return memory.owner is not None and request.person(memory.owner) == request.requester


def can_see_all_fields(request: Request, memory: Memory) -> bool:
    return memory.owner is None or (request.private and is_owner(request, memory))


def can_see_data(request: Request, memory: Memory) -> bool:
    """Whether the request may see the data, which belongs to the wording.

    Other data given elsewhere makes another memory. So the data of a memory of this chat was given
    in this chat, and its owner may read it here.
    """
    here = memory.learned_kind is ChatKind.GROUP and memory.learned_in in request.chat_ids
    return can_see_all_fields(request, memory) or (here and is_owner(request, memory))


def redact_memory(
    request: Request, memory: Memory, called: Mapping[str, str] = MappingProxyType({})
) -> Memory:
    """Return the record with the fields that this request may see.

    `called` maps identities to names that the requester may know, for the names of speakers.
    """
    if not can_see_all_fields(request, memory):
        memory = _strip_owner_fields(request, memory)
    if memory.speaker and not memory.is_turn and not _is_said_by_requester(request, memory):
        memory = replace(memory, name=called.get(memory.speaker, UNKNOWN_SPEAKER))
    if request.private and is_owner(request, memory):
        return memory
    # Subjects that the requester named stay as they named them.
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
        # The lowest visibility with which the memory could be shown here.
        visibility=Visibility.ROOM if in_group else Visibility.PUBLIC_OK,
        sensitivity=Sensitivity.PERSONAL,
        portable=False,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
        tags=(),
        role=memory.role if memory.is_turn else None,  # of an episode: who spoke
        observed_at=memory.observed_at if memory.is_turn else None,
        expires_at=None,
    )


# Standing instructions apply to their author only. "From now on, answer in French" must not enter
# the prompt of another person, in a group or in private, because a model would obey it there. The
# decision uses the stored content, and applies to everything that prompts are made of: blocks,
# fresh context, recall, lists, notes and deltas.


def may_enter_prompt(request: Request, memory: Memory) -> bool:
    """Whether the memory may enter the requester's prompt: no instruction, or their own."""
    authors = [request.person(one) for one in (memory.owner, memory.speaker) if one]
    if request.requester in authors:
        return True
    if memory.kind is Kind.PROCEDURE:
        return False
    return not is_standing_instruction(memory.content, task=memory.kind is Kind.TASK)
