"""Every story, told through Telegram, on both databases."""

import pytest

from tacit.bots.telegram.client import TelegramClient
from tests.bots.bot_api import BotApi
from tests.bots.chats import Scenario, staged
from tests.bots.scenarios import SCENARIOS
from tests.bots.telegram_driver import telegram_driver


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_a_story_told_through_telegram(
    scenario: Scenario, database_url: str, telegram: tuple[BotApi, TelegramClient]
) -> None:
    with (
        staged(database_url, scenario) as stage,
        telegram_driver(stage, *telegram) as driver,
    ):
        scenario.play(driver)
