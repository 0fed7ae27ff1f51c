"""Scripts that were written for mem0, on Tacit: each call gives what mem0 gave. What that was, is
recorded by `make test-mem0`, which runs the same scripts on mem0 itself."""

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from bench.mem0_child import OURS, run
from bench.mem0_compare import comparable, differences
from bench.mem0_shapes import RECORDS, SCRIPTS
from tacit.integrations.mem0 import Memory, person
from tacit.transfer import importers


def test_every_script_has_a_record_and_every_record_a_script() -> None:
    assert sorted(path.stem for path in RECORDS.iterdir()) == sorted(path.stem for path in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_for_mem0_runs_unchanged_but_for_its_import(
    script: Path, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = "postgres" if database_url.startswith("postgres") else "sqlite"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TACIT_DB_DRIVER", driver)
    monkeypatch.setenv("TACIT_DB_DSN", database_url)
    theirs = json.loads((RECORDS / f"{script.stem}.json").read_text())
    assert differences(theirs, comparable(run(OURS, script))) == []


def test_a_difference_is_told_with_its_call() -> None:
    theirs = [{"word": "Memory.get", "result": None}]
    ours = [{"word": "Memory.get", "result": {"id": "an id"}}]
    assert len(differences(theirs, ours)) == 1
    assert "Memory.get" in differences(theirs, ours)[0]
    assert differences(theirs, []) == ["1 calls on mem0, 0 on Tacit"]


# What mem0 held and was moved here.

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
