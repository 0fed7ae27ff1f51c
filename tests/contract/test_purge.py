"""Purge: what was forgotten long enough ago is gone from every table, and nothing else is."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Connection, TextClause, text

import tacit
from tacit import limits
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.tasks import StepProgress
from tacit.memory import Memory
from tacit.settings import LearnSettings, LifecycleSettings, Settings
from tacit.storage.schema import metadata
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private, said
from tests.contract.rows import rows

SAID: Any = {"visibility": "room", "sensitivity": "public"}
BY_HAND = Settings(learn=LearnSettings(workers=0))  # nothing sweeps behind a test's back


@pytest.fixture
def memory(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=BY_HAND)


def days(memory: Memory, clock: SetClock, count: int) -> list[int]:
    """Day by day, swept and purged on each; how many were purged."""
    purged = []
    for _ in range(count):
        clock.forward(days=1)
        assert memory.jobs.expire().waits is None
        purged.append(memory.jobs.purge().count)
    return purged


def everything(memory: Memory) -> str:
    """Every row of every table, as one text."""
    names = list(metadata.tables)
    if memory._storage.database.dialect.name == "sqlite":
        names += ["fts_rows", "fts_index"]
    with memory._storage.database.read() as connection:
        found = [connection.execute(text(f"SELECT * FROM {name}")).all() for name in names]
    return repr(found)


def test_what_was_forgotten_is_restorable_until_it_is_purged(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    id = kept(alice, "Alice likes tea")
    alice.forget(id)
    assert days(memory, clock, 29) == [0] * 29
    alice.restore(id)
    assert said(alice.list()) == ["Alice likes tea"]
    alice.forget(id)
    assert days(memory, clock, 30) == [0] * 29 + [1]
    with pytest.raises(tacit.NotFound):
        alice.restore(id)
    with pytest.raises(tacit.NotFound):
        alice.show(id)


def test_what_is_overdue_can_be_restored_as_long_as_nobody_purged(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    id = kept(alice, "Alice likes tea")
    alice.forget(id)
    days(memory, clock, 29)
    clock.forward(days=3)
    alice.restore(id)
    assert memory.jobs.purge().count == 0
    assert said(alice.list()) == ["Alice likes tea"]


def test_purged_is_gone_from_every_table(memory: Memory, clock: SetClock) -> None:
    room, alice = group(memory, ALICE, here=(ALICE, BOB)), private(memory, ALICE)
    stays = kept(alice, "Alice has a garden")
    gone = kept(room, "zanzibar", about=["Tom"], withheld_from=["Sarah"], tags=["t"], **SAID)
    newer = alice.update(gone, "zanzibar again").id  # said in private, it takes the place of that
    assert newer != gone
    alice.relate(newer, stays)
    alice.recall("zanzibar")
    alice.forget(newer)
    assert sum(days(memory, clock, 30)) == 2
    assert memory.admin.maintain().problems == ()
    left = everything(memory)
    assert gone not in left
    assert newer not in left
    assert "zanzibar" not in left
    assert "Tom" not in left  # known by nothing else
    assert stays in left
    assert rows(memory, "SELECT count(*), sum(CASE WHEN scrubbed THEN 1 ELSE 0 END) FROM tombstones") == [(2, 2)]


def _execute(statement: TextClause, values: dict[str, str], connection: Connection) -> None:
    connection.execute(statement, values)


def test_with_a_memory_goes_what_it_replaced(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    chain = [kept(alice, f"Alice lives in city {n}") for n in range(4)]
    statement = text("UPDATE memories SET state = 'superseded', superseded_by = :by WHERE id = :id")
    for old, new in pairwise(chain):
        memory._storage.database.write(partial(_execute, statement, {"id": old, "by": new}))
    assert days(memory, clock, 40) == [0] * 40  # they stay with what took their place
    alice.forget(chain[-1])
    assert days(memory, clock, 30)[-1] == 4
    assert rows(memory, "SELECT count(*) FROM memories") == [(0,)]


def test_a_purged_value_does_not_bring_back_an_older_one_of_another_identity(memory: Memory, clock: SetClock) -> None:
    phone, account = tacit.Requester("telegram:1001"), tacit.Requester("acct:alice")
    private(memory, phone).put("profile", "city", "Porto")
    memory.admin.link("telegram:1001", "acct:alice")
    both = private(memory, account)
    both.put("profile", "city", "Lisbon")
    both.forget_key("profile", "city")
    assert both.get("profile", "city") is None
    days(memory, clock, 31)
    assert both.get("profile", "city") is None
    assert private(memory, phone).get("profile", "city") is None
    days(memory, clock, 31)
    assert rows(memory, "SELECT count(*) FROM memories") == [(0,)]


def test_how_long_things_are_restorable_is_a_setting(database_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(database_url, settings=replace(BY_HAND, lifecycle=LifecycleSettings(restorable_days=2)))
    alice = private(memory, ALICE)
    alice.forget(kept(alice, "Alice likes tea"))
    kept(alice, "Alice is in the kitchen", kind="context")
    assert days(memory, clock, 9) == [0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_purge_goes_in_steps_and_may_be_killed_between_any_two(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    count = limits.SWEEP_BATCH_COUNT + 30
    for n in range(count):
        alice.forget(kept(alice, f"Alice saw {n} boats"))
    days(memory, clock, 29)
    clock.forward(days=1)
    step = build_purge_task(memory._storage, memory._runtime.upkeep)

    class Killed(Exception):
        pass

    def die(_: object, __: object) -> None:
        raise Killed

    with pytest.raises(Killed):
        step("default", StepProgress(), die)
    assert rows(memory, "SELECT count(*) FROM memories") == [(count,)]
    after = step("default", StepProgress(), lambda *_: None)
    assert (after.counts, after.cursor is None) == ({"purged": count - 30}, False)
    assert memory.jobs.purge().count == 30  # from the beginning, and yet nothing twice


def test_other_spaces_and_other_people_keep_what_is_theirs(memory: Memory, clock: SetClock) -> None:
    elsewhere = memory.space("elsewhere")
    for where in (memory, elsewhere):
        for who in (ALICE, BOB):
            view = private(where, who)
            kept(view, "Somebody likes cake")
            view.forget(kept(view, "Somebody likes tea"))
    assert sum(days(memory, clock, 30)) == 2
    assert rows(memory, "SELECT count(*) FROM memories WHERE space_id = 'default'") == [(2,)]
    assert rows(memory, "SELECT count(*) FROM memories WHERE space_id = 'elsewhere'") == [(4,)]
