"""What is known of a memory, in plain words."""

from __future__ import annotations

from tacit.records.memory import ChatKind, HistoryEntry, HistoryEvent, Memory, Trust, Visibility
from tacit.surfaces.console import wording
from tacit.surfaces.console.naming import Names

_VISIBILITY = "visibility "
_TRUST = {
    Trust.STATED: "It was said outright.",
    Trust.HEARSAY: "It is hearsay: somebody said it about somebody else.",
    Trust.INFERRED: "It was concluded from other things; nobody said it.",
    Trust.IMPORTED: "It was taken in from a file.",
    Trust.UNTRUSTED: "It comes from a source that is not trusted.",
}
_FIELDS = {
    "pinned": "Pinned, or no longer",
    "withheld_from": "Withheld from somebody",
    "tags": "Other tags",
}


def certainty(memory: Memory) -> str:
    said = _TRUST[memory.trust]
    if memory.confidence is None:
        return said
    return f"{said} It is {round(memory.confidence * 100)} % sure."


def place(memory: Memory) -> str | None:
    """The room, by its id; None where it was in private, or nobody knows."""
    return memory.learned_in if memory.learned_kind is ChatKind.GROUP else None


def visibility(memory: Memory, names: Names) -> dict[Visibility, str]:
    theirs = not names.is_mine(memory.owner)
    return wording.VISIBILITY_OF_THEIRS if theirs else wording.VISIBILITY


def happened(entry: HistoryEntry) -> str:
    """What was done; by whom, when and to which words stands beside it."""
    fields = entry.detail.get("fields")
    if fields is None:
        return "Reworded" if entry.event is HistoryEvent.UPDATE else wording.EVENT[entry.event]
    return changed(fields)


def changed(fields: str) -> str:
    """What is another one, where its wording is not."""
    if fields.startswith(_VISIBILITY):
        to = fields.removeprefix(_VISIBILITY)
        known = {one.value: says for one, says in wording.VISIBILITY.items()}
        return f"Who may hear it: {known.get(to, to).lower()}"
    return _FIELDS.get(fields) or f"Changed: {fields.replace('_', ' ')}"
