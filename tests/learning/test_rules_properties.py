"""What holds of the rules for any text: they never fail, guess little and say what they found."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.learning.corrections.cues import load_cues
from tacit.learning.corrections.messages import read_message
from tacit.learning.extraction.locale import list_locales, load_locale
from tacit.learning.extraction.rules import STATEMENTS_MAX_COUNT, extract_by_rules
from tacit.learning.verification import CONTENT_MAX_CHARS, classify_statement, verify_statement

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)
PLAIN = [
    "I'm allergic to nuts",
    "my wife Sarah is a nurse",
    "we moved to Porto in March",
    "I work at Acme as a chef",
    "Bob told me he's vegan",
    "my birthday is May 4",
    "I have two kids, Mia and Leo",
    "I need to call the dentist by Friday",
    "from now on always use metric units",
    "I don't like coffee any more",
    "remember that the gate is locked after 10pm",
    "@bob loves pizza",
]
PIECES = [
    *(word for text in PLAIN for word in text.split()),
    "I", "my", "we", "our", "is", "am", "are", "a", "the", "and", "but", ",", ".", "!", "?", ";",
    ":", "(", ")", "'", '"', "’", "“", "”", "—", "he", "she", "they", "you", "it", "not", "no",
    "if", "on", "in", "by", "next", "last", "Friday", "tomorrow", "May", "4", "2026", "3pm",
    "every", "15", "@", "😂", "\n", ">", "`", "```", "remember", "don't", "tell",
]  # fmt: skip
talk = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)
anything = st.text(max_size=300) | talk | st.lists(st.sampled_from(PLAIN), max_size=4).map(" and ".join)
names = st.sampled_from(["Alice", "Hans", "Will I Am", "李雷", "", "a\\g<0>{x}", "Bob Lee", "my"])


@given(text=anything, speaker=names, code=st.sampled_from(list_locales()))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_statements_that_hold_up(text: str, speaker: str, code: str) -> None:
    found = extract_by_rules(text, speaker, NOW, load_locale(code))
    assert len(found) <= STATEMENTS_MAX_COUNT
    named = speaker or load_locale(code).texts["unnamed"]
    for statement in found:
        assert statement.quote in text
        assert len(statement.content) <= CONTENT_MAX_CHARS
        assert verify_statement(statement, text, named, load_locale(code)) is None
        filled = classify_statement(statement, load_locale(code), NOW)
        assert filled.sensitivity is not None
        assert filled.portable is not None
        assert filled.importance in range(1, 6)
        assert filled.category
        assert filled.content == statement.content


@given(text=talk)
@settings(max_examples=200, deadline=None)
def test_no_pronoun_is_left_in_content(text: str) -> None:
    for statement in extract_by_rules(text, "Alice", NOW, load_locale("en")):
        words = statement.content.casefold().replace("'", " ").split()
        assert not {"i", "my", "me", "we", "our", "he", "she", "they", "you", "it"} & set(words)


@pytest.mark.parametrize("text", PLAIN)
def test_every_plain_example_is_kept(text: str) -> None:
    assert extract_by_rules(text, "Alice", NOW, load_locale("en"))


@given(text=st.sampled_from(PLAIN), marks=st.sampled_from(["?", " ?", "??", "?!"]))
def test_a_question_yields_nothing(text: str, marks: str) -> None:
    if not text.startswith("remember"):  # asked politely, that is a request
        assert extract_by_rules(text + marks, "Alice", NOW, load_locale("en")) == []


@given(
    text=st.sampled_from(PLAIN),
    around=st.sampled_from(['"{}"', "“{}”", "„{}“", "«{}»", "`{}`", "```\n{}\n```", "> {}"]),
)
def test_quoted_text_yields_nothing(text: str, around: str) -> None:
    assert extract_by_rules(around.format(text), "Alice", NOW, load_locale("en")) == []


@given(
    text=st.sampled_from(PLAIN),
    before=st.sampled_from(["If ", "I wish ", "What if ", "Imagine ", "Suppose ", "In my novel ", "Translate: "]),
)
def test_what_is_only_supposed_yields_nothing(text: str, before: str) -> None:
    assert extract_by_rules(before + text, "Alice", NOW, load_locale("en")) == []


@given(text=st.sampled_from(PLAIN), after=st.sampled_from([" just kidding", " /s", " jk"]))
def test_a_joke_yields_nothing(text: str, after: str) -> None:
    assert extract_by_rules(text + after, "Alice", NOW, load_locale("en")) == []


def test_the_speakers_name_is_written_as_it_is() -> None:
    (found,) = extract_by_rules("I'm vegan", "Will I Am", NOW, load_locale("en"))
    assert found.content == "Will I Am is vegan"


def test_a_speaker_without_a_name_is_still_somebody() -> None:
    (found,) = extract_by_rules("my wife is Sarah", " ", NOW, load_locale("en"))
    assert found.content == "The user's wife is Sarah"


def test_only_the_beginning_of_a_very_long_message_is_looked_at() -> None:
    assert extract_by_rules("blah. " * 10_000 + "I'm vegan", "Alice", NOW, load_locale("en")) == []


@pytest.mark.parametrize("code", list_locales())
def test_hostile_repetition_does_not_take_long(code: str) -> None:
    """Patterns have no nested repetition: a text made to trip them costs about what others do.
    There is no clock here: the suite's own time limit is what would fail."""
    chance = random.Random(7)
    pieces = ["I have ", "a, ", "and ", "my ", "a b ", "1 ", "on ", "is ", "' ", "Bob ", "older "]
    for _ in range(40):
        text = "".join(chance.choices(pieces, k=700))
        extract_by_rules(text, "Alice", NOW, load_locale(code))
    for piece in [*pieces, "I like a, b, ", "(", "''", "my wife's ", "remember ", "I am a ", ", "]:
        extract_by_rules("I have " + piece * 300, "Alice", NOW, load_locale(code))
        extract_by_rules("I like " + piece * 300, "Alice", NOW, load_locale(code))


@pytest.mark.parametrize("number", ["0¹", "²", "at 1² o'clock", "half ²", "on May ²", "½", "٣", "①"])
def test_numerals_that_are_no_digits_are_read_over(number: str) -> None:
    """A small two is a digit to Python, and no number."""
    for code in list_locales():
        own = load_locale(code)
        for said in (number, f"I wake up at {number}", f"my birthday is {number} May {number}"):
            extract_by_rules(said, "Ann", NOW, own)
            read_message(said, load_cues(code), own)
