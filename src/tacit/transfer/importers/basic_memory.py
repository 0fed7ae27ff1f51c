"""Read a folder of basic-memory: observations, relations and prose in Markdown files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem
from tacit.transfer.importers.parsing import (
    NOT_TEXT,
    PATH_FIELD,
    FoundItem,
    ReadResult,
    SkippedPart,
    check_size,
    guess_category,
    is_valid_text,
    open_text,
    parse_import_tags,
    parse_moment,
    split_text,
)

# The frontmatter of a Markdown file: keys and values as text, within limits. Anchors, aliases and
# tags are refused, so that a few lines cannot expand to many.

_HEAD_FENCE = "---"
_HEAD_CLOSINGS = ("---", "...")
_PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar is text
_OPENS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSES = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def split_frontmatter(text: str) -> tuple[str, int]:
    """Return the frontmatter and the number of the first line below it; empty without one."""
    lines = text.split("\n")
    if lines[0].rstrip() != _HEAD_FENCE:
        return "", 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in _HEAD_CLOSINGS:
            return "\n".join(lines[1:number]), number + 1
    return "", 0  # unclosed: a thematic break


def parse_fields(head: str) -> dict[str, Any]:
    """Parse fields. Raises `ValueError` with a reason that does not quote the input."""
    if len(head) > limits.IMPORTER_FRONTMATTER_MAX_CHARS:
        raise ValueError("the frontmatter is too long")
    try:
        depth = 0
        for event in yaml.parse(head, Loader=_PARSER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise ValueError("the frontmatter has anchors or aliases (& or *)")
            if getattr(event, "tag", None):
                raise ValueError("the frontmatter has a tag (!)")
            depth += isinstance(event, _OPENS) - isinstance(event, _CLOSES)
            if depth > limits.IMPORTER_FRONTMATTER_DEPTH_MAX_COUNT:
                raise ValueError("the frontmatter is nested too deep")
        found = yaml.load(head, Loader=_PARSER)
    except yaml.YAMLError:
        raise ValueError("the frontmatter is not YAML") from None
    if found is None or found == "":
        return {}
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise ValueError("the frontmatter is not a list of keys and values")
    return found


# The body of a basic-memory note: `- [category] text #tag (context)`, `- type [[Target]]`, and
# everything else by paragraph.

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,5}[.)])[ \t]+(?=\S)")
_CODE_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-_*]\s*){3,}\Z")
_CATEGORY = re.compile(r"\[([^\[\]()]{1,80})\]\s+(?=\S)")
_CLOCK = re.compile(r"\d{1,3}:\d{2}")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#]+)")
_TARGET = re.compile(r"\[\[([^\[\]]{1,300})\]\]\s*")
_OWN_HEADINGS = frozenset({"observations", "relations"})
_CONTEXT_MAX_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    line: int
    category: str | None
    text: str
    tags: tuple[str, ...]
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    line: int
    kind: str
    target: str
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    line: int
    heading: str | None
    text: str


NotePart = Observation | Relation | Prose


def parse_parts(lines: Sequence[str], first: int, title: str) -> Iterator[NotePart | SkippedPart]:
    """Yield the parts from that line on, with the line numbers of the file."""
    body = _BodyParser(title=title)
    for number, line in enumerate(lines[first:], start=first + 1):
        if is_valid_text(line):
            yield from body.read_line(number, line)
        else:
            yield from body.end_body()
            yield SkippedPart(where=f"line {number}", why=NOT_TEXT)
    yield from body.end_body()


@dataclass(slots=True)
class _BodyParser:
    title: str
    heading: str | None = None
    in_fence: bool = False
    prose: list[str] = field(default_factory=list)
    prose_line: int = 0
    item: list[str] = field(default_factory=list)  # of a list, with its continuation lines
    item_line: int = 0

    def read_line(self, number: int, text: str) -> Iterator[NotePart]:
        if self.in_fence or _CODE_FENCE.match(text):
            yield from self._item_ended()
            self.in_fence ^= _CODE_FENCE.match(text) is not None
            self._add(number, text)
        elif not text.strip() or _RULE.match(text):
            yield from self.end_body()
        elif heading := _HEADING.match(text):
            yield from self.end_body()
            said = heading[1].strip("# \t")
            own = said.casefold() in _OWN_HEADINGS or said.casefold() == self.title.casefold()
            self.heading = None if own else said[:80] or None
        elif _ITEM.match(text):
            yield from self._item_ended()
            self.item, self.item_line = [text], number
        elif self.item and text[0] in " \t":
            self.item.append(text)
        else:
            yield from self._item_ended()
            self._add(number, text)

    def end_body(self) -> Iterator[NotePart]:
        yield from self._item_ended()
        yield from self._prose_ended()

    def _add(self, number: int, text: str) -> None:
        if not self.prose:
            self.prose_line = number
        self.prose.append(text.rstrip())

    def _prose_ended(self) -> Iterator[NotePart]:
        text = "\n".join(self.prose).strip()
        self.prose = []
        if text:
            yield Prose(line=self.prose_line, heading=self.heading, text=text)

    def _item_ended(self) -> Iterator[NotePart]:
        lines, self.item = self.item, []
        if not lines:
            return
        marker = _ITEM.match(lines[0])
        assert marker is not None
        said = " ".join([lines[0][marker.end() :].strip(), *(one.strip() for one in lines[1:])])
        found = _parse_relation(self.item_line, said) or _parse_observation(self.item_line, said)
        if found is not None:
            yield from self._prose_ended()
            yield found
        else:
            for number, line in enumerate(lines, start=self.item_line):
                self._add(number, line)


def _parse_relation(line: int, said: str) -> Relation | None:
    """Parse `type [[Target]] (context)`; a type of several words is quoted.

    Any other line with a link is a sentence.
    """
    kind, opening, _ = said.partition("[[")
    kind = kind.strip()
    linked = _TARGET.match(said, said.find("[[")) if opening else None
    if not kind or linked is None:
        return None
    if kind[0] in "\"'" and kind.endswith(kind[0]) and len(kind) > 2:
        kind = kind[1:-1].strip()
    elif len(kind.split()) > 1:
        return None
    rest, context = _split_context(said[linked.end() :])
    if rest or kind.startswith("["):
        return None
    return Relation(line=line, kind=kind, target=linked[1].strip(), context=context)


def _parse_observation(line: int, said: str) -> Observation | None:
    found = _CATEGORY.match(said)
    category = found[1].strip() if found is not None and _is_category(found[1].strip()) else None
    tags = tuple(_TAG.findall(said))
    if category is None and not tags:
        return None
    text, context = _split_context(said[found.end() :] if found is not None and category else said)
    text = _strip_last_tags(text)
    if not text:
        return None
    return Observation(line=line, category=category, text=text, tags=tags, context=context)


def _strip_last_tags(said: str) -> str:
    words = said.split(" ")
    while words and words[-1].startswith("#"):
        words.pop()
    return " ".join(words).strip()


def _is_category(word: str) -> bool:
    """Report whether it is a category: `[x]`, `[ ]` and `[>]` are boxes, `[00:11]` is a time."""
    if len(word) <= 1:
        return word.isalnum() and word not in "xX"
    return _CLOCK.match(word) is None


def _split_context(said: str) -> tuple[str, str | None]:
    """Split off what stands in parentheses at the end."""
    bare = said.strip()
    start = bare.rfind("(")
    if not bare.endswith(")") or start < 0 or len(bare) - start > _CONTEXT_MAX_CHARS:
        return bare, None
    return bare[:start].strip(), bare[start + 1 : -1].strip() or None


# basic-memory: a folder of Markdown files with observations, relations and prose.

_SUFFIX = ".md"
_HIDDEN = "."
_TITLE, _KIND, _PERMALINK = "title", "type", "permalink"
_CREATED = ("created", "created_at", "date")
_KNOWN_FIELDS = frozenset({_TITLE, _KIND, _PERMALINK, "tags", "schema", "modified", "updated", *_CREATED})
_PERSON = "person"
_DEFAULT_KIND = "note"
_LINK_REASON = "is a link; links are not followed"
_TITLE_MAX_CHARS = 200
# Labels that describe the kind of text and not its subject, as `birthday` does.
_GENERIC_CATEGORIES = frozenset({
    "approach", "benefit", "context", "decision", "design", "detail", "details", "definition",
    "example", "experiment", "fact", "feature", "feedback", "finding", "general", "idea", "info",
    "information", "insight", "issue", "learning", "lesson", "method", "misc", "note",
    "observation", "opinion", "pattern", "plan", "point", "preference", "principle", "problem",
    "process", "question", "quote", "reason", "recommendation", "reference", "reflection",
    "remark", "requirement", "resource", "rule", "solution", "step", "strategy", "suggestion",
    "summary", "tech", "technique", "thought", "tip", "todo", "topic", "warning",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNote:
    place: str  # its path in the folder
    title: str
    kind: str
    tags: tuple[str, ...]
    fields: dict[str, Any]  # added by its author

    def item(
        self, said: str, *tags: str, filed: str | None = None, label: str | None = None, **data: str | None
    ) -> ImportItem:
        named = {"note": self.fields.get(_PERMALINK) or self.place, "type": self.kind, **data}
        created = (parse_moment(self.fields.get(name)) for name in _CREATED)
        return ImportItem(
            content=self._told(said, label),
            category=guess_category(filed),
            about=[self.title] if self.kind.casefold() == _PERSON else None,
            tags=parse_import_tags((*self.tags, *tags)),
            data={name: value for name, value in named.items() if value},
            created_at=next((one for one in created if one is not None), None),
        )

    def _told(self, said: str, label: str | None) -> str:
        if said.casefold().startswith(self.title.casefold()):
            return said
        return f"{self.title}, {label}: {said}" if label else f"{self.title}: {said}"


def list_note_files(path: Path) -> Iterator[Path | SkippedPart]:
    """Yield the notes of a folder by name. Links are not followed."""
    if not path.is_dir():
        yield path
        return
    root = path.resolve()
    count = 0
    for folder, below, names in os.walk(root):
        here = Path(folder)
        below[:] = sorted(name for name in below if not name.startswith(_HIDDEN))
        for name in [name for name in below if (here / name).is_symlink()]:
            below.remove(name)
            yield SkippedPart(where=_relative_place(root, here / name), why=_LINK_REASON)
        if len(here.relative_to(root).parts) >= limits.IMPORTER_NOTE_DEPTH_MAX_COUNT:
            below.clear()
            yield SkippedPart(where=_relative_place(root, here), why="folders are nested too deep below it")
        for name in sorted(names):
            if name.startswith(_HIDDEN) or not name.lower().endswith(_SUFFIX):
                continue
            if (here / name).is_symlink():
                yield SkippedPart(where=_relative_place(root, here / name), why=_LINK_REASON)
                continue
            count += 1
            if count > limits.IMPORTER_NOTES_MAX_COUNT:
                raise InvalidInput(PATH_FIELD, "has too many notes; take its folders one by one")
            yield here / name


def read_basic_memory(path: Path) -> Iterator[ReadResult]:
    root = path.resolve() if path.is_dir() else path.parent
    for one in list_note_files(path):
        if isinstance(one, SkippedPart):
            yield one
            continue
        place = _relative_place(root, one)
        try:
            check_size(one, limits.IMPORTER_NOTE_MAX_BYTES)
            with open_text(one) as file:
                text = file.read()
        except InvalidInput as error:
            yield SkippedPart(where=place, why=error.problem)
        except OSError as error:
            yield SkippedPart(where=place, why=error.strerror or "cannot be read")
        else:
            yield from _read_note(place, text)


def _relative_place(root: Path, path: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def _read_note(place: str, text: str) -> Iterator[ReadResult]:
    head, below = split_frontmatter(text)
    fields: dict[str, Any] = {}
    if not is_valid_text(head):
        yield SkippedPart(where=f"{place}, frontmatter", why="is not UTF-8 text")
    else:
        try:
            fields = parse_fields(head)
        except ValueError as error:
            yield SkippedPart(where=place, why=str(error))
    title = fields.get(_TITLE)
    kind = fields.get(_KIND)
    note = _SourceNote(
        place=place,
        title=(title if isinstance(title, str) and title.strip() else Path(place).stem).strip()[:_TITLE_MAX_CHARS],
        kind=kind if isinstance(kind, str) and kind else _DEFAULT_KIND,
        tags=parse_import_tags(fields.get("tags")) or (),
        fields=fields,
    )
    own = _describe_own_fields(fields)
    if own:
        yield FoundItem(where=f"{place}, frontmatter", item=note.item(own))
    for part in parse_parts(text.split("\n"), below, note.title):
        if isinstance(part, SkippedPart):
            yield SkippedPart(where=f"{place}, {part.where}", why=part.why)
        else:
            for item in _make_items(note, part):
                yield FoundItem(where=f"{place}, line {part.line}", item=item)


def _describe_own_fields(fields: dict[str, Any]) -> str:
    """Describe the author's own fields: `status: active`."""
    said = []
    for name, value in fields.items():
        words = value if isinstance(value, list) else [value]
        shown = ", ".join(word for word in words if isinstance(word, str) and word)
        if name not in _KNOWN_FIELDS and shown:
            said.append(f"{name}: {shown}")
    return "; ".join(said)


def _make_items(note: _SourceNote, part: Observation | Relation | Prose) -> Iterator[ImportItem]:
    if isinstance(part, Observation):
        said = f"{part.text} ({part.context})" if part.context else part.text
        words = (part.category or "", *part.tags)
        data = {"category": part.category, "context": part.context}
        label = _find_label(part.category or "", said)
        yield note.item(said, *words, filed=part.category, label=label, **data)
    elif isinstance(part, Relation):
        said = f"{note.title} {part.kind.replace('_', ' ')} {part.target}"
        said = f"{said} ({part.context})" if part.context else said
        data = {"relation": part.kind, "target": part.target, "context": part.context}
        yield note.item(said, **data)
    else:
        most = limits.CONTENT_MAX_CHARS - len(note.title) - len(part.heading or "") - 4
        for piece in split_text(part.text, most):
            said = f"{part.heading}: {piece}" if part.heading else piece
            yield note.item(said, part.heading or "", filed=part.heading)


def _find_label(category: str, said: str) -> str:
    """Return what `3 May` is, unless the text says so."""
    label = category.replace("_", " ").replace("-", " ").strip()
    is_told = label.casefold() in _GENERIC_CATEGORIES or label.casefold() in said.casefold()
    return "" if is_told else label
