"""Every story, told to the bot itself; over the channels they are told on both databases."""

import pytest

from tests.bots.chats import Scenario, staged
from tests.bots.local_driver import LocalDriver
from tests.bots.scenarios import SCENARIOS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_a_story_told_to_the_bot(scenario: Scenario) -> None:
    with staged("sqlite://", scenario) as stage:
        scenario.play(LocalDriver(stage))
