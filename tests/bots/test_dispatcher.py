"""Updates of a channel: in order within a chat, side by side between chats, and none is lost."""

import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Chat, Requester, limits
from tacit.bots.dispatcher import ChatQueue
from tacit.bots.messages import NotSent
from tacit.memory import Memory
from tests.bots.lines import Lines
from tests.bots.tiny import CHANNEL, PATIENCE_SECONDS, Keeper, Wire, alternating, kept, running, settled, update


@pytest.fixture
def memory(database_url: str) -> Iterator[Memory]:
    with tacit.open(database_url, embedder=None) as opened:
        yield opened


def test_each_chat_is_answered_in_order_however_many_threads_there_are(memory: Memory) -> None:
    people = range(1, 9)
    wire, bot = Wire(), Keeper(memory)
    updates = alternating(people, 6)
    with running(memory, bot, wire, threads=8) as rooms:
        takers = [
            threading.Thread(target=lambda mine=mine: [rooms.add_updates([one]) for one in updates if one.chat in mine])
            for mine in ({f"{CHANNEL}:{n}" for n in range(first, 9, 3)} for first in (1, 2, 3))
        ]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join()
        settled(rooms, memory)
    for person in people:
        told = [f"{person} says {n}" for n in range(6)]
        assert wire.texts(person) == told
        assert kept(memory, person) == told


def test_a_slow_chat_does_not_hold_up_the_others(memory: Memory) -> None:
    go_on = threading.Event()
    slow = {"1 says 0"}
    bot = Keeper(memory, lambda text: _wait(go_on) if text in slow else None)
    wire = Wire()
    with running(memory, bot, wire, threads=2) as rooms:
        rooms.add_updates(alternating(range(1, 5), 3))
        _until(lambda: len(wire.sent) == 9)
        assert not wire.texts(1)
        assert [text for text in bot.heard if text.startswith("1 ")] == ["1 says 0"]
        go_on.set()
        settled(rooms, memory)
    assert wire.texts(1) == ["1 says 0", "1 says 1", "1 says 2"]


def test_a_crash_between_sending_and_noting_repeats_the_sending_alone(memory: Memory, database_url: str) -> None:
    stuck, let_go = threading.Event(), threading.Event()

    def crash(text: str) -> None:
        if text == "1 says 1":
            stuck.set()
            _wait(let_go)

    updates = alternating([1, 2], 3)
    before, after = Wire(after=crash), Wire()
    with running(memory, Keeper(memory), before) as abandoned:
        assert abandoned.add_updates(updates) == len(updates)
        _wait(stuck)
        _until(lambda: len(before.texts(2)) == 3)
        assert before.texts(1) == ["1 says 0", "1 says 1"]
        _until(lambda: len(memory.inbox.pending(CHANNEL)) == 2)
        with tacit.open(database_url, embedder=None) as again:
            with running(again, Keeper(again), after) as rooms:
                assert rooms.add_updates(updates) == 0, "the channel brings them again"
                settled(rooms, again)
            assert after.sent == [("tiny:1", "1 says 1"), ("tiny:1", "1 says 2")]
            assert kept(again, 1) == ["1 says 0", "1 says 1", "1 says 2"]
            assert kept(again, 2) == ["2 says 0", "2 says 1", "2 says 2"]
        let_go.set()


def test_what_fails_is_tried_five_times_and_then_lets_the_next_one_through(memory: Memory) -> None:
    log, wire = Lines(), Wire()

    def fail(text: str) -> None:
        if text == "a secret wish":
            raise ValueError(text)

    bot = Keeper(memory, fail)
    with running(memory, bot, wire, log) as rooms:
        rooms.add_updates([update(1, 1, "a secret wish"), update(2, 1, "hello"), update(3, 2, "hi")])
        settled(rooms, memory)
    assert bot.heard.count("a secret wish") == limits.UPDATE_ATTEMPTS_MAX_COUNT == 5
    assert wire.texts(1) == ["hello"]
    assert wire.texts(2) == ["hi"]
    assert [one["kind"] for one in log.of("update failed")] == ["ValueError"] * 5
    assert len(log.of("update parked")) == 1
    assert "wish" not in str(log.told)
    assert "tiny:1" not in str(log.told)


def test_what_cannot_be_read_is_set_aside_too(memory: Memory) -> None:
    wire = Wire()
    broken = tacit.Update(id="1", chat="tiny:1", payload="no JSON")
    with running(memory, Keeper(memory), wire) as rooms:
        rooms.add_updates([broken, update(2, 1, "hello")])
        settled(rooms, memory)
    assert wire.sent == [("tiny:1", "hello")]


def test_a_busy_channel_is_waited_for_and_nothing_is_thought_about_twice(memory: Memory) -> None:
    refusals = iter([0.01, 0.02, None])

    def busy(text: str) -> None:
        if text == "1 says 0":
            for wait in refusals:
                raise NotSent("busy", for_good=False, wait_seconds=wait)

    wire, bot, log = Wire(trouble=busy), Keeper(memory), Lines()
    with running(memory, bot, wire, log) as rooms:
        rooms.add_updates(alternating([1, 2], 2))
        settled(rooms, memory)
    assert wire.texts(1) == ["1 says 0", "1 says 1"]
    assert wire.texts(2) == ["2 says 0", "2 says 1"]
    assert bot.heard.count("1 says 0") == 1
    assert [one["for_good"] for one in log.of("not sent")] == [False] * 3


def test_a_channel_that_never_takes_it_does_not_block_the_chat_for_ever(memory: Memory) -> None:
    def away(text: str) -> None:
        if text == "1 says 0":
            raise NotSent("away", for_good=False, wait_seconds=0.0)

    wire, bot = Wire(trouble=away), Keeper(memory)
    with running(memory, bot, wire) as rooms:
        rooms.add_updates(alternating([1], 2))
        settled(rooms, memory)
    assert wire.texts(1) == ["1 says 1"]
    assert bot.heard.count("1 says 0") == 1


def test_to_stop_is_to_finish_what_is_there_and_the_rest_waits_for_the_next_start(memory: Memory) -> None:
    first, second = Wire(), Wire()
    with running(memory, Keeper(memory), first) as rooms:
        rooms.add_updates(alternating(range(1, 6), 4))
        assert rooms.stop(PATIENCE_SECONDS)
        assert len(first.sent) == 20
        assert not memory.inbox.pending(CHANNEL)
        rooms.add_updates([update(100, 1, "too late")])
    assert len(first.sent) == 20
    with running(memory, Keeper(memory), second) as rooms:
        settled(rooms, memory)
    assert second.sent == [("tiny:1", "too late")]


def test_who_goes_while_their_message_waits_is_not_heard_any_more(memory: Memory) -> None:
    go_on, begun = threading.Event(), threading.Event()

    def hold(text: str) -> None:
        if text == "1 says 0":
            begun.set()
            _wait(go_on)

    wire, bot = Wire(), Keeper(memory, hold)
    with running(memory, bot, wire) as rooms:
        rooms.add_updates([update(1, 1, "1 says 0"), update(2, 1, "1 says 1"), update(3, 2, "hi")])
        _wait(begun)
        memory.view(Requester("tiny:1"), Chat.private("tiny:1")).wipe()
        go_on.set()
        settled(rooms, memory)
    assert "1 says 1" not in bot.heard
    assert wire.texts(2) == ["hi"]


def _wait(event: threading.Event) -> None:
    assert event.wait(PATIENCE_SECONDS)


def _until(came: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.005)):
        if came():
            return
        pause.wait(0.005)
    raise AssertionError("it did not come")


CHATS = ("a", "b", "c")


class Inbox:
    """What waits, and one who looks it through as rooms do: in pages, again if wanted."""

    def __init__(self, chats: list[str], most: int, most_of_one: int) -> None:
        self.waiting = dict(enumerate(chats, 1))
        self.order = ChatQueue(most, most_of_one)
        self.most = most
        self.after = 0
        self.now = 0.0
        self.at_work: dict[str, int] = {}
        self.done: list[tuple[str, int]] = []

    def look(self, page: int) -> None:
        if self.order.needs_rescan:
            self.order.begin_scan()
            self.after = 0
        more = True
        while more:
            found = [number for number in self.waiting if number > self.after][:page]
            numbered = [(self.waiting[number], number) for number in found]
            more = self.order.offer(numbered, more=len(found) == page)
            self.after = found[-1] if found else self.after

    def take(self) -> None:
        turn = self.order.take(self.now)
        if turn is not None:
            chat, number = turn
            assert chat not in self.at_work, "one at a time"
            assert self.waiting[number] == chat
            self.at_work[chat] = number

    def end(self, *, rests: bool) -> None:
        if not self.at_work:
            return
        chat, number = self.at_work.popitem()
        if rests:
            self.order.postpone(chat, self.now + 2)
            return
        del self.waiting[number]
        self.done.append((chat, number))
        self.order.finish(chat, number)


@given(
    chats=st.lists(st.sampled_from(CHATS), max_size=30),
    most=st.integers(1, 12),
    most_of_one=st.integers(1, 5),
    steps=st.lists(st.sampled_from(["look", "take", "finish", "rest", "later"]), max_size=60),
)
def test_every_chat_gets_all_of_its_updates_in_order_and_one_at_a_time(
    chats: list[str], most: int, most_of_one: int, steps: list[str]
) -> None:
    inbox = Inbox(chats, most, most_of_one)
    to_the_end = ["look", "later", "take", "finish"] * (4 * len(chats) + 8)
    for step in [*steps, *to_the_end]:
        match step:
            case "look":
                inbox.look(page=4)
            case "take":
                inbox.take()
            case "finish":
                inbox.end(rests=False)
            case "rest":
                inbox.end(rests=True)
            case "later":
                inbox.now += 3
    assert not inbox.waiting
    assert inbox.order.idle
    for chat in CHATS:
        own = [number for one, number in inbox.done if one == chat]
        assert own == [number for number, one in enumerate(chats, 1) if one == chat]


def test_a_chat_with_much_to_say_leaves_room_for_the_others() -> None:
    order = ChatQueue(most=10, most_of_one=3)
    order.offer([*(("loud", number) for number in range(1, 9)), ("quiet", 9)], more=False)
    assert order.has_backlog
    assert order.take(0.0) == ("loud", 1)
    assert order.take(0.0) == ("quiet", 9)
    assert order.take(0.0) is None, "one at a time"
