"""Labels for people, dates, memories and their changes, as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tacit.clock import system_clock
from tacit.console.sessions import Visitor
from tacit.records.accounts import NameKind, Person
from tacit.records.memory import (
    ChatKind,
    HistoryEntry,
    HistoryEvent,
    Kind,
    Memory,
    Sensitivity,
    State,
    Trust,
    Visibility,
)

# How long ago something was, as people say it, and exactly.

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_AGE_UNITS = (
    (_HOUR, _MINUTE, "minute"),
    (_DAY, _HOUR, "hour"),
    (30 * _DAY, _DAY, "day"),
    (365 * _DAY, 30 * _DAY, "month"),
)


def format_age(moment: datetime, now: datetime | None = None) -> str:
    """`3 days ago`, or `in 3 days`."""
    seconds = ((now or system_clock()) - moment).total_seconds()
    ahead, apart = seconds < 0, abs(seconds)
    if apart < _MINUTE:
        return "in a moment" if ahead else "just now"
    said = _format_duration(apart)
    return f"in {said}" if ahead else f"{said} ago"


def format_date_time(moment: datetime) -> str:
    """`14 March 2026, 09:05 UTC`."""
    at = moment.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def format_iso(moment: datetime) -> str:
    """For machines."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _format_duration(seconds: float) -> str:
    for below, unit, name in _AGE_UNITS:
        if seconds < below:
            return _pluralize(int(seconds // unit), name)
    return _pluralize(int(seconds // (365 * _DAY)), "year")


def _pluralize(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


# The words of the model as the console says them.

VISIBILITY = {
    Visibility.PRIVATE_ONLY: "For your ears only",
    Visibility.ROOM: "In the room where it was said",
    Visibility.PUBLIC_OK: "May be said where you are",
}
# Of memories that are somebody else's than the reader's.
VISIBILITY_OF_OTHERS = {
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
_SENTENCE_SUBJECTS = {
    "are": "Those",
    **dict.fromkeys(("is", "has", "holds", "names", "needs"), "That"),
}
# Marks that turn the direction of text, and whatever else nobody sees.
_INVISIBLE = re.compile(
    r"[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
)


def effective_visibility(memory: Memory) -> Visibility:
    """How far it goes: what is for a room, and was said in none, goes no further than its owner."""
    no_room = memory.visibility is Visibility.ROOM and memory.learned_kind is not ChatKind.GROUP
    return Visibility.PRIVATE_ONLY if no_room else memory.visibility


def category_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def format_counts(counts: Mapping[str, int]) -> str:
    """`3 active, 1 forgotten`."""
    return ", ".join(f"{count:,} {what}" for what, count in counts.items()) or "none"


def error_sentence(error: Exception) -> str:
    """As a sentence, without the name of the field, which nobody who fills in a form has seen."""
    says = str(getattr(error, "problem", error))
    subject = _SENTENCE_SUBJECTS.get(says.partition(" ")[0]) if hasattr(error, "problem") else None
    whole = f"{subject} {says}" if subject else says
    return f"{whole[:1].upper()}{whole[1:]}"


def excerpt(text: str, most_chars: int = 300) -> str:
    """The beginning, for lists: fifty of the longest memories would be a page of a megabyte."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 1].rstrip()}…"


def single_line(text: str, most_chars: int = 80) -> str:
    """One short line without marks, for where nothing else can stand: titles, names of controls."""
    line = " ".join(_INVISIBLE.sub(" ", text).split())
    return line if len(line) <= most_chars else f"{line[: most_chars - 1].rstrip()}…"


# What people are called on a page: by the names that the visitor knows them by. To an operator,
# who knows nobody, by their keys; on the page of one memory also by name, who has no key.

YOU = "you"
_NAME_PREFERENCE = (
    NameKind.NAME,
    NameKind.ALIAS,
    NameKind.RELATION,
    NameKind.USERNAME,
    NameKind.WITHHELD,  # whoever goes by this name, and nobody may be told more
)
_EXTERNAL_PREFIX, _PERSON_PREFIX, _OPERATOR_PREFIX = "ext:", "person:", "operator:"
_LOOKUPS_MAX_COUNT = 10
_SOMEBODY, _THE_OPERATOR = "somebody", "the operator"


@dataclass(frozen=True, slots=True)
class PersonLabels:
    mine: frozenset[str] = frozenset()  # the visitor's keys
    known: Mapping[str, str] = field(default_factory=dict)  # identity → name

    def of(self, identity: str) -> str:
        """Of an identity as memories hold it, or of an actor of their history."""
        if self.is_mine(identity):
            return YOU
        if identity in self.known:
            return self.known[identity]
        if identity.startswith(_PERSON_PREFIX):
            return _SOMEBODY
        if identity.startswith(_OPERATOR_PREFIX):
            return f"{_THE_OPERATOR} {identity.removeprefix(_OPERATOR_PREFIX)}"
        return external_key(identity)

    def of_all(self, identities: Iterable[str]) -> list[str]:
        """Each name once, the visitor first."""
        found = dict.fromkeys(sorted((self.of(one) for one in identities), key=str.casefold))
        return sorted(found, key=lambda name: name != YOU)

    def is_mine(self, identity: str | None) -> bool:
        return identity is not None and external_key(identity) in self.mine


def labels_for(visitor: Visitor, mentioned: Iterable[str] = ()) -> PersonLabels:
    """`mentioned`: those whom an operator looks up, too, and who are told of that look."""
    if visitor.is_operator:
        unknown = sorted(one for one in mentioned if one.startswith(_PERSON_PREFIX))
        return PersonLabels(known=dict(_look_up_names(visitor, unknown[:_LOOKUPS_MAX_COUNT])))
    view = visitor.view
    known = {id: person_label(one) for one in view.people.list() for id in one.identities}
    return PersonLabels(frozenset(view.account.identities()), known)


def _look_up_names(visitor: Visitor, unknown: Iterable[str]) -> Iterator[tuple[str, str]]:
    for id in unknown:
        for one in visitor.operator.people.list(id):
            best = person_label(one)
            yield id, _SOMEBODY if best == external_key(one.id) else best


def person_label(person: Person) -> str:
    """The best of their names; where they have none, their key. Nobody goes by a word that means
    somebody else here."""
    by_kind = {name.kind: name.text for name in reversed(person.names)}
    best = next((single_line(by_kind[kind]) for kind in _NAME_PREFERENCE if kind in by_kind), "")
    taken = best.casefold() in (YOU, _SOMEBODY) or best.casefold().startswith(_THE_OPERATOR)
    return external_key(person.id) if taken or not best else best


def external_key(identity: str) -> str:
    """As channels write it."""
    return identity.removeprefix(_EXTERNAL_PREFIX)


# What is known of a memory, in plain words.

_VISIBILITY_PREFIX = "visibility "
_TRUST_SENTENCES = {
    Trust.STATED: "It was said outright.",
    Trust.HEARSAY: "It is hearsay: somebody said it about somebody else.",
    Trust.INFERRED: "It was concluded from other things; nobody said it.",
    Trust.IMPORTED: "It was taken in from a file.",
    Trust.UNTRUSTED: "It comes from a source that is not trusted.",
}
_FIELD_CHANGES = {
    "pinned": "Pinned, or no longer",
    "withheld_from": "Withheld from somebody",
    "tags": "Other tags",
}


def describe_certainty(memory: Memory) -> str:
    said = _TRUST_SENTENCES[memory.trust]
    if memory.confidence is None:
        return said
    return f"{said} It is {round(memory.confidence * 100)} % sure."


def group_learned_in(memory: Memory) -> str | None:
    """The room, by its id; None where it was in private, or nobody knows."""
    return memory.learned_in if memory.learned_kind is ChatKind.GROUP else None


def visibility_labels(memory: Memory, names: PersonLabels) -> dict[Visibility, str]:
    theirs = not names.is_mine(memory.owner)
    return VISIBILITY_OF_OTHERS if theirs else VISIBILITY


def describe_history_entry(entry: HistoryEntry) -> str:
    """What was done; by whom, when and to which words stands beside it."""
    fields = entry.detail.get("fields")
    if fields is None:
        return "Reworded" if entry.event is HistoryEvent.UPDATE else EVENT[entry.event]
    return describe_changed_fields(fields)


def describe_changed_fields(fields: str) -> str:
    """What is another one, where its wording is not."""
    if fields.startswith(_VISIBILITY_PREFIX):
        to = fields.removeprefix(_VISIBILITY_PREFIX)
        known = {one.value: says for one, says in VISIBILITY.items()}
        return f"Who may hear it: {known.get(to, to).lower()}"
    return _FIELD_CHANGES.get(fields) or f"Changed: {fields.replace('_', ' ')}"
