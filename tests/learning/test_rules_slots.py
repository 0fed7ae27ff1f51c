"""Slots: what replaces an older fact, what ends it, and what stands beside it."""

from datetime import UTC, datetime

import pytest

from tacit.learning.corrections.supersession import replaces
from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact
from tacit.records.memory import Kind

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)


def only(text: str, code: str = "en") -> StatedFact:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale(code))
    return found


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("I live in Lisbon", "home_city", "lisbon"),
        ("we moved to Porto in March", "home_city", "porto"),
        ("I work at Acme", "employer", "acme"),
        ("I'm a nurse", "job", "nurse"),
        ("my wife is Sarah", "partner", "sarah"),
        ("Sarah is my wife", "partner", "sarah"),
        ("I'm married to Tom", "partner", "married tom"),
        ("my birthday is May 4", "birthday", "05-04"),
        ("I was born on 3 May 1990", "birthday", "1990-05-03"),
        ("I'm 34 years old", "age", "34"),
        ("my phone number is 0171 5551234", "phone", "0171 5551234"),
        ("my email is a.b@example.com", "email", "a.b@example.com"),
        ("call me Ali", "name", "ali"),
        ("my pronouns are she/her", "pronouns", "she her"),
        ("please answer in German from now on", "language_of_replies", "german"),
        ("my timezone is CET", "timezone", "cet"),
        ("I'm vegan", "diet", "vegan"),
        ("my favourite colour is blue", "favourite:colour", "blue"),
        ("I prefer aisle seats", "preference:seat", "aisle seats"),
        ("I prefer window seats", "preference:seat", "window seats"),
        ("my shoe size is 43", "size:shoe", "43"),
        ("I drive a Volvo", "car", "volvo"),
        ("I have 3 cats", "count:cat", "3"),
        ("I have two cats", "count:cat", "2"),
        ("we have two kids", "count:child", "2"),
        ("I like coffee", "likes:coffee", "yes"),
        ("I hate coffee", "likes:coffee", "no"),
        ("Alec is my boss", "boss", "alec"),
        ("my manager is Ingrid", "boss", "ingrid"),
        ("I'm divorced", "marital_status", "divorced"),
        ("my exam is on 3 December", "event:exam", "12-03"),
        ("my flight to Oslo is on 3 December", "event:flight oslo", "12-03"),
        ("our standup is at 9am", "event:standup", "at 9am"),
        ("I use Vim", "preference:editor", "vim"),
        ("I'm allergic to nuts", "allergy:nuts", "yes"),
    ],
)
def test_a_single_valued_fact_has_a_slot_and_a_value(text: str, slot: str, value: str) -> None:
    found = only(text)
    assert (found.slot, found.value, found.negated) == (slot, value, False)


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("I no longer work at Acme", "employer"),
        ("I quit my job", "employer"),
        ("I don't live in Leeds anymore", "home_city"),
        ("I'm no longer vegan", "diet"),
        ("I stopped smoking", "habit:smoking"),
        ("I don't like coffee any more", "likes:coffee"),
        ("I no longer like coffee", "likes:coffee"),
        ("I broke up with Jenny", "partner"),
        ("we no longer have a dog", "count:dog"),
        ("I'm not allergic to nuts after all", "allergy:nuts"),
        ("I no longer play tennis", "activity:tennis"),
    ],
)
def test_what_ends_a_fact_says_so_in_the_same_slot(text: str, slot: str) -> None:
    found = only(text)
    assert (found.slot, found.negated) == (slot, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'm allergic to nuts", "I'm allergic to cats"),
        ("I like tea", "I like coffee"),
        ("I have a dog named Max", "I have a dog named Rex"),
        ("Mia is my daughter", "Leo is my son"),
        ("Mia is my sister", "Anna is my sister"),
        ("my sister lives in Rome", "my brother lives in Rome"),
        ("my sister lives in Rome", "I live in Oslo"),
        ("Bob works at Acme", "Tom works at Bosch"),
        ("my favourite colour is blue", "my favourite food is ramen"),
        ("I speak German", "I speak French"),
        ("I play the cello", "I play tennis"),
        ("I have two cats", "I have two dogs"),
        ("I take metformin", "I take aspirin"),
        ("I prefer aisle seats", "I prefer tea over coffee"),
        ("I have a dentist appointment on Tuesday", "I have an exam on Tuesday"),
        ("my ex-wife is Jane", "my wife is Sarah"),
        ("my shoe size is 43", "my ring size is 54"),
        ("I don't eat pork", "I don't eat fish"),
        ("I was born in Nairobi", "I grew up in Lyon"),
        ("I was born in Nairobi", "I'm from Kenya"),
        ("I'm married", "I'm a mother"),
        ("my flight to Rome is on Friday", "my flight to Oslo is on Monday"),
        ("I like coffee", "I don't drink coffee after lunch"),
        ("I prefer tea in the mornings", "I prefer coffee after lunch"),
        ("I'm a student", "I work as a waiter"),
        ("we're getting married in June", "I'm single"),
        ("my goal is to run a marathon", "my goal is to learn Spanish"),
        ("my wife's birthday is on 3 March", "my birthday is on 4 May"),
    ],
)
def test_facts_that_must_coexist_never_replace_one_another(one: str, other: str) -> None:
    assert not replaces(only(one), only(other))
    assert not replaces(only(other), only(one))


def test_a_place_without_a_name_does_not_replace_one_that_has() -> None:
    assert only("I live in the city").slot is None
    assert only("I've recently moved to a new apartment").slot is None


def test_several_things_at_once_fill_no_single_slot() -> None:
    assert only("I like tea and coffee").slot is None


def test_somebody_known_only_by_another_fills_no_slot_of_that_one() -> None:
    found = only("Bob's wife is a nurse")
    assert found.slot is None
    assert found.content == "Bob's wife is a nurse"


def test_a_relation_is_about_both_and_no_hearsay() -> None:
    found = only("my wife is Sarah")
    assert found.about_speaker
    assert not found.hearsay
    assert [(m.name, m.relation) for m in found.about] == [("Sarah", "wife")]


def test_a_joint_fact_keeps_both() -> None:
    found = only("Tom and I are going to Iceland next week")
    assert found.about_speaker
    assert [m.name for m in found.about] == ["Tom"]
    assert found.content.startswith("Alice and Tom are going")


def test_a_username_is_a_mention() -> None:
    (someone,) = only("@bob loves pizza").about
    assert (someone.username, someone.name) == ("bob", None)


def test_a_relation_with_a_name_is_one_mention() -> None:
    (someone,) = only("my boss Alec is vegetarian").about
    assert (someone.text, someone.name, someone.relation) == ("my boss Alec", "Alec", "boss")


def test_she_is_whom_the_sentence_before_was_about() -> None:
    found = extract_by_rules("My sister Anna is a doctor. She lives in Vienna.", "Alice", NOW, load_locale("en"))
    assert [one.content for one in found][1] == "Alice's sister Anna lives in Vienna"


def test_he_cannot_be_a_sister() -> None:
    found = extract_by_rules("My sister Anna is a doctor. He lives in Vienna.", "Alice", NOW, load_locale("en"))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer tea over coffee", Kind.PREFERENCE),
        ("I'm a nurse", Kind.IDENTITY),
        ("Sarah is my wife", Kind.RELATIONSHIP),
        ("our project uses Python 3.12", Kind.KNOWLEDGE),
        ("I'm working on the Apollo migration", Kind.CONTEXT),
        ("I'm flying to Rome on Friday", Kind.EVENT),
        ("I need to call the dentist by Friday", Kind.TASK),
    ],
)
def test_a_form_tells_the_kind(text: str, kind: Kind) -> None:
    assert only(text).kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I'm vegan",
        "please remember I'm vegan",
        "don't forget that I'm vegan",
        "keep in mind I'm vegan",
        "I'm vegan, remember that",
        "Can you remember that I'm vegan?",
        "for the record, I'm vegan",
        "note: I'm vegan",
    ],
)
def test_a_request_to_remember_is_explicit(text: str) -> None:
    assert only(text).explicit
    assert only(text).content == "Alice is vegan"


def test_a_mention_in_passing_is_not_explicit() -> None:
    assert not only("I'm vegan by the way").explicit


def test_a_message_yields_at_most_three_statements() -> None:
    text = "I'm vegan. I live in Rome. I'm a nurse. I hate mushrooms. I have two cats."
    assert len(extract_by_rules(text, "Alice", NOW, load_locale("en"))) == 3


def test_what_was_asked_to_be_remembered_comes_first_under_the_cap() -> None:
    text = "I'm vegan. I live in Rome. I'm a nurse. Remember that I hate mushrooms."
    found = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found[0].content == "Alice hates mushrooms"
