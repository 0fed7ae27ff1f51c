"""A script written for mem0 (`infer=False`): only its import has changed.

Run it:

    python examples/mem0_script.py

It prints:

    ADD user: I always take the window seat
    ADD assistant: Noted, a window seat on every flight
    ADD user: My passport number is with Carol
    search: I always take the window seat (travel)
    for bob: nothing
    Memory updated successfully!
    get: I always take an aisle seat, since my knee is bad (booking)
    history: ADD, UPDATE
    Memory deleted successfully!
    history: ADD, UPDATE, DELETE
    get: None
    left: 2
    ValueError for an id that is gone
    Memories deleted successfully!
    left: 0
"""

from typing import Any

from tacit.integrations.mem0 import Memory

ALICE: dict[str, Any] = {"user_id": "example-alice"}
BOB: dict[str, Any] = {"user_id": "example-bob"}


def events(memory: Memory, memory_id: str) -> str:
    return ", ".join(entry["event"] for entry in memory.history(memory_id))


def main(memory: Memory) -> None:
    said = [
        {"role": "system", "content": "You book journeys."},
        {"role": "user", "content": "I always take the window seat"},
        {"role": "assistant", "content": "Noted, a window seat on every flight"},
        {"role": "user", "content": "My passport number is with Carol"},
    ]
    added = memory.add(said, **ALICE, agent_id="booking", metadata={"topic": "travel"}, infer=False)
    for one in added["results"]:
        print(f"{one['event']} {one['role']}: {one['memory']}")
    seat = added["results"][0]["id"]

    found = memory.search("where do I take a seat?", filters=ALICE, top_k=1)["results"][0]
    print(f"search: {found['memory']} ({found['metadata']['topic']})")
    others = memory.search("where do I take a seat?", filters=BOB)["results"]
    print("for bob:", others or "nothing")

    print(memory.update(seat, text="I always take an aisle seat, since my knee is bad")["message"])
    changed = memory.get(seat) or {}
    print(f"get: {changed['memory']} ({changed['agent_id']})")
    print("history:", events(memory, seat))

    print(memory.delete(seat)["message"])
    print("history:", events(memory, seat))
    print("get:", memory.get(seat))
    print("left:", len(memory.get_all(filters=ALICE)["results"]))
    try:
        memory.delete(seat)
    except ValueError:
        print("ValueError for an id that is gone")

    print(memory.delete_all(**ALICE)["message"])
    print("left:", len(memory.get_all(filters=ALICE)["results"]))


with Memory() as memory:
    main(memory)
