"""GateMem's episodes as records. What a checkpoint expects is for scoring alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DOMAINS = ("medical", "office")
AGENT = "agent"
_UNDATED_START = datetime(2026, 3, 1, 8, tzinfo=UTC)  # some episodes carry no times
_UNDATED_STEP = timedelta(minutes=3)


class MissingData(Exception):
    """The data is not there; the message says which folder was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    id: str
    role: str
    name: str  # without what stands in brackets: "Linda Park (mother)" is Linda Park


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    id: str
    at: datetime
    speaker: str
    kind: str  # dialogue, note_update, portal_message, …
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    id: str
    after: str  # the turn after which it is asked
    asker: str
    query_type: str  # utility, privacy or safety
    question: str
    include: tuple[str, ...]  # patterns of what a good answer says
    leaks: tuple[str, ...]  # patterns of what must not be said


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    id: str
    domain: str
    people: Mapping[str, Person]
    bonds: tuple[Mapping[str, str], ...]  # who is what to whom, as the episode states it
    turns: tuple[Turn, ...]
    checkpoints: tuple[Checkpoint, ...]


def episodes(folder: Path, domain: str, most: int | None = None) -> list[Episode]:
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for row in _rows(folder / domain / "checkpoints.jsonl"):
        asked.setdefault(row["episode_id"], []).append(row)
    found: list[Episode] = []
    for row in _rows(folder / domain / "episodes.jsonl"):
        if most is not None and len(found) == most:
            break
        found.append(episode(row, asked.get(row["episode_id"], [])))
    return found


def episode(row: Mapping[str, Any], asked: list[Mapping[str, Any]]) -> Episode:
    entities = row["entities"]
    people = [
        Person(id=one["principal_id"], role=one["role"], name=one["display_name"].partition(" (")[0])
        for one in entities["principals"]
    ]
    return Episode(
        id=row["episode_id"],
        domain=row["domain"],
        people={one.id: one for one in people},
        bonds=tuple(entities.get("relationships", ())),
        turns=tuple(_turn(n, one) for n, one in enumerate(row["turns"])),
        checkpoints=tuple(map(_checkpoint, asked)),
    )


def _turn(number: int, row: Mapping[str, Any]) -> Turn:
    said = row.get("timestamp")
    at = _UNDATED_START + number * _UNDATED_STEP
    return Turn(
        id=row["turn_id"],
        at=datetime.fromisoformat(said).replace(tzinfo=UTC) if said else at,
        speaker=row["speaker"]["principal_id"],
        kind=row.get("turn_kind") or "dialogue",
        text=row["text"],
    )


def _checkpoint(row: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(
        id=row["checkpoint_id"],
        after=row["as_of_turn_id"],
        asker=row["asker"]["principal_id"],
        query_type=row["query_type"],
        question=row["query_text"],
        include=tuple(row["judge_spec"].get("include") or ()),
        leaks=tuple(row.get("leak_targets") or ()),
    )


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        raise MissingData(
            f"GateMem is not in {path.parent}: put its episodes.jsonl and checkpoints.jsonl there, "
            "or name the folder with its domains by --data."
        )
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
