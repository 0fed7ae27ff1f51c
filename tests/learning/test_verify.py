"""The validator: used on what rules make and on what a model says."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.facts import StatedFact
from tacit.learning.verification import CONTENT_MAX_CHARS, check_form, check_support, find_pronouns, verify_statement

TEXT = "Hi! My wife Sarah works at Acme since 2019, and I'm allergic to peanuts."


def statement(content: str, quote: str = "I'm allergic to peanuts") -> StatedFact:
    return StatedFact(
        content=content,
        quote=quote,
        explicit=False,
        kind=None,
        about_speaker=True,
        about=(),
        hearsay=False,
        slot=None,
        value=None,
        negated=False,
        observed_at=None,
        withheld_from=(),
        hold=None,
    )


def why(content: str, quote: str = "I'm allergic to peanuts", text: str = TEXT) -> str | None:
    return verify_statement(statement(content, quote), text, "Alice", load_locale("en"))


@pytest.mark.parametrize(
    "content",
    [
        "Alice is allergic to peanuts",
        "Alice has a peanut allergy.",
        "Alice's wife Sarah works at Acme",
        "Alice's wife Sarah has worked at Acme since 2019",
        "Alice is allergic to peanuts. Sarah works at Acme.",
    ],
)
def test_what_the_message_says_is_fine(content: str) -> None:
    assert why(content) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "too short"),
        ("Al", "too short"),
        (" Alice is allergic to peanuts", "too short"),
        ("Alice is allergic to " + "peanuts " * 40 + "peanuts", "longer than 280"),
        ("Alice is allergic\nto peanuts", "one line"),
        ("Is Alice allergic to peanuts?", "question"),
        ("Alice is allergic. Sarah works. Alice has a wife. Peanuts.", "more than 2 sentences"),
        ("I am allergic to peanuts", "pronoun 'I'"),
        ("My wife Sarah works at Acme", "pronoun 'My'"),
        ("She works at Acme", "pronoun 'She'"),
        ("Alice is allergic to them", "pronoun 'them'"),
        ("You are allergic to peanuts", "pronoun 'You'"),
        ("Alice told her wife Sarah", "pronoun 'her'"),
        ("It is about peanuts", "pronoun 'It'"),
        ("Alice is allergic to shellfish and cats and pollen", "does not say it"),
        ("Alice works at Globex", "'Globex' is not in the message"),
        ("Alice's wife Maria works at Acme", "'Maria' is not in the message"),
        ("Sarah works at Acme since 2017", "'2017' is not in the message"),
        ("Alice owes Sarah 500 peanuts", "'500' is not in the message"),
    ],
)
def test_what_it_does_not_say_is_refused_with_a_reason(content: str, reason: str) -> None:
    found = why(content)
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    "content",
    [
        "I am allergic to peanuts",
        "She works at Acme",
        "Is Alice allergic to peanuts?",
        "Alice is allergic to " + "peanuts " * 40 + "peanuts",
    ],
)
def test_what_the_message_says_may_be_of_the_wrong_form(content: str) -> None:
    english = load_locale("en")
    assert check_form(content, "Alice", english)
    assert check_support(statement(content), TEXT, "Alice", english) is None


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("en", "Alice plans a"),
        ("en", "Alice bought a cake for the"),
        ("en", "Alice wants to"),
        ("en", "Alice works for."),
        ("en", "Alice lives in a house that"),
        ("en", "Alice works for a company that is"),
        ("en", "Alice likes tea and"),
        ("en", "Alice lives in"),
        ("en", "Alice works at Acme as"),
        ("en", "Alice has a dog ("),
        ("en", "Alice has a dog (and)"),
        ("de", "Alice plant eine"),
        ("de", "Alice arbeitet für"),
        ("de", "Alice wohnt in"),
        ("de", "Alice sagt, dass"),
    ],
)
def test_what_breaks_off_is_refused(code: str, content: str) -> None:
    assert check_form(content, "Alice", load_locale(code)) == "the content breaks off before its end"


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("en", "Alice takes vitamin A"),
        ("en", "Alice has nobody to talk to"),
        ("en", "Oxfam is who Alice works for"),
        ("en", "Alice's cat is well cared for"),
        ("en", "Bob founded the company Alice works for"),
        ("en", "Alice moved in"),
        ("de", "Alice kauft samstags ein"),
        ("de", "Alice bringt den Hund mit"),
        ("de", "Die Bar ist zu"),
    ],
)
def test_a_small_word_may_end_a_whole_sentence(code: str, content: str) -> None:
    assert check_form(content, "Alice", load_locale(code)) is None


@pytest.mark.parametrize("content", ["Alice works at Globex", "Alice is allergic to shellfish"])
def test_what_has_the_right_form_may_not_be_what_the_message_says(content: str) -> None:
    english = load_locale("en")
    assert check_form(content, "Alice", english) is None
    assert check_support(statement(content), TEXT, "Alice", english)


def test_the_words_that_leave_open_who_is_meant_are_found_in_their_order() -> None:
    content = "It's hers, and IT in the US is his"
    assert find_pronouns(content, "Alice", load_locale("en")) == ["It's", "hers", "his"]


def test_the_limit_is_the_designs() -> None:
    assert CONTENT_MAX_CHARS == 280


def test_a_quote_must_be_in_the_message() -> None:
    assert "quote" in (why("Alice is allergic to peanuts", "I am allergic to peanuts") or "")
    assert "quoted" in (why("Alice is allergic to peanuts", "  ") or "")


def test_spaces_in_a_quote_do_not_matter() -> None:
    assert why("Alice is allergic to peanuts", "I'm  allergic\nto peanuts") is None


def test_a_date_may_be_written_out_where_the_message_names_a_day() -> None:
    text = "I'm flying to Rome on Friday"
    content = "Alice is flying to Rome on 20 November 2026"
    at = datetime(2026, 11, 20, tzinfo=UTC)
    dated = replace(statement(content, text), observed_at=at)
    assert verify_statement(dated, text, "Alice", load_locale("en")) is None


def test_a_date_may_not_appear_from_nowhere() -> None:
    text = "I'm flying to Rome on Friday"
    found = why("Alice is flying to Rome on 20 November 2026", text, text)
    assert found is not None
    assert "is not in the message" in found


def test_one_thing_may_not_stand_for_another() -> None:
    assert why("Alice is allergic to shellfish") == "the message does not say it"


def test_a_name_that_is_a_pronoun_is_a_name() -> None:
    found = replace(statement("Will I Am is allergic to peanuts"))
    assert verify_statement(found, TEXT, "Will I Am", load_locale("en")) is None


def test_a_country_is_no_pronoun() -> None:
    text = "I work for the US embassy"
    assert why("Alice works for the US embassy", text, text) is None


def test_a_set_of_pronouns_may_be_talked_about() -> None:
    text = "my pronouns are they/them"
    assert why("Alice's pronouns are they/them", text, text) is None


def test_the_language_is_guessed_where_it_is_not_given() -> None:
    text = "Ich bin allergisch gegen Nüsse"
    german = statement("Er ist allergisch gegen Nüsse", text)
    assert "pronoun" in (verify_statement(german, text, "Alice") or "")
    assert verify_statement(replace(german, content="Alice ist allergisch gegen Nüsse"), text, "Alice") is None


def test_a_speakers_name_inside_another_word_is_left_alone() -> None:
    said = statement("Sam wants to be called Sammy", quote="call me Sammy")
    assert verify_statement(said, "call me Sammy", "Sam", load_locale("en")) is None
