"""`tacit jobs`: what comes round, and running it now."""

from pathlib import Path

from sqlalchemy import text

from tacit.bootstrap import open_memory
from tacit.lifecycle.tasks import SaveProgress, StepProgress
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001")


def test_what_ran_is_told_with_its_result(on_file: Tacit) -> None:
    on_file("remember", "tea", *ALICE, "--expires-at", "2000-01-01T00:00:00Z")
    assert on_file("jobs").out.splitlines()[0].split() == ["expire", "idle", "never", "ran"]
    ran = on_file("jobs", "run", "expire")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "ran  expire  1 expired\n"
    told = on_file("jobs").out.splitlines()[0]
    assert told.startswith("expire       idle  due ")
    assert told.endswith(": 1 expired")
    found = {one["task"]: one for one in on_file("jobs", "--json").json["jobs"]}
    assert list(found["expire"]) == ["task", "state", "due_at", "counts", "attempts", "last"]
    assert list(found["expire"]["last"]) == ["started_at", "finished_at", "counts", "problem"]
    assert found["expire"]["last"]["counts"] == {"expired": 1}
    assert (found["purge"]["last"], found["purge"]["due_at"]) == (None, None)


def test_only_a_task_that_exists_can_be_run(on_file: Tacit) -> None:
    assert on_file("jobs", "run").code == 2
    ran = on_file("jobs", "run", "sweep")
    assert (ran.code, ran.out) == (2, "")
    assert "is not one of expire, purge, consolidate, reflect, reembed, summarise" in ran.err
    assert "docs/jobs.md" in on_file("jobs", "run", "reflect").err


def test_what_somebody_else_is_at_is_a_conflict(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "tea", *ALICE)
    codes: list[int] = []
    idle = Settings(learn=LearnSettings(workers=0))
    with open_memory(tmp_path / "memory.sqlite", settings=idle, embedder=None) as memory:
        ordinary = memory._runtime.tasks["expire"]

        def meanwhile(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
            codes.append(on_file("jobs", "run", "expire").code)
            return ordinary(space, before, save)

        memory._runtime.tasks["expire"] = meanwhile
        memory.jobs.run("expire")
    assert codes == [4]


def test_working_once_runs_what_is_due(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "tea", *ALICE)
    assert on_file("work", "--once", "--json").json["ran"] == 0
    idle = Settings(learn=LearnSettings(workers=0))
    with open_memory(tmp_path / "memory.sqlite", settings=idle, embedder=None) as memory:
        _all_due(memory)
    assert on_file("work", "--once").out.splitlines()[1] == "ran      3 tasks"


def _all_due(memory: Memory) -> None:
    memory._storage.database.write(lambda c: c.execute(text("UPDATE jobs SET due_at = 1")))
