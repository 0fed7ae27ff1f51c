"""From a source into a memory: what it would come to, and then all of it, in steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.drafts import (
    ImportItem,
    ImportPreview,
    ImportPreviewItem,
    ImportStep,
    RefusedItem,
    measure_items,
)
from tacit.surfaces.moving.records import Found, Preview, Problems, Skipped, Summary
from tacit.surfaces.moving.sources import Source

Told = Callable[[int, int], object]  # how many are dealt with, and of how many

_WHOM = "about:"  # how a refusal begins that is for whom something is about


@runtime_checkable
class Into(Protocol):
    """A view, of the library or of a client."""

    @property
    def enabled(self) -> bool: ...

    def preview_items(self, items: Sequence[ImportItem], *, source: str) -> ImportPreview: ...

    def import_items(
        self,
        run: str,
        items: Sequence[ImportItem],
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep: ...


def preview(view: Into, source: Source, *, run: str | None = None) -> Preview:
    """What it would come to. Everything is read, and nothing is written."""
    name = _name(view, source, run)
    problems = Problems()
    new = already = sensitive = refused = total = 0
    shown: list[ImportPreviewItem] = []
    known: set[bytes] = set()
    for batch in _batches(source, problems):
        total += len(batch)
        once = [one for one in batch if _is_first(one.item, known)]
        found = view.preview_items(_about_known(view, source, once), source=source.format.value)
        new, already = new + found.new, already + found.already + len(batch) - len(once)
        sensitive, refused = sensitive + found.sensitive, refused + len(found.refused)
        _tell(problems, once, found.refused)
        shown += found.shown[: limits.IMPORTER_PREVIEW_MAX_COUNT - len(shown)]
    return Preview(
        run=name,
        total=total,
        new=new,
        already=already,
        sensitive=sensitive,
        refused=refused,
        skipped=problems.count - refused,
        problems=tuple(problems.shown),
        shown=tuple(shown),
    )


def take_over(
    view: Into,
    source: Source,
    *,
    run: str | None = None,
    progress: Told | None = None,
) -> Summary:
    """All of it, in steps that are each done wholly or not at all. Interrupted and asked again, it
    goes on: what was taken in is known, and nothing comes twice. `revert_import` undoes it."""
    name = _name(view, source, run)
    if progress is not None and not callable(progress):
        raise InvalidInput("progress", "takes a function of how many are done, and of how many")
    if not view.enabled:
        return Summary(run=name, total=0, enabled=False)
    total = sum(isinstance(one, Found) for one in source)
    problems = Problems()
    created = already = refused = done = 0
    for batch in _batches(source, problems):
        items = _about_known(view, source, batch)
        step = view.import_items(name, items, source=source.format.value, total=total, after=done)
        created, already = created + step.created, already + step.already
        refused += len(step.refused)
        _tell(problems, batch, step.refused)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return Summary(
        run=name,
        total=total,
        created=created,
        already=already,
        refused=refused,
        skipped=problems.count - refused,
        problems=tuple(problems.shown),
    )


def _name(view: object, source: object, run: object) -> str:
    """What the import is called, after a look at what was handed in."""
    if not isinstance(view, Into):
        raise InvalidInput("view", "takes memory.view(…), of the library or of a client")
    if not isinstance(source, Source):
        raise InvalidInput("source", "takes what moving.open(path, form) or from_store gives")
    return (
        source.run
        if run is None
        else validation.parse_screened_identifier("run", run, limits.LABEL_MAX_CHARS)
    )


def _batches(source: Source, problems: Problems) -> Iterator[list[Found]]:
    """As many at a time as a call takes. What cannot be read is noted on the way."""
    batch: list[Found] = []
    size = 0
    for one in source:
        if isinstance(one, Skipped):
            problems.add(str(one), counts=not one.is_no_memory)
            continue
        large = measure_items([one.item], limits.IMPORTER_STEP_MAX_CHARS)
        full = len(batch) == limits.IMPORT_ITEMS_MAX_COUNT
        if batch and (full or size + large > limits.IMPORTER_STEP_MAX_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += large
    if batch:
        yield batch


def _about_known(view: Into, source: Source, batch: Sequence[Found]) -> list[ImportItem]:
    """Where it cannot be told whom something is about, it is kept without that: what it says is
    worth more than a name that several people have."""
    items = [one.item for one in batch]
    if any(item.about for item in items):
        for one in view.preview_items(items, source=source.format.value).refused:
            if one.why.startswith(_WHOM):
                items[one.place] = replace(items[one.place], about=None)
    return items


def _is_first(item: ImportItem, known: set[bytes]) -> bool:
    """Of those that a source has twice: the memory would know the second one again."""
    said = f"id {item.source}" if item.source is not None else f"words {item.content}"
    mark = hashlib.sha256(said.encode("utf-8", "replace")).digest()
    if mark in known:
        return False
    known.add(mark)
    return True


def _tell(problems: Problems, batch: Sequence[Found], refused: Sequence[RefusedItem]) -> None:
    for one in refused:
        problems.add(f"{batch[one.place].where}: {one.why}")
