"""Messages as mem0 takes them: text, one message, or a list of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit import Message
from tacit.compat.mem0.exceptions import ValidationError
from tacit.errors import InvalidInput
from tacit.records.conversation import Role

_log = logging.getLogger(__name__)
# What a model is told, or says itself, is what a person's words are read with.
_ROLES = {"user": Role.USER, "tool": Role.TOOL, "function": Role.TOOL, "system": Role.SYSTEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    role: str
    content: str
    name: str | None  # mem0's actor

    def message(self, user: str | None) -> Message:
        """For learning: who calls themselves as the user is called is the user."""
        other = None if self.name == user else self.name
        return Message(_ROLES.get(self.role, Role.ASSISTANT), self.content, name=other)


def read(messages: object) -> list[Said]:
    """Those that say something. Pictures are not looked at; instructions to a model are nothing
    that anybody said, and are left to the caller to leave out."""
    found = [_said(one) for one in _listed(messages)]
    return [one for one in found if one is not None]


def _listed(messages: object) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise ValidationError(
        "messages",
        f"expected text, a message or a list of messages, got {type(messages).__name__}",
        "VALIDATION_003",
        {"provided_type": type(messages).__name__},
    )


def _said(message: object) -> Said | None:
    if not isinstance(message, Mapping) or message.get("role") is None:
        _log.warning("a message was left out: it has no role")
        return None
    words = _words(message.get("content"))
    if words is None:
        return None
    name = message.get("name")
    role = str(message["role"])
    return Said(role=role, content=words, name=str(name) if name else None)


def _words(content: object) -> str | None:
    """None where nothing is said: a call of a tool, a picture."""
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
        content = " ".join(str(one.get("text", "")) for one in parts)
    if content is None or isinstance(content, Mapping):
        return None
    if not isinstance(content, str):
        raise InvalidInput("messages", f"say text, not {type(content).__name__}")
    return content if content.strip() else None
