"""What a speaker says about how far a message may go is kept with it, and is no fact itself."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import Hold

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "hold"),
    [
        ("Between you and me, I'm vegan", Hold.PRIVATE),
        ("Just between us: I'm vegan", Hold.PRIVATE),
        ("I'm vegan, keep this to yourself", Hold.PRIVATE),
        ("I'm vegan. Keep it secret please.", Hold.PRIVATE),
        ("I'm vegan but don't tell anyone", Hold.PRIVATE),
        ("I'm vegan. This is confidential.", Hold.PRIVATE),
        ("I'm vegan - nobody knows yet", Hold.PRIVATE),
        ("This stays in this room: I'm vegan", Hold.ROOM),
        ("I'm vegan, this stays in this group", Hold.ROOM),
        ("I'm vegan, don't share this outside this chat", Hold.ROOM),
        ("You can share this: I'm vegan", Hold.SHARE),
        ("I'm vegan, feel free to tell everyone", Hold.SHARE),
        ("I'm vegan", None),
    ],
)
def test_words_about_sharing_set_the_hold(text: str, hold: Hold | None) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.content == "Alice is vegan"
    assert found.hold is hold


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Don't tell Bob, but I'm vegan", ["Bob"]),
        ("I'm vegan, please don't tell Bob", ["Bob"]),
        ("dont tell bob but im vegan", ["Bob"]),
        ("I'm vegan. Don't tell Bob and Anna.", ["Bob", "Anna"]),
        ("I'm vegan, it's a surprise for Bob", ["Bob"]),
        ("It's a surprise for Bob Lee: I'm vegan", ["Bob Lee"]),
        ("I'm vegan. Bob must not know.", ["Bob"]),
        ("I'm vegan, keep it from Bob", ["Bob"]),
        ("I'm vegan but don't mention it to Bob", ["Bob"]),
        ("I'm vegan, keep it secret from Bob", ["Bob"]),
        ("About Bob: I'm vegan, but don't tell him", ["Bob"]),
        ("I'm vegan. He must not find out!", [None]),
        ("Don't tell Bob that I'm vegan", ["Bob"]),
        ("don't tell bob smith that i'm vegan", ["Bob Smith"]),
        ("Don't tell Bob, Anna or Carl that I'm vegan", ["Bob", "Anna", "Carl"]),
        ("Don't tell Bob when he calls: I'm vegan", ["Bob"]),
        ("Keep it from Bob that I'm vegan", ["Bob"]),
        ("Keep it from Bob and Anna that I'm vegan", ["Bob", "Anna"]),
        ("It will be a surprise for Anna and Bob: I'm vegan", ["Anna", "Bob"]),
        ("I'm vegan, not a word to Bob", ["Bob"]),
        ("I'm vegan - don't tell Bob - and happy", ["Bob"]),
        ("Don't let Bob find out that I'm vegan", ["Bob"]),
        ("I don't want Bob to know that I'm vegan", ["Bob"]),
        ("I'm vegan, but Bob isn't to know", ["Bob"]),
        ("Bob has no idea that I'm vegan", ["Bob"]),
    ],
)
def test_whom_it_is_kept_from_is_named(text: str, names: list[str | None]) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.content == "Alice is vegan"
    assert [someone.name for someone in found.withheld_from] == names


@pytest.mark.parametrize(
    "text",
    [
        "I'm vegan, please share your recipes",
        "I'm vegan. You can share this photo with Bob.",
        "I'm vegan. You can share this with Bob.",
        "I'm vegan, and you can't share this",
    ],
)
def test_sharing_is_never_assumed(text: str) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.hold is not Hold.SHARE


def test_a_relation_can_be_kept_in_the_dark() -> None:
    (found,) = extract_by_rules("Don't tell my wife, but I'm vegan", "Alice", NOW, load_locale("en"))
    (someone,) = found.withheld_from
    assert (someone.text, someone.name, someone.relation) == ("my wife", None, "wife")


def test_a_relation_needs_no_my() -> None:
    (found,) = extract_by_rules("Don't tell mum I'm vegan", "Alice", NOW, load_locale("en"))
    assert [someone.text for someone in found.withheld_from] == ["mum"]


def test_a_username_can_be_kept_in_the_dark() -> None:
    (found,) = extract_by_rules("Don't tell @bob, but I'm vegan", "Alice", NOW, load_locale("en"))
    assert [someone.username for someone in found.withheld_from] == ["bob"]


def test_him_is_whom_it_is_kept_from() -> None:
    text = "Don't tell Bob, but I'm planning a surprise party for him on Saturday"
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.content == "Alice is planning a surprise party for Bob on 21 November 2026"


@pytest.mark.parametrize(
    ("text", "content", "names"),
    [
        ("Don't tell Bob, but we plan a surprise party for Bob", "Alice plans a surprise party for Bob", ["Bob"]),
        (
            "we're planning a surprise party for Bob, don't tell him",
            "Alice is planning a surprise party for Bob",
            ["Bob"],
        ),
        (
            "We are planning a surprise party for Bob on Saturday",
            "Alice is planning a surprise party for Bob on 21 November 2026",
            ["Bob"],
        ),
        (
            "I bought a cake for the surprise party for Bob",
            "Alice bought a cake for the surprise party for Bob",
            ["Bob"],
        ),
        ("The surprise party for Bob is on Saturday", "The surprise party for Bob is on 21 November 2026", ["Bob"]),
        (
            "I'm planning a surprise party for Bob and Anna",
            "Alice is planning a surprise party for Bob and Anna",
            ["Bob", "Anna"],
        ),
        (
            "I'm planning a surprise party for my best friend Anna",
            "Alice is planning a surprise party for Alice's best friend Anna",
            ["Anna"],
        ),
        ("Bob's surprise party is on Saturday", "Bob's surprise party is on 21 November 2026", ["Bob"]),
        (
            "We're throwing Bob a surprise party on Saturday",
            "Alice is throwing Bob a surprise party on 21 November 2026",
            ["Bob"],
        ),
        ("I'm planning a surprise for Bob", "Alice is planning a surprise for Bob", ["Bob"]),
        ("I want to surprise Bob with a watch", "Alice wants to surprise Bob with a watch", ["Bob"]),
        ("I threw a surprise party for Bob last year", "Alice threw a surprise party for Bob in 2025", ["Bob"]),
        ("It's a surprise for Bob: I bought him a watch", "Alice bought Bob a watch", ["Bob"]),
        ("Don't tell Bob: I bought him a watch", "Alice bought Bob a watch", ["Bob"]),
        ("Keep it from Bob that I bought him a watch", "Alice bought Bob a watch", ["Bob"]),
        ("I bought a car without telling Bob", "Alice bought a car", ["Bob"]),
        ("I bought a watch (don't tell Bob).", "Alice bought a watch", ["Bob"]),
        ("I bought a watch (don't tell Bob ok?)", "Alice bought a watch", ["Bob"]),
        ("I bought (don't tell Bob!) a red car", "Alice bought a red car", ["Bob"]),
        (
            "I booked a table (it's a surprise for Bob, don't tell him) for Friday",
            "Alice booked a table on 20 November 2026",
            ["Bob"],
        ),
    ],
)
def test_a_surprise_is_kept_whole_and_from_whom_it_is_for(text: str, content: str, names: list[str]) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.content == content
    assert [someone.name for someone in found.withheld_from] == names


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "I live in a house that nobody knows about"),
        ("en", "I promised to keep it from Bob"),
        ("en", "I want to hide it from Bob"),
        ("en", "I'm going to keep it private"),
        ("en", "I asked Anna to keep this to yourself"),
        ("en", "I work for a company that is off the record"),
        ("en", "I want to stay in the team"),
        ("en", "We're planning, don't tell Bob, a trip to Rome"),
        ("en", "I'm vegan (and nobody knows yet, so keep it quiet)"),
        ("en", "The trip to Rome is a surprise for Bob"),
        ("de", "Die Party am Samstag ist eine Überraschung für Bob"),
        ("de", "Bob darf nicht Auto fahren"),
    ],
)
def test_what_a_hold_leaves_of_a_sentence_is_no_fact(code: str, text: str) -> None:
    assert extract_by_rules(text, "Alice", NOW, load_locale(code)) == []


def test_a_bracket_that_is_opened_is_closed() -> None:
    (found,) = extract_by_rules("I have a new job (at Acme!)", "Alice", NOW, load_locale("en"))
    assert found.content == "Alice has a new job (at Acme)"


def test_it_holds_for_every_statement_of_the_message() -> None:
    found = extract_by_rules("I'm vegan. I live in Rome. Don't tell Bob.", "Alice", NOW, load_locale("en"))
    assert len(found) == 2
    assert all([m.name for m in one.withheld_from] == ["Bob"] for one in found)


def test_the_strictest_word_counts() -> None:
    text = "You can share this. I'm vegan. No wait, keep this to yourself."
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("en"))
    assert found.hold is Hold.PRIVATE


@pytest.mark.parametrize(
    "text", ["Don't tell Bob!", "This stays between us.", "You can share this.", "It's a surprise for Bob"]
)
def test_the_words_alone_are_no_fact(text: str) -> None:
    assert extract_by_rules(text, "Alice", NOW, load_locale("en")) == []


@pytest.mark.parametrize(
    ("text", "hold", "names"),
    [
        ("Unter uns: ich bin schwanger", Hold.PRIVATE, []),
        ("Ich bin schwanger, behalte das bitte für dich", Hold.PRIVATE, []),
        ("Ich bin schwanger, das bleibt in dieser Runde", Hold.ROOM, []),
        ("Ich bin schwanger, du darfst das gerne weitersagen", Hold.SHARE, []),
        ("Sag Bob nichts davon, aber ich bin schwanger", None, ["Bob"]),
    ],
)
def test_german_words_about_sharing(text: str, hold: Hold | None, names: list[str]) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("de"))
    assert found.content == "Alice ist schwanger"
    assert found.hold is hold
    assert [someone.name for someone in found.withheld_from] == names


@pytest.mark.parametrize(
    ("text", "content", "name"),
    [
        (
            "Sag Anna nichts, aber wir planen eine Überraschungsparty für Anna",
            "Alice plant eine Überraschungsparty für Anna",
            "Anna",
        ),
        ("Ich plane eine Überraschungsparty für Bob", "Alice plant eine Überraschungsparty für Bob", "Bob"),
        ("Annas Überraschungsparty ist am Samstag", "Annas Überraschungsparty ist am 21. November 2026", "Anna"),
        ("Das ist eine Überraschung für Bob: ich habe eine Uhr gekauft", "Alice hat eine Uhr gekauft", "Bob"),
        ("Ich bin schwanger, das darf Bob nicht erfahren", "Alice ist schwanger", "Bob"),
    ],
)
def test_a_german_surprise_is_kept_whole(text: str, content: str, name: str) -> None:
    (found,) = extract_by_rules(text, "Alice", NOW, load_locale("de"))
    assert found.content == content
    assert [someone.name for someone in found.withheld_from] == [name]
