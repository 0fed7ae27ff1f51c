"""Every word of mem0's, with what scripts do wrong: run on mem0 and on Tacit by `mem0_shapes.py`.

It is one of the two scripts that are compared; what it prints is of no interest, its calls are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tacit.integrations.mem0 import AsyncMemory, Memory

ANN: dict[str, Any] = {"user_id": "ann"}
NOBODY = "00000000-0000-4000-8000-000000000000"


def refused(call: Callable[[], Any]) -> None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - which one it is, is what is compared
        print(type(error).__name__)


def adds(memory: Memory) -> None:
    memory.add("Ann keeps bees in the garden", **ANN, infer=False)
    memory.add({"role": "user", "content": "Ann swims on Mondays"}, **ANN, infer=False)
    memory.add(
        [
            {"role": "system", "content": "You are a helper"},
            {"role": "user", "name": "ann", "content": "Ann reads crime novels"},
            {"role": "assistant", "content": "Crime novels it is"},
            {"role": "assistant", "content": None},
            {"role": "user", "content": [{"type": "text", "text": "Ann paints boats"}]},
        ],
        **ANN,
        agent_id="helper",
        run_id="r1",
        metadata={"topic": "leisure", "stars": 4, "tags": ["a", "b"], "user_id": "somebody"},
        infer=False,
    )
    memory.add("Ann cooks lentils", **ANN, infer=False, metadata={"topic": "food", "stars": 2, "ok": True})
    memory.add("Ann drinks oat milk", **ANN, infer=False, expiration_date="2099-12-31")
    memory.add("Ann rents a scooter", **ANN, infer=False, expiration_date="2020-01-31")
    memory.add("The helper answers briefly", agent_id="helper", infer=False)
    memory.add("This run is about bees", run_id="r9", infer=False)
    memory.add("Number seven likes walks", user_id=7, infer=False)
    memory.add([], **ANN, infer=False)


def refusals(memory: Memory) -> None:
    refused(lambda: memory.add("nobody's", infer=False))
    refused(lambda: memory.add("whose", user_id="  ", infer=False))
    refused(lambda: memory.add("whose", user_id="two words", infer=False))
    refused(lambda: memory.add(12, **ANN, infer=False))
    refused(lambda: memory.add("odd", **ANN, memory_type="episodic", infer=False))
    refused(lambda: memory.add("odd", **ANN, expiration_date="tomorrow", infer=False))
    refused(lambda: memory.add("odd", **ANN, timestamp=1, infer=False))
    refused(lambda: memory.search("bees"))
    refused(lambda: memory.search("   ", filters=ANN))
    refused(lambda: memory.search("bees", filters=ANN, threshold=2))
    refused(lambda: memory.search("bees", filters=ANN, top_k=-1))
    refused(lambda: memory.search("bees", filters=ANN, reference_date="2026-01-01"))
    refused(lambda: memory.search("bees", filters={**ANN, "stars": {"above": 3}}))
    refused(lambda: memory.search("bees", filters={**ANN, "OR": []}))
    refused(lambda: memory.get_all(filters={"topic": "food"}))
    refused(lambda: memory.get_all(filters={"user_id": ""}))
    refused(lambda: memory.get_all(filters=ANN, top_k=-3))
    refused(lambda: memory.delete(NOBODY))
    refused(lambda: memory.update(NOBODY, text="nothing"))
    refused(memory.delete_all)
    memory.get(NOBODY)
    memory.history(NOBODY)


def finds(memory: Memory) -> None:
    memory.search("bees garden", filters=ANN)
    memory.search("bees garden", filters=ANN, threshold=0.4)
    memory.search("rents scooter", filters=ANN, threshold=0.4)
    memory.search("reads novels", filters={**ANN, "agent_id": "helper"}, top_k=1)
    memory.search("crime novels", filters={**ANN, "agent_id": "stranger"})
    memory.search("bees", filters={"run_id": "r9"})
    memory.search("answers briefly", filters={"agent_id": "helper", "run_id": "none"})
    memory.search("lentils", filters=ANN, explain=True, rerank=True)
    memory.search("rents scooter", filters=ANN)
    memory.search("rents scooter", filters=ANN, show_expired=True)
    memory.search("walks", filters={"user_id": 7})
    for condition in (
        {"topic": "food"},
        {"topic": {"ne": "food"}},
        {"topic": {"in": ["food", "sport"]}},
        {"topic": ["food", "sport"]},
        {"topic": {"nin": ["food"]}},
        {"topic": "*"},
        {"topic": {"contains": "food"}},
        {"stars": {"gt": 2}},
        {"stars": {"gte": 2, "lt": 4}},
        {"stars": {"eq": 4}},
        {"ok": True},
        {"tags": "a"},
        {"tags": {"ne": "a"}},
        {"actor_id": "ann"},
        {"role": "assistant"},
        {"created_at": {"gt": "2020-01-01T00:00:00+00:00"}},
        {"created_at": {"gt": "2990-01-01"}},
        {"AND": [{"topic": "food"}, {"stars": {"lt": 3}}]},
        {"OR": [{"topic": "food"}, {"stars": 4}]},
        {"NOT": [{"topic": "food"}]},
    ):
        memory.search("Ann", filters={**ANN, **condition}, threshold=0.0)
    memory.get_all(filters=ANN)
    memory.get_all(filters=ANN, show_expired=True)
    memory.get_all(filters={**ANN, "run_id": "r1"}, top_k=50)
    memory.get_all(filters={**ANN, "topic": "food"})
    memory.get_all(filters={"agent_id": "helper", "run_id": "r2"})
    memory.get_all(filters={"user_id": "nobody"})


def changes(memory: Memory) -> None:
    seen = {one["memory"]: one["id"] for one in memory.get_all(filters=ANN)["results"]}
    bees, novels = seen["Ann keeps bees in the garden"], seen["Ann reads crime novels"]
    memory.update(bees, "Ann keeps two hives of bees")
    memory.update(bees, metadata={"topic": "garden", "agent_id": "elsewhere"})
    memory.update(bees, expiration_date="2098-02-03")
    memory.get(bees)
    memory.update(bees, expiration_date=None)
    memory.get(bees)
    memory.update(novels, data="Ann reads travel books", metadata={"stars": 5})
    refused(lambda: memory.update(novels))
    memory.get(novels)
    memory.history(novels)
    memory.delete(novels)
    memory.get(novels)
    memory.history(novels)
    refused(lambda: memory.update(novels, text="again"))
    refused(lambda: memory.delete(novels))
    memory.history(bees)
    memory.delete_all(**ANN, run_id="r1")
    memory.get_all(filters=ANN)
    memory.delete_all(user_id="ann")
    memory.get_all(filters=ANN, show_expired=True)
    memory.delete_all(user_id="nobody")
    memory.get_all(filters={"agent_id": "helper"})
    memory.reset()
    memory.get_all(filters={"agent_id": "helper"})
    memory.history(bees)


async def awaits(memory: AsyncMemory) -> None:
    added = await memory.add("Ben plays the oboe", user_id="ben", infer=False)
    id = added["results"][0]["id"]
    await memory.search("oboe", filters={"user_id": "ben"})
    await memory.get_all(filters={"user_id": "ben"})
    await memory.update(id, "Ben plays the bassoon")
    await memory.get(id)
    await memory.delete(id)
    await memory.history(id)
    await memory.delete_all(user_id="ben")
    await memory.reset()


async def afterwards() -> None:
    async with AsyncMemory() as memory:
        await awaits(memory)


with Memory() as memory:
    adds(memory)
    refusals(memory)
    finds(memory)
    changes(memory)
del memory  # mem0's file of vectors has one owner at a time
asyncio.run(afterwards())
