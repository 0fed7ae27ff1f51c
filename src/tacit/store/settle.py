"""What is settled before the disclosure rules: which value of a key wins in a person's union read,
and whether somebody a memory is withheld from is unknown to us. Kept in columns, so that a read
needs no second look; settled again whenever a key is written or a person's identities change."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, and_, select, update

from tacit.identity.external_keys import ACCOUNT_PREFIX
from tacit.identity.links import Identities
from tacit.policy.predicate import ROLE_WITHHELD
from tacit.records.memory import State
from tacit.store import partitions
from tacit.store.identities import around
from tacit.store.tables import memories, memory_people, memory_versions

_M = memories.c
_V = memory_versions.c
KEYED = (
    select(_M.id, _M.owner, _M.category, _M.key, _V.created_at.label("worded_at"), _M.shadowed)
    .join(
        memory_versions,
        and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
    )
    .where(
        _M.key.is_not(None),
        # What waits for a yes is no value yet.
        _M.state.not_in([State.SUPERSEDED.value, State.PENDING.value]),
    )
)


def settle_key(
    connection: Connection, space: str, owners: Collection[str], category: str, key: str
) -> None:
    """One person wrote a key. With one identity there is nothing it could shadow."""
    if len(owners) > 1:
        found = connection.execute(
            KEYED.where(
                _M.space_id == space, _M.owner.in_(owners), _M.category == category, _M.key == key
            )
        )
        _shadow(connection, space, found.all())


def settle_people(
    connection: Connection, space: str, identities: Identities, touched: Iterable[str]
) -> None:
    """These people's identities changed: judge their keys and what is withheld from them again."""
    seen: set[str] = set()
    for identity in sorted(touched):
        if identity in seen:
            continue
        person = identities.current_identities(identity)
        seen |= person
        rows = connection.execute(KEYED.where(_M.space_id == space, _M.owner.in_(person))).all()
        slots: dict[tuple[str, str], list[Any]] = {}
        for row in rows:
            slots.setdefault((row.category, row.key), []).append(row)
        for slot in slots.values():
            _shadow(connection, space, slot)
    _judge_withheld(connection, space, seen)


def _shadow(connection: Connection, space: str, rows: Collection[Any]) -> None:
    """The account's value wins, else the newest; whoever may hear it. A forgotten value still
    covers older ones: to forget a thing is not to bring back what was there before it."""
    if not rows:
        return
    winner = max(rows, key=strength)
    for row in rows:
        shadowed = row.owner != winner.owner
        if row.shadowed != shadowed:
            through = partitions.doors_of_stored(connection, space, [row.id])
            stamp = partitions.bump(connection, space, through)[partitions.person(row.owner)]
            connection.execute(
                update(memories)
                .where(_M.space_id == space, _M.id == row.id)
                .values(shadowed=shadowed, stamp=stamp)
            )


def strength(row: Any) -> tuple[bool, int, str]:
    """By when it was last worded: to pin or forget a value does not make it a newer one."""
    return row.owner.startswith(f"{ACCOUNT_PREFIX}:"), row.worded_at, row.id


def _judge_withheld(connection: Connection, space: str, people: Collection[str]) -> None:
    p = memory_people.c
    touched = (
        select(p.memory_id)
        .where(p.space_id == space, p.role == ROLE_WITHHELD, p.person.in_(people))
        .distinct()
    )
    for id in connection.execute(touched).scalars().all():
        named = select(p.person).where(
            p.space_id == space, p.memory_id == id, p.role == ROLE_WITHHELD
        )
        withheld_from = connection.execute(named).scalars().all()
        known = around(connection, space, withheld_from).is_recognizable
        connection.execute(
            update(memories)
            .where(_M.space_id == space, _M.id == id)
            .values(withheld_unknown=not all(known(person) for person in withheld_from))
        )
