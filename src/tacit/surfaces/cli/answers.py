"""What a command answers with: once for people, once for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tacit.surfaces.cli.exits import Exit

NOTHING = "nothing that may be said here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    document: dict[str, Any]  # what --json prints
    lines: Iterable[str]  # what people read; each is one line, and is made safe when printed
    notes: tuple[str, ...] = ()  # for people too, beside the output: on stderr
    exit: Exit = Exit.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """JSON lines, printed as they come and the same with --json."""

    lines: Iterable[str]
