"""Vectors from any OpenAI-compatible `/v1/embeddings`, near or far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.embedding.port import Embedder
from tacit.embedding.vectors import no_rows, readable, unit
from tacit.embedding.wire import Wire
from tacit.errors import EmbeddingFailed, InvalidInput

# Most endpoints refuse a text without any character; this one stands for nothing in particular.
_INSTEAD_OF_NOTHING = "."


class EndpointEmbedder(Embedder):
    """`dimension` asks for vectors of that length; without it the first answer tells.

    A question is asked once and briefly, because somebody waits and recall can go on without; what
    is stored is asked for as often and as long as the limits allow.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimension: int | None = None,
        timeout_seconds: float = limits.ENDPOINT_TIMEOUT_SECONDS,
        pause: Callable[[float], object] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        if not model.strip() or len(model) > limits.LABEL_MAX_CHARS or not model.isprintable():
            raise InvalidInput("embedding.model", "is not a model's name; use the endpoint's own")
        most = limits.EMBEDDING_DIMENSION_MAX_COUNT
        if dimension is not None and not 1 <= dimension <= most:
            raise InvalidInput("embedding.dimension", f"is {dimension}; choose 1 to {most:,}")
        if not timeout_seconds > 0:
            raise InvalidInput("timeout_seconds", "must be more than 0")
        self._model = model
        self._asked_dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._client = Wire(_address(url), _key(api_key), pause=pause, clock=clock)
        self._settling = Lock()
        # The host is not in the name: a model that moves to another server stays the same model.
        self.name = f"endpoint:{model}" + (f"@{dimension}" if dimension else "")
        self.dimension = dimension or 0
        self.inline = False

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._client!r}, {self._model!r})"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        size = limits.ENDPOINT_BATCH_MAX_COUNT
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        attempts = limits.ENDPOINT_ATTEMPTS_MAX_COUNT
        rows = [self._embed_batch(batch, attempts, self._timeout_seconds) for batch in batches]
        return np.concatenate(rows) if rows else no_rows(self.dimension)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        brief = min(self._timeout_seconds, limits.ENDPOINT_QUERY_TIMEOUT_SECONDS)
        vector: NDArray[np.float32] = self._embed_batch([text], 1, brief)[0]
        return vector

    def close(self) -> None:
        self._client.close()

    def _embed_batch(
        self, texts: Sequence[str], attempts: int, timeout_seconds: float
    ) -> NDArray[np.float32]:
        cut = [readable(text, limits.ENDPOINT_TEXT_MAX_CHARS) for text in texts]
        question: dict[str, Any] = {
            "model": self._model,
            "input": [text if text.strip() else _INSTEAD_OF_NOTHING for text in cut],
        }
        if self._asked_dimension is not None:
            question["dimensions"] = self._asked_dimension
        answer = self._client.ask(question, attempts=attempts, timeout_seconds=timeout_seconds)
        rows = unit(_rows(answer, len(texts)))
        self._check_dimension(rows.shape[1])  # only now: an answer that is refused teaches nothing
        return rows

    def _check_dimension(self, found: int) -> None:
        with self._settling:
            if self.dimension == 0:
                self.dimension = found
        if found != self.dimension:
            raise EmbeddingFailed(
                f"the embedding endpoint answers with {found:,} numbers a text where "
                f"{self.dimension:,} were expected: set embedding.dimension to a length that the "
                "model has, or leave it out"
            )


def _rows(answer: object, count: int) -> NDArray[Any]:
    """The vectors in the order of the texts, which is not always the order of the answer."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise EmbeddingFailed(
            "the embedding endpoint does not answer with a list of vectors: check that "
            "embedding.url is the address of an OpenAI-compatible API"
        )
    by_index = {item["index"]: item for item in data if type(item.get("index")) is int}
    if len(data) != count or set(by_index) != set(range(count)):
        raise EmbeddingFailed(
            f"the embedding endpoint answers with {len(data)} vectors for {count} texts, or does "
            "not number them from 0: check that embedding.model is an embedding model"
        )
    try:
        rows = np.array([by_index[index].get("embedding") for index in range(count)])
    except (ValueError, TypeError, OverflowError):  # rows of several lengths
        rows = np.empty(0)
    if rows.ndim != 2 or rows.dtype.kind not in "if":
        raise EmbeddingFailed(
            "the embedding endpoint answers with something else than lists of numbers of one "
            "length: check that embedding.model is an embedding model"
        )
    if not 1 <= rows.shape[1] <= limits.EMBEDDING_DIMENSION_MAX_COUNT:
        raise EmbeddingFailed(
            f"the embedding endpoint answers with {rows.shape[1]:,} numbers a text; at most "
            f"{limits.EMBEDDING_DIMENSION_MAX_COUNT:,} can be kept: use another model"
        )
    return rows


def _address(url: str) -> str:
    """`…/embeddings`, whether or not the address ends with it; `/v1` if it has no path at all."""
    problem = "is not an address; write it like https://host/v1, with nothing after the path"
    if not url.isascii() or not url.isprintable() or len(url) > limits.ENDPOINT_URL_MAX_CHARS:
        raise InvalidInput("embedding.url", problem)
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput("embedding.url", problem) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "embedding.url", "holds a user name or password; use embedding.api_key instead"
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidInput("embedding.url", problem)
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith("/embeddings") else f"{path}/embeddings"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _key(api_key: str | None) -> str | None:
    """Checked here, because the library would quote a bad one in its error."""
    if not api_key:
        return None
    if len(api_key) > limits.ENDPOINT_KEY_MAX_CHARS or not (
        api_key.isascii() and api_key.isprintable() and " " not in api_key
    ):
        raise InvalidInput(
            "embedding.api_key", "holds characters that no key has, or too many: copy it again"
        )
    return api_key
