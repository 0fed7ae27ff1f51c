"""What is learnt with a real, small language model: `make test-model`.

Of 40 messages of the labelled set (20 to keep, 20 not, by a seeded shuffle): how many labelled
facts are extracted, by the model alone and together with the rules; how many strays; and what that
took. Then of the facts that the model claims: how many the message says, which are those that may
become memories; and of these, how many have the form that is kept as the model first gave them,
after slips were mended here, and after it was told what was wrong. Below 95% it fails.
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
from tacit.identity import RawRequest
from tacit.learning.claims import Claim, ClaimForm, LlmReader, LlmReading
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact
from tacit.learning.pipeline import merge_readings
from tacit.learning.turns import QueuedTurn
from tacit.learning.verification import classify_statement
from tacit.llm.budget import Allowance, Usage
from tacit.llm.endpoint import EndpointModel
from tacit.records.conversation import Role
from tacit.records.memory import ChatKind

SEED = 4
EACH_COUNT = 20
PASSED_MIN_SHARE = 0.95  # of what may become a memory, at the first try or after repair
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

    def add(self, message: Message, statements: Sequence[StatedFact]) -> list[StatedFact]:
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
    parser.add_argument("--seed", type=int, default=SEED, help="of the shuffle: another sample")
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
            return _run(model, sample(asked.each, asked.seed), show=asked.show)
        finally:
            model.close()


def sample(each: int, seed: int = SEED) -> list[Message]:
    every = list(messages(FOLDER))
    random.Random(seed).shuffle(every)
    kept = [one for one in every if one.keep][:each]
    return [*kept, *[one for one in every if not one.keep][:each]]


def _run(model: EndpointModel, chosen: list[Message], *, show: bool) -> int:
    ledger = Notebook()
    reader = LlmReader(model=model, space="bench", allowance=Allowance(), ledger=ledger, today=SAID_AT.date)
    tallies = [Tally("rules"), Tally("model"), Tally("both")]
    reads: list[LlmReading] = []
    failed = 0
    began = time.monotonic()
    for number, message in enumerate(chosen, 1):
        try:
            read = _read(reader, message)
        except LanguageFailed as problem:
            failed += 1
            print(f"{number:>3} failed: {type(problem).__name__}", flush=True)
            read = LlmReading()
        reads.append(read)
        _count(tallies, message, read)
        if show:
            said = [one.content for one in read.statements]
            print(f"    {message.text!r}\n    {said}")
            for one in read.claims:
                how = one.passed or "not kept" if one.said else "not said"
                print(f"    {how}: {one.content!r} {one.refused or ''}")
        spent = time.monotonic() - began
        print(f"{number:>3} of {len(chosen)}, {spent / number:.1f} s a message", flush=True)
    for tally in tallies:
        print(tally.line())
    usage, n = ledger.usage, len(chosen)
    print(f"answers     {n - failed} of {n}, {spent / n:.1f} s a message", end=", ")
    print(f"{usage.tokens_in / n:.0f} tokens in and {usage.tokens_out / n:.0f} out")
    claims = [claim for read in reads for claim in read.claims]
    kept = {one.content for read in reads for one in read.statements}
    return 0 if _passed(claims, kept) else 1


def _read(reader: LlmReader, message: Message) -> LlmReading:
    own = load_locale(guess_locale(message.text))
    return reader.read(_turn(message), message.speaker, own)


def _turn(message: Message) -> QueuedTurn:
    who = "ext:bench:1"
    return QueuedTurn(
        text=message.text,
        role=Role.USER,
        said_at=SAID_AT,
        message=None,
        agent=None,
        asking=RawRequest(
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


def _count(tallies: list[Tally], message: Message, read: LlmReading) -> None:
    own = load_locale(guess_locale(message.text))
    rules, alone, both = tallies
    rules.add(message, learnt(message.text, message.speaker))
    alone.add(message, [classify_statement(one, own, SAID_AT) for one in read.statements])
    plain = extract_by_rules(message.text, message.speaker, SAID_AT, own)
    merge = merge_readings(plain, read, message.speaker, own).statements
    both.add(message, [classify_statement(one, own, SAID_AT) for one in merge])


def _passed(claims: Sequence[Claim], kept: set[str]) -> bool:
    """What the message does not say is no memory, however well it is put: it is counted apart."""
    said = [one for one in claims if one.said]
    unsaid = [one for one in claims if not one.said]
    print(f"claims      {len(claims)} facts in first answers: {_share(len(said), len(claims))}", end="")
    print(f" are said by the message; {len(unsaid)} are not, and", end=" ")
    print(f"{sum(one.content in kept for one in unsaid)} of these were kept")
    steps = [sum(one.passed is step for one in said) for step in ClaimForm]
    at_once, mended, repaired = steps[0], sum(steps[:2]), sum(steps)
    for of, whole in (("that the message says", len(said)), ("claimed at all", len(claims))):
        print(f"validator   of {whole} facts {of}: {_share(at_once, whole)} pass at once", end=", ")
        print(f"{_share(mended, whole)} with slips mended here", end=", ")
        print(f"{_share(repaired, whole)} after repair")
    asked = len(said) - mended
    print(f"repair      of {asked} facts that were said and of the wrong form, {steps[2]} were put")
    print("            right by the model when it was told; the others are not kept")
    return bool(said) and repaired >= PASSED_MIN_SHARE * len(said)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"


if __name__ == "__main__":
    sys.exit(main())
