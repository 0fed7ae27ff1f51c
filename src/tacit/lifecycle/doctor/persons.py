"""People who are known twice: by the same name, to the same person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select

from tacit.errors import Conflict, InvalidInput
from tacit.identity.external_keys import PERSON_PREFIX
from tacit.identity.links import Identities
from tacit.lifecycle.doctor.check import ACTOR, Case, Check, Patient, each
from tacit.records.accounts import LinkKind, NameKind
from tacit.storage import integrity, people
from tacit.storage.memories import Transaction
from tacit.storage.schema import memory_people, people_table, person_names

_N = person_names.c
_P = memory_people.c
_WHO = people_table.c
_BY_NAME = [NameKind.NAME.value, NameKind.USERNAME.value, NameKind.ALIAS.value]
_NAMED = (_N.known_to != "", _N.kind.in_(_BY_NAME), _N.person.like(f"{PERSON_PREFIX}:%"))


def _find(connection: Connection, patient: Patient) -> Iterator[Case]:
    space = patient.space
    several = (
        select(_N.known_to, _N.folded)
        .where(_N.space_id == space, *_NAMED)
        .group_by(_N.known_to, _N.folded)
        .having(func.count(_N.person.distinct()) > 1)
    )
    groups = connection.execute(several).all()
    identities = integrity.load_all_identities(connection, space) if groups else Identities()
    seen: set[str] = set()
    for known_to, folded in groups:
        who = select(_N.person).where(
            _N.space_id == space, _N.known_to == known_to, _N.folded == folded, *_NAMED
        )
        found = set(connection.execute(who).scalars()) - _kept_out(connection, space, known_to)
        yield from _twice(connection, space, identities, found - seen)
        seen |= found


def _kept_out(connection: Connection, space: str, known_to: str) -> set[str]:
    """Whom a secret is kept from is somebody of that name, and need not be the one who is meant."""
    withheld = select(_N.person).where(
        _N.space_id == space, _N.known_to == known_to, _N.kind == NameKind.WITHHELD.value
    )
    return set(connection.execute(withheld).scalars())


def _twice(
    connection: Connection, space: str, identities: Identities, found: set[str]
) -> Iterator[Case]:
    """All but one of these people. They are one without doubt where at most one of them was ever
    spoken of."""
    heads = {identities.person_id(one) for one in found}
    if len(heads) < 2:
        return
    told = [
        one
        for one in sorted(heads)
        if _is_told_of(connection, space, identities.current_identities(one))
    ]
    first = told[0] if told else _earliest(connection, space, sorted(heads))
    for one in sorted(heads - {first}):
        alone = len(identities.current_identities(one)) == 1 and one.startswith(f"{PERSON_PREFIX}:")
        yield Case((one, first), repairable=len(told) < 2 and alone)


def _is_told_of(connection: Connection, space: str, who: Sequence[str] | frozenset[str]) -> bool:
    of = select(_P.memory_id).where(_P.space_id == space, _P.person.in_(sorted(who))).limit(1)
    return connection.execute(of).first() is not None


def _earliest(connection: Connection, space: str, who: list[str]) -> str:
    made = select(_WHO.id).where(_WHO.space_id == space, _WHO.id.in_(who))
    found = connection.execute(made.order_by(_WHO.created_at, _WHO.id).limit(1)).scalar()
    return found or who[0]


def _merge(w: Transaction, case: Case) -> bool:
    """Recorded as a merge, which `unmerge_people` undoes."""
    source, target = case.key
    if _is_told_of(w.connection, w.space, [source]):
        return False
    try:
        people.begin_link(
            w.connection,
            w.space,
            source,
            target,
            LinkKind.MERGE,
            verified=True,
            actor=ACTOR,
            at=w.at,
        )
    except (Conflict, InvalidInput):
        return False  # somebody said otherwise meanwhile
    return True


DUPLICATES = Check(
    name="duplicate-people",
    description="people are known twice, by the same name to the same person",
    remedy="merges those of whom nothing is told, which can be undone; where something is told of "
    "each, say which are one with `tacit merge`",
    find=_find,
    repair=each(_merge),
    waits_for_writers=True,
)
