"""A conversation with tools over real HTTP: both APIs, whatever the model says, on any day."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InvalidInput, LanguageFailed, limits
from tacit.errors import LanguageBadAnswer, LanguageOverBudget, LanguageRefused, LanguageUnavailable
from tacit.llm.budget import Allowance, Budget, Usage
from tacit.llm.client import ModelReply as Raw
from tacit.llm.client import RawToolCall as CameIn
from tacit.llm.endpoint import EndpointModel, list_sent_texts, parse_talk_reply
from tacit.records.conversation import (
    ModelTurn,
    TalkReply,
    TalkTurn,
    ToolCall,
    ToolSpec,
    ToolTurn,
    UserTurn,
    dump_json_object,
    parse_turns,
)
from tests.llm.asking import ASKED, KEY, TODAY, Build, Notebook, assert_nothing_told
from tests.llm.endpoint import Api, Endpoint, Reply, Seen
from tests.llm.replies import Called, calls, refuses, talks

SCHEMA = {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]}
KEEP = ToolSpec("keep", "Keeps a fact.", SCHEMA)
LOOK = ToolSpec("look", "Looks a fact up.", SCHEMA)
HELLO = (UserTurn("I take my secret tea with milk"),)


def talk(
    model: EndpointModel,
    turns: tuple[TalkTurn, ...] = HELLO,
    tools: tuple[ToolSpec, ...] = (KEEP, LOOK),
    budget: Budget | None = None,
) -> TalkReply:
    return model.talk(ASKED, turns, tools, budget=budget).reply


def sides(seen: Seen) -> list[str]:
    return [one["role"] for one in seen.body["messages"]]


def test_a_model_answers_in_words_and_hears_exactly_what_it_was_given(
    api: Api, build: Build, endpoint: Endpoint
) -> None:
    endpoint.always = talks("Milk it is.")
    answer = build(api).talk(ASKED, HELLO, (KEEP,), budget=None)
    assert answer.reply == TalkReply("Milk it is.")
    assert (answer.usage, answer.attempts) == (Usage(tokens_in=40, tokens_out=8), 1)
    body = endpoint.seen[0].body
    if api == "openai":
        assert body["messages"] == [{"role": "system", "content": ASKED}, {"role": "user", "content": HELLO[0].text}]
        (offered,) = body["tools"]
        assert offered["function"]["parameters"] == SCHEMA
        assert body["tool_choice"] == "auto"
    else:
        assert ASKED in json.dumps(body["system"])
        (offered,) = body["tools"]
        assert offered["input_schema"] == SCHEMA
        assert body["tool_choice"]["type"] == "auto"
    assert "response_format" not in body


def test_a_call_comes_back_typed_and_its_answer_goes_back_with_it(api: Api, build: Build, endpoint: Endpoint) -> None:
    asked = Called("keep", {"fact": "tea with milk"}, "one-1")
    endpoint.script = [calls(asked, text="A moment."), talks("Noted.")]
    model = build(api)
    first = talk(model)
    assert first == TalkReply("A moment.", (ToolCall("one-1", "keep", {"fact": "tea with milk"}),), cut=False)
    turns = (*HELLO, ModelTurn(first.text, first.calls), ToolTurn("one-1", "keep", "Kept."))
    assert talk(model, turns).text == "Noted."
    again = endpoint.seen[1]
    sent = again.said
    assert sent.count("one-1") == 2
    assert '"Kept."' in sent
    if api == "openai":
        assert sides(again) == ["system", "user", "assistant", "tool"]
    else:
        assert sides(again) == ["user", "assistant", "user"]
        assert again.body["messages"][2]["content"][0]["type"] == "tool_result"


def test_what_begins_a_conversation_stays_the_same_to_the_byte(api: Api, build: Build, endpoint: Endpoint) -> None:
    """So that a server that keeps what it read once need not read it again."""
    endpoint.script = [calls(Called("keep", {"fact": "b", "a": 1}, "x")), talks("Done.")]
    model = build(api)
    first = talk(model)
    talk(model, (*HELLO, ModelTurn("", first.calls), ToolTurn("x", "keep", "Kept.")))
    before, after = (json.dumps(seen.body["messages"]) for seen in endpoint.seen)
    assert after.startswith(before[:-1])
    for part in ("tools", "system"):
        assert endpoint.seen[0].body.get(part) == endpoint.seen[1].body.get(part)


BROKEN: dict[str, object] = {
    "no JSON": "{fact: tea",
    "half of it": '{"fact": "te',
    "a list": "[1]",
    "a word": '"tea"',
    "nothing": "null",
    "not a number": '{"fact": NaN}',
    "endless": '{"fact": 1e999}',
    "a long number": '{"fact": ' + "9" * 5_000 + "}",
    "half of a character": '{"fact": "\\ud800"}',
    "deep": '{"fact": ' + "[" * 40 + "]" * 40 + "}",
    "very deep": '{"fact": ' + "[" * 100_000,
    "long": json.dumps({"fact": "x" * limits.TALK_CALL_MAX_CHARS}),
}


@pytest.mark.parametrize("arguments", BROKEN.values(), ids=BROKEN)
def test_arguments_that_are_none_are_marked_and_can_be_answered(
    arguments: object, build: Build, endpoint: Endpoint
) -> None:
    endpoint.script = [calls(Called("keep", arguments)), talks("Sorry.")]
    model = build()
    (call,) = talk(model).calls
    assert call == ToolCall("call_1", "keep", {}, broken=True)
    refused = ToolTurn(call.id, call.name, "That is no object.", failed=True)
    assert talk(model, (*HELLO, ModelTurn("", (call,)), refused)).text == "Sorry."


def test_a_tool_that_was_not_offered_is_not_called(api: Api, build: Build, endpoint: Endpoint) -> None:
    names = ("wipe", "keep it; look", "x" * 65, "Keep")
    endpoint.script = [calls(*(Called(name, {"fact": "a"}) for name in names)), talks("Sorry.")]
    model = build(api)
    found = talk(model).calls
    assert [call.name for call in found] == ["wipe", "unknown_tool", "unknown_tool", "Keep"]
    assert all(call.broken and call.arguments == {} for call in found)
    refused = [ToolTurn(call.id, call.name, "No such tool.", failed=True) for call in found]
    assert talk(model, (*HELLO, ModelTurn("", found), *refused)).text == "Sorry."
    marked = '"is_error": true' if api == "anthropic" else '\\"error\\":'
    assert endpoint.seen[1].said.count(marked) == len(names)


def test_ids_of_calls_are_unique_whatever_the_model_calls_them(api: Api, build: Build, endpoint: Endpoint) -> None:
    ids = ("a", "a", "", "with space", "é", "x" * 100, "before")
    endpoint.always = calls(*(Called("keep", {"fact": id}, id) for id in ids))
    earlier = ToolCall("before", "keep", {})
    turns = (*HELLO, ModelTurn("", (earlier,)), ToolTurn("before", "keep", "Kept."))
    found = talk(build(api), turns).calls
    assert [call.arguments["fact"] for call in found] == list(ids)
    assert found[0].id == "a"
    told = {call.id for call in found}
    assert len(told) == len(ids)
    assert "before" not in told
    assert all(id.isascii() and 0 < len(id) <= 64 and " " not in id for id in told)


def test_calls_and_words_without_measure_are_cut(api: Api, build: Build, endpoint: Endpoint) -> None:
    many = [Called("keep", {"fact": str(number)}) for number in range(100)]
    endpoint.script = [calls(*many), talks("x" * (limits.TALK_ANSWER_MAX_CHARS + 1))]
    model = build(api)
    assert len(talk(model).calls) == limits.TALK_CALLS_MAX_COUNT
    long = talk(model)
    assert (len(long.text), long.cut) == (limits.TALK_ANSWER_MAX_CHARS, True)


def test_words_reach_nobody_with_controls_in_them(api: Api, build: Build, endpoint: Endpoint) -> None:
    endpoint.always = talks("one\x1b[2J\r\ntwo\x00\x9b\tthree \ud83d")
    assert talk(build(api)).text == "one[2J\ntwo\tthree ?"


CALL = ToolCall("1", "keep", {})
ANSWER = ToolTurn("1", "keep", "Kept.")
WRONG_TURNS: dict[str, object] = {
    "none": (),
    "text": "hello",
    "no list": None,
    "no turn": ("hello",),
    "the model begins": (ModelTurn("hello"), *HELLO),
    "the model ends": (*HELLO, ModelTurn("hello")),
    "no words": (UserTurn(" "),),
    "no text": (UserTurn(7),),  # type: ignore[arg-type]
    "a call without an answer": (*HELLO, ModelTurn("", (CALL,)), *HELLO),
    "a call without an answer at the end": (*HELLO, ModelTurn("", (CALL,))),
    "an answer without a call": (*HELLO, ANSWER),
    "an answer twice": (*HELLO, ModelTurn("", (CALL,)), ANSWER, ANSWER),
    "an answer of another tool": (*HELLO, ModelTurn("", (CALL,)), ToolTurn("1", "look", "")),
    "an id twice": (*HELLO, ModelTurn("", (CALL, CALL)), ANSWER),
    "no id": (*HELLO, ModelTurn("", (ToolCall("", "keep", {}),)), ToolTurn("", "keep", "")),
    "no calls": (*HELLO, ModelTurn("", ("keep",)), *HELLO),  # type: ignore[arg-type]
    "no object": (*HELLO, ModelTurn("", (ToolCall("1", "keep", [1]),)), ANSWER),  # type: ignore[arg-type]
    "no JSON": (*HELLO, ModelTurn("", (ToolCall("1", "keep", {"a": {1}}),)), ANSWER),
    "too many": HELLO * (limits.TALK_TURNS_MAX_COUNT + 1),
    "too long": (UserTurn("x" * (limits.LANGUAGE_TEXT_MAX_CHARS)),),
}


@pytest.mark.parametrize("turns", WRONG_TURNS.values(), ids=WRONG_TURNS)
def test_turns_that_no_model_would_take_are_not_sent(turns: Any, build: Build, endpoint: Endpoint) -> None:
    with pytest.raises(InvalidInput, match="turns"):
        talk(build(), turns)
    assert endpoint.count == 0


@pytest.mark.parametrize(
    "tools",
    [
        "keep",
        (SCHEMA,),
        (KEEP, KEEP),
        (ToolSpec("two words", "", SCHEMA),),
        (ToolSpec("keep", "", ["fact"]),),  # type: ignore[arg-type]
        (ToolSpec("keep", None, SCHEMA),),  # type: ignore[arg-type]
        tuple(ToolSpec(f"t{n}", "", SCHEMA) for n in range(limits.TALK_TOOLS_MAX_COUNT + 1)),
    ],
    ids=["text", "a schema", "twice", "a name", "no object", "no words", "too many"],
)
def test_tools_that_are_none_are_not_offered(tools: Any, build: Build, endpoint: Endpoint) -> None:
    with pytest.raises(InvalidInput, match="tools"):
        talk(build(), HELLO, tools)
    assert endpoint.count == 0


@pytest.mark.parametrize(
    ("bad_day", "kind", "requests"),
    [
        (refuses(500, message=f"{KEY} secret"), LanguageUnavailable, 3),
        (refuses(401, message=f"{KEY} secret"), LanguageRefused, 1),
        (refuses(400, message="no tools for your secret"), LanguageRefused, 1),
        (Reply(body=b"<html>secret</html>"), LanguageUnavailable, 3),
        (Reply(body=b'{"choices": [', cuts=True), LanguageUnavailable, 3),
        (talks("my secret", stop="filter"), LanguageBadAnswer, 1),
    ],
    ids=["fails", "refuses", "knows no tools", "a page", "breaks off", "declines"],
)
def test_a_bad_day_ends_in_a_kind_of_failure_that_tells_nothing(
    bad_day: Any,
    kind: type[LanguageFailed],
    requests: int,
    api: Api,
    build: Build,
    endpoint: Endpoint,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    endpoint.always = bad_day
    model = build(api, retries=2)
    with pytest.raises(kind) as caught:
        talk(model)
    assert type(caught.value) is kind
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert_nothing_told(f"{caught.value} {vars(caught.value)} {caplog.text}")
    assert endpoint.count == requests


def test_a_talk_spends_what_a_space_may_spend_and_not_more(api: Api, build: Build, endpoint: Endpoint) -> None:
    ledger = Notebook()
    day = Budget(space="home", day=TODAY, allowance=Allowance(tokens_per_day=4_000), ledger=ledger)
    endpoint.always = talks("Yes.", tokens={"in": 1_500, "out": 900})
    model = build(api, max_output_tokens=1_000)
    talk(model, budget=day)
    assert ledger.spent("home", TODAY) == Usage(tokens_in=1_500, tokens_out=900)
    with pytest.raises(LanguageOverBudget) as caught:
        talk(model, budget=day)
    assert_nothing_told(str(caught.value))
    assert endpoint.count == 1


def test_what_tools_say_is_counted_before_it_is_sent(build: Build, endpoint: Endpoint) -> None:
    day = Budget(space="home", day=TODAY, allowance=Allowance(tokens_per_day=4_000), ledger=Notebook())
    long = ToolSpec("keep", "x" * 3_500, SCHEMA)
    with pytest.raises(LanguageOverBudget):
        talk(build(max_output_tokens=100), HELLO, (long,), day)
    assert endpoint.count == 0


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=5,
)
CALLS = st.builds(ToolCall, ANYTHING | st.just("1"), st.just("keep") | ANYTHING, ANYTHING)
TURNS = st.one_of(
    st.builds(UserTurn, ANYTHING),
    st.builds(ModelTurn, st.text(), st.lists(CALLS, max_size=2) | ANYTHING),
    st.builds(ToolTurn, st.just("1") | ANYTHING, st.just("keep") | ANYTHING, st.text()),
)


@given(turns=st.lists(TURNS, max_size=4).map(lambda more: [*HELLO, *more, *HELLO]))
def test_any_value_is_a_turn_or_kindly_refused(turns: Any) -> None:
    try:
        found = parse_turns(turns)
    except InvalidInput as refused:
        str(refused).encode()
    else:
        for text in list_sent_texts("", found, ()):
            text.encode()


@given(
    arguments=st.one_of(st.none(), st.text(), st.recursive(st.none() | st.text(), st.lists).map(json.dumps)),
    name=st.text() | st.just("keep"),
    id=st.text(),
    cut=st.booleans(),
)
def test_whatever_is_called_can_be_sent_back(arguments: str | None, name: str, id: str, cut: bool) -> None:
    called = CameIn(id=id, name=name, arguments=arguments)
    raw = Raw(calls=(called, called), text=id, cut=cut, declined=False, tokens_in=0, tokens_out=0)
    found = parse_talk_reply(raw, HELLO, (KEEP,))
    assert len({call.id for call in found.calls}) == 2
    for call in found.calls:
        assert call.broken or call.name == "keep"
        assert json.loads(dump_json_object("turns", call.arguments)) == call.arguments
        assert call.arguments == {} or not call.broken
