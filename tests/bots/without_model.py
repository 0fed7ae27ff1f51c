"""Stories of a bot that has no language model."""

from tests.bots.chats import ALICE, BOB, TEAM, Driver, Scenario, alone, remembered, waiting

HOME = alone(ALICE)


def _works(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Remember that I like green tea")
    assert told.text == "Remembered: Alice likes green tea"
    assert driver.say(ALICE, HOME, "What do I like?").text.endswith("Alice likes green tea")
    driver.press(ALICE, told.shown[0], "Undo")
    assert remembered(driver, ALICE) == []
    assert driver.say(ALICE, HOME, "What do I like?").text.startswith("I don't know")
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


def _asks_for_all(driver: Driver) -> None:
    for words in ("Alec is my boss by the way", "I live in Lisbon"):
        (shown,) = driver.say(ALICE, HOME, words).shown
    assert shown.text == (
        "2 memories need your OK:\n1. Alec is Alice's boss\n2. Alice lives in Lisbon\n"
        "Say “all”, “none” or the numbers."
    )
    assert shown.buttons == ("All", "None", "1", "2")
    told, left = driver.say(ALICE, HOME, "yes to the second").shown
    assert told.text == "I'll remember: Alice lives in Lisbon"
    assert left.text == "Should I remember this? Alec is Alice's boss"
    assert driver.say(ALICE, HOME, "no").text == "OK, I won't remember that."
    assert waiting(driver, ALICE) == []
    driver.say(ALICE, HOME, "My cat is called Tom")
    (shown,) = driver.say(ALICE, HOME, "I work at ACME").shown
    driver.press(ALICE, shown, "All")
    assert len(remembered(driver, ALICE)) == 3


def _asks_which(driver: Driver) -> None:
    for words in ("Alec is my boss by the way", "I live in Lisbon"):
        driver.say(ALICE, HOME, words)
    for word in ("yes and no", "3", "yes, no"):
        driver.say(ALICE, HOME, "What time is it?")
        (again,) = driver.say(ALICE, HOME, word).shown
        assert again.text.startswith("I'm not sure which one you mean. 2 memories need"), "no guess"
    driver.say(ALICE, HOME, "What time is it?")
    (again,) = driver.say(ALICE, HOME, "yes").shown
    assert "2 memories need" in again.text, "it may be a yes to anything by now"
    assert remembered(driver, ALICE) == []
    driver.press(ALICE, again, "2")
    assert remembered(driver, ALICE) == ["Alice lives in Lisbon"]
    driver.say(ALICE, HOME, "no")
    assert waiting(driver, ALICE) == [], "one was left, so it is clear"


def _is_not_silent(driver: Driver) -> None:
    assert driver.say(ALICE, HOME, "hello").text.startswith("Hello!")
    assert driver.say(ALICE, HOME, "forget my cat").text == "I found nothing like that to forget."
    for words in ("yes", "the weather could be better"):
        assert driver.say(ALICE, HOME, words).text == "Got it."
    for _ in range(2):
        (shown,) = driver.say(ALICE, HOME, "I live in Lisbon").shown
        assert shown.text == "Should I remember this? Alice lives in Lisbon", "and so when repeated"
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    for words in ("hello", "yes"):
        assert driver.say(BOB, TEAM, words).shown == (), "a group is not bothered with it"


def _tells_what_changed(driver: Driver) -> None:
    driver.say(ALICE, HOME, "Remember that I live in Lisbon")
    (shown,) = driver.say(ALICE, HOME, "I moved to Porto last week").shown
    assert shown.text.startswith("Remembered: Alice moved to Porto"), "not asked, but not unsaid"
    assert len(remembered(driver, ALICE)) == 1
    driver.press(ALICE, shown, "Undo")
    assert remembered(driver, ALICE) == ["Alice lives in Lisbon"]


def _tells_what_fits(driver: Driver) -> None:
    for words in ("I like green tea", "my dog is called Max", "I work at ACME"):
        driver.say(ALICE, HOME, f"Remember that {words}")
    known = "Here is what I remember:"
    assert driver.say(ALICE, HOME, "Where do I work?").text == f"{known}\n• Alice works at ACME"
    assert driver.say(ALICE, HOME, "Where was I born?").text.startswith("I don't know")
    told = driver.say(ALICE, HOME, "What do you know about me?").text
    assert told.count("•") == 3, "no word says what would fit"


def _keeps_no_secret(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Remember that my password is hunter2-Xk9!pQ")
    assert "secret" in told.text
    assert "hunter2" not in told.text
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []


def _erases(driver: Driver) -> None:
    driver.say(ALICE, HOME, "Remember that I like green tea")
    for answer, told in (
        ("no", "Nothing was erased."),
        ("yes", "All your memories were erased: 1 in total."),
    ):
        (asked,) = driver.say(ALICE, HOME, "delete everything you know about me").shown
        assert "Say “yes” or “no”." in asked.text
        assert asked.buttons == ("Erase everything", "Cancel")
        assert driver.say(ALICE, HOME, answer).text == told
    assert remembered(driver, ALICE) == []


def _takes_no_thanks_for_a_yes(driver: Driver) -> None:
    for words in ("Alec is my boss by the way", "I live in Lisbon"):
        driver.say(ALICE, HOME, words)
    for words in ("ok thanks, that's all", "all good", "both are nice", "no need to thank me"):
        driver.say(ALICE, HOME, words)
        assert len(waiting(driver, ALICE)) == 2, words
    driver.say(ALICE, HOME, "hm, yes, why not")
    assert len(remembered(driver, ALICE)) == 2


def _is_asked_politely(driver: Driver) -> None:
    (told,) = driver.say(ALICE, HOME, "can you remember that my locker is number 12?").shown
    assert told.text == "Remembered: Alice's locker is number 12"
    driver.press(ALICE, told, "Undo")
    assert remembered(driver, ALICE) == []


WITHOUT_MODEL = (
    Scenario("without a model: remember, ask, undo", _works, None),
    Scenario("without a model: buttons ask, and only the person concerned answers", _asks, None),
    Scenario("without a model: what waits is one question, answered in words", _asks_for_all, None),
    Scenario(
        "without a model: a yes that may mean several things is asked about", _asks_which, None
    ),
    Scenario("without a model: whoever is alone with it is answered", _is_not_silent, None),
    Scenario("without a model: a change is told, and can be undone", _tells_what_changed, None),
    Scenario("without a model: a question is answered with what fits", _tells_what_fits, None),
    Scenario("without a model: a secret is not kept", _keeps_no_secret, None),
    Scenario("without a model: a plain yes erases everything", _erases, None),
    Scenario("without a model: thanks are no yes", _takes_no_thanks_for_a_yes, None),
    Scenario("without a model: a polite request is one", _is_asked_politely, None),
)
