"""How processes that share a PostgreSQL tell each other that something is due: a job of
procrastinate's, in a schema of its own.

A poke says nothing but "look": what is to be done stands in our own table. It names its thread by a
hash, so that what is erased leaves no name behind there.
"""

from __future__ import annotations

import hashlib
import importlib.util
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text

from tacit.clock import to_micros
from tacit.store import jobs, rendered
from tacit.store.jobs import Job

SCHEMA = "procrastinate"
QUEUE = "tacit"
TASK = "tacit.learn"
STALLED_SECONDS = 30.0  # without a sign of life, a worker is taken for dead
_OURS = "tacit "  # how the comment on a schema of ours begins; then a digest of what made it
_MARK = text(
    "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace "
    "WHERE nspname = :schema"
)
_READY = text(
    "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = :schema AND c.relname = 'procrastinate_jobs' "
    "AND obj_description(n.oid, 'pg_namespace') LIKE :ours "
    "AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT') "
    "AND to_regtype('procrastinate.procrastinate_job_to_defer_v1') IS NOT NULL"
)
_THREAD = "left(encode(sha256(convert_to({0} || chr(31) || {1}, 'UTF8')), 'hex'), 32)"
_GIVEN = _THREAD.format("CAST(:space AS text)", "CAST(:thread AS text)")
# One for now comes before one for later: procrastinate holds back what has the same lock.
_ADD = text(
    "SELECT procrastinate.procrastinate_defer_jobs_v1(ARRAY[ROW("  # noqa: S608
    f"'{QUEUE}', '{TASK}', CASE WHEN CAST(:due AS bigint) IS NULL THEN 1 ELSE 0 END, poke, NULL, "
    "jsonb_build_object('poke', poke), "
    "to_timestamp(CAST(:due AS bigint) / 1000000.0)"
    f")::procrastinate.procrastinate_job_to_defer_v1]) FROM (SELECT {_GIVEN} AS poke) AS given"
)
_OF_POKE = text(_THREAD.format("jobs.space_id", "jobs.thread") + " = :poke")
_ANSWER = text(
    "DELETE FROM procrastinate.procrastinate_jobs WHERE status = 'todo' AND lock = :poke "
    "AND (scheduled_at IS NULL OR scheduled_at <= now())"
)
_TIDY = text(
    "DELETE FROM procrastinate.procrastinate_jobs AS j WHERE j.queue_name = :queue "
    "AND j.status <> 'todo' AND (j.status <> 'doing' OR NOT EXISTS (SELECT 1 FROM "
    "procrastinate.procrastinate_workers AS w WHERE w.id = j.worker_id "
    "AND w.last_heartbeat > now() - make_interval(secs => :stalled)))"
)
# The functions name their tables without a schema; they are to find them whoever calls.
_ANCHOR = """
DO $$
DECLARE found regprocedure;
BEGIN
    FOR found IN
        SELECT p.oid FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = 'procrastinate'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = procrastinate, pg_temp', found);
    END LOOP;
END;
$$;
"""


def installed() -> Path | None:
    """Where procrastinate is; looked for without importing it, which takes its time."""
    spec = importlib.util.find_spec("procrastinate")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def create(connection: Connection) -> bool:
    """Its tables, as the installed version wants them. Those of another version are made anew: a
    poke can be lost, because whoever works looks by itself as well. False where there is nothing to
    make them from, or where the schema is somebody else's."""
    package = installed()
    if package is None:
        return False
    sql = (package / "sql" / "schema.sql").read_text(encoding="utf-8")
    mark = _OURS + hashlib.sha256(sql.encode()).hexdigest()[:16]
    found = connection.execute(_MARK, {"schema": SCHEMA}).scalar()
    if found == mark:
        return True
    if found is not None and not found.startswith(_OURS):
        return False
    before = connection.execute(text("SELECT current_setting('search_path')")).scalar_one()
    driver: Any = connection.connection.driver_connection
    for command in (
        f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE",
        f"CREATE SCHEMA {SCHEMA}",
        f"SET LOCAL search_path TO {SCHEMA}",
        sql,
        _ANCHOR,
        f"COMMENT ON SCHEMA {SCHEMA} IS '{mark}'",
    ):
        driver.execute(command, prepare=False)
    put_back = text("SELECT set_config('search_path', :path, true)")
    connection.execute(put_back, {"path": before})
    return True


def is_ready(connection: Connection) -> bool:
    """Whether there is anything to poke, and we may. Without procrastinate here there may be nobody
    who answers, and pokes would pile up."""
    if installed() is None:
        return False
    params = {"schema": SCHEMA, "ours": f"{_OURS}%"}
    return connection.execute(_READY, params).first() is not None


def add(connection: Connection, space: str, thread: str, due_at: datetime | None) -> None:
    due = None if due_at is None else to_micros(due_at)
    rendered.rows(connection, _ADD, {"space": space, "thread": thread, "due": due})


def answer(connection: Connection, poke: str) -> None:
    """Whoever answers a poke now answers those, too, that came for the same thread meanwhile."""
    connection.execute(_ANSWER, {"poke": poke})


def first(connection: Connection, poke: str, now: datetime) -> Job | None:
    """What can be done now in the thread that the poke is for."""
    return jobs.first(connection, now, _OF_POKE.bindparams(poke=poke))


def tidy(connection: Connection) -> None:
    """Pokes whose worker died, and whatever else has come to an end."""
    connection.execute(_TIDY, {"queue": QUEUE, "stalled": STALLED_SECONDS})


def connecting(engine: Engine) -> dict[str, Any]:
    """What psycopg needs to reach the same database, with procrastinate's tables in its path."""
    _, found = engine.dialect.create_connect_args(engine.url)
    options = f"{found.get('options', '')} -c search_path={SCHEMA}".strip()
    return {"connect_timeout": 10} | dict(found) | {"options": options}
