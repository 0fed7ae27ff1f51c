"""Languages are data files: each is whole, and the right one is guessed."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from tacit.errors import InvalidInput
from tacit.learning.extraction import locale
from tacit.learning.extraction.locale import guess_locale, list_locales, load_locale
from tacit.records.memory import Kind


def test_english_and_german_are_there() -> None:
    assert list_locales() == ("de", "en")


@pytest.mark.parametrize("code", list_locales())
def test_every_language_has_all_parts(code: str) -> None:
    own, english = load_locale(code), load_locale("en")
    assert own.code == code
    assert set(own.patterns) == set(english.patterns)
    assert set(own.texts) == set(english.texts)
    assert set(own.dates.say) == set(english.dates.say)
    assert len(own.dates.months) == 12
    assert {entry.topic for entry in own.lexicon} == {entry.topic for entry in english.lexicon}
    for forms in (own.does, own.owns, own.wholes, own.plain, own.plain_of):
        assert forms
        assert all(isinstance(form.kind, Kind) for form in forms)


@pytest.mark.parametrize("code", list_locales())
def test_the_slots_of_one_language_are_those_of_the_others(code: str) -> None:
    """The same fact said in two languages is one fact: slots are no words of a language."""
    slots = {form.slot for form in (*load_locale(code).does, *load_locale(code).owns) if form.slot}
    for shared in ("home_city", "employer", "job", "birthday", "diet", "age", "name", "phone"):
        assert shared in slots
    assert "partner" in {kin.slot for kin in load_locale(code).kin.values()}


def test_a_language_is_read_once() -> None:
    assert load_locale("en") is load_locale("en")


def test_an_unknown_language_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match="de, en"):
        load_locale("xx")


@pytest.mark.parametrize("code", ["", "..", "../en", "en.yaml", "EN"])
def test_a_code_is_no_path(code: str) -> None:
    with pytest.raises(InvalidInput):
        load_locale(code)


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
    assert guess_locale(text) == code


def test_threads_that_load_a_locale_at_once_get_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locale, "_load_locale", cache(locale._load_locale.__wrapped__))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(load_locale, ["en"] * 8))
    assert len({id(one) for one in found}) == 1
