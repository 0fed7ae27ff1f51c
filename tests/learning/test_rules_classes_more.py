"""Messages by what they are about: what is kept of each class, and what comes close but is not."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def contents(text: str) -> list[str]:
    return [
        found.content
        for found in extract_by_rules(text, "Kim", NOW, load_locale(guess_locale(text)))
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Standup is at 9:45 now", ["Standup is at 9:45"]),
        ("our fiscal year starts in April", ["Kim's fiscal year starts in April"]),
        ("The tax return is due on 31 July", ["The tax return is due on 31 July 2025"]),
        ("the spare key is with Mr Lund", ["The spare key is with Mr Lund"]),
        ("our company has forty employees", ["Kim's company has forty employees"]),
        ("The new treasurer is Farida", ["The new treasurer is Farida"]),
        ("Project Otter uses PostgreSQL 17", ["Project Otter uses PostgreSQL 17"]),
        ("the pool closes at 8", ["The pool closes at 8"]),
    ],
)
def test_what_a_group_runs_by_is_kept(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "the build is green now",
        "our server is down",
        "the link is dead",
        "our best option is to wait",
        "the movie starts soon",
        "the bus is late",
    ],
)
def test_a_passing_state_of_things_is_not(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "between us: I'm going to resign at the end of the month",
            ["Kim is going to resign at the end of the month"],
        ),
        ("Off the record: Jens from accounting is leaving", []),
        ("keep this to yourself please: Mia is pregnant", ["Mia is pregnant"]),
        ("this stays in the group: we didn't get the grant", ["Kim did not get the grant"]),
        (
            "don't tell Britta, but we're collecting for her leaving gift",
            ["Kim is collecting for Britta's leaving gift"],
        ),
        (
            "don't tell Ravi but his farewell party is on Friday",
            ["Ravi's farewell party is on 13 June 2025"],
        ),
    ],
)
def test_what_is_held_back_is_worth_keeping(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "this stays between us",
        "keep this to yourself, no wait, forget it",
        "don't tell Bob",
        "between us, what do you think?",
        "keep it in this group, ok?",
    ],
)
def test_the_words_of_holding_back_alone_are_not(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("my surname changed, it's Lund now", ["Kim's surname is Lund"]),
        (
            "the chemistry exam got moved, it's on the 30th now",
            ["The chemistry exam is on 30 June 2025"],
        ),
        ("I changed dentists, it's Dr. Moss now", ["Kim's dentist is Dr. Moss"]),
        (
            "I have a new manager, her name is Ewa",
            ["Kim has a new manager", "Kim's manager is Ewa"],
        ),
        ("I got a new bike, it's a Cube", ["Kim's bike is a Cube"]),
    ],
)
def test_it_is_what_was_just_said_to_have_changed(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "the plan changed, it's fine now",
        "I changed the file, it's better now",
        "the song changed my life, it's great",
        "the colour was wrong, it's nicer now",
        "I changed my mind, it's a no",
    ],
)
def test_it_is_nothing_where_nothing_was_named(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "I'm no longer a member of the rowing club",
            ["Kim is no longer a member of the rowing club"],
        ),
        ("we sold the boat", ["Kim sold the boat"]),
        ("I cancelled Netflix", ["Kim cancelled Netflix"]),
        ("I finished the antibiotics", ["Kim finished the antibiotics"]),
        ("I quit my PhD", ["Kim quit Kim's PhD"]),
        ("I gave up Korean", ["Kim gave up Korean"]),
        ("I no longer take ibuprofen", ["Kim no longer takes ibuprofen"]),
    ],
)
def test_what_has_ended_is_kept(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "I sold my soul",
        "I cancelled the meeting",
        "I finished the report",
        "I gave up on that bug",
        "I no longer see the error",
        "it no longer works",
        "I don't use the old endpoint anymore",
    ],
)
def test_an_end_of_a_moment_is_not(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Anjali, my wife, is a cardiologist", ["Kim's wife Anjali is a cardiologist"]),
        (
            "Jens from accounting is leaving on 30 June",
            ["Jens from accounting is leaving on 30 June 2025"],
        ),
        ("The doctor said that I'm lactose intolerant", ["Kim is lactose intolerant"]),
        ("Mum's moving in with us in August", ["Kim's mum is moving in with Kim in August 2025"]),
        ("The twins start school in August", ["Kim's twins start school in August 2025"]),
        ("My boss Olaf is retiring in autumn", ["Kim's boss Olaf is retiring in autumn 2025"]),
        ("Dad lives in Graz", ["Kim's dad lives in Graz"]),
    ],
)
def test_people_are_known_by_what_is_said_beside_their_names(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "some guy named Bob works at NASA",
        "a friend of a friend lives in Bali",
        "she wrote: I'm moving to Berlin",
        "his bio says he lives in LA",
        "my horoscope said that I have luck",
    ],
)
def test_what_a_nameless_somebody_says_is_not_kept(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ich wohne jetzt in Erfurt", ["Kim wohnt in Erfurt"]),
        ("bin übrigens Vegetarierin", ["Kim ist Vegetarierin"]),
        ("Ich bin seit Mai Schulleiterin", ["Kim ist seit Mai 2025 Schulleiterin"]),
        ("Quatsch, mein Geburtstag ist am 12. Mai", ["Kims Geburtstag ist am 12. Mai"]),
        (
            "Nicht der Ute verraten: ich hab Karten für das Konzert am 5. Juli",
            ["Kim hat Karten für das Konzert am 5. Juli 2025"],
        ),
        ("Das Sommerfest ist am 18. Juli im Hof", ["Das Sommerfest ist am 18. Juli 2025 im Hof"]),
        ("Wir ziehen im Herbst nach Wien", ["Kim zieht im Herbst 2025 nach Wien"]),
        ("Ich arbeite nachts", ["Kim arbeitet nachts"]),
        ("Bitte duze mich", ["Kim möchte geduzt werden"]),
        ("Ich kann donnerstags nicht", ["Kim kann donnerstags nicht"]),
        ("Ich arbeite nicht mehr bei Bosch, sondern bei ZF", ["Kim arbeitet nicht mehr bei Bosch"]),
    ],
)
def test_german_forms_beyond_the_plain_ones_are_kept(text: str, kept: list[str]) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "ab jetzt wird alles besser",
        "mag sein",
        "Na toll, ich liebe Montage",
        "ja klar, ich liebe Stau",
        "bin gleich da",
        "Er meinte: ich ziehe nach Bonn",
        "Ich lebe von Kaffee",
        "Der Server ist wieder da",
    ],
)
def test_german_talk_is_not(text: str) -> None:
    assert contents(text) == []
