"""Rates: a bucket for each caller, which fills up again as time goes by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import TooManyRequests, limits
from tacit.server.authentication import RateLimiter


class Watch:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(limiter: RateLimiter, who: str, times: int, rate: int | None = None) -> int:
    """How many of so many requests were answered."""
    count = 0
    for _ in range(times):
        try:
            limiter.take(who, rate)
        except TooManyRequests:
            continue
        count += 1
    return count


def test_a_tenth_of_a_minute_comes_at_once_and_the_rest_by_and_by() -> None:
    watch = Watch()
    limiter = RateLimiter(600, clock=watch)
    assert asked(limiter, "a", 100) == 60
    watch.now += 1
    assert asked(limiter, "a", 100) == 10
    watch.now += 3_600
    assert asked(limiter, "a", 100) == 60


def test_a_refusal_says_when_to_ask_again_and_then_it_is_answered() -> None:
    watch = Watch()
    limiter = RateLimiter(2, clock=watch)
    limiter.take("a")
    with pytest.raises(TooManyRequests) as refused:
        limiter.take("a")
    assert refused.value.retry_after_seconds == 30
    watch.now += refused.value.retry_after_seconds
    limiter.take("a")


def test_each_caller_has_a_bucket_and_a_key_may_have_its_own_rate() -> None:
    limiter = RateLimiter(10, clock=Watch())
    assert asked(limiter, "a", 5) == 1
    assert asked(limiter, "b", 5) == 1
    assert asked(limiter, "c", 50, rate=100) == 10


def test_a_clock_that_goes_back_gives_nothing() -> None:
    watch = Watch()
    limiter = RateLimiter(60, clock=watch)
    assert asked(limiter, "a", 10) == 6
    watch.now -= 1_000
    assert asked(limiter, "a", 10) == 0


def test_buckets_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATE_BUCKETS_MAX_COUNT", 3)
    limiter = RateLimiter(600, clock=Watch())
    for who in range(10):
        limiter.take(str(who))
    assert len(limiter._buckets) == 3


@given(st.integers(1, 1_000), st.lists(st.floats(0, 20), max_size=60))
def test_no_minute_has_more_than_its_rate_and_a_burst(rate: int, pauses: list[float]) -> None:
    watch = Watch()
    limiter = RateLimiter(rate, clock=watch)
    answered: list[float] = []
    for pause in pauses:
        watch.now += pause
        answered += [watch.now] * asked(limiter, "a", 3)
    for start in answered:
        within = [at for at in answered if start <= at < start + 60]
        assert len(within) <= rate + max(1, rate * limits.RATE_BURST_SHARE)
