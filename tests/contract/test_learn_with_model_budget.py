"""What a space may spend on a model in a day: counted over processes, refused before it is sent."""

from collections.abc import Iterator

import pytest

from tacit import Message
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.lessons import contents, told
from tests.contract.processes import elsewhere
from tests.contract.rooms import ALICE, BOB, SetClock, private
from tests.contract.rows import rows
from tests.contract.scripted import GARDEN, GOOD, HEDGEHOGS, RADIOS, by_model, facts
from tests.llm.endpoint import Endpoint, serving
from tests.llm.replies import TOKENS, refuses, says

# One question fits, and while 48 tokens of it are spent another does not.
ONE_QUESTION_TOKENS = 9_000
_AGAIN = """
from tests.contract.scripted import by_model
own = tacit.open(url, clock=clock, embedder=None, settings=by_model({endpoint!r}))
private(own, BOB).learn([tacit.Message("user", {message!r})])
print(own.jobs.wait_for_learning())
own.close()
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        running.always = GOOD
        yield running


def used(memory: Memory) -> list[tuple[object, ...]]:
    found = "SELECT day, requests, tokens_in, tokens_out FROM llm_usage ORDER BY day"
    return [tuple(row) for row in rows(memory, found)]


def test_what_a_question_took_is_recorded(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    learning = opened(database_url, settings=by_model(endpoint))
    told(learning, private(learning, ALICE), HEDGEHOGS)
    told(learning, private(learning, BOB), RADIOS)
    # The second answer is about the first message: it is told so, which is a request as well.
    count = endpoint.count
    assert used(learning) == [("2026-03-01", count, count * TOKENS["in"], count * TOKENS["out"])]


def test_what_was_refused_costs_nothing(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    learning = opened(database_url, settings=by_model(endpoint))
    endpoint.always = refuses(429)
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert used(learning) == []


def test_a_day_without_budget_sends_nothing_and_is_no_failure(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    learning = opened(database_url, settings=by_model(endpoint, tokens_per_day=100))
    view = private(learning, ALICE)
    told(learning, view, HEDGEHOGS)
    assert endpoint.count == 0
    waiting = learning.jobs.pending()
    assert (waiting.turns, waiting.problems) == (1, ("LanguageOverBudget",))
    for _ in range(15):  # more often than a turn may fail
        clock.forward(seconds=3_601)
        learning.jobs.wait_for_learning()
    assert endpoint.count == 0
    assert learning.jobs.pending().parked == 0


def test_the_next_question_is_refused_once_the_day_is_spent(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    greedy = {"in": 40, "out": ONE_QUESTION_TOKENS}
    endpoint.always = says({"facts": [GARDEN]}, tokens=greedy)
    settings = by_model(endpoint, tokens_per_day=ONE_QUESTION_TOKENS)
    learning = opened(database_url, settings=settings)
    view = private(learning, ALICE)
    told(learning, view, HEDGEHOGS)
    assert contents(view) == [GARDEN["content"]]
    assert used(learning) == [("2026-03-01", 1, 40, ONE_QUESTION_TOKENS)]
    told(learning, view, RADIOS)
    assert endpoint.count == 1
    assert learning.jobs.pending().problems == ("LanguageOverBudget",)
    endpoint.always = facts()
    clock.forward(days=1)
    assert learning.jobs.wait_for_learning() == 1
    assert [row[0] for row in used(learning)] == ["2026-03-01", "2026-03-02"]


def test_money_is_a_bound_as_well(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    dear = by_model(endpoint, price_in_per_million=1_000, price_out_per_million=1_000, cost_per_day=0.001)
    learning = opened(database_url, settings=dear)
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert endpoint.count == 0
    assert learning.jobs.pending().problems == ("LanguageOverBudget",)


def test_a_space_does_not_spend_the_budget_of_another(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    greedy = {"in": 40, "out": ONE_QUESTION_TOKENS}
    endpoint.always = says({"facts": [GARDEN]}, tokens=greedy)
    settings = by_model(endpoint, tokens_per_day=ONE_QUESTION_TOKENS)
    learning = opened(database_url, settings=settings)
    other = learning.space("elsewhere")
    told(learning, private(learning, ALICE), HEDGEHOGS)
    view = private(other, ALICE)
    told(other, view, HEDGEHOGS)
    assert contents(view) == [GARDEN["content"]]
    assert endpoint.count == 2


def test_two_processes_add_up(endpoint: Endpoint, shared_url: str, opened: Open, clock: SetClock) -> None:
    learning = opened(shared_url, settings=by_model(endpoint))
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert used(learning) == [("2026-03-01", 1, TOKENS["in"], TOKENS["out"])]
    elsewhere(shared_url, clock, _AGAIN.format(endpoint=endpoint.url, message=HEDGEHOGS))
    count = endpoint.count
    assert count > 1
    assert used(learning) == [("2026-03-01", count, count * TOKENS["in"], count * TOKENS["out"])]


def test_what_is_left_is_seen_by_the_other_process(
    endpoint: Endpoint, shared_url: str, opened: Open, clock: SetClock
) -> None:
    greedy = {"in": 40, "out": ONE_QUESTION_TOKENS}
    endpoint.always = says({"facts": [GARDEN]}, tokens=greedy)
    elsewhere(shared_url, clock, _AGAIN.format(endpoint=endpoint.url, message=HEDGEHOGS))
    before = endpoint.count
    settings = by_model(endpoint, tokens_per_day=ONE_QUESTION_TOKENS)
    learning = opened(shared_url, settings=settings)
    view = private(learning, ALICE)
    assert view.learn([Message("user", HEDGEHOGS)])
    assert learning.jobs.wait_for_learning() == 0
    assert endpoint.count == before
    assert learning.jobs.pending().problems == ("LanguageOverBudget",)
