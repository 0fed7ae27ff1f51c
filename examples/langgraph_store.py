"""One graph for many people: each person has their own items in the store.

Run it, with `pip install '.[langgraph]' langgraph`:

    python examples/langgraph_store.py

It prints:

    Alice: noted, 1 in all
    Bob: noted, 1 in all
    Alice: noted, 2 in all
    Alice asks about tea: green tea, no sugar
    Bob asks about tea: espresso
"""

from typing import TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

import tacit
from tacit.integrations.langgraph import Store

memory = tacit.open("sqlite://")  # or a file, or postgresql://…
NAMES = {"telegram:1001": "Alice", "telegram:2002": "Bob"}


class State(TypedDict, total=False):
    drink: str
    question: str
    answer: str


def whose(config: RunnableConfig) -> tacit.View:
    """Return the view of the person of this run."""
    key = config["configurable"]["user_id"]
    return memory.view(tacit.Requester(key, name=NAMES[key]), tacit.Chat.private(key))


def answer(state: State, runtime: Runtime[None]) -> State:
    store = runtime.store
    assert store is not None
    if "question" in state:
        found = store.search(("drinks",), query=state["question"], limit=1)
        return {"answer": found[0].value["drink"]}
    store.put(("drinks",), state["drink"], {"drink": state["drink"]})
    return {"answer": f"noted, {len(store.search(('drinks',)))} in all"}


builder = StateGraph(State)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
graph = builder.compile(store=Store(whose))


def say(key: str, state: State) -> str:
    done = graph.invoke(state, {"configurable": {"user_id": key}})
    return str(done["answer"])


alice, bob = NAMES
print("Alice:", say(alice, {"drink": "green tea, no sugar"}))
print("Bob:", say(bob, {"drink": "espresso"}))
print("Alice:", say(alice, {"drink": "tonic water"}))
for key, name in NAMES.items():
    print(f"{name} asks about tea:", say(key, {"question": "which tea?"}))
