"""Notes without a verb or a subject, and the facts of a home, a team and a rota."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.mentions import mark_dates
from tacit.learning.extraction.rules import extract_by_rules
from tacit.records.memory import Kind

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "kind", "about_speaker"),
    [
        ("dentist fri 3pm", Kind.EVENT, True),
        ("gym on tuesdays", Kind.IDENTITY, True),
        ("thesis due in september", Kind.TASK, True),
        ("gf is called steph", Kind.RELATIONSHIP, True),
        ("bins go out tuesday", Kind.KNOWLEDGE, False),
        ("spare key's in the teapot", Kind.KNOWLEDGE, False),
        ("the washing machine's broken", Kind.CONTEXT, False),
        ("Dmitri's on kitchen this week", Kind.CONTEXT, False),
        ("I'm learning Portuguese on Tuesdays", Kind.IDENTITY, True),
        ("my doctor's appointment is on 24 June", Kind.EVENT, True),
    ],
)
def test_a_note_is_of_the_kind_and_the_person_it_says(text: str, kind: Kind, about_speaker: bool) -> None:
    [stated] = extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text)))
    assert (stated.kind, stated.about_speaker) == (kind, about_speaker)


@pytest.mark.parametrize(
    ("text", "hour"), [("team meeting thursday at 2", 14), ("exam on friday at 9", 9), ("dentist fri at 05:30", 5)]
)
def test_an_early_hour_without_its_half_of_the_day_is_one_of_the_afternoon(text: str, hour: int) -> None:
    [stated] = extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text)))
    assert stated.observed_at is not None
    assert stated.observed_at.hour == hour


def test_a_text_without_a_word_of_a_date_has_none() -> None:
    english = load_locale("en")
    said = "on 3 May; every second Tuesday; at noon; in two weeks; next spring; twice a day; tonight"
    for text in said.split("; "):
        assert mark_dates(text, NOW, english, past=False)[1], text
    assert mark_dates("my sister lives in Leeds", NOW, english, past=False) == ("my sister lives in Leeds", [])
