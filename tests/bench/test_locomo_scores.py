"""The figures of the LoCoMo benchmark, on questions that can be counted by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import locomo
from bench.locomo_data import MissingData, Question, conversation, evidence, load
from bench.locomo_scores import answerable, outcome, paired_bootstrap

ALL = np.array([True, True])


def _asked(category: int, *gold: str) -> Question:
    return Question(text="When?", category=category, gold=frozenset(gold))


def _talk(**changes: Any) -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I went to the sea."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a dog"},
            ],
            "session_2_date_time": "10:00 am on 9 May, 2023",
        },
        "qa": [],
        **changes,
    }


def test_one_gold_turn_of_two_is_any_and_half_a_fraction() -> None:
    found = [["D1:9", "D1:1"], ["D2:1", "D2:2", "D2:3", "D2:4", "D2:5", "D1:3"]]
    one = outcome(found, [_asked(1, "D1:1", "D1:2"), _asked(4, "D1:3")])
    assert one.at(5, ALL) == "50.0/25.0"
    assert one.at(10, ALL) == "100.0/75.0"


def test_a_turn_that_is_found_twice_counts_once() -> None:
    one = outcome([["D1:1", "D1:1"]], [_asked(1, "D1:1", "D1:2")])
    assert one.at(5, np.array([True])) == "100.0/50.0"


def test_adversarial_questions_are_told_apart() -> None:
    assert answerable([_asked(4, "D1:1"), _asked(5, "D1:1")]).tolist() == [True, False]


def test_methods_that_do_the_same_differ_by_nothing() -> None:
    values = np.array([0.0, 100.0, 100.0])
    assert str(paired_bootstrap(values, values, 100)) == "+0.0 [+0.0, +0.0]"


def test_the_interval_lies_around_the_difference_and_is_the_same_every_time() -> None:
    chance = np.random.default_rng(1)
    ours, theirs = ((chance.random(400) < share).astype(np.float64) for share in (0.8, 0.7))
    first = paired_bootstrap(ours * 100, theirs * 100)
    assert first.low < first.difference < first.high
    assert first.difference == pytest.approx((ours.mean() - theirs.mean()) * 100)
    assert first == paired_bootstrap(ours * 100, theirs * 100)


def test_methods_on_different_questions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="one value a question"):
        paired_bootstrap(np.zeros(3), np.zeros(2))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("D1:3", {"D1:3"}),
        ("D8:6; D9:17", {"D8:6", "D9:17"}),
        ("D:11:26", {"D11:26"}),
        ("D30:05", {"D30:5"}),
        ("D", set()),
        ("", set()),
    ],
)
def test_malformed_evidence_is_read_as_it_was_meant(written: str, meant: set[str]) -> None:
    assert evidence(written) == meant


def test_evidence_that_names_no_turn_is_counted_and_its_question_left_out() -> None:
    asked = [
        {"question": "Where?", "category": 1, "evidence": ["D1:1; D1:2"]},
        {"question": "Who?", "category": 4, "evidence": ["D1:1", "D7:7"]},
        {"question": "Why?", "category": 3, "evidence": []},
        {"question": "What?", "category": 4, "evidence": ["D"]},
    ]
    found = conversation(_talk(qa=asked))
    assert [question.gold for question in found.questions] == [{"D1:1", "D1:2"}, {"D1:1"}]
    assert (found.repaired, found.unknown, found.left_out) == (1, 2, 2)


def test_turns_carry_the_date_of_their_session_and_the_caption_of_their_photo() -> None:
    turns = conversation(_talk()).turns
    assert [turn.id for turn in turns] == ["D1:1", "D1:2"]
    assert turns[0].at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert turns[1].text == "Look! [photo: a dog]"


def test_every_file_of_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "locomo").mkdir()
    for name in ("a", "b"):
        (tmp_path / "locomo" / f"{name}.json").write_text(json.dumps([_talk(sample_id=name)]))
    assert [talk.name for talk in load(tmp_path)] == ["a", "b"]


def test_missing_data_says_where_to_put_which_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MissingData, match=r"locomo10\.json"):
        load(tmp_path)
    assert locomo.main(["--data", str(tmp_path)]) == 2
    assert "locomo10.json" in capsys.readouterr().err
