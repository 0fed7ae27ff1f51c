"""One JSON question over HTTP, within bounds: time, tries, waiting, and the size of the answer.

No key, no text and nothing that the other side wrote freely ever reaches an error or a log.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from threading import Event
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import EmbeddingFailed, MissingExtra

if TYPE_CHECKING:
    import httpx2

# A word out of a fixed list of theirs, such as `model_not_found`; never a sentence.
_CODE = re.compile(r"[a-z][a-z_]{0,60}")
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
_PASSING = {408, 425, 429}


class _Passing(Exception):
    """Trouble that may be over at the next try, after as long as the other side asked for."""

    def __init__(self, trouble: str, wait_seconds: float | None = None) -> None:
        super().__init__(trouble)
        self.wait_seconds = wait_seconds


class Wire:
    """One address. `pause` waits for some seconds; it is an argument so that tests need not."""

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
        # The environment could name a proxy or, in a netrc file, another key: it is not asked.
        # A redirect could carry texts and key to another host: it is refused.
        self._client = httpx2.Client(headers=headers, trust_env=False, follow_redirects=False)

    def __repr__(self) -> str:
        return f"Wire({self._url!r})"

    def close(self) -> None:
        """Also ends the waiting between tries."""
        self._closed.set()
        self._client.close()

    def ask(self, question: dict[str, Any], *, attempts: int, timeout_seconds: float) -> object:
        """The answer, parsed. Trouble that may pass is met with further tries, up to `attempts`."""
        body = json.dumps(question).encode("ascii")
        for attempt in range(1, attempts + 1):
            if self._closed.is_set():
                raise EmbeddingFailed("the embedder is closed: open a memory again to use it")
            try:
                return self._parse(self._send(body, timeout_seconds))
            except _Passing as passing:
                wait = _wait_seconds(passing.wait_seconds, attempt)
                if attempt == attempts or wait > limits.ENDPOINT_WAIT_MAX_SECONDS:
                    tries = "once" if attempt == 1 else f"{attempt} times"
                    raise EmbeddingFailed(f"{self._who} {passing} (tried {tries})") from None
            self._pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, body: bytes, timeout_seconds: float) -> bytes:
        import httpx2

        until = time.monotonic() + timeout_seconds
        late = f"gave no whole answer within {timeout_seconds:g} s: check that it is well"
        try:
            with self._client.stream(
                "POST", self._url, content=body, timeout=timeout_seconds
            ) as response:
                if response.status_code != 200:
                    raise self._refusal(response, until)
                return self._read(response, until, late)
        except httpx2.TimeoutException:
            raise _Passing(late) from None
        except httpx2.HTTPError as error:
            raise _Passing(
                f"cannot be reached ({type(error).__name__}): check embedding.url, and that it runs"
            ) from None
        except RuntimeError:  # the client was closed by another thread
            raise EmbeddingFailed(f"{self._who} was left: the embedder is closed") from None

    def _read(self, response: httpx2.Response, until: float, late: str) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EmbeddingFailed(f"{self._who} answers compressed, unasked: turn that off there")
        parts: list[bytes] = []
        size = 0
        for part in response.iter_raw():
            size += len(part)
            if size > limits.ENDPOINT_ANSWER_MAX_BYTES:
                raise EmbeddingFailed(
                    f"{self._who} answers with more than {limits.ENDPOINT_ANSWER_MAX_BYTES:,} "
                    "bytes, which is no list of vectors: check embedding.url"
                )
            # The library's own limit is for each part, and a slow drip would last for ever.
            if time.monotonic() > until:
                raise _Passing(late)
            parts.append(part)
        return b"".join(parts)

    def _refusal(self, response: httpx2.Response, until: float) -> Exception:
        status = response.status_code
        if 300 <= status < 400:
            return EmbeddingFailed(
                f"{self._who} redirects elsewhere ({status}), which is not followed: "
                "set embedding.url to the final address"
            )
        if status >= 500:
            return _Passing(
                f"failed ({status}): look at its own log", self._retry_after_seconds(response)
            )
        unknown = f"answered with the status {status}: check embedding.url"
        text = _REFUSALS.get(status, unknown).format(code=self._error_code(response, until))
        if status in _PASSING:
            return _Passing(text, self._retry_after_seconds(response))
        return EmbeddingFailed(f"{self._who} {text}")

    def _error_code(self, response: httpx2.Response, until: float) -> str:
        """Their word for what went wrong, if it is one word and not the key."""
        try:
            found = json.loads(self._read(response, until, ""))["error"]["code"]
        except (ValueError, LookupError, TypeError, RecursionError, EmbeddingFailed, _Passing):
            return ""
        harmless = isinstance(found, str) and _CODE.fullmatch(found) and found != self._key
        return f", {found}" if harmless else ""

    def _retry_after_seconds(self, response: httpx2.Response) -> float | None:
        """`Retry-After`, in seconds: it holds a number of them, or a date."""
        found = response.headers.get("retry-after", "").strip()
        if re.fullmatch(r"[0-9]{1,9}", found):
            return float(found)
        try:
            moment = parsedate_to_datetime(found)
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - self._clock()).total_seconds())

    def _parse(self, body: bytes) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise EmbeddingFailed(
                f"{self._who} does not answer with JSON: check that embedding.url is the address "
                "of an OpenAI-compatible API"
            ) from None


def _wait_seconds(asked: float | None, attempt: int) -> float:
    """What was asked for, or twice as long each time; not quite the same for everybody."""
    if asked is not None:
        return asked + random.uniform(0.0, min(asked, 1.0) / 10)
    doubled = limits.ENDPOINT_BACKOFF_SECONDS * 2 ** (attempt - 1)
    return random.uniform(doubled / 2, doubled)
