"""One HTTP exchange under the library: its host, headers, key, size and number are ours to bound.

What the other side writes freely never reaches an error; the library sees whole answers only.
"""

from __future__ import annotations

import json
import re
import ssl
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx2

from tacit import limits
from tacit.clock import Clock
from tacit.errors import LanguageBadAnswer, LanguageFailed, LanguageRefused, LanguageUnavailable
from tacit.language.address import Address

# A word out of a fixed list of theirs, such as `model_not_found`; never a sentence.
_CODE = re.compile(r"[a-z][a-z_]{0,60}")
# What the library sends beside these tells of the machine, or comes from its environment.
_HEADERS = ("content-type", "accept", "anthropic-version", "anthropic-beta")
_REFUSALS = {
    400: "does not accept the request: check language.model, language.output and "
    "language.temperature",
    401: "refuses the key: check the variable that language.api_key_env names",
    402: "wants to be paid first: look at the account there",
    403: "refuses the key: check what it may be used for",
    404: "has no such address or model: check language.base_url and language.model",
    413: "finds the question too long: use a model that reads more",
}
_REFUSALS[422] = _REFUSALS[400]
_PASSING = {408, 409, 425, 429}
# An account that is used up answers like a busy one, and does not pass.
_USED_UP = {"insufficient_quota", "billing_hard_limit_reached", "billing_error"}
# A form of output that a server does not know is refused with one of these, and sometimes as a
# fault of its own; then the words of the refusal tell.
_OTHER_FORM = {400, 422, 501}
_OTHER_FORM_WORDS = re.compile(rb"tool|response_format|json_schema|grammar|jinja|output_config")
_NOT_THE_FORM = {"context_length_exceeded", "model_not_found", "invalid_api_key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    error: LanguageFailed  # raised if there is nothing else to try
    transient: bool = False  # may be over at the next try
    wait_seconds: float | None = None
    other_form: bool = False  # another form of output may be understood
    billable: bool = False  # the question was taken, so that it may have to be paid for


@dataclass(slots=True)
class Exchange:
    """What one request may do, and what became of it."""

    sent: bool = False
    failure: Trouble | None = None


EXCHANGE: ContextVar[Exchange] = ContextVar("tacit_language_exchange")


class Halt(Exception):
    """Ends the library's work; what is wrong stands in the exchange."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, address: Address, clock: Clock) -> None:
        self._address = address
        self._origin = _origin(httpx2.URL(address.url))
        self._clock = clock
        self.who = f"the language model at {address.host}"
        # The environment could name a proxy or another list of authorities: it is not asked.
        # Without TLS there is nobody to trust, and a list of authorities takes long to read.
        secure = self._origin[0] == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._inner = httpx2.AsyncHTTPTransport(verify=secure, trust_env=False, retries=0)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = EXCHANGE.get()
        if exchange.sent or _origin(request.url) != self._origin:
            raise Halt  # the library tries again, or elsewhere: neither is its to decide
        exchange.sent = True
        try:
            response = await self._inner.handle_async_request(self._rewrite_request(request))
            try:
                body = await self._body(response)
            finally:
                await response.aclose()
        except _Found as found:
            exchange.failure = found.failure
        except httpx2.HTTPError as error:
            exchange.failure = self._unreachable(error)
        if exchange.failure is not None:
            raise Halt
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, headers=headers, content=body)

    def _rewrite_request(self, request: httpx2.Request) -> httpx2.Request:
        headers = {name: request.headers[name] for name in _HEADERS if name in request.headers}
        headers |= {"accept-encoding": "identity", "user-agent": "tacit"}
        if self._address.key is not None:
            if self._address.provider == "anthropic":
                headers["x-api-key"] = self._address.key
            else:
                headers["authorization"] = f"Bearer {self._address.key}"
        return httpx2.Request(request.method, request.url, headers=headers, content=request.content)

    async def _body(self, response: httpx2.Response) -> bytes:
        if response.status_code != 200:
            raise _Found(await self._refusal(response))
        if response.headers.get("content-encoding", "identity") != "identity":
            problem = f"{self.who} answers compressed, unasked: turn that off there"
            raise _Found(Trouble(error=LanguageRefused(problem), billable=True))
        body, whole = await _read(response, limits.LANGUAGE_ANSWER_MAX_BYTES)
        if not whole:
            problem = (
                f"{self.who} answers with more than {limits.LANGUAGE_ANSWER_MAX_BYTES:,} bytes: "
                "check language.base_url, and lower language.max_output_tokens"
            )
            raise _Found(Trouble(error=LanguageBadAnswer(problem), billable=True))
        if not _is_object(body):
            raise _Found(self.malformed_answer())
        return body

    def malformed_answer(self) -> Trouble:
        """An answer that is not of the API's form, as a gateway gives while a server starts."""
        problem = (
            f"{self.who} does not answer in the form of the {self._address.provider} API: check "
            "language.provider and language.base_url"
        )
        return Trouble(error=LanguageUnavailable(problem), transient=True, billable=True)

    async def _refusal(self, response: httpx2.Response) -> Trouble:
        status = response.status_code
        body, _ = await _read(response, limits.LANGUAGE_REFUSAL_MAX_BYTES)
        code = self._error_code(body)
        told = f"({status}{', ' + code if code else ''})"
        if 300 <= status < 400:
            problem = f"{self.who} {told} sends us elsewhere, which is not followed: set \
language.base_url to where it leads"
            return Trouble(error=LanguageRefused(problem))
        other_form = code not in _NOT_THE_FORM and (
            status in _OTHER_FORM
            or (status in (404, 500) and _OTHER_FORM_WORDS.search(body) is not None)
        )
        if code in _USED_UP:
            return Trouble(error=LanguageRefused(f"{self.who} {told} {_REFUSALS[402]}"))
        if status in _PASSING or status >= 500:
            wait = self._retry_after_seconds(response)
            busy = "takes no more for now" if status == 429 else "failed: look at its own log"
            error = LanguageUnavailable(f"{self.who} {told} {busy}", wait)
            return Trouble(error=error, transient=True, wait_seconds=wait, other_form=other_form)
        words = _REFUSALS.get(status, "refuses: check language.base_url")
        return Trouble(error=LanguageRefused(f"{self.who} {told} {words}"), other_form=other_form)

    def _unreachable(self, error: httpx2.HTTPError) -> Trouble:
        problem = (
            f"{self.who} cannot be reached, or broke off ({type(error).__name__}): check "
            "language.base_url, and that it runs"
        )
        counts = isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError)
        return Trouble(error=LanguageUnavailable(problem), transient=True, billable=counts)

    def _error_code(self, body: bytes) -> str:
        """The error's own word, if it is one and not our key."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        error = found.get("error") if isinstance(found, dict) else None
        if not isinstance(error, dict):
            return ""
        for name in ("code", "type"):
            word = error.get(name)
            if isinstance(word, str) and _CODE.fullmatch(word) and word != self._address.key:
                return word
        return ""

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


class _Found(Exception):
    def __init__(self, trouble: Trouble) -> None:
        super().__init__()
        self.failure = trouble


async def _read(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    """The body, and whether it is whole: reading ends where it is longer than it may be."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        parts.append(part)
        if size > most:
            return b"".join(parts)[:most], False
    return b"".join(parts), True


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
