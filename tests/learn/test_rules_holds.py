"""What a speaker says about how far a message may go is kept with it, and is no fact itself."""

from datetime import UTC, datetime

import pytest

from tacit.learn.facts import Hold
from tacit.learn.reading.rules import extract
from tacit.learn.reading.tongue import tongue

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
        ("off the record, I'm vegan", Hold.PRIVATE),
        ("This stays in this room: I'm vegan", Hold.ROOM),
        ("I'm vegan, this stays in this group", Hold.ROOM),
        ("I'm vegan, don't share this outside this chat", Hold.ROOM),
        ("You can share this: I'm vegan", Hold.SHARE),
        ("I'm vegan, feel free to tell everyone", Hold.SHARE),
        ("I'm vegan", None),
    ],
)
def test_words_about_sharing_set_the_hold(text: str, hold: Hold | None) -> None:
    (found,) = extract(text, "Alice", NOW, tongue("en"))
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
    ],
)
def test_whom_it_is_kept_from_is_named(text: str, names: list[str | None]) -> None:
    (found,) = extract(text, "Alice", NOW, tongue("en"))
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
    (found,) = extract(text, "Alice", NOW, tongue("en"))
    assert found.hold is not Hold.SHARE


def test_a_relation_can_be_kept_in_the_dark() -> None:
    (found,) = extract("Don't tell my wife, but I'm vegan", "Alice", NOW, tongue("en"))
    (someone,) = found.withheld_from
    assert (someone.text, someone.name, someone.relation) == ("my wife", None, "wife")


def test_a_username_can_be_kept_in_the_dark() -> None:
    (found,) = extract("Don't tell @bob, but I'm vegan", "Alice", NOW, tongue("en"))
    assert [someone.username for someone in found.withheld_from] == ["bob"]


def test_him_is_whom_it_is_kept_from() -> None:
    text = "Don't tell Bob, but I'm planning a surprise party for him on Saturday"
    (found,) = extract(text, "Alice", NOW, tongue("en"))
    assert found.content == "Alice is planning a surprise party for Bob on 21 November 2026"


def test_it_holds_for_every_statement_of_the_message() -> None:
    found = extract("I'm vegan. I live in Rome. Don't tell Bob.", "Alice", NOW, tongue("en"))
    assert len(found) == 2
    assert all([m.name for m in one.withheld_from] == ["Bob"] for one in found)


def test_the_strictest_word_counts() -> None:
    text = "You can share this. I'm vegan. No wait, keep this to yourself."
    (found,) = extract(text, "Alice", NOW, tongue("en"))
    assert found.hold is Hold.PRIVATE


@pytest.mark.parametrize(
    "text",
    ["Don't tell Bob!", "This stays between us.", "You can share this.", "It's a surprise for Bob"],
)
def test_the_words_alone_are_no_fact(text: str) -> None:
    assert extract(text, "Alice", NOW, tongue("en")) == []


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
    (found,) = extract(text, "Alice", NOW, tongue("de"))
    assert found.content == "Alice ist schwanger"
    assert found.hold is hold
    assert [someone.name for someone in found.withheld_from] == names
