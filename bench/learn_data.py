"""The labelled set in `learn_data/`: messages, corrections and pairs that must coexist.

Every line is checked as it is read; a bad one raises `BadLine` with its place. The labels were
decided before and apart from the rules: `learn_data/README.md` says how.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from tacit.records.memory import ChatKind, Kind, Sensitivity

FOLDER = Path(__file__).parent / "learn_data"
# A Wednesday: relative dates in the labels ("tomorrow", "on Friday") count from here.
SAID_AT = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)
SPEAKER = "speaker"  # in `about`: whoever wrote the message
CONTENT_MAX_CHARS = 280
LANGUAGES = frozenset({"en", "de"})
HOLDS = frozenset({"private", "room", "share"})
_TO_KEEP = """birthday context correction date event explicit free health hearsay identity
knowledge language money move negation politics preference relationship religion secret_hold share
task work"""
_NOT_TO_KEEP = """code command context fiction generality hypothetical injection joke negation paste
question quote reported roleplay sarcasm secret smalltalk wish"""
TAGS_TO_KEEP = frozenset(_TO_KEEP.split())
TAGS_NOT_TO_KEEP = frozenset(_NOT_TO_KEEP.split())


class BadLine(ValueError):
    """A line that cannot be used as a label; the message says which, and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    content: str  # third person, self-contained, in the language of the message
    kinds: frozenset[Kind]  # each of them would be right
    about: tuple[str, ...]  # SPEAKER, names and relations as they were said; () for no person
    sensitivity: Sensitivity
    portable: bool
    hearsay: bool
    withheld_from: tuple[str, ...]
    hold: str | None  # one of HOLDS
    slot_hint: str | None

    @property
    def about_speaker(self) -> bool:
        return SPEAKER in self.about


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: str
    text: str
    speaker: str
    chat: ChatKind
    lang: str
    keep: bool
    tags: tuple[str, ...]
    facts: tuple[Fact, ...]  # () where nothing is to be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Two messages of one speaker: the second replaces what the first said."""

    id: str
    before: str
    after: str
    speaker: str
    before_fact: str
    after_fact: str
    slot_hint: str
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coexisting:
    """Two messages of one speaker that look alike, and whose facts both stay."""

    id: str
    first: str
    second: str
    speaker: str
    lang: str
    why: str


Word = TypeVar("Word", bound=StrEnum)


class _Line:
    """One JSON object, and the place that it is blamed by."""

    def __init__(self, raw: object, place: str, required: str, optional: str = "") -> None:
        self.place = place
        if not isinstance(raw, dict):
            raise self.bad("not a JSON object")
        self.raw: dict[str, Any] = raw
        missing = set(required.split()) - raw.keys()
        unknown = raw.keys() - {*required.split(), *optional.split()}
        if missing or unknown:
            raise self.bad(f"missing fields {sorted(missing)}, unknown fields {sorted(unknown)}")

    def bad(self, problem: str) -> BadLine:
        return BadLine(f"{self.place}: {problem}")

    def text(self, field: str) -> str:
        value = self.raw[field]
        if not isinstance(value, str) or not value or value != value.strip():
            raise self.bad(f"{field} must be text without spaces around it, not {value!r}")
        return value

    def flag(self, field: str) -> bool:
        value = self.raw[field]
        if not isinstance(value, bool):
            raise self.bad(f"{field} must be true or false, not {value!r}")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        value = self.raw[field]
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise self.bad(f"{field} must be a list of texts, not {value!r}")
        if len(set(value)) < len(value):
            raise self.bad(f"{field} says something twice: {value!r}")
        return tuple(value)

    def word(self, field: str, words: type[Word]) -> Word:
        try:
            return words(self.text(field))
        except ValueError:
            known = ", ".join(words)
            raise self.bad(f"{field} must be one of {known}, not {self.raw[field]!r}") from None

    def one_of(self, field: str, known: frozenset[str]) -> str:
        value = self.text(field)
        if value not in known:
            raise self.bad(f"{field} must be one of {sorted(known)}, not {value!r}")
        return value


def messages(folder: Path = FOLDER) -> tuple[Message, ...]:
    """Every message, in the order of the file."""
    found = tuple(message(raw, at) for at, raw in _objects(folder / "messages.jsonl"))
    _distinct("messages.jsonl", [one.id for one in found])
    _distinct("messages.jsonl", [one.text for one in found])
    return found


def corrections(folder: Path = FOLDER) -> tuple[Correction, ...]:
    found = tuple(correction(raw, at) for at, raw in _objects(folder / "corrections.jsonl"))
    _distinct("corrections.jsonl", [one.id for one in found])
    _distinct("corrections.jsonl", [f"{one.before} / {one.after}" for one in found])
    return found


def coexisting(folder: Path = FOLDER) -> tuple[Coexisting, ...]:
    found = tuple(coexisting_pair(raw, at) for at, raw in _objects(folder / "coexist.jsonl"))
    _distinct("coexist.jsonl", [one.id for one in found])
    _distinct("coexist.jsonl", [" / ".join(sorted((one.first, one.second))) for one in found])
    return found


def message(raw: object, place: str) -> Message:
    line = _Line(raw, place, "id text speaker chat lang keep tags", "facts")
    keep, tags = line.flag("keep"), line.texts("tags")
    strange = set(tags) - (TAGS_TO_KEEP if keep else TAGS_NOT_TO_KEEP)
    if strange or not tags:
        raise line.bad(f"tags that say nothing here: {sorted(strange)} of {list(tags)}")
    listed = line.raw.get("facts", [])
    if not isinstance(listed, list) or bool(listed) != keep:
        raise line.bad("a message to keep has a list of facts, and no other message has one")
    return Message(
        id=line.text("id"),
        text=line.text("text"),
        speaker=line.text("speaker"),
        chat=line.word("chat", ChatKind),
        lang=line.one_of("lang", LANGUAGES),
        keep=keep,
        tags=tags,
        facts=tuple(fact(one, f"{place}, fact {n}") for n, one in enumerate(listed, 1)),
    )


def fact(raw: object, place: str) -> Fact:
    required = "content kind about sensitivity portable hearsay withheld_from hold"
    line = _Line(raw, place, required, "slot_hint")
    found = Fact(
        content=line.text("content"),
        kinds=_kinds(line),
        about=line.texts("about"),
        sensitivity=line.word("sensitivity", Sensitivity),
        portable=line.flag("portable"),
        hearsay=line.flag("hearsay"),
        withheld_from=line.texts("withheld_from"),
        hold=None if line.raw["hold"] is None else line.one_of("hold", HOLDS),
        slot_hint=line.text("slot_hint") if "slot_hint" in line.raw else None,
    )
    if problem := _contradiction(found):
        raise line.bad(problem)
    return found


def _kinds(line: _Line) -> frozenset[Kind]:
    value = line.raw["kind"]
    named = [value] if isinstance(value, str) else list(line.texts("kind"))
    strange = [name for name in named if name not in {*Kind}]
    if strange or not named:
        raise line.bad(f"kind must be one or more of {', '.join(Kind)}, not {value!r}")
    return frozenset(Kind(name) for name in named)


def _contradiction(one: Fact) -> str | None:
    """What two labels of one fact say against each other; None where they agree."""
    guarded = bool(one.withheld_from) or one.hold in ("private", "room")
    if len(one.content) > CONTENT_MAX_CHARS:
        return f"content is longer than {CONTENT_MAX_CHARS} characters"
    if one.hearsay and (one.about_speaker or not one.about):
        return "hearsay is a claim about others, and about them alone"
    if guarded and one.sensitivity is Sensitivity.PUBLIC:
        return "what is held back or kept from somebody is at least personal"
    if one.portable and one.hold in ("private", "room"):
        return "what is held in a room or in private is not portable"
    if one.portable and not any(kind.lasting for kind in one.kinds):
        return "only a lasting kind is portable"
    return None


def correction(raw: object, place: str) -> Correction:
    fields = "id before after speaker before_fact after_fact slot_hint"
    line = _Line(raw, place, f"{fields} lang")
    said = {field: line.text(field) for field in fields.split()}
    if said["before"] == said["after"] or said["before_fact"] == said["after_fact"]:
        raise line.bad("a correction changes something")
    return Correction(**said, lang=line.one_of("lang", LANGUAGES))


def coexisting_pair(raw: object, place: str) -> Coexisting:
    fields = "id first second speaker why"
    line = _Line(raw, place, f"{fields} lang")
    said = {field: line.text(field) for field in fields.split()}
    if said["first"].casefold() == said["second"].casefold():
        raise line.bad("the two messages are one")
    return Coexisting(**said, lang=line.one_of("lang", LANGUAGES))


def _objects(path: Path) -> Iterator[tuple[str, object]]:
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        place = f"{path.name}:{number}"
        try:
            yield place, json.loads(text)
        except json.JSONDecodeError as error:
            raise BadLine(f"{place}: not JSON ({error.msg})") from None


def _distinct(name: str, values: list[str]) -> None:
    seen: set[str] = set()
    for value in values:
        plain = " ".join(value.casefold().split())
        if plain in seen:
            raise BadLine(f"{name}: twice in the file: {value!r}")
        seen.add(plain)
