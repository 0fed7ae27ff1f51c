"""The disclosure rules: decide what a request may see and change, and explain it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from tacit import limits
from tacit.records.memory import ChatKind, Kind, Memory, Purpose, Sensitivity, Source, State, Visibility
from tacit.records.request import Decision, Request
from tacit.records.results import AudiencePreview, Explanation
from tacit.screening.instructions import is_standing_instruction

# `decide` is a pure, total function: the first rule that applies wins. RULES mirrors the table in
# docs/disclosure.md row by row. Nothing here reads a database, a clock or a setting; that page also
# says how a missing or malformed field counts.

_NO_PEOPLE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Facts:
    """One memory in relation to one request: people as person ids, derived flags."""

    me: str | None
    audience: frozenset[str]
    complete: bool
    private: bool
    in_group: bool
    manage: bool
    live: bool
    withheld: bool  # from a person who is or may be here
    owner: str | None
    speaker: str | None
    subjects: frozenset[str]
    heard: frozenset[str]
    inferred: bool
    provenance: bool
    group_learned: bool
    here: bool
    confidential: bool
    private_only: bool
    public_ok: bool
    public: bool
    sensitive: bool
    portable: bool

    @property
    def about_me(self) -> bool:
        return self.me in self.subjects

    @property
    def mine(self) -> bool:
        return self.me is not None and self.me == self.owner

    @property
    def said_by_me(self) -> bool:
        return self.me is not None and self.me == self.speaker

    @property
    def heard_by_me(self) -> bool:
        return self.me in self.heard

    @property
    def may_leave(self) -> bool:
        return self.group_learned and not self.confidential and self.portable and self.public


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    allows: bool
    applies: Callable[[_Facts], bool]
    says: str  # one sentence for the owner


def _always(_: _Facts) -> bool:
    return True


RULES: tuple[Rule, ...] = (
    Rule("M1", True, lambda f: f.manage and f.mine and f.private, "it is your own memory"),
    Rule("M0", False, lambda f: f.manage, "only its owner can manage it, in a private chat"),
    Rule("D1", False, lambda f: not f.live, "it is not active, or has expired"),
    Rule("D2", False, lambda f: f.me is None, "the requester is unknown"),
    Rule("D3", False, lambda f: f.withheld, "it is withheld from a person who is or may be here"),
    Rule("P1", True, lambda f: f.private and f.mine, "the owner asks in private"),
    Rule("D4", False, lambda f: not f.provenance, "the chat it was learned in is unknown"),
    Rule("P2", True, lambda f: f.private and f.said_by_me and not f.inferred, "the person who said it asks in private"),
    Rule("PV", False, lambda f: f.private and f.private_only, "it is private to its owner"),
    Rule(
        "P3a",
        True,
        lambda f: f.private and f.group_learned and f.about_me and f.heard_by_me,
        "it was said in a group about the person who asks, who heard it",
    ),
    Rule(
        "P3b",
        True,
        lambda f: f.private and f.may_leave and f.about_me,
        "it is a lasting, public fact from a group about the person who asks",
    ),
    Rule(
        "P4",
        True,
        lambda f: f.private and f.group_learned and f.heard_by_me and not f.sensitive,
        "the person who asks heard it in a group",
    ),
    Rule("P0", False, lambda f: f.private, "no rule allows this person to see it"),
    Rule("GS", False, lambda f: f.sensitive, "it is sensitive, and others are listening"),
    Rule("GV", False, lambda f: f.private_only, "it is private, and others are listening"),
    Rule(
        "G1a",
        True,
        lambda f: (
            f.in_group and f.here and f.public and all(s in f.heard or s == f.speaker for s in f.subjects & f.audience)
        ),
        "it is public and was said in this very group",
    ),
    Rule(
        "G1b",
        True,
        lambda f: f.in_group and f.here and (f.about_me or f.said_by_me),
        "it was said in this very group, and its subject or speaker asks",
    ),
    Rule(
        "G2a",
        True,
        lambda f: f.public_ok and f.public and f.owner is not None and f.owner in f.audience,
        "its owner is here and lets it be said anywhere",
    ),
    Rule("G2b", True, lambda f: f.public_ok and f.mine, "its owner asks and lets it be said"),
    Rule(
        "G3a",
        True,
        lambda f: f.in_group and f.may_leave and f.about_me and f.subjects <= f.audience,
        "it is a lasting, public fact about the person who asks",
    ),
    Rule(
        "G3b",
        True,
        lambda f: f.in_group and f.may_leave and f.complete and f.audience <= f.heard,
        "everyone here has heard it",
    ),
    Rule("G0", False, _always, "no rule allows this group to see it"),
)

# Decided before the rules: another value of the same key takes precedence for the owner.
OVERRIDDEN = Decision(False, "S0")

RULE_TEXTS = {rule.name: rule.says for rule in RULES} | {
    "S0": "another value of the same key, from another of the owner's identities, replaces it"
}

_DECISIONS = {rule.name: Decision(rule.allows, rule.name) for rule in RULES}


def decide(request: Request, memory: Memory) -> Decision:
    """Decide by the first rule that applies whether the request may see the memory."""
    facts = _derive_facts(request, memory)
    for rule in RULES:
        if rule.applies(facts):
            return _DECISIONS[rule.name]
    raise AssertionError("unreachable: the last rule always applies")


def _derive_facts(request: Request, memory: Memory) -> _Facts:
    person = request.person_by_identity.get
    audience = request.audience
    owner, speaker, place = (_parse_name(memory.owner), _parse_name(memory.speaker), _parse_name(memory.learned_in))
    owner = person(owner, owner) if owner else None
    speaker = person(speaker, speaker) if speaker else None
    subjects = frozenset([person(s, s) for s in _parse_people(memory.subjects)])
    if not subjects:
        subjects = frozenset({speaker}) if speaker else frozenset({owner}) if owner else _NO_PEOPLE

    group_learned = place is not None and memory.learned_kind == ChatKind.GROUP
    private_learned = place is not None and memory.learned_kind == ChatKind.PRIVATE
    inferred = bool(memory.inferred)
    public_ok = memory.visibility == Visibility.PUBLIC_OK
    private_only = (
        inferred
        or bool(memory.withheld_unknown)
        or memory.visibility == Visibility.PRIVATE_ONLY
        or not (public_ok or group_learned)
    )
    withheld_from = _parse_people(memory.withheld_from)
    return _Facts(
        me=request.requester or None,
        audience=audience,
        complete=request.complete,
        private=request.private,
        in_group=request.kind == ChatKind.GROUP,
        manage=request.purpose == Purpose.MANAGE,
        live=memory.state == State.ACTIVE and not _is_expired(memory.expires_at, request.at),
        withheld=bool(withheld_from)
        and (
            (not request.private and not request.complete)
            or not withheld_from.isdisjoint(request.audience_identities)
            or not withheld_from.isdisjoint(audience)
        ),
        owner=owner,
        speaker=speaker,
        subjects=subjects,
        heard=frozenset([person(h, h) for h in _parse_people(memory.heard_by)]),
        inferred=inferred,
        provenance=group_learned or private_learned,
        group_learned=group_learned,
        here=group_learned and place in request.chat_ids,
        confidential=bool(memory.confidential),
        private_only=private_only,
        public_ok=public_ok and not private_only,
        public=memory.sensitivity == Sensitivity.PUBLIC and not inferred,
        sensitive=inferred or memory.sensitivity == Sensitivity.SENSITIVE,
        portable=memory.portable is True,
    )


# `decide` never raises: a field of a wrong type counts as missing.


def _parse_name(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _parse_people(value: object) -> frozenset[str]:
    if type(value) is frozenset and all(type(one) is str for one in value):
        return value
    if not isinstance(value, list | tuple | set | frozenset):
        return _NO_PEOPLE
    return frozenset(one for one in value if isinstance(one, str))


def _is_expired(expires_at: object, at: datetime) -> bool:
    if expires_at is None:
        return False
    readable = isinstance(expires_at, datetime) and expires_at.tzinfo is not None
    return not readable or expires_at <= at  # type: ignore[operator]


def decide_with_precedence(request: Request, memory: Memory) -> Decision:
    """Decide by key precedence first, then by the rules."""
    return OVERRIDDEN if memory.overridden else decide(request, memory)


def explain_decision(decision: Decision) -> Explanation:
    says = RULE_TEXTS[decision.rule]
    return Explanation(allowed=decision.allowed, rule=decision.rule, says=says)


def preview_decision(memory: Memory, decision: Decision) -> AudiencePreview:
    says = RULE_TEXTS[decision.rule]
    return AudiencePreview(memory=memory, allowed=decision.allowed, rule=decision.rule, says=says)


# The fields of a memory that a request may see, and what may enter its prompt.

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


def redact_memory(request: Request, memory: Memory, called: Mapping[str, str] = MappingProxyType({})) -> Memory:
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
        subjects=memory.subjects if own else frozenset(map(request.visible_identity, memory.subjects)),
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


# Who may change a memory.


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
    ChangeAction.ERASE: frozenset({RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}),
    ChangeAction.SET_VISIBILITY: frozenset({RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}),
    ChangeAction.WITHHOLD: frozenset({RequesterRole.OWNER, RequesterRole.SPEAKER, RequesterRole.SUBJECT}),
}


_ACTIONS_ON_ALL_VERSIONS = frozenset({ChangeAction.ERASE, ChangeAction.SET_VISIBILITY, ChangeAction.WITHHOLD})


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
    return not memory.overridden and decide(request, memory).allowed


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
