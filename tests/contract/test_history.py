"""Versions, history and deltas, each told only as far as the one who asks may hear them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.results import Change
from tests.contract.rooms import ALICE, ALL, BOB, CAROL, FAMILY, OPEN, SetClock, group, kept, private, said


def test_who_joined_later_neither_hears_nor_counts_older_versions(memory: Memory) -> None:
    before = group(memory, ALICE, here=(ALICE, BOB))
    id = kept(before, "The code is 1111", **OPEN)
    before.update(id, "The code is 2222")
    group(memory, ALICE, here=ALL).update(id, "The code is 3333")

    carol, bob, own = private(memory, CAROL), private(memory, BOB), private(memory, ALICE)
    assert [carol.show(id).version, bob.show(id).version, own.show(id).version] == [1, 3, 3]
    assert [one.version for one in carol.list()] == [1]
    assert [one.memory.version for one in carol.recall("code")] == [1]
    assert [(e.version, e.content) for e in carol.history(id)] == [(1, "The code is 3333")]
    assert [(e.version, e.content) for e in bob.history(id)] == [
        (1, "The code is 1111"),
        (2, "The code is 2222"),
        (3, "The code is 3333"),
    ]


def test_a_subject_who_came_later_is_not_told_what_was_said_behind_their_back(memory: Memory) -> None:
    before = group(memory, ALICE, here=(ALICE, BOB))
    id = kept(before, "Carol is lazy", about=[CAROL.key], visibility="room", sensitivity="public")
    assert said(group(memory, CAROL, here=ALL).list()) == ["Carol is lazy"]  # G1b: in the room
    assert said(private(memory, CAROL).list()) == []
    group(memory, ALICE, here=ALL).update(id, "Carol is calm")
    carol = private(memory, CAROL)
    assert [(e.version, e.content) for e in carol.history(id)] == [(1, "Carol is calm")]


def test_version_numbers_without_gaps_hide_what_was_not_heard_between(memory: Memory) -> None:
    first = group(memory, ALICE, here=ALL, complete=True)
    id = kept(first, "v1", **OPEN)
    without = group(memory, ALICE, here=(ALICE, BOB), complete=True)
    without.update(id, "v2")
    without.update(id, "v3")
    group(memory, ALICE, here=ALL, complete=True).update(id, "v4")
    carol = private(memory, CAROL)
    assert carol.show(id).version == 2
    assert [(e.version, e.content) for e in carol.history(id)] == [(1, "v1"), (2, "v4")]


def test_an_old_wording_goes_no_further_than_it_might_when_it_was_said(memory: Memory) -> None:
    own, room = private(memory, ALICE), group(memory, ALICE)
    stamps = kept(own, "I have 900 stamps", sensitivity="public")
    own.update(stamps, "I have no stamps")
    own.set_visibility(stamps, "public_ok")
    ill = kept(own, "I am ill", sensitivity="sensitive", visibility="public_ok")
    own.update(ill, "I am well", sensitivity="public")
    moved = kept(room, "I moved to Rua X 1", portable=False, **OPEN)
    room.update(moved, "I moved", portable=True)
    elsewhere = group(memory, BOB, FAMILY, here=(ALICE, BOB), complete=True)
    told = {id: [e.content for e in elsewhere.history(id)] for id in (stamps, ill, moved)}
    assert told == {stamps: ["I have no stamps"], ill: ["I am well"], moved: ["I moved"]}
    assert {one.version for one in elsewhere.list()} == {1}
    assert {own.show(id).version for id in (stamps, ill, moved)} == {2}


def test_if_version_counts_as_the_requester_does(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    group(memory, BOB).update(id, "Standup is at 10")
    carol = group(memory, CAROL, here=ALL)
    mine = carol.show(id).version
    assert carol.update(id, "Standup is at 11", if_version=mine).id == id
    with pytest.raises(tacit.Conflict):
        carol.update(id, "Standup is at 12", if_version=mine + 5)


def test_history_tells_others_what_happened_but_not_how_it_is_filed(memory: Memory) -> None:
    own, bob = private(memory, ALICE), private(memory, BOB)
    id = kept(group(memory, ALICE), "I run", **OPEN)
    own.withhold_from(id, [CAROL.key])
    own.pin(id)
    assert [e.event for e in own.history(id)] == ["ADD", "UPDATE", "UPDATE"]
    assert all(entry.detail == {} for entry in bob.history(id))
    assert CAROL.key not in repr(bob.history(id))
    assert CAROL.key not in repr(bob.show(id))
    assert CAROL.key not in repr(own.history(id))


def test_a_delta_tells_the_last_word_on_each_memory_newest_first(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    assert (view.delta().revision, view.delta().changes) == (0, ())
    one, two = kept(view, "one"), kept(view, "two")
    start = view.delta().revision
    assert view.delta(start).changes == ()
    clock.forward(seconds=1)
    view.update(one, "one, reworded")
    view.forget(two)
    three = kept(view, "three")
    delta = view.delta(start)
    assert [(c.event, c.memory_id, c.content) for c in delta.changes] == [
        ("created", three, "three"),
        ("deleted", two, None),
        ("updated", one, "one, reworded"),
    ]
    assert [c.revision for c in delta.changes] == sorted({c.revision for c in delta.changes})[::-1]
    assert delta.revision == delta.changes[0].revision > start
    assert delta.changes[1].category is None
    assert (delta.changes[0].category, delta.changes[0].at) == ("fact", clock.now)
    assert view.delta(delta.revision).changes == ()
    assert view.delta(delta.revision).revision == delta.revision
    assert len(view.delta().changes) == 3


def test_a_delta_tells_each_listener_in_each_room_only_what_they_may_hear(memory: Memory) -> None:
    alice = group(memory, ALICE)
    shown = kept(alice, "I run", **OPEN)
    bob = group(memory, BOB)
    seen = bob.delta()
    assert [c.content for c in seen.changes] == ["I run"]
    hidden = kept(alice, "I am in debt")
    private(memory, ALICE, thread="telegram:-100").forget(hidden)
    # What is hidden does not even move the revision: its steps would count it.
    assert bob.delta(seen.revision).revision == seen.revision
    assert bob.delta() == seen
    alice.update(shown, "I run far")
    assert [(c.memory_id, c.content) for c in bob.delta(seen.revision).changes] == [(shown, "I run far")]
    alice.forget(shown)
    assert [(c.event, c.content, c.category) for c in bob.delta().changes] == [("deleted", None, None)]
    assert group(memory, BOB, FAMILY).delta().revision == 0


def test_what_is_withheld_from_somebody_leaves_no_mark_in_their_delta(memory: Memory) -> None:
    alice, own = group(memory, ALICE), private(memory, ALICE)
    id = kept(alice, "A party for Bob", withheld_from=[BOB.key], **OPEN)
    bob = group(memory, BOB)
    nothing = bob.delta()
    assert (nothing.revision, nothing.changes) == (0, ())
    own.withhold_from(id, [CAROL.key])
    own.forget(id)
    assert bob.delta() == nothing


def test_revisions_only_grow_and_threads_do_not_mix(memory: Memory, clock: SetClock) -> None:
    one, two = private(memory, ALICE, thread="one"), private(memory, ALICE, thread="two")
    revisions = [0]
    for number in range(6):
        one.remember(f"fact {number}")
        revisions.append(one.delta().revision)
        clock.forward(seconds=number - 3)  # backwards too: a clock can be set right
    assert revisions == sorted(set(revisions))
    assert two.delta().revision == 0
    two.remember("elsewhere")
    assert [c.content for c in two.delta().changes] == ["elsewhere"]
    assert len(one.delta().changes) == 6
    assert [c.content for c in one.delta(revisions[4]).changes] == ["fact 5", "fact 4"]


def test_a_change_made_in_another_thread_is_told_in_the_memorys_own(memory: Memory) -> None:
    first, second = private(memory, ALICE, thread="first"), private(memory, ALICE, thread="second")
    id = kept(first, "I live in Porto")
    start = first.delta().revision
    second.update(id, "I live in Lisbon")
    assert [c.content for c in first.delta(start).changes] == ["I live in Lisbon"]
    assert [c.content for c in second.delta().changes] == ["I live in Lisbon"]


def test_a_superseded_memory_is_a_removal_without_content_in_its_room(memory: Memory) -> None:
    room = group(memory, ALICE)
    old = kept(room, "I live in Porto", **OPEN)
    start = room.delta().revision
    private(memory, ALICE).update(old, "I live in Lisbon")
    bob = group(memory, BOB)
    assert [(c.memory_id, c.event, c.content) for c in bob.delta(start).changes] == [(old, "superseded", None)]
    assert "Lisbon" not in repr(bob.delta())


def test_an_expired_memory_tells_its_content_to_no_delta(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "On holiday", kind="observation")
    clock.forward(days=4)
    assert "holiday" not in repr(view.delta())
    view.forget(id)  # faded or not, whoever still has it in a prompt is told that it is gone
    assert [(c.memory_id, c.event, c.content) for c in view.delta().changes] == [(id, "deleted", None)]


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
