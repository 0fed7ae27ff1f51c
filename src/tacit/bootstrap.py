"""The composition root: the one place that reads settings and builds everything from them."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

from tacit import settings as settings_
from tacit.clock import Clock, system_clock
from tacit.errors import InvalidInput
from tacit.memory import Memory
from tacit.model.words import CATEGORIES
from tacit.settings import Settings
from tacit.store.core import Store
from tacit.store.engine import Options, open_database
from tacit.store.migrate import migrate, require_current
from tacit.views.access import Policy


def load_settings(path: Path | None = None) -> Settings:
    return settings_.load(path, environ=os.environ, home=Path.home(), cwd=Path.cwd())


def open_memory(
    url: str | Path | None = None,
    *,
    space: str | None = None,
    settings: Settings | None = None,
    clock: Clock = system_clock,
) -> Memory:
    chosen = settings or load_settings()
    if isinstance(url, Path):
        url = str(url)
    if url is not None and not isinstance(url, str):
        raise InvalidInput("url", "expected sqlite:///path, a path, or postgresql://…")
    if url is None:
        url = settings_.database_url(chosen, Path.home(), Path.cwd())
    database = open_database(url, _options(chosen))
    try:
        (migrate if chosen.db.automigrate else require_current)(database)
    except BaseException:
        database.close()
        raise
    policy = Policy(
        categories=tuple(dict.fromkeys((*CATEGORIES, *chosen.memory.categories))),
        ttls=asdict(chosen.memory.ttl_days),
        union=chosen.memory.read == "union",
    )
    return Memory(
        Store(database, clock),
        policy,
        space=space or chosen.memory.space,
        enabled=chosen.memory.enabled,
    )


def _options(settings: Settings) -> Options:
    db = settings.db
    return Options(
        synchronous=db.sqlite.synchronous,
        wal=db.sqlite.wal,
        busy_timeout_ms=db.sqlite.busy_timeout_ms,
        max_connections=db.pool.max_open_conns,
        idle_connections=db.pool.max_idle_conns,
        connection_lifetime_seconds=int(db.pool.conn_max_lifetime.total_seconds()),
    )
