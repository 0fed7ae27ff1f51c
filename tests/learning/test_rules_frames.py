"""Open frames: the forms of verbs, subjects left out, whom a statement is about, and its slot."""

from datetime import UTC, datetime

import pytest

from tacit.learning.corrections.supersession import replaces
from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.extraction.sentences import supply_subject
from tacit.learning.facts import StatedFact
from tacit.records.memory import Kind

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday


def one(text: str, code: str = "en") -> StatedFact:
    (found,) = extract_by_rules(text, "Nora", NOW, load_locale(code))
    return found


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("drives", "lasting:now"),
        ("studies", "lasting:now"),
        ("driving", "lasting:going"),
        ("swimming", "lasting:going"),
        ("adopted", "event:past"),
        ("broken", "weak:done"),
        ("lent", "event:past"),
        ("carried", "lasting:past"),
    ],
)
def test_a_verb_is_known_in_all_its_forms(word: str, tag: str) -> None:
    assert tag in load_locale("en").frames[word]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Saving up for a boat", "I am saving up for a boat"),
        ("moved to a farm", "I moved to a farm"),
        ("can't eat nuts", None),
        ("cannot eat nuts", "I cannot eat nuts"),
        ("read the manual", None),
        ("put it in the oven", None),
        ("I moved to a farm", None),
    ],
)
def test_a_subject_is_supplied_where_the_verb_can_be_no_order(text: str, whole: str | None) -> None:
    assert supply_subject(text, load_locale("en")) == whole


def test_what_somebody_does_with_a_thing_of_the_speakers_is_about_both() -> None:
    found = one("My neighbour Mr Bansal waters our plants when we're away")
    assert found.about_speaker
    assert not found.hearsay
    assert [somebody.name for somebody in found.about] == ["Mr Bansal"]


def test_what_somebody_does_by_themselves_is_hearsay() -> None:
    found = one("My sister Ana teaches yoga in Porto")
    assert found.hearsay
    assert not found.about_speaker


def test_what_somebody_told_of_themselves_is_hearsay_in_an_open_frame_too() -> None:
    found = one("Bob Lee told me he's switching to the Leeds office")
    assert found.content == "Bob Lee is switching to the Leeds office"
    assert found.hearsay


def test_a_thing_of_the_house_is_about_nobody() -> None:
    found = one("The spare fuses are in the drawer under the microwave")
    assert not found.about_speaker
    assert found.about == ()
    assert found.kind is Kind.KNOWLEDGE


def test_what_has_a_day_to_come_is_an_event() -> None:
    assert one("I start at the clinic on Monday").kind is Kind.EVENT
    assert one("choir starts again on 3 September").kind is Kind.EVENT


def test_what_comes_back_is_no_event() -> None:
    assert one("Our bins are emptied on Fridays").kind is Kind.KNOWLEDGE
    assert one("I always cook on Sundays").kind is Kind.PREFERENCE


def test_a_new_value_of_an_open_frame_replaces_the_old_where_it_is_said_as_a_change() -> None:
    old = one("my laptop has 16 gigs of ram")
    assert replaces(old, one("my laptop has 32 gigs of ram now"))
    assert old.slot == "frame:laptop has # gigs of ram"


def test_an_opener_that_asks_to_be_noted_makes_a_statement_of_what_follows() -> None:
    text = "the side gate sticks a little"
    assert extract_by_rules(text, "Nora", NOW, load_locale("en")) == []
    assert one("fyi the side gate sticks when wet").content == "The side gate sticks when wet"


@pytest.mark.parametrize(
    "text",
    [
        "my pin is 4471",
        "my card is 4111 1111 1111 1111",
        "From: HR <hr@example.org>\nSubject: Leave\nI am on holiday until 4 July.",
        "Play the part of my interviewer: I'm a pilot and I have 4000 flight hours",
        "Apparently the office is haunted",
        "I have a cat on my lap right now",
    ],
)
def test_secrets_pasted_mail_roles_rumours_and_moments_are_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Nora", NOW, load_locale("en")) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Ich fahre jeden Tag mit dem Rad", "Nora fährt jeden Tag mit dem Rad"),
        ("Der Müll wird dienstags abgeholt", "Der Müll wird dienstags abgeholt"),
        ("Ich trage Kontaktlinsen", "Nora trägt Kontaktlinsen"),
        ("Wir haben letztes Jahr ein Haus gekauft", "Nora hat 2024 ein Haus gekauft"),
        ("Meine Tochter geht in die zweite Klasse", "Noras Tochter geht in die zweite Klasse"),
        ("Ich kann nicht schwimmen", "Nora kann nicht schwimmen"),
    ],
)
def test_german_has_open_frames_too(text: str, content: str) -> None:
    assert one(text, "de").content == content
