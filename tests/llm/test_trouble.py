"""An endpoint on every kind of bad day: a bounded number of requests, a typed error, no leak."""

import json
import random
from datetime import timedelta
from email.utils import format_datetime

import pytest

from tacit import limits
from tacit.errors import LanguageBadAnswer, LanguageFailed, LanguageRefused, LanguageUnavailable
from tacit.llm.endpoint import EndpointModel
from tests.llm.asking import GOOD, KEY, MEANT, NOON, TEXT, WRONG, Build, asked, failure
from tests.llm.endpoint import Api, Endpoint, Reply, Seen, Step, answered, serving
from tests.llm.replies import half, refuses, says

# What is not of the API's form at all, or broke off.
BROKEN: dict[str, Step] = {
    "a page": Reply(body=b"<html>secret</html>"),
    "nothing": Reply(),
    "a list": Reply(body=b"[]"),
    "an empty object": Reply(body=b"{}"),
    "no choice": Reply(body=b'{"choices": [], "content": [], "usage": null}'),
    "odd types": Reply(body=b'{"choices": {"a": 1}, "content": 7, "usage": "much"}'),
    "not text": Reply(body=b"\xff\xfe\x00"),
    "very deep": Reply(body=b"[" * 100_000),
    "deep inside": Reply(body=b'{"choices": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"),
    "half of it": half(says(GOOD)),
    "broken off": Reply(body=b'{"choices": [', cuts=True),
    "reset": Reply(body=b'{"choices": [' * 100, resets=True),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_is_no_answer_at_all_is_asked_for_again_up_to_a_bound(
    broken: Step, api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    endpoint.always = broken
    model = build(api, retries=2, output="tool")
    assert "check language." in str(failure(model, LanguageUnavailable))
    assert (endpoint.count, len(pauses)) == (3, 2)
    endpoint.script = [broken]
    endpoint.always = says(GOOD)
    assert asked(model).value == MEANT


@pytest.mark.parametrize("output", ["tool", "schema", "prompt"])
def test_an_answer_of_the_wrong_schema_is_given_up_after_one_repair(
    output: str, api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    endpoint.always = says(WRONG)
    failure(build(api, output=output), LanguageBadAnswer)
    assert (endpoint.count, pauses) == (2, [])


@pytest.mark.parametrize("output", ["tool", "schema", "prompt"])
def test_json_that_is_cut_off_is_asked_for_again_and_shorter(
    output: str, api: Api, build: Build, endpoint: Endpoint
) -> None:
    endpoint.always = says('{"facts": [{"content": "my secret', stop="length")
    failure(build(api, output=output), LanguageBadAnswer)
    assert endpoint.count == 2
    assert "shorter: it was cut off" in endpoint.seen[1].said


def test_reading_ends_where_an_answer_is_too_long_and_not_where_it_ends(
    api: Api, build: Build, endpoint: Endpoint
) -> None:
    endpoint.always = Reply(endless=True)
    failure(build(api), LanguageBadAnswer)
    assert endpoint.hung_up.wait(60)
    assert endpoint.count == 1


@pytest.mark.parametrize("slow", [Reply(hangs=True), Reply(drips=True)], ids=["hangs", "drips"])
def test_a_question_takes_no_longer_than_it_may(slow: Reply, api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = slow
    warm_up(build(api), endpoint)  # the library is imported outside the time of a question
    error = failure(build(api, timeout_seconds=1.0), LanguageUnavailable)
    assert "in time" in str(error)
    assert endpoint.count == 2


def test_the_time_is_of_all_tries_together(api: Api, build: Build, endpoint: Endpoint, pauses: list[float]) -> None:
    warm_up(build(api), endpoint)
    endpoint.script = [refuses(500), says(WRONG)]
    endpoint.always = Reply(hangs=True)
    model = build(api, timeout_seconds=4.0, pause=lambda _: None)
    assert "in time" in str(failure(model, LanguageUnavailable))
    assert endpoint.count == 4


def warm_up(model: EndpointModel, endpoint: Endpoint) -> None:
    endpoint.script.insert(0, says(GOOD))
    asked(model)


def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(
    api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    date = format_datetime(NOON + timedelta(seconds=11), usegmt=True)
    endpoint.script = [
        refuses(429, headers={"retry-after": "7"}),
        refuses(503, headers={"retry-after": date}),
        refuses(529, headers={"retry-after": "soon"}),
        says(GOOD),
    ]
    answer = asked(build(api, retries=3))
    assert (answer.value, answer.attempts) == (MEANT, 4)
    assert 7 <= pauses[0] <= 7.1
    assert 11 <= pauses[1] <= 11.1
    assert 0 < pauses[2] <= limits.LANGUAGE_BACKOFF_SECONDS * 4


def test_an_endpoint_that_asks_for_longer_than_there_is_time_is_left_alone(
    api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    endpoint.always = refuses(429, headers={"retry-after": "60"})
    error = failure(build(api), LanguageUnavailable)
    assert error.retry_after_seconds == 60
    assert (endpoint.count, pauses) == (1, [])


def test_failures_are_borne_up_to_a_bound_with_growing_pauses(
    api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    endpoint.always = refuses(500)
    assert "(500, some_error) failed" in str(failure(build(api, retries=3), LanguageUnavailable))
    assert endpoint.count == 4
    for number, pause in enumerate(pauses):
        longest = limits.LANGUAGE_BACKOFF_SECONDS * 2**number
        assert longest / 2 <= pause <= longest


@pytest.mark.parametrize(
    ("status", "code", "says_what"),
    [
        (401, "invalid_api_key", "language.api_key_env"),
        (402, "billing_error", "look at the account"),
        (403, "permission_error", "what it may be used for"),
        (404, "model_not_found", "language.model"),
        (413, "request_too_large", "reads more"),
        (418, "", "language.base_url"),
        (429, "insufficient_quota", "look at the account"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_check(
    status: int, code: str, says_what: str, api: Api, build: Build, endpoint: Endpoint
) -> None:
    endpoint.always = refuses(status, code, message=f"{KEY} cannot read {TEXT}")
    error = failure(build(api), LanguageRefused)
    assert says_what in str(error)
    assert str(status) in str(error)
    assert endpoint.count == 1


@pytest.mark.parametrize("status", [400, 422])
def test_a_request_that_is_not_understood_is_put_in_every_form_once(
    status: int, api: Api, build: Build, endpoint: Endpoint, pauses: list[float]
) -> None:
    endpoint.always = refuses(status, "invalid_request_error", message=KEY)
    failure(build(api), LanguageRefused)
    forms = [seen.form for seen in endpoint.seen]
    assert len(forms) == len(set(forms)) == {"openai": 3, "anthropic": 2}[api]
    assert pauses == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int, api: Api, build: Build, endpoint: Endpoint) -> None:
    with serving() as elsewhere:
        elsewhere.always = says(GOOD)
        path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[api]
        endpoint.always = Reply(status=status, headers={"location": elsewhere.url + path})
        error = failure(build(api), LanguageRefused)
        assert "sends us elsewhere" in str(error)
        assert (endpoint.count, elsewhere.count) == (1, 0)


def test_nobody_there_is_worth_a_retry(api: Api, build: Build, pauses: list[float]) -> None:
    with serving() as gone:
        url = gone.url
    error = failure(build(api, base_url=url), LanguageUnavailable)
    assert "cannot be reached" in str(error)
    assert len(pauses) == limits.LANGUAGE_RETRIES_DEFAULT_COUNT


def test_a_model_that_declines_is_not_pressed(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says("I cannot help with my secret", stop="filter")
    assert "declined" in str(failure(build(api, output="prompt"), LanguageBadAnswer))
    assert endpoint.count == 1


def test_a_compressed_answer_is_not_unpacked(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = Reply(body=b"\x1f\x8b", headers={"content-encoding": "gzip"})
    assert "compressed" in str(failure(build(api), LanguageRefused))
    assert endpoint.count == 1


@pytest.mark.parametrize("number", [-5, 10**18, 10**400, "many", 3.5, None])
def test_an_odd_count_of_tokens_is_not_believed(number: object, build: Build, api: Api, endpoint: Endpoint) -> None:
    def odd(seen: Seen) -> Reply:
        body = json.loads(answered(says(GOOD), seen).body)
        body["usage"] = dict.fromkeys(body["usage"], number)
        return Reply(body=json.dumps(body).encode())

    endpoint.always = odd
    try:
        usage = asked(build(api)).usage
    except LanguageUnavailable:
        return  # not of the API's form, says the library
    assert 0 <= usage.tokens <= 2 * limits.LANGUAGE_TOKENS_MAX_COUNT


@pytest.mark.parametrize("seed", range(5))
def test_whatever_comes_in_whatever_order_the_requests_are_bounded(
    seed: int, api: Api, build: Build, endpoint: Endpoint
) -> None:
    chance = random.Random(seed)
    days: list[Step] = [
        *BROKEN.values(),
        *(refuses(status) for status in (400, 401, 404, 422, 429, 500, 501, 503)),
        refuses(500, message="tools need jinja"),
        says(WRONG),
        says("secret"),
        says(GOOD),
    ]
    retries = 3
    most = 1 + retries + limits.LANGUAGE_REPAIRS_MAX_COUNT * 3 + 2
    model = build(api, retries=retries, timeout_seconds=60.0)
    for _ in range(10):
        before = endpoint.count
        endpoint.script = [chance.choice(days) for _ in range(20)]
        told = ""
        try:
            assert asked(model).value == MEANT
        except LanguageFailed as error:
            told = str(error)
        assert "secret" not in told
        assert endpoint.count - before <= most
