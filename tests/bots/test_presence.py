"""Who is where, and what is not said any more: as far as the bot can know."""

import tacit
from tacit.bots.messages import MembersJoined, TextMessage
from tests.bots.chats import ALICE, BOB, CAROL, TEAM, alone, remembered
from tests.bots.local_driver import CHANNEL, LocalDriver
from tests.bots.test_agent_leaks import driver, model_of

__all__ = ["driver"]


def test_what_becomes_a_command_is_no_longer_said(driver: LocalDriver) -> None:
    told = driver.say(ALICE, alone(ALICE), "remember that I love Carol")
    assert remembered(driver, ALICE) == ["Alice loves Carol"]
    driver.edit(told, "/help")
    assert remembered(driver, ALICE) == []
    driver.say(ALICE, alone(ALICE), "hello")
    assert "Carol" not in model_of(driver).prompts[-1].text


def test_a_place_of_unknown_kind_does_not_become_a_group(driver: LocalDriver) -> None:
    who, where = driver.requester(ALICE), tacit.Chat.unknown("slack:T1:X1")
    said = TextMessage(channel="slack", update="1", chat=where, who=who, text="hello", message="1")
    driver.bot.hear(said, driver.outlet)
    assert driver.stage.memory.chats.resolve(who, where.id).kind is tacit.ChatKind.UNKNOWN


def test_who_went_while_the_bot_was_out_heard_nothing_of_what_came_after(
    driver: LocalDriver,
) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    driver.say(ALICE, TEAM, "I take the zebra tea", to_bot=False)
    back = MembersJoined(
        channel=CHANNEL, update="back", chat=driver.chat(TEAM), who=None, people=(), bot_joined=True
    )
    driver.bot.hear(back, driver.outlet)
    driver.say(ALICE, TEAM, "remember that I like the okapi milk", to_bot=False)
    assert not [one for one in remembered(driver, BOB) if "okapi" in one]
    driver.say(CAROL, TEAM, "hello?")
    assert "zebra tea" not in model_of(driver).prompts[-1].said


def test_what_is_forgotten_is_not_shown_to_the_other_identity_either(driver: LocalDriver) -> None:
    memory = driver.stage.memory
    for who in (ALICE, BOB):
        memory.admin.link(driver.requester(who).key, "acct:7")
    driver.say(BOB, alone(BOB), "I take the zebra tea")
    (asked,) = driver.say(ALICE, alone(ALICE), "/forget everything").shown
    driver.press(ALICE, asked, asked.buttons[0])
    driver.say(BOB, alone(BOB), "hello")
    assert "zebra" not in model_of(driver).prompts[-1].text
