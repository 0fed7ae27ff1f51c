"""What a change leaves behind when it is said in passing."""

from datetime import UTC, datetime, timedelta

import pytest

from tacit.learning.corrections.cues import load_restatements, restate_known, restate_message
from tacit.learning.corrections.supersession import Correction, KnownFact, find_correction
from tacit.learning.corrections.values import parse_full_date
from tacit.learning.extraction.locale import load_locale

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)
REWORDED = """
Kim's phone is a Pixel 6 | got an iPhone 15 instead of the Pixel | Kim's phone is an iPhone 15
Kim's laptop is a ThinkPad T14 | they swapped my ThinkPad for a MacBook | Kim's laptop is a MacBook
The router is behind the sofa | I moved the router, it's on the shelf | The router is on the shelf
The fair is on 6 May at Pia's | Pia's is full so the fair is at Ito | The fair is on 6 May at Ito
Gala is on 17 June 2025 | I checked, Wednesday, not Tuesday | Gala is on 18 June 2025
The repo is called alpha | the repo has been renamed to beta | The repo is called beta
Leo is at Oakwood | we've moved Leo to Hillside | Leo is at Hillside
"""


def known(content: str, minutes: int = 10) -> KnownFact:
    return KnownFact(
        content=content,
        slot=None,
        value=None,
        about_speaker=True,
        said_at=NOW - timedelta(minutes=minutes),
    )


def amended(message: str, *memories: KnownFact) -> Correction | None:
    return find_correction(message, "Kim", memories, load_locale("en"), said_at=NOW)


def lines(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" | ")) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("before", "message", "after"), lines(REWORDED))
def test_the_old_sentence_gets_the_value_that_was_said_in_passing(
    before: str, message: str, after: str
) -> None:
    found = amended(message, known(before))
    assert found is not None
    assert found.content == after


def test_a_pronoun_alone_names_nobody() -> None:
    assert amended("he's in Dublin now", known("The backup server is in Bonn")) is None
    assert amended("it's in Dublin now", known("The backup server is in Bonn")) is None
    assert amended("she's retired", known("Kim's gran works in a bank")) is None


def test_a_noun_of_the_message_explains_its_pronoun_first() -> None:
    assert amended("got a new desk, it's in Hall 5 now", known("The class is in Hall 2")) is None


def test_who_has_died_lives_nowhere_but_was_born_as_before() -> None:
    assert amended("Alf passed away in March", known("Kim's brother Alf lives in Perth"))
    assert amended("Ted passed away in March", known("Kim's brother Alf lives in Perth")) is None


def test_another_sum_for_another_person_is_another_debt() -> None:
    assert amended("paid Bob back", known("Kim owes Bob 20"))
    assert amended("paid Ann back", known("Kim owes Bob 20")) is None
    assert amended("I owe Ann 30 now", known("Kim owes Bob 20")) is None


def test_whose_it_is_may_be_all_that_changes() -> None:
    old = known("The parking permit is on Tom's car")
    assert amended("the permit's on my car since yesterday", old)
    assert amended("the sticker's on my car since yesterday", old) is None


def test_other_words_are_put_into_those_that_the_rules_read() -> None:
    assert restate_message("packed in the gym", "en") == "quit the gym"
    assert restate_message("dont do it", "en") == "don't do it"
    assert restate_known("Kim does not care for jazz.", "en") == "Kim does not like jazz"


def test_a_language_without_other_words_keeps_its_text() -> None:
    assert load_restatements("xx").said == ()
    assert restate_message("ich wohne in Kiel", "de") == "ich wohne in Kiel"


@pytest.mark.parametrize("said", ["17 June 2025", "on 17 June 2025 at 18:10"])
def test_a_date_in_full_has_its_weekday(said: str) -> None:
    found = parse_full_date(said, load_locale("en"))
    assert found is not None
    assert found.weekday() == 1


@pytest.mark.parametrize("said", ["17 June", "31 June 2025", "17 Junk 2025", "Tuesday"])
def test_what_is_no_date_in_full_has_no_weekday(said: str) -> None:
    assert parse_full_date(said, load_locale("en")) is None
