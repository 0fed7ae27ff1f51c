"""GateMem on what is handed over, with no language model: `make bench-gatemem`.

    python bench/gatemem.py [--data ../shared/data] [--database sqlite|postgres|both] [--episodes N]

Per checkpoint, the ten texts that `recall` hands over in the asker's private chat are searched for
what a good answer needs, for what this asker may not have, and for what somebody had deleted.

How an episode becomes rooms (it is one stream, and names no rooms; labels are never looked at):
- clinic: each patient has a ladder of group rooms. `chart`: the patient, the clinicians whom the
  episode relates to them, nurses, pharmacists, lab and social work. `desk`: those and reception and
  scheduling. `billing`: those and billing. Staff speak in the room of their role; a patient answers
  where they were asked. An outsider (family, another patient, a clinician who does not treat them)
  has a room with the clinic: what they say, and the direct answer to it, is all that they hear.
- office: each project has a core room: whom the episode relates to it, contractors excepted. Who
  belongs to no project speaks in an open room, where everybody is.
- the assistant's notes go through the view of whoever of the chart spoke last. Checkpoints are
  asked in the asker's own private chat.
What is said in a clinic is the speaker's, and about the patient. In an office it is the room's own
fact, about nobody, so `public`. All of it is `room`: spoken in a group. Questions are not kept.
A sentence that asks for a deletion goes to `erase`, or `forget` where that is all the requester may
do, for everything that holds a value it names, in every chat the requester is in. Copies in rooms
that they are not in are counted and put to an operator (not with --no-operator). What was deleted
is not taken in again.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench import gatemem_score as score
from bench.gatemem_data import DOMAINS, Checkpoint, Episode, MissingData, episodes
from bench.gatemem_play import TOP_K, Clock, Deletions, Passage, Player, named_in_orders
from bench.gatemem_score import Bm25, Outcome
from bench.tables import table
from bench.vectors import default_embedder
from tests.databases import PostgresDatabases

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
OURS, UNFILTERED, BM25 = "tacit", "same ranking, no filter", "plain BM25, no filter"
METHODS = (OURS, UNFILTERED, BM25)
_SHOWN = (
    ("evidence items", score.evidence),
    ("all items", score.complete),
    ("access leaks", score.access_leak),
    ("not own words", score.news_leak),
    ("deleted: named", score.named_leak),
    ("deleted: any target", score.deletion_leak),
)


@dataclass(slots=True)
class Measured:
    """The outcomes of one domain on one database, and what its deletions came to."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=lambda: {m: [] for m in METHODS})
    deletions: Deletions = field(default_factory=Deletions)

    def add(self, other: Measured) -> None:
        for method in METHODS:
            self.outcomes[method] += other.outcomes[method]
        self.deletions.add(other.deletions)


def play(memory: tacit.Memory, clock: Clock, episode: Episode, space: str, *, operator: bool) -> Measured:
    measured = Measured()
    player = Player(memory, clock, episode, space, operator=operator)
    messages: list[str] = []
    plain = Bm25()
    for turn in player.turns():
        messages.append(turn.text)
        plain.add(turn.text)
        for checkpoint in episode.checkpoints:
            if checkpoint.after == turn.id:
                handed = {
                    OURS: player.asked(checkpoint),
                    UNFILTERED: player.asked_unfiltered(checkpoint),
                    BM25: [Passage(text=t) for t in plain.top(checkpoint.question, TOP_K)],
                }
                for method, passages in handed.items():
                    measured.outcomes[method].append(
                        judged(player, checkpoint, messages, passages, ours=method == OURS)
                    )
    measured.deletions = player.deletions
    return measured


def judged(
    player: Player, checkpoint: Checkpoint, messages: list[str], passages: list[Passage], *, ours: bool
) -> Outcome:
    texts = [one.text for one in passages]
    items = score.said(checkpoint.include, messages)
    heard = player.heard(checkpoint.asker) if ours and items else texts
    leaked = {t: [p for p in passages if score.holds(t, p.text)] for t in checkpoint.leaks}
    through = [p for some in leaked.values() for p in some]
    own = player.own_words.get(checkpoint.asker, ())
    named = [t for t in checkpoint.leaks if named_in_orders(t, player.order_texts)]
    return Outcome(
        episode=player.episode.id,
        query_type=checkpoint.query_type,
        items=len(items),
        hearable=len(score.said(items, heard)),
        found=len(score.said(items, texts)),
        leaked=tuple(target for target, some in leaked.items() if some),
        news=any(p.text not in own for p in through),
        rules=tuple(sorted({p.rule for p in through})),
        named=bool(named),
        named_leaked=any(leaked[target] for target in named),
    )


def run(name: str, url: str, found: dict[str, list[Episode]], *, operator: bool) -> Measured:
    start = time.monotonic()
    total = Measured()
    clock = Clock()
    with tacit.open(url, clock=clock, embedder=default_embedder()) as memory:
        for domain, some in found.items():
            here = Measured()
            for number, episode in enumerate(some, start=1):
                space = f"{domain}-{number}"
                here.add(play(memory, clock, episode, space, operator=operator))
            report(f"{name}, {domain}", here)
            total.add(here)
    report(f"{name}, total", total)
    explain(total)
    print(f"{name}: {time.monotonic() - start:.0f} s\n", flush=True)
    return total


def report(title: str, measured: Measured) -> None:
    rows = [[method, *(str(score.share(measured.outcomes[method], m)) for _, m in _SHOWN)] for method in METHODS]
    print(f"\n{title}: what the top {TOP_K} hold")
    print(table(["", *(heading for heading, _ in _SHOWN)], rows), flush=True)


def explain(total: Measured) -> None:
    ours = total.outcomes[OURS]
    print(f"\nevidence that the asker may hear at all: {score.share(ours, score.hearable)}")
    for heading, measure in _SHOWN:
        by, low, high = score.interval(ours, total.outcomes[UNFILTERED], measure)
        print(f"{heading}: {by:+.1f} points against no filter, 95% {low:+.1f} to {high:+.1f}")
    for kind in ("privacy", "safety"):
        rules = Counter(rule for o in ours if o.query_type == kind for rule in o.rules)
        told = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
        print(f"rules that let a target through, {kind}: {told or 'none'}")
    went = total.deletions
    print(
        f"deletions: {went.requests} requests and records of them, {went.named} values named, "
        f"{went.erased} memories erased, {went.forgotten} forgotten, "
        f"{went.by_operator} erased by an operator, "
        f"{went.not_taken_in} later sentences not taken in; "
        f"{went.secrets} sentences refused as secrets"
    )
    for reason, count in sorted(went.stayed.items()):
        print(f"  out of reach: {count} copies, {reason}")


@contextmanager
def databases(which: str) -> Iterator[dict[str, str]]:
    """URLs of fresh databases by name, removed afterwards."""
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if which != "sqlite" and server is None:
        sys.exit("TACIT_TEST_POSTGRES is not set: run `make bench-gatemem`, or --database sqlite")
    with tempfile.TemporaryDirectory(prefix="tacit-gatemem-") as folder:
        urls = {} if which == "postgres" else {"sqlite": f"sqlite:///{folder}/tacit.db"}
        if which == "sqlite" or server is None:
            yield urls
            return
        postgres = PostgresDatabases(server)
        urls["postgresql"] = postgres.create()
        try:
            yield urls
        finally:
            postgres.drop(urls["postgresql"])
            postgres.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="GateMem on what is handed over")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder that holds gatemem/")
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--episodes", type=int, help="only so many of each domain")
    parser.add_argument("--no-operator", action="store_true", help="deletions by requesters alone")
    asked = parser.parse_args(arguments)
    try:
        found = {d: episodes(asked.data / "gatemem", d, asked.episodes) for d in DOMAINS}
    except MissingData as missing:
        print(missing, file=sys.stderr)
        return 2
    with databases(asked.database) as urls:
        totals = [run(name, url, found, operator=not asked.no_operator) for name, url in urls.items()]
    left = [score.share(total.outcomes[OURS], score.named_leak) for total in totals]
    missed = any(one.count for one in left)
    print(f"values that a request names, handed over later: target 0, {'MISSED' if missed else 'ok'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
