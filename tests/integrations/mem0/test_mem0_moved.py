"""What mem0 held and was moved here: a script finds it as it was."""

import json
from pathlib import Path
from typing import Any

import tacit
from tacit.integrations.mem0 import Memory, person
from tacit.transfer import importers

ALICE: dict[str, Any] = {"user_id": "alice"}
EXPORTED = {
    "results": [
        {
            "id": "8a2c1f6e-2c5e-4d0e-9f5b-3f6a1c2d4e5f",
            "memory": "I keep bees",
            "hash": "c4ca4238a0b923820dcc509a6f75849b",
            "metadata": {"topic": "garden"},
            "created_at": "2025-05-01T10:00:00+00:00",
            "updated_at": "2025-05-01T10:00:00+00:00",
            "user_id": "alice",
            "agent_id": "bot",
            "run_id": "r1",
            "actor_id": "alice",
            "role": "user",
            "expiration_date": "2099-12-31",
        }
    ]
}


def test_a_script_finds_what_was_moved_as_it_was(store: tacit.Memory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(EXPORTED))
    key = person(**ALICE)
    view = store.space("mem0").view(tacit.Requester(key), tacit.Chat.private(key))
    assert importers.import_source(view, importers.open_source(file, "mem0")).created == 1
    memory = Memory(memory=store)
    memory.add("I keep wasps", **ALICE, agent_id="bot", infer=False)
    whole = {**ALICE, "agent_id": "bot", "run_id": "r1"}
    (found,) = memory.search("bees", filters=whole)["results"]
    known = EXPORTED["results"][0]
    same = known.keys() - {"id", "hash", "updated_at"}
    assert {name: found[name] for name in same} == {name: known[name] for name in same}
    assert memory.get_all(filters={**ALICE, "run_id": "r2"}) == {"results": []}
    assert len(memory.search("keep", filters={**ALICE, "agent_id": "bot"})["results"]) == 2
    memory.update(found["id"], "I keep two hives")
    assert (memory.get(found["id"]) or {})["run_id"] == "r1"
