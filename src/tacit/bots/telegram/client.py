"""Call the Bot API from threads, send messages, and translate errors."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import httpx
import telegram
from telegram import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    ReplyParameters,
    error,
)
from telegram.constants import ParseMode
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from tacit import Chat, Requester, limits
from tacit.bots import messages
from tacit.bots.dispatcher import compute_backoff
from tacit.bots.messages import (
    Attachment,
    Button,
    ButtonPressed,
    InboundMessage,
    NotSent,
    OutboundMessage,
    Span,
)
from tacit.bots.telegram.updates import CHANNEL, UPDATE_KINDS, JsonObject, TelegramIdentity

# Errors and HTTP. URLs of the Bot API contain the token and log records of the library contain
# messages, so neither may reach our logs or errors. Responses are limited in size.

FailureReason = Literal[
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
_PROBLEMS: dict[FailureReason, str] = {
    "token": "Telegram rejects the token: check TELEGRAM_BOT_TOKEN, or the variable that "
    "telegram.token_env names",
    "conflict": "another process polls the updates of this bot: stop it",
    "slow": "Telegram limits the rate",
    "forbidden": "the bot may not write in this chat",
    "moved": "the group has a new id",
    "unchanged": "the message has this text already",
    "gone": "the message no longer exists",
    "refused": "Telegram rejects the message",
    "unreadable": "the response of Telegram is unreadable: check telegram.api_url",
    "unlike": "the server does not answer like Telegram: check telegram.api_url",
    "network": "Telegram is not reachable: check the network and telegram.api_url",
}
_PERMANENT: frozenset[FailureReason] = frozenset({"forbidden", "refused", "moved", "gone"})
# All error texts of Telegram for a message that cannot be edited.
_MESSAGE_GONE_TEXTS = ("message to edit not found", "message can't be edited", "message_id_invalid")
_SILENCED_LOGGERS = ("telegram", "httpx", "httpcore")
_POOL_SECONDS = 10.0
_STEP_SECONDS = 10.0  # for connect, read and write; a whole call has a limit of its own


class TelegramCallFailed(NotSent):
    """A failed call. The message never contains text of Telegram or of people."""

    def __init__(
        self, why: FailureReason, *, wait_seconds: float | None = None, moved_to: int | None = None
    ) -> None:
        for_good = why in _PERMANENT
        super().__init__(_PROBLEMS[why], for_good=for_good, wait_seconds=wait_seconds)
        self.reason = why
        self.moved_to = moved_to


def translate_error(problem: BaseException) -> TelegramCallFailed:
    """Translate an error of the library."""
    match problem:
        case _RateLimited():
            return TelegramCallFailed("slow", wait_seconds=problem.seconds)
        case _UnexpectedAnswer():
            return TelegramCallFailed("unlike")
        case error.InvalidToken():
            return TelegramCallFailed("token")
        case error.Conflict():
            return TelegramCallFailed("conflict")
        case error.Forbidden():
            return TelegramCallFailed("forbidden")
        case error.ChatMigrated():
            return TelegramCallFailed("moved", moved_to=problem.new_chat_id)
        case error.BadRequest():
            text = problem.message.lower()
            if "message is not modified" in text:
                return TelegramCallFailed("unchanged")
            gone = any(known in text for known in _MESSAGE_GONE_TEXTS)
            return TelegramCallFailed("gone" if gone else "refused")
        case error.TelegramError() | TimeoutError():
            return TelegramCallFailed("network")
    return TelegramCallFailed("unreadable")


def silence_loggers() -> None:
    """Disable loggers of the libraries, which log URLs with the token, and messages."""
    for name in _SILENCED_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _RateLimited(error.TelegramError):
    def __init__(self, seconds: float) -> None:
        super().__init__("slow")
        self.seconds = seconds


class _UnexpectedAnswer(error.TelegramError):
    """A response that no Bot API gives."""


class BoundedRequest(HTTPXRequest):
    """HTTP without redirects and with a limit on the size of responses."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            read_timeout=_STEP_SECONDS,
            write_timeout=_STEP_SECONDS,
            connect_timeout=_STEP_SECONDS,
            pool_timeout=_POOL_SECONDS,
            httpx_kwargs={
                "event_hooks": {"response": [_bound_response]},
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
            raise _RateLimited(_parse_retry_after(body))
        # A 5xx response may come from a proxy in another format.
        if status < httpx.codes.INTERNAL_SERVER_ERROR and not _is_bot_api_answer(body):
            raise _UnexpectedAnswer("unlike")
        return status, body


def _is_bot_api_answer(body: bytes) -> bool:
    """Whether a body is a JSON object with a boolean `ok`, as all responses of the Bot API."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("ok"), bool)


def _parse_retry_after(body: bytes) -> float:
    """Return the seconds to wait, or a default if the body does not say."""
    try:
        seconds = json.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return limits.CHAT_BACKOFF_SECONDS
    if not isinstance(seconds, int | float) or seconds <= 0:
        return limits.CHAT_BACKOFF_SECONDS
    return min(seconds, limits.CHAT_WAIT_MAX_SECONDS)


async def _bound_response(response: httpx.Response) -> None:
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx.AsyncByteStream):
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


# The client: blocking calls over the asynchronous library, which runs in a thread of its own.

T = TypeVar("T")
BotCall = Callable[[telegram.Bot], Awaitable[T]]

# Method names are case-insensitive. With the library's own spelling it would parse each update into
# objects, and one update that it cannot parse would block all that follow.
_GET_UPDATES = "GetUpdates"
_CLOSE_SECONDS = 5.0
_DEFAULT_API_URL = "https://api.telegram.org"


class TelegramClient:
    def __init__(self, token: str, api_url: str = "") -> None:
        silence_loggers()
        self._request = BoundedRequest()
        self._bot = telegram.Bot(
            token,
            base_url=f"{(api_url or _DEFAULT_API_URL).rstrip('/')}/bot",
            request=self._request,
            get_updates_request=self._request,
        )
        self._loop = asyncio.new_event_loop()
        self._closed = threading.Event()
        self._polling = threading.Lock()
        self._poll: Future[object] | None = None
        self._polling_stopped = False
        self._background: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="tacit-telegram", daemon=True)
        self._thread.start()

    def call(self, what: BotCall[T], seconds: float = limits.TELEGRAM_CALL_MAX_SECONDS) -> T:
        """Call and wait; raise `TelegramCallFailed`."""
        return _wait_for_result(self._submit(what, seconds), seconds)

    def call_in_background(self, calls: Sequence[BotCall[object]]) -> None:
        """Call one after the other without waiting, and ignore failures."""
        if calls and not self._closed.is_set():
            with contextlib.suppress(RuntimeError):  # closed at the same time
                self._loop.call_soon_threadsafe(self._begin, calls)

    def get_identity(self) -> TelegramIdentity:
        user = self.call(lambda bot: bot.get_me())
        return TelegramIdentity(id=user.id, username=user.username or "")

    def stop_polling(self) -> None:
        """Cancel the running poll, and refuse later ones."""
        with self._polling:
            self._polling_stopped = True
            if self._poll is not None:
                self._poll.cancel()

    def get_updates(self, offset: int | None, seconds: int) -> list[JsonObject]:
        """Return raw updates. Telegram deletes those before the offset.

        Raises `TelegramCallFailed`, also for a response that is no list of updates.
        """
        arguments = {
            "timeout": seconds,
            "limit": limits.TELEGRAM_UPDATES_MAX_COUNT,
            "allowed_updates": list(UPDATE_KINDS),
            **({} if offset is None else {"offset": offset}),
        }
        timeout = seconds + limits.TELEGRAM_CALL_MAX_SECONDS
        with self._polling:
            if self._polling_stopped:
                raise TelegramCallFailed("network")
            self._poll = self._submit(
                lambda bot: bot.do_api_request(
                    _GET_UPDATES, api_kwargs=arguments, read_timeout=timeout
                ),
                timeout,
            )
        found = _wait_for_result(self._poll, timeout)
        if not isinstance(found, list):
            raise TelegramCallFailed("unlike")
        updates: list[JsonObject] = [one for one in found if isinstance(one, dict)]
        if found and not updates:
            raise TelegramCallFailed("unlike")
        return updates

    def close(self) -> None:
        """Cancel all running calls."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    def _submit(self, what: BotCall[T], seconds: float) -> Future[T | TelegramCallFailed]:
        if self._closed.is_set():
            raise TelegramCallFailed("network")
        coroutine = self._bounded(what, seconds)
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # closed at the same time
            coroutine.close()
            raise TelegramCallFailed("network") from None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            for task in (left := asyncio.all_tasks(self._loop)):
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._request.shutdown())
        finally:
            self._loop.close()

    async def _bounded(self, what: BotCall[T], seconds: float) -> T | TelegramCallFailed:
        """Return a failure instead of raising it: its context would be the library's error, which
        contains the URL with the token."""
        try:
            async with asyncio.timeout(seconds):
                return await what(self._bot)
        except Exception as problem:  # noqa: BLE001 - the library may fail on an odd response
            return translate_error(problem)

    def _begin(self, calls: Sequence[BotCall[object]]) -> None:
        task = self._loop.create_task(self._one_by_one(calls))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _one_by_one(self, calls: Sequence[BotCall[object]]) -> None:
        for what in calls:
            if isinstance(
                await self._bounded(what, limits.TELEGRAM_CALL_MAX_SECONDS), TelegramCallFailed
            ):
                return


def _wait_for_result(asked: Future[T | TelegramCallFailed], seconds: float) -> T:
    try:
        done = asked.result(seconds + _CLOSE_SECONDS)
    except (CancelledError, TimeoutError):  # stopped or closed
        done = TelegramCallFailed("network")
    if isinstance(done, TelegramCallFailed):
        raise done
    return done


# The sender: messages as escaped HTML, split into parts that fit.

_HTML_STYLES = {
    "plain": "{}",
    "command": "{}",
    "strong": "<b>{}</b>",
    "code": "<code>{}</code>",
    "link": '<a href="{0}">{0}</a>',
}
_ADMIN_STATUSES = frozenset({"administrator", "creator"})
# A preview would tell the server of a link that the link is shared here.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    chat: int
    topic: int | None = None
    answered: int | None = None
    replaced: int | None = None


class TelegramSender:
    def __init__(self, line: TelegramClient, pause: Callable[[float], object]) -> None:
        self._client = line
        self._pause = pause

    def send(
        self,
        where: Chat,
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,
    ) -> None:
        target = _find_target(where, to, what, after)
        texts = [render_html(spans) for spans in split_message(what.spans)]
        keys = _make_keyboard(what.buttons)
        for count, text in enumerate(texts, 1):
            last = keys if count == len(texts) else None
            target = self._send_text(target, text, last, begun=count > 1)
        if what.attachment is not None:
            self._attach(target, what.attachment, begun=bool(texts))

    def is_admin(self, where: Chat, who: Requester) -> bool:
        try:
            chat, user = telegram_number(where.id), telegram_number(who.key)
            member = self._client.call(lambda bot: bot.get_chat_member(chat, user))
        except NotSent:
            return False
        return member.status in _ADMIN_STATUSES

    def _send_text(
        self, target: _Target, text: str, keys: InlineKeyboardMarkup | None, *, begun: bool
    ) -> _Target:
        """Send one part and return the target of the next, which replaces and answers nothing."""
        if target.replaced is not None and self._edit_message(target, text, keys):
            return replace(target, replaced=None, answered=None)
        target = replace(target, replaced=None)
        return self._send_with_retries(
            target,
            lambda now: (
                lambda bot: bot.send_message(
                    now.chat,
                    text,
                    parse_mode=ParseMode.HTML,
                    reply_markup=keys,
                    message_thread_id=now.topic,
                    link_preview_options=_NO_PREVIEW,
                    reply_parameters=_reply_parameters(now),
                )
            ),
            begun=begun,
        )

    def _edit_message(self, target: _Target, text: str, keys: InlineKeyboardMarkup | None) -> bool:
        """Edit the message; return False if it no longer exists, and a new one must be sent."""
        try:
            self._send_with_retries(
                target,
                lambda now: (
                    lambda bot: bot.edit_message_text(
                        text,
                        chat_id=now.chat,
                        message_id=now.replaced,
                        parse_mode=ParseMode.HTML,
                        reply_markup=keys,
                        link_preview_options=_NO_PREVIEW,
                    )
                ),
                begun=False,
            )
        except _MessageGone:
            return False
        return True

    def _attach(self, target: _Target, attachment: Attachment, *, begun: bool) -> None:
        raw = attachment.text.encode("utf-8", "replace")
        if len(raw) > limits.TELEGRAM_FILE_MAX_BYTES:
            raise NotSent("the file is too large for Telegram", for_good=True)
        self._send_with_retries(
            target,
            lambda now: (
                lambda bot: bot.send_document(
                    now.chat,
                    raw,
                    filename=attachment.name,
                    message_thread_id=now.topic,
                    reply_parameters=_reply_parameters(now),
                )
            ),
            begun=begun,
        )

    def _send_with_retries(
        self, target: _Target, call: Callable[[_Target], BotCall[object]], *, begun: bool
    ) -> _Target:
        """Call, following a group that moved and waiting out short failures.

        A rate limit is raised for a later retry, unless a part was sent already (`begun`).
        """
        for turn in range(limits.TELEGRAM_SENDS_MAX_COUNT):
            try:
                self._client.call(call(target))
                return replace(target, answered=None)
            except TelegramCallFailed as problem:
                left = limits.TELEGRAM_SENDS_MAX_COUNT - turn - 1
                if problem.reason in ("unchanged", "unreadable"):
                    return target  # it was delivered
                if problem.reason in ("gone", "moved") and target.replaced is not None:
                    raise _MessageGone from None
                if problem.moved_to is not None and left:
                    # Ids of messages and topics are not valid in the new group.
                    target = _Target(chat=problem.moved_to)
                    continue
                pause = problem.wait_seconds or compute_backoff(turn + 1)
                waits = problem.reason in ("network", "unlike") or (
                    problem.reason == "slow" and begun
                )
                if not waits or not left or pause > limits.CHAT_BACKOFF_MAX_SECONDS:
                    raise
                self._pause(pause)
        raise NotSent("it was not sent", for_good=False)


class _MessageGone(Exception):
    pass


def split_message(spans: Sequence[Span]) -> list[tuple[Span, ...]]:
    return messages.split_spans(spans, limits.TELEGRAM_TEXT_MAX_UNITS, _count_utf16_units)


def render_html(spans: Sequence[Span]) -> str:
    return "".join(
        _HTML_STYLES[one.style].format(html.escape(_replace_surrogates(one.text))) for one in spans
    )


def _count_utf16_units(span: Span) -> int:
    """Count as Telegram does: without markup, characters beyond the BMP twice."""
    return len(span.text) + sum(char > "\uffff" for char in span.text)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _make_keyboard(rows: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    keys = [
        [
            InlineKeyboardButton(_replace_surrogates(one.label), callback_data=one.data)
            for one in row
        ]
        for row in rows
        if row
    ]
    return InlineKeyboardMarkup(keys) if keys else None


def _reply_parameters(target: _Target) -> ReplyParameters | None:
    if target.answered is None:
        return None
    return ReplyParameters(message_id=target.answered, allow_sending_without_reply=True)


def _find_target(
    where: Chat, to: Requester | None, what: OutboundMessage, after: InboundMessage | None
) -> _Target:
    chat = telegram_number(where.id)
    if what.alone:
        if to is None:
            raise NotSent("a private message has no recipient", for_good=True)
        if chat != telegram_number(to.key):
            return _Target(chat=telegram_number(to.key))
    here = after if after is not None and after.chat.id == where.id else None
    pressed = here.message if isinstance(here, ButtonPressed) and what.instead else None
    return _Target(
        chat=chat,
        topic=_optional_integer(here.thread) if here is not None else None,
        answered=_optional_integer(what.answers),
        replaced=_optional_integer(pressed),
    )


def _optional_integer(id: str | None) -> int | None:
    return int(id) if id is not None and id.isdecimal() else None


def telegram_number(id: str) -> int:
    """Return the number of a chat or person; a private chat has that of its person."""
    channel, _, digits = id.partition(":")
    if channel != CHANNEL or not digits.removeprefix("-").isdecimal():
        raise NotSent("the recipient is not in Telegram", for_good=True)
    return int(digits)
