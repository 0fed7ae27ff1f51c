"""What of a model's claims a message bears out, and how it goes with what the rules read."""

from datetime import UTC, datetime

import pytest

from tacit.learning.claims import LlmReading, find_stated_spans
from tacit.learning.extraction import rules
from tacit.learning.extraction.locale import Locale, load_locale
from tacit.learning.facts import StatedFact
from tacit.learning.pipeline import merge_readings
from tacit.records.memory import Kind, Sensitivity
from tests.learning.claiming import NOON, claim, judged, refused, taken


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I live in Rome. I like tea.", 2),
        ("where do I live?", 0),
        ("I'm vegetarian, what can I order?", 1),
        ("the wifi is free and has no password", 1),
        ("just kidding, I live on the moon", 0),
        ("if I lived in Rome I would eat pasta", 0),
        ("please remember that I live in Rome, will you?", 1),
        ("this stays in this room", 0),
        ("", 0),
    ],
)
def test_where_a_message_states_something(text: str, count: int) -> None:
    assert len(find_stated_spans(text, load_locale("en"))) == count


def test_a_claim_about_the_speaker_gets_its_slot_from_its_words() -> None:
    found = taken("these days home means Lisbon, I live there", "Alice lives in Lisbon", "I live")
    assert (found.slot, found.value) == ("home_city", "lisbon")
    assert found.about_speaker
    assert not found.hearsay
    assert not found.explicit


def test_a_name_that_is_no_name_gets_the_slot_as_well() -> None:
    text = "these days home means Lisbon, I live there"
    found = judged(text, claim("xX_drake lives in Lisbon", "I live there"), speaker="xX_drake")
    assert isinstance(found, StatedFact)
    assert (found.content, found.slot) == ("xX_drake lives in Lisbon", "home_city")
    assert found.about_speaker


def test_somebody_of_the_speakers_is_known_by_name_and_relation() -> None:
    text = "well, my brother Tom is allergic to nuts"
    found = taken(text, "Alice's brother Tom is allergic to nuts", about=["Tom"])
    assert not found.about_speaker
    assert found.hearsay
    assert [(one.name, one.relation) for one in found.about] == [("Tom", "brother")]


@pytest.mark.parametrize("about", [["my brother Tom"], ["Alice's brother Tom"], ["Tom"], []])
def test_however_the_model_names_them_it_is_the_same_person(about: list[str]) -> None:
    text = "well, my brother Tom moved to Rome"
    found = taken(text, "Alice's brother Tom moved to Rome", about=about, about_speaker=True)
    assert [(one.name, one.relation) for one in found.about] == [("Tom", "brother")]
    assert found.hearsay


def test_the_speaker_and_things_are_nobody_else() -> None:
    found = taken("in the end the shed got a red roof", "Alice's shed got a red roof", about=["Alice", "roof"])
    assert found.about == ()
    assert found.about_speaker


def test_something_sensitive_must_say_whom_it_is_about() -> None:
    assert "whom" in refused("the diabetes is back again", "The diabetes is back again")


@pytest.mark.parametrize(
    ("said", "told", "kept"),
    [
        ("I live in Rome these days", "I live in Rome", "Alice lives in Rome"),
        ("I'm a nurse, you know", "I'm a nurse", "Alice is a nurse"),
        ("my shed has a red roof", "My shed has a red roof", "Alice's shed has a red roof"),
        ("I live in Rome these days", "The writer lives in Rome", "Alice lives in Rome"),
        ("my sister Ana moved to Oslo", "My sister Ana moved to Oslo", None),
        ("ich wohne in Rom, übrigens", "Ich wohne in Rom", "Alice wohnt in Rom"),
        ("note: I hate noise in my street", "I hate noise in my street", "Alice hates noise in Alice's street"),
        ("ich mag meinen Garten", "Alice mag meinen Garten", "Alice mag Alices Garten"),
        ("ich mag meinen Garten", "Alice mag ihren Garten", "Alice mag Alices Garten"),
        ("I hate noise in my street", "Alice hates noise in her street", "Alice hates noise in Alice's street"),
    ],
)
def test_the_first_person_is_put_into_the_third(said: str, told: str, kept: str | None) -> None:
    assert taken(said, told).content == (kept or "Alice's sister Ana moved to Oslo")


@pytest.mark.parametrize("said", ["I like the garden", "I like my garden more than her garden"])
def test_whose_it_is_is_not_guessed(said: str) -> None:
    assert "pronoun" in refused(said, "Alice likes her garden")


def test_a_day_that_counts_from_another_is_written_out() -> None:
    found = taken("dentist tomorrow at 9:30 again", "Alice has a dentist appointment tomorrow")
    assert found.content == "Alice has a dentist appointment on 2 March 2026 at 09:30"
    assert found.observed_at == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def test_a_day_that_the_model_wrote_out_is_the_one_that_was_meant() -> None:
    right = taken("dentist tomorrow again, oh well", "Alice has a dentist visit on 2 March 2026")
    assert right.observed_at == datetime(2026, 3, 2, tzinfo=UTC)
    wrong = refused("dentist tomorrow again, oh well", "Alice has a dentist visit on 9 March 2026")
    assert "'9'" in wrong


def test_a_quote_may_differ_in_capitals_and_stops_and_not_in_words() -> None:
    text = "well, my shed - the old one - has a red roof!"
    taken(text, "Alice's shed has a red roof", "My shed, the old one, HAS a red roof")
    assert "quote" in refused(text, "Alice's shed has a red roof", "my shed has a red roof")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I have never lived in Rome, honestly", "Alice lived in Rome"),
        ("honestly, I don't eat meat at all", "Alice eats meat"),
        ("honestly, I eat meat every day", "Alice does not eat meat every day"),
        ("ich esse nun wirklich kein Fleisch", "Alice isst Fleisch"),
    ],
)
def test_a_negation_is_kept(text: str, content: str) -> None:
    assert "opposite" in refused(text, content)


def test_a_negation_that_is_there_stays() -> None:
    found = taken("no, honestly, I don't eat meat", "Alice does not eat meat")
    assert found.content == "Alice does not eat meat"


@pytest.mark.parametrize(
    "content",
    [
        "Alice's shed has a red roof and hides stolen bikes",
        "Alice's shed has a red roof and cancer",
        "Bob says the shed has a red roof",
        "Alice Alice Alice has a shed with a red roof",
    ],
)
def test_what_was_added_is_refused(content: str) -> None:
    assert refused("my shed has a red roof since May", content)


def test_how_far_it_may_go_is_no_fact_and_no_negation() -> None:
    text = "don't tell Bob but I have a new shed"
    assert taken(text, "Alice has a new shed").content == "Alice has a new shed"
    assert "does not state" in refused(text, "Alice does not tell Bob", "don't tell Bob")


def plain(text: str) -> list[StatedFact]:
    return rules.extract_by_rules(text, "Alice", NOON, english())


def english() -> Locale:
    return load_locale("en")


def test_the_rules_wording_wins_and_the_stricter_sensitivity_counts() -> None:
    text = "I live in Lisbon"
    read = taken(text, "Alice lives in Lisbon now", sensitivity="personal", kind="observation")
    found = merge_readings(plain(text), LlmReading(statements=(read,)), "Alice", english()).statements
    assert [(one.content, one.kind, one.sensitivity) for one in found] == [
        ("Alice lives in Lisbon", Kind.IDENTITY, Sensitivity.PERSONAL)
    ]


def test_what_the_rules_read_is_stated_whatever_the_model_thinks() -> None:
    text = "I live in Lisbon"
    read = taken(text, "Alice lives in Lisbon", stated=False)
    both = merge_readings(
        plain(text), LlmReading(statements=(read,), inferred=frozenset({read.content})), "Alice", english()
    )
    assert both.inferred == frozenset()


def test_two_facts_of_one_message_both_stay() -> None:
    text = "My wife is Sarah. These days the post office is where Sarah works"
    read = taken(text, "Sarah works at the post office", "the post office is where Sarah works")
    found = merge_readings(plain(text), LlmReading(statements=(read,)), "Alice", english()).statements
    assert len(found) == 2


def test_a_part_of_what_the_rules_read_is_nothing_new() -> None:
    text = "I work at Volvo as a test engineer"
    read = taken(text, "Alice works at Volvo")
    found = merge_readings(plain(text), LlmReading(statements=(read,)), "Alice", english()).statements
    assert [one.content for one in found] == ["Alice works at Volvo as a test engineer"]


def test_there_is_one_value_of_a_slot_in_a_turn() -> None:
    text = "I live in Lisbon with far too many plants, cats and old Portuguese radios"
    read = taken(text, "Alice lives in Lisbon with far too many plants, cats and old Portuguese radios")
    found = merge_readings(plain("I live in Lisbon"), LlmReading(statements=(read,)), "Alice", english())
    slots = [one.slot for one in found.statements]
    assert slots.count("home_city") == 1
