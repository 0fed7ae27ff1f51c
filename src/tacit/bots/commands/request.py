"""Parse a command, a pressed button or a plain sentence into a command request."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from tacit import Requester
from tacit.bots import texts
from tacit.bots.decisions import word_set
from tacit.bots.messages import (
    Button,
    ButtonPressed,
    ChannelSender,
    InboundMessage,
    OutboundMessage,
    format_text,
    make_message,
)
from tacit.memory import Memory, View
from tacit.settings import ConsoleSettings

# A letter must follow the slash, so that "/ 2" is text; "/etc/passwd" does not match either.
_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_]*)(?:\s+(.*))?", re.DOTALL)
_ID_PUNCTUATION = "[](){}<>`'\".,"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    memory: Memory
    view: View
    message: InboundMessage
    words: tuple[str, ...]  # arguments of the command or the button
    sender: ChannelSender  # for messages to another person
    console: ConsoleSettings

    @property
    def who(self) -> Requester:
        """The sender, who is known in all commands but the public ones."""
        assert self.message.who is not None
        return self.message.who

    @property
    def private(self) -> bool:
        return self.message.private

    def idempotent_view(self, action: str) -> View:
        """Return a view for one write, which a repeated update does not repeat."""
        return self.view.once(f"{self.message.key}/{action}")


def parse_command(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command and its arguments; None for other text."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    return found[1].lower(), tuple((found[2] or "").split())


def strip_id(word: str) -> str:
    """Remove punctuation that people copy along with an id."""
    return word.strip(_ID_PUNCTUATION)


def reply(text: str) -> list[OutboundMessage]:
    return [make_message(*format_text(text))]


# Buttons. Their data contains an action, ids and a tag of the person, never text of a memory.


class ButtonAction(StrEnum):
    PAGE = "m"
    PAGE_VISIBILITY = "mv"
    FORGET = "d"
    UNDO = "u"
    RESTORE = "r"
    ERASE_ALL = "w"
    LINK = "l"
    LINK_ACCEPT = "la"


_TAG_CHARS = 8
OTHER_PERSONS_BUTTON: tuple[str, ...] = ()


def make_button(who: Requester, label: str, action: ButtonAction, *words: str) -> Button:
    """Make a button that only this person can press: its data ends with their tag."""
    return Button(label=label, data=":".join((action, *words, _person_tag(who))))


def make_undo_button(who: Requester, id: str, version: int = 1) -> Button:
    """Make a button that undoes a new memory while it still has this version."""
    return make_button(who, texts.UNDO, ButtonAction.UNDO, id, str(version))


def parse_button(pressed: ButtonPressed) -> tuple[str, ...] | None:
    """Return the action and arguments; OTHER_PERSONS_BUTTON, or None for an unknown button."""
    action, *words = pressed.data.split(":")
    if action not in {*ButtonAction} or len(words) != (3 if action == ButtonAction.UNDO else 2):
        return None
    if pressed.who is None or words[-1] != _person_tag(pressed.who):
        return OTHER_PERSONS_BUTTON
    return action, *words[:-1]


def _person_tag(who: Requester) -> str:
    return hashlib.sha256(f"tacit button {who.key}".encode()).hexdigest()[:_TAG_CHARS]


# Commands in plain words: "forget my cat", "bitte lösche meine Adresse", "undo that".

FORGET_COMMAND, EVERYTHING = "forget", "everything"
_VERBS = word_set("forget delete remove erase vergiss vergesse lösch lösche entfern entferne")
_VERBS_LAST = word_set("vergessen löschen entfernen")  # "kannst du … vergessen"
_POLITE_WORDS = word_set(
    "please bitte can could would will you kannst könntest würdest du ok okay hey so now just "
    "i want i'd like need to thanks thank danke mal jetzt also and und"
)
_LINKING_WORDS = word_set("about that dass the fact über davon")
_PRONOUNS = word_set("it this that them these those das es dies alles everything all")
_SELF_WORDS = word_set("me mich about über von mir you know have du weißt hast was what i")
_EVERYTHING_WORDS = word_set("everything all alles")
_WORDS_MAX_COUNT = 15
_PHRASES = {
    "help": ("help", "help me", "what can you do", "how does this work", "hilfe", "was kannst du"),
    "undo": ("undo", "undo that", "undo it", "take that back", "rückgängig"),
}


def parse_plain_command(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command in one plain clause and its arguments; None for any other text."""
    clause = text.strip().rstrip(".!?").replace("’", "'")
    for command, phrases in _PHRASES.items():
        if clause.lower() in phrases:
            return command, ()
    words = [one.strip(",") for one in clause.split()]
    if re.search(r"[.;!?\n]", clause) or len(words) > _WORDS_MAX_COUNT:
        return None
    opening = _count_polite(words)
    words, before = words[opening:], {one.lower() for one in words[:opening]}
    if "i" in before and "you" not in before:
        return None  # "I want to forget my exam"
    words = _without_polite_end(words)
    if words and words[0].lower() in _VERBS:
        return FORGET_COMMAND, _parse_target(words[1:])
    if before and len(words) > 1 and words[-1].lower() in _VERBS_LAST:
        return FORGET_COMMAND, _parse_target(_without_polite_end(words[:-1]))
    return None


def _count_polite(words: list[str]) -> int:
    polite = [one.lower() in _POLITE_WORDS for one in words]
    return polite.index(False) if False in polite else len(words)


def _without_polite_end(words: list[str]) -> list[str]:
    return words[: len(words) - _count_polite(words[::-1])]


def _parse_target(words: list[str]) -> tuple[str, ...]:
    """Return what to forget; empty if there is only a pronoun."""
    low = [one.lower() for one in words]
    if low and low[0] in _EVERYTHING_WORDS and set(low[1:]) <= _SELF_WORDS | _LINKING_WORDS:
        return (EVERYTHING,)
    if low in (["me"], ["mich"], ["about", "me"]):
        return (EVERYTHING,)
    if set(low) <= _PRONOUNS | _LINKING_WORDS:
        return ()
    return tuple(words)
