"""`add` as mem0 has it by default: what is worth keeping is learned, and told at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tacit
from tacit.compat.mem0 import Memory
from tests.contract.rooms import SetClock
from tests.contract.scripted import HEDGEHOGS, by_model, fact, facts
from tests.language.endpoint import serving

GARDEN = "The speaker's garden has become a home for eleven hedgehogs"
ALICE: dict[str, Any] = {"user_id": "alice"}


def told(results: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str]]:
    return [(one["event"], one["memory"]) for one in results["results"]]


def test_what_is_learned_is_told_with_its_metadata_and_its_run(memory: Memory) -> None:
    added = memory.add(
        [
            {"role": "system", "content": "You book journeys."},
            {"role": "user", "content": "I live in Paris.", "name": "alice"},
            {"role": "assistant", "content": "And I live in the cloud."},
            {"role": "user", "content": "I live in Oslo myself.", "name": "bob"},
        ],
        **ALICE,
        run_id="r1",
        agent_id="bot",
        metadata={"topic": "home"},
    )
    assert told(added) == [("ADD", "The speaker lives in Paris")]
    (found,) = memory.get_all(filters={**ALICE, "run_id": "r1", "agent_id": "bot"})["results"]
    assert found["id"] == added["results"][0]["id"]
    assert found["metadata"] == {"topic": "home"}
    assert memory.get_all(filters={"user_id": "bob"}) == {"results": []}


def test_a_correction_is_told_as_an_update(memory: Memory) -> None:
    (first,) = memory.add("I live in Paris.", **ALICE)["results"]
    second = memory.add("I live in Rome now.", **ALICE)
    assert told(second) == [("UPDATE", "The speaker lives in Rome")]
    assert second["results"][0]["id"] == first["id"]
    (found,) = memory.get_all(filters=ALICE)["results"]
    assert found["memory"] == "The speaker lives in Rome"
    assert [entry["event"] for entry in memory.history(first["id"])] == ["ADD", "UPDATE"]


def test_what_teaches_nothing_or_holds_a_secret_gives_nothing(memory: Memory) -> None:
    assert told(memory.add("Hello there, how are you today?", **ALICE)) == []
    assert told(memory.add("My password is hunter2hunter2!", **ALICE)) == []
    assert told(memory.add([{"role": "assistant", "content": "I live in Paris."}], **ALICE)) == []


def test_a_model_is_asked_at_once_where_there_is_one(clock: SetClock) -> None:
    with serving() as endpoint:
        endpoint.always = facts(fact(GARDEN, "the garden has become a home for eleven hedgehogs"))
        settings = by_model(endpoint)
        with tacit.open("sqlite://", settings=settings, clock=clock, embedder=None) as store:
            assert told(Memory(memory=store).add(HEDGEHOGS, **ALICE)) == [("ADD", GARDEN)]


def test_metadata_that_is_said_at_once_is_all_kept(memory: Memory) -> None:
    (made,) = memory.add("a fact", user_id="alice", infer=False)["results"]
    with ThreadPoolExecutor(4) as pool:
        for n in range(8):
            pool.submit(memory.update, made["id"], metadata={f"n{n}": n})
    found = memory.get(made["id"])
    assert found is not None
    assert found["metadata"] == {f"n{n}": n for n in range(8)}


def test_metadata_that_does_not_fit_with_what_was_there_takes_its_place(memory: Memory) -> None:
    for name in ("first", "second"):
        memory.add("I live in Lisbon", user_id="alice", metadata={name: "x" * 40_000})
        memory.add("I live in Porto", user_id="alice", metadata={name: "x" * 40_000})
    found = memory.get_all(user_id="alice")["results"]
    assert [list(one["metadata"]) for one in found] == [["second"]]
