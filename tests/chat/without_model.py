"""Stories of a bot that has no language model."""

from tests.chat.rooms import ALICE, BOB, TEAM, Driver, Scenario, alone, remembered, waiting

HOME = alone(ALICE)


def _works(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Remember that I like green tea")
    assert told.text == "Remembered: Alice likes green tea"
    assert driver.say(ALICE, HOME, "What do I like?").text.endswith("Alice likes green tea")
    driver.press(ALICE, told.shown[0], "Undo")
    assert remembered(driver, ALICE) == []
    assert driver.say(ALICE, HOME, "What do I like?").text.startswith("I do not know")
    assert "language model" in driver.say(ALICE, HOME, "/start").text
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    told = driver.say(ALICE, TEAM, "Remember that I have a dog named Max")
    assert told.text == "Remembered: Alice has a dog named Max"
    assert driver.say(BOB, TEAM, "Who is Max?").text.endswith("Alice has a dog named Max")
    told = driver.say(ALICE, TEAM, "Remember that I have anxiety")
    assert "anxiety" not in told.text, "what is sensitive is not said aloud, not even back"
    assert "Alice has anxiety" in remembered(driver, ALICE)


def _asks(driver: Driver) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    (shown,) = driver.say(ALICE, HOME, "Alec is my boss by the way").shown
    assert shown.text == "Should I remember this? Alec is Alice's boss"
    assert shown.buttons == ("Yes", "No")
    driver.press(ALICE, shown, "Yes")
    assert remembered(driver, ALICE) == ["Alec is Alice's boss"]

    (shown,) = driver.say(ALICE, TEAM, "I have a dog named Max").shown
    driver.press(BOB, shown, "Yes")
    assert waiting(driver, ALICE, TEAM) == ["Alice has a dog named Max"], "it is not his to answer"
    driver.press(ALICE, shown, "No")
    assert waiting(driver, ALICE) == []

    driver.say(ALICE, HOME, "I live in Lisbon")
    assert waiting(driver, ALICE) == ["Alice lives in Lisbon"]
    driver.say(ALICE, HOME, "yes, please!")
    assert remembered(driver, ALICE) == ["Alec is Alice's boss", "Alice lives in Lisbon"]


def _keeps_no_secret(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Remember that my password is hunter2-Xk9!pQ")
    assert "secret" in told.text
    assert "hunter2" not in told.text
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []


WITHOUT_MODEL = (
    Scenario("without a model: remember, ask, undo", _works, None),
    Scenario("without a model: buttons ask, and only the person concerned answers", _asks, None),
    Scenario("without a model: a secret is not kept", _keeps_no_secret, None),
)
