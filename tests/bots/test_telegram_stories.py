"""What only Telegram can do to a bot, with everything behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

import tacit
from tacit.bots.telegram.client import TelegramClient
from tacit.settings import ChatSettings, TelegramSettings
from tests.bots.bot_api import BotApi, flood
from tests.bots.bot_updates import group, message, user
from tests.bots.chats import ALICE, BOB, TEAM, Scenario, alone, remembered, staged
from tests.bots.telegram_driver import TelegramDriver, telegram_driver

HOME = alone(ALICE)
pytestmark = pytest.mark.parametrize("database_url", ["sqlite-file"], indirect=True)


@contextmanager
def played(
    url: str, telegram: tuple[BotApi, TelegramClient], how: TelegramSettings | None = None
) -> Iterator[TelegramDriver]:
    """Without a model, and nothing is asked before it is kept."""
    nothing = Scenario("", lambda _: None, None, chat=ChatSettings(confirm="never"))
    with staged(url, nothing) as stage:
        if how is not None:
            stage.settings = replace(stage.settings, telegram=how)
        with telegram_driver(stage, *telegram) as driver:
            yield driver


def test_an_update_that_comes_twice_is_learned_and_answered_once(
    database_url: str, telegram: tuple[BotApi, TelegramClient]
) -> None:
    with played(database_url, telegram) as driver:
        told = driver.say(ALICE, HOME, "remember that I live in Graz")
        assert len(told.shown) == 1
        assert driver.repeated() == ()
        assert remembered(driver, ALICE) == ["Alice lives in Graz"]


def test_trouble_on_the_way_back_delays_an_answer_and_repeats_no_lesson(
    database_url: str, telegram: tuple[BotApi, TelegramClient]
) -> None:
    api, _ = telegram
    with played(database_url, telegram) as driver:
        api.trouble["sendMessage"] = [flood(0.01), "cut before", flood(0.01)]
        shown = driver.say(ALICE, HOME, "remember that I live in Graz").shown
        assert len(shown) == 1
        api.trouble["sendMessage"] = ["cut after"]
        again = driver.say(ALICE, HOME, "remember that I drink tea").shown
        assert [one.text for one in again] == [again[0].text] * 2  # nobody can know
        assert remembered(driver, ALICE) == ["Alice drinks tea", "Alice lives in Graz"]
        driver.forgive()


def test_who_blocked_the_bot_is_not_waited_for(database_url: str, telegram: tuple[BotApi, TelegramClient]) -> None:
    api, _ = telegram
    with played(database_url, telegram) as driver:
        api.blocked.add(1001)
        assert driver.say(ALICE, HOME, "remember that I live in Graz").shown == ()
        api.blocked.clear()
        assert remembered(driver, ALICE) == ["Alice lives in Graz"]
        driver.forgive()


def test_a_group_that_moves_keeps_its_memories(database_url: str, telegram: tuple[BotApi, TelegramClient]) -> None:
    old, new = group(-100, "group"), group(-1005)
    with played(database_url, telegram) as driver:
        driver.join(BOB, TEAM)
        driver.say(ALICE, TEAM, "remember that the standup is at nine", to_bot=False)
        assert remembered(driver, BOB, TEAM)
        driver.happens({"message": message(old, user(1001), migrate_to_chat_id=-1005)})
        driver.happens({"message": message(new, user(1001), migrate_from_chat_id=-100)})
        here = tacit.Chat.group("telegram:-1005")
        there = driver.stage.memory.view(driver.requester(BOB), here)
        assert [one.content for one in there.list()] == remembered(driver, BOB, TEAM)
        assert any("standup" in one.content for one in there.list())


def test_only_allowed_chats_are_answered_but_each_is_told_its_id(
    database_url: str, telegram: tuple[BotApi, TelegramClient]
) -> None:
    how = TelegramSettings(allowed_chats=("telegram:1001",))
    with played(database_url, telegram, how) as driver:
        assert driver.say(ALICE, HOME, "remember that I live in Graz").shown
        assert driver.say(BOB, alone(BOB), "remember that I live in Linz").shown == ()
        assert driver.say(ALICE, TEAM, "remember that I drink tea").shown == ()
        driver.say(ALICE, TEAM, "/id")
        told = driver.soon()
        assert "telegram:-100" in told
        assert "telegram:1001" not in told  # others read it, too
        driver.say(BOB, alone(BOB), "/id")
        assert "telegram:2002" in driver.soon()
        assert remembered(driver, ALICE) == ["Alice lives in Graz"]
        assert remembered(driver, BOB) == []


def test_a_pressed_button_is_acknowledged(database_url: str, telegram: tuple[BotApi, TelegramClient]) -> None:
    api, _ = telegram
    with played(database_url, telegram) as driver:
        told = driver.say(ALICE, HOME, "remember that I live in Graz")
        assert len(driver.press(ALICE, told.shown[0], "Undo")) == 1
        assert remembered(driver, ALICE) == []
        api.wait_called("answerCallbackQuery")
        assert api.of("answerCallbackQuery")[-1] == {"callback_query_id": "4382bfdwdsb323b2d9"}
