"""The rules of `decide` once more, as a filter that a database applies before ranking and LIMIT.

A predicate is a list of branches, one for each way a memory can come to a requester: it is mine, I
said it, it is about me, I heard it, it belongs to this room. Each leads with a condition that an
index answers, so that a read costs by what the requester may hear and not by what is stored. The
expressions depend only on the shape of the request and are cached; the people go in as parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
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
from tacit.model.request import Request
from tacit.model.words import ChatKind, Purpose, Sensitivity, State, Visibility

SUBJECT = "subject"  # roles in memory_people
WITHHELD = "withheld"

Condition = ColumnElement[bool]


@dataclass(frozen=True, eq=False)
class Rows:
    """The tables that the rules speak of; the store hands in its own."""

    memories: FromClause
    memory_people: FromClause  # (space_id, memory_id, role, person)
    audience_people: FromClause  # (space_id, audience, person): who is in a set of listeners


@dataclass(frozen=True)
class Branch:
    name: str
    condition: Condition


@dataclass(frozen=True)
class Predicate:
    branches: tuple[Branch, ...]
    params: Mapping[str, Any]

    @property
    def condition(self) -> Condition:
        """All branches at once: for a row that is already pinned down by its id or key."""
        return or_(false(), *(branch.condition for branch in self.branches))


@dataclass(frozen=True)
class Shape:
    """What the expressions depend on. Two requests of one shape share their statements."""

    purpose: Purpose
    private: bool
    in_group: bool
    complete: bool
    aliases: tuple[tuple[str, str], ...]  # identities that are not the person's own id


def shape_of(request: Request) -> Shape | None:
    """None where nothing can be disclosed, whatever the memory."""
    if request.requester is None:
        return None
    if request.purpose is Purpose.MANAGE:
        return Shape(Purpose.MANAGE, True, False, False, ()) if request.private else None
    if request.private:
        return Shape(Purpose.RECALL, True, False, False, ())
    return Shape(
        Purpose.RECALL,
        False,
        request.kind is ChatKind.GROUP,
        request.complete,
        tuple(sorted((i, p) for i, p in request.same.items() if i != p)),
    )


def predicate(request: Request, rows: Rows) -> Predicate:
    shape = shape_of(request)
    if shape is None:
        return Predicate((), {})
    return Predicate(branches(shape, rows), parameters(request))


def parameters(request: Request) -> dict[str, Any]:
    audience = request.audience
    here = audience | {i for i, p in request.same.items() if p in audience}
    return {
        "p_space": request.space,
        "p_at": to_micros(request.at),
        "p_me": sorted(request.mine),
        "p_here": sorted(here),
        "p_here_count": len(audience),
        "p_ever": sorted(request.ever | audience),
        "p_rooms": sorted(request.rooms),
    }


@lru_cache(maxsize=512)
def branches(shape: Shape, rows: Rows) -> tuple[Branch, ...]:
    build = _Builder(shape, rows)
    if shape.purpose is Purpose.MANAGE:
        return (Branch("mine", and_(build.space, build.owner_is_me)),)
    if shape.private:
        return build.private_branches()
    return build.shared_branches()


def _many(name: str) -> Any:
    return bindparam(name, expanding=True)


def word(value: str) -> ColumnElement[str]:
    """One of our own fixed words, in the SQL itself: only then can a partial index answer it."""
    return literal_column(f"'{value}'")


class _Builder:
    """Names each term of the rules once."""

    def __init__(self, shape: Shape, rows: Rows) -> None:
        m = rows.memories.c
        self.m, self.rows, self.shape = m, rows, shape
        self.space: Condition = m.space_id == bindparam("p_space")
        self.owner_is_me: Condition = m.owner.in_(_many("p_me"))
        self.said_by_me: Condition = m.speaker.in_(_many("p_me"))
        self.group_learned: Condition = and_(
            m.learned_kind == word(ChatKind.GROUP), m.learned_in.is_not(None)
        )
        self.provenance: Condition = and_(
            m.learned_in.is_not(None),
            m.learned_kind.in_([word(ChatKind.GROUP), word(ChatKind.PRIVATE)]),
        )
        self.open: Condition = and_(  # not private_only once everything is settled
            m.inferred.is_(False),
            m.withheld_unknown.is_(False),
            m.visibility != word(Visibility.PRIVATE_ONLY),
            or_(m.visibility == word(Visibility.PUBLIC_OK), self.group_learned),
        )
        self.public: Condition = and_(
            m.sensitivity == word(Sensitivity.PUBLIC), m.inferred.is_(False)
        )
        self.not_sensitive: Condition = and_(
            m.sensitivity != word(Sensitivity.SENSITIVE), m.inferred.is_(False)
        )
        self.may_leave: Condition = and_(
            self.group_learned, m.confidential.is_(False), m.portable.is_(True), self.public
        )
        self.heard_by_me: Condition = m.heard.in_(self._audiences_with_me())
        self.live: Condition = and_(
            self.space,
            m.state == word(State.ACTIVE),
            m.shadowed.is_(False),
            or_(m.expires_at.is_(None), m.expires_at > bindparam("p_at")),
            self._not_withheld(),
        )

    def private_branches(self) -> tuple[Branch, ...]:
        m = self.m
        about_me = self._about_me()
        return (
            Branch("mine", and_(self.live, self.owner_is_me)),  # P1
            Branch(  # P2
                "said by me",
                and_(self.live, self.said_by_me, self.provenance, m.inferred.is_(False)),
            ),
            Branch("about me", and_(self.live, about_me, self.open, self.may_leave)),  # P3b
            Branch(  # P3a, P4
                "heard by me",
                and_(
                    self.live,
                    self.heard_by_me,
                    self.open,
                    self.group_learned,
                    or_(self.not_sensitive, about_me),
                ),
            ),
        )

    def shared_branches(self) -> tuple[Branch, ...]:
        m = self.m
        sayable = and_(self.live, self.open, self.not_sensitive, self.provenance)
        owned = Branch(  # G2a, G2b
            "lent by somebody here",
            and_(
                sayable,
                m.owner.in_(_many("p_here")),
                m.visibility == word(Visibility.PUBLIC_OK),
                or_(self.public, self.owner_is_me),
            ),
        )
        if not self.shape.in_group:
            return (owned,)
        about_me = self._about_me()
        room = Branch(  # G1a, G1b
            "said in this room",
            and_(
                sayable,
                self.group_learned,
                m.learned_in.in_(_many("p_rooms")),
                or_(
                    self.said_by_me,
                    about_me,
                    and_(self.public, self._subjects_here_know()),
                ),
            ),
        )
        about = Branch(  # G3a
            "about me", and_(sayable, about_me, self.may_leave, self._subjects_all_here())
        )
        if not self.shape.complete:
            return (owned, room, about)
        heard = Branch(  # G3b
            "heard by all here",
            and_(sayable, m.heard.in_(self._audiences_with_all()), self.may_leave),
        )
        return (owned, room, about, heard)

    def _about_me(self) -> Condition:
        p = self.rows.memory_people.alias().c
        return self.m.id.in_(
            select(p.memory_id).where(
                p.space_id == bindparam("p_space"),
                p.person.in_(_many("p_me")),
                p.role == word(SUBJECT),
            )
        )

    def _not_withheld(self) -> Condition:
        m = self.m
        if not self.shape.private and not self.shape.complete:
            return m.has_withheld.is_(False)
        p = self.rows.memory_people.alias().c
        hit = select(p.person).where(
            p.space_id == m.space_id,
            p.memory_id == m.id,
            p.role == word(WITHHELD),
            p.person.in_(_many("p_ever")),
        )
        return or_(m.has_withheld.is_(False), ~hit.exists())

    def _audiences_with_me(self) -> Any:
        a = self.rows.audience_people.alias().c
        return select(a.audience).where(
            a.space_id == bindparam("p_space"), a.person.in_(_many("p_me"))
        )

    def _audiences_with_all(self) -> Any:
        a = self.rows.audience_people.alias().c
        return (
            select(a.audience)
            .where(a.space_id == bindparam("p_space"), a.person.in_(_many("p_here")))
            .group_by(a.audience)
            .having(func.count(self._person(a.person).distinct()) == bindparam("p_here_count"))
        )

    def _subjects_all_here(self) -> Condition:
        p = self.rows.memory_people.alias().c
        elsewhere = select(p.person).where(
            p.space_id == self.m.space_id,
            p.memory_id == self.m.id,
            p.role == word(SUBJECT),
            p.person.not_in(_many("p_here")),
        )
        return ~elsewhere.exists()

    def _subjects_here_know(self) -> Condition:
        """No subject who is here was absent when it was said."""
        m = self.m
        named, listeners = self.rows.memory_people.alias(), self.rows.audience_people.alias()
        p, a = named.c, listeners.c
        was_there = (
            select(a.person)
            .where(
                a.space_id == m.space_id,
                a.audience == m.heard,
                self._person(a.person) == self._person(p.person),
            )
            .correlate(self.rows.memories, named)
        )
        absent = (
            select(p.person)
            .where(
                p.space_id == m.space_id,
                p.memory_id == m.id,
                p.role == word(SUBJECT),
                p.person.in_(_many("p_here")),
                or_(m.speaker.is_(None), self._person(p.person) != self._person(m.speaker)),
                ~was_there.exists(),
            )
            .correlate(self.rows.memories)
        )
        return ~absent.exists()

    def _person(self, identity: ColumnElement[str]) -> ColumnElement[str]:
        """The person behind an identity, for those whose identities this request knows."""
        if not self.shape.aliases:
            return identity
        return case(dict(self.shape.aliases), value=identity, else_=identity)
