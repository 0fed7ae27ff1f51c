"""Who may change a memory. What is refused here looks to the caller as if it did not exist."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from tacit.disclosure.decide import decide
from tacit.model.memory import Memory
from tacit.model.request import Request
from tacit.model.words import ChatKind, State, Visibility


class Act(StrEnum):
    UPDATE = "update"
    PIN = "pin"
    FORGET = "forget"
    RESTORE = "restore"
    ERASE = "erase"
    SET_VISIBILITY = "set_visibility"
    WITHHOLD = "withhold_from"


class Standing(StrEnum):
    """What a requester is to a memory, strongest first."""

    OWNER = "owner"
    SPEAKER = "speaker"
    SUBJECT = "subject"
    MEMBER = "member"


_MAY: dict[Act, frozenset[Standing]] = {
    Act.UPDATE: frozenset(Standing),
    Act.PIN: frozenset({Standing.OWNER, Standing.MEMBER}),
    Act.FORGET: frozenset(Standing),
    Act.RESTORE: frozenset(Standing),
    Act.ERASE: frozenset({Standing.OWNER, Standing.SPEAKER, Standing.SUBJECT}),
    Act.SET_VISIBILITY: frozenset({Standing.OWNER, Standing.SPEAKER, Standing.SUBJECT}),
    Act.WITHHOLD: frozenset({Standing.OWNER, Standing.SPEAKER, Standing.SUBJECT}),
}


_OF_ALL_WORDINGS = frozenset({Act.ERASE, Act.SET_VISIBILITY, Act.WITHHOLD})


def may_change(
    act: Act, request: Request, memory: Memory, to: Visibility | None = None
) -> Standing | None:
    """In which standing the requester may do this, or None. `to` is the visibility asked for."""
    for standing in Standing:
        if standing not in _MAY[act] or not _stands(standing, act, request, memory):
            continue
        if act is not Act.SET_VISIBILITY or (
            (standing is Standing.OWNER and request.private)
            or (to is not None and to.rank <= effective_visibility(memory).rank)
        ):
            return standing
    return None


def effective_visibility(memory: Memory) -> Visibility:
    """How far it really goes today, whatever was asked for."""
    group_learned = bool(memory.learned_in) and memory.learned_kind == ChatKind.GROUP
    if memory.inferred or memory.withheld_unknown:
        return Visibility.PRIVATE_ONLY
    if memory.visibility == Visibility.ROOM and not group_learned:
        return Visibility.PRIVATE_ONLY
    return memory.visibility


def may_reach(act: Act, request: Request, memory: Memory) -> bool:
    """Whether the memory exists at all for this requester here.

    The owner in private reaches every state. Anybody else reaches what they may hear right here;
    to restore, what they could hear if it were active again.
    """
    me = request.requester
    if me is None:
        return False
    if request.private and memory.owner is not None and request.person(memory.owner) == me:
        return True
    if act is Act.RESTORE:
        memory = replace(memory, state=State.ACTIVE, expires_at=None)
    return not memory.shadowed and decide(request, memory).allowed


def _stands(standing: Standing, act: Act, request: Request, memory: Memory) -> bool:
    me = request.requester
    if me is None or not may_reach(act, request, memory):
        return False
    owner = request.person(memory.owner) if memory.owner else None
    speaker = request.person(memory.speaker) if memory.speaker else None
    if standing is Standing.OWNER:
        return owner == me
    if standing is Standing.SPEAKER:
        # Whoever words a room's fact anew has not said what others said before.
        own_words = owner is not None or memory.version == 1 or act not in _OF_ALL_WORDINGS
        return speaker == me and not memory.inferred and own_words
    if standing is Standing.SUBJECT:
        return me in {request.person(s) for s in memory.subjects}
    return (
        owner is None
        and request.kind is ChatKind.GROUP
        and memory.learned_kind == ChatKind.GROUP
        and memory.learned_in in request.chat_ids
    )
