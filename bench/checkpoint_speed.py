"""Checkpoints beside LangGraph's own savers, in the same minutes: `make bench-checkpoints`.

    python bench/checkpoint_speed.py [--rounds 60]

Everybody saves and loads the same states of 100 KB, in one thread each, and takes turns in small
rounds, in another order each time, so that a busy machine slows all alike. A ratio is the median of
the rounds' own. What is promised is that ours keeps up with theirs, both as they come. That is not
the same work: LangGraph's SQLite saver waits for the disk with each step, as SQLite does by itself,
and ours does not (`db.sqlite.synchronous`); and a process of ours has at hand what it saved last,
and only asks whether that is still the newest. So each is also measured with the setting of the
other, and loads as another process would do them. Those have no target, and ours is slower in some.
PostgreSQL is the server in TACIT_TEST_POSTGRES; it runs without fsync, for ours and theirs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from sqlalchemy import make_url

import tacit
from bench.measure import Figure
from tacit.integrations.langgraph import Checkpointer
from tacit.settings import DbSettings, Settings, SqliteSettings
from tests.databases import PostgresDatabases

AT_MOST = 1.2
STATE_BYTES = 100_000
ACTS_PER_ROUND = 5
WARM_ROUNDS = 30
IN_FULL = Settings(db=DbSettings(sqlite=SqliteSettings(synchronous="full")))
SAME_SETTING = ", synchronous=normal"
OURS_IN_FULL = "SQLite, ours with synchronous=full"
ALICE = tacit.Requester("telegram:1001")
MESSAGE_CHARS = 1_000


class Thread:
    """One saver's thread: the same steps for everybody, one after the other."""

    def __init__(self, saver: BaseCheckpointSaver[Any], *, growing: bool) -> None:
        self.saver = saver
        self._changed = "messages" if growing else "step"
        self._at: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        self._checkpoint: Checkpoint = empty_checkpoint()
        self._count = 0

    def step(self) -> tuple[RunnableConfig, Checkpoint, Any, Any]:
        """What `put` takes next: a state of which one channel changed."""
        self._count += 1
        first = self._count == 1
        values = {
            "messages": messages(self._count if self._changed == "messages" else 0),
            "step": [self._count if self._changed == "step" else 0],
            "branch:to:agent": None,
        }
        named = list(values) if first else [self._changed]
        versions = dict(self._checkpoint["channel_versions"])
        new = {name: self.saver.get_next_version(versions.get(name), None) for name in named}
        self._checkpoint = {
            **empty_checkpoint(),
            "id": str(uuid6(clock_seq=self._count)),
            "channel_values": values,
            "channel_versions": {**versions, **new},
            "versions_seen": {"agent": versions},
        }
        metadata = {"source": "loop", "step": self._count, "parents": {}}
        return self._at, self._checkpoint, metadata, new

    def saved(self, at: RunnableConfig) -> None:
        self._at = at

    @property
    def asked(self) -> RunnableConfig:
        return {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}

    def check(self, found: Any) -> None:
        assert found is not None
        assert found.checkpoint["channel_values"] == self._checkpoint["channel_values"]


def messages(number: int) -> list[dict[str, Any]]:
    """As chats are kept: many messages of some length, together STATE_BYTES."""
    return [
        {"role": "user", "id": f"{number}-{n}", "content": f"{number} {n} ".ljust(MESSAGE_CHARS, "a")}
        for n in range(STATE_BYTES // MESSAGE_CHARS)
    ]


@dataclass(slots=True)
class Times:
    """Seconds, the median of each round."""

    save: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    afresh: list[float] = field(default_factory=list)  # what was not saved by this process


async def loaded(thread: Thread, *, waits: bool, afresh: bool) -> float:
    saver, times = thread.saver, []
    for _ in range(ACTS_PER_ROUND):
        if afresh and isinstance(saver, Checkpointer):
            saver._steps()._context.storage.recent_steps.clear()
        start = time.perf_counter()
        found = saver.get_tuple(thread.asked) if waits else await saver.aget_tuple(thread.asked)
        times.append(time.perf_counter() - start)
        thread.check(found)
    return statistics.median(times)


async def measured(thread: Thread, times: Times, *, waits: bool) -> None:
    """One round: `waits` for callers that are synchronous."""
    saver, save = thread.saver, []
    for _ in range(ACTS_PER_ROUND):
        step = thread.step()
        start = time.perf_counter()
        at = saver.put(*step) if waits else await saver.aput(*step)
        save.append(time.perf_counter() - start)
        thread.saved(at)
    times.save.append(statistics.median(save))
    times.load.append(await loaded(thread, waits=waits, afresh=False))
    times.afresh.append(await loaded(thread, waits=waits, afresh=True))


async def compared(
    what: str,
    ours: BaseCheckpointSaver[Any],
    others: dict[str, BaseCheckpointSaver[Any]],
    rounds: int,
    *,
    waits: bool,
    growing: bool = True,
) -> list[Figure]:
    threads = {name: Thread(one, growing=growing) for name, one in {"": ours, **others}.items()}
    times = {name: Times() for name in threads}
    for _ in range(WARM_ROUNDS):  # the log of a new file grows at first
        for thread in threads.values():
            await measured(thread, Times(), waits=waits)
    gc.collect()
    for turn in range(rounds):
        order = list(threads)
        first = turn % len(order)
        for name in order[first:] + order[:first]:
            await measured(threads[name], times[name], waits=waits)
    figures = []
    for name in others:
        for act, at_most in (("save", AT_MOST), ("load", AT_MOST), ("afresh", None)):
            said = "load in another process" if act == "afresh" else act
            equal = SAME_SETTING in name or what == OURS_IN_FULL
            promised = None if equal else at_most
            ours_took, theirs_took = getattr(times[""], act), getattr(times[name], act)
            figures.append(
                Figure(what=f"{what}: {said}, beside {name}", ours=ours_took, theirs=theirs_took, at_most=promised)
            )
    return figures


def opened(url: str) -> tacit.Memory:
    return tacit.open(url, embedder=None)


def checkpointer(memory: tacit.Memory) -> Checkpointer:
    return Checkpointer(memory.view(ALICE, tacit.Chat.private(ALICE.key)))


async def on_sqlite(folder: Path, rounds: int, *, waits: bool, growing: bool) -> list[Figure]:
    async with contextlib.AsyncExitStack() as stack:
        memory = stack.enter_context(opened(f"sqlite:///{folder / 'ours.db'}"))
        others: dict[str, BaseCheckpointSaver[Any]] = {}
        for name, synchronous in (("", "FULL"), (SAME_SETTING, "NORMAL")):
            path = str(folder / f"{synchronous}.db")
            if waits:
                plain = sqlite3.connect(path, check_same_thread=False)
                stack.callback(plain.close)
                plain.execute(f"PRAGMA synchronous={synchronous}")
                others[f"SqliteSaver{name}"] = SqliteSaver(plain)
            else:
                waited = await stack.enter_async_context(aiosqlite.connect(path))
                await waited.execute(f"PRAGMA synchronous={synchronous}")
                others[f"AsyncSqliteSaver{name}"] = AsyncSqliteSaver(waited)
        found = await compared("SQLite", checkpointer(memory), others, rounds, waits=waits, growing=growing)
        if not waits:
            return found
        url = f"sqlite:///{folder / 'in_full.db'}"
        in_full = tacit.open(url, settings=IN_FULL, embedder=None)
        careful = checkpointer(stack.enter_context(in_full))
        other = sqlite3.connect(str(folder / "careful.db"), check_same_thread=False)
        stack.callback(other.close)
        theirs: dict[str, BaseCheckpointSaver[Any]] = {"SqliteSaver": SqliteSaver(other)}
        return found + await compared(OURS_IN_FULL, careful, theirs, rounds, waits=waits, growing=growing)


@contextlib.asynccontextmanager
async def postgres_saver(url: str, *, waits: bool) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    found = make_url(url)
    query = "&".join(f"{name}={value}" for name, value in found.query.items())
    plain = f"postgresql://{found.username or ''}@/{found.database}?{query}"
    if waits:
        with PostgresSaver.from_conn_string(plain) as saver:
            saver.setup()
            yield saver
    else:
        async with AsyncPostgresSaver.from_conn_string(plain) as waited:
            await waited.setup()
            yield waited


async def on_postgres(databases: PostgresDatabases, rounds: int, *, waits: bool, growing: bool) -> list[Figure]:
    ours, theirs = databases.create(), databases.create()
    try:
        with opened(ours) as memory:
            async with postgres_saver(theirs, waits=waits) as saver:
                others = {type(saver).__name__: saver}
                return await compared("PostgreSQL", checkpointer(memory), others, rounds, waits=waits, growing=growing)
    finally:
        databases.drop(ours)
        databases.drop(theirs)


async def figures(server: str | None, rounds: int) -> AsyncIterator[tuple[str, Sequence[Figure]]]:
    databases = PostgresDatabases(server) if server else None
    for growing, title in (
        (True, "a state of 100 KB, which changes with each step"),
        (False, "the same in a thread where one small channel changes"),
    ):
        for waits in (True, False):
            found: list[Figure] = []
            with tempfile.TemporaryDirectory() as folder:
                found += await on_sqlite(Path(folder), rounds, waits=waits, growing=growing)
            if databases is not None:
                found += await on_postgres(databases, rounds, waits=waits, growing=growing)
            yield f"{title}, {'sync' if waits else 'async'}", found
    if databases is not None:
        databases.close()


async def run(rounds: int) -> int:
    server = os.environ.get("TACIT_TEST_POSTGRES")
    missed = []
    async for title, found in figures(server, rounds):
        print(f"\n{title} (p50, ours / theirs)")
        for one in found:
            print(f"  {one}", flush=True)
        missed += [one for one in found if one.missed]
    if server is None:
        print("\nPostgreSQL was not measured: TACIT_TEST_POSTGRES is not set")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    sys.exit(asyncio.run(run(parser.parse_args().rounds)))
