"""What a space may spend in a day: pure sums, and a refusal before anything is sent."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import LanguageBadAnswer, LanguageOverBudget, LanguageUnavailable
from tacit.llm.budget import Allowance, Budget, Prices, Usage
from tacit.llm.endpoint import EndpointModel
from tests.llm.asking import ASKED, GOOD, MEANT, TEXT, TODAY, WRONG, Build, Facts, Notebook, assert_nothing_told
from tests.llm.endpoint import Api, Endpoint, Reply, serving
from tests.llm.replies import refuses, says

PRICES = Prices(in_per_million=0.15, out_per_million=0.6)


def budget(ledger: Notebook, allowance: Allowance | None = None, space: str = "home") -> Budget:
    return Budget(space=space, day=TODAY, allowance=allowance or Allowance(), ledger=ledger)


def ask(model: EndpointModel, budget: Budget) -> Usage:
    answer = model.ask(ASKED, TEXT, Facts, budget=budget)
    assert answer.value == MEANT
    return answer.usage


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "micros"),
    [(0, 0, 0), (20, 0, 3), (1, 0, 1), (0, 1, 1), (1_000_000, 1_000_000, 750_000)],
)
def test_a_price_per_million_is_counted_exactly_and_rounded_up(tokens_in: int, tokens_out: int, micros: int) -> None:
    assert PRICES.usage(tokens_in, tokens_out).cost_micros == micros


@given(allowed=st.integers(0, 1_000), spent=st.integers(0, 2_000), estimate=st.integers(0, 2_000))
def test_what_is_covered_never_exceeds_what_is_allowed(allowed: int, spent: int, estimate: int) -> None:
    before, more = Usage(tokens_in=spent), Usage(tokens_out=estimate)
    covered = Allowance(tokens_per_day=allowed).find_shortfall(before, more) is None
    assert covered == (estimate <= max(0, allowed - spent))
    before, more = Usage(cost_micros=spent), Usage(cost_micros=estimate)
    covered = Allowance(cost_micros_per_day=allowed).find_shortfall(before, more) is None
    assert covered == (estimate <= max(0, allowed - spent))
    assert Allowance().find_shortfall(before, more) is None


def test_what_was_used_is_recorded_for_the_space_and_the_day(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    endpoint.script = [refuses(500), says(WRONG), says(GOOD)]
    used = ask(build(api, prices=PRICES), budget(ledger))
    assert used == Usage(tokens_in=80, tokens_out=16, cost_micros=2 * 11)  # 40 × 0.15 + 8 × 0.6
    assert ledger.spent("home", TODAY) == used
    assert ledger.spent("home", TODAY + timedelta(days=1)) == Usage()
    assert ledger.spent("work", TODAY) == Usage()


@pytest.mark.parametrize("allowed", [Allowance(tokens_per_day=2_700), Allowance(cost_micros_per_day=1_300)])
def test_a_question_that_the_rest_does_not_cover_is_not_sent(
    allowed: Allowance, api: Api, build: Build, endpoint: Endpoint
) -> None:
    ledger = Notebook()
    model = build(api, prices=PRICES, max_output_tokens=1_000)
    endpoint.always = says(GOOD, tokens={"in": 1_000, "out": 900})
    ask(model, budget(ledger, allowed))
    with pytest.raises(LanguageOverBudget, match="tokens_per_day or") as caught:
        ask(model, budget(ledger, allowed))
    assert_nothing_told(str(caught.value))
    assert endpoint.count == 1
    ask(model, budget(ledger, allowed, "work"))  # another space has its own
    assert endpoint.count == 2


def test_a_repair_and_a_retry_are_covered_as_well_or_not_sent(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    endpoint.always = says(WRONG, tokens={"in": 2_000, "out": 400})
    with pytest.raises(LanguageOverBudget):
        ask(build(api, max_output_tokens=1_000), budget(ledger, Allowance(tokens_per_day=3_000)))
    assert endpoint.count == 1
    assert ledger.spent("home", TODAY).tokens == 2_400


def test_nothing_allowed_is_nothing_sent(build: Build, endpoint: Endpoint) -> None:
    with pytest.raises(LanguageOverBudget):
        ask(build(), budget(Notebook(), Allowance(tokens_per_day=0)))
    assert endpoint.count == 0


def test_a_bad_answer_is_paid_for_too(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    endpoint.always = says(WRONG)
    with pytest.raises(LanguageBadAnswer):
        ask(build(api), budget(ledger))
    assert ledger.spent("home", TODAY) == Usage(tokens_in=80, tokens_out=16)


def test_a_server_that_does_not_count_is_counted_for_on_the_safe_side(
    api: Api, build: Build, endpoint: Endpoint
) -> None:
    ledger = Notebook()
    endpoint.always = says(GOOD, tokens=None)
    ask(build(api), budget(ledger))
    spent = ledger.spent("home", TODAY)
    assert spent.tokens_in > len(ASKED + TEXT)
    assert spent.tokens_out >= len(str(GOOD))


def test_what_was_sent_and_never_answered_may_have_cost_something(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    endpoint.always = Reply(hangs=True)
    with pytest.raises(LanguageUnavailable):
        ask(build(api, timeout_seconds=0.3), budget(ledger))
    assert ledger.spent("home", TODAY).tokens_in > 0
    assert ledger.spent("home", TODAY).tokens_out == 0


def test_what_was_refused_or_never_arrived_costs_nothing(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    endpoint.always = refuses(503)
    with pytest.raises(LanguageUnavailable):
        ask(build(api), budget(ledger))
    with serving() as gone:
        url = gone.url
    with pytest.raises(LanguageUnavailable):
        ask(build(api, base_url=url), budget(ledger))
    assert ledger.spent("home", TODAY) == Usage()
