"""Fetch vectors from an OpenAI-compatible /v1/embeddings endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlunsplit

import numpy as np
from numpy.typing import NDArray

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.embeddings.embedder import Embedder
from tacit.embeddings.local import empty_rows, normalize_rows, truncate_text
from tacit.errors import EmbeddingFailed, InvalidInput, MissingExtra
from tacit.http import (
    backoff_seconds,
    check_api_key,
    find_error_code,
    is_model_name,
    parse_base_url,
    parse_retry_after,
    read_body,
)

if TYPE_CHECKING:
    import httpx2


# JSON requests with limits on time, attempts, waiting and response size. No API key, text or free
# text of the endpoint ever reaches an error or a log.

_REFUSALS = {
    400: "does not accept the request (400{code}): check embedding.model, and leave "
    "embedding.dimension out if the model cannot change its length",
    401: "refuses the key (401{code}): check embedding.api_key",
    403: "refuses the key (403{code}): check embedding.api_key and what it may be used for",
    404: "has no such address or model (404{code}): check embedding.url and embedding.model",
    413: "finds the texts too long (413{code}): let it truncate them, or use another model",
    429: "takes no more requests for now (429{code}): wait, or raise the limit there",
}
_REFUSALS[422] = _REFUSALS[400].replace("400", "422")
_TRANSIENT_STATUSES = {408, 425, 429}


class _TransientFailure(Exception):
    """A failure that the next attempt may not have, after the delay that the endpoint asked."""

    def __init__(self, problem: str, wait_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.wait_seconds = wait_seconds


class EmbeddingClient:
    """The HTTP client of one endpoint. Tests pass a `pause` that does not wait."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        pause: Callable[[float], object] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtra("endpoints", "an embedding endpoint") from error
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key}"
        self._url = url
        self._who = f"the embedding endpoint at {httpx2.URL(url).netloc.decode('ascii')}"
        self._key = api_key
        self._clock = clock
        self._closed = Event()
        self._pause = self._closed.wait if pause is None else pause
        # trust_env: the environment could set a proxy or, in a netrc file, another key.
        # follow_redirects: a redirect could send texts and key to another host.
        self._client = httpx2.Client(headers=headers, trust_env=False, follow_redirects=False)

    def __repr__(self) -> str:
        return f"EmbeddingClient({self._url!r})"

    def close(self) -> None:
        """Close connections, and end a pause between attempts."""
        self._closed.set()
        self._client.close()

    def ask(self, question: dict[str, Any], *, attempts: int, timeout_seconds: float) -> object:
        """Return the parsed answer; retry transient failures, up to `attempts`."""
        body = json.dumps(question).encode("ascii")
        for attempt in range(1, attempts + 1):
            if self._closed.is_set():
                raise EmbeddingFailed("the embedder is closed: open a memory again to use it")
            try:
                return self._parse(self._send(body, timeout_seconds))
            except _TransientFailure as failure:
                default = limits.ENDPOINT_BACKOFF_SECONDS * 2 ** (attempt - 1)
                wait = backoff_seconds(failure.wait_seconds, default)
                if attempt == attempts or wait > limits.ENDPOINT_WAIT_MAX_SECONDS:
                    tries = "once" if attempt == 1 else f"{attempt} times"
                    raise EmbeddingFailed(f"{self._who} {failure} (tried {tries})") from None
            self._pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, body: bytes, timeout_seconds: float) -> bytes:
        import httpx2

        until = time.monotonic() + timeout_seconds
        late = f"gave no whole answer within {timeout_seconds:g} s: check that it is well"
        try:
            with self._client.stream("POST", self._url, content=body, timeout=timeout_seconds) as response:
                if response.status_code != 200:
                    raise self._refusal(response, until)
                return self._read(response, until, late)
        except httpx2.TimeoutException:
            raise _TransientFailure(late) from None
        except httpx2.HTTPError as error:
            raise _TransientFailure(
                f"cannot be reached ({type(error).__name__}): check embedding.url, and that it runs"
            ) from None
        except RuntimeError:  # the client was closed by another thread
            raise EmbeddingFailed(f"{self._who} was left: the embedder is closed") from None

    def _read(self, response: httpx2.Response, until: float, late: str) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EmbeddingFailed(f"{self._who} sends a compressed response: turn off compression there")
        try:
            return read_body(response.iter_raw(), limits.ENDPOINT_ANSWER_MAX_BYTES, until)
        except OverflowError:
            raise EmbeddingFailed(
                f"{self._who} answers with more than {limits.ENDPOINT_ANSWER_MAX_BYTES:,} "
                "bytes, which is no list of vectors: check embedding.url"
            ) from None
        except TimeoutError:
            raise _TransientFailure(late) from None

    def _refusal(self, response: httpx2.Response, until: float) -> Exception:
        status = response.status_code
        wait = parse_retry_after(response.headers.get("retry-after", ""), self._clock())
        if 300 <= status < 400:
            return EmbeddingFailed(
                f"{self._who} redirects elsewhere ({status}), which is not followed: "
                "set embedding.url to the final address"
            )
        if status >= 500:
            return _TransientFailure(f"failed ({status}): look at its own log", wait)
        unknown = f"answered with the status {status}: check embedding.url"
        text = _REFUSALS.get(status, unknown).format(code=self._error_code(response, until))
        if status in _TRANSIENT_STATUSES:
            return _TransientFailure(text, wait)
        return EmbeddingFailed(f"{self._who} {text}")

    def _error_code(self, response: httpx2.Response, until: float) -> str:
        """Return the error code, if it is a single word and not the API key."""
        try:
            code = find_error_code(self._read(response, until, ""), ["code"], self._key)
        except (EmbeddingFailed, _TransientFailure):
            return ""
        return f", {code}" if code else ""

    def _parse(self, body: bytes) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise EmbeddingFailed(
                f"{self._who} does not answer with JSON: check that embedding.url is the address "
                "of an OpenAI-compatible API"
            ) from None


_EMPTY_TEXT_SUBSTITUTE = "."  # most endpoints refuse an empty text


class EndpointEmbedder(Embedder):
    """Vectors of an endpoint. `dimension` requests a length; the default is the model's.

    A query is sent once with a short timeout, because a caller waits and recall works without it;
    texts to store are retried within the limits.
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
        if not is_model_name(model):
            raise InvalidInput("embedding.model", "is not a model's name; use the endpoint's own")
        most = limits.EMBEDDING_DIMENSION_MAX_COUNT
        if dimension is not None and not 1 <= dimension <= most:
            raise InvalidInput("embedding.dimension", f"is {dimension}; choose 1 to {most:,}")
        if not timeout_seconds > 0:
            raise InvalidInput("timeout_seconds", "must be more than 0")
        self._model = model
        self._asked_dimension = dimension
        self._timeout_seconds = timeout_seconds
        key = check_api_key("embedding.api_key", api_key)
        self._client = EmbeddingClient(_parse_url(url), key, pause=pause, clock=clock)
        self._settling = Lock()
        # Without the host: the model stays the same on another server.
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
        return np.concatenate(rows) if rows else empty_rows(self.dimension)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        brief = min(self._timeout_seconds, limits.ENDPOINT_QUERY_TIMEOUT_SECONDS)
        vector: NDArray[np.float32] = self._embed_batch([text], 1, brief)[0]
        return vector

    def close(self) -> None:
        self._client.close()

    def _embed_batch(self, texts: Sequence[str], attempts: int, timeout_seconds: float) -> NDArray[np.float32]:
        cut = [truncate_text(text, limits.ENDPOINT_TEXT_MAX_CHARS) for text in texts]
        question: dict[str, Any] = {
            "model": self._model,
            "input": [text if text.strip() else _EMPTY_TEXT_SUBSTITUTE for text in cut],
        }
        if self._asked_dimension is not None:
            question["dimensions"] = self._asked_dimension
        answer = self._client.ask(question, attempts=attempts, timeout_seconds=timeout_seconds)
        rows = normalize_rows(_parse_rows(answer, len(texts)))
        self._check_dimension(rows.shape[1])  # last: a refused answer must not set the dimension
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


def _parse_rows(answer: object, count: int) -> NDArray[Any]:
    """Return the vectors in the order of the texts, which may differ from that of the answer."""
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


def _parse_url(url: str) -> str:
    """Return the URL with `/embeddings` at its end, and `/v1` if it has no path."""
    parts = parse_base_url("embedding.url", url, key_setting="embedding.api_key")
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith("/embeddings") else f"{path}/embeddings"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
