"""LoCoMo as it is needed here: turns with their dates, and questions with the turns that answer.

Its evidence is a list of turn ids (`D3:11`: the eleventh turn of the third session), of which a few
are malformed: two in one string, a colon too many, a turn that is not there. What can be read is
used; what cannot is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5  # the question has no answer: reported apart
_WHOLE = re.compile(r"D(\d+):(\d+)")
_READABLE = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_WHEN = "%I:%M %p on %d %B, %Y"


class MissingData(Exception):
    """The data is not where it was looked for; the message says how to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    id: str  # D3:11
    session: str
    at: datetime  # of the session
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    category: int
    gold: frozenset[str]  # ids of turns; never empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    repaired: int  # evidence strings that had to be read with some care
    unknown: int  # those that name no turn
    left_out: int  # questions without any evidence left


def load(data: Path) -> list[Conversation]:
    """Every conversation in the files of `locomo/`."""
    folder = data / "locomo"
    files = sorted(folder.glob("*.json"))
    if not files:
        raise MissingData(
            f"No LoCoMo data in {folder}: put the file locomo10.json of the repository "
            "snap-research/locomo (CC BY-NC 4.0), or some of its conversations as a JSON list, "
            f"into {folder}, or name another folder with --data."
        )
    return [conversation(one) for file in files for one in json.loads(file.read_text("utf-8"))]


def conversation(raw: dict[str, Any]) -> Conversation:
    turns = tuple(_turns(raw["conversation"]))
    known = {turn.id for turn in turns}
    questions: list[Question] = []
    repaired = unknown = left_out = 0
    for one in raw["qa"]:
        gold: set[str] = set()
        for text in one.get("evidence", ()):
            found = evidence(text)
            gold |= found & known
            unknown += not found & known
            repaired += bool(found & known) and found != {text}
        if gold:
            asked = str(one["question"])
            questions.append(Question(text=asked, category=one["category"], gold=frozenset(gold)))
        else:
            left_out += 1
    return Conversation(
        name=str(raw.get("sample_id", "")),
        turns=turns,
        questions=tuple(questions),
        repaired=repaired,
        unknown=unknown,
        left_out=left_out,
    )


def evidence(text: str) -> frozenset[str]:
    """The turn ids in one evidence string, as they should have been written."""
    return frozenset(f"D{int(a)}:{int(b)}" for a, b in _READABLE.findall(text))


def _turns(raw: dict[str, Any]) -> Iterable[Turn]:
    """In order. A session without turns has only a date, and is nothing here."""
    sessions = {int(m[1]): raw[key] for key in raw if (m := _SESSION.fullmatch(key))}
    for number, turns in sorted(sessions.items()):
        at = datetime.strptime(raw[f"session_{number}_date_time"], _WHEN).replace(tzinfo=UTC)
        for one in turns:
            match = _WHOLE.fullmatch(one["dia_id"])
            if match is None:
                raise ValueError(f"a turn's own id is malformed: {one['dia_id']!r}")
            yield Turn(
                id=f"D{int(match[1])}:{int(match[2])}",
                session=f"session-{number}",
                at=at,
                speaker=one["speaker"],
                text=_said(one),
            )


def _said(turn: dict[str, Any]) -> str:
    """What was said. Of a photo that was shared there is only a caption; it is part of the turn."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [photo: {caption}]" if caption else str(turn["text"])
