"""What time does to memories: they expire, fade and give way, and each of it is told once."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest
from sqlalchemy import Connection, TextClause, text

import tacit
from tacit import limits
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.tasks import StepProgress
from tacit.memory import Memory
from tacit.records.results import Expired
from tacit.settings import LearnSettings, LifecycleSettings, MemorySettings, SessionsSettings, Settings
from tacit.storage.schema import metadata
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, SetClock, group, kept, private, said
from tests.contract.rows import rows

BY_HAND = Settings(learn=LearnSettings(workers=0))  # nothing sweeps behind a test's back


@pytest.fixture
def memory(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=BY_HAND)


def days(memory: Memory, clock: SetClock, count: int) -> list[Expired]:
    """Day by day, swept on each."""
    done = []
    for _ in range(count):
        clock.forward(days=1)
        done.append(memory.jobs.expire())
    return done


def state(memory: Memory, id: str) -> str:
    (found,) = rows(memory, "SELECT state FROM memories WHERE id = :id", id=id)
    return str(found[0])


def test_the_sweep_turns_what_has_lapsed_into_expired_and_says_so_once(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    id = kept(alice, "Alice is in the kitchen", kind="context")
    since = alice.block().revision
    assert [one.expired for one in days(memory, clock, 8)] == [0] * 6 + [1, 0]
    assert state(memory, id) == "expired"
    (change,) = alice.delta(since).changes
    assert (change.event, change.memory_id, change.content) == ("expired", id, None)
    assert alice.delta(change.revision).changes == ()
    assert "expired" in alice.fresh("anything").text
    (event,) = [one for one in alice.history(id) if one.event == "TTL"]
    assert event.actor == "system"


def test_an_expired_memory_can_be_restored_until_it_is_purged(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    id = kept(alice, "Alice is in the kitchen", kind="context")
    days(memory, clock, 8 + 20)
    alice.restore(id)
    assert said(alice.list()) == ["Alice is in the kitchen"]
    assert sum(one.expired for one in days(memory, clock, 8)) == 1  # it has its seven days again


def test_a_pinned_memory_neither_fades_nor_gives_way_but_expires_when_somebody_said_so(
    database_url: str, opened: Open, clock: SetClock
) -> None:
    capped = replace(BY_HAND, lifecycle=LifecycleSettings(max_entries=1))
    memory = opened(database_url, settings=capped)
    alice = private(memory, ALICE)
    until = clock.now + timedelta(days=70)
    stays = kept(alice, "Alice was born in Porto", importance=1, pinned=True)
    goes = kept(alice, "The offer ends", importance=1, pinned=True, expires_at=until)
    done = days(memory, clock, 71)
    assert [sum(getattr(one, what) for one in done) for what in ("expired", "faded", "evicted")] == [1, 0, 0]
    assert [state(memory, id) for id in (stays, goes)] == ["active", "expired"]


def test_what_nobody_used_for_sixty_days_fades_if_it_matters_little(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    little = kept(alice, "Alice once had a blue pen", importance=2)
    usual = kept(alice, "Alice likes tea")
    since = alice.delta(0).revision
    assert sum(one.faded for one in days(memory, clock, 60)) == 0
    assert [one.faded for one in days(memory, clock, 2)] == [1, 0]
    assert [state(memory, id) for id in (little, usual)] == ["forgotten", "active"]
    (change,) = alice.delta(since).changes
    assert (change.event, change.memory_id, change.content) == ("soft_deleted", little, None)
    alice.restore(little)
    assert sum(one.faded for one in days(memory, clock, 60)) == 0  # to restore is to use


def test_to_use_a_memory_keeps_it_from_fading(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    things = {"recall": "blue pen", "query": "red cup", "fresh": "green hat", "show": "black jar"}
    ids = {use: kept(alice, f"Alice once had a {thing}", importance=1) for use, thing in things.items()}
    days(memory, clock, 50)
    for use, thing in things.items():
        _ = alice.show(ids[use]) if use == "show" else getattr(alice, use)(f"the {thing}")
    assert sum(one.faded for one in days(memory, clock, 60)) == 0
    assert sum(one.faded for one in days(memory, clock, 1)) == 4


def test_to_be_listed_or_to_stand_in_a_block_is_no_use(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    kept(alice, "Alice once had a blue pen", importance=1)
    for _ in range(60):
        assert "blue pen" in alice.block().text
        assert len(alice.list()) == 1
        days(memory, clock, 1)
    assert sum(one.faded for one in days(memory, clock, 1)) == 1


def test_the_threshold_of_fading_is_a_setting(database_url: str, opened: Open, clock: SetClock) -> None:
    chosen = LifecycleSettings(fade_after_days=5, fade_below_importance=5)
    memory = opened(database_url, settings=replace(BY_HAND, lifecycle=chosen))
    alice = private(memory, ALICE)
    four = [kept(alice, f"Alice has {n} cups", importance=4) for n in range(3)]
    five = kept(alice, "Alice is allergic to nuts", importance=5)
    assert [one.faded for one in days(memory, clock, 6)] == [0] * 5 + [3]
    assert [state(memory, id) for id in [*four, five]] == ["forgotten"] * 3 + ["active"]


def test_beyond_the_cap_what_is_used_least_gives_way(database_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(database_url, settings=replace(BY_HAND, lifecycle=LifecycleSettings(max_entries=3)))
    alice, bob = private(memory, ALICE), private(memory, BOB)
    alice.put("profile", "timezone", "Europe/Lisbon")
    ids = {word: kept(alice, f"Alice has a {word}") for word in ("cat", "dog", "cup", "hat")}
    others = [kept(bob, f"Bob has {n} keys") for n in range(3)]
    for _ in range(3):
        alice.recall("cat", top_k=1)
    alice.recall("dog", top_k=1)
    assert sum(one.evicted for one in days(memory, clock, 6)) == 0  # too young
    clock.forward(days=1)
    assert memory.jobs.expire().evicted == 2
    left = {word for word, id in ids.items() if state(memory, id) == "active"}
    assert left == {"cat", "dog"}  # the value of a key goes last
    assert alice.get("profile", "timezone") is not None
    assert [state(memory, id) for id in others] == ["active"] * 3
    assert memory.jobs.expire().evicted == 0


def test_turns_and_proposals_go_when_their_time_is_up(database_url: str, opened: Open, clock: SetClock) -> None:
    kept_turns = MemorySettings(sessions=SessionsSettings(keep=True, retention_days=3))
    memory = opened(database_url, settings=replace(BY_HAND, memory=kept_turns))
    alice = private(memory, ALICE)
    alice.record([tacit.Message("user", "We talked about the harbour")])
    done = days(memory, clock, 4)
    assert [one.turns for one in done] == [0, 0, 1, 0]
    assert rows(memory, "SELECT count(*) FROM memories") == [(0,)]
    assert rows(memory, "SELECT count(*) FROM tombstones WHERE NOT scrubbed") == [(0,)]


def test_old_changes_are_let_go_of_and_new_ones_stay(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    kept(alice, "Alice likes tea")
    alice.block()
    days(memory, clock, 60)
    newer = kept(alice, "Alice likes cake")
    cleared = sum(one.cleared for one in days(memory, clock, 40))
    assert cleared == 2  # the change, and when a block was taken
    assert [one.memory_id for one in alice.delta(0).changes] == [newer]


def test_another_process_hears_of_the_sweep_at_once(shared_url: str, opened: Open, clock: SetClock) -> None:
    one, other = (opened(shared_url, settings=BY_HAND) for _ in range(2))
    for n in range(3):
        kept(private(one, ALICE), f"Alice saw {n} apples", importance=1)
    days(one, clock, 60)
    warm = private(other, ALICE)
    assert len(warm.list()) == 3
    assert warm.block().text.count("apples") == 3
    assert days(one, clock, 1)[0].faded == 3
    assert list(warm.recall("apples")) == []
    assert "apples" not in warm.block().text
    warm.restore(rows(other, "SELECT id FROM memories")[0][0])
    assert len(private(one, ALICE).recall("apples")) == 1


def observed(memory: Memory) -> list[object]:
    view = group(memory, BOB, here=(ALICE, BOB, CAROL))
    told = view.delta(0)
    return [
        [(one.event, one.memory_id, one.content, one.category) for one in told.changes],
        view.block().text,
        [one.memory.content for one in view.recall("tea")],
        said(view.list()),
    ]


@pytest.mark.parametrize("hidden", [0, 5])
def test_a_room_hears_nothing_of_what_was_swept_behind_its_back(memory: Memory, clock: SetClock, hidden: int) -> None:
    room = group(memory, ALICE, here=(ALICE, BOB, CAROL))
    open_one = kept(room, "Tea is at five", kind="context", **ALOUD)
    for n in range(hidden):
        kept(room, f"Alice hides {n} tea bags", kind="context")  # for herself alone
        kept(room, f"Alice dropped {n} tea bags", importance=1)
    before = observed(memory)
    days(memory, clock, 61)
    assert before[0] == [("created", open_one, "Tea is at five", "context")]
    assert observed(memory) == [
        [("expired", open_one, None, None)],
        group(memory, CAROL, here=(ALICE, BOB, CAROL)).block().text,
        [],
        [],
    ]


def test_revisions_of_a_sweep_do_not_count_what_is_hidden(memory: Memory, clock: SetClock) -> None:
    room = group(memory, ALICE, here=(ALICE, BOB))
    kept(room, "Tea is at five", kind="context", **ALOUD)
    for n in range(9):
        kept(room, f"Alice hides {n} tea bags", kind="context")
    days(memory, clock, 7)
    (thread,) = rows(memory, "SELECT rev FROM thread_revisions")
    now = clock.now.timestamp() * 1_000_000
    assert thread[0] == now  # as if one thing had happened
    told = group(memory, BOB, here=(ALICE, BOB)).delta(0)
    assert now - 100_000 < told.revision <= now


def test_the_store_is_as_sound_after_a_sweep_as_before(memory: Memory, clock: SetClock) -> None:
    alice, room = private(memory, ALICE), group(memory, BOB, here=(ALICE, BOB))
    for n in range(10):
        kept(alice, f"Alice saw {n} boats", kind="context", about=["Tom"], withheld_from=["Sarah"])
        kept(room, f"Bob saw {n} boats", importance=1, **ALOUD)
        kept(room, f"The room saw {n} boats", importance=1, for_room=True)
    done = days(memory, clock, 61)
    assert sum(one.expired for one in done) == 10
    assert sum(one.faded for one in done) == 20
    assert memory.admin.maintain().problems == ()


def purged_days(memory: Memory, clock: SetClock, count: int) -> list[int]:
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
    assert purged_days(memory, clock, 29) == [0] * 29
    alice.restore(id)
    assert said(alice.list()) == ["Alice likes tea"]
    alice.forget(id)
    assert purged_days(memory, clock, 30) == [0] * 29 + [1]
    with pytest.raises(tacit.NotFound):
        alice.restore(id)
    with pytest.raises(tacit.NotFound):
        alice.show(id)


def test_what_is_overdue_can_be_restored_as_long_as_nobody_purged(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    id = kept(alice, "Alice likes tea")
    alice.forget(id)
    purged_days(memory, clock, 29)
    clock.forward(days=3)
    alice.restore(id)
    assert memory.jobs.purge().count == 0
    assert said(alice.list()) == ["Alice likes tea"]


def test_purged_is_gone_from_every_table(memory: Memory, clock: SetClock) -> None:
    room, alice = group(memory, ALICE, here=(ALICE, BOB)), private(memory, ALICE)
    stays = kept(alice, "Alice has a garden")
    gone = kept(room, "zanzibar", about=["Tom"], withheld_from=["Sarah"], tags=["t"], **ALOUD)
    newer = alice.update(gone, "zanzibar again").id  # said in private, it takes the place of that
    assert newer != gone
    alice.relate(newer, stays)
    alice.recall("zanzibar")
    alice.forget(newer)
    assert sum(purged_days(memory, clock, 30)) == 2
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
    assert purged_days(memory, clock, 40) == [0] * 40  # they stay with what took their place
    alice.forget(chain[-1])
    assert purged_days(memory, clock, 30)[-1] == 4
    assert rows(memory, "SELECT count(*) FROM memories") == [(0,)]


def test_a_purged_value_does_not_bring_back_an_older_one_of_another_identity(memory: Memory, clock: SetClock) -> None:
    phone, account = tacit.Requester("telegram:1001"), tacit.Requester("acct:alice")
    private(memory, phone).put("profile", "city", "Porto")
    memory.admin.link("telegram:1001", "acct:alice")
    both = private(memory, account)
    both.put("profile", "city", "Lisbon")
    both.forget_key("profile", "city")
    assert both.get("profile", "city") is None
    purged_days(memory, clock, 31)
    assert both.get("profile", "city") is None
    assert private(memory, phone).get("profile", "city") is None
    purged_days(memory, clock, 31)
    assert rows(memory, "SELECT count(*) FROM memories") == [(0,)]


def test_how_long_things_are_restorable_is_a_setting(database_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(database_url, settings=replace(BY_HAND, lifecycle=LifecycleSettings(restorable_days=2)))
    alice = private(memory, ALICE)
    alice.forget(kept(alice, "Alice likes tea"))
    kept(alice, "Alice is in the kitchen", kind="context")
    assert purged_days(memory, clock, 9) == [0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_purge_goes_in_steps_and_may_be_killed_between_any_two(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SWEEP_BATCH_COUNT", 40)
    alice = private(memory, ALICE)
    count = limits.SWEEP_BATCH_COUNT + 30
    for n in range(count):
        alice.forget(kept(alice, f"Alice saw {n} boats"))
    purged_days(memory, clock, 29)
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
    assert sum(purged_days(memory, clock, 30)) == 2
    assert rows(memory, "SELECT count(*) FROM memories WHERE space_id = 'default'") == [(2,)]
    assert rows(memory, "SELECT count(*) FROM memories WHERE space_id = 'elsewhere'") == [(4,)]
