"""Consolidation with a model: what it may say, what is believed, how often it is asked."""

from collections.abc import Iterator

import pytest

from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.lessons import contents
from tests.contract.rooms import ALICE, SetClock, kept, private
from tests.contract.tidying import ALL_DIFFERENT, ALL_THE_SAME, asked_about, judging, tidy
from tests.llm.endpoint import Endpoint, serving

TEA = "I drink green tea in the morning"
ALSO_TEA = "In the morning it is green tea that I drink"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        running.always = ALL_THE_SAME
        yield running


@pytest.fixture
def tidied(endpoint: Endpoint, database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=tidy(endpoint))


def test_a_model_says_what_is_the_same_in_other_words(endpoint: Endpoint, tidied: Memory, clock: SetClock) -> None:
    view = private(tidied, ALICE)
    kept(view, TEA)
    clock.forward(seconds=1)
    new = kept(view, ALSO_TEA)
    done = tidied.jobs.consolidate()
    assert (done.merged, done.certain, done.pairs, done.asked) == (1, 0, 1, 1)
    assert [one.id for one in view.list().items] == [new]
    assert asked_about(endpoint.seen[0]) == [(TEA, ALSO_TEA)]


def test_what_a_model_calls_different_or_an_update_stays(endpoint: Endpoint, tidied: Memory, clock: SetClock) -> None:
    view = private(tidied, ALICE)
    kept(view, TEA)
    kept(view, ALSO_TEA)
    for verdict in ("different", "updates"):
        endpoint.always = judging(lambda _, __, verdict=verdict: verdict)  # type: ignore[misc]
        assert tidied.jobs.consolidate().merged == 0
        clock.forward(days=15)
    assert len(view.list()) == 2


def test_an_older_one_that_says_more_keeps_its_wording(tidied: Memory, clock: SetClock) -> None:
    view = private(tidied, ALICE)
    kept(view, "The green bike has 21 gears and hangs in the cellar")
    clock.forward(seconds=1)
    kept(view, "The green bike hangs in the cellar")
    tidied.jobs.consolidate()
    assert contents(view) == ["The green bike has 21 gears and hangs in the cellar"]


def test_two_notes_with_numbers_of_their_own_are_not_the_same_whatever_a_model_says(tidied: Memory) -> None:
    view = private(tidied, ALICE)
    kept(view, "The rent of the flat in town is 800 euros")
    kept(view, "The rent of the flat in town is 900 euros")
    assert tidied.jobs.consolidate().merged == 0
    assert len(view.list()) == 2


def test_meaning_nominates_where_there_are_vectors(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    table = Table({"tea": [1, 0.1], "chai": [1, 0.2], "boat": [0, 1]})
    memory = opened(database_url, settings=tidy(endpoint), embedder=table)
    view = private(memory, ALICE)
    for text in ("tea first", "some chai", "a boat"):
        kept(view, text)
        clock.forward(seconds=1)
    assert memory.jobs.consolidate().merged == 1
    assert asked_about(endpoint.seen[0]) == [("tea first", "some chai")]
    assert contents(view) == ["a boat", "some chai"]


def test_a_pair_is_asked_about_once_in_a_while(endpoint: Endpoint, tidied: Memory, clock: SetClock) -> None:
    endpoint.always = ALL_DIFFERENT
    view = private(tidied, ALICE)
    first = kept(view, TEA)
    kept(view, ALSO_TEA)
    for days, count in ((0, 1), (1, 1), (12, 1)):
        clock.forward(days=days)
        tidied.jobs.consolidate()
        assert endpoint.count == count
    view.pin(first)  # another field is no other wording
    tidied.jobs.consolidate()
    assert endpoint.count == 1
    clock.forward(seconds=1)
    view.update(first, f"{TEA} and at noon")
    tidied.jobs.consolidate()
    assert endpoint.count == 2
    clock.forward(days=15)
    tidied.jobs.consolidate()
    assert endpoint.count == 3


def test_pairs_go_in_handfuls_and_no_more_than_so_many_a_day(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    endpoint.always = ALL_DIFFERENT
    memory = opened(database_url, settings=tidy(endpoint, pairs_per_day=13))
    view = private(memory, ALICE)
    for number in range(7):  # 21 pairs
        kept(view, f"The green parrot number {number} sings in the morning")
    done = memory.jobs.consolidate()
    assert (done.pairs, done.asked) == (13, 2)
    assert [len(asked_about(seen)) for seen in endpoint.seen] == [10, 3]
    assert memory.jobs.consolidate().pairs == 0
    clock.forward(days=1)
    assert memory.jobs.consolidate().pairs == 8


def test_what_was_recalled_least_and_matters_little_is_left_alone(
    endpoint: Endpoint, tidied: Memory, clock: SetClock
) -> None:
    view = private(tidied, ALICE)
    kept(view, TEA, importance=1)
    kept(view, ALSO_TEA, importance=1)
    clock.forward(days=4)
    assert tidied.jobs.consolidate().pairs == 0
    for _ in range(3):
        view.recall("green tea")
    assert tidied.jobs.consolidate().pairs == 1


def test_what_is_long_past_is_left_alone(tidied: Memory, clock: SetClock) -> None:
    view = private(tidied, ALICE)
    kept(view, TEA, importance=5)
    kept(view, ALSO_TEA, importance=5)
    clock.forward(days=91)
    assert tidied.jobs.consolidate().pairs == 0


def test_switched_off_it_does_nothing(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=tidy(endpoint, consolidate=False))
    for _ in range(2):
        kept(private(memory, ALICE), "I like tea")
    done = memory.jobs.consolidate()
    assert (done.merged, endpoint.count) == (0, 0)
    assert "consolidate.enabled" in done.skipped
