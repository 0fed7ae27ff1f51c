"""Who may change a memory."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from tacit.policy.rules import decide
from tacit.records.memory import ChatKind, Memory, State, Visibility
from tacit.records.request import Request


class ChangeAction(StrEnum):
    UPDATE = "update"
    PIN = "pin"
    FORGET = "forget"
    RESTORE = "restore"
    ERASE = "erase"
    SET_VISIBILITY = "set_visibility"
    WITHHOLD = "withhold_from"


class RequesterRole(StrEnum):
    """The relation of a requester to a memory, strongest first."""

    OWNER = "owner"
    SPEAKER = "speaker"
    SUBJECT = "subject"
    MEMBER = "member"


_ALLOWED_ROLES: dict[ChangeAction, frozenset[RequesterRole]] = {
    ChangeAction.UPDATE: frozenset(RequesterRole),
    ChangeAction.PIN: frozenset({RequesterRole.OWNER, RequesterRole.MEMBER}),
    ChangeAction.FORGET: frozenset(RequesterRole),
    ChangeAction.RESTORE: frozenset(RequesterRole),
    ChangeAction.ERASE: frozenset(
        {RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}
    ),
    ChangeAction.SET_VISIBILITY: frozenset(
        {RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}
    ),
    ChangeAction.WITHHOLD: frozenset(
        {RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}
    ),
}


_ACTIONS_ON_ALL_VERSIONS = frozenset(
    {ChangeAction.ERASE, ChangeAction.SET_VISIBILITY, ChangeAction.WITHHOLD}
)


def may_change(
    act: ChangeAction, request: Request, memory: Memory, to: Visibility | None = None
) -> RequesterRole | None:
    """Return the role in which the requester may do this, or None. `to` is the new visibility."""
    for role in RequesterRole:
        if role not in _ALLOWED_ROLES[act] or not _has_role(role, act, request, memory):
            continue
        if act is not ChangeAction.SET_VISIBILITY or (
            (role is RequesterRole.OWNER and request.private)
            or (to is not None and to.rank <= effective_visibility(memory).rank)
        ):
            return role
    return None


def effective_visibility(memory: Memory) -> Visibility:
    """Return the visibility that applies, which may be narrower than the stored one."""
    group_learned = bool(memory.learned_in) and memory.learned_kind == ChatKind.GROUP
    if memory.inferred or memory.withheld_unknown:
        return Visibility.PRIVATE_ONLY
    if memory.visibility == Visibility.ROOM and not group_learned:
        return Visibility.PRIVATE_ONLY
    return memory.visibility


def may_reach(act: ChangeAction, request: Request, memory: Memory) -> bool:
    """Whether the memory exists for this requester in this chat.

    The owner in a private chat reaches every state. Any other requester reaches what they may see
    in this chat; to restore, what they could see if it were active.
    """
    me = request.requester
    if me is None:
        return False
    if request.private and memory.owner is not None and request.person(memory.owner) == me:
        return True
    if act is ChangeAction.RESTORE:
        memory = replace(memory, state=State.ACTIVE, expires_at=None)
    return not memory.shadowed and decide(request, memory).allowed


def _has_role(role: RequesterRole, act: ChangeAction, request: Request, memory: Memory) -> bool:
    me = request.requester
    if me is None or not may_reach(act, request, memory):
        return False
    owner = request.person(memory.owner) if memory.owner else None
    speaker = request.person(memory.speaker) if memory.speaker else None
    if role is RequesterRole.OWNER:
        return owner == me
    if role is RequesterRole.SPEAKER:
        # A member who rewords a chat's fact is not the speaker of its earlier versions.
        own_words = owner is not None or memory.version == 1 or act not in _ACTIONS_ON_ALL_VERSIONS
        return speaker == me and not memory.inferred and own_words
    if role is RequesterRole.SUBJECT:
        return me in {request.person(s) for s in memory.subjects}
    return (
        owner is None
        and request.kind is ChatKind.GROUP
        and memory.learned_kind == ChatKind.GROUP
        and memory.learned_in in request.chat_ids
    )
