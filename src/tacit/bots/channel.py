"""Calls of a channel: bounded HTTP, messages sent in parts, retries, and secrets."""

from __future__ import annotations

import json
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import httpx2

from tacit import limits
from tacit.bots.messages import (
    BotLog,
    Button,
    InboundMessage,
    NotSent,
    OutboundMessage,
    Span,
    compute_backoff,
    split_spans,
)
from tacit.errors import SettingsError
from tacit.http import read_body
from tacit.records.request import Chat, Requester
from tacit.settings.parsers import describe_variable

JsonObject = Mapping[str, Any]


def get_object(of: JsonObject, name: str) -> JsonObject:
    """Return a field that is an object; an empty one if it is absent or of another type."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def get_objects(of: JsonObject, name: str) -> list[JsonObject]:
    found = of.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def encode_form(arguments: JsonObject) -> dict[str, str]:
    """Encode the arguments of a method; those that are None are left out."""
    return {
        name: given if isinstance(given, str) else json.dumps(given)
        for name, given in arguments.items()
        if given is not None
    }


# They log URLs, and those of Telegram contain the token.
_SILENCED_LOGGERS = ("httpx2", "httpcore2")


class HttpClient:
    """Post with limits on time and size, without redirects; safe to share between threads.

    The vendors' own clients have no limit on the size of a response, and their errors and logs
    contain the token or the text of messages.
    """

    def __init__(self, problem: str, *, seconds: float, max_bytes: int) -> None:
        for name in _SILENCED_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._problem, self._seconds, self._max_bytes = problem, seconds, max_bytes
        headers = {"accept-encoding": "identity"}
        self._client = httpx2.Client(headers=headers, follow_redirects=False)

    def post(self, url: str, *, seconds: float | None = None, **content: Any) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body; raise `NotSent` without any text of the exchange."""
        timeout = seconds or self._seconds
        until = time.monotonic() + timeout
        try:
            with self._client.stream("POST", url, timeout=timeout, **content) as response:
                body = read_body(response.iter_raw(), self._max_bytes, until)
                return response.status_code, response.headers, body
        except (httpx2.HTTPError, httpx2.InvalidURL, OverflowError, TimeoutError, RuntimeError):  # the last: closed
            pass  # raised below: here its context would be an error that may contain the URL
        raise NotSent(self._problem, for_good=False, unreachable=True)

    def close(self) -> None:
        self._client.close()


@dataclass(frozen=True, slots=True)
class Delivery:
    """The arguments of `ChannelSender.send`."""

    where: Chat
    to: Requester | None
    what: OutboundMessage
    after: InboundMessage | None


SendPart = Callable[[tuple[Span, ...], Sequence[Sequence[Button]]], object]


class MessageSender(ABC):
    """Send a message in parts that fit the channel, with its buttons under the last."""

    part_max: ClassVar[int]

    def __init__(self, pause: Callable[[float], object] = time.sleep) -> None:
        self._pause = pause

    def send(
        self, where: Chat, to: Requester | None, what: OutboundMessage, *, after: InboundMessage | None = None
    ) -> None:
        asked = Delivery(where, to, what, after)
        send_part = self.choose_delivery(asked)
        parts = split_spans(map(self.spell, what.spans), self.part_max, self.measure)
        for number, spans in enumerate(parts, 1):
            buttons = what.buttons if number == len(parts) else ()
            self._retry(partial(send_part, spans, buttons), begun=number > 1)
        if what.attachment is not None:
            self._retry(partial(self.upload, asked), begun=bool(parts))

    @abstractmethod
    def choose_delivery(self, asked: Delivery) -> SendPart:
        """Return the delivery by which only the intended people see the message."""

    @abstractmethod
    def upload(self, asked: Delivery) -> None:
        """Send the attachment."""

    def spell(self, span: Span) -> Span:
        """Spell a span as people of this channel write it."""
        return span

    def measure(self, char: str) -> int:
        """Return the size of a character in the unit of `part_max`."""
        return len(char)

    def _retry(self, call: Callable[[], object], *, begun: bool) -> None:
        """Call, waiting out short failures.

        A rate limit is raised for a later retry, unless a part was sent already (`begun`): the
        retry would send it again.
        """
        for attempt in range(1, limits.CHAT_SENDS_MAX_COUNT + 1):
            try:
                call()
            except NotSent as problem:
                pause = problem.wait_seconds or compute_backoff(attempt)
                waits = problem.unreachable or (problem.wait_seconds is not None and begun)
                last = attempt == limits.CHAT_SENDS_MAX_COUNT
                if not waits or last or pause > limits.CHAT_BACKOFF_MAX_SECONDS:
                    raise
            else:
                return
            self._pause(pause)


def clamp_wait(seconds: object) -> float:
    """Return the delay that a channel asks for, within the limits."""
    if isinstance(seconds, str):
        seconds = float(seconds) if seconds.isascii() and seconds.isdecimal() else None
    if not isinstance(seconds, int | float) or seconds <= 0:
        return limits.CHAT_BACKOFF_SECONDS
    return min(seconds, limits.CHAT_WAIT_MAX_SECONDS)


T = TypeVar("T")


class StopSignal(Protocol):
    """The part of `threading.Event` that is used to stop."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


@dataclass(slots=True)
class ChannelRetry:
    """Retry calls of a channel with increasing delays, and log each problem once."""

    channel: str
    log: BotLog
    stop: StopSignal
    backoff_seconds: float = limits.CHAT_BACKOFF_SECONDS
    _failures: int = 0
    _logged_problem: str | None = None

    def record_failure(self, problem: str, wait_seconds: float | None = None) -> None:
        """Log a new problem once and wait."""
        self._failures += 1
        pause = wait_seconds or compute_backoff(self._failures, self.backoff_seconds)
        if problem != self._logged_problem and not self.stop.is_set():
            self.log.tell(f"{self.channel} waits", problem=problem, again_in_seconds=pause)
            self._logged_problem = problem
        self.stop.wait(pause)

    def record_success(self) -> None:
        if self._logged_problem is not None:
            self.log.tell(f"{self.channel} goes on")
        self._failures, self._logged_problem = 0, None

    def call_until_done(self, call: Callable[[], T]) -> T | None:
        """Retry until the call succeeds; return None if stopped before."""
        while not self.stop.is_set():
            try:
                done = call()
            except NotSent as problem:
                self.record_failure(str(problem), problem.wait_seconds)
            else:
                self.record_success()
                return done
        return None


def read_secret(
    environ: Mapping[str, str],
    setting: str,
    name: str,
    form: re.Pattern[str],
    *,
    wrong: str,
    fix: str,
    missing: str = "",
) -> str:
    """Return the secret in the environment variable that a setting names, or say how to set it."""
    given = environ.get(name, "").strip()
    if form.fullmatch(given):
        return given
    problem = f"{wrong}: {fix}" if given else f"is not set: {missing or fix}"
    raise SettingsError(f"{describe_variable(setting, name)} {problem}")
