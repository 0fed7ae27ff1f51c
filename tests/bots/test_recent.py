"""What was just said in a chat: shown there, and to nobody who was not there."""

from tacit import limits
from tacit.bots.conversations import RecentTurn, RecentTurns
from tests.contract.rooms import ALICE, BOB

ROOM, OTHER = "telegram:-100", "telegram:-200"


def said(text: str, message: str = "1", who: str = ALICE.key, *, ours: bool = False) -> RecentTurn:
    return RecentTurn(text=text, who=who, name="Alice", message=message, ours=ours)


def texts(recent: RecentTurns, chat: str = ROOM, thread: str | None = None) -> list[str]:
    return [turn.text for turn in recent.turns(chat, thread)]


def test_the_last_ones_are_kept_by_chat_and_thread_and_no_longer_than_they_may_be() -> None:
    recent = RecentTurns(2)
    for number in range(3):
        recent.add(ROOM, None, said(f"word {number}", str(number)))
    recent.add(ROOM, "topic", said("x" * 10_000))
    assert texts(recent) == ["word 1", "word 2"]
    assert recent.last_message(ROOM, None) == "2"
    assert [len(text) for text in texts(recent, thread="topic")] == [limits.CHAT_RECENT_MAX_CHARS]
    assert texts(recent, OTHER) == []


def test_who_came_in_under_the_new_name_is_shown_nothing_of_the_old_one() -> None:
    recent = RecentTurns(20)
    recent.add(ROOM, None, said("hello"))
    recent.add_person(OTHER, BOB.key)
    recent.move_chat(ROOM, OTHER)
    assert texts(recent, OTHER) == []


def test_there_is_a_bound_to_how_many_chats_threads_and_people_are_known() -> None:
    recent = RecentTurns(1)
    for number in range(limits.CHAT_RECENT_CHATS_MAX_COUNT + 1):
        recent.add(f"telegram:{number}", None, said("hello"))
    assert texts(recent, "telegram:0") == []
    assert texts(recent, "telegram:1") == ["hello"]
    for number in range(limits.CHAT_RECENT_THREADS_MAX_COUNT + 1):
        recent.add(ROOM, str(number), said("hello"))
    assert texts(recent, thread="0") == []
    assert texts(recent, thread="1") == ["hello"]
    for number in range(limits.CHAT_RECENT_PEOPLE_MAX_COUNT + 1):
        recent.add_person(ROOM, f"telegram:{number}")
    assert not recent.has_person(ROOM, "telegram:0"), "and whoever is dropped counts as new"
