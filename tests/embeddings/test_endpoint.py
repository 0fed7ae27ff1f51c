"""An endpoint over real HTTP: what is asked, and what counts as an answer."""

from typing import Any

import numpy as np
import pytest

from tacit import limits
from tacit.embeddings.endpoint import EndpointEmbedder
from tacit.errors import EmbeddingFailed, InvalidInput
from tests.embeddings.asking import KEY, Build, failure
from tests.embeddings.scripted_server import Server, answer, items, vector


def unit(text: str, dimension: int = 4) -> Any:
    row = np.array(vector(text, dimension))
    return row / np.linalg.norm(row)


def test_vectors_come_back_in_order_and_of_length_one(build: Build, server: Server) -> None:
    embedder = build()
    assert embedder.dimension == 0
    found = embedder.embed(["tea", "coffee"])
    assert found.dtype == np.float32
    assert np.allclose(found, [unit("tea"), unit("coffee")], atol=1e-6)
    assert embedder.dimension == 4
    assert server.questions == [{"model": "tiny", "input": ["tea", "coffee"]}]
    assert server.keys == [f"Bearer {KEY}"]
    assert not embedder.inline
    assert embedder.name == "endpoint:tiny"
    assert np.allclose(embedder.embed_query("tea"), unit("tea"), atol=1e-6)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/api/openai", "/api/openai/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
    ],
)
def test_an_address_may_end_in_several_ways(given: str, asked: str, build: Build, server: Server) -> None:
    build(server.url + given).embed(["tea"])
    assert server.paths == [asked]


def test_a_dimension_is_asked_for_and_known_before_the_first_call(build: Build, server: Server) -> None:
    embedder = build(dimension=6)
    assert embedder.dimension == 6
    assert embedder.name == "endpoint:tiny@6"
    assert embedder.embed([]).shape == (0, 6)
    assert np.allclose(embedder.embed(["tea"])[0], unit("tea", 6), atol=1e-6)
    assert server.questions[0]["dimensions"] == 6


def test_many_texts_go_in_bounded_batches(build: Build, server: Server) -> None:
    texts = [f"text {number}" for number in range(limits.ENDPOINT_BATCH_MAX_COUNT * 2 + 3)]
    found = build().embed(texts)
    assert np.allclose(found, [unit(text) for text in texts], atol=1e-6)
    sizes = [len(question["input"]) for question in server.questions]
    assert sizes == [limits.ENDPOINT_BATCH_MAX_COUNT, limits.ENDPOINT_BATCH_MAX_COUNT, 3]


def test_odd_texts_are_sent_so_that_they_arrive(build: Build, server: Server) -> None:
    found = build().embed(["", " \n", "我喜欢 🦊", "half \ud83d", "x" * 100_000])
    assert found.shape == (5, 4)
    sent = server.questions[0]["input"]
    assert sent[:4] == [".", ".", "我喜欢 🦊", "half ?"]
    assert sent[4] == "x" * limits.ENDPOINT_TEXT_MAX_CHARS


def test_an_answer_in_another_order_is_put_right(build: Build, server: Server) -> None:
    server.always = lambda question: answer(items(question)[::-1])
    found = build().embed(["tea", "coffee", "milk"])
    assert np.allclose(found, [unit("tea"), unit("coffee"), unit("milk")], atol=1e-6)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "list of vectors"),
        ("text", "list of vectors"),
        ([1], "list of vectors"),
        ([], "0 vectors for 1 texts"),
        ([{"index": 0, "embedding": [1.0]}] * 2, "2 vectors for 1 texts"),
        ([{"embedding": [1.0]}], "number them from 0"),
        ([{"index": 1, "embedding": [1.0]}], "number them from 0"),
        ([{"index": True, "embedding": [1.0]}], "number them from 0"),
        ([{"index": 0}], "lists of numbers"),
        ([{"index": 0, "embedding": "AAAA"}], "lists of numbers"),
        ([{"index": 0, "embedding": ["1", "2"]}], "lists of numbers"),
        ([{"index": 0, "embedding": [[1.0], [2.0]]}], "lists of numbers"),
        ([{"index": 0, "embedding": [1.0, [2.0]]}], "lists of numbers"),
        ([{"index": 0, "embedding": [1.0, None]}], "lists of numbers"),
        ([{"index": 0, "embedding": [10**400, 1]}], "lists of numbers"),
        ([{"index": 0, "embedding": [10**400, 1.5]}], "lists of numbers"),
        ([{"index": 0, "embedding": []}], "0 numbers a text"),
        ([{"index": 0, "embedding": [1.0] * 16_001}], "at most 16,000"),
        ([{"index": 0, "embedding": [float("nan"), 1.0]}], "not finite"),
        ([{"index": 0, "embedding": [float("inf"), 1.0]}], "not finite"),
        ([{"index": 0, "embedding": [0.0, 0.0]}], "zeros"),
    ],
)
def test_an_answer_that_is_no_vector_says_what_it_is(data: object, says: str, build: Build, server: Server) -> None:
    server.always = answer(data)
    embedder = build()
    assert says in failure(embedder)


def test_rows_of_several_lengths_are_refused(build: Build, server: Server) -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]
    server.always = answer(rows)
    with pytest.raises(EmbeddingFailed, match="of one length"):
        build().embed(["tea", "coffee"])


def test_another_dimension_than_expected_is_refused(build: Build, server: Server) -> None:
    server.always = answer([{"index": 0, "embedding": [1.0] * 5}])
    assert "5 numbers a text where 4 were expected" in failure(build(dimension=4))
    server.script = [answer([{"index": 0, "embedding": [1.0] * 3}])]
    embedder = build()
    assert embedder.embed(["tea"]).shape == (1, 3)
    assert "5 numbers a text where 3 were expected" in failure(embedder)
    assert embedder.dimension == 3


def test_a_refused_first_answer_teaches_no_dimension(build: Build, server: Server) -> None:
    server.script = [answer([{"index": 0, "embedding": [0.0] * 9}])]
    embedder = build()
    assert "zeros" in failure(embedder)
    assert embedder.embed(["tea"]).shape == (1, 4)


@pytest.mark.parametrize(
    "url",
    [
        *("host", "ftp://host", "http://", "http://host:port", "http://[::1", "http://hôst/", " "),
        *("http://host/v1?key=1", "http://h/#x", "http://host\n", "http://h/" + "a" * 3_000),
    ],
)
def test_what_is_no_address_is_refused(url: str, build: Build) -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.url"):
        build(url)


def test_senseless_options_are_refused(server: Server, build: Build) -> None:
    for model in ("", "  ", "m" * 300, "a\nb"):
        with pytest.raises(InvalidInput, match=r"embedding\.model"):
            EndpointEmbedder(server.url, model)
    for dimension in (0, -1, 16_001):
        with pytest.raises(InvalidInput, match=r"embedding\.dimension"):
            build(dimension=dimension)
    for timeout in (0.0, -1.0, float("nan")):
        with pytest.raises(InvalidInput, match="timeout"):
            build(timeout_seconds=timeout)
