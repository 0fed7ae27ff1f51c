"""Open a source of another system, preview what it would import, and import it in steps."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import InvalidInput
from tacit.memory import View
from tacit.records import validation
from tacit.records.drafts import ImportItem, ImportPreviewItem, RefusedItem, measure_items
from tacit.transfer.importers import assistants, basic_memory, langgraph, mcp, mem0
from tacit.transfer.importers.parsing import (
    PATH_FIELD,
    FoundItem,
    ImportSummary,
    ProblemList,
    ReadResult,
    SkippedPart,
    SourcePreview,
    check_size,
)

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


# A file, folder or store of another system, which can be read repeatedly.

_FINGERPRINT_CHARS = 12


class ImportFormat(StrEnum):
    """The system that a source comes from."""

    MEM0 = "mem0"
    MCP = "mcp"
    BASIC_MEMORY = "basic-memory"
    LANGGRAPH = "langgraph"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSource:
    format: ImportFormat
    run: str  # default name of the import, derived from its content
    read: Callable[[], Iterator[ReadResult]]

    def __iter__(self) -> Iterator[ReadResult]:
        """Yield all items to import, and the parts that cannot be read."""
        for count, one in enumerate(self.read(), start=1):
            if count > limits.IMPORTER_RECORDS_MAX_COUNT:
                most = f"{limits.IMPORTER_RECORDS_MAX_COUNT:,}"
                raise InvalidInput(PATH_FIELD, f"holds more than {most} items; split it")
            yield one


def open_source(path: str | Path, form: ImportFormat | str, *, only: str | None = None) -> ImportSource:
    """Open a file or folder.

    `only`: one user, of mem0; one namespace prefix, of LangGraph.
    """
    origin = validation.parse_enum("form", form, ImportFormat)
    where = _check_path(path)
    _check_only(only)
    if origin in _SELECTIVE_READERS:
        read = partial(_SELECTIVE_READERS[origin], where, only)
    elif only is None:
        read = partial(_READERS[origin], where)
    else:
        raise InvalidInput("only", f"is for {' and '.join(_SELECTIVE_READERS)}; leave it out")
    run = _make_run_name(origin, _fingerprint(where, origin, only))
    return ImportSource(format=origin, run=run, read=read)


def open_store(store: BaseStore, *, only: str | None = None) -> ImportSource:
    """Open a LangGraph store, such as an `InMemoryStore`."""
    if not all(callable(getattr(store, name, None)) for name in ("search", "list_namespaces")):
        raise InvalidInput("store", "expected an open LangGraph store; use open_source for files")
    _check_only(only)

    read = partial(langgraph.read_store, store, only)
    mark = hashlib.sha256((only or "").encode())
    for one in read():
        if isinstance(one, FoundItem):
            mark.update(f"{one.item.source}\0{one.item.content}\0".encode("utf-8", "replace"))
    return ImportSource(
        format=ImportFormat.LANGGRAPH, run=_make_run_name(ImportFormat.LANGGRAPH, mark.hexdigest()), read=read
    )


_SELECTIVE_READERS = {ImportFormat.MEM0: mem0.read_mem0, ImportFormat.LANGGRAPH: langgraph.read_langgraph}
_READERS = {
    ImportFormat.MCP: mcp.read_mcp,
    ImportFormat.BASIC_MEMORY: basic_memory.read_basic_memory,
    ImportFormat.CHATGPT: assistants.read_chatgpt,
    ImportFormat.CLAUDE: assistants.read_claude,
}


def _check_only(only: object) -> None:
    if only is not None and not isinstance(only, str):
        raise InvalidInput("only", f"expected text, got {type(only).__name__}")


def _check_path(path: object) -> Path:
    if not isinstance(path, str | Path) or "\0" in str(path) or not str(path):
        raise InvalidInput(PATH_FIELD, "is not a file name")
    return Path(path)


def _fingerprint(path: Path, form: ImportFormat, only: str | None) -> str:
    """Hash the content: the same content is the same import, and resumes it."""
    mark = hashlib.sha256((only or "").encode("utf-8", "replace"))
    if form is not ImportFormat.BASIC_MEMORY:
        check_size(path)
        _hash_file(mark, path)
        return mark.hexdigest()
    path.stat()  # raises where there is none
    for one in basic_memory.list_note_files(path):
        if not isinstance(one, SkippedPart):
            mark.update(str(one.name).encode("utf-8", "surrogateescape") + b"\0")
            try:
                _hash_file(mark, one)
            except OSError:
                continue  # reported when it is read
    return mark.hexdigest()


def _hash_file(mark: hashlib._Hash, path: Path) -> None:
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: mark)


def _make_run_name(form: ImportFormat, fingerprint: str) -> str:
    return f"{form}-{fingerprint[:_FINGERPRINT_CHARS]}"


# Import a source into a view: preview it, then import it in steps.

OnProgress = Callable[[int, int], object]  # items done, and of how many

_ABOUT_PREFIX = "about:"  # prefix of refusals because of a subject


def preview_source(view: View, source: ImportSource, *, run: str | None = None) -> SourcePreview:
    """Preview an import: read everything and write nothing."""
    name = _check_run_name(view, source, run)
    problems = ProblemList()
    counts = Counter(new=0, already=0, sensitive=0, refused=0, total=0)
    shown: list[ImportPreviewItem] = []
    known: set[bytes] = set()
    for batch in _read_batches(source, problems):
        once = [one for one in batch if _is_first_seen(one.item, known)]
        found = view.imports.preview(_drop_unknown_people(view, source, once), source=source.format.value)
        counts.update(
            total=len(batch),
            new=found.new,
            already=found.already + len(batch) - len(once),
            sensitive=found.sensitive,
            refused=len(found.refused),
        )
        _record_refused(problems, once, found.refused)
        shown += found.shown[: limits.IMPORTER_PREVIEW_MAX_COUNT - len(shown)]
    return SourcePreview(
        run=name,
        **counts,
        skipped=problems.count - counts["refused"],
        problems=tuple(problems.shown),
        shown=tuple(shown),
    )


def import_source(
    view: View, source: ImportSource, *, run: str | None = None, progress: OnProgress | None = None
) -> ImportSummary:
    """Import everything, in atomic steps.

    An interrupted import can be repeated: what was imported is known, and nothing comes twice.
    `imports.revert` undoes it.
    """
    name = _check_run_name(view, source, run)
    if progress is not None and not callable(progress):
        raise InvalidInput("progress", "expected a function of the number done and the total")
    if not view.enabled:
        return ImportSummary(run=name, total=0, enabled=False)
    total = sum(isinstance(one, FoundItem) for one in source)
    problems = ProblemList()
    counts = Counter(created=0, already=0, refused=0)
    done = 0
    for batch in _read_batches(source, problems):
        items = _drop_unknown_people(view, source, batch)
        step = view.imports.add(name, items, source=source.format.value, total=total, after=done)
        counts.update(created=step.created, already=step.already, refused=len(step.refused))
        _record_refused(problems, batch, step.refused)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return ImportSummary(
        run=name,
        total=total,
        created=counts["created"],
        already=counts["already"],
        refused=counts["refused"],
        skipped=problems.count - counts["refused"],
        problems=tuple(problems.shown),
    )


def _check_run_name(view: object, source: object, run: object) -> str:
    """Return the name of the import, after checking the arguments."""
    if not isinstance(view, View):
        raise InvalidInput("view", "expected memory.view(…), of the library or of a client")
    if not isinstance(source, ImportSource):
        raise InvalidInput("source", "expected the result of open_source or open_store")
    return source.run if run is None else validation.parse_screened_identifier("run", run, limits.LABEL_MAX_CHARS)


def _read_batches(source: ImportSource, problems: ProblemList) -> Iterator[list[FoundItem]]:
    """Yield batches of the size that a call takes, and note what cannot be read."""
    batch: list[FoundItem] = []
    size = 0
    for one in source:
        if isinstance(one, SkippedPart):
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


def _drop_unknown_people(view: View, source: ImportSource, batch: Sequence[FoundItem]) -> list[ImportItem]:
    """Retry without subjects where these cannot be resolved.

    The content is worth more than a name that several people have.
    """
    items = [one.item for one in batch]
    if any(item.about for item in items):
        for one in view.imports.preview(items, source=source.format.value).refused:
            if one.why.startswith(_ABOUT_PREFIX):
                items[one.place] = replace(items[one.place], about=None)
    return items


def _is_first_seen(item: ImportItem, known: set[bytes]) -> bool:
    """Report whether an item is the first of its kind in the source."""
    said = f"id {item.source}" if item.source is not None else f"words {item.content}"
    mark = hashlib.sha256(said.encode("utf-8", "replace")).digest()
    if mark in known:
        return False
    known.add(mark)
    return True


def _record_refused(problems: ProblemList, batch: Sequence[FoundItem], refused: Sequence[RefusedItem]) -> None:
    for one in refused:
        problems.add(f"{batch[one.place].where}: {one.why}")
