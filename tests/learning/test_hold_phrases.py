"""Every phrase of the corpus is read as what it is: a hold of its kind, or none."""

import pytest

from tacit.learning.composition import find_floor
from tacit.learning.extraction.sentences import is_only_hold, read_holds
from tacit.learning.facts import Hold
from tests.contract.held_words import phrases


@pytest.mark.parametrize("name", ["Quinn", "Bob Lee", "Zorblax", "O'Neil", "quinn"])
@pytest.mark.parametrize("text", phrases("withheld", "en"))
def test_a_named_person_is_kept_out(text: str, name: str) -> None:
    found = read_holds(text.replace("{name}", name)).withheld_from
    assert [(one.name or one.text).casefold() for one in found] == [name.casefold()]


@pytest.mark.parametrize("name", ["Quinn", "Anna", "Zorblax"])
@pytest.mark.parametrize("text", phrases("withheld", "de"))
def test_a_named_person_is_kept_out_in_german(text: str, name: str) -> None:
    found = read_holds(text.replace("{name}", name)).withheld_from
    assert name.casefold() in [(one.name or one.text).casefold() for one in found]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind in ("private", "room", "unkept") for text in phrases(kind)]
)
def test_a_hold_on_everybody_is_read(kind: str, text: str) -> None:
    assert read_holds(text).hold is Hold(kind)


@pytest.mark.parametrize("text", phrases("none"))
def test_a_near_miss_is_no_hold(text: str) -> None:
    assert not read_holds(text).guarded


@pytest.mark.parametrize(
    "text",
    [
        "A canary, don't tell Quinn 🎉",
        "A canary, don't  tell **Quinn**!",
        'A canary, don‘t tell "Quinn"',
        "A canary, don't tell Quinn lol",
        "A canary, DON'T TELL QUINN",
        "A canary, don't tell Quinn's sister",
        "A canary, don't tell my dentist",
    ],
)
def test_how_a_hold_is_typed_does_not_matter(text: str) -> None:
    assert read_holds(text).withheld_from


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("but don't tell Quinn", True),
        ("Forget I said that", True),
        ("ok, keep that between us", True),
        ("My canary sings, don't tell Quinn", False),
        ("Off the record: my hint is rover", False),
    ],
)
def test_a_message_that_says_nothing_else_is_told_apart(text: str, bare: bool) -> None:
    assert is_only_hold(text) is bare


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("The canary sings", "public"),
        ("my birthday is 4 May 1990", "personal"),
        ("I was born on 4 May 1990", "personal"),
        ("Mein Geburtstag ist am 4. Mai", "personal"),
        ("Ich bin am 4. Mai 1990 geboren", "personal"),
        ("I'm getting divorced", "sensitive"),
        ("my DIVORCE is final", "sensitive"),
        ("we separated in March", "sensitive"),
        ("I separated the eggs", "personal"),
        ("I separated from my husband", "sensitive"),
        ("die Scheidung läuft", "sensitive"),
        ("Wir haben uns getrennt", "sensitive"),
        ("mail me at a@example.com", "sensitive"),
        ("it costs €20", "sensitive"),
    ],
)
def test_the_words_of_a_text_set_its_floor(text: str, level: str) -> None:
    assert find_floor(text) == level
