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

# Dates and ages.

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3_600, 86_400, 365 * 86_400
_AGE_UNITS = ((_HOUR, _MINUTE, "minute"), (_DAY, _HOUR, "hour"), (30 * _DAY, _DAY, "day"), (_YEAR, 30 * _DAY, "month"))


def format_age(moment: datetime, now: datetime | None = None) -> str:
    """`3 days ago`, or `in 3 days`."""
    seconds = ((now or system_clock()) - moment).total_seconds()
    ahead, apart = seconds < 0, abs(seconds)
    if apart < _MINUTE:
        return "in a moment" if ahead else "just now"
    longer = (unit for unit in _AGE_UNITS if apart < unit[0])
    _, unit, name = next(longer, (0, _YEAR, "year"))
    count = int(apart // unit)
    duration = f"{count} {name}" if count == 1 else f"{count} {name}s"
    return f"in {duration}" if ahead else f"{duration} ago"


def format_date_time(moment: datetime) -> str:
    """`14 March 2026, 09:05 UTC`."""
    at = moment.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def format_iso(moment: datetime) -> str:
    """Format a moment for the `datetime` attribute."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


# Labels of enumerations.

VISIBILITY = {Visibility.PRIVATE_ONLY: "Private", Visibility.ROOM: "This group", Visibility.PUBLIC_OK: "Shareable"}
SENSITIVITY = {Sensitivity.PUBLIC: "Public", Sensitivity.PERSONAL: "Personal", Sensitivity.SENSITIVE: "Sensitive"}
STATE = {
    State.ACTIVE: "Active",
    State.PENDING: "Needs review",
    State.SUPERSEDED: "Replaced",
    State.FORGOTTEN: "Forgotten",
    State.EXPIRED: "Expired",
    State.QUARANTINED: "Quarantined",
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
    HistoryEvent.CONSENT: "Approved",
}
# Error messages continue from the name of a field; others are instructions of their own.
_SENTENCE_SUBJECTS = {"are": "Those", **dict.fromkeys(("is", "has", "holds", "names", "needs"), "That")}
# Control characters, among them those that change the direction of text.
_INVISIBLE = re.compile(r"[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")


def effective_visibility(memory: Memory) -> Visibility:
    """Return the visibility as the rules apply it: without a group, ROOM means PRIVATE_ONLY."""
    no_group = memory.visibility is Visibility.ROOM and memory.learned_kind is not ChatKind.GROUP
    return Visibility.PRIVATE_ONLY if no_group else memory.visibility


def category_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def format_counts(counts: Mapping[str, int]) -> str:
    """`3 active, 1 forgotten`."""
    return ", ".join(f"{count:,} {what}" for what, count in counts.items()) or "none"


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence without the internal name of its field."""
    text = str(getattr(error, "problem", error))
    subject = _SENTENCE_SUBJECTS.get(text.partition(" ")[0]) if hasattr(error, "problem") else None
    sentence = f"{subject} {text}" if subject else text
    return f"{sentence[:1].upper()}{sentence[1:]}"


def excerpt(text: str, most_chars: int = 300) -> str:
    """Shorten for lists: fifty of the longest memories would make a page of a megabyte."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 1].rstrip()}…"


def single_line(text: str, most_chars: int = 80) -> str:
    """Make one short line without control characters, for titles and labels of controls."""
    line = " ".join(_INVISIBLE.sub(" ", text).split())
    return line if len(line) <= most_chars else f"{line[: most_chars - 1].rstrip()}…"


# Names of people. A person sees the names they know; an operator sees external keys, and on the
# page of one memory also the names of people who have no key.

YOU = "you"
_NAME_PREFERENCE = (
    NameKind.NAME,
    NameKind.ALIAS,
    NameKind.RELATION,
    NameKind.USERNAME,
    NameKind.WITHHELD,  # known only from "don't tell <name>"
)
_EXTERNAL_PREFIX, _PERSON_PREFIX, _OPERATOR_PREFIX = "ext:", "person:", "operator:"
_LOOKUPS_MAX_COUNT = 10
_UNKNOWN_PERSON, _THE_OPERATOR = "unknown person", "the operator"


@dataclass(frozen=True, slots=True)
class PersonLabels:
    mine: frozenset[str] = frozenset()  # the visitor's keys
    known: Mapping[str, str] = field(default_factory=dict)  # identity → name

    def of(self, identity: str) -> str:
        """Return the label of an identity of a memory, or of an actor of its history."""
        if self.is_mine(identity):
            return YOU
        if identity in self.known:
            return self.known[identity]
        if identity.startswith(_PERSON_PREFIX):
            return _UNKNOWN_PERSON
        if identity.startswith(_OPERATOR_PREFIX):
            return f"{_THE_OPERATOR} {identity.removeprefix(_OPERATOR_PREFIX)}"
        return external_key(identity)

    def of_all(self, identities: Iterable[str]) -> list[str]:
        """Return distinct labels, the visitor first."""
        found = dict.fromkeys(sorted((self.of(one) for one in identities), key=str.casefold))
        return sorted(found, key=lambda name: name != YOU)

    def is_mine(self, identity: str | None) -> bool:
        return identity is not None and external_key(identity) in self.mine


def labels_for(visitor: Visitor, mentioned: Iterable[str] = ()) -> PersonLabels:
    """Return the labels a visitor may see.

    `mentioned`: people whom an operator looks up as well; this is recorded in their access log.
    """
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
            yield id, _UNKNOWN_PERSON if best == external_key(one.id) else best


def person_label(person: Person) -> str:
    """Return a person's best name, or the external key if there is none or it is reserved."""
    by_kind = {name.kind: name.text for name in reversed(person.names)}
    best = next((single_line(by_kind[kind]) for kind in _NAME_PREFERENCE if kind in by_kind), "")
    reserved = best.casefold() in (YOU, _UNKNOWN_PERSON) or best.casefold().startswith(_THE_OPERATOR)
    return external_key(person.id) if reserved or not best else best


def external_key(identity: str) -> str:
    """Return the key as channels write it, such as telegram:1001."""
    return identity.removeprefix(_EXTERNAL_PREFIX)


# Descriptions of a memory and its history.

_VISIBILITY_PREFIX = "visibility "
_TRUST_SENTENCES = {
    Trust.STATED: "Said by its subject.",
    Trust.HEARSAY: "Hearsay: said by one person about another.",
    Trust.INFERRED: "Inferred from other memories.",
    Trust.IMPORTED: "Imported from a file.",
    Trust.UNTRUSTED: "From an untrusted source.",
}
_FIELD_CHANGES = {"pinned": "Pinned or unpinned", "withheld_from": "Withheld from a person", "tags": "Tags changed"}


def describe_certainty(memory: Memory) -> str:
    sentence = _TRUST_SENTENCES[memory.trust]
    if memory.confidence is None:
        return sentence
    return f"{sentence} Confidence: {round(memory.confidence * 100)} %."


def group_learned_in(memory: Memory) -> str | None:
    """Return the id of the group, or None for a private or unknown chat."""
    return memory.learned_in if memory.learned_kind is ChatKind.GROUP else None


def describe_history_entry(entry: HistoryEntry) -> str:
    """Describe what changed; the page shows actor, time and text beside it."""
    fields = entry.detail.get("fields")
    if fields is None:
        return "Edited" if entry.event is HistoryEvent.UPDATE else EVENT[entry.event]
    return describe_changed_fields(fields)


def describe_changed_fields(fields: str) -> str:
    """Describe a change of fields other than the content."""
    if fields.startswith(_VISIBILITY_PREFIX):
        to = fields.removeprefix(_VISIBILITY_PREFIX)
        known = {one.value: label for one, label in VISIBILITY.items()}
        return f"Visibility: {known.get(to, to).lower()}"
    return _FIELD_CHANGES.get(fields) or f"Changed: {fields.replace('_', ' ')}"
