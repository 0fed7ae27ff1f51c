"""The words of the model as the console says them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tacit.records.memory import (
    ChatKind,
    HistoryEvent,
    Kind,
    Memory,
    Sensitivity,
    State,
    Visibility,
)

VISIBILITY = {
    Visibility.PRIVATE_ONLY: "For your ears only",
    Visibility.ROOM: "In the room where it was said",
    Visibility.PUBLIC_OK: "May be said where you are",
}
# Of memories that are somebody else's than the reader's.
VISIBILITY_OF_THEIRS = {
    **VISIBILITY,
    Visibility.PRIVATE_ONLY: "For its owner's ears only",
    Visibility.PUBLIC_OK: "May be said where its owner is",
}
SENSITIVITY = {
    Sensitivity.PUBLIC: "Public",
    Sensitivity.PERSONAL: "Personal",
    Sensitivity.SENSITIVE: "Sensitive",
}
STATE = {
    State.ACTIVE: "Active",
    State.PENDING: "Waits for a yes",
    State.SUPERSEDED: "Replaced",
    State.FORGOTTEN: "Forgotten",
    State.EXPIRED: "Expired",
    State.QUARANTINED: "Set aside",
}
KIND = {kind: kind.value.capitalize() for kind in Kind}
EVENT = {
    HistoryEvent.ADD: "Remembered",
    HistoryEvent.UPDATE: "Changed",
    HistoryEvent.DELETE: "Forgotten",
    HistoryEvent.MERGE: "Merged",
    HistoryEvent.LINK: "Linked",
    HistoryEvent.TTL: "Expired",
    HistoryEvent.RESTORE: "Restored",
    HistoryEvent.SUPERSEDE: "Replaced",
    HistoryEvent.ERASE: "Erased",
    HistoryEvent.CONSENT: "Agreed",
}
# Problems go on from the name of a field; those that begin otherwise say what to do.
_SUBJECTS = {"are": "Those", **dict.fromkeys(("is", "has", "holds", "names", "needs"), "That")}
# Marks that turn the direction of text, and whatever else nobody sees.
_UNSEEN = re.compile(
    r"[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
)


def reach(memory: Memory) -> Visibility:
    """How far it goes: what is for a room, and was said in none, goes no further than its owner."""
    no_room = memory.visibility is Visibility.ROOM and memory.learned_kind is not ChatKind.GROUP
    return Visibility.PRIVATE_ONLY if no_room else memory.visibility


def category(name: str) -> str:
    return name.replace("_", " ").capitalize()


def counted(counts: Mapping[str, int]) -> str:
    """`3 active, 1 forgotten`."""
    return ", ".join(f"{count:,} {what}" for what, count in counts.items()) or "none"


def problem(error: Exception) -> str:
    """As a sentence, without the name of the field, which nobody who fills in a form has seen."""
    says = str(getattr(error, "problem", error))
    subject = _SUBJECTS.get(says.partition(" ")[0]) if hasattr(error, "problem") else None
    whole = f"{subject} {says}" if subject else says
    return f"{whole[:1].upper()}{whole[1:]}"


def excerpt(text: str, most_chars: int = 300) -> str:
    """The beginning, for lists: fifty of the longest memories would be a page of a megabyte."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 1].rstrip()}…"


def flat(text: str, most_chars: int = 80) -> str:
    """One short line without marks, for where nothing else can stand: titles, names of controls."""
    line = " ".join(_UNSEEN.sub(" ", text).split())
    return line if len(line) <= most_chars else f"{line[: most_chars - 1].rstrip()}…"
