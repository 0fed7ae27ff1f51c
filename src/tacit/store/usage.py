"""What learning and language models used of what they may, counted so that processes add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, bindparam, select, text

from tacit.language.budget import Usage
from tacit.store import rendered
from tacit.store.engine import Database
from tacit.store.tables import language_usage, learning_days

_U, _D = language_usage.c, learning_days.c
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
