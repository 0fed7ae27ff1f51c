"""Dialogues about what waits for a yes, and commands; and what holds of any such dialogue."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tests.bots.chats import ALICE, BOB, TEAM, Person, Scenario, alone, remembered, staged, view, waiting
from tests.bots.dialogues import KNOWN, SAID, Dialogue, Player, read_dialogues
from tests.bots.local_driver import CHANNEL, LocalDriver

HOME = alone(ALICE)
PLAIN = Scenario("", lambda _: None, None)
FILES = [Path(__file__).with_name(name) for name in ("proposals.txt", "commands.txt")]
DIALOGUES = [one for file in FILES for one in read_dialogues(file)]


@pytest.fixture
def driver() -> Iterator[LocalDriver]:
    with staged("sqlite://", PLAIN) as stage:
        yield LocalDriver(stage)


def tell(driver: LocalDriver, count: int) -> None:
    for said in SAID[:count]:
        driver.say(ALICE, HOME, said)


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda one: one.title)
def test_a_dialogue_goes_as_it_is_written(driver: LocalDriver, dialogue: Dialogue) -> None:
    Player(driver).play(dialogue)


def test_what_another_account_brings_to_the_chat_comes_between(driver: LocalDriver) -> None:
    code = re.search(r"[0-9A-Z]{5}-[0-9A-Z]{5}", driver.say(ALICE, HOME, "/link").text)
    assert code is not None
    tell(driver, 1)
    (sure,) = driver.say(BOB, alone(BOB), f"/link {code[0]}").shown
    asked = driver.press(BOB, sure, sure.buttons[0])
    assert any(one.room == HOME for one in asked), "Alice is asked about the link"
    assert "I'm not sure which one you mean." in driver.say(ALICE, HOME, "yes").text
    assert remembered(driver, ALICE) == []


def test_no_word_lets_others_hear_something(driver: LocalDriver) -> None:
    mine = view(driver, ALICE)
    mine.put("preference", "tea", "green tea")
    mine.proposals.propose_public("preference", "tea")
    asked = driver.say(ALICE, HOME, "I live in Lisbon").text
    assert "May I also share this in groups?" in asked
    for word in ("yes", "all", "yes to both"):
        driver.say(ALICE, HOME, word)
    found = mine.get("preference", "tea")
    assert found is not None
    assert found.visibility == "private_only"


BETWEEN = (
    "What is the weather like?",
    "Where was I born?",
    "forget my umbrella",
    "/memory",
    "/privacy",
    "/help",
    "Remember that I like green tea",
    "forget everything",
)
DECIDING = ("yes", "all", "1", "both", "no", "none", "ok", "only the first", "yes to all", "ja")


@given(st.integers(1, 3), st.sampled_from(BETWEEN), st.sampled_from(DECIDING))
@settings(max_examples=25, deadline=None)
def test_an_answer_after_something_else_decides_nothing(count: int, between: str, word: str) -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = LocalDriver(stage)
        tell(driver, count)
        before = waiting(driver, ALICE)
        driver.say(ALICE, HOME, between)
        told = driver.say(ALICE, HOME, word).text
        erased = between == "forget everything" and "were erased" in told
        assert waiting(driver, ALICE) == ([] if erased else before)
        assert not set(remembered(driver, ALICE)) & set(KNOWN)


PRIVATE = ("I have a cat called Miso", "Remember that I live in Lisbon", "I like green tea")
PUBLIC = ("yes", "all", "1", "no", "what do you know about me?", "forget my cat", "I play the cello")
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from((*PRIVATE, *PUBLIC))), max_size=8)


@given(STEPS)
@settings(max_examples=25, deadline=None)
def test_whatever_is_said_a_group_hears_no_private_word(steps: list[tuple[bool, str]]) -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = LocalDriver(stage)
        for who in (ALICE, BOB):
            driver.join(who, TEAM)
        for in_private, text in steps:
            if in_private or text not in PRIVATE:
                told = driver.say(ALICE, HOME if in_private else TEAM, text)
                if not in_private:
                    assert not {"Miso", "Lisbon", "tea"} & set(told.text.replace("\n", " ").split())
        for who in (ALICE, BOB):
            told = driver.say(who, TEAM, "what do you know about me?")
            assert not {"Miso", "Lisbon", "tea"} & set(told.text.split())


class Nameless(LocalDriver):
    def requester(self, who: Person) -> tacit.Requester:
        return replace(super().requester(who), name=None, key=f"{CHANNEL}:{who.number}")


@pytest.mark.parametrize("words", ["My name is Nora", "I'm Nora", "Ich heiße Nora"])
def test_who_tells_their_name_is_called_so(words: str) -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = Nameless(stage)
        driver.say(ALICE, HOME, words)
        driver.say(ALICE, HOME, "I have a dog called Rex")
        assert "Nora has a dog called Rex" in waiting(driver, ALICE)
        driver.say(ALICE, HOME, "all")
        assert "Nora lives in Lisbon" in driver.say(ALICE, HOME, "I live in Lisbon").text
        for who in (ALICE, BOB):
            driver.join(who, TEAM)
        told = driver.say(ALICE, TEAM, "Remember that I play the cello").text
        assert "Nora" not in told, "which was told in private"


def test_who_does_not_want_their_name_kept_is_not_called_so() -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = Nameless(stage)
        driver.say(ALICE, HOME, "My name is Nora")
        driver.say(ALICE, HOME, "no")
        driver.say(ALICE, HOME, "I have a dog called Rex")
        assert not any("Nora" in one for one in waiting(driver, ALICE))


@pytest.mark.parametrize("words", ["call me Jules", "My name is Jules"])
def test_who_told_their_name_is_told_it(words: str) -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = Nameless(stage)
        driver.say(ALICE, HOME, words)
        driver.say(ALICE, HOME, "yes")
        for question in ("what's my name?", "what is my name", "do you know my name?", "wie heiße ich?"):
            assert "Jules" in driver.say(ALICE, HOME, question).text
            assert "Jules" not in driver.say(BOB, alone(BOB), question).text
