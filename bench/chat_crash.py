"""Kills a bot again and again in the middle of updates, and counts in the end: each was learned
exactly once and answered at least once.

    python bench/chat_crash.py [--kills 20] [--seed 1]

The bot is `tacit telegram`; the Bot API is an emulator in this process, which lives on. An answer
is sent twice only where the bot was killed between sending it and noting that: so never twice by
one process, and after a kill at most as often as there are threads. On a SQLite file, and on
PostgreSQL if TACIT_TEST_POSTGRES names one.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.learn_crash import Outcome, check, item, opened
from bench.serve_load import databases
from bench.tables import table
from tacit import limits
from tests.bots.bot_api import BOT, TOKEN, BotApi, bot_api
from tests.bots.bot_updates import group, mention, message, user

ROOT = Path(__file__).resolve().parent.parent
KILLS = 20
_AT_ONCE = (5, 25)  # updates that come while one process lives
_LIFE_SECONDS = (0.05, 2.0)  # from the first update that it takes to its end
_PEOPLE, _GROUPS = 4, 6
_PATIENCE_SECONDS = 600.0
_ENVIRONMENT = {
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_JOBS_ON_OPEN": "false",
    "TACIT_LEARN_DAILY_MAX_COUNT": str(limits.LEARN_WRITES_MAX_PER_DAY),
    "TELEGRAM_BOT_TOKEN": TOKEN,
}


@dataclass
class Story:
    """What was said to the bot, and in which of its lives it said what."""

    api: BotApi
    said: int = 0
    last: int = 0  # number of an update
    lives: list[int] = field(default_factory=list)  # how much had been sent when each ended

    def tell(self, chance: random.Random) -> None:
        """To each message there is an answer, and in a group that names its message."""
        for _ in range(chance.randint(*_AT_ONCE)):
            self.said += 1
            number = chance.randrange(_PEOPLE)
            text = f"@{BOT['username']} Remember that box {self.said} holds item {item(self.said)}"
            told = message(
                group(-1_000 - chance.randrange(_GROUPS)),
                user(101 + number, f"Person {number}"),
                text,
                message_id=self.said,
                entities=[mention()],
            )
            self.last = self.api.deliver({"message": told})

    def repeats(self) -> tuple[list[str], int]:
        """What is wrong, and how many answers came again in a later life."""
        wrong: list[str] = []
        lives: dict[tuple[int, str], list[int]] = {}
        for place, one in enumerate(self.api.sent):
            life = sum(place >= end for end in self.lives)
            lives.setdefault((one.answers or 0, one.text), []).append(life)
        after: Counter[int] = Counter()
        for (number, _), found in lives.items():
            if len(set(found)) != len(found):
                wrong.append(f"{number} was answered twice by one process")
            after.update(sorted(set(found))[1:])
        wrong += [
            f"{count} answers were repeated after one kill"
            for count in after.values()
            if count > limits.CHAT_THREADS_DEFAULT_COUNT
        ]
        answered = {number for number, _ in lives}
        missing = set(range(1, self.said + 1)) - answered
        wrong += [f"{number} was not answered" for number in sorted(missing)]
        return wrong, after.total()


@contextmanager
def living(url: str, api: BotApi) -> Iterator[subprocess.Popen[bytes]]:
    asked = len(api.of("getUpdates"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit.cli", "--db", url, "telegram"],
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ENVIRONMENT, "TACIT_TELEGRAM_API_URL": api.url},
        cwd=ROOT,
    )
    try:
        api.wait_called("getUpdates", asked + 1, _PATIENCE_SECONDS)
        yield process
    finally:
        process.kill()
        process.wait()


def hammer(url: str, *, kills: int, seed: int) -> tuple[Outcome, Story, int]:
    chance = random.Random(seed)
    outcome = Outcome()
    with bot_api() as api:
        story = Story(api)
        for _ in range(kills):
            story.tell(chance)
            with living(url, api) as process:
                story.tell(chance)
                time.sleep(chance.uniform(*_LIFE_SECONDS))
                process.send_signal(signal.SIGKILL)
                process.wait()
            story.lives.append(len(api.sent))
            outcome.kills += 1
        with living(url, api) as process:
            _worked_off(url, process, story)
        wrong, repeated = story.repeats()
    outcome.wrong += wrong
    outcome.accepted = set(range(1, story.said + 1))
    # What somebody was at who was killed is anybody's again when its lease has run out.
    with opened(url, workers=0, ago_seconds=-limits.LEASE_SECONDS - 1) as memory:
        memory.jobs.wait_for_learning()
        check(memory, outcome)
    return outcome, story, repeated


def _worked_off(url: str, process: subprocess.Popen[bytes], story: Story) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    story.api.wait_confirmed(story.last, _PATIENCE_SECONDS)
    with tacit.open(url, embedder=None) as memory:
        while memory.inbox.pending("telegram", limit=1):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the bot has ended, or does not get on")
            time.sleep(0.05)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kill -9 a bot in the middle of updates")
    parser.add_argument("--kills", type=int, default=KILLS, help="on each database")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(arguments)
    print(f"seed {asked.seed}")
    rows, clean = [], True
    for name, url in databases():
        outcome, story, repeated = hammer(url, kills=asked.kills, seed=asked.seed)
        once = len(outcome.accepted) - len(outcome.lost) - len(outcome.twice)
        sent = len(story.api.sent)
        counts = (outcome.kills, story.said, once, sent, repeated)
        verdict = "clean" if outcome.clean else "BROKEN"
        rows.append((name, *(f"{count:,}" for count in counts), verdict))
        for line in outcome.wrong[:20]:
            print(f"  {name}: {line}")
        clean &= outcome.clean
    titles = ("database", "kills", "updates", "learned once", "answers", "repeated", "verdict")
    print(table(titles, rows))
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
