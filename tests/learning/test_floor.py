"""The floor of a write finds what the lexicon finds, and a gate in front of it hides nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.learning.composition import find_floor, join_words
from tacit.learning.extraction.locale import list_locales, load_lexicon
from tacit.records.memory import Sensitivity
from tests.corpus import check_each
from tests.learning.sensitive_words import SENSITIVE

TOPICS = [topic for code in list_locales() for topic in load_lexicon(code)]
# Every plain word of the lexicons, sensitive or not quite: each alternative that is letters alone.
LISTED = sorted({word for one in TOPICS for word in re.findall(r"(?<=[|:])[\w' -]{2,}(?=[|)])", one.match.pattern)})


def by_the_lexicon(text: str) -> Sensitivity:
    found = [one.sensitivity for one in TOPICS if one.match.search(text)]
    return max(found, key=lambda one: one.rank, default=Sensitivity.PUBLIC)


words = st.one_of(st.sampled_from(LISTED), st.sampled_from(SENSITIVE), st.text(max_size=8))


@given(st.lists(words, max_size=6), st.sampled_from([str.lower, str.upper, str.title, str]))
def test_the_floor_is_what_every_lexicon_says(said: list[str], cased: object) -> None:
    assert callable(cased)
    text = cased(" ".join(said))
    assert find_floor(text) is by_the_lexicon(text)


def test_no_listed_word_is_missed() -> None:
    forms = ("{0}", "well, {1}!", "{0} phone", "ſo {0} K")
    texts = [form.format(word, word.upper()) for word in LISTED for form in forms]
    check_each(texts, lambda text: find_floor(text) is by_the_lexicon(text))


def test_examples_of_every_topic_are_sensitive() -> None:
    texts = [f"it is about {word} " for word in SENSITIVE]
    texts += [join_words("x", data={"note": [word]}) for word in SENSITIVE]
    check_each(texts, lambda text: find_floor(text) is Sensitivity.SENSITIVE)


@pytest.mark.parametrize(
    "said",
    [
        "Add unit tests before the release",
        "The request took 200 ms",
        "Alice shops at the co-op",
        "Jude likes tea",
        "Das Treffen dauert 2 Std.",
        "Meal prep is on Sunday",
        "I keep bees in three hives",
        "Alice plays the cello",
        "The standup is at nine",
        "Anna fährt mit dem Zug nach Iserlohn",
    ],
)
def test_plain_words_are_not(said: str) -> None:
    assert find_floor(f"{said} ") is not Sensitivity.SENSITIVE


@pytest.mark.parametrize(
    "key", ["salary", "monthly_salary", "monthlySalary", "diagnosis", "home/address", "phone", "Gehalt"]
)
def test_a_key_counts_by_its_words(key: str) -> None:
    assert find_floor(join_words("a value", key=key)) is Sensitivity.SENSITIVE
