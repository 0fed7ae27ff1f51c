"""The tools of a view in the forms of each SDK: a model calls them over its own wire format, and
whatever it writes is answered."""

import ast
import itertools
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletionMessage

import tacit
from tacit.memory import Memory, View
from tacit.settings import Settings
from tacit.tools import kits
from tacit.tools.kits import anthropic_kit, openai_kit, pydantic_ai_tools
from tests.contract.rooms import ALICE, BOB, group, private
from tests.examples.asked import Asked, Called, Spoken, reply
from tests.llm.endpoint import Endpoint, serving
from tests.server.http_server import served
from tests.tools.loops import LOOPS, Sdk

_NUMBERS = count()
TEA = {"content": "Alice drinks green tea", "category": "preference"}


@pytest.fixture
def memory(database_url: str) -> Iterator[Memory]:
    with tacit.open(database_url, embedder=None) as opened:
        yield opened


@pytest.fixture(scope="module")
def in_memory() -> Iterator[Memory]:
    with tacit.open("sqlite://", embedder=None) as opened:
        yield opened


@pytest.fixture
def space(in_memory: Memory) -> Memory:
    """For tests that are not about the database."""
    return in_memory.space(f"kits-{next(_NUMBERS)}")


@pytest.fixture
def view(space: Memory) -> View:
    return private(space, ALICE)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


def says(endpoint: Endpoint, *spoken: Spoken) -> list[Asked]:
    """The model says these, one after the other; gives what it was asked."""
    asked: list[Asked] = []
    left = list(spoken)

    def step(seen: Any) -> Any:
        asked.append(Asked(seen.body, seen.path))
        return reply(lambda _: left.pop(0), seen)

    endpoint.always = step
    return asked


@pytest.mark.parametrize("sdk", LOOPS)
def test_a_model_keeps_something_and_a_group_does_not_hear_it(memory: Memory, endpoint: Endpoint, sdk: Sdk) -> None:
    talk = LOOPS[sdk]
    says(endpoint, Called("add_to_memory", TEA), "Noted.")
    assert talk(endpoint, private(memory, ALICE), "I drink green tea") == "Noted."
    (kept,) = private(memory, ALICE).list()
    assert (kept.content, kept.visibility.value) == (TEA["content"], "private_only")

    looks = [Called("memory_query", {"query": "green tea"}), Called("memory_list", {}, "second")]
    asked = says(endpoint, looks, "You drink green tea.")
    talk(endpoint, private(memory, ALICE), "What do I drink?")
    assert [TEA["content"] in result for result in asked[-1].results] == [True, True]

    for who in (ALICE, BOB):
        asked = says(endpoint, looks, "I do not know.")
        talk(endpoint, group(memory, who), "What does Alice drink?")
        assert len(asked[-1].results) == 2
        assert "green tea" not in "".join(asked[-1].results)


@pytest.mark.parametrize("sdk", ["chat completions", "responses", "messages"])
def test_what_a_model_writes_wrongly_is_answered_in_words(view: View, endpoint: Endpoint, sdk: Sdk) -> None:
    wrong = [Called("memory_put", {"namespace": "profile"}, "1"), Called("memory_wipe", {}, "2")]
    asked = says(endpoint, wrong, "Sorry.")
    assert LOOPS[sdk](endpoint, view, "Do it") == "Sorry."
    assert asked[-1].results == ["key: is missing", "there is no such tool here"]


def test_arguments_that_are_no_json_are_told_so(view: View, endpoint: Endpoint) -> None:
    texts = ("{oops", "[" * 99_999, "[1]", "")
    for sdk in ("chat completions", "responses"):
        broken = [Called("memory_list", text, str(n)) for n, text in enumerate(texts)]
        asked = says(endpoint, broken, "Sorry.")
        LOOPS[sdk](endpoint, view, "Do it")
        *no_json, no_object, nothing_given = asked[-1].results
        assert no_json == ["arguments: expected a JSON object"] * 2
        assert no_object == "arguments: expected an object"
        assert json.loads(nothing_given.split("\n")[1])["memories"] == []


def test_what_a_model_writes_wrongly_does_not_break_off_a_run_of_pydantic_ai(view: View, endpoint: Endpoint) -> None:
    asked = says(endpoint, Called("memory_put", {"namespace": "profile"}), "Sorry.")
    assert LOOPS["pydantic-ai"](endpoint, view, "Do it") == "Sorry."
    assert "key: is missing" in asked[-1].results[0]
    broken = [Called("memory_list", text, text) for text in ("[1]", "{oops", "3")]
    asked = says(endpoint, broken, "Sorry.")
    assert LOOPS["pydantic-ai"](endpoint, view, "Do it") == "Sorry."
    assert len(asked[-1].results) == 3


@pytest.mark.parametrize("sdk", LOOPS)
def test_a_disabled_view_offers_no_tools(in_memory: Memory, endpoint: Endpoint, sdk: Sdk) -> None:
    nobody = in_memory.view(None, tacit.Chat.private("telegram:1001"))
    asked = says(endpoint, "Hello.")
    assert LOOPS[sdk](endpoint, nobody, "Hello") == "Hello."
    assert asked[0].tools == []


def test_a_view_behind_a_server_has_the_same_tools(space: Memory, view: View) -> None:
    key = space.keys.create("kits", scopes=["read", "write"], requester=ALICE.key)
    with served(space, Settings()) as url, tacit.connect(url, key.token) as client:
        kit = openai_kit(client.view())
        assert kit.tools == openai_kit(view).tools
        kit.answer(calls(Called("add_to_memory", TEA, "1")))
    assert [one.content for one in view.list()] == [TEA["content"]]


def calls(*called: Called) -> dict[str, Any]:
    """A message of chat completions, as JSON has it."""
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}
            for one in called
        ],
    }


def used(*called: Called) -> dict[str, Any]:
    """A message of Anthropic's, as JSON has it."""
    blocks = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in called]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, *blocks]}


def test_calls_of_ones_own_tools_are_left_alone(view: View) -> None:
    mine, ours = Called("weather", {}, "mine"), Called("memory_list", {}, "ours")
    answered = openai_kit(view).answer(calls(mine, ours), leave=["weather"])
    assert [one["tool_call_id"] for one in answered] == ["ours"]
    results = anthropic_kit(view).answer(used(mine, ours), leave=["weather"])
    assert [(one["tool_use_id"], one["is_error"]) for one in results] == [("ours", False)]
    item = {"type": "function_call", "call_id": "mine", "name": "weather", "arguments": "{}"}
    response = {"output": [{"type": "reasoning"}, item]}
    assert openai_kit(view).answer(response, leave={"weather"}) == []
    assert [one["call_id"] for one in openai_kit(view).answer(response)] == ["mine"]
    item["name"] = ["weather"]  # type: ignore[assignment]
    assert [one["call_id"] for one in openai_kit(view).answer(response, leave={"weather"})] == ["mine"]


def test_only_what_a_model_said_can_be_answered(view: View) -> None:
    wrong: list[Any] = [{"role": "user", "content": "Hello"}, {}, {"output": 3}, {"choices": []}]
    kits: list[Any] = [openai_kit(view), anthropic_kit(view)]
    for kit, said in itertools.product(kits, wrong):
        with pytest.raises(tacit.InvalidInput, match="what the model said"):
            kit.answer(said)


def test_what_was_said_in_the_other_form_is_refused(view: View) -> None:
    """It looked like a message that called nothing, so that the loop ended and nothing was done."""
    listed = Called("memory_list", {}, "1")
    quiet = ChatCompletionMessage(role="assistant", content="Hello")
    for openais in (calls(listed), quiet, quiet.model_dump()):
        with pytest.raises(tacit.InvalidInput, match="answer it with openai_kit"):
            anthropic_kit(view).answer(openais)  # type: ignore[arg-type]
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {**used(listed), "id": "m", "model": "m", "type": "message", "usage": usage}
    said = Message.model_validate({**whole, "stop_reason": "tool_use", "stop_sequence": None})
    for anthropics in (used(listed), said, said.model_dump()):
        with pytest.raises(tacit.InvalidInput, match="answer it with anthropic_kit"):
            openai_kit(view).answer(anthropics)  # type: ignore[arg-type]


@pytest.mark.parametrize("kit", [openai_kit, anthropic_kit, pydantic_ai_tools])
def test_a_kit_of_what_is_no_view_is_refused(space: Memory, kit: Any) -> None:
    for wrong in (space, None, "telegram:1001"):
        with pytest.raises(tacit.InvalidInput, match=r"view: expected a view: memory\.view"):
            kit(wrong)


def test_only_some_tools_are_offered_where_one_says_so(view: View) -> None:
    some = ["memory_query", "add_to_memory"]
    kit = openai_kit(view, only=some)
    assert {one["name"] for one in kit.responses_tools} == set(some)
    assert {one["name"] for one in anthropic_kit(view, only=some).tools} == set(some)
    assert {one.name for one in pydantic_ai_tools(view, only=some)} == set(some)
    (answer,) = kit.answer(calls(Called("memory_list", {}, "1")))
    assert answer["content"] == "there is no such tool here"
    with pytest.raises(tacit.InvalidInput, match="no tool 'memory_wipe'; use some of memory_get"):
        openai_kit(view, only=["memory_wipe"])
    with pytest.raises(tacit.InvalidInput, match="in a list"):
        openai_kit(view, only="memory_query")
    with pytest.raises(tacit.InvalidInput, match="in a list"):
        openai_kit(view).answer(calls(Called("memory_list", {}, "1")), leave="memory_list")


def test_answers_have_a_bound_each_and_together(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kits, "ANSWER_MAX_CHARS", 300)
    monkeypatch.setattr(kits, "ANSWERS_MAX_CHARS", 500)
    view.remember("tea " * 100)
    asked = Called("memory_list", {}, "1")
    told = [one["content"] for one in openai_kit(view).answer(calls(asked, asked, asked))]
    assert [len(one) for one in told[:2]] == [300, 300]
    assert told[0].endswith("ask for less at once)\n</tacit-memory>")
    assert told[2].startswith("this is more than can be answered at once")


def test_calls_without_end_are_answered_and_not_done(view: View) -> None:
    put = {"namespace": "profile", "value": "x"}
    many = [Called("memory_put", {**put, "key": f"k{n}"}, str(n)) for n in range(70)]
    told = [one["content"] for one in openai_kit(view).answer(calls(*many))]
    assert len(told) == 70
    assert len(view.list(limit=100)) == kits.CALLS_MAX_COUNT
    called = {"name": "memory_put", "arguments": " " * (kits.ARGUMENTS_MAX_CHARS + 1)}
    said = {"role": "assistant", "tool_calls": [{"id": "1", "function": called}]}
    assert "are too long" in openai_kit(view).answer(said)[0]["content"]


def test_kits_are_there_without_the_sdks() -> None:
    """What is imported at the top of a file, other than for its types."""
    for node in ast.parse(Path(kits.__file__).read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            written = ast.unparse(node).split()[1]
            assert not written.startswith(("openai", "anthropic", "pydantic"))


def test_the_page_on_kits_names_them_and_their_bounds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "kits.md").read_text()
    for name in ("anthropic_kit", "openai_kit", "pydantic_ai_tools"):
        assert name in page, name
    for bound in (kits.ANSWER_MAX_CHARS, kits.ANSWERS_MAX_CHARS, kits.CALLS_MAX_COUNT, kits.ARGUMENTS_MAX_CHARS):
        assert f"{bound:,}" in page
