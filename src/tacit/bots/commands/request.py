"""Parse a command, a pressed button or a plain sentence into a command request."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tacit import Requester
from tacit.bots import texts
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
from tacit.records.memory import ChatKind
from tacit.settings import ConsoleSettings

# A letter must follow the slash, so that "/ 2" is text; "/etc/passwd" does not match either.
_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_]*)(?:\s+(.*))?", re.DOTALL)
_ID_PUNCTUATION = "[](){}<>`'\".,"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    memory: Memory
    view: View
    message: InboundMessage
    who: Requester
    words: tuple[str, ...]  # arguments of the command or the button
    sender: ChannelSender  # for messages to another person
    console: ConsoleSettings

    @property
    def private(self) -> bool:
        return is_in_private(self.message)

    def idempotent_view(self, action: str) -> View:
        """Return a view for one write, which a repeated update does not repeat."""
        return self.view.once(f"{self.message.channel}:{self.message.update}/{action}")


def is_in_private(heard: InboundMessage) -> bool:
    return heard.chat.kind is ChatKind.PRIVATE


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

(
    BUTTON_PAGE,
    BUTTON_PAGE_VISIBILITY,
    BUTTON_FORGET,
    BUTTON_UNDO,
    BUTTON_RESTORE,
    BUTTON_ERASE_ALL,
) = "m", "mv", "d", "u", "r", "w"
BUTTON_LINK, BUTTON_LINK_ACCEPT = "l", "la"
_BUTTON_ARGUMENTS = {
    BUTTON_PAGE: 1,
    BUTTON_PAGE_VISIBILITY: 1,
    BUTTON_FORGET: 1,
    BUTTON_UNDO: 2,
    BUTTON_RESTORE: 1,
    BUTTON_ERASE_ALL: 1,
    BUTTON_LINK: 1,
    BUTTON_LINK_ACCEPT: 1,
}
_TAG_CHARS = 8
OTHER_PERSONS_BUTTON: tuple[str, ...] = ()


def make_button(who: Requester, label: str, does: str, *words: str) -> Button:
    """Make a button that only this person can press: its data ends with their tag."""
    assert len(words) == _BUTTON_ARGUMENTS[does]
    return Button(label=label, data=":".join((does, *words, _person_tag(who))))


def make_undo_button(who: Requester, id: str, version: int = 1) -> Button:
    """Make a button that undoes a new memory while it still has this version."""
    return make_button(who, texts.UNDO, BUTTON_UNDO, id, str(version))


def parse_button(pressed: ButtonPressed) -> tuple[str, ...] | None:
    """Return the action and arguments; OTHER_PERSONS_BUTTON, or None for an unknown button.

    A button without a tag works only in a private chat.
    """
    does, *words = pressed.data.split(":")
    if does not in _BUTTON_ARGUMENTS or pressed.who is None:
        return None if does not in _BUTTON_ARGUMENTS else OTHER_PERSONS_BUTTON
    if does == BUTTON_UNDO and len(words) == 1 and is_in_private(pressed):
        return does, words[0], "1"
    if len(words) != _BUTTON_ARGUMENTS[does] + 1:
        return None
    if words[-1] != _person_tag(pressed.who):
        return OTHER_PERSONS_BUTTON
    return does, *words[:-1]


def _person_tag(who: Requester) -> str:
    return hashlib.sha256(f"tacit button {who.key}".encode()).hexdigest()[:_TAG_CHARS]


# Commands in plain words: "forget my cat", "bitte lösche meine Adresse", "undo that".

FORGET_COMMAND, EVERYTHING = "forget", "everything"
_VERBS = frozenset(
    re.findall(r"\S+", "forget delete remove erase vergiss vergesse lösch lösche entfern entferne")
)
_VERBS_LAST = frozenset(
    re.findall(r"\S+", "vergessen löschen entfernen")
)  # "kannst du … vergessen"
_POLITE_WORDS = frozenset(
    re.findall(
        r"\S+",
        "please bitte can could would will you kannst könntest würdest du ok okay hey so now just "
        "i want i'd like need to thanks thank danke mal jetzt also and und",
    )
)
_LINKING_WORDS = frozenset(re.findall(r"\S+", "about that dass the fact über davon"))
_PRONOUNS = frozenset(
    re.findall(r"\S+", "it this that them these those das es dies alles everything all")
)
_SELF_WORDS = frozenset(
    re.findall(r"\S+", "me mich about über von mir you know have du weißt hast was what i")
)
_EVERYTHING_WORDS = frozenset(re.findall(r"\S+", "everything all alles"))
_WORDS_MAX_COUNT = 15
_PHRASES = {
    phrase: command
    for command, phrases in {
        "help": (
            "help",
            "help me",
            "what can you do",
            "how does this work",
            "hilfe",
            "was kannst du",
        ),
        "undo": ("undo", "undo that", "undo it", "take that back", "rückgängig"),
    }.items()
    for phrase in phrases
}


def parse_plain_command(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command in one plain clause and its arguments; None for any other text."""
    clause = text.strip().rstrip(".!?").replace("’", "'")
    if clause.lower() in _PHRASES:
        return _PHRASES[clause.lower()], ()
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
