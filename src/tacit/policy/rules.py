"""The disclosure rules, as a function and as SQL: what a request may see and change, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)

from tacit import limits
from tacit.clock import to_micros
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
    learned_here: bool  # in the chat of the request
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
    def may_leave_group(self) -> bool:
        return self.group_learned and not self.confidential and self.portable and self.public


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    allows: bool
    applies: Callable[[_Facts], bool]
    says: str  # one sentence for the owner


def _always(_: _Facts) -> bool:
    return True


# M: the owner manages their memories. D: hidden in every chat. P: private chats. G: groups. The second
# letter of PV, GS and GV names what decides (visibility, sensitivity); a 0 is what no other rule allows.
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
        lambda f: f.private and f.may_leave_group and f.about_me,
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
            f.in_group
            and f.learned_here
            and f.public
            and all(s in f.heard or s == f.speaker for s in f.subjects & f.audience)
        ),
        "it is public and was said in this very group",
    ),
    Rule(
        "G1b",
        True,
        lambda f: f.in_group and f.learned_here and (f.about_me or f.said_by_me),
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
        lambda f: f.in_group and f.may_leave_group and f.about_me and f.subjects <= f.audience,
        "it is a lasting, public fact about the person who asks",
    ),
    Rule(
        "G3b",
        True,
        lambda f: f.in_group and f.may_leave_group and f.complete and f.audience <= f.heard,
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
        learned_here=group_learned and place in request.chat_ids,
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

    Writing other data in another chat creates a new memory. The data of a memory that was learned in this
    chat was therefore given in this chat, and its owner may read it here.
    """
    here = memory.learned_kind is ChatKind.GROUP and memory.learned_in in request.chat_ids
    return can_see_all_fields(request, memory) or (here and is_owner(request, memory))


def redact_memory(request: Request, memory: Memory, called: Mapping[str, str] = MappingProxyType({})) -> Memory:
    """Return the record with the fields that this request may see.

    `called` maps identities to names that the requester may know, for the names of speakers.
    """
    if not can_see_all_fields(request, memory):
        memory = _strip_owner_fields(request, memory)
    if memory.speaker and not _is_said_by_requester(request, memory):
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


# The rules of `decide` as SQL conditions, which the database applies before LIMIT.
#
# There is one branch for each way in which a memory reaches a requester (own, said, subject, heard,
# of this chat). Each branch starts with a condition that an index answers, so that the cost of a
# read depends on what the requester may see and not on what is stored. The expressions depend on
# the shape of the request only and are cached; people are parameters.

# Roles in memory_people. The rules use the subjects only of memories learned in a group; they have
# a role of their own, because almost all of a person's own memories are about that person.
ROLE_SUBJECT = "subject"  # learned in a group
ROLE_MENTIONED = "mentioned"  # learned anywhere else
ROLE_WITHHELD = "withheld"

SqlCondition = ColumnElement[bool]


@dataclass(frozen=True, eq=False)
class PolicyTables:
    """The tables that the conditions use; the storage passes its own."""

    memories: FromClause
    memory_people: FromClause  # (space_id, memory_id, role, person)
    audience_people: FromClause  # (space_id, audience, person)


class AccessPath(StrEnum):
    """The index by which a branch finds its memories; full-text search uses the same paths."""

    ME = "me"  # the requester is owner, speaker or subject
    HERE = "here"  # a person present is the owner
    ROOM = "room"
    HEARD_BY_ME = "heard_by_me"
    HEARD_BY_ALL = "heard_by_all"


@dataclass(frozen=True)
class PredicateBranch:
    access_path: AccessPath
    condition: SqlCondition
    by_owner: bool = False  # starts with the owner: one owner's changes can be read alone


@dataclass(frozen=True)
class RequestShape:
    """What the expressions depend on. Requests of one shape share their statements."""

    purpose: Purpose
    private: bool
    in_group: bool
    complete: bool
    aliases: tuple[tuple[str, str], ...]  # identities that are not the person's own id
    turns: bool = False
    inactive: bool = False  # inactive memories that could be seen if they were active


def shape_of_request(request: Request) -> RequestShape | None:
    """Return the shape, or None if nothing can be disclosed to this request."""
    if request.requester is None:
        return None
    if request.purpose is Purpose.MANAGE:
        if not request.private:
            return None
        return RequestShape(Purpose.MANAGE, True, False, False, (), request.turns)
    if request.private:
        return RequestShape(Purpose.RECALL, True, False, False, (), request.turns)
    return RequestShape(
        Purpose.RECALL,
        False,
        request.kind is ChatKind.GROUP,
        request.complete,
        tuple(sorted((i, p) for i, p in request.person_by_identity.items() if i != p)),
        request.turns,
    )


def sql_literal(value: str) -> ColumnElement[str]:
    """Return a constant as SQL text: with a parameter, no partial index could be used."""
    return literal_column(f"'{value}'")


@lru_cache(maxsize=512)
def build_branches(shape: RequestShape, rows: PolicyTables) -> tuple[PredicateBranch, ...]:
    build = _BranchBuilder(shape, rows)
    if shape.purpose is Purpose.MANAGE:
        return (
            PredicateBranch(AccessPath.ME, and_(build.space, build.is_turn_matches, build.owner_is_me), by_owner=True),
        )
    if shape.private:
        return build.private_branches()
    return build.shared_branches()


def select_audiences(path: AccessPath, request: Request, rows: PolicyTables) -> Select[Any] | None:
    """Select the audiences that an access path needs, or return None if it needs none."""
    shape = shape_of_request(request)
    if shape is None or path not in (AccessPath.HEARD_BY_ME, AccessPath.HEARD_BY_ALL):
        return None
    build = _BranchBuilder(shape, rows)
    if path is AccessPath.HEARD_BY_ME:
        return build.audiences_with_me()
    return build.audiences_with_all()


def _expanding(name: str) -> Any:
    return bindparam(name, expanding=True)


class _BranchBuilder:
    """The terms of the rules as SQL, each named once."""

    def __init__(self, shape: RequestShape, rows: PolicyTables) -> None:
        m = rows.memories.c
        self.m, self.rows, self.shape = m, rows, shape
        self.space: SqlCondition = m.space_id == bindparam("p_space")
        self.is_turn_matches: SqlCondition = m.is_turn.is_(shape.turns)  # never both memories and episodes
        self.owner_is_me: SqlCondition = m.owner.in_(_expanding("p_me"))
        self.said_by_me: SqlCondition = m.speaker.in_(_expanding("p_me"))
        # Not IS NOT NULL: an index on learned_in would answer that with every row of the space.
        somewhere = func.length(m.learned_in) > literal_column("0")
        self.group_learned: SqlCondition = and_(m.learned_kind == sql_literal(ChatKind.GROUP), somewhere)
        self.provenance: SqlCondition = and_(
            somewhere, m.learned_kind.in_([sql_literal(ChatKind.GROUP), sql_literal(ChatKind.PRIVATE)])
        )
        self.open: SqlCondition = and_(  # effective visibility is not private_only
            m.inferred.is_(False),
            m.withheld_unknown.is_(False),
            m.visibility != sql_literal(Visibility.PRIVATE_ONLY),
            or_(m.visibility == sql_literal(Visibility.PUBLIC_OK), self.group_learned),
        )
        self.public: SqlCondition = and_(m.sensitivity == sql_literal(Sensitivity.PUBLIC), m.inferred.is_(False))
        self.not_sensitive: SqlCondition = and_(
            m.sensitivity != sql_literal(Sensitivity.SENSITIVE), m.inferred.is_(False)
        )
        self.may_leave_group: SqlCondition = and_(
            self.group_learned, m.confidential.is_(False), m.portable.is_(True), self.public
        )
        self.heard_by_me: SqlCondition = m.audience.in_(self.audiences_with_me())
        active = and_(
            m.state == sql_literal(State.ACTIVE), or_(m.expires_at.is_(None), m.expires_at > bindparam("p_at"))
        )
        self.live: SqlCondition = and_(
            self.space,
            self.is_turn_matches,
            m.state != sql_literal(State.ACTIVE) if shape.inactive else active,
            m.overridden.is_(False),
            self._not_withheld(),
        )

    def private_branches(self) -> tuple[PredicateBranch, ...]:
        m = self.m
        about_me = self._about_me()
        return (
            PredicateBranch(AccessPath.ME, and_(self.live, self.owner_is_me), by_owner=True),  # P1
            PredicateBranch(  # P2; P1 covers what the speaker owns
                AccessPath.ME,
                and_(
                    self.live,
                    self.said_by_me,
                    or_(m.owner.is_(None), m.owner != m.speaker),
                    self.provenance,
                    m.inferred.is_(False),
                ),
            ),
            PredicateBranch(AccessPath.ME, and_(self.live, about_me, self.open, self.may_leave_group)),  # P3b
            PredicateBranch(  # P3a, P4
                AccessPath.HEARD_BY_ME,
                and_(self.live, self.heard_by_me, self.open, self.group_learned, or_(self.not_sensitive, about_me)),
            ),
        )

    def shared_branches(self) -> tuple[PredicateBranch, ...]:
        m = self.m
        sayable = and_(self.live, self.open, self.not_sensitive, self.provenance)
        owned = PredicateBranch(  # G2a, G2b
            AccessPath.HERE,
            and_(
                sayable,
                m.owner.in_(_expanding("p_here")),
                m.visibility == sql_literal(Visibility.PUBLIC_OK),
                or_(self.public, self.owner_is_me),
            ),
            by_owner=True,
        )
        if not self.shape.in_group:
            return (owned,)
        about_me = self._about_me()
        room = PredicateBranch(  # G1a, G1b
            AccessPath.ROOM,
            and_(
                sayable,
                self.group_learned,
                m.learned_in.in_(_expanding("p_rooms")),
                or_(self.said_by_me, about_me, and_(self.public, self._subjects_here_know())),
            ),
        )
        about = PredicateBranch(  # G3a
            AccessPath.ME, and_(sayable, about_me, self.may_leave_group, self._subjects_all_here())
        )
        if not self.shape.complete:
            return (owned, room, about)
        heard = PredicateBranch(  # G3b
            AccessPath.HEARD_BY_ALL, and_(sayable, m.audience.in_(self.audiences_with_all()), self.may_leave_group)
        )
        return (owned, room, about, heard)

    def _about_me(self) -> SqlCondition:
        p = self.rows.memory_people.alias().c
        return self.m.id.in_(
            select(p.memory_id).where(
                p.space_id == bindparam("p_space"),
                p.person.in_(_expanding("p_me")),
                p.role == sql_literal(ROLE_SUBJECT),
            )
        )

    def _not_withheld(self) -> SqlCondition:
        m = self.m
        if not self.shape.private and not self.shape.complete:
            return m.has_withheld.is_(False)
        p = self.rows.memory_people.alias().c
        hit = select(p.person).where(
            p.space_id == m.space_id,
            p.memory_id == m.id,
            p.role == sql_literal(ROLE_WITHHELD),
            p.person.in_(_expanding("p_ever")),
        )
        return or_(m.has_withheld.is_(False), ~hit.exists())

    def audiences_with_me(self) -> Select[Any]:
        a = self.rows.audience_people.alias().c
        return select(a.audience).where(a.space_id == bindparam("p_space"), a.person.in_(_expanding("p_me")))

    def audiences_with_all(self) -> Select[Any]:
        a = self.rows.audience_people.alias().c
        # The concatenation keeps the planner from scanning the primary key for the grouping.
        audience = a.audience.concat(literal_column("''"))
        return (
            select(audience)
            .where(a.space_id == bindparam("p_space"), a.person.in_(_expanding("p_here")))
            .group_by(audience)
            .having(func.count(self._person(a.person).distinct()) == bindparam("p_here_count"))
        )

    def _subjects_all_here(self) -> SqlCondition:
        p = self.rows.memory_people.alias().c
        elsewhere = select(p.person).where(
            p.space_id == self.m.space_id,
            p.memory_id == self.m.id,
            p.role == sql_literal(ROLE_SUBJECT),
            p.person.not_in(_expanding("p_here")),
        )
        return ~elsewhere.exists()

    def _subjects_here_know(self) -> SqlCondition:
        """No subject who is here was absent when the memory was learned."""
        m = self.m
        named, listeners = self.rows.memory_people.alias(), self.rows.audience_people.alias()
        p, a = named.c, listeners.c
        was_there = (
            select(a.person)
            .where(a.space_id == m.space_id, a.audience == m.audience, self._person(a.person) == self._person(p.person))
            .correlate(self.rows.memories, named)
        )
        absent = (
            select(p.person)
            .where(
                p.space_id == m.space_id,
                p.memory_id == m.id,
                p.role == sql_literal(ROLE_SUBJECT),
                p.person.in_(_expanding("p_here")),
                or_(m.speaker.is_(None), self._person(p.person) != self._person(m.speaker)),
                ~was_there.exists(),
            )
            .correlate(self.rows.memories)
        )
        return ~absent.exists()

    def _person(self, identity: ColumnElement[str]) -> ColumnElement[str]:
        """Map an identity to its person, for the people that this request knows."""
        if not self.shape.aliases:
            return identity
        return case(dict(self.shape.aliases), value=identity, else_=identity)


def predicate_parameters(request: Request) -> dict[str, Any]:
    audience = request.audience
    here = audience | {i for i, p in request.person_by_identity.items() if p in audience}
    return {
        "p_space": request.space,
        "p_at": to_micros(request.at),
        "p_me": sorted(request.own_identities),
        "p_here": sorted(here),
        "p_here_count": len(audience),
        "p_ever": sorted(request.audience_identities | audience),
        "p_rooms": sorted(request.chat_ids),
    }
