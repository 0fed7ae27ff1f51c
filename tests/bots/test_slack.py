"""The shared stories over Slack: the real library, signed requests, an emulated Web API."""

import pytest

from tests.bots.chats import Scenario, staged
from tests.bots.scenarios import SCENARIOS
from tests.bots.slack_driver import slack_driver


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_told_over_slack(scenario: Scenario, database_url: str) -> None:
    with staged(database_url, scenario) as stage, slack_driver(stage) as driver:
        scenario.play(driver)
