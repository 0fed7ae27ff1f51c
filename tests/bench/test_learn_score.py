"""When a statement counts as the fact that a label means."""

import pytest

from bench.learn_data import SAID_AT, Fact, Message, corrections, message
from bench.learn_score import Count, learnt, matches, remembered, superseded
from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact


def labelled(text: str, content: str, about: list[str], speaker: str = "Kim") -> Message:
    fact = {
        "content": content,
        "kind": "identity",
        "about": about,
        "sensitivity": "public",
        "portable": True,
        "hearsay": about != [] and "speaker" not in about,
        "withheld_from": [],
        "hold": None,
    }
    raw = {"id": "m1", "text": text, "speaker": speaker, "chat": "private", "lang": "en"}
    return message({**raw, "keep": True, "tags": ["identity"], "facts": [fact]}, "here")


def right(text: str, content: str, about: list[str]) -> bool:
    whole = labelled(text, content, about)
    (found,) = extract_by_rules(text, "Kim", SAID_AT, load_locale("en"))
    return matches(found, whole.facts[0], whole)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Rome", "Kim lives in Rome"),
        ("I'm living in Rome", "Kim lives in Rome"),
        ("I'm 34", "Kim is 34 years old"),
        ("my timezone is CET", "Kim's time zone is CET"),
        ("I have an exam on 3 July at 2pm", "Kim has an exam on 3 July 2025 at 14:00"),
        ("I have asthma, so no smoke", "Kim has asthma and wants to avoid smoke"),
        ("I have two dogs", "Kim has 2 dogs"),
    ],
)
def test_another_wording_is_as_good(text: str, content: str) -> None:
    assert right(text, content, ["speaker"])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Rome", "Kim lives in Oslo"),
        ("I have two dogs", "Kim has 3 dogs"),
        ("I live in Rome", "Kim works at a bakery in Rome with a cousin from Naples"),
    ],
)
def test_another_name_or_number_or_too_few_words_are_not(text: str, content: str) -> None:
    assert not right(text, content, ["speaker"])


def test_a_fact_about_another_is_not_one_about_the_speaker() -> None:
    assert not right("my wife lives in Rome", "Kim lives in Rome with a wife", ["speaker"])


def test_a_thing_of_nobody_may_stand_for_one_of_the_speaker() -> None:
    assert right("the exam is on 3 July", "Kim's exam is on 3 July 2025", ["speaker"])
    assert not right("the exam is on 3 July", "Bob's exam is on 3 July 2025", ["Bob"])


def test_a_count_tells_recall_precision_and_labels() -> None:
    count = Count()
    kept = labelled("I live in Rome", "Kim lives in Rome", ["speaker"])
    missed = labelled("Rome is where my bed is", "Kim lives in Rome", ["speaker"])
    for one in (kept, missed):
        count.add(one, learnt(one.text, one.speaker))
    assert (count.recall, count.precision, count.accuracy("kind")) == (0.5, 1.0, 1.0)


def test_a_statement_that_no_label_means_is_wrong() -> None:
    count = Count()
    other = labelled("I live in Rome", "Kim has a dog", ["speaker"])
    wrong = count.add(other, learnt(other.text, other.speaker))
    assert [one.content for one in wrong] == ["Kim lives in Rome"]
    assert (count.recall, count.precision) == (0.0, 0.0)


def test_the_first_correction_of_the_set_is_replaced() -> None:
    pair = corrections()[0]
    before: list[StatedFact] = learnt(pair.before, pair.speaker)
    assert superseded(remembered(before), pair.after, pair.speaker)


def test_facts_are_read_with_their_side() -> None:
    fact: Fact = labelled("I live in Rome", "Kim lives in Rome", ["speaker"]).facts[0]
    assert fact.about_speaker
