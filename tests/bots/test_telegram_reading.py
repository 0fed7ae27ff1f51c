"""What an update of the Bot API is heard as."""

import json
from typing import Any

import pytest

from tacit.bots.messages import InboundMessage
from tacit.bots.telegram.updates import TelegramIdentity, TelegramParser
from tests.bots.bot_api import BOT
from tests.bots.reading import Case, check_cases, read_updates

ME = TelegramIdentity(id=BOT["id"], username=BOT["username"])
READING = TelegramParser(ME)
RULES = read_updates("telegram_updates.yaml")


def heard(update: dict[str, Any]) -> InboundMessage | None:
    return READING(json.dumps({"update_id": 7, **update}))


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_an_update_is_heard_as_the_rules_say(cases: list[Case]) -> None:
    check_cases(cases, heard)


def test_a_chat_that_is_not_allowed_is_not_heard() -> None:
    (case,) = RULES["a private message is the senders own words"]
    update = json.dumps({"update_id": 1, **case["update"]})
    assert TelegramParser(ME, ["telegram:-1005"])(update) is None
    assert TelegramParser(ME, ["telegram:1001"])(update) is not None
