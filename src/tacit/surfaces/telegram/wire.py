"""The library's way to the Bot API, made safe: its addresses hold the token and its records hold
what people wrote, so neither gets into a log or an error of ours, and an answer has a bound."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx
from telegram import error
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from tacit import limits
from tacit.surfaces.chat.say import NotSent

Why = Literal[
    "token",
    "conflict",
    "slow",
    "forbidden",
    "moved",
    "unchanged",
    "gone",
    "refused",
    "unreadable",
    "unlike",
    "network",
]
_PROBLEMS: dict[Why, str] = {
    "token": "Telegram does not accept the token: check TELEGRAM_BOT_TOKEN, or the variable that "
    "telegram.token_env names in its place",
    "conflict": "another process asks for the updates of this bot: stop that one",
    "slow": "Telegram asks us to wait",
    "forbidden": "the bot may not write there",
    "moved": "the group has another id now",
    "unchanged": "the message says that already",
    "gone": "the message is not there any more",
    "refused": "Telegram does not take this",
    "unreadable": "Telegram answers something that we cannot read: check telegram.api_url",
    "unlike": "what is there does not answer like Telegram: check telegram.api_url",
    "network": "Telegram cannot be reached: check the network and telegram.api_url",
}
_FOR_GOOD: frozenset[Why] = frozenset({"forbidden", "refused", "moved", "gone"})
# All of Telegram's words for a message that cannot be replaced.
_GONE = ("message to edit not found", "message can't be edited", "message_id_invalid")
_SILENCED = ("telegram", "httpx", "httpcore")
_POOL_SECONDS = 10.0
_STEP_SECONDS = 10.0  # to connect, or until something comes; a whole call has a bound of its own


class Failed(NotSent):
    """A call that came to nothing. It says why in our own words alone."""

    def __init__(
        self, why: Why, *, wait_seconds: float | None = None, moved_to: int | None = None
    ) -> None:
        for_good = why in _FOR_GOOD
        super().__init__(_PROBLEMS[why], for_good=for_good, wait_seconds=wait_seconds)
        self.reason = why
        self.moved_to = moved_to


def failed(problem: BaseException) -> Failed:
    """What a problem of the library means to us."""
    match problem:
        case _Slow():
            return Failed("slow", wait_seconds=problem.seconds)
        case _Unlike():
            return Failed("unlike")
        case error.InvalidToken():
            return Failed("token")
        case error.Conflict():
            return Failed("conflict")
        case error.Forbidden():
            return Failed("forbidden")
        case error.ChatMigrated():
            return Failed("moved", moved_to=problem.new_chat_id)
        case error.BadRequest():
            told = problem.message.lower()
            if "message is not modified" in told:
                return Failed("unchanged")
            return Failed("gone" if any(words in told for words in _GONE) else "refused")
        case error.TelegramError() | TimeoutError():
            return Failed("network")
    return Failed("unreadable")


def silence() -> None:
    """These write addresses, which hold the token, and messages, as they are. Above every level."""
    for name in _SILENCED:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Slow(error.TelegramError):
    def __init__(self, seconds: float) -> None:
        super().__init__("slow")
        self.seconds = seconds


class _Unlike(error.TelegramError):
    """An answer that no Bot API gives."""


class Wire(HTTPXRequest):
    """Follows no redirection, and takes no more of an answer than it may have."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            read_timeout=_STEP_SECONDS,
            write_timeout=_STEP_SECONDS,
            connect_timeout=_STEP_SECONDS,
            pool_timeout=_POOL_SECONDS,
            httpx_kwargs={
                "event_hooks": {"response": [_measure]},
                "headers": {"accept-encoding": "identity"},
                "follow_redirects": False,
            },
        )

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        status, body = await super().do_request(
            url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
        )
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise _Slow(_seconds(body))
        # Of a server in trouble it is a proxy that tells, in words of its own.
        if status < httpx.codes.INTERNAL_SERVER_ERROR and not _is_like_telegram(body):
            raise _Unlike("unlike")
        return status, body


def _is_like_telegram(body: bytes) -> bool:
    """Every answer of the Bot API says whether it is one to a call that went well."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and isinstance(told.get("ok"), bool)


def _seconds(body: bytes) -> float:
    """How long we are to wait, if that can be understood."""
    try:
        told = json.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return limits.CHAT_BACKOFF_SECONDS
    if not isinstance(told, int | float) or told <= 0:
        return limits.CHAT_BACKOFF_SECONDS
    return min(told, limits.CHAT_WAIT_MAX_SECONDS)


async def _measure(response: httpx.Response) -> None:
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Measured(response.stream)


class _Measured(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > limits.TELEGRAM_ANSWER_MAX_BYTES:
                raise httpx.ReadError("too large")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
