"""What is said, in Telegram's form: HTML with everything escaped, in parts that fit a message."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ParseMode

from tacit import Chat, Requester, limits
from tacit.surfaces.chat import paging
from tacit.surfaces.chat.heard import Heard, Pressed
from tacit.surfaces.chat.say import Attachment, Button, NotSent, Say, Span
from tacit.surfaces.chat.working import backoff
from tacit.surfaces.telegram.line import Call, Line
from tacit.surfaces.telegram.reading import CHANNEL
from tacit.surfaces.telegram.wire import Failed

_MARKS = {
    "plain": "{}",
    "command": "{}",
    "strong": "<b>{}</b>",
    "code": "<code>{}</code>",
    "link": '<a href="{0}">{0}</a>',
}
_ADMINS = frozenset({"administrator", "creator"})
# Whoever runs the server of a link would learn that it is talked about here.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    chat: int
    topic: int | None = None
    answered: int | None = None
    replaced: int | None = None


class TelegramOutlet:
    def __init__(self, line: Line, pause: Callable[[float], object]) -> None:
        self._client = line
        self._pause = pause

    def send(
        self, where: Chat, to: Requester | None, what: Say, *, after: Heard | None = None
    ) -> None:
        target = _target(where, to, what, after)
        texts = [markup(spans) for spans in parts(what.spans)]
        keys = _keyboard(what.buttons)
        for count, text in enumerate(texts, 1):
            last = keys if count == len(texts) else None
            target = self._send_text(target, text, last, begun=count > 1)
        if what.attachment is not None:
            self._attach(target, what.attachment, begun=bool(texts))

    def is_admin(self, where: Chat, who: Requester) -> bool:
        try:
            chat, user = number(where.id), number(who.key)
            member = self._client.call(lambda bot: bot.get_chat_member(chat, user))
        except NotSent:
            return False
        return member.status in _ADMINS

    def _send_text(
        self, target: _Target, text: str, keys: InlineKeyboardMarkup | None, *, begun: bool
    ) -> _Target:
        """Where the next part goes: what is replaced or answered is so once."""
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
                    reply_parameters=_answering(now),
                )
            ),
            begun=begun,
        )

    def _edit_message(self, target: _Target, text: str, keys: InlineKeyboardMarkup | None) -> bool:
        """False: there is nothing left to replace, and it is said anew."""
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
        except _Gone:
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
                    reply_parameters=_answering(now),
                )
            ),
            begun=begun,
        )

    def _send_with_retries(
        self, target: _Target, call: Callable[[_Target], Call[object]], *, begun: bool
    ) -> _Target:
        """A group that moved is followed once. What Telegram wants later is left for later, unless
        a part of it is there already: then the rest is waited for, a while."""
        for turn in range(limits.TELEGRAM_SENDS_MAX_COUNT):
            try:
                self._client.call(call(target))
                return replace(target, answered=None)
            except Failed as problem:
                left = limits.TELEGRAM_SENDS_MAX_COUNT - turn - 1
                if problem.reason in ("unchanged", "unreadable"):
                    return target  # it is there, whatever Telegram says about it
                if problem.reason in ("gone", "moved") and target.replaced is not None:
                    raise _Gone from None
                if problem.moved_to is not None and left:
                    # Ids of messages and topics do not move along.
                    target = _Target(chat=problem.moved_to)
                    continue
                pause = problem.wait_seconds or backoff(turn + 1)
                waits = problem.reason in ("network", "unlike") or (
                    problem.reason == "slow" and begun
                )
                if not waits or not left or pause > limits.CHAT_BACKOFF_MAX_SECONDS:
                    raise
                self._pause(pause)
        raise NotSent("it was not sent", for_good=False)


class _Gone(Exception):
    pass


def parts(spans: Sequence[Span]) -> list[tuple[Span, ...]]:
    return paging.parts(spans, limits.TELEGRAM_TEXT_MAX_UNITS, _units)


def markup(spans: Sequence[Span]) -> str:
    return "".join(_MARKS[one.style].format(html.escape(_clean(one.text))) for one in spans)


def _units(span: Span) -> int:
    """Marks and escapes do not count; characters beyond the first 65,536 count twice."""
    return len(span.text) + sum(char > "\uffff" for char in span.text)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _keyboard(rows: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    keys = [
        [InlineKeyboardButton(_clean(one.label), callback_data=one.data) for one in row]
        for row in rows
        if row
    ]
    return InlineKeyboardMarkup(keys) if keys else None


def _answering(target: _Target) -> ReplyParameters | None:
    if target.answered is None:
        return None
    return ReplyParameters(message_id=target.answered, allow_sending_without_reply=True)


def _target(where: Chat, to: Requester | None, what: Say, after: Heard | None) -> _Target:
    chat = number(where.id)
    if what.alone:
        if to is None:
            raise NotSent("there is nobody to say it to alone", for_good=True)
        if chat != number(to.key):
            return _Target(chat=number(to.key))
    here = after if after is not None and after.chat.id == where.id else None
    pressed = here.message if isinstance(here, Pressed) and what.instead else None
    return _Target(
        chat=chat,
        topic=_whole(here.thread) if here is not None else None,
        answered=_whole(what.answers),
        replaced=_whole(pressed),
    )


def _whole(id: str | None) -> int | None:
    return int(id) if id is not None and id.isdecimal() else None


def number(id: str) -> int:
    """A chat's or person's number; a private chat has that of its person."""
    channel, _, digits = id.partition(":")
    if channel != CHANNEL or not digits.removeprefix("-").isdecimal():
        raise NotSent("that is not in Telegram", for_good=True)
    return int(digits)
