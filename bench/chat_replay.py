"""10,000 updates of 200 people in 20 groups and their private chats, answered by `tacit telegram`.

    python bench/chat_replay.py [--updates 10000] [--people 200] [--groups 20]

The bot is a process of its own, with the real library for Telegram; the Bot API is an emulator in
this one. It must answer whatever is addressed to it, in order in each chat, fail at nothing and not
grow. Printed: the time for an update, beside that of the library calls that it makes, and how often
a model that is given what is known has to look something up. On a SQLite file, and on PostgreSQL if
TACIT_TEST_POSTGRES names one.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.chat_recall import looked_up
from bench.children import child_environment
from bench.sentences import said
from bench.serve_load import databases
from bench.tables import milliseconds, table
from tests.bots.bot_api import BOT, TOKEN, BotApi, bot_api
from tests.bots.bot_updates import group, mention, message, private, user

UPDATES, PEOPLE, GROUPS = 10_000, 200, 20
FLAT_MAX = 1.1  # of the memory of the process at the end to that after the first fifth
STEPS = 10
_FACTS_EACH = 5
_TWICE_SHARE = 0.02  # of the updates are told twice
_START_MAX_SECONDS = 60.0
_STEP_MAX_SECONDS = 1_200.0
_FIRST_PERSON, _FIRST_GROUP = 10_001, -1_000_001
_BAD = frozenset({"update failed", "update parked", "not sent", "inbox waits", "update waits"})
_ENVIRONMENT = {
    # What SQLite keeps of the file at hand is bounded; full at once, it hides nothing that grows.
    "TACIT_DB_SQLITE_CACHE_MIB": "1",
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_JOBS_ON_OPEN": "false",
    "TACIT_SERVER_LOG": "json",
    "TELEGRAM_BOT_TOKEN": TOKEN,
}


@dataclass
class Crowd:
    """People who write to the bot, and what it owes them."""

    people: int
    groups: int
    chance: random.Random = field(default_factory=lambda: random.Random(8))
    owed: Counter[int] = field(default_factory=Counter)  # answers, by chat
    made: int = 0

    def __post_init__(self) -> None:
        # Everybody says the same few things again and again, so that what is remembered does not
        # grow for ever: whatever else grows is found.
        self._facts = list(islice(said(), _FACTS_EACH * self.people))

    def update(self) -> dict[str, Any]:
        self.made += 1
        n = self.chance.randrange(self.people)
        who = user(_FIRST_PERSON + n, f"Person {n}", username=f"person{n}")
        if self.chance.random() < 0.5:
            return self._told(private(who["id"]), who, self._line(n), addressed=True)
        where = group(_FIRST_GROUP - n % self.groups)
        addressed = self.chance.random() < 0.2
        name = f"@{BOT['username']} " if addressed else ""
        return self._told(where, who, name + self._line(n), addressed=addressed)

    def first_words(self) -> Iterator[dict[str, Any]]:
        """Everybody says everything and asks for it, alone and in their group: then there is hardly
        anything new, and what a process keeps at hand of these people and rooms, it has."""
        for n in range(self.people):
            who = user(_FIRST_PERSON + n, f"Person {n}", username=f"person{n}")
            for fact in self._facts[n * _FACTS_EACH : (n + 1) * _FACTS_EACH]:
                for where in (private(who["id"]), group(_FIRST_GROUP - n % self.groups)):
                    for line in (fact, _remember(fact), _question(fact.split()[-1])):
                        self.made += 1
                        yield self._told(where, who, line, addressed=where["type"] == "private")

    def _line(self, person: int) -> str:
        fact = self._facts[person * _FACTS_EACH + self.chance.randrange(_FACTS_EACH)]
        kind = self.chance.random()
        if kind < 0.10:
            return _remember(fact)
        if kind < 0.35:
            return _question(self.chance.choice(fact.split()))
        return fact

    def _told(self, where: dict[str, Any], who: dict[str, Any], text: str, *, addressed: bool) -> dict[str, Any]:
        # Whether a statement is answered depends on what can be asked about it; a question is.
        if addressed and text.endswith("?"):
            self.owed[where["id"]] += 1
        entities = [mention()] if text.startswith("@") else []
        more = {"entities": entities} if entities else {}
        return {"message": message(where, who, text, message_id=self.made, **more)}


def _remember(fact: str) -> str:
    return f"Remember that {fact[0].lower()}{fact[1:]}"


def _question(word: str) -> str:
    return f"What do you know about {word}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    updates: int
    seconds: float
    sizes: list[int]  # of the process, in kB, after each step
    told: dict[str, Any]  # by the process itself
    failures: Counter[str]
    unanswered: int

    @property
    def grown(self) -> float:
        return self.sizes[-1] / self.sizes[max(0, len(self.sizes) // 5 - 1)]

    @property
    def wrong(self) -> list[str]:
        found = [f"{count} times: {event}" for event, count in self.failures.items()]
        if self.told["out_of_order"]:
            found.append(f"{self.told['out_of_order']} were heard out of order")
        if self.told["heard"] != self.updates:
            found.append(f"{self.told['heard']} of {self.updates} were heard")
        if self.unanswered:
            found.append(f"{self.unanswered} questions were not answered")
        if self.grown > FLAT_MAX:
            found.append(f"it grew to {self.grown:.2f} times its size")
        return found


def replayed(url: str, crowd: Crowd, updates: int) -> Replayed:
    sizes: list[int] = []
    with bot_api() as api, tempfile.TemporaryFile() as lines:
        environment = {**child_environment(), **_ENVIRONMENT, "TACIT_TELEGRAM_API_URL": api.url}
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.chat_child", "--db", url],
            stdout=subprocess.PIPE,
            stderr=lines,
            env=environment,
        )
        try:
            api.wait_called("getUpdates", seconds=_START_MAX_SECONDS)
            begun = time.perf_counter()
            _delivered(api, crowd, crowd.first_words())
            _worked_off(process, url)
            for _ in range(STEPS):
                _delivered(api, crowd, (crowd.update() for _ in range(updates // STEPS)))
                _worked_off(process, url)
                sizes.append(_size(process.pid))
            seconds = time.perf_counter() - begun
            process.send_signal(signal.SIGTERM)
            api.wake()
            out, _ = process.communicate(timeout=_START_MAX_SECONDS)
        finally:
            process.kill()
            process.wait()
        lines.seek(0)
        logged = [json.loads(line)["event"] for line in lines.read().splitlines()]
        answers = Counter(one.chat for one in api.sent)
    return Replayed(
        updates=crowd.made,
        seconds=seconds,
        sizes=sizes,
        told=json.loads(out.splitlines()[-1]),
        failures=Counter(event for event in logged if event in _BAD),
        unanswered=sum(max(0, owed - answers[chat]) for chat, owed in crowd.owed.items()),
    )


def _delivered(api: BotApi, crowd: Crowd, updates: Iterable[dict[str, Any]]) -> None:
    last = 0
    for update in updates:
        last = api.deliver(update)
        if crowd.chance.random() < _TWICE_SHARE:
            api.repeat(last)
    api.wait_confirmed(last, _STEP_MAX_SECONDS)


def _worked_off(process: subprocess.Popen[bytes], url: str) -> None:
    """Looked at from outside, in the inbox itself."""
    import tacit

    until = time.monotonic() + _STEP_MAX_SECONDS
    with tacit.open(url, embedder=None) as memory:
        while memory.inbox.pending("telegram", limit=1):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the bot has ended, or does not get on")
            time.sleep(0.05)


def _size(pid: int) -> int:
    found = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(found.stdout)


def report(name: str, done: Replayed) -> bool:
    told = done.told
    library = sum(seconds for _, _, seconds in told["library"])
    busy, sending = told["busy_seconds"], told["sending_seconds"]
    each = done.updates
    print(f"\n{name}: {each:,} updates in {done.seconds:.0f} s, {each / done.seconds:.0f} a second")
    rows = [
        ("worked on, with sending", milliseconds(busy / each), ""),
        ("without sending", milliseconds((busy - sending) / each), ""),
        ("library calls, taking in among them", milliseconds(library / each), ""),
        *(
            (f"  {word}", milliseconds(seconds / each), f"{calls / each:.2f}")
            for word, calls, seconds in told["library"][:8]
        ),
    ]
    print(table(("for an update", "time", "calls"), rows))
    sizes = " ".join(f"{size / 1024:.0f}" for size in done.sizes)
    print(f"memory in MB after each tenth: {sizes}, {done.grown:.2f}x since the second")
    for line in done.wrong:
        print(f"  WRONG: {line}")
    return not done.wrong


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="updates of a crowd, answered by a bot")
    parser.add_argument("--updates", type=int, default=UPDATES)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--groups", type=int, default=GROUPS)
    asked = parser.parse_args(arguments)
    fine = True
    for name, url in databases():
        crowd = Crowd(people=asked.people, groups=asked.groups)
        fine &= report(name, replayed(url, crowd, asked.updates))
    found = looked_up()
    share = f"{found.recalled} of {found.turns} turns ({found.recalled / found.turns:.0%})"
    print(f"\nwith a model: it looked something up in {share}, and knew {found.answered} answers")
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
