"""Real graphs that keep their state in a memory: they stop, go on elsewhere, go back, and each
person has their own."""

import operator
import threading
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

import tacit
from tacit.integrations.langgraph import Checkpointer
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, private

AT: RunnableConfig = {"configurable": {"thread_id": "trip"}}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def asking(checkpointer: Any, **options: Any) -> Any:
    """A graph that asks something, and waits for the answer."""

    def ask(_: State) -> State:
        return {"said": [f"you said {interrupt('When?')}"]}

    builder: Any = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=checkpointer, **options)


def counting(checkpointer: Any) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("one", lambda _: {"said": ["one"]})
    builder.add_node("two", lambda _: {"said": ["two"]})
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    return builder.compile(checkpointer=checkpointer)


def whose(memory: Memory) -> Any:
    def view(config: RunnableConfig) -> Any:
        key = config["configurable"]["user_id"]
        return memory.view(tacit.Requester(key), tacit.Chat.private(key))

    return view


def saver(memory: Memory, who: tacit.Requester = ALICE, **options: Any) -> Checkpointer:
    return Checkpointer(private(memory, who), **options)


def test_a_graph_that_waits_goes_on_after_the_memory_was_opened_again(database_url: str) -> None:
    with tacit.open(database_url, embedder=None) as memory:
        asked = asking(saver(memory)).invoke({"said": ["hello"]}, AT)
        assert [one.value for one in asked["__interrupt__"]] == ["When?"]
    with tacit.open(database_url, embedder=None) as memory:
        graph = asking(saver(memory))
        assert graph.get_state(AT).next == ("ask",)
        assert graph.invoke(Command(resume="May"), AT) == {"said": ["hello", "you said May"]}
        assert graph.get_state(AT).next == ()


def test_it_goes_back_to_an_earlier_step_and_on_from_there(memory: Memory) -> None:
    graph = counting(saver(memory))
    graph.invoke({"said": ["zero"]}, AT)
    history = list(graph.get_state_history(AT))
    assert [one.values.get("said") for one in history] == [["zero", "one", "two"], ["zero", "one"], ["zero"], []]
    (before,) = [one for one in history if one.next == ("two",)]
    fork = graph.update_state(before.config, {"said": ["instead"]}, as_node="one")
    assert graph.invoke(None, fork) == {"said": ["zero", "one", "instead", "two"]}
    assert graph.get_state(history[0].config).values == {"said": ["zero", "one", "two"]}
    steps = [one.metadata["step"] for one in graph.get_state_history(AT, filter={"source": "loop"})]
    assert steps == [3, 2, 1, 0]


def test_what_some_tasks_did_is_not_done_again_when_another_one_failed(memory: Memory) -> None:
    done: list[str] = []
    saved = threading.Semaphore(0)

    class Telling(Checkpointer):
        def put_writes(
            self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
        ) -> None:
            super().put_writes(config, writes, task_id, task_path)
            if any(channel == "said" for channel, _ in writes):
                saved.release()

    checkpointer = Telling(private(memory, ALICE))

    def work(state: dict[str, str]) -> State:
        done.append(state["what"])
        if state["what"] == "bad" and done.count("bad") == 1:
            for _ in ("a", "c"):  # LangGraph abandons what is not saved when a task fails
                assert saved.acquire(timeout=60)
            raise RuntimeError("once")
        return {"said": [state["what"]]}

    builder: Any = StateGraph(State)
    builder.add_node("work", work)
    sent = [Send("work", {"what": what}) for what in ("a", "bad", "c")]
    builder.add_conditional_edges(START, lambda _: sent, ["work"])
    graph = builder.compile(checkpointer=checkpointer)
    with pytest.raises(RuntimeError, match="once"):
        graph.invoke({"said": []}, AT)
    waiting = graph.get_state(AT)
    assert [bool(one.error) for one in waiting.tasks] == [False, True, False]
    assert graph.invoke(None, AT) == {"said": ["a", "bad", "c"]}
    assert sorted(done) == ["a", "bad", "bad", "c"]


def test_a_graph_within_a_graph_has_a_namespace_of_its_own(memory: Memory) -> None:
    builder: Any = StateGraph(State)
    builder.add_node("inner", asking(None))
    builder.add_edge(START, "inner")
    graph: Any = builder.compile(checkpointer=saver(memory))
    graph.invoke({"said": ["hello"]}, AT)
    state = graph.get_state(AT, subgraphs=True)
    (task,) = state.tasks
    assert task.state.values == {"said": ["hello"]}
    assert task.state.config["configurable"]["checkpoint_ns"].startswith("inner:")
    assert graph.invoke(Command(resume="May"), AT)["said"][-1] == "you said May"


def test_one_graph_for_many_people_keeps_them_apart(memory: Memory) -> None:
    graph = counting(Checkpointer(whose(memory)))
    here: RunnableConfig = {"configurable": {"thread_id": "1", "user_id": ALICE.key}}
    there: RunnableConfig = {"configurable": {"thread_id": "1", "user_id": BOB.key}}
    graph.invoke({"said": ["Alice"]}, here)
    assert graph.get_state(there).values == {}
    graph.invoke({"said": ["Bob"]}, there)
    assert graph.get_state(here).values["said"][0] == "Alice"
    # A config that was given back leads to the same person.
    first = list(graph.get_state_history(here))[-2]
    assert graph.invoke(None, first.config)["said"] == ["Alice", "one", "two"]
    with pytest.raises(tacit.InvalidInput, match="pass a view"):
        Checkpointer(whose(memory)).delete_thread("1")
    with pytest.raises(tacit.InvalidInput, match=r"memory\.view"):
        Checkpointer("alice")  # type: ignore[arg-type]


def changes(checkpointer: Any) -> Any:
    """Whose one channel is kept as changes, and whole only now and then."""
    channel = DeltaChannel(lambda whole, new: [*whole, *[x for one in new for x in one]], list)

    class Changing(TypedDict):
        said: Annotated[list[str], channel]

    builder = StateGraph(Changing)
    builder.add_node("echo", lambda state: {"said": [f"{len(state['said'])}"]})
    builder.add_edge(START, "echo")
    return builder.compile(checkpointer=checkpointer)


def test_pruning_leaves_what_a_channel_of_changes_is_put_together_from(memory: Memory) -> None:
    ours = saver(memory)
    graph = changes(ours)
    for word in ("a", "b", "c"):
        said = graph.invoke({"said": [word]}, AT)["said"]
    ours.prune(["trip"])
    assert graph.get_state(AT).values["said"] == said == ["a", "1", "b", "3", "c", "5"]
    ours.copy_thread("trip", "copy")
    copy: RunnableConfig = {"configurable": {"thread_id": "copy"}}
    assert graph.invoke({"said": ["d"]}, copy)["said"] == [*said, "d", "7"]
    assert graph.get_state(AT).values["said"] == said


def test_pruning_keeps_the_newest_and_the_values_it_has(memory: Memory) -> None:
    ours = saver(memory)
    graph = counting(ours)
    graph.invoke({"said": ["zero"]}, AT)
    ours.prune(["trip"])
    (left,) = graph.get_state_history(AT)
    assert (left.values, left.parent_config) == ({"said": ["zero", "one", "two"]}, None)
    assert graph.invoke({"said": ["more"]}, AT)["said"][-3:] == ["more", "one", "two"]
    with pytest.raises(ValueError, match="keep_latest"):
        ours.prune(["trip"], strategy="some")


def test_a_checkpointer_for_many_does_not_guess_whose_threads_move_in(memory: Memory) -> None:
    many = Checkpointer(lambda config: private(memory, config["configurable"]["who"]))
    with pytest.raises(tacit.InvalidInput, match="for one person"):
        many.take_in(InMemorySaver())


@pytest.mark.parametrize("make", [asking, counting, changes])
def test_what_was_kept_in_memory_moves_in_whole_and_once(memory: Memory, make: Any) -> None:
    before, ours = InMemorySaver(), saver(memory)
    elsewhere: RunnableConfig = {"configurable": {"thread_id": "elsewhere"}}
    old = make(before)
    for config in (AT, elsewhere):
        old.invoke({"said": ["hello"]}, config)
    count = len(list(before.list(None)))
    assert ours.take_in(before, ["trip"]) + ours.take_in(before) == count
    assert ours.take_in(before) == 0
    graph = make(ours)
    for config in (AT, elsewhere):
        assert graph.get_state(config).next == old.get_state(config).next
        told = [[(s.values, s.metadata) for s in g.get_state_history(config)] for g in (old, graph)]
        assert told[0] == told[1]
        assert graph.invoke(Command(resume="May"), config) == old.invoke(Command(resume="May"), config)


@pytest.mark.parametrize("version", [1, f"{1:032}.0.5"])
def test_versions_of_others_never_mix_two_branches_up(memory: Memory, version: Any) -> None:
    """As checkpointers make them that count from one, or draw them by a chance that was seeded."""
    ours = saver(memory)
    configs = []
    for value in (["first"], ["second"]):
        checkpoint = {**empty_checkpoint(), "channel_values": {"x": value}}
        checkpoint["channel_versions"] = {"x": version}
        at: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        configs.append(ours.put(at, checkpoint, {}, {"x": version}))  # type: ignore[arg-type]
    found = [ours.get(config) for config in configs]
    assert [one and one["channel_values"]["x"] for one in found] == [["first"], ["second"]]
    assert ours.get_next_version(version, None).startswith(f"{2:032}.")


class Backwards:
    """A cipher that needs no package."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "backwards", plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        return ciphertext[::-1]


def test_an_encrypted_state_is_kept_without_its_words(database_url: str) -> None:
    serde = EncryptedSerializer(Backwards())
    with tacit.open(database_url, embedder=None) as memory:
        graph = counting(saver(memory, serde=serde))
        graph.invoke({"said": ["Qxsecretword" * 30]}, AT)
        assert graph.get_state(AT).values["said"][0].startswith("Qxsecret")
        kept = list(private(memory, ALICE).checkpoints.steps.list("trip"))
        parts = [data for one in kept for data in (one.step.data, *(v.data for v in one.values))]
        assert parts
        assert not [data for data in parts if b"Qxsecret" in data]


def test_what_cannot_be_kept_is_refused_in_words(memory: Memory) -> None:
    ours = saver(memory)
    at: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
    for config, field in (
        ({"configurable": {}}, "thread_id"),
        ({"configurable": {"thread_id": "x" * 256}}, "thread"),
        ({"configurable": {"thread_id": "a\x00b"}}, "thread"),
        ({"configurable": {"thread_id": "1", "checkpoint_ns": "é" * 500}}, "ns"),
    ):
        with pytest.raises(tacit.InvalidInput, match=field):
            ours.put(config, empty_checkpoint(), {}, {})  # type: ignore[arg-type]
        with pytest.raises(tacit.InvalidInput, match=field):
            ours.get_tuple(config)  # type: ignore[arg-type]
    with pytest.raises(tacit.InvalidInput, match="metadata"):
        ours.put(at, empty_checkpoint(), {"source": object()}, {})  # type: ignore[typeddict-item]
    with pytest.raises(tacit.InvalidInput, match="checkpoint_id"):
        ours.put_writes(at, [("a", 1)], "task")
    with pytest.raises(tacit.InvalidInput, match="list"):
        ours.delete_for_runs("run")
    assert list(ours.list(None)) == []
