"""/start, /help, /id, /privacy, /export, /confidential, /link, /unlink, /console."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace

from tacit import Requester, limits
from tacit.bots import texts
from tacit.bots.commands.request import (
    ButtonAction,
    CommandRequest,
    make_button,
    reply,
    strip_id,
)
from tacit.bots.messages import (
    Attachment,
    NotSent,
    OutboundMessage,
    Span,
    code_span,
    format_text,
    link_span,
    make_message,
)
from tacit.errors import Conflict, NotFound, TooManyRequests
from tacit.records.memory import ChatKind, State
from tacit.server.authentication import sign_in_url

# /link and /unlink: link two accounts with a one-time code and a confirmation on both sides.

_MARK_CHARS = 8


def run_link(asked: CommandRequest) -> list[OutboundMessage]:
    """/link, /link CODE, /link yes, /link no"""
    match tuple(word.lower() for word in asked.words):
        case ():
            return _offer_link(asked)
        case ("yes",):
            return _confirm_link(asked)
        case ("no",):
            return _refuse_link(asked)
    code_said = "".join(filter(str.isalnum, strip_id("".join(asked.words)))).upper()
    if len(code_said) != limits.LINK_CODE_CHARS or not code_said.isascii():
        return reply(texts.LINK_CODE_INVALID)
    yes = make_button(asked.who, texts.LINK_BOTH_MINE, ButtonAction.LINK_ACCEPT, code_said)
    no = make_button(asked.who, texts.NO_BUTTON, ButtonAction.LINK, "x")
    return [make_message(texts.LINK_CONFIRM, buttons=((yes, no),))]


def press_link(asked: CommandRequest) -> list[OutboundMessage]:
    match asked.words:
        case (word,) if word.startswith("y"):
            told = _confirm_link(asked, word)
        case ("n",):
            told = _refuse_link(asked)
        case ("c",):
            return _ask_pending_link(asked) or [make_message(texts.LINK_NOT_YET)]
        case _:
            told = reply(texts.NOT_LINKED)
    return [replace(one, instead=True) for one in told]


def press_link_accept(asked: CommandRequest) -> list[OutboundMessage]:
    """Accept a code. Nothing is shared before the other account confirms."""
    (given,) = asked.words
    try:
        waiting = asked.idempotent_view("link").account.accept_link(given)
    except NotFound:
        told = texts.LINK_CODE_INVALID
    except TooManyRequests as wait:
        told = texts.LINK_TOO_MANY.format(-(-wait.retry_after_seconds // 60))
    except Conflict:
        told = texts.LINK_TAKEN
    else:
        # If the other account is on another channel, its next /link asks for the confirmation.
        _tell_other_account(
            asked, waiting.identity, _ask_to_link(Requester(waiting.identity), asked.who.key)
        )
        stop = make_button(asked.who, texts.LINK_STOP, ButtonAction.LINK, "n")
        waits = make_message(texts.LINK_WAITS, code_span(waiting.identity), ".", buttons=((stop,),))
        return [replace(waits, instead=True)]
    return [replace(make_message(*format_text(told)), instead=True)]


def run_unlink(asked: CommandRequest) -> list[OutboundMessage]:
    try:
        asked.idempotent_view("unlink").account.unlink()
    except NotFound:
        return reply(texts.NOTHING_TO_UNLINK)
    return reply(texts.UNLINKED)


def _offer_link(asked: CommandRequest) -> list[OutboundMessage]:
    """Ask a pending confirmation again, or offer a new code if there is none."""
    asked_before = _ask_pending_link(asked)
    if asked_before is not None:
        return asked_before
    offer = asked.view.account.offer_link()
    how = texts.LINK_OFFER.format(limits.LINK_CODE_MINUTES)
    sent = make_button(asked.who, texts.LINK_SENT, ButtonAction.LINK, "c")
    return [make_message(texts.LINK_CODE, code_span(offer.code), how, buttons=((sent,),))]


def _ask_pending_link(asked: CommandRequest) -> list[OutboundMessage] | None:
    waiting = asked.view.account.pending_link()
    if waiting is None:
        return None
    return [_ask_to_link(asked.who, waiting.identity)]


def _ask_to_link(who: Requester, other: str) -> OutboundMessage:
    yes = make_button(who, texts.LINK_BOTH_MINE, ButtonAction.LINK, _yes_argument(other))
    no = make_button(who, texts.NO_BUTTON, ButtonAction.LINK, "n")
    return make_message(code_span(other), texts.LINK_ASKED, buttons=((yes, no),))


def _yes_argument(other: str) -> str:
    """Return a button argument that confirms only this identity."""
    return f"y{hashlib.sha256(other.encode()).hexdigest()[:_MARK_CHARS]}"


def _tell_other_account(asked: CommandRequest, other: str, what: OutboundMessage) -> None:
    """Send a private message to the other account if it is on this channel."""
    if other.partition(":")[0] != asked.message.channel:
        return
    with suppress(NotSent):
        asked.sender.send(asked.message.chat, Requester(other), replace(what, alone=True))


def _confirm_link(asked: CommandRequest, meant: str | None = None) -> list[OutboundMessage]:
    """Confirm the link, and warn the other account, which may have been tricked into it."""
    waiting = asked.view.account.pending_link()
    if waiting is not None and meant not in (None, _yes_argument(waiting.identity)):
        return reply(texts.LINK_NOTHING_WAITS)
    try:
        asked.idempotent_view("link").account.confirm_link()
    except NotFound:
        return reply(texts.LINK_NOTHING_WAITS)
    except Conflict:
        return reply(texts.LINK_TAKEN)
    if waiting is not None:
        now = make_message(
            texts.LINKED_WITH, code_span(asked.who.key), *format_text(texts.LINKED_WARNING)
        )
        _tell_other_account(asked, waiting.identity, now)
    return reply(texts.LINKED)


def _refuse_link(asked: CommandRequest) -> list[OutboundMessage]:
    asked.idempotent_view("link").account.refuse_link()
    return reply(texts.NOT_LINKED)


def run_console(asked: CommandRequest) -> list[OutboundMessage]:
    where = asked.console.url if asked.console.enabled else ""
    if not where:
        return reply(texts.NO_CONSOLE)
    offered = asked.memory.console.create_link(person=asked.who.key)
    minutes = asked.console.link_minutes
    text = texts.CONSOLE_LINK.format("a minute" if minutes == 1 else f"{minutes} minutes")
    return [replace(make_message(text, link_span(sign_in_url(where, offered.token))), alone=True)]


def run_start(asked: CommandRequest) -> list[OutboundMessage]:
    if not asked.private:
        return reply(texts.WELCOME_GROUP)
    model = () if asked.memory.llm.available else (texts.WELCOME_WITHOUT_MODEL,)
    return reply("\n\n".join((texts.WELCOME, *model, _help_text(asked))))


def run_help(asked: CommandRequest) -> list[OutboundMessage]:
    return reply(_help_text(asked) if asked.private else texts.HELP_GROUP)


def _help_text(asked: CommandRequest) -> str:
    offered = asked.console.enabled and asked.console.url
    return texts.HELP + (texts.HELP_CONSOLE if offered else "")


def run_id(asked: CommandRequest) -> list[OutboundMessage]:
    """Show the id of the chat; the person's key only in private."""
    chat = asked.message.chat
    spans: list[str | Span] = ["chat ", code_span(chat.id), f", {chat.kind}"]
    if asked.private and asked.message.who is not None:
        spans += ["\nyou ", code_span(asked.who.key)]
    return [make_message(*spans)]


def run_privacy(asked: CommandRequest) -> list[OutboundMessage]:
    if not asked.private:
        return reply(texts.PRIVACY_GROUP)
    kept = asked.view.count(state=State.ACTIVE)
    return reply(texts.PRIVACY.format(kept))


def run_export(asked: CommandRequest) -> list[OutboundMessage]:
    match asked.words:
        case ():
            lines, name = asked.view.export(everything=True), "memories.jsonl"
        case ("markdown" | "md",):
            lines, name = asked.view.export(format="markdown"), "memories.md"
        case _:
            return reply(texts.EXPORT_FORMS)
    found, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > limits.CHAT_EXPORT_MAX_CHARS:
            return reply(texts.EXPORT_TOO_LARGE)
        found.append(line)
    file = Attachment(name=name, text="\n".join(found) + "\n")
    return [OutboundMessage(spans=(Span(texts.EXPORT_READY),), attachment=file)]


def run_confidential(asked: CommandRequest) -> list[OutboundMessage]:
    """Let an admin of the group set whether it is confidential."""
    heard = asked.message
    if heard.chat.kind is not ChatKind.GROUP:
        return reply(texts.GROUPS_ONLY)
    if asked.words not in ((), ("on",), ("off",)):
        return reply(texts.HOW_CONFIDENTIAL)
    if not asked.sender.is_admin(heard.chat, asked.who):
        return reply(texts.ADMINS_ONLY)
    on = asked.words != ("off",)
    asked.memory.chats.set_confidential(heard.chat.id, on)
    return reply(texts.CONFIDENTIAL if on else texts.NOT_CONFIDENTIAL)
