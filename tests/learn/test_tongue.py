"""Languages are data files: each is whole, and the right one is guessed."""

from datetime import UTC, datetime

import pytest

from tacit.errors import InvalidInput
from tacit.learn.reading.tongue import codes, guess, tongue
from tacit.records.memory import Kind

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)


def test_english_and_german_are_there() -> None:
    assert codes() == ("de", "en")


@pytest.mark.parametrize("code", codes())
def test_every_language_has_all_parts(code: str) -> None:
    own, english = tongue(code), tongue("en")
    assert own.code == code
    assert set(own.patterns) == set(english.patterns)
    assert set(own.texts) == set(english.texts)
    assert set(own.dates.say) == set(english.dates.say)
    assert len(own.dates.months) == 12
    assert {entry.topic for entry in own.lexicon} == {entry.topic for entry in english.lexicon}
    for forms in (own.does, own.owns, own.wholes, own.plain, own.plain_of):
        assert forms
        assert all(isinstance(form.kind, Kind) for form in forms)


@pytest.mark.parametrize("code", codes())
def test_the_slots_of_one_language_are_those_of_the_others(code: str) -> None:
    """The same fact said in two languages is one fact: slots are no words of a language."""
    slots = {form.slot for form in (*tongue(code).does, *tongue(code).owns) if form.slot}
    for shared in ("home_city", "employer", "job", "birthday", "diet", "age", "name", "phone"):
        assert shared in slots
    assert "partner" in {kin.slot for kin in tongue(code).kin.values()}


def test_a_language_is_read_once() -> None:
    assert tongue("en") is tongue("en")


def test_an_unknown_language_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match="de, en"):
        tongue("xx")


@pytest.mark.parametrize("code", ["", "..", "../en", "en.yaml", "EN"])
def test_a_code_is_no_path(code: str) -> None:
    with pytest.raises(InvalidInput):
        tongue(code)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I live in Berlin and I love it", "en"),
        ("Ich wohne in Berlin", "de"),
        ("Meine Frau heißt Sarah", "de"),
        ("my wife is Sarah", "en"),
        ("im vegan", "en"),
        ("bin vegan und mag keinen Käse", "de"),
        ("", "en"),
        ("12345 🎉", "en"),
        ("Köln", "en"),
    ],
)
def test_the_language_of_a_text_is_guessed(text: str, code: str) -> None:
    assert guess(text) == code
