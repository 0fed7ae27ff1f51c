"""What consolidation and reflection ask the store: whose turn it is, which memories are compared,
which pairs were compared before, and what was derived from what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, or_, select

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.records.memory import Kind, Memory, State
from tacit.store.audiences import Audiences
from tacit.store.rows import COLUMNS, to_memory
from tacit.store.tables import (
    derived_from,
    memories,
    memory_versions,
    pair_checks,
    person_names,
    reflections,
)
from tacit.store.writes import Writing

_M = memories.c
_V = memory_versions.c
_K = pair_checks.c
_R = reflections.c
_D = derived_from.c
_N = person_names.c
_HEARD = COLUMNS.index(_M.heard)
_ASKED_AT_ONCE_COUNT = 500
# A pair that somebody said is no pair: kept for as long as both memories are, however alike.
FOR_GOOD = timedelta(days=36_500)
SOMEBODYS_WORD = -1

Key = tuple[str, str]  # of a pair: the smaller id first


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A memory, and when its current wording was made."""

    memory: Memory
    worded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    similarity: int  # in hundredths, or SOMEBODYS_WORD
    is_same: bool
    checked_at: datetime


def key(one: str, other: str) -> Key:
    return min(one, other), max(one, other)


def next_owner(connection: Connection, space: str, after: str) -> str | None:
    """In the order of their identities, whoever owns something."""
    found = select(func.min(_M.owner)).where(_M.space_id == space, _M.owner > after)
    return connection.execute(found).scalar()


def compared(
    connection: Connection, audiences: Audiences, space: str, owner: str, now: datetime
) -> list[Worded]:
    """What of somebody's may be merged at all: it stands, was said, is no more than its words, and
    changed not too long ago; newest first."""
    since = now - timedelta(days=limits.CONSOLIDATE_RECENCY_DAYS)
    found = (
        _standing(space, owner, now)
        .where(_M.updated_at >= to_micros(since), _M.data.is_(None))
        .order_by(_M.updated_at.desc(), _M.id)
        .limit(limits.CONSOLIDATE_POOL_MAX_COUNT)
    )
    return list(_fetched(connection, audiences, space, found))


def evidence(
    connection: Connection, audiences: Audiences, space: str, owner: str, now: datetime
) -> list[Worded]:
    """The person's own plain words from their private chats: recently used ones, then new ones."""
    own = _standing(space, owner, now).where(
        _M.speaker == owner,
        _M.learned_kind == "private",
        _M.sensitivity != "sensitive",
        _M.has_withheld.is_(False),
        _M.trust == "stated",
    )
    used = own.where(_M.last_accessed_at.is_not(None)).order_by(_M.last_accessed_at.desc(), _M.id)
    newest = own.order_by(_M.created_at.desc(), _M.id)
    found: dict[str, Worded] = {}
    for statement, most in (
        (used, limits.REFLECT_USED_MAX_COUNT),
        (newest, limits.REFLECT_NEWEST_MAX_COUNT),
    ):
        for one in _fetched(connection, audiences, space, statement.limit(most)):
            found.setdefault(one.memory.id, one)
    return list(found.values())


def _standing(space: str, owner: str, now: datetime) -> Select[Any]:
    return (
        select(_V.created_at.label("worded_at"), *COLUMNS)
        .join(
            memory_versions,
            and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
        )
        .where(
            _M.space_id == space,
            _M.owner == owner,
            _M.is_turn.is_(False),
            _M.state == State.ACTIVE.value,
            _M.inferred.is_(False),
            _M.shadowed.is_(False),
            _M.kind.not_in([Kind.INSIGHT.value, Kind.PROCEDURE.value]),
            or_(_M.expires_at.is_(None), _M.expires_at > to_micros(now)),
        )
    )


def _fetched(
    connection: Connection, audiences: Audiences, space: str, statement: Select[Any]
) -> Iterator[Worded]:
    rows = [tuple(row) for row in connection.execute(statement)]
    heard = audiences.get_people(connection, space, {row[1 + _HEARD] for row in rows})
    for worded_at, *row in rows:
        memory = to_memory(row, heard[row[_HEARD]])
        yield Worded(memory=memory, worded_at=from_micros(worded_at))


def name_of(connection: Connection, space: str, owner: str) -> str | None:
    """The name that somebody goes by."""
    found = (
        select(_N.name)
        .where(_N.space_id == space, _N.person == owner, _N.kind == "name", _N.known_to == "")
        .order_by(_N.created_at.desc(), _N.folded)
        .limit(1)
    )
    return connection.execute(found).scalar()


def any_called(connection: Connection, space: str, owner: str, words: Sequence[str]) -> bool:
    """Whether one of these words is a name of somebody else, one they go by or the owner's own
    for them."""
    found = select(_N.person).where(
        _N.space_id == space,
        _N.folded.in_(list(words)),
        _N.known_to.in_(["", owner]),
        _N.person != owner,
        _N.kind.in_(["name", "username", "alias"]),
    )
    return connection.execute(found.limit(1)).first() is not None


# Pairs


def checks(
    connection: Connection, space: str, ids: Sequence[str], now: datetime
) -> dict[Key, Check]:
    """Of pairs whose smaller id is one of these, as far as they still count."""
    since = to_micros(now - timedelta(days=limits.PAIR_CHECK_DAYS))
    found: dict[Key, Check] = {}
    for some in _chunks(ids):
        rows = connection.execute(
            select(pair_checks).where(
                _K.space_id == space, _K.first_id.in_(some), _K.checked_at >= since
            )
        )
        for row in rows:
            found[row.first_id, row.second_id] = Check(
                similarity=row.likeness, is_same=row.same, checked_at=from_micros(row.checked_at)
            )
    return found


def note_checks(w: Writing, noted: Mapping[Key, Check]) -> None:
    """In place of what was known of these pairs. Both memories of each must be there."""
    for (first, second), check in noted.items():
        w.connection.execute(
            delete(pair_checks).where(
                _K.space_id == w.space, _K.first_id == first, _K.second_id == second
            )
        )
        row = {
            "space_id": w.space,
            "first_id": first,
            "second_id": second,
            "likeness": check.similarity,
            "same": check.is_same,
            "checked_at": to_micros(check.checked_at),
        }
        w.dialect.insert_missing(w.connection, pair_checks, [row])


def drop_lapsed(w: Writing) -> None:
    """Pairs that may be compared again."""
    before = to_micros(w.at - timedelta(days=limits.PAIR_CHECK_DAYS))
    w.connection.execute(delete(pair_checks).where(_K.space_id == w.space, _K.checked_at < before))


# How often, and how much


def last(connection: Connection, space: str, owner: str, task: str) -> tuple[datetime, int] | None:
    """When a task last ran for somebody, and what it spent then."""
    found = connection.execute(
        select(_R.at, _R.spent).where(_R.space_id == space, _R.owner == owner, _R.task == task)
    ).first()
    return None if found is None else (from_micros(found.at), found.spent)


def note_run(w: Writing, owner: str, task: str, at: datetime, spent: int) -> None:
    which = (_R.space_id == w.space, _R.owner == owner, _R.task == task)
    w.connection.execute(delete(reflections).where(*which))
    row = {
        "space_id": w.space,
        "owner": owner,
        "task": task,
        "at": to_micros(at),
        "spent": spent,
    }
    w.dialect.insert_missing(w.connection, reflections, [row])


# What was derived from what


def derive(w: Writing, id: str, evidence: Iterable[str]) -> None:
    """Which memories or turns something was made of."""
    rows = [{"space_id": w.space, "memory_id": id, "turn_id": one} for one in sorted(set(evidence))]
    w.dialect.insert_missing(w.connection, derived_from, rows)


def insights_of(w: Writing, ids: Collection[str]) -> list[str]:
    """The insights that rest on any of these memories, whatever became of them."""
    found: set[str] = set()
    for some in _chunks(sorted(ids)):
        resting = (
            select(_D.memory_id)
            .join(memories, and_(_M.space_id == _D.space_id, _M.id == _D.memory_id))
            .where(
                _D.space_id == w.space,
                _D.turn_id.in_(some),
                _M.kind == Kind.INSIGHT.value,
                _M.inferred.is_(True),
            )
        )
        found.update(w.connection.execute(resting).scalars())
    return sorted(found)


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _ASKED_AT_ONCE_COUNT):
        yield list(ids[start : start + _ASKED_AT_ONCE_COUNT])
