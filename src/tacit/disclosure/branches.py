"""The rules of `decide` once more, as conditions that a database can answer.

One branch for each way a memory can come to a requester: it is mine, I said it, it is about me, I
heard it, it belongs to this room. Each leads with a condition that an index answers, so that a read
costs by what the requester may hear and not by what is stored. The expressions depend only on the
shape of the request and are cached; the people go in as parameters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)

from tacit.disclosure.shape import (
    SUBJECT,
    WITHHELD,
    Branch,
    Condition,
    Door,
    Rows,
    Shape,
    shape_of,
    word,
)
from tacit.model.request import Request
from tacit.model.words import ChatKind, Purpose, Sensitivity, State, Visibility


@lru_cache(maxsize=512)
def branches(shape: Shape, rows: Rows) -> tuple[Branch, ...]:
    build = _Builder(shape, rows)
    if shape.purpose is Purpose.MANAGE:
        return (Branch(Door.ME, and_(build.space, build.kept, build.owner_is_me), by_owner=True),)
    if shape.private:
        return build.private_branches()
    return build.shared_branches()


def audiences_through(door: Door, request: Request, rows: Rows) -> Select[Any] | None:
    """The sets of listeners that a door asks for, where it asks for any."""
    shape = shape_of(request)
    if shape is None or door not in (Door.HEARD_BY_ME, Door.HEARD_BY_ALL):
        return None
    build = _Builder(shape, rows)
    return build.audiences_with_me() if door is Door.HEARD_BY_ME else build.audiences_with_all()


def _many(name: str) -> Any:
    return bindparam(name, expanding=True)


class _Builder:
    """Names each term of the rules once."""

    def __init__(self, shape: Shape, rows: Rows) -> None:
        m = rows.memories.c
        self.m, self.rows, self.shape = m, rows, shape
        self.space: Condition = m.space_id == bindparam("p_space")
        self.kept: Condition = m.is_turn.is_(shape.turns)  # memories and turns are never mixed
        self.owner_is_me: Condition = m.owner.in_(_many("p_me"))
        self.said_by_me: Condition = m.speaker.in_(_many("p_me"))
        # Not IS NOT NULL: an index on learned_in would answer that with every row of the space.
        somewhere = func.length(m.learned_in) > literal_column("0")
        self.group_learned: Condition = and_(m.learned_kind == word(ChatKind.GROUP), somewhere)
        self.provenance: Condition = and_(
            somewhere,
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
        self.heard_by_me: Condition = m.heard.in_(self.audiences_with_me())
        active = and_(
            m.state == word(State.ACTIVE),
            or_(m.expires_at.is_(None), m.expires_at > bindparam("p_at")),
        )
        self.live: Condition = and_(
            self.space,
            self.kept,
            m.state != word(State.ACTIVE) if shape.inactive else active,
            m.shadowed.is_(False),
            self._not_withheld(),
        )

    def private_branches(self) -> tuple[Branch, ...]:
        m = self.m
        about_me = self._about_me()
        return (
            Branch(Door.ME, and_(self.live, self.owner_is_me), by_owner=True),  # P1
            Branch(  # P2; what its speaker owns is P1's
                Door.ME,
                and_(
                    self.live,
                    self.said_by_me,
                    or_(m.owner.is_(None), m.owner != m.speaker),
                    self.provenance,
                    m.inferred.is_(False),
                ),
            ),
            Branch(Door.ME, and_(self.live, about_me, self.open, self.may_leave)),  # P3b
            Branch(  # P3a, P4
                Door.HEARD_BY_ME,
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
            Door.HERE,
            and_(
                sayable,
                m.owner.in_(_many("p_here")),
                m.visibility == word(Visibility.PUBLIC_OK),
                or_(self.public, self.owner_is_me),
            ),
            by_owner=True,
        )
        if not self.shape.in_group:
            return (owned,)
        about_me = self._about_me()
        room = Branch(  # G1a, G1b
            Door.ROOM,
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
            Door.ME, and_(sayable, about_me, self.may_leave, self._subjects_all_here())
        )
        if not self.shape.complete:
            return (owned, room, about)
        heard = Branch(  # G3b
            Door.HEARD_BY_ALL,
            and_(sayable, m.heard.in_(self.audiences_with_all()), self.may_leave),
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

    def audiences_with_me(self) -> Select[Any]:
        a = self.rows.audience_people.alias().c
        return select(a.audience).where(
            a.space_id == bindparam("p_space"), a.person.in_(_many("p_me"))
        )

    def audiences_with_all(self) -> Select[Any]:
        a = self.rows.audience_people.alias().c
        audience = a.audience.concat(
            literal_column("''")
        )  # or its primary key would be walked for the grouping
        return (
            select(audience)
            .where(a.space_id == bindparam("p_space"), a.person.in_(_many("p_here")))
            .group_by(audience)
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
