"""What the crash test of bots would find, if it were there."""

from bench.chat_crash import Story
from tacit import limits
from tests.bots.bot_api import BotApi, Sent


def story(*answered: int, said: int, lives: list[int] | None = None) -> Story:
    api = BotApi()
    for number in answered:
        text = f"Remembered: {number}"
        api.sent.append(Sent(method="sendMessage", chat=-1, message=0, text=text, raw=text, answers=number))
    return Story(api, said=said, lives=lives or [])


def test_answers_that_came_once_are_fine() -> None:
    assert story(1, 2, 3, said=3, lives=[2]).repeats() == ([], 0)


def test_an_answer_may_come_again_after_a_kill_and_is_counted() -> None:
    assert story(1, 2, 2, 3, said=3, lives=[2]).repeats() == ([], 1)


def test_an_answer_that_comes_twice_in_one_life_is_found() -> None:
    wrong, _ = story(1, 2, 2, said=2, lives=[1]).repeats()
    assert wrong == ["2 was answered twice by one process"]


def test_more_repeats_than_there_are_threads_are_found() -> None:
    many = range(1, limits.CHAT_THREADS_DEFAULT_COUNT + 2)
    wrong, count = story(*many, *many, said=len(many), lives=[len(many)]).repeats()
    assert count == len(many)
    assert wrong == [f"{len(many)} answers were repeated after one kill"]


def test_a_message_without_an_answer_is_found() -> None:
    assert story(1, 3, said=3).repeats() == (["2 was not answered"], 0)
