"""How many duplicates consolidation finds, and whether it ever merges what must stay apart.

    python bench/duplicates.py

A store of facts, of which one in ten is there twice: half of these word for word, half in other
words; and all pairs of the labelled set that must coexist. Without a model, and with a stand-in for
one behind a real HTTP endpoint that speaks the real wire format: it knows which sentences were made
from the same fact, answers one question in seven with garbage, and calls nothing else the same.
Several days pass, because a person's pairs are capped each day. PostgreSQL is the server in
TACIT_TEST_POSTGRES.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.duplicate_facts import Fact, facts, worded_anew
from bench.learn_data import coexisting
from bench.tables import table
from tacit.embeddings.local import LocalEmbedder
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import LanguageSettings, LearnSettings
from tests.contract.tidying import judging
from tests.databases import PostgresDatabases
from tests.llm.endpoint import Endpoint, Reply, Seen, answered, serving
from tests.llm.replies import says

SEED = 12
FACTS = 1_000
PEOPLE = 25
TWICE_SHARE = 0.1
GARBAGE_EVERY = 7
DAYS = 6
FALL_MIN_SHARE = 0.9
_QUIET = LearnSettings(workers=0, debounce_seconds=0, daily_max_count=1_000_000)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass(slots=True)
class Seeded:
    """What was written: by id, which fact each memory is."""

    fact_of: dict[str, str] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)  # facts that are there twice word for word
    pairs: list[tuple[str, str]] = field(default_factory=list)  # ids that must both stay
    by_text: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    before: int
    after: int
    exact_left: int
    merged_apart: int  # pairs that must coexist, and do not
    pairs: int
    questions: int
    seconds: float

    @property
    def fall(self) -> float:
        return 1 - self.after / self.before


def seed(memory: Memory, clock: Clock) -> Seeded:
    chance, seeded = random.Random(SEED), Seeded()
    made = list(facts(FACTS, random.Random(SEED + 1)))
    twice = chance.sample(range(FACTS), int(FACTS * TWICE_SHARE))
    exact = set(twice[: len(twice) // 2])
    for number, fact in enumerate(made):
        _remember(memory, seeded, number % PEOPLE, fact, fact.first)
    for number in twice:
        fact = made[number]
        if number in exact:
            seeded.exact.add(fact.id)
        text = worded_anew(fact.first, chance) if number in exact else fact.second
        _remember(memory, seeded, number % PEOPLE, fact, text)
    clock.now += timedelta(hours=1)
    _coexist(memory, seeded)
    return seeded


def _remember(memory: Memory, seeded: Seeded, person: int, fact: Fact, text: str) -> None:
    who = tacit.Requester(f"telegram:{1_000 + person}")
    view = memory.view(who, tacit.Chat.private(who.key))
    seeded.fact_of[view.remember(text, kind="knowledge").id] = fact.id
    seeded.by_text[" ".join(text.split())] = fact.id


def _coexist(memory: Memory, seeded: Seeded) -> None:
    """As rules learn them, with their slots; and as they were said, where rules learn nothing."""
    people = sorted({pair.speaker for pair in coexisting()})
    for pair in coexisting():
        who = tacit.Requester(f"telegram:{9_000 + people.index(pair.speaker)}", name=pair.speaker)
        view = memory.view(who, tacit.Chat.private(who.key), thread=pair.id)
        made: list[list[str]] = []
        for text in (pair.first, pair.second):
            before = {one.id for one in view.list(limit=500)}
            view.learn([tacit.Message("user", text)])
            memory.jobs.wait_for_learning()
            new = [one.id for one in view.list(limit=500) if one.id not in before]
            made.append(new or [view.remember(text, kind="knowledge").id])
        seeded.pairs += [(one, other) for one in made[0] for other in made[1]]


def standing(memory: Memory) -> set[str]:
    from sqlalchemy import text

    query = text("SELECT id FROM memories WHERE state = 'active' AND NOT is_turn")
    with memory._storage.database.read() as connection:
        return set(connection.execute(query).scalars())


def duplicates(seeded: Seeded, there: set[str]) -> Counter[str]:
    count = Counter(fact for id, fact in seeded.fact_of.items() if id in there)
    return Counter({fact: n - 1 for fact, n in count.items() if n > 1})


def play(url: str, endpoint: Endpoint | None) -> Outcome:
    clock = Clock()
    quiet = Settings(learn=_QUIET)
    with tacit.open(url, settings=quiet, clock=clock, embedder=LocalEmbedder()) as memory:
        seeded = seed(memory, clock)
        memory.admin.reembed()
        there = standing(memory)
    pairs = [pair for pair in seeded.pairs if there >= {*pair}]
    before = duplicates(seeded, there)
    if endpoint is not None:
        endpoint.always = _stand_in(seeded)
    language = _language(endpoint)
    asked = questions = 0
    began = time.perf_counter()
    settings = Settings(learn=_QUIET, language=language)
    with tacit.open(url, settings=settings, clock=clock, embedder=LocalEmbedder()) as memory:
        for _ in range(DAYS if endpoint else 1):
            done = memory.jobs.consolidate()
            asked, questions = asked + done.pairs, questions + done.asked
            clock.now += timedelta(days=1)
        left = standing(memory)
    after = duplicates(seeded, left)
    return Outcome(
        before=before.total(),
        after=after.total(),
        exact_left=sum(after[fact] for fact in seeded.exact),
        merged_apart=sum(not left >= {*pair} for pair in pairs),
        pairs=asked,
        questions=questions,
        seconds=time.perf_counter() - began,
    )


def _language(endpoint: Endpoint | None) -> LanguageSettings:
    if endpoint is None:
        return LanguageSettings()
    return LanguageSettings(provider="openai", model="stand-in", base_url=endpoint.url, retries=0)


def _stand_in(seeded: Seeded) -> Callable[[Seen], Reply]:
    asked = itertools.count(1)
    judge = judging(
        lambda older, newer: (
            "same" if seeded.by_text.get(older, older) == seeded.by_text.get(newer, newer) else "different"
        )
    )
    garbage = says("it depends on what you mean by the same")

    def step(seen: Seen) -> Reply:
        return answered(judge if next(asked) % GARBAGE_EVERY else garbage, seen)

    return step


def _urls(stack: ExitStack) -> Iterator[tuple[str, str]]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for number in range(2):
        yield "SQLite", f"sqlite:///{folder / f'{number}.db'}"
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server:
        databases = PostgresDatabases(server)
        stack.callback(databases.close)
        for _ in range(2):
            url = databases.create_migrated()
            stack.callback(databases.drop, url)
            yield "PostgreSQL", url


def main() -> int:
    rows, failures = [], []
    with ExitStack() as stack:
        for number, (name, url) in enumerate(_urls(stack)):
            with_model = number % 2 == 1
            with serving() as endpoint:
                found = play(url, endpoint if with_model else None)
            how = "with a model" if with_model else "no model"
            rows.append(_row(name, how, found))
            if found.merged_apart:
                failures.append(f"{name}, {how}: {found.merged_apart} pairs merged that must not")
            if found.exact_left:
                failures.append(f"{name}, {how}: {found.exact_left} exact duplicates are left")
            if with_model and found.fall < FALL_MIN_SHARE:
                failures.append(f"{name}, {how}: duplicates fell by {found.fall:.0%} only")
    headings = ["store", "", "duplicates", "after", "fall", "exact left", "coexisting merged"]
    print(table([*headings, "pairs asked", "questions", "seconds"], rows))
    for failure in failures:
        print(f"FAILED  {failure}")
    return 1 if failures else 0


def _row(name: str, how: str, found: Outcome) -> list[str]:
    counts = (found.exact_left, found.merged_apart, found.pairs, found.questions)
    return [
        name,
        how,
        str(found.before),
        str(found.after),
        f"{found.fall:.0%}",
        *map(str, counts),
        f"{found.seconds:.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
