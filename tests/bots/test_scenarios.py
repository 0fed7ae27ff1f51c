"""Every story, told over each channel with the real libraries: Telegram on SQLite, Slack on PostgreSQL.

What a channel keeps on either database is in tests/contract/test_inbox.py and test_dispatcher.py.
"""

import pytest

from tacit.bots.telegram.client import TelegramClient
from tests.bots.bot_api import BotApi
from tests.bots.chats import Scenario, staged
from tests.bots.scenarios import SCENARIOS
from tests.bots.slack_driver import slack_driver
from tests.bots.telegram_driver import telegram_driver

STORIES = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)


@STORIES
@pytest.mark.parametrize("database_url", ["sqlite-file"], indirect=True)
def test_told_through_telegram(scenario: Scenario, database_url: str, telegram: tuple[BotApi, TelegramClient]) -> None:
    with staged(database_url, scenario) as stage, telegram_driver(stage, *telegram) as driver:
        scenario.play(driver)


@STORIES
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_told_over_slack(scenario: Scenario, database_url: str) -> None:
    with staged(database_url, scenario) as stage, slack_driver(stage) as driver:
        scenario.play(driver)
