"""Scripts that were written for mem0, on Tacit: each call gives what mem0 gave. What that was, is
recorded by `make test-mem0`, which runs the same scripts on mem0 itself."""

import json
from pathlib import Path

import pytest

from bench.mem0_child import OURS, run
from bench.mem0_compare import comparable, differences
from bench.mem0_shapes import RECORDS, SCRIPTS


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
