"""What an operator's gauges show of a whole database: how much waits, how much there is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import timedelta

from sqlalchemy import case, func, select

from tacit.clock import Clock, from_micros
from tacit.store import events, inbox
from tacit.store.engine import Database
from tacit.store.jobs import LEARN
from tacit.store.tables import jobs, memories, updates
from tacit.telemetry import metrics
from tacit.telemetry.metrics import GaugeReader, Meter, StopCallback

_J = jobs.c
_M = memories.c
_U = updates.c
_BROUGHT = (inbox.WAITING, inbox.PARKED)
_DAY = timedelta(days=1)
Values = Iterable[tuple[Mapping[str, str], float]]


def watch(meter: Meter, database: Database, clock: Clock) -> StopCallback:
    """Until it is stopped. Nothing is read before somebody looks."""
    reads: dict[metrics.Metric, GaugeReader] = {
        metrics.QUEUE_DEPTH: lambda: _depth(database),
        metrics.QUEUE_AGE: lambda: _age(database, clock),
        metrics.MEMORY_COUNT: lambda: _memories(database),
        metrics.EVENTS_LAST_DAY: lambda: _events(database, clock),
    }
    stops = [meter.watch(what, _whose(database), read) for what, read in reads.items()]

    def stop() -> None:
        for one in stops:
            one()

    return stop


def _whose(database: Database) -> Hashable:
    """A database that is opened twice counts once. In memory, each is one of its own."""
    url = database.engine.url
    return url if url.database not in (None, "", ":memory:") else id(database)


def _depth(database: Database) -> Values:
    turn = case((_J.kind == LEARN, "turns"), else_="tasks")
    held = select(turn, _J.parked, func.count()).group_by(turn, _J.parked)
    brought = select(_U.state, func.count()).where(_U.state.in_(_BROUGHT)).group_by(_U.state)
    with database.read() as connection:
        found = {
            (kind, inbox.PARKED if parked else inbox.WAITING): n
            for kind, parked, n in connection.execute(held)
        }
        found |= {("updates", state): n for state, n in connection.execute(brought)}
    for kind in ("turns", "tasks", "updates"):
        for state in _BROUGHT:
            yield {"of": kind, "state": state}, found.get((kind, state), 0)


def _age(database: Database, clock: Clock) -> Values:
    oldest = select(func.min(_J.created_at)).where(_J.kind == LEARN, _J.parked.is_(False))
    with database.read() as connection:
        at = connection.execute(oldest).scalar()
    waited = 0.0 if at is None else (clock() - from_micros(at)).total_seconds()
    yield {}, max(0.0, waited)


def _memories(database: Database) -> Values:
    held = select(_M.state, func.count()).where(_M.is_turn.is_(False)).group_by(_M.state)
    with database.read() as connection:
        found = list(connection.execute(held))
    for state, n in found:
        yield {"state": state}, n


def _events(database: Database, clock: Clock) -> Values:
    with database.read() as connection:
        found = events.since_then(connection, clock(), _DAY)
    for node, op, status, n in found:
        yield {"node": node, "op": op, "status": status}, n
