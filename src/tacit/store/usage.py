"""What learning and language models used of what they may, counted so that processes add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, bindparam, select, text

from tacit.clock import from_micros, to_micros
from tacit.llm.budget import Usage
from tacit.store import rendered
from tacit.store.engine import Database
from tacit.store.tables import language_usage, learning_days

_U = language_usage.c
_D = learning_days.c
_SPEND = text(
    "INSERT INTO language_usage (space_id, day, requests, tokens_in, tokens_out, cost_micros) "
    "VALUES (:space, :day, 1, :tokens_in, :tokens_out, :cost) "
    "ON CONFLICT (space_id, day) DO UPDATE SET requests = language_usage.requests + 1, "
    "tokens_in = language_usage.tokens_in + excluded.tokens_in, "
    "tokens_out = language_usage.tokens_out + excluded.tokens_out, "
    "cost_micros = language_usage.cost_micros + excluded.cost_micros"
)
_COUNT = text(
    "INSERT INTO learning_days (space_id, owner, day, writes) VALUES (:space, :owner, :day, 1) "
    "ON CONFLICT (space_id, owner, day) DO UPDATE SET writes = learning_days.writes + 1"
)
_MARK = text(
    "INSERT INTO learning_days (space_id, owner, day, writes, last_turn_at) "
    "VALUES (:space, :owner, :day, 0, :at) "
    "ON CONFLICT (space_id, owner, day) DO UPDATE SET last_turn_at = CASE "
    "WHEN learning_days.last_turn_at >= excluded.last_turn_at "
    "THEN learning_days.last_turn_at + 1 ELSE excluded.last_turn_at END"
)
_LAST = select(_D.last_turn_at).where(
    _D.space_id == bindparam("space"), _D.owner == bindparam("owner"), _D.day == bindparam("day")
)
_ON = select(_D.writes).where(
    _D.space_id == bindparam("space"), _D.owner == bindparam("owner"), _D.day == bindparam("day")
)


@dataclass(frozen=True, slots=True)
class DatabaseLedger:
    """A `language.budget.Ledger` that all processes share."""

    database: Database

    def spent(self, space: str, day: date) -> Usage:
        with self.database.read() as connection:
            return spent(connection, space, day)

    def add(self, space: str, day: date, usage: Usage) -> None:
        params = {
            "space": space,
            "day": day.isoformat(),
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "cost": usage.cost_micros,
        }
        self.database.write(lambda connection: rendered.run(connection, [(_SPEND, params)]))


def spent(connection: Connection, space: str, day: date) -> Usage:
    found = select(_U.tokens_in, _U.tokens_out, _U.cost_micros).where(
        _U.space_id == space, _U.day == day.isoformat()
    )
    row = connection.execute(found).first()
    if row is None:
        return Usage()
    return Usage(tokens_in=row.tokens_in, tokens_out=row.tokens_out, cost_micros=row.cost_micros)


def learned_on(connection: Connection, space: str, owner: str, day: date) -> int:
    """How many writes learning made for somebody on a day."""
    found = rendered.rows(connection, _ON, {"space": space, "owner": owner, "day": day.isoformat()})
    return int(found[0][0]) if found else 0


def count(connection: Connection, space: str, owner: str, day: date) -> None:
    params = {"space": space, "owner": owner, "day": day.isoformat()}
    rendered.run(connection, [(_COUNT, params)])


def mark_turn(connection: Connection, space: str, owner: str | None, at: datetime) -> None:
    """A turn of the owner's was read: what an earlier one stated is no longer the last thing they
    said, also where the clock stood still."""
    if owner is not None:
        day = at.date().isoformat()
        params = {"space": space, "owner": owner, "day": day, "at": to_micros(at)}
        rendered.run(connection, [(_MARK, params)])


def last_turn(connection: Connection, space: str, owner: str | None, day: date) -> datetime | None:
    """When the owner's last turn of a day was read; None where there was none."""
    if owner is None:
        return None
    params = {"space": space, "owner": owner, "day": day.isoformat()}
    found = rendered.rows(connection, _LAST, params)
    return from_micros(found[0][0]) if found and found[0][0] is not None else None
