"""The invented lives and people's sentences in `life_data/`; the README there explains the fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tacit.records.memory import Sensitivity

FOLDER = Path(__file__).parent / "life_data"
SAID, REPLIES, DEPENDENCIES = "said.jsonl", "replies.jsonl", "dependencies.jsonl"
# For each requirement the alternatives of which a text holds one: `life_score.states`.
Words = tuple[tuple[str, ...], ...]
T = TypeVar("T")


class BadData(ValueError):
    """A life or a line that cannot be read; the message says which, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    at: datetime
    text: str
    before: str | None  # the assistant's turn just before


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact, an outdated fact, or a claim that a careless reader would believe."""

    text: str
    words: Words
    over_since: int | None = None  # of an outdated fact: the message that ended it


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    answer: str
    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    name: str  # of the file
    me: str
    messages: tuple[Message, ...]
    facts: tuple[Statement, ...]
    outdated: tuple[Statement, ...]
    false: tuple[Statement, ...]
    questions: tuple[Question, ...]  # only those whose answer was said


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One sentence to an assistant, and what memory must hold after it."""

    number: int  # of the sentence that it is, or paraphrases
    original: bool
    earlier: tuple[str, ...]  # what the same person said before
    before: str | None
    text: str
    holds: tuple[Words, ...]
    gone: tuple[Words, ...]  # no active memory may state these
    sensitivity: Sensitivity | None  # what is held is at least this sensitive
    portable: bool | None
    nothing: bool  # nothing at all may be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply that says nothing worth keeping and changes nothing."""

    before: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Known facts, and a message that replaces or ends the first of them."""

    me: str
    known: tuple[str, ...]
    before: str | None
    text: str
    outdated: frozenset[int]  # of `known`: they depended on the first
    untouched: frozenset[int]
    question: str
    answer: Words
    ended: bool  # there is no new value


def lives(folder: Path = FOLDER, names: Sequence[str] = ()) -> list[Life]:
    """Read all lives, or those with these names."""
    paths = [folder / f"{name}.json" for name in names] or sorted(folder.glob("*.json"))
    if not paths:
        raise BadData(f"no lives in {folder}")
    return [_parsed(str(path), path.read_text(encoding="utf-8"), partial(life, path.stem)) for path in paths]


def said(folder: Path = FOLDER) -> list[Said]:
    return _lines(folder / SAID, sentence)


def replies(folder: Path = FOLDER) -> list[Reply]:
    return _lines(folder / REPLIES, lambda raw: Reply(before=raw["before"], text=raw["text"]))


def changes(folder: Path = FOLDER) -> list[Change]:
    return _lines(folder / DEPENDENCIES, change)


def life(name: str, raw: Mapping[str, Any]) -> Life:
    return Life(
        name=name,
        me=raw["me"],
        messages=tuple(
            Message(
                at=datetime.fromisoformat(one["at"]).replace(tzinfo=UTC), text=one["text"], before=one.get("before")
            )
            for one in raw["messages"]
        ),
        facts=tuple(Statement(text=one["fact"], words=_words(one["words"])) for one in raw["facts"]),
        outdated=tuple(
            Statement(text=one["fact"], words=_words(one["words"]), over_since=one["over_since"])
            for one in raw["outdated"]
        ),
        false=tuple(Statement(text=one["claim"], words=_words(one["words"])) for one in raw["false"]),
        questions=tuple(
            Question(text=one["question"], answer=one["answer"], words=_words(one["words"]))
            for one in raw["questions"]
            if one["said_in"]
        ),
    )


def sentence(raw: Mapping[str, Any]) -> Said:
    return Said(
        number=raw["of"],
        original=raw.get("original", False),
        earlier=tuple(raw.get("earlier", ())),
        before=raw.get("before"),
        text=raw["text"],
        holds=tuple(_words(one) for one in raw.get("holds", ())),
        gone=tuple(_words(one) for one in raw.get("gone", ())),
        sensitivity=Sensitivity(raw["sens"]) if "sens" in raw else None,
        portable=raw.get("portable"),
        nothing=raw.get("nothing", False),
    )


def change(raw: Mapping[str, Any]) -> Change:
    return Change(
        me=raw["me"],
        known=tuple(raw["known"]),
        before=raw.get("before"),
        text=raw["change"],
        outdated=frozenset(raw["outdated"]),
        untouched=frozenset(raw["untouched"]),
        question=raw["question"],
        answer=_words(raw["answer"]),
        ended=raw["ended"],
    )


def _utc(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def _words(raw: Sequence[Sequence[str]]) -> Words:
    if any(isinstance(one, str) for one in raw):
        raise ValueError(f"expected a list of alternatives for each requirement, not {raw}")
    return tuple(tuple(one) for one in raw)


def _lines(path: Path, read: Callable[[Mapping[str, Any]], T]) -> list[T]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_parsed(f"{path}:{number}", line, read) for number, line in enumerate(lines, 1) if line.strip()]


def _parsed(place: str, text: str, read: Callable[[Mapping[str, Any]], T]) -> T:
    try:
        return read(json.loads(text))
    except (KeyError, TypeError, ValueError) as error:
        raise BadData(f"{place}: {error!r}") from None
