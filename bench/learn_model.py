"""What is learnt with a real, small language model: `make test-model`.

Of 40 messages of the labelled set (20 to keep, 20 not, by a seeded shuffle): how many labelled
facts are extracted, by the model alone and together with the rules; how many strays; how many of
the model's facts pass the format validator at the first try, after slips were mended here, and
after it was told what was wrong; and what that took.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.learn_data import FOLDER, SAID_AT, Message, messages
from bench.learn_score import Count, learnt, matches
from bench.real_model import MODELS, served
from tacit.errors import LanguageFailed
from tacit.identity.resolve import Asking
from tacit.language.asking import EndpointModel
from tacit.language.budget import Allowance, Usage
from tacit.learn.classify import classify
from tacit.learn.extract import merged
from tacit.learn.facts import Statement
from tacit.learn.reader import Read, Reader
from tacit.learn.reading.rules import extract
from tacit.learn.reading.tongue import guess, tongue
from tacit.learn.turn import Turn
from tacit.model.message import Role
from tacit.model.words import ChatKind

SEED = 4
EACH_COUNT = 20
PASSED_MIN_SHARE = 0.95  # of the model's facts, at the first try or after repair
TIMEOUT_SECONDS = 600.0
OUTPUT_TOKENS = 400


@dataclass(slots=True)
class Notebook:
    """A ledger for one run."""

    usage: Usage = field(default_factory=Usage)

    def spent(self, _space: str, _day: date) -> Usage:
        return self.usage

    def add(self, _space: str, _day: date, usage: Usage) -> None:
        self.usage += usage


@dataclass(slots=True)
class Tally:
    name: str
    count: Count = field(default_factory=Count)
    facts: int = 0  # labelled
    found: int = 0  # … that some statement is

    def add(self, message: Message, statements: Sequence[Statement]) -> list[Statement]:
        self.facts += len(message.facts)
        self.found += sum(any(matches(s, f, message) for s in statements) for f in message.facts)
        return self.count.add(message, list(statements))

    def line(self) -> str:
        count = self.count
        return (
            f"{self.name:<12}{self.found:>4} of {self.facts} facts{count.recalled:>6} of "
            f"{count.kept} messages{count.stated - count.right:>6} strays of {count.stated}"
            f"{count.stray:>6} of {count.refused} messages with nothing to keep"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=sorted(MODELS), default="1.5b")
    # Threads of a model wait for each other by spinning: with more than there are free cores, each
    # token takes many times as long.
    spare = max(1, (os.cpu_count() or 2) - 1)
    parser.add_argument("--threads", type=int, default=spare)
    parser.add_argument("--each", type=int, default=EACH_COUNT, help="messages of each sort")
    parser.add_argument("--show", action="store_true", help="print what was read")
    asked = parser.parse_args()
    print(f"{MODELS[asked.model].says}, {2 * asked.each} messages", flush=True)
    with served(asked.model, threads=asked.threads) as url:
        model = EndpointModel(
            "openai",
            asked.model,
            base_url=url,
            timeout_seconds=TIMEOUT_SECONDS,
            retries=0,
            max_output_tokens=OUTPUT_TOKENS,
        )
        try:
            return _run(model, sample(asked.each), show=asked.show)
        finally:
            model.close()


def sample(each: int, seed: int = SEED) -> list[Message]:
    every = list(messages(FOLDER))
    random.Random(seed).shuffle(every)
    kept = [one for one in every if one.keep][:each]
    return [*kept, *[one for one in every if not one.keep][:each]]


def _run(model: EndpointModel, chosen: list[Message], *, show: bool) -> int:
    ledger = Notebook()
    reader = Reader(
        model=model,
        space="bench",
        allowance=Allowance(),
        ledger=ledger,
        today=SAID_AT.date,
    )
    tallies = [Tally("rules"), Tally("model"), Tally("both")]
    reads: list[Read] = []
    failed = 0
    began = time.monotonic()
    for number, message in enumerate(chosen, 1):
        try:
            read = _read(reader, message)
        except LanguageFailed as problem:
            failed += 1
            print(f"{number:>3} failed: {type(problem).__name__}", flush=True)
            read = Read()
        reads.append(read)
        _count(tallies, message, read)
        if show:
            said = [one.content for one in read.statements]
            print(f"    {message.text!r}\n    {said} refused {list(read.refused)}")
        spent = time.monotonic() - began
        print(f"{number:>3} of {len(chosen)}, {spent / number:.1f} s a message", flush=True)
    for tally in tallies:
        print(tally.line())
    usage, n = ledger.usage, len(chosen)
    print(f"answers     {n - failed} of {n}, {spent / n:.1f} s a message", end=", ")
    print(f"{usage.tokens_in / n:.0f} tokens in and {usage.tokens_out / n:.0f} out")
    kept = [read for read, one in zip(reads, chosen, strict=True) if one.keep]
    _passed("to keep", kept)
    _passed("every", reads)
    return 0


def _read(reader: Reader, message: Message) -> Read:
    own = tongue(guess(message.text))
    return reader.read(_turn(message), message.speaker, own)


def _turn(message: Message) -> Turn:
    who = "ext:bench:1"
    return Turn(
        text=message.text,
        role=Role.USER,
        said_at=SAID_AT,
        message=None,
        agent=None,
        asking=Asking(
            subject=who,
            chat="bench:1",
            kind=ChatKind.PRIVATE,
            participants=frozenset({who}),
            complete=True,
            names=((who, "name", message.speaker),),
        ),
        present=frozenset({who}),
        confidential=False,
    )


def _count(tallies: list[Tally], message: Message, read: Read) -> None:
    own = tongue(guess(message.text))
    rules, alone, both = tallies
    rules.add(message, learnt(message.text, message.speaker))
    alone.add(message, [classify(one, own, SAID_AT) for one in read.statements])
    plain = extract(message.text, message.speaker, SAID_AT, own)
    merge = merged(plain, read, message.speaker, own).statements
    both.add(message, [classify(one, own, SAID_AT) for one in merge])


def _passed(name: str, reads: list[Read]) -> None:
    """How many facts are of the right form; the others are refused, and none of them is kept."""
    claimed = sum(one.claimed for one in reads)
    at_once = sum(one.at_once for one in reads)
    mended = at_once + sum(one.mended for one in reads)
    repaired = mended + sum(one.repaired for one in reads)
    print(
        f"validator   {name}: of {claimed} facts {_share(at_once, claimed)} pass at once", end=", "
    )
    print(f"{_share(mended, claimed)} with slips mended, {_share(repaired, claimed)} after repair")
    if repaired < PASSED_MIN_SHARE * claimed:
        print(f"            {claimed - repaired} more were refused for good")


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"


if __name__ == "__main__":
    sys.exit(main())
