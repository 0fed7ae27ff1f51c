"""Classification: the lexicon is the floor of sensitivity, kinds tell what may travel."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact
from tacit.learning.verification import classify_statement
from tacit.records.memory import CATEGORIES, Kind, Sensitivity

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)


def learned(text: str, code: str = "en") -> StatedFact:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale(code))
    return classify_statement(found, load_locale(code), NOW)


@pytest.mark.parametrize(
    ("text", "sensitivity"),
    [
        ("I prefer dark mode", "public"),
        ("I have a dog named Max", "public"),
        ("I live in Lisbon", "public"),
        ("I'm a nurse", "public"),
        ("I work at the hospital", "public"),
        ("I'm a therapist", "public"),
        ("Bob loves pizza", "public"),
        ("Sarah's birthday is March 15", "personal"),
        ("my birthday is 4 May 1990", "personal"),
        ("I was born on 4 May 1990", "personal"),
        ("I was born in 1990", "personal"),
        ("Sarah is my wife", "public"),
        ("Bob works at Acme", "public"),
        ("I'm looking for a new job", "personal"),
        ("I got divorced in 2020", "sensitive"),
        ("I'm getting divorced", "sensitive"),
        ("I'm separated", "sensitive"),
        ("I got laid off", "personal"),
        ("my dad died last year", "personal"),
        ("Anna plays the cello", "personal"),
        ("I have anxiety", "sensitive"),
        ("I'm allergic to nuts", "sensitive"),
        ("Bob is allergic to nuts", "sensitive"),
        ("I take metformin", "sensitive"),
        ("I'm on lisinopril", "sensitive"),
        ("my salary is $150k", "sensitive"),
        ("I'm pregnant, due in August", "sensitive"),
        ("I'm Muslim", "sensitive"),
        ("I'm gay", "sensitive"),
        ("I voted for Labour", "sensitive"),
        ("I'm in therapy", "sensitive"),
        ("my phone number is 0171 5551234", "sensitive"),
        ("my address is 12 Hill Street", "sensitive"),
        ("my email is a@example.com", "sensitive"),
        ("I take iron", "sensitive"),
        ("I take iron tablets", "sensitive"),
        ("I bake bread in a cast iron pot", "public"),
        ("I own an iron skillet", "public"),
    ],
)
def test_the_lexicon_sets_the_floor(text: str, sensitivity: str) -> None:
    assert learned(text).sensitivity == sensitivity


@pytest.mark.parametrize(
    ("text", "sensitivity"),
    [
        ("Ich wohne in Berlin", "public"),
        ("Ich bin Krankenschwester", "public"),
        ("Ich bin schwanger", "sensitive"),
        ("Ich habe Diabetes", "sensitive"),
        ("Ich bin geschieden", "sensitive"),
        ("Mein Geburtstag ist der 4. Mai 1990", "personal"),
        ("Meine Telefonnummer ist 0171 5551234", "sensitive"),
    ],
)
def test_the_german_lexicon_sets_the_floor(text: str, sensitivity: str) -> None:
    assert learned(text, "de").sensitivity == sensitivity


def test_what_a_model_said_can_only_raise_it() -> None:
    (found,) = extract_by_rules("I'm allergic to nuts", "Alice", NOW, load_locale("en"))
    lowered = classify_statement(replace(found, sensitivity=Sensitivity.PUBLIC), load_locale("en"))
    assert lowered.sensitivity is Sensitivity.SENSITIVE
    (found,) = extract_by_rules("I love jazz", "Alice", NOW, load_locale("en"))
    raised = classify_statement(replace(found, sensitivity=Sensitivity.PERSONAL), load_locale("en"))
    assert raised.sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    ("text", "portable"),
    [
        ("Bob loves pizza", True),
        ("Sarah's birthday is March 15", True),
        ("I'm a nurse", True),
        ("our project uses Python 3.12", True),
        ("I'm flying to Rome on Friday", False),
        ("I need to call the dentist by Friday", False),
        ("I'm working on the Apollo migration", False),
    ],
)
def test_what_lasts_may_travel_and_what_passes_may_not(text: str, portable: bool) -> None:
    assert learned(text).portable is portable


def test_what_was_said_not_to_travel_stays() -> None:
    (found,) = extract_by_rules("I love jazz", "Alice", NOW, load_locale("en"))
    assert classify_statement(replace(found, portable=False), load_locale("en")).portable is False


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I'm a nurse", "profile"),
        ("I love jazz", "preference"),
        ("Sarah is my wife", "relationship"),
        ("Bob is allergic to nuts", "person"),
        ("I need to call the dentist by Friday", "task_state"),
        ("I'm flying to Rome on Friday", "event"),
        ("our project uses Python 3.12", "fact"),
    ],
)
def test_the_category_follows_the_kind(text: str, category: str) -> None:
    assert learned(text).category == category
    assert category in CATEGORIES


def test_importance_runs_from_one_to_five_and_hearsay_weighs_less() -> None:
    assert learned("I'm allergic to nuts").importance == 5
    own, hearsay = learned("I'm a nurse").importance, learned("Bob is a nurse").importance
    assert own is not None
    assert hearsay is not None
    assert own > hearsay


def test_what_was_asked_to_be_remembered_weighs_more() -> None:
    asked, told = learned("Remember that I love jazz"), learned("I love jazz")
    assert asked.importance == (told.importance or 0) + 1


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Alice needs to call the dentist", Kind.TASK),
        ("Alice's wife is Sarah", Kind.RELATIONSHIP),
        ("Alice prefers tea", Kind.PREFERENCE),
        ("Alice lives in Rome", Kind.IDENTITY),
        ("The gate is locked after ten", Kind.KNOWLEDGE),
        ("Alice has an appointment with Bob", Kind.EVENT),
    ],
)
def test_a_kind_is_found_where_none_was_given(content: str, kind: Kind) -> None:
    (found,) = extract_by_rules("I love jazz", "Alice", NOW, load_locale("en"))
    assert classify_statement(replace(found, kind=None, content=content), load_locale("en")).kind is kind


def test_what_is_dated_fades_from_its_date() -> None:
    plan = learned("I'm flying to Rome in May")
    assert plan.observed_at is not None
    assert plan.expires_at == plan.observed_at + timedelta(days=30)
    past = learned("We had dinner with Sarah on Tuesday")
    assert past.expires_at == NOW + timedelta(days=30)


def test_what_lasts_does_not_expire() -> None:
    assert learned("I've been vegan since 2019").expires_at is None


@pytest.mark.parametrize(
    "text",
    ["I bought a motorbike, don't tell my wife", "between us, I like opera", "I like opera, this stays in this group"],
)
def test_what_somebody_is_not_to_know_is_at_least_personal(text: str) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert classify_statement(found, load_locale("en")).sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I broke my wrist last week", Kind.EVENT),
        ("I'm having knee surgery on 2 December", Kind.EVENT),
        ("I've been in therapy since May", Kind.IDENTITY),
    ],
)
def test_what_has_a_day_of_its_own_is_an_event(text: str, kind: Kind) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.kind is kind
