"""What waits for a yes: it is told, and answered in words by the one who was asked alone."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import limits
from tests.bots.chats import (
    ALICE,
    BOB,
    TEAM,
    Driver,
    Person,
    Scenario,
    alone,
    bot_of,
    remembered,
    staged,
    view,
    waiting,
)
from tests.bots.local_driver import CHANNEL, LocalDriver

HOME = alone(ALICE)
FACTS = {
    "I have a cat called Miso": "Alice has a cat called Miso",
    "I live in Lisbon": "Alice lives in Lisbon",
    "I work at ACME as a designer": "Alice works at ACME as a designer",
    "My brother Tom lives in Porto": "Alice's brother Tom lives in Porto",
    "I am allergic to peanuts": "Alice is allergic to peanuts",
    "I have a dog called Rex": "Alice has a dog called Rex",
    "I play the cello": "Alice plays the cello",
}
SAID, KNOWN = list(FACTS), list(FACTS.values())
PLAIN = Scenario("", lambda _: None, None)


@pytest.fixture
def driver(database_url: str) -> Iterator[LocalDriver]:
    with staged(database_url, PLAIN) as stage:
        yield LocalDriver(stage)


def tell(driver: Driver, count: int, who: Person = ALICE) -> str:
    """The last reply after so many facts in passing, none of them answered."""
    text = ""
    for said in SAID[:count]:
        text = driver.say(who, alone(who), said).text
    return text


def restarted(driver: LocalDriver) -> None:
    driver.bot = bot_of(driver.stage)


def test_after_five_facts_in_passing_the_reply_lists_what_waits(driver: LocalDriver) -> None:
    told = tell(driver, 5)
    assert told.startswith("5 memories need your OK:")
    for number, content in enumerate(KNOWN[:5], start=1):
        assert f"{number}. {content}" in told
    for words in ("hm, whatever", "and so on", "what do you know about me?"):
        told = driver.say(ALICE, HOME, words).text
        assert all(content in told for content in KNOWN[:5]), "it denies nothing that it holds"
    assert remembered(driver, ALICE) == [], "and keeps nothing unasked"


def test_more_than_a_few_are_counted_and_asked_about_in_turn(driver: LocalDriver) -> None:
    told = tell(driver, 7)
    most = limits.CHAT_PROPOSALS_MAX_COUNT
    assert told.startswith(f"7 memories need your OK, the newest {most} first:")
    assert KNOWN[6] in told
    assert KNOWN[0] not in told
    told = driver.say(ALICE, HOME, "what do you know about me?").text
    assert all(content in told for content in KNOWN), "also what is asked about later"
    kept, rest = driver.say(ALICE, HOME, "all").shown
    assert all(content in kept.text for content in KNOWN[2:])
    assert rest.text.startswith("2 memories need")
    driver.say(ALICE, HOME, "yes to both")
    assert remembered(driver, ALICE) == sorted(KNOWN)


@pytest.mark.parametrize("word", ["yes to both", "all", "yes", "ok do that", "beide", "1 and 2"])
def test_a_yes_keeps_what_was_listed(driver: LocalDriver, word: str) -> None:
    tell(driver, 2)
    told = driver.say(ALICE, HOME, word).text
    assert told == f"I'll remember:\n• {KNOWN[0]}\n• {KNOWN[1]}"
    assert remembered(driver, ALICE) == sorted(KNOWN[:2])
    assert waiting(driver, ALICE) == []


@pytest.mark.parametrize("word", ["no", "none", "no thanks", "nein", "neither"])
def test_a_no_keeps_nothing(driver: LocalDriver, word: str) -> None:
    tell(driver, 2)
    assert driver.say(ALICE, HOME, word).text == "OK, I won't remember these 2."
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []
    assert driver.say(ALICE, HOME, "yes").text == "Got it.", "there is nothing left to say yes to"
    assert remembered(driver, ALICE) == []


def test_some_are_kept_by_their_numbers_and_the_others_go_on_waiting(driver: LocalDriver) -> None:
    tell(driver, 3)
    told, rest = driver.say(ALICE, HOME, "2").shown
    assert told.text == f"I'll remember: {KNOWN[1]}"
    assert rest.text.startswith("2 memories need")
    driver.say(ALICE, HOME, "only the first")
    assert remembered(driver, ALICE) == sorted(KNOWN[:2])
    assert waiting(driver, ALICE) == []


def test_a_button_answers_for_one_and_the_others_are_listed_anew(driver: LocalDriver) -> None:
    tell(driver, 2)
    (asked,) = driver.say(ALICE, HOME, SAID[2]).shown
    assert asked.buttons == ("All", "None", "1", "2", "3")
    told, rest = driver.press(ALICE, asked, "2")
    assert told.text == f"I'll remember: {KNOWN[1]}"
    assert f"1. {KNOWN[0]}\n2. {KNOWN[2]}" in rest.text
    assert driver.press(BOB, rest, "All") != ()
    assert len(waiting(driver, ALICE)) == 2, "whose button it is not, decides nothing"
    driver.press(ALICE, rest, "None")
    assert waiting(driver, ALICE) == []
    assert remembered(driver, ALICE) == [KNOWN[1]]


@pytest.mark.parametrize("word", ["yes and no", "4", "yes to both", "only one", "no, the second"])
def test_what_is_not_clear_is_asked_again(driver: LocalDriver, word: str) -> None:
    asked = tell(driver, 3)
    assert driver.say(ALICE, HOME, word).text == f"I'm not sure which one you mean. {asked}"
    assert len(waiting(driver, ALICE)) == 3
    driver.say(ALICE, HOME, "all")
    assert len(remembered(driver, ALICE)) == 3


def test_a_no_with_a_correction_is_both(driver: LocalDriver) -> None:
    driver.say(ALICE, HOME, "I live in Lisbon")
    told = driver.say(ALICE, HOME, "No, I live in Porto").text
    assert "Should I remember this? Alice lives in Porto" in told
    assert waiting(driver, ALICE) == ["Alice lives in Porto"]


def test_a_yes_counts_for_the_one_who_was_asked_where_they_were_asked(driver: LocalDriver) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    driver.say(ALICE, TEAM, "I have a dog called Rex")
    for word in ("yes", "all", "1", "no"):
        assert driver.say(BOB, TEAM, word).shown == ()
        driver.say(BOB, alone(BOB), word)
        assert waiting(driver, ALICE, TEAM) == [FACTS["I have a dog called Rex"]]
    driver.say(ALICE, TEAM, "yes please")
    assert remembered(driver, ALICE, TEAM) == [FACTS["I have a dog called Rex"]]


def test_a_yes_is_no_answer_to_what_nobody_was_asked(driver: LocalDriver) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    driver.say(ALICE, TEAM, "I have a dog called Rex", to_bot=False)
    restarted(driver)
    assert "Should I remember this?" in driver.say(ALICE, TEAM, "yes").text
    assert remembered(driver, ALICE, TEAM) == []


CLOSING = (
    "ok thanks, that's all",
    "that's all",
    "that's all, thanks",
    "thanks all",
    "both are nice",
    "yeah right",
    "all good",
    "all right then",
    "no need to thank me",
    "ok thanks",
    "thanks for everything",
    "das ist alles",
    "alles gut",
    "alles klar",
    "ja ja",
)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("words", CLOSING)
def test_who_closes_the_talk_or_thanks_decides_nothing(
    driver: LocalDriver, words: str, count: int
) -> None:
    tell(driver, count)
    driver.say(ALICE, HOME, words)
    assert waiting(driver, ALICE) == sorted(KNOWN[:count])
    assert remembered(driver, ALICE) == []


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
def test_an_answer_after_something_else_decides_nothing(
    count: int, between: str, word: str
) -> None:
    with staged("sqlite://", PLAIN) as stage:
        driver = LocalDriver(stage)
        tell(driver, count)
        before = waiting(driver, ALICE)
        driver.say(ALICE, HOME, between)
        told = driver.say(ALICE, HOME, word).text
        erased = between == "forget everything" and "were erased" in told
        assert waiting(driver, ALICE) == ([] if erased else before)
        assert not set(remembered(driver, ALICE)) & set(KNOWN)


def test_an_answer_to_another_person_comes_between_in_a_group(driver: LocalDriver) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    driver.say(ALICE, TEAM, "I have a dog called Rex")
    driver.say(BOB, TEAM, "What is the weather like?")
    assert "I'm not sure which one you mean." in driver.say(ALICE, TEAM, "yes").text
    assert remembered(driver, ALICE, TEAM) == []


def test_what_another_account_brings_to_the_chat_comes_between(driver: LocalDriver) -> None:
    code = re.search(r"[0-9A-Z]{5}-[0-9A-Z]{5}", driver.say(ALICE, HOME, "/link").text)
    assert code is not None
    tell(driver, 1)
    (sure,) = driver.say(BOB, alone(BOB), f"/link {code[0]}").shown
    asked = driver.press(BOB, sure, sure.buttons[0])
    assert any(one.room == HOME for one in asked), "Alice is asked about the link"
    assert "I'm not sure which one you mean." in driver.say(ALICE, HOME, "yes").text
    assert remembered(driver, ALICE) == []


def test_yes_to_the_others_is_clear_after_an_answer_to_some(driver: LocalDriver) -> None:
    asked = tell(driver, 3)
    again = driver.say(ALICE, HOME, "yes to the others").text
    assert again == f"I'm not sure which one you mean. {asked}"
    driver.say(ALICE, HOME, "2")
    driver.say(ALICE, HOME, "yes to the others")
    assert remembered(driver, ALICE) == sorted(KNOWN[:3])


def test_yes_to_both_is_also_a_yes_to_the_one_that_waits(driver: LocalDriver) -> None:
    tell(driver, 1)
    assert driver.say(ALICE, HOME, "yes to both").text == f"I'll remember: {KNOWN[0]}"


def test_a_yes_to_erasing_everything_keeps_nothing_that_waits(driver: LocalDriver) -> None:
    view(driver, ALICE).remember("Alice likes tea")
    view(driver, BOB).remember("Bob likes tea")
    tell(driver, 1)
    driver.say(ALICE, HOME, "/forget everything")
    told = driver.say(ALICE, HOME, "yes").text
    assert told.startswith("All your memories were erased:")
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []
    assert remembered(driver, BOB) == ["Bob likes tea"]


@pytest.mark.parametrize(
    "word", ["no", "keep it", "nein", "don't", "no thanks", "never mind", "don't delete it"]
)
def test_a_no_to_erasing_everything_keeps_it(driver: LocalDriver, word: str) -> None:
    view(driver, ALICE).remember("Alice likes tea")
    driver.say(ALICE, HOME, "delete everything you know about me")
    assert driver.say(ALICE, HOME, word).text == "Nothing was erased."
    driver.say(ALICE, HOME, "yes")
    assert remembered(driver, ALICE) == ["Alice likes tea"], "it is asked no more"


@pytest.mark.parametrize("word", ["yes", "Yes, delete everything.", "erase everything", "ja bitte"])
def test_a_plain_yes_erases_everything(driver: LocalDriver, word: str) -> None:
    view(driver, ALICE).remember("Alice likes tea")
    driver.say(ALICE, HOME, "delete everything you know about me")
    told = driver.say(ALICE, HOME, word).text
    assert told == "All your memories were erased: 1 in total."
    assert remembered(driver, ALICE) == []


@pytest.mark.parametrize(
    "words", ["ok", "all", "all good", "yes and no", "what would that erase?", "/memory", "hello"]
)
def test_less_than_a_yes_erases_nothing(driver: LocalDriver, words: str) -> None:
    view(driver, ALICE).remember("Alice likes tea")
    driver.say(ALICE, HOME, "delete everything you know about me")
    driver.say(ALICE, HOME, words)
    assert remembered(driver, ALICE) == ["Alice likes tea"]


@pytest.mark.parametrize("word", ["keep it", "no, keep it", "don't forget it", "leave it"])
def test_who_keeps_what_could_be_forgotten_forgets_nothing(driver: LocalDriver, word: str) -> None:
    mine = view(driver, ALICE)
    mine.remember("Alice has a cat called Miso")
    mine.remember("Alice's sister has a cat")
    assert "Which of these" in driver.say(ALICE, HOME, "forget my cat").text
    driver.say(ALICE, HOME, word)
    assert len(remembered(driver, ALICE)) == 2


def test_delete_the_first_forgets_the_first(driver: LocalDriver) -> None:
    mine = view(driver, ALICE)
    mine.remember("Alice has a cat called Miso")
    mine.remember("Alice's sister has a cat")
    asked = driver.say(ALICE, HOME, "forget my cat").text
    first = asked.splitlines()[1].partition("] ")[2]
    driver.say(ALICE, HOME, "delete the first, keep the second")
    assert first not in remembered(driver, ALICE)
    assert len(remembered(driver, ALICE)) == 1


def test_what_expired_meanwhile_is_not_kept(driver: LocalDriver) -> None:
    tell(driver, 2)
    driver.stage.clock.forward(days=8)
    told = driver.say(ALICE, HOME, "all").text
    assert told == "That isn't yours to answer, or it was answered already."
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []


def test_what_was_answered_elsewhere_meanwhile_is_left_as_it_is(driver: LocalDriver) -> None:
    tell(driver, 3)
    mine = view(driver, ALICE)
    gone = next(one for one in mine.proposals.list() if one.content == KNOWN[0])
    mine.proposals.decline(gone.id)
    told = driver.say(ALICE, HOME, "1 and 2").shown[0].text
    assert told == f"I'll remember: {KNOWN[1]}\nThe rest is no longer waiting."
    assert remembered(driver, ALICE) == [KNOWN[1]], "numbers mean what the list said"
    assert waiting(driver, ALICE) == [KNOWN[2]]


@pytest.mark.parametrize("count", [1, 2])
def test_a_bot_that_was_restarted_asks_again(driver: LocalDriver, count: int) -> None:
    tell(driver, count)
    restarted(driver)
    asked = driver.say(ALICE, HOME, "all").text
    assert all(content in asked for content in KNOWN[:count])
    assert remembered(driver, ALICE) == [], "which ones it had listed, it does not know"
    driver.say(ALICE, HOME, "all")
    assert remembered(driver, ALICE) == sorted(KNOWN[:count])


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


ASKING = (
    "what do you know about me?",
    "What have you saved about me",
    "tell me everything you remember",
    "do you know anything about me",
    "what do you remember?",
    "show me what you know about me please",
    "list my memories",
    "what's in your memory",
    "was weißt du über mich?",
    "Was hast du dir gemerkt?",
)


@pytest.mark.parametrize("question", ASKING)
def test_everything_is_told_that_is_kept_or_waits(driver: LocalDriver, question: str) -> None:
    driver.say(ALICE, HOME, "Remember that I like green tea")
    view(driver, ALICE).put("preference", "timezone", "Europe/Lisbon")
    tell(driver, 2)
    kept, asked = driver.say(ALICE, HOME, question).shown
    assert "• Alice likes green tea" in kept.text
    assert "• timezone: Europe/Lisbon" in kept.text
    assert asked.text.startswith("Not saved yet: 2 memories need your OK:")
    assert KNOWN[0] in asked.text
    assert KNOWN[1] in asked.text
    driver.say(ALICE, HOME, "all")
    assert set(KNOWN[:2]) <= set(remembered(driver, ALICE)), "and it can be answered right there"


def test_a_question_about_what_waits_is_not_denied(driver: LocalDriver) -> None:
    tell(driver, 2)
    told = driver.say(ALICE, HOME, "What is my cat called?").text
    assert told == f"Not saved yet: Should I remember this? {KNOWN[0]}"
    assert "don't know" in driver.say(ALICE, HOME, "Where was I born?").text


def test_a_group_hears_nothing_of_what_was_told_in_private(driver: LocalDriver) -> None:
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    driver.say(ALICE, HOME, "Remember that I like green tea")
    view(driver, ALICE).put("preference", "timezone", "Europe/Lisbon")
    tell(driver, 2)
    nothing = driver.say(BOB, TEAM, "what do you know about me?").text
    for question in ASKING:
        told = driver.say(ALICE, TEAM, question).text
        assert told == nothing, "as of somebody of whom nothing is known"
    driver.say(ALICE, TEAM, "Remember that I have a dog called Rex")
    told = driver.say(ALICE, TEAM, "what do you know about me?").text
    assert told == "Here is what I remember:\n• Alice has a dog called Rex"
    assert "Rex" not in driver.say(BOB, TEAM, "what do you know about me?").text


PRIVATE = ("I have a cat called Miso", "Remember that I live in Lisbon", "I like green tea")
PUBLIC = (
    "yes",
    "all",
    "1",
    "no",
    "what do you know about me?",
    "forget my cat",
    "I play the cello",
)
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


@pytest.mark.parametrize(
    "words",
    [
        "forget my cat",
        "Please forget that I have a cat.",
        "can you delete my cat?",
        "forget Miso",
        "vergiss Miso",
        "kannst du Miso bitte vergessen",
    ],
)
def test_what_is_named_is_forgotten_and_can_be_restored(driver: LocalDriver, words: str) -> None:
    view(driver, BOB).remember("Bob has a cat called Miso, too")
    tell(driver, 2)
    driver.say(ALICE, HOME, "all")
    told = driver.say(ALICE, HOME, words).text
    assert told == f"Forgotten: '{KNOWN[0]}'. {driver.typed('/undo')} restores it."
    assert remembered(driver, ALICE) == [KNOWN[1]]
    assert len(remembered(driver, BOB)) == 1
    driver.say(ALICE, HOME, "undo")
    assert remembered(driver, ALICE) == sorted(KNOWN[:2])


def test_which_of_several_is_asked_and_answered_in_words(driver: LocalDriver) -> None:
    mine = view(driver, ALICE)
    mine.remember("Alice has a cat called Miso")
    driver.stage.clock.forward(seconds=1)
    mine.remember("Alice's sister has a cat")
    (asked,) = driver.say(ALICE, HOME, "forget my cat").shown
    assert asked.text.startswith("Which of these should I forget?")
    for word in ("yes", "3"):
        driver.say(ALICE, HOME, word)
        assert len(remembered(driver, ALICE)) == 2, "nobody guesses"
    first = asked.text.splitlines()[1].partition("] ")[2]
    assert f"Forgotten: '{first}'" in driver.say(ALICE, HOME, "the first").text
    assert first not in remembered(driver, ALICE)
    assert len(remembered(driver, ALICE)) == 1


def test_all_of_a_named_thing_goes_and_one_button_brings_it_back(driver: LocalDriver) -> None:
    mine = view(driver, ALICE)
    for content in ("Tom lives in Porto", "Alice met Tom in May", "Alice likes tea"):
        mine.remember(content)
    (told,) = driver.say(ALICE, HOME, "forget everything about Tom").shown
    assert told.text.count("Forgotten:") == 2
    assert remembered(driver, ALICE) == ["Alice likes tea"]
    driver.press(ALICE, told, "Undo")
    assert len(remembered(driver, ALICE)) == 3


def test_what_only_waits_is_declined_and_a_key_is_found_by_its_name(driver: LocalDriver) -> None:
    tell(driver, 1)
    told = driver.say(ALICE, HOME, "forget my cat").text
    assert told == f"OK, I won't remember this: '{KNOWN[0]}'"
    assert waiting(driver, ALICE) == []
    view(driver, ALICE).put("preference", "timezone", "Europe/Lisbon")
    assert "Europe/Lisbon" in driver.say(ALICE, HOME, "delete my timezone").text
    assert remembered(driver, ALICE) == []


def test_only_a_plain_request_forgets(driver: LocalDriver) -> None:
    view(driver, ALICE).remember("Alice has a cat called Miso")
    for words in (
        "don't forget my cat",
        "I want to forget my cat",
        "forget it",
        "forget my umbrella",
        "Forget the cat. It rains.",
    ):
        driver.say(ALICE, HOME, words)
        assert "Alice has a cat called Miso" in remembered(driver, ALICE), words
    driver.join(ALICE, TEAM)
    driver.join(BOB, TEAM)
    for words in ("forget my cat", "forget Miso"):
        assert "private chat" in driver.say(ALICE, TEAM, words).text
    assert len(remembered(driver, ALICE)) == 1
    (asked,) = driver.say(ALICE, HOME, "forget everything").shown
    assert asked.buttons == ("Erase everything", "Cancel")
    assert len(remembered(driver, ALICE)) == 1


class Nameless(LocalDriver):
    def requester(self, who: Person) -> tacit.Requester:
        return replace(super().requester(who), name=None, key=f"{CHANNEL}:{who.number}")


@pytest.mark.parametrize("words", ["My name is Nora", "I'm Nora", "Ich heiße Nora"])
def test_who_tells_their_name_is_called_so(database_url: str, words: str) -> None:
    with staged(database_url, PLAIN) as stage:
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


def test_who_does_not_want_their_name_kept_is_not_called_so(database_url: str) -> None:
    with staged(database_url, PLAIN) as stage:
        driver = Nameless(stage)
        driver.say(ALICE, HOME, "My name is Nora")
        driver.say(ALICE, HOME, "no")
        driver.say(ALICE, HOME, "I have a dog called Rex")
        assert not any("Nora" in one for one in waiting(driver, ALICE))


@pytest.mark.parametrize("words", ["call me Jules", "My name is Jules"])
@pytest.mark.parametrize(
    "question", ["what's my name?", "what is my name", "do you know my name?", "wie heiße ich?"]
)
def test_who_told_their_name_is_told_it(database_url: str, words: str, question: str) -> None:
    with staged(database_url, PLAIN) as stage:
        driver = Nameless(stage)
        driver.say(ALICE, HOME, words)
        driver.say(ALICE, HOME, "yes")
        assert "Jules" in driver.say(ALICE, HOME, question).text
        assert "Jules" not in driver.say(BOB, alone(BOB), question).text


POLITE = {
    "can you remember that my locker is number 12": "Alice's locker is number 12",
    "could you remember my sister is called Ana?": "Alice's sister is called Ana",
    "Would you please remember that I play the cello?": "Alice plays the cello",
    "can you keep in mind that I hate mushrooms?": "Alice hates mushrooms",
    "kannst du dir merken, dass ich in Berlin wohne": "Alice wohnt in Berlin",
    "Könntest du dir bitte merken, dass ich in Berlin wohne?": "Alice wohnt in Berlin",
}


@pytest.mark.parametrize("words", POLITE)
def test_a_polite_request_is_kept_and_told_with_a_way_back(driver: LocalDriver, words: str) -> None:
    (told,) = driver.say(ALICE, HOME, words).shown
    assert told.text == f"Remembered: {POLITE[words]}"
    assert remembered(driver, ALICE) == [POLITE[words]]
    driver.press(ALICE, told, "Undo")
    assert remembered(driver, ALICE) == []


def test_a_polite_request_is_refused_with_the_reason_of_a_plain_one(driver: LocalDriver) -> None:
    plain = driver.say(ALICE, HOME, "remember that my password is hunter2-Xk9!pQ").text
    polite = driver.say(ALICE, HOME, "can you remember that my password is hunter2-Xk9!pQ").text
    assert polite == plain
    assert "secret" in polite
    plain = driver.say(ALICE, HOME, "remember that hm").text
    assert driver.say(ALICE, HOME, "can you remember that hm").text == plain
    assert remembered(driver, ALICE) == []


def test_a_question_what_is_remembered_is_no_request(driver: LocalDriver) -> None:
    view(driver, ALICE).remember("Alice's sister is called Ana")
    told = driver.say(ALICE, HOME, "can you remember my sister's name?").text
    assert told == "Here is what I remember:\n• Alice's sister is called Ana"
    for words in (
        "can you remember what I had for lunch?",
        "could you remember that time in Rome?",
    ):
        assert "don't know" in driver.say(ALICE, HOME, words).text
    assert len(remembered(driver, ALICE)) == 1


def test_what_is_known_is_not_said_to_be_no_fact(driver: LocalDriver) -> None:
    for _ in range(2):
        told = driver.say(ALICE, HOME, "remember that my bike is blue").text
    assert told == "I already remember that: Alice's bike is blue"
