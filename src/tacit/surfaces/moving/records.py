"""What readers give, and what comes of it: something to take in, or why something was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tacit import limits
from tacit.records.drafts import ImportItem, ImportPreviewItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something to take in, and where it stands."""

    where: str
    item: ImportItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part that cannot be read, and why: never with what it says."""

    where: str
    why: str
    is_no_memory: bool = False  # no memory, but words around one

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Read: TypeAlias = "Found | Skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What it would come to. Nothing of it is done."""

    run: str  # the name that the import would have
    total: int  # what could be read
    new: int
    already: int  # here by now, or there twice
    sensitive: int  # of the new ones
    refused: int  # by the memory
    skipped: int  # by the reader
    problems: tuple[str, ...]  # the first of what was refused or skipped, and why
    shown: tuple[ImportPreviewItem, ...]  # the first of the new ones, as they would be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was done; from a disabled view nothing: then it is false."""

    run: str  # what `revert_import` takes it back by
    total: int
    created: int = 0
    already: int = 0
    refused: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    enabled: bool = True

    def __bool__(self) -> bool:
        return self.enabled


class Problems:
    """The first few in words; all of them as a count, but for words that were no memory."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.count = 0

    def add(self, problem: str, *, counts: bool = True) -> None:
        self.count += counts
        if len(self.shown) < limits.IMPORTER_PROBLEMS_SHOWN_COUNT:
            self.shown.append(problem)
