"""Kills a server under load again and again, and looks each time whether a promise was broken.

    python bench/serve_crash.py [--kills 20] [--seed 1]

Callers write over many connections, each write with an Idempotency-Key. What was being written when
the server died is sent again with the same key to the one that comes after it, as a client would.
At the end every write is there exactly once, acknowledged before or after. On a SQLite file, and on
PostgreSQL (with two workers, which die too) if TACIT_TEST_POSTGRES names one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.serve_client import Ask, Connection, HungUp
from bench.serve_load import databases
from tests.server.processes import Serving, serving

KILLS = 20
CONNECTIONS = 8
PEOPLE = 10
_RUN_SECONDS = (0.2, 1.5)  # for how long callers write before the server is killed
_ENVIRONMENT = {
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_SERVER_RATE_PER_MINUTE": "10000000",
    "TACIT_LEARN_WORKERS": "1",
}


@dataclass
class Ledger:
    """What callers know: what they were promised, and what they do not know the end of."""

    token: str
    acknowledged: dict[int, str] = field(default_factory=dict)  # number of the write → id
    unsure: set[int] = field(default_factory=set)
    made: int = 0
    wrong: list[str] = field(default_factory=list)

    def numbers(self) -> Iterator[int]:
        """First what is not known to be done, then what is new."""
        yield from sorted(self.unsure)
        while True:
            self.made += 1
            yield self.made

    def write(self, number: int) -> Ask:
        return Ask(
            method="POST",
            path="/api/remember",
            headers={**self.headers(number), "idempotency-key": f"write-{number}"},
            body={"content": content(number), "category": "context"},
        )

    def headers(self, number: int) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}", "x-tacit-requester": person(number)}


def content(number: int) -> str:
    return f"Box {number} stands in the cellar, and its lid is marked with {number * 7919}"


def person(number: int) -> str:
    return f"bench:{number % PEOPLE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    acknowledged: int
    repeated: int
    first_answer_seconds: float  # from its start to its first answer


def one_round(url: str, ledger: Ledger, chance: random.Random, *argv: str) -> Round:
    begun = time.monotonic()
    before, repeated = len(ledger.acknowledged), len(ledger.unsure)
    with serving(url, *argv, env=_ENVIRONMENT) as served:
        first = asyncio.run(_first_answer(served.url)) - begun
        asyncio.run(_under_load(served, ledger, chance.uniform(*_RUN_SECONDS)))
        served.process.wait()
    if served.process.returncode != -signal.SIGKILL:
        ledger.wrong.append(f"the server ended by itself with {served.process.returncode}")
    return Round(acknowledged=len(ledger.acknowledged) - before, repeated=repeated, first_answer_seconds=first)


async def _first_answer(url: str) -> float:
    """It listens before anything else is ready: the first request waits, and is answered."""
    connection = Connection(url)
    answered = await connection.ask(Ask(method="GET", path="/health/ready", headers={}))
    connection.close()
    if answered.status != 200:
        raise RuntimeError("it started, and is not ready")
    return time.monotonic()


async def _under_load(served: Serving, ledger: Ledger, seconds: float) -> None:
    numbers = ledger.numbers()
    killed = False

    async def caller() -> None:
        connection = Connection(served.url)
        with suppress(HungUp, OSError):
            while not killed:
                number = next(numbers)
                ledger.unsure.add(number)
                answered = await connection.ask(ledger.write(number))
                if answered.status >= 300:
                    ledger.wrong.append(f"write {number} was answered with {answered.status}")
                    return
                ledger.acknowledged[number] = answered.json["id"]
                ledger.unsure.discard(number)
        connection.close()

    callers = [asyncio.create_task(caller()) for _ in range(CONNECTIONS)]
    await asyncio.sleep(seconds)
    for pid in _processes(served):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    killed = True
    await asyncio.gather(*callers)


def _processes(served: Serving) -> list[int]:
    """Whoever looks after the others first, lest they are replaced."""
    workers = [one["pid"] for one in served.lines() if one["event"] == "worker started"]
    return [served.process.pid, *workers]


def checked(url: str, ledger: Ledger) -> list[str]:
    """Everything that was acknowledged is there, once, under the id that was told."""
    wrong = list(ledger.wrong)
    found: dict[str, str] = {}
    with tacit.open(url) as memory:
        for number in range(PEOPLE):
            who = tacit.Requester(person(number))
            view = memory.view(who, tacit.Chat.private(who.key))
            cursor = None
            while True:
                page = view.list(limit=500, cursor=cursor)
                found |= {one.id: one.content for one in page}
                cursor = page.cursor
                if cursor is None:
                    break
    for number, id in ledger.acknowledged.items():
        if found.get(id) != content(number):
            wrong.append(f"write {number} was acknowledged and is not there")
    twice = [text for text, count in Counter(found.values()).items() if count > 1]
    wrong += [f"kept twice: {text}" for text in twice]
    unknown = len(found) - len(ledger.acknowledged)
    if not 0 <= unknown <= len(ledger.unsure):
        wrong.append(f"{unknown} memories that nobody wrote")
    return wrong


def hammer(url: str, name: str, kills: int, seed: int) -> bool:
    chance = random.Random(seed)
    argv = ("--workers", "2") if url.startswith("postgres") else ()
    with tacit.open(url) as memory:
        ledger = Ledger(memory.keys.create("crash", scopes=["read", "write", "act-as"]).token)
    rounds: list[Round] = []
    wrong: list[str] = []
    while len(rounds) < kills and not wrong:
        rounds.append(one_round(url, ledger, chance, *argv))
        wrong = checked(url, ledger)
    repeated = sum(one.repeated for one in rounds)
    start = median(one.first_answer_seconds for one in rounds)
    print(
        f"{name}: killed {len(rounds)} times, {len(ledger.acknowledged):,} acknowledged writes, "
        f"{repeated} sent again with their key; first answer {start:.1f} s after a "
        f"start (median): {'BROKEN' if wrong else 'nothing lost, nothing twice'} (seed {seed})",
        flush=True,
    )
    for line in wrong[:20]:
        print(f"  {line}")
    return not wrong


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kill -9 a server under load")
    parser.add_argument("--kills", type=int, default=KILLS, help="on each database")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(arguments)
    os.environ["TACIT_EMBEDDING_PROVIDER"] = "none"
    fine = [hammer(url, name, asked.kills, asked.seed) for name, url in databases()]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
