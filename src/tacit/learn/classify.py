"""What a statement is and how far it may travel: kind, category, sensitivity, importance."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from tacit import limits
from tacit.learn.facts import Hold, Statement
from tacit.learn.reading.forms import Lexicon
from tacit.learn.reading.tongue import Tongue
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Sensitivity

# What is said about somebody else, as long as it is no plain preference, role, relation or date,
# is at least personal: the person did not choose to say it.
_PLAIN_OF_OTHERS = frozenset({Kind.PREFERENCE, Kind.RELATIONSHIP})


def classify(statement: Statement, tongue: Tongue, said_at: datetime | None = None) -> Statement:
    """The statement with everything filled that storing it needs. What was given is kept, but
    for the sensitivity, which is never below what the lexicon says. With `said_at`, a dated thing
    that passes fades from its date where that is still to come."""
    kind = statement.kind or _kind(statement, tongue)
    topics = _topics(statement, tongue)
    return replace(
        statement,
        kind=kind,
        category=statement.category or _category(statement, kind),
        sensitivity=_sensitivity(statement, kind, topics, tongue),
        portable=_portable(statement, kind),
        importance=statement.importance or _importance(statement, kind, topics, tongue),
        expires_at=statement.expires_at or _expiry(statement, kind, said_at),
    )


def _kind(statement: Statement, tongue: Tongue) -> Kind:
    for kind in (Kind.TASK, Kind.EVENT, Kind.RELATIONSHIP, Kind.PREFERENCE, Kind.IDENTITY):
        if tongue.has(f"kind_{kind}", statement.content):
            return kind
    return Kind.KNOWLEDGE


def _category(statement: Statement, kind: Kind) -> str:
    if statement.hearsay and kind in (Kind.IDENTITY, Kind.KNOWLEDGE):
        return "person"
    return CATEGORY_OF_KIND[kind]


def _sensitivity(
    statement: Statement, kind: Kind, topics: list[Lexicon], tongue: Tongue
) -> Sensitivity:
    floors = [entry.sensitivity for entry in topics]
    if statement.sensitivity:
        floors.append(statement.sensitivity)
    if statement.withheld_from or statement.hold in (Hold.PRIVATE, Hold.ROOM):
        floors.append(Sensitivity.PERSONAL)  # somebody is not to know it
    if statement.hearsay and not _plain(statement, kind, tongue):
        floors.append(Sensitivity.PERSONAL)
    return max(floors, key=lambda one: one.rank, default=Sensitivity.PUBLIC)


def _topics(statement: Statement, tongue: Tongue) -> list[Lexicon]:
    """What a statement touches. That somebody works in a clinic says nothing of their health."""
    slot = statement.slot or ""
    at_work = slot.split(":")[0] in tongue.words["work_slots"]
    said = f"{statement.content} {slot}"
    return [
        entry
        for entry in tongue.lexicon
        if not (at_work and entry.topic in tongue.words["work_topics"]) and entry.match.search(said)
    ]


def _plain(statement: Statement, kind: Kind, tongue: Tongue) -> bool:
    """A preference, role, relation or date, stated without judgement."""
    slot = (statement.slot or "").split(":")[0]
    return kind in _PLAIN_OF_OTHERS or slot in tongue.words["plain_slots"]


def _portable(statement: Statement, kind: Kind) -> bool:
    return kind.lasting and statement.portable is not False


def _importance(statement: Statement, kind: Kind, topics: list[Lexicon], tongue: Tongue) -> int:
    slot = (statement.slot or "").split(":")[0]
    found = tongue.importance.get(slot) or tongue.importance.get(str(kind), 3)
    for entry in topics:
        found = max(found, tongue.importance.get(entry.topic, found))
    raised = found + (1 if statement.explicit else 0) - (1 if statement.hearsay else 0)
    return max(limits.IMPORTANCE_MIN, min(limits.IMPORTANCE_MAX, raised))


def _expiry(statement: Statement, kind: Kind, said_at: datetime | None) -> datetime | None:
    days = limits.KIND_TTL_DAYS.get(str(kind))
    if days is None or said_at is None or statement.observed_at is None:
        return None
    try:
        return max(said_at, statement.observed_at) + timedelta(days=days)
    except OverflowError:
        return None
