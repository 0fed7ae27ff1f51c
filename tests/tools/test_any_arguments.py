"""Whatever a model writes is answered, and nothing of it raises."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import StoreBusy, StoreUnavailable
from tacit.memory import Memory
from tacit.tools import tools
from tacit.tools.reference import reference_tools
from tacit.tools.tool import Answer, Tool, object_schema
from tests.contract.rooms import ALICE, private
from tests.tools.calling import REFERENCE, STANDARD

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ODD = st.text(st.characters(codec=None, categories=["Cs", "Cc", "Lu"]), max_size=8)
JSON = st.recursive(
    SCALARS | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
GOOD = dict((*STANDARD, *REFERENCE))
Tools = dict[str, Tool]


@pytest.fixture(scope="session")
def known(opened_once: Memory) -> Tools:
    view = private(opened_once, ALICE)
    return {tool.name: tool for tool in (*tools(view), *reference_tools(view))}


def answered(tool: Tool, arguments: object) -> None:
    answer = tool.call(arguments)
    assert isinstance(answer, Answer)
    answer.text.encode("utf-8")  # it can travel


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=10)
@given(arguments=JSON)
def test_any_json_is_answered(known: Tools, name: str, arguments: object) -> None:
    answered(known[name], arguments)


@pytest.mark.parametrize("name", [name for name, given in GOOD.items() if given])
@settings(max_examples=10)
@given(data=st.data())
def test_a_good_call_with_one_odd_argument_is_answered(known: Tools, name: str, data: st.DataObject) -> None:
    changed = data.draw(st.sampled_from(sorted(known[name].parameters["properties"])))
    answered(known[name], {**GOOD[name], changed: data.draw(JSON)})


@pytest.mark.parametrize("name", ["create_entities", "create_relations", "add_observations"])
@settings(max_examples=15)
@given(data=st.data())
def test_any_words_in_a_graph_are_answered(known: Tools, name: str, data: st.DataObject) -> None:
    words = st.text(min_size=1, max_size=30) | ODD
    ((field, items),) = GOOD[name].items()
    for item in items:
        drawn = {key: data.draw(words) if isinstance(v, str) else v for key, v in item.items()}
        answered(known[name], {field: [drawn]})
    answered(known["read_graph"], {})


@pytest.mark.parametrize("given", [None, [], "x", 7, {"nonsense": 1}, {1: 2}])
def test_arguments_that_are_none_are_refused_in_words(known: Tools, given: Any) -> None:
    for tool in known.values():
        assert tool.call(given).failed, tool.name


def test_null_counts_as_left_out(memory: Memory) -> None:
    (listing,) = (one for one in tools(private(memory, ALICE)) if one.name == "memory_list")
    assert not listing.call({"namespace": None, "prefix": None, "limit": None}).failed


@pytest.mark.parametrize("error", [StoreBusy, StoreUnavailable])
def test_a_database_that_does_not_answer_is_told_in_words(error: type[Exception]) -> None:
    def act(_: dict[str, Any]) -> Answer:
        raise error("host=secret.example")

    tool = Tool(name="x", title="x", description="x", parameters=object_schema({}), act=act, needs=("read",))
    answer = tool.call({})
    assert answer.failed
    assert "secret" not in answer.text
