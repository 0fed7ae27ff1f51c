"""Send HTTP requests to one server, within limits of time, retries and size."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import urlunsplit

from tacit import limits, wire
from tacit.errors import (
    Conflict,
    InvalidInput,
    MissingExtra,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    TacitError,
    TooManyRequests,
)
from tacit.http import backoff_seconds, parse_base_url, parse_json_object, parse_retry_after, read_body

if TYPE_CHECKING:
    import httpx2


# Map a server's answer to a value, or to the error that the library would have raised.

# A proxy between client and server cannot reach the server now.
_TRANSIENT_STATUSES = frozenset({502, 503, 504})
# Not errors of a language model: the server has already retried those.
_TRANSIENT_ERRORS = (StoreBusy, StoreUnavailable, TooManyRequests)
# Refused before processing, so every request may be sent again.
_UNPROCESSED_PROBLEMS = frozenset({"too-many-requests", "draining"})


class TransientFailure(Exception):
    """A failure that a retry may fix. `unprocessed`: the server did nothing yet."""

    def __init__(self, error: TacitError, *, unprocessed: bool = False, wait_seconds: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.unprocessed = unprocessed
        self.wait_seconds = wait_seconds


def parse_body(body: bytes, who: str) -> Any:
    """Parse the JSON body of an answer; None if it is empty."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise StoreError(f"{who} does not answer with JSON: check that the address is that of a Tacit server") from None


def classify_failure(
    status: int, content_type: str, body: bytes, retry_after: str, who: str
) -> TacitError | TransientFailure:
    """Map an answer without success to an error, transient or not."""
    told = _parse_problem(content_type, body)
    error = wire.error_from_problem(told) or _error_from_status(status, told, who)
    if not isinstance(error, _TRANSIENT_ERRORS):
        return error
    return TransientFailure(
        error,
        unprocessed=wire.problem_name(told) in _UNPROCESSED_PROBLEMS,
        wait_seconds=parse_retry_after(retry_after, datetime.now(UTC)),
    )


def _parse_problem(content_type: str, body: bytes) -> Mapping[str, Any]:
    is_problem = content_type.partition(";")[0].strip().lower() == wire.PROBLEM_CONTENT_TYPE
    return (parse_json_object(body) if is_problem else None) or {}


def _error_from_status(status: int, told: Mapping[str, Any], who: str) -> TacitError:
    """Return an error for a status that is not a problem of the library."""
    detail = str(told.get("detail", ""))
    name = wire.problem_name(told)
    if status == 412:
        return Conflict(detail or "it moved on since you read it: read it again")
    if status == 413:
        return InvalidInput("body", detail or "is larger than the server takes: send less at once")
    if status == 431:
        return InvalidInput("participants", detail or "is more than the server takes: name fewer")
    if status in _TRANSIENT_STATUSES:
        return StoreUnavailable(f"{who} does not serve just now ({status}): try again later")
    if status >= 500:
        request = str(told.get("request_id", ""))[:64]
        named = f" under {request}" if request.isprintable() and request else ""
        return StoreError(f"{who} failed ({status}): its log says more{named}")
    if 300 <= status < 400:
        return StoreError(f"{who} sends us elsewhere ({status}): connect to the final address")
    if status == 421 or name == "misdirected":
        return StoreError(f"{who} is not served under this name: add it to server.allowed_hosts")
    if status in (404, 405):
        return StoreError(f"{who} has no such route ({status}): is it of another version?")
    return StoreError(f"{who} refuses the request ({status}): is it of another version?")


# The connection of a client: one server URL, with limits of time, retries and size.
#
# Errors and logs never contain the key or any data that is sent.

NDJSON_MEDIA_TYPE = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """One request. `repeatable`: sending it twice has the effect of sending it once."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Any = field(default=None, repr=False)  # JSON
    repeatable: bool = False


class Transport:
    """The HTTP connection to one server. Safe to share between threads.

    `pause` waits between tries; tests replace it.
    """

    def __init__(
        self, url: str, key: str | None, *, timeout_seconds: float, pause: Callable[[float], object] | None = None
    ) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtra("client", "a client of a server") from error
        if isinstance(timeout_seconds, bool) or not timeout_seconds > 0:
            raise InvalidInput("timeout", "must be a number of seconds, more than 0")
        if not isinstance(url, str):
            raise InvalidInput("url", "is not an address; write it like http://127.0.0.1:8377")
        parts = parse_base_url("url", url, key_setting="a key", example="http://127.0.0.1:8377")
        self._url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self._timeout_seconds = timeout_seconds
        self._closed = Event()
        self._pause = self._closed.wait if pause is None else pause
        self._who = f"the server at {httpx2.URL(self._url).netloc.decode('ascii')}"
        # Without TLS, skip the trusted certificates: loading them is slow.
        secure = self._url.startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Ignore the environment: it could name a proxy or, in a netrc file, another key. Refuse
        # redirects: they could send data and key to another host.
        self._http = httpx2.Client(
            headers={"accept-encoding": "identity", **_authorization_header(key)},
            verify=secure,
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=limits.CLIENT_IDLE_MAX_SECONDS),
        )

    def __repr__(self) -> str:
        return f"Server({self._url!r})"

    def close(self) -> None:
        """Close the connections, and end the wait between tries."""
        self._closed.set()
        self._http.close()

    def send(self, call: ApiRequest) -> Any:
        """Send a request and return the parsed answer.

        Transient failures are retried within the time limit, if the request cannot take effect
        twice.
        """
        body = None if call.body is None else json.dumps(call.body, allow_nan=False).encode("ascii")
        headers = dict(call.headers)
        if body is not None:
            headers["content-type"] = "application/json"
        until = time.monotonic() + self._timeout_seconds
        attempt = 1
        while True:
            try:
                return parse_body(self._send_once(call, headers, body, until), self._who)
            except TransientFailure as passing:
                doubled: float = limits.CLIENT_BACKOFF_SECONDS * 2 ** (attempt - 1)
                wait = backoff_seconds(passing.wait_seconds, doubled)
                last = attempt == limits.CLIENT_ATTEMPTS_MAX_COUNT
                again = (call.repeatable or passing.unprocessed) and not last
                if not again or time.monotonic() + wait >= until:
                    raise passing.error from None
            self._pause(wait)
            attempt += 1

    def send_lines(self, call: ApiRequest, lines: Iterable[str]) -> Any:
        """Send lines as a stream, without retries: their source can be read only once."""
        until = time.monotonic() + self._timeout_seconds
        headers = {**call.headers, "content-type": NDJSON_MEDIA_TYPE}
        content = (line.encode("utf-8", "surrogatepass") for line in lines)
        try:
            return parse_body(self._send_once(call, headers, content, until), self._who)
        except TransientFailure as passing:
            raise passing.error from None

    def lines(self, call: ApiRequest) -> Iterator[str]:
        """Yield each line when it arrives, until the server marks the end."""
        left = b""
        try:
            with self._open(call, dict(call.headers), None, self._timeout_seconds) as response:
                if response.status_code != 200:
                    until = time.monotonic() + self._timeout_seconds
                    raise self._failure(response, until)
                for part in response.iter_raw():
                    *whole, left = (left + part).split(b"\n")
                    for line in whole:
                        yield line.decode()
                    if len(left) > limits.CLIENT_ANSWER_MAX_BYTES:
                        raise StoreError(f"{self._who} sends a line without an end")
        except TransientFailure as passing:
            raise passing.error from None
        if left:
            yield left.decode()

    def _send_once(
        self, call: ApiRequest, headers: dict[str, str], content: bytes | Iterable[bytes] | None, until: float
    ) -> bytes:
        left = max(until - time.monotonic(), 0.001)
        with self._open(call, headers, content, left) as response:
            if response.status_code not in (200, 202, 204):
                raise self._failure(response, until)
            return self._read(response, until)

    @contextmanager
    def _open(
        self, call: ApiRequest, headers: dict[str, str], content: bytes | Iterable[bytes] | None, timeout_seconds: float
    ) -> Iterator[httpx2.Response]:
        """Open a streamed response; convert every failure to an error of this library."""
        import httpx2

        if self._closed.is_set():
            raise StoreUnavailable("the client is closed: connect again to use it")
        try:
            request = self._http.build_request(
                call.method, f"{self._url}{call.path}", headers=headers, content=content, timeout=timeout_seconds
            )
            with closing(self._http.send(request, stream=True)) as response:
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            problem = f"{self._who} cannot be reached: check the address, and that it runs"
            raise TransientFailure(StoreUnavailable(problem), unprocessed=True) from None
        except httpx2.TimeoutException:
            raise TransientFailure(self._timeout_error()) from None
        except httpx2.HTTPError as error:
            problem = f"{self._who} was lost in the middle ({type(error).__name__}): try again"
            raise TransientFailure(StoreUnavailable(problem)) from None
        except RuntimeError:
            if not self._closed.is_set():
                raise
            # Another thread closed the client.
            raise StoreUnavailable(f"{self._who} was left: the client is closed") from None

    def _read(self, response: httpx2.Response, until: float) -> bytes:
        try:
            return read_body(response.iter_raw(), limits.CLIENT_ANSWER_MAX_BYTES, until)
        except OverflowError:
            raise StoreError(f"{self._who} answers with more than can be taken in") from None
        except TimeoutError:
            raise TransientFailure(self._timeout_error()) from None

    def _failure(self, response: httpx2.Response, until: float) -> Exception:
        return classify_failure(
            response.status_code,
            response.headers.get("content-type", ""),
            self._read(response, until),
            response.headers.get("retry-after", ""),
            self._who,
        )

    def _timeout_error(self) -> StoreUnavailable:
        seconds = f"{self._timeout_seconds:g}"
        return StoreUnavailable(f"{self._who} gave no whole answer within {seconds} s")


def _authorization_header(key: object) -> dict[str, str]:
    """Return the header; check the key here.

    The HTTP library would quote a bad key in its error.
    """
    if key is None:
        return {}
    if not (isinstance(key, str) and key and key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("key", "is no key; copy it again, as tct_…")
    return {"authorization": f"Bearer {key}"}
