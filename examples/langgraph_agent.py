"""A graph that asks, waits for the answer, and continues after a restart: Tacit stores its state
for the person of the run. No model is needed.

Run it, with `pip install '.[langgraph]' langgraph`:

    python examples/langgraph_agent.py

It prints:

    the agent asks: Where to?
    (everything is closed, and opened again)
    waiting at: ask_when
    the agent asks: When?
    Alice has: a trip to Lisbon in May
    Bob has: nothing, in a thread of the same name
    one step back: ['Lisbon']
"""

import tempfile
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import tacit
from tacit.integrations.langgraph import Checkpointer


class Trip(TypedDict, total=False):
    answers: list[str]
    plan: str


def ask_where(state: Trip) -> Trip:
    return {"answers": [*state.get("answers", []), interrupt("Where to?")]}


def ask_when(state: Trip) -> Trip:
    return {"answers": [*state["answers"], interrupt("When?")]}


def plan(state: Trip) -> Trip:
    where, when = state["answers"]
    return {"plan": f"a trip to {where} in {when}"}


def agent(memory: tacit.Memory) -> Any:
    """Build one graph for all people: the config of a run names the person."""

    def whose(config: RunnableConfig) -> tacit.View:
        key = config["configurable"]["user_id"]
        return memory.view(tacit.Requester(key), tacit.Chat.private(key))

    builder = StateGraph(Trip)
    builder.add_node("ask_where", ask_where)
    builder.add_node("ask_when", ask_when)
    builder.add_node("plan", plan)
    builder.add_edge(START, "ask_where")
    builder.add_edge("ask_where", "ask_when")
    builder.add_edge("ask_when", "plan")
    builder.add_edge("plan", END)
    return builder.compile(checkpointer=Checkpointer(whose))


def asked(state: dict[str, Any]) -> str:
    return str(state["__interrupt__"][0].value)


alice: RunnableConfig = {"configurable": {"thread_id": "trip", "user_id": "telegram:1001"}}
bob: RunnableConfig = {"configurable": {"thread_id": "trip", "user_id": "telegram:2002"}}

with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "memory.db")
    with tacit.open(path) as memory:
        graph = agent(memory)
        print("the agent asks:", asked(graph.invoke({}, alice)))
        graph.invoke(Command(resume="Lisbon"), alice)
    print("(everything is closed, and opened again)")
    with tacit.open(path) as memory:
        graph = agent(memory)
        state = graph.get_state(alice)
        print("waiting at:", *state.next)
        print("the agent asks:", state.interrupts[0].value)
        done = graph.invoke(Command(resume="May"), alice)
        print("Alice has:", done["plan"])
        print("Bob has:", graph.get_state(bob).values or "nothing, in a thread of the same name")
        before = [one for one in graph.get_state_history(alice) if one.next == ("ask_when",)]
        print("one step back:", before[0].values["answers"])
