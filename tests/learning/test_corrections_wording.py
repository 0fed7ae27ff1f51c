"""How an amended memory reads, which of several is meant, and when nothing is guessed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.learning.corrections.cues import load_cues
from tacit.learning.corrections.supersession import Correction, KnownFact, find_correction
from tacit.learning.extraction.locale import load_locale
from tests.learning.corrections import NOW, known

READS = """
Kim's flight leaves on Monday | Tuesday, not Monday | Kim's flight leaves on Tuesday
Kim's sister is called Hanna | I meant Anna, not Hanna | Kim's sister is called Anna
Kim's laptop runs Ubuntu | wiped the laptop, it runs Debian now | Kim's laptop runs Debian
Kim drives a Volvo | the Volvo is gone, I drive an Opel now | Kim drives an Opel
Stu is Kim's manager | Stu left, Philippa is my manager now | Philippa is Kim's manager
Kim's meeting with Karl is at 2pm | the meeting got moved to 3pm | Kim's meeting with Karl is at 3pm
Kim has two cats | we've got three cats now | Kim has three cats
Kim's phone is an iPhone 12 | got a new phone, it's a Fairphone | Kim's phone is a Fairphone
Kim's landlord is Mr Penn | we have a new landlord, Ms Achebe | Kim's landlord is Ms Achebe
Kim is on the payments team | I've moved to the fraud team | Kim is on the fraud team
Marta is the team lead | Ivo is the team lead now | Ivo is the team lead
Kim takes 50 mg of sertraline | they upped my sertraline to 75 mg | Kim takes 75 mg of sertraline
Kim's exam is on 23 June 2025 | no wait, it's on Friday | Kim's exam is on 13 June 2025
"""

ENDS = """
Kim has a car | I sold the car
Theo is Kim's boyfriend | we broke up
Kim works at Lidl | I quit
Kim plays the cello | I don't play the cello anymore
Kim needs to renew Kim's passport | I renewed my passport
Kim likes horror films | I can't stand horror films anymore
"""


def amended(message: str, *memories: KnownFact) -> Correction | None:
    return find_correction(message, "Kim", memories, load_locale("en"), said_at=NOW)


def rows(listed: str) -> list[list[str]]:
    return [line.split(" | ") for line in listed.strip().splitlines()]


@pytest.mark.parametrize(("before", "after", "now"), rows(READS))
def test_the_old_sentence_gets_the_new_value(before: str, after: str, now: str) -> None:
    found = amended(after, known(before))
    assert found is not None
    assert found.content == now
    assert found.reason


@pytest.mark.parametrize(("before", "after"), rows(ENDS))
def test_what_simply_ends_leaves_no_sentence(before: str, after: str) -> None:
    found = amended(after, known(before))
    assert found is not None
    assert found.content is None


def test_nothing_known_is_nothing_to_amend() -> None:
    assert amended("no wait, it's Thursday") is None


def test_of_many_memories_the_one_that_is_meant_is_corrected() -> None:
    memories = [
        known("Kim lives in Leeds"),
        known("Kim's rent is 900 euros"),
        known("Kim's dentist is Dr. Moss"),
        known("Kim plays the oud"),
    ]
    found = amended("the rent went up to 950", *memories)
    assert found is not None
    assert found.corrects == memories[1]


def test_two_that_fit_alike_are_left_alone() -> None:
    one, other = (
        known("Kim's meeting with Karl is at 2pm"),
        known("Kim's meeting with Bo is at 1pm"),
    )
    assert amended("the meeting got moved to 3pm", one, other) is None


def test_a_few_words_correct_what_was_said_last() -> None:
    last, before = (
        known("The retro is on Monday"),
        known("The demo is on Friday", timedelta(days=2)),
    )
    found = amended("no wait, it's Thursday", last, before)
    assert found is not None
    assert found.corrects == last


def test_a_few_words_correct_nothing_that_was_said_long_ago() -> None:
    assert (
        amended("no wait, it's Thursday", known("The retro is on Monday", timedelta(days=2)))
        is None
    )


def test_a_few_words_without_a_value_of_that_sort_correct_nothing() -> None:
    assert amended("no wait, it's Thursday", known("Kim plays the oud")) is None


def test_the_same_again_amends_nothing() -> None:
    assert amended("I live in Leeds now", known("Kim lives in Leeds")) is None
    assert amended("my exam is on 23 June", known("Kim's exam is on 23 June 2025")) is None


@pytest.mark.parametrize(
    "message",
    [
        "did the meeting get moved to 3pm?",
        "if the meeting got moved to 3pm I'd be happy",
        "just kidding, the meeting got moved to 3pm",
        '"the meeting got moved to 3pm"',
        "maybe the meeting got moved to 3pm",
    ],
)
def test_what_is_not_stated_amends_nothing(message: str) -> None:
    assert amended(message, known("Kim's meeting with Karl is at 2pm")) is None


def test_a_value_with_a_pronoun_is_not_put_into_words() -> None:
    found = amended("I drive her old Skoda now", known("Kim drives a Volvo"))
    assert found is not None
    assert found.content is None


def test_a_language_without_words_of_change_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no words of change"):
        load_cues("tlh")


def test_both_languages_name_the_same_lists() -> None:
    english, german = load_cues("en"), load_cues("de")
    assert english.patterns.keys() == german.patterns.keys()
    missing = german.words.keys() ^ english.words.keys()
    assert not missing


WORDS = ["no", "wait", "not", "now", "I", "my", "the", "it", "is", "sold", "left", "moved"]
WORDS += ["to", "from", "Tuesday", "9:30", ",", ".", "Kim's", "3pm", "too", "anymore"]


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_whatever_is_said_only_something_known_is_corrected(message: str) -> None:
    memories = [known("The standup is at 9"), known("Kim drives a Volvo"), known(message or "-")]
    found = amended(message, *memories)
    assert found is None or found.corrects in memories
