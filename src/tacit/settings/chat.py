"""The settings of conversations: of the agent, and of each channel that it is reached through."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.settings import values
from tacit.settings.server import host
from tacit.settings.values import Parse


def _key(default: Any, parse: Parse, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parse": parse})


def _instructions(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.CHAT_INSTRUCTIONS_MAX_CHARS)


# Words in capitals, with _ between them. Few secrets look like that; anything else may be one.
_LIKE_A_VARIABLE = re.compile(r"[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,16}){1,7}")


def variable_shown(key: str, name: str) -> str:
    """A variable, as it may be told to the operator: by its name, unless somebody may have written
    a secret in the place of that."""
    return name if _LIKE_A_VARIABLE.fullmatch(name) else f"the variable that {key} names"


def _variable(key: str, value: str) -> str:
    """A bot cannot do without its secrets, so there is always a variable that holds them."""
    if not value:
        raise InvalidInput(key, "is empty; write the name of a variable of the environment")
    return values.variable_name(key, value)


def _chat_of(channel: str, form: str, like: str) -> Parse:
    """A chat as `/id` tells it there, with its channel before it or without."""
    shape = re.compile(form)

    def parse(key: str, value: str) -> str:
        own = value.removeprefix(f"{channel}:")
        if not shape.fullmatch(own):
            fix = f"write what /id tells there, as in {channel}:{like}"
            raise InvalidInput(key, f"is not a chat; {fix}")
        return f"{channel}:{own}"

    return parse


_OF_TELEGRAM = _chat_of("telegram", r"-?[1-9][0-9]{0,18}", "-1001234567890")
_OF_SLACK = _chat_of("slack", r"[A-Z0-9]{1,64}:[A-Z0-9]{1,64}", "T0123456789:C0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How the agent talks and asks, whichever channel it is reached through."""

    # What the operator tells the model, after our own rules.
    instructions: str = _key("", _instructions)
    # Who asks whether something may be kept. auto: the model where there is one, else buttons.
    consent: Literal["auto", "buttons"] = _key("auto", values.one_of("auto", "buttons"))
    # In place of `learn.confirm`, where a conversation is held here: there is somebody to ask.
    confirm: Literal["never", "new", "always"] = _key(
        "new", values.one_of("never", "new", "always")
    )
    # Messages of a chat that the model is shown before the one it answers.
    recent: int = _key(
        limits.CHAT_RECENT_DEFAULT_COUNT, values.whole(0, limits.CHAT_RECENT_MAX_COUNT)
    )
    # How often the model may look something up for one answer, and how much that may bring.
    recall_calls: int = _key(
        limits.CHAT_RECALLS_DEFAULT_COUNT, values.whole(0, limits.CHAT_RECALLS_MAX_COUNT)
    )
    recall_tokens: int = _key(
        limits.CHAT_RECALL_DEFAULT_TOKENS, values.whole(1, limits.CHAT_RECALL_MAX_TOKENS)
    )
    # Chats that are worked on at the same time.
    threads: int = _key(
        limits.CHAT_THREADS_DEFAULT_COUNT, values.whole(1, limits.CHAT_THREADS_MAX_COUNT)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """Secrets are in variables of their own; here are the names of these."""

    token_env: str = _key("TELEGRAM_BOT_TOKEN", _variable, secret=True)
    # Of the Bot API. Empty: Telegram's own. Hidden, because people write tokens into addresses.
    api_url: str = _key("", values.address("telegram.token_env", "https://host"), secret=True)
    # Whether we ask for updates, or are told.
    mode: Literal["polling", "webhook"] = _key("polling", values.one_of("polling", "webhook"))
    # webhook: where Telegram reaches us.
    webhook_url: str = _key(
        "", values.address("telegram.secret_env", "https://bot.example.org/telegram"), secret=True
    )
    # webhook: holds what proves that it is Telegram that tells us.
    secret_env: str = _key("TELEGRAM_WEBHOOK_SECRET", _variable, secret=True)
    # webhook: where we listen for what a proxy passes on. Zero: a port that is free.
    host: str = _key(limits.SERVER_DEFAULT_HOST, host)
    port: int = _key(limits.TELEGRAM_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # The only chats that are answered; none at all: every chat is. `/id` is answered anywhere.
    allowed_chats: tuple[str, ...] = _key((), _OF_TELEGRAM)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """Secrets are in variables of their own; here are the names of these."""

    token_env: str = _key("SLACK_BOT_TOKEN", _variable, secret=True)
    # Holds what Slack signs its requests with.
    secret_env: str = _key("SLACK_SIGNING_SECRET", _variable, secret=True)
    # Of the Web API. Empty: Slack's own.
    api_url: str = _key("", values.address("slack.token_env", "https://host/api"), secret=True)
    # Where we listen for what a proxy passes on. Zero: a port that is free.
    host: str = _key(limits.SERVER_DEFAULT_HOST, host)
    port: int = _key(limits.SLACK_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # The only chats that are answered; none at all: every chat is. `/id` is answered anywhere.
    allowed_chats: tuple[str, ...] = _key((), _OF_SLACK)


def telegram_mistake(telegram: TelegramSettings) -> InvalidInput | None:
    """What a mode needs and does not find; None if the keys go together."""
    if telegram.mode == "webhook" and not telegram.webhook_url:
        return InvalidInput(
            "telegram.webhook_url",
            "is empty, but telegram.mode is webhook; set telegram.webhook_url or "
            "TACIT_TELEGRAM_WEBHOOK_URL to the address that Telegram is to call",
        )
    return None
