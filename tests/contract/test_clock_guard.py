"""A clock that leaps ages nothing: sweeps notice, wait and say so, until it is right again or
somebody vouches for it."""

import pytest

from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, ALOUD, BOB, SetClock, group, kept, private, said
from tests.contract.rows import rows

YEAR = 365
BY_HAND = Settings(learn=LearnSettings(workers=0))  # nothing sweeps behind a test's back


@pytest.fixture
def memory(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=BY_HAND)


class World:
    """Something that would expire, something that would fade, something that would be purged."""

    def __init__(self, memory: Memory, clock: SetClock) -> None:
        self.memory, self.clock = memory, clock
        self.alice = private(memory, ALICE)
        kept(self.alice, "tea that expires", kind="event")
        kept(self.alice, "tea that fades", importance=1)
        kept(group(memory, BOB, here=(ALICE, BOB)), "tea of the room", kind="task", **ALOUD)
        self.forgotten = kept(self.alice, "tea that is forgotten")
        self.alice.forget(self.forgotten)
        self.day()

    def sweep(self) -> bool:
        """Both of them. Whether they did their work."""
        swept, purged = self.memory.jobs.expire(), self.memory.jobs.purge()
        assert (swept.waits is None) == (purged.waits is None)
        if swept.waits:
            assert swept.expired == swept.faded == swept.turns == purged.count == 0
        return swept.waits is None

    def day(self) -> bool:
        self.clock.forward(days=1)
        return self.sweep()

    def leap(self, days: float) -> bool:
        self.clock.forward(days=days)
        return self.sweep()

    def states(self) -> list[str]:
        return sorted(one for (one,) in rows(self.memory, "SELECT state FROM memories"))

    def assert_whole(self) -> None:
        assert self.states() == ["active", "active", "active", "forgotten"]
        assert said(self.alice.list()) == ["tea of the room", "tea that expires", "tea that fades"]
        assert len(self.alice.recall("tea")) == 3
        self.alice.restore(self.forgotten)
        self.alice.forget(self.forgotten)


@pytest.fixture
def world(memory: Memory, clock: SetClock) -> World:
    return World(memory, clock)


@pytest.mark.parametrize("days", [YEAR, -YEAR])
def test_a_leap_of_a_year_ages_nothing(world: World, days: int) -> None:
    assert not world.leap(days)
    assert world.states() == ["active", "active", "active", "forgotten"]
    assert not world.day()  # it does not get used to it
    assert world.leap(-days)  # and goes on by itself when it is right again
    world.assert_whole()


@pytest.mark.parametrize("first", [YEAR, -YEAR])
@pytest.mark.parametrize("second", [YEAR, -YEAR])
def test_two_leaps_in_a_row_age_nothing(world: World, first: int, second: int) -> None:
    before = world.clock.now
    assert not world.leap(first)
    home = first + second == 0
    assert world.leap(second) is home
    if not home:
        assert not world.day()
        world.clock.now = before
        world.clock.forward(days=1)
        assert world.sweep()
    world.assert_whole()
    assert all(world.day() for _ in range(10))


def test_time_goes_on_while_the_clock_is_wrong(world: World) -> None:
    assert not world.leap(YEAR)
    for _ in range(20):
        assert not world.day()
    assert world.leap(-YEAR)  # three weeks after the last sweep that did its work
    assert world.states() == ["active", "active", "expired", "forgotten"]  # a task: 14 days


def test_somebody_can_vouch_for_the_clock(world: World) -> None:
    assert not world.leap(YEAR)
    assert world.memory.jobs.purge(confirm_clock=True).count == 1
    assert world.memory.jobs.expire().expired == 2
    assert world.day()
    assert world.states() == ["active", "expired", "expired"] or world.states() == ["expired", "expired", "forgotten"]


def test_a_clock_that_was_ahead_all_along_can_be_set_right(world: World) -> None:
    """Everything is dated a year too late; it goes late, and never early."""
    assert not world.leap(-YEAR)
    assert world.memory.jobs.purge(confirm_clock=True).count == 0
    assert all(world.day() for _ in range(40))
    assert "forgotten" in world.states()
    fresh = kept(world.alice, "tea of the right time")
    world.alice.forget(fresh)
    assert all(world.day() for _ in range(31))
    assert rows(world.memory, "SELECT id FROM memories WHERE id = :id", id=fresh) == []


def test_an_hour_back_or_a_week_ahead_is_no_leap(world: World) -> None:
    assert world.leap(-1 / 24)
    assert world.leap(7)
    assert not world.leap(7.1)


def test_a_space_that_is_a_week_old_and_was_never_swept_waits_for_somebody(memory: Memory, clock: SetClock) -> None:
    alice = private(memory, ALICE)
    alice.forget(kept(alice, "tea that is forgotten"))
    clock.forward(days=31)
    assert memory.jobs.expire().waits is not None
    assert memory.jobs.purge().count == 0
    assert memory.jobs.purge(confirm_clock=True).count == 1
    assert memory.jobs.expire().waits is None


def test_a_new_space_is_swept_at_once(memory: Memory, clock: SetClock) -> None:
    assert memory.jobs.expire().waits is None
    kept(private(memory, ALICE), "tea", kind="observation")
    clock.forward(days=4)
    assert memory.jobs.expire().expired == 1


def test_each_space_has_its_own_last_sweep(memory: Memory, clock: SetClock) -> None:
    other = memory.space("other")
    kept(private(other, ALICE), "tea")
    assert memory.jobs.expire().waits is None
    clock.forward(days=6)
    assert memory.jobs.expire().waits is None
    clock.forward(days=6)
    assert memory.jobs.expire().waits is None
    assert other.jobs.expire().waits is not None
