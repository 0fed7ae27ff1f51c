"""The disclosure rules as SQL conditions that the database applies before LIMIT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    false,
    func,
    literal_column,
    or_,
    select,
)

from tacit.clock import to_micros
from tacit.records.memory import ChatKind, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request

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


# The rules of `decide` as SQL conditions: one branch for each way in which a memory reaches a
# requester (own, said, subject, heard, of this chat). Each branch starts with a condition that an
# index answers, so that the cost of a read depends on what the requester may see and not on what is
# stored. The expressions depend on the shape of the request only and are cached; people are
# parameters.


@lru_cache(maxsize=512)
def build_branches(shape: RequestShape, rows: PolicyTables) -> tuple[PredicateBranch, ...]:
    build = _BranchBuilder(shape, rows)
    if shape.purpose is Purpose.MANAGE:
        return (PredicateBranch(AccessPath.ME, and_(build.space, build.kept, build.owner_is_me), by_owner=True),)
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
        self.kept: SqlCondition = m.is_turn.is_(shape.turns)  # never both memories and episodes
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
        self.may_leave: SqlCondition = and_(
            self.group_learned, m.confidential.is_(False), m.portable.is_(True), self.public
        )
        self.heard_by_me: SqlCondition = m.audience.in_(self.audiences_with_me())
        active = and_(
            m.state == sql_literal(State.ACTIVE), or_(m.expires_at.is_(None), m.expires_at > bindparam("p_at"))
        )
        self.live: SqlCondition = and_(
            self.space,
            self.kept,
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
            PredicateBranch(AccessPath.ME, and_(self.live, about_me, self.open, self.may_leave)),  # P3b
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
            AccessPath.ME, and_(sayable, about_me, self.may_leave, self._subjects_all_here())
        )
        if not self.shape.complete:
            return (owned, room, about)
        heard = PredicateBranch(  # G3b
            AccessPath.HEARD_BY_ALL, and_(sayable, m.audience.in_(self.audiences_with_all()), self.may_leave)
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


@dataclass(frozen=True)
class DisclosurePredicate:
    """The filter that a database applies before ranking and LIMIT."""

    branches: tuple[PredicateBranch, ...]
    params: Mapping[str, Any]

    @property
    def condition(self) -> SqlCondition:
        """All branches in one condition, for a row that its id or key selects."""
        return or_(false(), *(branch.condition for branch in self.branches))


def build_predicate(request: Request, rows: PolicyTables) -> DisclosurePredicate:
    shape = shape_of_request(request)
    if shape is None:
        return DisclosurePredicate((), {})
    return DisclosurePredicate(build_branches(shape, rows), predicate_parameters(request))


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
