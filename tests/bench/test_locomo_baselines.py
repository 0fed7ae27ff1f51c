"""The rankings that recall is compared with, on a conversation of three turns."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from bench.locomo_baselines import baselines, fused, plain_fts5, porter_bm25, top
from bench.locomo_data import Conversation, Question, Turn
from bench.vectors import Vectors, word_vectors
from tacit.embeddings.embedder import Embedder

SAID = ("I went climbing in the hills", "Bread and olives for lunch", "The hills were green")


class ByWords(Embedder):
    def __init__(self) -> None:
        self.name, self.dimension, self.inline = "by-words", 64, True

    def embed(self, texts: Sequence[str]) -> Vectors:
        return word_vectors(texts, self.dimension)

    def close(self) -> None:
        """Nothing is held."""


def _talk(*asked: str) -> Conversation:
    at = datetime(2023, 5, 8, tzinfo=UTC)
    turns = [
        Turn(id=f"D1:{n}", session="session-1", at=at, speaker="Ann", text=text) for n, text in enumerate(SAID, start=1)
    ]
    questions = [Question(text=text, category=4, gold=frozenset({"D1:1"})) for text in asked]
    return Conversation(
        name="conv-1", turns=tuple(turns), questions=tuple(questions), repaired=0, unknown=0, left_out=0
    )


def test_every_baseline_finds_the_turn_with_the_words_of_the_question() -> None:
    talk = _talk("Who ate olives and bread for lunch?")
    for name, scores in baselines(talk, ByWords()).items():
        assert top(scores, talk.turns, 1) == [["D1:2"]], name


def test_words_of_a_question_are_never_operators() -> None:
    asked = ['olives" AND NOT (bread', "NEAR/2 *", "", "text:olives ^hills"]
    found = plain_fts5(SAID, asked)
    assert found.shape == (4, 3)
    assert found[0].argmax() == 1
    assert not found[2].any()


def test_stems_meet_and_stop_words_count_for_nothing() -> None:
    found = porter_bm25(SAID, ["climbs", "were the in and"])
    assert found[0].argmax() == 0
    assert found[0, 0] > 0
    assert not found[1].any()


def test_fusion_goes_by_place_alone() -> None:
    words = np.array([[9.0, 8.0, 0.0]])
    meaning = np.array([[0.1, 0.3, 0.2]])
    assert fused(words, meaning)[0].tolist() == [1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 62]


def test_what_scored_nothing_was_not_found() -> None:
    talk = _talk("?")
    assert top(np.array([[0.0, 2.0, 0.0]]), talk.turns, 3) == [["D1:2"]]
