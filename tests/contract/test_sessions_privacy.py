"""What a group, a stranger and whoever came later are told of sessions."""

import tacit
from tacit import SessionDraft, TaskDraft
from tacit.memory import Memory
from tacit.records.notes import NoteLink
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, private
from tests.contract.sessions import ARCHIVE, CANARY, PAID, RENT, plain, told


def test_a_group_is_told_nothing_of_a_private_session(memory: Memory, clock: SetClock) -> None:
    before = plain(group(memory, ALICE))
    for thread in (None, TEAM, "main"):
        private(memory, ALICE, thread).sessions.end(
            draft=SessionDraft(
                summary="zq1z",
                facts=("zq2z",),
                tasks=(TaskDraft(text="zq3z"),),
                links=(NoteLink(text="zq4z", target="zq5z.md"),),
                tags=("zq6z",),
                promote=ARCHIVE,
            )
        )
    clock.forward(seconds=5_000)
    for room in (group(memory, ALICE), group(memory, BOB), group(memory, ALICE, thread="main")):
        assert not CANARY.search(told(room))
        assert "Apollo" not in told(room)
        assert "telegram_1001" not in told(room)
    assert plain(group(memory, ALICE)) == before
    assert len(private(memory, ALICE).sessions.begin().recent) == 3
    assert not CANARY.search(told(private(memory, BOB)))


def test_the_index_is_told_in_the_persons_own_private_chat_alone(memory: Memory, clock: SetClock) -> None:
    private(memory, ALICE).sessions.end(draft=SessionDraft(promote=ARCHIVE))
    clock.forward(seconds=1)
    assert f"[Memory:LongTerm:Summary]\n- {ARCHIVE}\n" in private(memory, ALICE).block("summary").text
    for room in (
        group(memory, ALICE),
        group(memory, ALICE, here=(ALICE,), complete=True),
        private(memory, BOB),
        memory.view(ALICE, tacit.Chat.private("telegram:2002")),
        memory.view(ALICE, tacit.Chat.unknown("web:1")),
    ):
        assert room.sessions.begin().long_term == ()
        assert "LongTerm" not in room.block("summary").text


def test_an_item_that_is_withheld_goes_from_line_and_counts_and_the_last_one_takes_the_path(
    memory: Memory, clock: SetClock
) -> None:
    alice = group(memory, ALICE)
    alice.sessions.end(
        draft=SessionDraft(summary="Planned zq1z and zq2z.", facts=("zq1z it is",), tasks=(TaskDraft(text="Buy zq2z"),))
    )
    clock.forward(seconds=5_000)
    bob = group(memory, BOB)
    ids = {one.content: one.id for one in bob.list()}
    assert "zq1z" in told(bob)
    alice.withhold_from(ids["Buy zq2z"], ["telegram:2002"])
    assert "zq2z" not in told(bob)
    (recent,) = bob.sessions.begin().recent
    assert str(recent.tasks) == "0/0"
    alice.withhold_from(ids["zq1z it is"], ["telegram:2002"])
    assert bob.sessions.begin().recent == ()
    assert bob.sessions.begin().today is None
    assert bob.block("summary").text == ""


def test_what_is_sensitive_is_not_told_to_the_group_that_heard_it(memory: Memory) -> None:
    view = group(memory, ALICE)
    view.sessions.end(draft=SessionDraft(facts=("Alice has diabetes", "Lunch is at noon"), summary="Diabetes."))
    for room in (view, group(memory, BOB)):
        assert "iabetes" not in told(room)
        assert "Lunch is at noon" in told(room)


def test_another_group_and_a_stranger_hear_of_no_session(memory: Memory) -> None:
    group(memory, ALICE).sessions.end(draft=SessionDraft(summary="zq1z", facts=("zq2z",)))
    for room in (
        group(memory, ALICE, FAMILY),
        group(memory, ALICE, FAMILY, complete=True),
        group(memory, CAROL, here=(ALICE, BOB)),
        private(memory, CAROL),
    ):
        assert not CANARY.search(told(room)), room
    assert "zq2z" in told(private(memory, BOB))  # who was there


def test_nobody_ticks_across_the_line_between_private_and_shared(memory: Memory, clock: SetClock) -> None:
    """That something is done was said in private: the group must not see it, nor the other way."""
    rooms = [private(memory, ALICE), group(memory, ALICE), group(memory, ALICE, FAMILY)]
    for number, room in enumerate(rooms):
        others = rooms[:number] + rooms[number + 1 :]
        clock.forward(days=20)
        for one in others:
            one.sessions.end(draft=RENT)
        clock.forward(days=1)
        assert room.sessions.end(draft=PAID).ticked == 0
        for one in others:
            # In private one hears of the groups' as well.
            open_ones = [s for s in one.sessions.begin().recent if str(s.tasks) == "0/1"]
            assert open_ones


def test_a_room_is_told_of_those_who_came_later_no_more_than_they_may_hear(memory: Memory) -> None:
    """Carol, whom Alice knows by name, was not there when she was talked about."""
    private(memory, ALICE).people.name(CAROL.key, "Carol")
    group(memory, ALICE).sessions.end(draft=SessionDraft(facts=("zq1z: Carol sits at the window",)))
    assert "zq1z" in told(group(memory, BOB))
    memory.chats.join(TEAM, CAROL.key)
    assert "zq1z" not in told(group(memory, BOB, here=(ALICE, BOB, CAROL)))
