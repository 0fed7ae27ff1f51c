"""A thread's revision under many writers: every change is told once, and none is missed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import tacit
from tacit.memory import Memory
from tacit.records.results import Change
from tests.contract.rooms import ALICE, BOB, group, private

WRITERS = 32
WRITES = 5


def poll(memory: Memory, done: threading.Event) -> list[Change]:
    """Asks for what is new since the last answer, until the writers are done and once more."""
    view = private(memory, ALICE, "t")
    told: list[Change] = []
    last = 0
    while True:
        ending = done.is_set()
        delta = view.delta(last)
        assert delta.revision >= last
        assert all(last < one.revision <= delta.revision for one in delta.changes)
        told += reversed(delta.changes)
        last = delta.revision
        if ending and not delta.changes:
            return told


def test_each_change_of_32_writers_is_told_exactly_once(database_url: str) -> None:
    with tacit.open(database_url, embedder=None) as memory:
        done, ready = threading.Event(), threading.Barrier(WRITERS)

        def write(writer: int) -> set[str]:
            view = private(memory, ALICE, "t")
            ready.wait()
            return {view.remember(f"{writer}.{number}").id for number in range(WRITES)}

        with ThreadPoolExecutor(WRITERS + 1) as pool:
            reading = pool.submit(poll, memory, done)
            written: set[str] = set().union(*pool.map(write, range(WRITERS)))
            done.set()
            told = reading.result()
        assert len(written) == WRITERS * WRITES
        assert sorted(one.memory_id for one in told) == sorted(written)
        assert all(one.revision < two.revision for one, two in pairwise(told))


def test_rewordings_by_32_writers_are_told_up_to_the_last_word(database_url: str) -> None:
    with tacit.open(database_url, embedder=None) as memory:
        view = private(memory, ALICE, "t")
        ids = [view.remember(f"memory {number}").id for number in range(8)]
        start = view.delta().revision
        done, ready = threading.Event(), threading.Barrier(WRITERS)

        def write(writer: int) -> None:
            own = private(memory, ALICE, "t")
            ready.wait()
            for number in range(WRITES):
                own.update(ids[(writer + number) % len(ids)], f"{writer}.{number}")

        with ThreadPoolExecutor(WRITERS + 1) as pool:
            reading = pool.submit(poll, memory, done)
            list(pool.map(write, range(WRITERS)))
            done.set()
            told = reading.result()
        revisions = [one.revision for one in told]
        assert revisions == sorted(set(revisions))
        last = {one.memory_id: one.content for one in told}
        assert last == {id: view.show(id).content for id in ids}
        assert view.delta(start).revision == revisions[-1]


def test_writers_in_two_rooms_of_one_thread_share_its_revision(database_url: str) -> None:
    """What one of them may not hear leaves no gap that they could count."""
    with tacit.open(database_url, embedder=None) as memory:
        said = {"visibility": "room", "sensitivity": "public"}

        def write(number: int) -> None:
            private(memory, ALICE, "t").remember(f"canary {number}")
            group(memory, BOB, thread="t").remember(f"said {number}", **said)  # type: ignore[arg-type]

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(16)))
        heard = group(memory, BOB, thread="t").delta()
        assert len(heard.changes) == 16
        assert all("said" in (one.content or "") for one in heard.changes)
        own = private(memory, ALICE, "t").delta()
        revisions = [one.revision for one in own.changes]
        assert len(revisions) == len(set(revisions)) == 32


def test_a_reader_who_was_away_for_long_hears_every_change(memory: Memory) -> None:
    """An answer holds only so many; the next one goes on where it ended."""
    view = private(memory, ALICE, "t")
    written = {view.remember(f"memory {number}").id for number in range(450)}
    told: list[str] = []
    last = 0
    while changes := (delta := view.delta(last)).changes:
        assert delta.revision > last
        told += [one.memory_id for one in changes]
        last = delta.revision
    assert sorted(told) == sorted(written)
