"""Checkpoints of graphs where something goes wrong: cut off, handed in twice, or no longer whole."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import tacit
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite
from tacit.storage import checkpoints, spaces, statements
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, CAROL, TEAM, SetClock, group, private

ACCOUNT = tacit.Requester("acct:42")


def step(id: str, **versions: str) -> GraphStep:
    return GraphStep(thread="t", id=id, type="x", data=b"-", versions=versions)


def value(channel: str, version: str, data: bytes) -> StepValue:
    return StepValue(channel=channel, version=version, type="x", data=data)


def write(data: bytes, index: int = 0) -> StepWrite:
    return StepWrite(task="k", index=index, channel="c", type="x", data=data)


def test_a_save_that_is_interrupted_leaves_nothing_and_holds_nobody_up(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    here, there = (private(opened(url), ALICE) for _ in range(2))
    here.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"whole")])
    assert there.remember("I was here")
    execute, calls = statements.execute_on_driver, itertools.count(1)

    def interrupted(*given: Any, **how: Any) -> Any:
        if next(calls) == 3:  # after the guard and the step, before its value
            raise KeyboardInterrupt
        return execute(*given, **how)

    monkeypatch.setattr(statements, "execute_on_driver", interrupted)
    with pytest.raises(KeyboardInterrupt):
        here.checkpoints.steps.save(step("2", c="2"), [value("c", "2", b"half")])
    found = here.checkpoints.steps.find("t")
    assert found is not None
    assert found.step.id == "1"
    assert here.remember("I write again")
    assert there.remember("And so does somebody else")


@pytest.mark.parametrize("values", [[], [value("c", "2", b"new")]])
def test_the_short_way_adds_nothing_once_identities_have_changed(
    memory: Memory, values: list[StepValue], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    view.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"old")])
    database, answers = memory._storage.database, []
    write_if = database.write_if

    def noted(*given: Any) -> bool:
        answers.append(write_if(*given))
        return answers[-1]

    monkeypatch.setattr(database, "write_if", noted)
    later = step("2", c=values[0].version if values else "1")
    view.checkpoints.steps.save(later, values)
    with database.read() as connection:
        rev = spaces.identity_revision(connection, "default")
    moved = {"space": "default", "rev": rev + 1}
    guard, added = checkpoints._IDENTITIES_UNCHANGED, answers.copy()
    row = {"space_id": "default", "person": "ext:x", "chat": "", "thread": "t", "ns": ""}
    assert added == [True]
    assert not write_if((guard, moved), [(checkpoints._KEEP_WRITE, _written(row, n)) for n in "12"])
    assert not write_if((guard, moved), [(checkpoints._KEEP_WRITE, _written(row, "1"))])
    with database.read() as connection:
        assert not connection.execute(text("SELECT * FROM graph_writes")).all()


def _written(row: dict[str, Any], task: str) -> dict[str, Any]:
    written = {"step": "2", "task": task, "idx": 0, "path": "", "channel": "c", "type": "x"}
    return {**row, **written, "audience": None, "categories": None, "saved_at": 1, "data": b"-"}


def test_what_is_handed_in_twice_at_once_is_kept_once(memory: Memory) -> None:
    steps = private(memory, ALICE).checkpoints.steps
    for _ in range(2):
        steps.save(step("1", c="1"), [value("c", "1", b"same"), value("c", "1", b"same")])
        steps.write("t", "", "1", [write(b"first"), write(b"second")])
        found = steps.find("t")
        assert found is not None
        assert [one.data for one in found.values] == [b"same"]
        assert [one.data for one in found.writes] == [b"first"]
        steps.write("t", "", "1", [write(b"third"), write(b"last")], replace=True)
        found = steps.find("t")
        assert found is not None
        assert [one.data for one in found.writes] == [b"last"]
        steps.delete_thread("t")


def test_a_step_whose_values_are_anothers_by_now_is_absent_and_not_half_there(memory: Memory) -> None:
    there, here = private(memory, ACCOUNT), private(memory, ALICE)
    here.checkpoints.steps.save(step("1", a="1"), [value("a", "1", b"telegram")])
    memory.admin.link(ALICE.key, ACCOUNT.key)
    there.checkpoints.steps.save(step("2", a="1", b="2"), [value("b", "2", b"account")])
    whole = there.checkpoints.steps.find("t")
    assert whole is not None
    assert {one.data for one in whole.values} == {b"telegram", b"account"}
    memory.admin.unlink(ALICE.key)
    assert there.checkpoints.steps.find("t") is None
    assert list(there.checkpoints.steps.list()) == []
    found = here.checkpoints.steps.find("t")
    assert found is not None
    assert [one.data for one in found.values] == [b"telegram"]


def test_an_erasure_reaches_who_was_the_same_person_while_it_was_there(memory: Memory, clock: SetClock) -> None:
    there, here = private(memory, ACCOUNT), private(memory, ALICE)
    id = here.remember("I have a secret garden").id
    memory.admin.link(ALICE.key, ACCOUNT.key)
    clock.forward(seconds=1)
    assert [one.content for one in there.list()] == ["I have a secret garden"]
    there.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"I have a secret garden")])
    there.checkpoints.save({"heard": "I have a secret garden"})
    memory.admin.unlink(ALICE.key)
    here.erase(id)
    assert there.checkpoints.steps.find("t") is None
    assert there.checkpoints.get() is None


def test_a_graph_within_a_graph_is_not_for_who_came_while_it_ran(memory: Memory) -> None:
    def within(ns: str, id: str) -> GraphStep:
        return GraphStep(thread="t", ns=ns, id=id, type="x", data=b"-")

    group(memory, ALICE).checkpoints.steps.save(step("1"))
    later = group(memory, ALICE, here=(ALICE, BOB, CAROL)).checkpoints.steps
    for number, ns in enumerate(("child", "child|grandchild"), start=2):
        later.save(within(ns, str(number)))
        assert later.find("t", ns) is None
    later.save(step("4"))  # they begin anew, with all who are there
    later.save(within("child", "5"))
    assert later.find("t", "child") is not None
    memory.chats.leave(TEAM, CAROL.key)
    assert group(memory, ALICE).checkpoints.steps.find("t", "child|grandchild") is not None
