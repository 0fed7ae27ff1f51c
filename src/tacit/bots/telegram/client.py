"""Call the Bot API, send messages, and translate errors."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Literal

from tacit import Chat, Requester, limits
from tacit.bots.channel import (
    Delivery,
    HttpClient,
    JsonObject,
    MessageSender,
    SendPart,
    clamp_wait,
    encode_form,
    get_object,
)
from tacit.bots.messages import Button, ButtonPressed, NotSent, Span
from tacit.bots.telegram.updates import CHANNEL, UPDATE_KINDS, TelegramIdentity
from tacit.http import parse_json_object

FailureReason = Literal["token", "conflict", "slow", "forbidden", "moved", "unchanged", "gone", "refused", "unlike"]
_PROBLEMS: dict[FailureReason, str] = {
    "token": "Telegram rejects the token: check TELEGRAM_BOT_TOKEN, or the variable that telegram.token_env names",
    "conflict": "another process polls the updates of this bot: stop it",
    "slow": "Telegram limits the rate",
    "forbidden": "the bot may not write in this chat",
    "moved": "the group has a new id",
    "unchanged": "the message has this text already",
    "gone": "the message no longer exists",
    "refused": "Telegram rejects the message",
    "unlike": "the server does not answer like Telegram: check telegram.api_url",
}
_UNREACHABLE = "Telegram is not reachable: check the network and telegram.api_url"
_PERMANENT: frozenset[FailureReason] = frozenset({"forbidden", "refused", "moved", "gone"})
_STATUS_REASONS: dict[int, FailureReason] = {401: "token", 403: "forbidden", 404: "token", 409: "conflict", 429: "slow"}
# All error texts of Telegram for a message that cannot be edited.
_MESSAGE_GONE_TEXTS = ("message to edit not found", "message can't be edited", "message_id_invalid")
_DEFAULT_API_URL = "https://api.telegram.org"


class TelegramCallFailed(NotSent):
    """Telegram refused a call. The message never contains text of Telegram or of people."""

    def __init__(self, why: FailureReason, *, wait_seconds: float | None = None, moved_to: int | None = None) -> None:
        super().__init__(
            _PROBLEMS[why], for_good=why in _PERMANENT, wait_seconds=wait_seconds, unreachable=why == "unlike"
        )
        self.reason, self.moved_to = why, moved_to


class TelegramClient:
    """Calls of the Bot API's methods by name; safe to share between threads."""

    def __init__(self, token: str, api_url: str = "") -> None:
        self._url = f"{(api_url or _DEFAULT_API_URL).rstrip('/')}/bot{token}/"
        self._http = HttpClient(
            _UNREACHABLE, seconds=limits.TELEGRAM_CALL_MAX_SECONDS, max_bytes=limits.TELEGRAM_ANSWER_MAX_BYTES
        )
        self._polls: SimpleQueue[list[JsonObject] | NotSent] = SimpleQueue()
        self._stopped = threading.Event()

    def call(
        self, method: str, *, seconds: float | None = None, file: tuple[str, bytes] | None = None, **arguments: Any
    ) -> Any:
        """Return the result of a method; raise `NotSent`. Arguments that are None are left out."""
        content: dict[str, Any] = {"data": encode_form(arguments)}
        if file is not None:
            content["files"] = {"document": file}
        status, _, body = self._http.post(self._url + method, seconds=seconds, **content)
        answer = parse_json_object(body)
        if status >= 500:  # it may come from a proxy in another format
            raise NotSent(_UNREACHABLE, for_good=False, unreachable=True)
        if answer is None or not isinstance(answer.get("ok"), bool):
            wait = clamp_wait(None) if status == 429 else None
            raise TelegramCallFailed("slow" if status == 429 else "unlike", wait_seconds=wait)
        if answer["ok"]:
            return answer.get("result")
        raise _from_refusal(status, answer)

    def call_in_background(self, calls: Sequence[Callable[[], object]]) -> None:
        """Call one after the other without waiting, until one fails."""

        def run() -> None:
            for call in calls:
                try:
                    call()
                except NotSent:
                    return

        if calls:
            threading.Thread(target=run, name="tacit-telegram-calls", daemon=True).start()

    def get_identity(self) -> TelegramIdentity:
        match self.call("getMe"):
            case {"id": int(id), "username": str(username)}:
                return TelegramIdentity(id=id, username=username)
        raise TelegramCallFailed("unlike")

    def get_updates(self, offset: int | None, seconds: int) -> list[JsonObject]:
        """Return raw updates. Telegram deletes those before the offset.

        Raises `NotSent`, also for a response that is no list of updates, and when `stop_polling`
        is called meanwhile or was before.
        """

        def poll() -> None:
            try:
                self._polls.put(self._poll(offset, seconds))
            except NotSent as problem:
                self._polls.put(problem)

        if not self._stopped.is_set():
            # In a thread that can be abandoned: the updates of this poll are not confirmed yet.
            threading.Thread(target=poll, name="tacit-telegram-poll", daemon=True).start()
            found = self._polls.get()
            if isinstance(found, NotSent):
                raise found
            if not self._stopped.is_set():
                return found
        raise NotSent(_UNREACHABLE, for_good=False)

    def _poll(self, offset: int | None, seconds: int) -> list[JsonObject]:
        found = self.call(
            "getUpdates",
            seconds=seconds + limits.TELEGRAM_CALL_MAX_SECONDS,
            offset=offset,
            timeout=seconds,
            limit=limits.TELEGRAM_UPDATES_MAX_COUNT,
            allowed_updates=UPDATE_KINDS,
        )
        listed = found if isinstance(found, list) else []
        updates: list[JsonObject] = [one for one in listed if isinstance(one, dict)]
        if found != [] and not updates:
            raise TelegramCallFailed("unlike")
        return updates

    def stop_polling(self) -> None:
        """End the running poll, and refuse later ones."""
        self._stopped.set()
        self._polls.put([])

    def close(self) -> None:
        self._http.close()


def _from_refusal(status: int, answer: JsonObject) -> TelegramCallFailed:
    parameters = get_object(answer, "parameters")
    moved_to, text = parameters.get("migrate_to_chat_id"), str(answer.get("description")).lower()
    if isinstance(moved_to, int):
        return TelegramCallFailed("moved", moved_to=moved_to)
    if status == 400 and "message is not modified" in text:
        return TelegramCallFailed("unchanged")
    if status == 400 and any(known in text for known in _MESSAGE_GONE_TEXTS):
        return TelegramCallFailed("gone")
    reason = _STATUS_REASONS.get(status, "refused")
    wait = clamp_wait(parameters.get("retry_after")) if reason == "slow" else None
    return TelegramCallFailed(reason, wait_seconds=wait)


# The sender: messages as escaped HTML.

_HTML_STYLES = {
    "plain": "{}",
    "command": "{}",
    "strong": "<b>{}</b>",
    "code": "<code>{}</code>",
    "link": '<a href="{0}">{0}</a>',
}


@dataclass(slots=True, kw_only=True)
class _Target:
    """Where the next part goes. Only the first part answers or replaces a message."""

    chat: int
    topic: int | None = None
    answered: int | None = None
    replaced: int | None = None


class TelegramSender(MessageSender):
    part_max = limits.TELEGRAM_TEXT_MAX_UNITS

    def __init__(self, client: TelegramClient, pause: Callable[[float], object]) -> None:
        super().__init__(pause)
        self._client = client

    def is_admin(self, where: Chat, who: Requester) -> bool:
        try:
            member = self._client.call(
                "getChatMember", chat_id=telegram_number(where.id), user_id=telegram_number(who.key)
            )
        except NotSent:
            return False
        return isinstance(member, dict) and member.get("status") in ("administrator", "creator")

    def measure(self, char: str) -> int:
        """Count as Telegram does: without markup, in UTF-16 units."""
        return 1 + (char > "\uffff")

    def choose_delivery(self, asked: Delivery) -> SendPart:
        target = _find_target(asked)

        def deliver(spans: tuple[Span, ...], buttons: Sequence[Sequence[Button]]) -> None:
            message = {
                "text": render_html(spans),
                "parse_mode": "HTML",
                "reply_markup": _make_keyboard(buttons),
                # A preview would tell the server of a link that the link is shared here.
                "link_preview_options": {"is_disabled": True},
            }
            if target.replaced is None or not self._edit(target, message):
                target.replaced = None
                self._send(target, "sendMessage", **message)
            target.replaced = target.answered = None

        return deliver

    def upload(self, asked: Delivery) -> None:
        file = asked.what.attachment
        assert file is not None
        raw = file.text.encode("utf-8", "replace")
        if len(raw) > limits.TELEGRAM_FILE_MAX_BYTES:
            raise NotSent("the file is too large for Telegram", for_good=True)
        target = _find_target(asked)
        target.answered = None
        self._send(target, "sendDocument", file=(file.name, raw))

    def _edit(self, target: _Target, message: dict[str, Any]) -> bool:
        """Edit the message; return False if it no longer exists, and a new one must be sent."""
        try:
            self._client.call("editMessageText", chat_id=target.chat, message_id=target.replaced, **message)
        except TelegramCallFailed as problem:
            if problem.reason in ("gone", "moved"):
                return False
            if problem.reason != "unchanged":
                raise
        return True

    def _send(self, target: _Target, method: str, **content: Any) -> None:
        """Send, following a group that moved."""
        answered = target.answered
        reply = answered and {"message_id": answered, "allow_sending_without_reply": True}
        try:
            self._client.call(
                method, chat_id=target.chat, message_thread_id=target.topic, reply_parameters=reply, **content
            )
        except TelegramCallFailed as problem:
            if problem.moved_to is None:
                raise
            # Ids of messages and topics are not valid in the new group.
            target.chat, target.topic, target.answered = problem.moved_to, None, None
            self._client.call(method, chat_id=target.chat, **content)


def render_html(spans: Sequence[Span]) -> str:
    return "".join(_HTML_STYLES[one.style].format(html.escape(_replace_surrogates(one.text))) for one in spans)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _make_keyboard(rows: Sequence[Sequence[Button]]) -> dict[str, Any] | None:
    keys = [[{"text": _replace_surrogates(one.label), "callback_data": one.data} for one in row] for row in rows if row]
    return {"inline_keyboard": keys} if keys else None


def _find_target(asked: Delivery) -> _Target:
    to, what, after = asked.to, asked.what, asked.after
    chat = telegram_number(asked.where.id)
    if what.alone:
        if to is None:
            raise NotSent("a private message has no recipient", for_good=True)
        if chat != telegram_number(to.key):
            return _Target(chat=telegram_number(to.key))
    here = after if after is not None and after.chat.id == asked.where.id else None
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
