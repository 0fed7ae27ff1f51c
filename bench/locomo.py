"""How often the turn that answers is among the first turns recalled: `make bench-locomo`.

    python bench/locomo.py [--data ../shared/data]

Every conversation of LoCoMo is recorded through the public API and asked its questions, on SQLite
and on PostgreSQL (the server in TACIT_TEST_POSTGRES), beside plain rankings of the same turns. No
language model takes part. "any" is the share of questions with at least one gold turn among the
first k, "fraction" the mean share of gold turns there, both in percent.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import tacit
from bench.locomo_baselines import baselines, top
from bench.locomo_data import ADVERSARIAL, CATEGORIES, Conversation, MissingData, Question, load
from bench.locomo_scores import KS, Outcome, answerable, outcome, paired_bootstrap
from bench.tables import table
from bench.vectors import Once, default_embedder
from tacit import limits
from tacit.settings import Settings
from tacit.settings.sections import MemorySettings, SessionsSettings
from tests.databases import PostgresDatabases

TOP = max(KS)
ANY_AT_10_TARGET = 88.0
# The best any/fraction that was measured on these conversations before this code existed.
BEFORE = {5: (77.6, 70.4), 10: (85.4, 78.7), 20: (89.7, 84.0)}
BEFORE_ON = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43")

Found = list[list[str]]  # for each question the ids of turns, best first


def recalled(url: str, talks: Sequence[Conversation], embedder: Once) -> Found:
    """One store for all: each conversation is the private chat of a person of its own."""
    end = max(turn.at for talk in talks for turn in talk.turns) + timedelta(days=1)
    sessions = SessionsSettings(keep=True, retention_days=limits.TTL_MAX_DAYS)
    kept = Settings(memory=MemorySettings(sessions=sessions))
    with tacit.open(url, settings=kept, embedder=embedder, clock=lambda: end) as memory:
        views = [_recorded(memory, n, talk) for n, talk in enumerate(talks)]
        return [_asked(view, question) for view, talk in zip(views, talks, strict=True) for question in talk.questions]


def _recorded(memory: tacit.Memory, n: int, talk: Conversation) -> tacit.View:
    key = f"telegram:{1_000 + n}"
    view = memory.view(tacit.Requester(key), tacit.Chat.private(key))
    assert isinstance(view, tacit.View)
    for session, turns in groupby(talk.turns, key=lambda turn: turn.session):
        said = [tacit.Message("user", turn.text, name=turn.speaker, at=turn.at, id=turn.id) for turn in turns]
        view.record(said, session=session)
    memory.admin.reembed()  # many at a time are embedded later
    return view


def _asked(view: tacit.View, question: Question) -> list[str]:
    found = view.recall(question.text, top_k=TOP, include=("turns",))
    return [one.memory.source.message or "" for one in found]


def ranked(talks: Sequence[Conversation], embedder: Once) -> dict[str, Found]:
    """The baselines, by name."""
    found: dict[str, Found] = {}
    for talk in talks:
        for name, scores in baselines(talk, embedder).items():
            found.setdefault(name, []).extend(top(scores, talk.turns, TOP))
    return found


def show(talks: Sequence[Conversation], ours: Mapping[str, Found], others: dict[str, Found]) -> int:
    """Prints every table; how many targets were missed."""
    questions = [question for talk in talks for question in talk.questions]
    methods = {name: outcome(found, questions) for name, found in {**ours, **others}.items()}
    told = answerable(questions)
    print(_described(talks), end="\n\n")
    _overall("Questions with an answer (categories 1 to 4), any/fraction", methods, told)
    _by_category(methods, questions)
    for name in ours:
        _in_detail(name, methods[name], questions)
    _overall("Adversarial questions (category 5), any/fraction", methods, ~told)
    missed = 0
    for name in ours:
        _against_the_best(name, methods, list(others), told)
        if tuple(talk.name for talk in talks) == BEFORE_ON:
            missed += _against_before(name, methods[name], told)
    _alike(ours)
    return missed


def _described(talks: Sequence[Conversation]) -> str:
    def total(count: Callable[[Conversation], int]) -> int:
        return sum(map(count, talks))

    return (
        f"{len(talks)} conversations, {total(lambda t: len(t.turns)):,} turns, "
        f"{total(lambda t: len(t.questions)):,} questions; evidence strings: "
        f"{total(lambda t: t.repaired)} malformed but read, {total(lambda t: t.unknown)} that name "
        f"no turn; {total(lambda t: t.left_out)} questions left out, as they have no evidence"
    )


def _overall(title: str, methods: Mapping[str, Outcome], chosen: np.ndarray) -> None:
    if not chosen.any():
        return
    headings = [f"{title} ({int(chosen.sum())})", *(f"@{k}" for k in KS)]
    rows = [[name, *(one.at(k, chosen) for k in KS)] for name, one in methods.items()]
    print(table(headings, rows), end="\n\n")


def _by_category(methods: Mapping[str, Outcome], questions: Sequence[Question]) -> None:
    chosen = _chosen(questions)
    headings = ["By category, any/fraction @10", *(CATEGORIES[number] for number in chosen)]
    rows = [[name, *(one.at(10, rows) for rows in chosen.values())] for name, one in methods.items()]
    print(table(headings, rows), end="\n\n")


def _in_detail(name: str, one: Outcome, questions: Sequence[Question]) -> None:
    headings = [f"{name} by category, any/fraction", "questions", *(f"@{k}" for k in KS)]
    rows = [
        [CATEGORIES[number], str(int(rows.sum())), *(one.at(k, rows) for k in KS)]
        for number, rows in _chosen(questions).items()
    ]
    print(table(headings, rows), end="\n\n")


def _chosen(questions: Sequence[Question]) -> dict[int, np.ndarray]:
    categories = np.array([question.category for question in questions])
    found = {number: categories == number for number in CATEGORIES if number != ADVERSARIAL}
    return {number: rows for number, rows in found.items() if rows.any()}


def _against_the_best(name: str, methods: Mapping[str, Outcome], others: Sequence[str], told: np.ndarray) -> None:
    rows = []
    for column, k in enumerate(KS):
        for measure in ("any", "fraction"):
            values = {n: getattr(one, measure)[told, column] for n, one in methods.items()}
            best = max(others, key=lambda n: float(values[n].mean()))
            interval = paired_bootstrap(values[name], values[best])
            shown = f"{values[best].mean():.1f}"
            rows.append([f"{measure} @{k}", f"{values[name].mean():.1f}", shown, str(interval), best])
    headings = [f"{name} against the best baseline", "ours", "best", "difference [95%]", "which"]
    print(table(headings, rows), end="\n\n")


def _against_before(name: str, one: Outcome, told: np.ndarray) -> int:
    """What was promised: better than what was measured before, and a figure to aim at."""
    missed = 0
    for column, k in enumerate(KS):
        for measure, bound in zip(("any", "fraction"), BEFORE[k], strict=True):
            found = float(getattr(one, measure)[told, column].mean())
            bad = found <= bound
            missed += bad
            verdict = "MISSED" if bad else "ok"
            print(f"{name}: {measure} @{k} {found:.1f}, before {bound:.1f}  {verdict}")
    found = float(one.any[told, KS.index(10)].mean())
    bad = found < ANY_AT_10_TARGET
    verdict = "MISSED" if bad else "ok"
    print(f"{name}: any @10 {found:.1f}, target >= {ANY_AT_10_TARGET:g}  {verdict}", end="\n\n")
    return missed + bad


def _alike(ours: Mapping[str, Found]) -> None:
    if len(ours) == 2:
        one, other = ours.values()
        same = sum(a == b for a, b in zip(one, other, strict=True))
        print(f"Both databases gave the same turns in the same order for {same} of {len(one)}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="recall of gold evidence on LoCoMo")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    asked = parser.parse_args(arguments)
    try:
        talks = load(asked.data)
    except MissingData as missing:
        print(missing, file=sys.stderr)
        return 2
    server = os.environ.get("TACIT_TEST_POSTGRES")
    start = time.monotonic()
    embedder = Once(default_embedder())
    ours: dict[str, Found] = {}
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        ours["Tacit on SQLite"] = recalled(f"sqlite:///{folder}/tacit.db", talks, embedder)
    if server is not None:
        databases = PostgresDatabases(server)
        url = databases.create()
        try:
            ours["Tacit on PostgreSQL"] = recalled(url, talks, embedder)
        finally:
            databases.drop(url)
            databases.close()
    missed = show(talks, ours, ranked(talks, embedder))
    embedder.close()
    print(f"{time.monotonic() - start:.0f} s, {missed} targets missed")
    if server is None:
        print("PostgreSQL was not measured, TACIT_TEST_POSTGRES is not set: run `make bench-locomo`")
    return int(bool(missed) or server is None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
