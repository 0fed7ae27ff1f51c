"""The store inside graphs that run: one compiled graph, and each person's own items."""

from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

import tacit
from tacit.errors import InvalidInput
from tacit.integrations.langgraph import Checkpointer, Store
from tacit.integrations.langgraph.views import VIEW_FUNCTION_HINT
from tacit.memory import Memory


class State(TypedDict, total=False):
    said: str
    known: list[str]


def store_of(memory: Memory) -> Store:
    def whose(config: RunnableConfig) -> Any:
        key = config["configurable"]["user"]
        return memory.view(tacit.Requester(key), tacit.Chat.private(key))

    return Store(whose)


def remembering(state: State, *, store: BaseStore) -> State:
    store.put(("said",), str(len(store.search(("said",)))), {"text": state["said"]})
    return {}


def telling(state: State, runtime: Runtime[Any]) -> State:
    assert runtime.store is not None
    return {"known": [one.value["text"] for one in runtime.store.search(("said",))]}


def asked_by(person: str) -> RunnableConfig:
    return {"configurable": {"user": person}}


def test_one_graph_keeps_each_persons_items_apart(memory: Memory) -> None:
    builder = StateGraph(State)
    builder.add_node("remembering", remembering)
    builder.add_node("telling", telling)
    builder.add_edge(START, "remembering")
    builder.add_edge("remembering", "telling")
    builder.add_edge("telling", END)
    graph = builder.compile(store=store_of(memory))
    assert graph.invoke({"said": "tea"}, asked_by("telegram:1"))["known"] == ["tea"]
    assert graph.invoke({"said": "coffee"}, asked_by("telegram:2"))["known"] == ["coffee"]
    again = graph.invoke({"said": "cake"}, asked_by("telegram:1"))
    assert sorted(again["known"]) == ["cake", "tea"]


def test_where_nobody_runs_it_there_is_nobody_to_ask_for(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="no config that names"):
        store_of(memory).put(("said",), "k", {"a": 1})


@pytest.mark.parametrize("kept_by", [Store, Checkpointer])
def test_what_is_no_view_is_refused_with_a_hint_that_works(memory: Memory, kept_by: Any) -> None:
    with tacit.connect("http://127.0.0.1:1") as client:
        remote = client.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
        for wrong in (None, memory, remote):
            with pytest.raises(InvalidInput, match=r"tacit\.connect are not supported") as refused:
                kept_by(wrong)
    assert VIEW_FUNCTION_HINT in str(refused.value)
    make_view = eval(VIEW_FUNCTION_HINT, {"memory": memory, "tacit": tacit})  # noqa: S307
    view = make_view({"configurable": {"user_id": "t:1"}})
    assert kept_by(view) is not None
