"""A model asked over real HTTP: every form of output, repairs, threads and loops."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pydantic import BaseModel, Field

from tacit.errors import InvalidInput, LanguageUnavailable
from tacit.llm.budget import Usage
from tests.llm.asking import ASKED, GOOD, KEY, MEANT, TEXT, WRONG, Build, asked, failure
from tests.llm.endpoint import Api, Endpoint, Reply, Step
from tests.llm.replies import only, refuses, says, talks


@pytest.mark.parametrize("output", ["auto", "tool", "schema", "prompt"])
def test_an_answer_is_typed_and_says_what_it_took(output: str, api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    answer = asked(build(api, output=output))
    assert answer.value == MEANT
    assert answer.usage == Usage(tokens_in=40, tokens_out=8)
    assert (answer.model, answer.attempts, endpoint.count) == ("tiny", 1, 1)
    if output != "auto":
        assert endpoint.seen[0].form == output


def test_material_stands_apart_from_instructions(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    asked(build(api))
    body = endpoint.seen[0].body
    user = [message for message in body["messages"] if message["role"] == "user"]
    rest = [body.get("system"), [m for m in body["messages"] if m["role"] != "user"]]
    assert TEXT in str(user)
    assert ASKED not in str(user)
    assert ASKED in str(rest)
    assert TEXT not in str(rest)


def test_the_key_goes_where_the_api_wants_it_and_nothing_of_the_environment_goes_along(
    api: Api, build: Build, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-more: from-the-environment")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    endpoint.always = says(GOOD)
    asked(build(api))
    headers = endpoint.seen[0].headers
    own = {"openai": ("authorization", f"Bearer {KEY}"), "anthropic": ("x-api-key", KEY)}[api]
    assert headers[own[0]] == own[1]
    usual = {"host", "content-type", "content-length", "accept", "accept-encoding", "user-agent"}
    assert set(headers) <= usual | {own[0], "anthropic-version", "anthropic-beta"}


def test_a_server_without_a_key_is_not_sent_one(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    asked(build(api, api_key=None))
    assert not {"authorization", "x-api-key"} & set(endpoint.seen[0].headers)


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, message="response_format is not supported by this model"),
        refuses(422, message="body.response_format.type: unexpected value"),
        refuses(500, message="tools param requires --jinja flag"),
        refuses(501),
    ],
)
@pytest.mark.parametrize("knows", ["schema", "tool", "prompt"])
def test_a_form_that_a_server_refuses_is_followed_by_one_that_it_knows(
    knows: str, refusal: Step, build: Build, endpoint: Endpoint
) -> None:
    other = refuses(500, message="json_schema: no grammar; tools need jinja")
    endpoint.always = only(knows, answer=says(GOOD), refusal=other)
    endpoint.script = [only(knows, answer=says(GOOD), refusal=refusal)]
    model = build()
    assert asked(model).value == MEANT
    first = [seen.form for seen in endpoint.seen]
    assert first == ["schema", "tool", "prompt"][: len(first)]
    assert first[-1] == knows
    assert asked(model).attempts == 1  # it is remembered
    assert endpoint.seen[-1].form == knows


def test_a_form_that_the_operator_chose_is_kept_to(build: Build, endpoint: Endpoint) -> None:
    endpoint.always = refuses(500, message="tools param requires --jinja flag")
    failure(build(output="tool", retries=1), LanguageUnavailable)
    assert [seen.form for seen in endpoint.seen] == ["tool", "tool"]


def test_a_server_that_never_heard_of_tools_is_told_the_schema_in_words(build: Build, endpoint: Endpoint) -> None:
    endpoint.script = [refuses(400), talks("Sure! What should I remember?"), says(GOOD)]
    answer = asked(build())
    assert answer.value == MEANT
    assert [seen.form for seen in endpoint.seen] == ["schema", "tool", "prompt"]
    assert "preference" not in endpoint.seen[1].said
    assert "preference" in endpoint.seen[2].said


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "```json\n{}\n```",
        "Here you are:\n```\n{}\n```\nAnything else?",
        "Of course. {} I hope that helps.",
        "<think>tea {{or}} coffee?</think>{}",
    ],
)
def test_json_is_found_between_other_words(wrapped: str, build: Build, endpoint: Endpoint) -> None:
    inner = '{"facts": [{"content": "Alice takes tea with milk", "kind": "preference"}]}'
    endpoint.always = talks(wrapped.replace("{{or}}", "(or)").replace("{}", inner))
    answer = asked(build(output="prompt"))
    assert (answer.value, answer.attempts) == (MEANT, 1)


@pytest.mark.parametrize("output", ["tool", "schema", "prompt"])
def test_a_wrong_answer_is_repaired_once(output: str, api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.script = [says(WRONG), says(GOOD)]
    answer = asked(build(api, output=output))
    assert (answer.value, answer.attempts) == (MEANT, 2)
    assert answer.usage == Usage(tokens_in=80, tokens_out=16)
    again = endpoint.seen[1]
    assert [m["role"] for m in again.body["messages"] if m["role"] != "system"] == ["user", "assistant", "user"]
    assert "facts.0.kind: Input should be 'preference' or 'event'" in again.said
    assert "my secret answer" in again.said  # it is shown what it said
    assert again.form == output


def test_a_schema_may_be_of_any_kind_that_has_fields(build: Build, endpoint: Endpoint) -> None:
    class Count(BaseModel):
        number: int = Field(ge=1)

    @dataclass
    class Word:
        word: str = ""

    endpoint.script = [says({"number": 0}), says({"number": 3}), says({"word": "tea", "of": 1})]
    model = build()
    assert model.ask(ASKED, TEXT, Count, budget=None).value == Count(number=3)
    assert model.ask(ASKED, TEXT, Word, budget=None).value == Word("tea")
    for schema in (list[str], int, threading.Lock().__class__):
        with pytest.raises(InvalidInput, match="schema"):
            model.ask(ASKED, TEXT, schema, budget=None)
    assert endpoint.count == 3


def test_text_beyond_the_bound_or_beyond_unicode_does_no_harm(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    model = build(api)
    with pytest.raises(InvalidInput, match="longer than 200,000"):
        model.ask(ASKED, "a" * 200_000, type(MEANT), budget=None)
    assert endpoint.count == 0
    model.ask(ASKED, "half \ud800 \x00 and {braces} %s", type(MEANT), budget=None)
    assert "half ? \\u0000 and {braces} %s" in endpoint.seen[0].said


def test_many_threads_may_ask_at_once(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    model = build(api)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: asked(model), range(32)))
    assert {answer.value for answer in answers} == {MEANT}
    assert endpoint.count == 32


def test_it_may_be_asked_where_an_event_loop_runs(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    model = build(api)

    async def main() -> None:
        assert asked(model).value == MEANT
        both = await asyncio.gather(*(asyncio.to_thread(asked, model) for _ in range(2)))
        assert {answer.value for answer in both} == {MEANT}

    asyncio.run(main())
    asyncio.run(main())  # another loop, the same model


def test_who_waits_is_released_when_the_model_is_closed(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = Reply(hangs=True)
    model = build(api)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(asked, model)
        while not endpoint.seen:
            threading.Event().wait(0.005)
        model.close()
        with pytest.raises(LanguageUnavailable, match="closed"):
            waiting.result(10)
    model.close()
    assert "closed" in str(failure(model, LanguageUnavailable))
    assert endpoint.count == 1


def test_a_process_that_forks_may_ask_on(endpoint: Endpoint) -> None:
    endpoint.always = says(GOOD)
    program = f"""
import os
from tacit.llm.endpoint import EndpointModel
from tests.llm.asking import asked
model = EndpointModel("openai", "tiny", base_url={endpoint.url!r}, timeout_seconds=20)
asked(model)
child = os.fork()
asked(model)
if child:
    assert os.waitpid(child, 0)[1] == 0
model.close()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
    assert endpoint.count == 3
