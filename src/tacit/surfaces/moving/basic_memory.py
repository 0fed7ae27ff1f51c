"""What basic-memory kept: a folder of Markdown files, with observations, relations and prose."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem
from tacit.surfaces.moving import frontmatter
from tacit.surfaces.moving.filing import category, tags_of
from tacit.surfaces.moving.markdown import Observation, Prose, Relation, parts
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.texts import FIELD, checked_size, is_text, moment, opened, pieces

_SUFFIX = ".md"
_HIDDEN = "."
_TITLE, _KIND, _PERMALINK = "title", "type", "permalink"
_CREATED = ("created", "created_at", "date")
_KNOWN = frozenset({_TITLE, _KIND, _PERMALINK, "tags", "schema", "modified", "updated", *_CREATED})
_PERSON = "person"
_PLAIN = "note"
_LINK = "is a link; links are not followed"
_TITLE_MAX_CHARS = 200
# Labels that say what sort of words these are, and not what they are about, as `birthday` does.
_SORTS = frozenset({
    "approach", "benefit", "context", "decision", "design", "detail", "details", "definition",
    "example", "experiment", "fact", "feature", "feedback", "finding", "general", "idea", "info",
    "information", "insight", "issue", "learning", "lesson", "method", "misc", "note",
    "observation", "opinion", "pattern", "plan", "point", "preference", "principle", "problem",
    "process", "question", "quote", "reason", "recommendation", "reference", "reflection",
    "remark", "requirement", "resource", "rule", "solution", "step", "strategy", "suggestion",
    "summary", "tech", "technique", "thought", "tip", "todo", "topic", "warning",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    place: str  # its path in the folder
    title: str
    kind: str
    tags: tuple[str, ...]
    fields: dict[str, Any]  # those of its writer's own

    def item(
        self,
        said: str,
        *tags: str,
        filed: str | None = None,
        label: str | None = None,
        **data: str | None,
    ) -> ImportItem:
        named = {"note": self.fields.get(_PERMALINK) or self.place, "type": self.kind, **data}
        created = (moment(self.fields.get(name)) for name in _CREATED)
        return ImportItem(
            content=self._told(said, label),
            category=category(filed),
            about=[self.title] if self.kind.casefold() == _PERSON else None,
            tags=tags_of((*self.tags, *tags)),
            data={name: value for name, value in named.items() if value},
            created_at=next((one for one in created if one is not None), None),
        )

    def _told(self, said: str, label: str | None) -> str:
        if said.casefold().startswith(self.title.casefold()):
            return said
        return f"{self.title}, {label}: {said}" if label else f"{self.title}: {said}"


def files(path: Path) -> Iterator[Path | Skipped]:
    """The notes of a folder, in the order of their names. Links lead anywhere: none is followed."""
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
            yield Skipped(where=_place(root, here / name), why=_LINK)
        if len(here.relative_to(root).parts) >= limits.IMPORTER_NOTE_DEPTH_MAX_COUNT:
            below.clear()
            yield Skipped(where=_place(root, here), why="folders are nested too deep below it")
        for name in sorted(names):
            if name.startswith(_HIDDEN) or not name.lower().endswith(_SUFFIX):
                continue
            if (here / name).is_symlink():
                yield Skipped(where=_place(root, here / name), why=_LINK)
                continue
            count += 1
            if count > limits.IMPORTER_NOTES_MAX_COUNT:
                raise InvalidInput(FIELD, "has too many notes; take its folders one by one")
            yield here / name


def read(path: Path) -> Iterator[Read]:
    root = path.resolve() if path.is_dir() else path.parent
    for one in files(path):
        if isinstance(one, Skipped):
            yield one
            continue
        place = _place(root, one)
        try:
            checked_size(one, limits.IMPORTER_NOTE_MAX_BYTES)
            with opened(one) as file:
                text = file.read()
        except InvalidInput as error:
            yield Skipped(where=place, why=error.problem)
        except OSError as error:
            yield Skipped(where=place, why=error.strerror or "cannot be read")
        else:
            yield from _note(place, text)


def _place(root: Path, path: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def _note(place: str, text: str) -> Iterator[Read]:
    head, below = frontmatter.split(text)
    fields: dict[str, Any] = {}
    if not is_text(head):
        yield Skipped(where=f"{place}, frontmatter", why="is not UTF-8 text")
    else:
        try:
            fields = frontmatter.fields(head)
        except ValueError as error:
            yield Skipped(where=place, why=str(error))
    title = fields.get(_TITLE)
    kind = fields.get(_KIND)
    note = _Note(
        place=place,
        title=(title if isinstance(title, str) and title.strip() else Path(place).stem).strip()[
            :_TITLE_MAX_CHARS
        ],
        kind=kind if isinstance(kind, str) and kind else _PLAIN,
        tags=tags_of(fields.get("tags")) or (),
        fields=fields,
    )
    own = _own(fields)
    if own:
        yield Found(where=f"{place}, frontmatter", item=note.item(own))
    for part in parts(text.split("\n"), below, note.title):
        if isinstance(part, Skipped):
            yield Skipped(where=f"{place}, {part.where}", why=part.why)
        else:
            for item in _items(note, part):
                yield Found(where=f"{place}, line {part.line}", item=item)


def _own(fields: dict[str, Any]) -> str:
    """What its writer noted of the whole: `status: active`."""
    said = []
    for name, value in fields.items():
        words = value if isinstance(value, list) else [value]
        shown = ", ".join(word for word in words if isinstance(word, str) and word)
        if name not in _KNOWN and shown:
            said.append(f"{name}: {shown}")
    return "; ".join(said)


def _items(note: _Note, part: Observation | Relation | Prose) -> Iterator[ImportItem]:
    if isinstance(part, Observation):
        said = f"{part.text} ({part.context})" if part.context else part.text
        words = (part.category or "", *part.tags)
        data = {"category": part.category, "context": part.context}
        label = _label(part.category or "", said)
        yield note.item(said, *words, filed=part.category, label=label, **data)
    elif isinstance(part, Relation):
        said = f"{note.title} {part.kind.replace('_', ' ')} {part.target}"
        said = f"{said} ({part.context})" if part.context else said
        data = {"relation": part.kind, "target": part.target, "context": part.context}
        yield note.item(said, **data)
    else:
        most = limits.CONTENT_MAX_CHARS - len(note.title) - len(part.heading or "") - 4
        for piece in pieces(part.text, most):
            said = f"{part.heading}: {piece}" if part.heading else piece
            yield note.item(said, part.heading or "", filed=part.heading)


def _label(category: str, said: str) -> str:
    """What `3 May` is, unless the words tell it themselves."""
    label = category.replace("_", " ").replace("-", " ").strip()
    is_told = label.casefold() in _SORTS or label.casefold() in said.casefold()
    return "" if is_told else label
