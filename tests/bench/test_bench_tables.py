"""Tables, percentiles, sentences and vectors: what the benchmarks print and are fed with."""

from itertools import islice

import numpy as np
import pytest

from bench.peers import Measured, ratio, shown
from bench.sentences import asked, said
from bench.tables import percentile, table
from bench.vectors import Once, Precomputed, word_vectors


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(["what", "p50"], [["a recall", "1.20 ms"], ["x", "-"]]) == (
        "what          p50\n--------  -------\na recall  1.20 ms\nx               -"
    )


def test_a_row_with_a_cell_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 2 cells under 1"):
        table(["what"], [["a", "b"]])


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert [percentile(values, share) for share in (0.5, 0.95, 1)] == [50, 95, 100]
    assert percentile([3.0], 0.5) == 3
    with pytest.raises(ValueError, match="nothing was measured"):
        percentile([], 0.5)


def test_a_ratio_is_the_median_of_the_rounds_own() -> None:
    ours, theirs = [[1.0], [10.0], [1.0]], [[2.0], [20.0], [9.0]]
    assert ratio(theirs, ours) == 2
    assert ratio([], ours) is None
    assert ratio([[], []], ours) is None


def test_only_what_was_promised_can_be_missed() -> None:
    found = {
        "Tacit, SQLite": Measured(searches=[[2.0]], writes=[[1.0]], found=[10]),
        "chromadb (persistent)": Measured(searches=[[1.0]], writes=[[3.0]], found=[10]),
    }
    assert shown(1_000, found)[1] == []
    (missed,) = shown(10_000, found)[1]
    assert missed == "chromadb (persistent), search, 10,000 items: 0.50x, target > 1x"


def test_sentences_are_varied_and_the_same_in_every_run() -> None:
    first = list(islice(said(), 2_000))
    assert len(set(first)) == 2_000
    assert first == list(islice(said(), 2_000))
    assert len(set(islice(asked(), 200))) == 200


def test_texts_that_share_words_lie_near_each_other() -> None:
    vectors = word_vectors(["Anna likes olives", "Ben likes olives", "The train is late"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > far + 0.3


def test_a_text_is_embedded_once() -> None:
    texts = ["one", "two", "three"]
    inner = Precomputed(texts, word_vectors(texts, 8))
    once = Once(inner)
    assert (once.embed(["two", "one", "two"]) == inner.embed(["two", "one", "two"])).all()
    assert once.embed([]).shape == (0, 8)
    assert (once.embed_query("one") == inner.embed(["one"])[0]).all()
