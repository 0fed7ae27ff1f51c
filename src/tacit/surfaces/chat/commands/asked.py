"""A command or a pressed button, taken apart: who asks where, and with which words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit import Requester
from tacit.memory import Memory, View
from tacit.records.memory import ChatKind
from tacit.settings import ConsoleSettings
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import Outlet, Say, say, worded

# A letter, so that "/etc/passwd" and "/ 2" are what people say and not what they command.
_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_]*)(?:\s+(.*))?", re.DOTALL)
_AROUND_AN_ID = "[](){}<>`'\".,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    memory: Memory
    view: View
    message: Heard
    who: Requester
    words: tuple[str, ...]  # after the command; of a button, what its data names
    sender: Outlet  # to tell somebody else
    console: ConsoleSettings

    @property
    def private(self) -> bool:
        return is_private(self.message)

    def idempotent_view(self, word: str) -> View:
        """For one write: an update that comes a second time does not do it a second time."""
        return self.view.once(f"{self.message.channel}:{self.message.update}/{word}")


def is_private(heard: Heard) -> bool:
    return heard.chat.kind is ChatKind.PRIVATE


def taken_apart(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The command and the words after it; None where people just talk."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    return found[1].lower(), tuple((found[2] or "").split())


def as_id(word: str) -> str:
    """People copy an id with what stands around it in a list."""
    return word.strip(_AROUND_AN_ID)


def tell(text: str) -> list[Say]:
    """In words of ours alone."""
    return [say(*worded(text))]
