"""SQLite and PostgreSQL bring the same to mind, in the same order, for the same reasons."""

from itertools import product
from pathlib import Path
from typing import Any

import tacit
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.embedders import minilm
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, LENT, SetClock, group, private

TOLERANCE = 1e-3  # of scores; where two are closer than that, either may come first
PEOPLE = ["Sarah", "Tom", "my sister", "our neighbour", "Dr. Weiß", "Yuki"]
THINGS = [
    "plays the piano on Sunday mornings", "moved to Lisbon in March 2025",
    "is allergic to peanuts and shellfish", "works as a nurse at the children's hospital",
    "adopted two cats called Miso and Pepper", "wants to run the Berlin marathon in autumn",
    "prefers tea over coffee in the afternoon", "is learning Japanese, 日本語を勉強しています",
    "has a dentist appointment on 12 May 2026", "lost the keys of the garden shed",
    "cooks crème brûlée for every birthday",
]  # fmt: skip
QUESTIONS = [
    "who plays an instrument?", "where does Sarah live now?", "what can't Tom eat?",
    "any food allergies?", "who works in healthcare?", "what are the names of the cats?",
    "pets", "sport plans for this year", "what should I offer to drink?", "languages",
    "日本語", "when is the dentist appointment?", "what happened in March 2025?",
    "did anybody lose something?", "dessert for a birthday", "creme brulee", "Dr. Weiß",
    "what does Yuki like?", "my sister", "our neighbour's job", "piano", "marathon in Berlin",
    "who is allergic to shellfish and drinks tea?", "garden", "AND OR NOT \"keys\"", "🍰",
    "what is going on in autumn?", "hospital", "appointments in May", "zzz nothing like it",
]  # fmt: skip


def fill(memory: Memory, clock: SetClock) -> None:
    own, here = private(memory, ALICE), group(memory, BOB, here=(ALICE, BOB, CAROL))
    for number, (who, what) in enumerate(product(PEOPLE, THINGS)):
        weight: Any = {"importance": number % 5 + 1, "pinned": number % 17 == 0}
        own.remember(f"{who} {what}", about=[who] if number % 2 else None, **weight)
        own.remember(f"{who} probably {what}", kind="insight" if number % 3 else "event", **LENT)
        here.remember(f"{who} said: {what}", about=[who] if number % 4 == 0 else None, **ALOUD)
        clock.forward(days=0.1)
    own.put("profile", "timezone", "Europe/Lisbon")
    own.remember("To restart the router, hold its button", kind="procedure")


Told = list[list[tuple[str, float, float, str, str, tuple[str, ...]]]]


def told(memory: Memory) -> Told:
    views = [
        private(memory, ALICE),
        private(memory, CAROL),
        group(memory, BOB, here=(ALICE, BOB, CAROL)),
        group(memory, ALICE, here=(ALICE, BOB, CAROL), complete=True),
    ]
    return [
        [
            (
                one.memory.content,
                one.score,
                one.similarity,
                one.why,
                one.rule,
                tuple(sorted(other.content for other in one.related)),
            )
            for one in view.recall(question, top_k=10)
        ]
        for view in views
        for question in QUESTIONS
    ]


def same(one: Told, other: Told) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert len(mine) == len(theirs)
        for (_, score, *_), (_, their_score, *_) in zip(mine, theirs, strict=True):
            assert abs(score - their_score) <= TOLERANCE
        scores = {content: score for content, score, *_ in theirs}
        least = mine[-1][1] if mine else 0.0
        for content, score, similarity, why, rule, _ in mine:
            if content not in scores:  # cut off among equals
                assert score - least <= TOLERANCE
                continue
            assert abs(score - scores[content]) <= TOLERANCE
            match = next(theirs_one for theirs_one in theirs if theirs_one[0] == content)
            assert abs(similarity - match[2]) <= TOLERANCE
            assert (why, rule) == match[3:5]


def test_both_databases_bring_the_same_to_mind(
    tmp_path: Path, migrated_postgres_url: str, opened: Open, clock: SetClock
) -> None:
    start, answers = clock.now, []
    for url in (f"sqlite:///{tmp_path / 'tacit.db'}", migrated_postgres_url):
        clock.now = start
        memory = opened(url, embedder=minilm())
        fill(memory, clock)
        answers.append(told(memory))
    lite, postgres = answers
    assert sum(len(one) for one in lite) > 500
    same(lite, postgres)
    same(postgres, lite)


def test_a_database_agrees_with_itself_once_it_starts_again(tmp_path: Path, opened: Open, clock: SetClock) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    memory = opened(url, embedder=minilm())
    fill(memory, clock)
    before = told(memory)
    memory.close()
    assert told(opened(url, embedder=minilm())) == before


def test_without_a_model_the_databases_agree_to_the_last_digit(
    tmp_path: Path, migrated_postgres_url: str, opened: Open, clock: SetClock
) -> None:
    start, answers = clock.now, []
    for url in (f"sqlite:///{tmp_path / 'tacit.db'}", migrated_postgres_url):
        clock.now = start
        memory = opened(url)
        fill(memory, clock)
        answers.append([[(score, similarity) for _, score, similarity, *_ in one] for one in told(memory)])
    assert answers[0] == answers[1]


def test_a_space_of_its_own_changes_no_score(opened: Open, clock: SetClock) -> None:
    """What somebody else keeps is in no figure that ranking goes by."""
    memory = opened("sqlite://")
    view = private(memory, ALICE)
    for what in THINGS:
        view.remember(f"Tom {what}")
    before = [[(one.memory.id, one.score) for one in view.recall(q)] for q in QUESTIONS]
    stranger = private(memory, tacit.Requester("telegram:3003"))
    for what in THINGS:
        stranger.remember(f"Tom {what} and much more than that")
    fill(memory.space("another"), clock)
    clock.now = SetClock().now
    assert [[(one.memory.id, one.score) for one in view.recall(q)] for q in QUESTIONS] == before
