"""Whose turn it is, whatever comes in between."""

from hypothesis import given
from hypothesis import strategies as st

from tacit.bots.dispatcher import ChatQueue

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


def test_what_is_offered_twice_is_there_once() -> None:
    order = ChatQueue()
    order.offer([("a", 1)], more=False)
    assert order.take(0.0) == ("a", 1)
    order.offer([("a", 1)], more=False)
    order.finish("a", 1)
    assert order.take(0.0) is None
    assert order.idle


def test_what_was_numbered_earlier_and_seen_later_comes_first() -> None:
    order = ChatQueue()
    order.offer([("a", 5)], more=False)
    order.offer([("a", 3)], more=False)
    assert order.take(0.0) == ("a", 3)
