"""The looks of a block. A layout says how a frame, a category and a memory are written; summaries
of notes are laid out by themselves (`notes_block`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tacit.prompt.fence import CLOSE, OPEN, inert
from tacit.prompt.lines import Line, heading, hedge, named, people, said


class Style(StrEnum):
    MEMORY = "memory"  # Markdown with headings
    FILTERED = "filtered"  # keys and values
    SUMMARY = "summary"  # of notes: what is kept for good, then recent sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    head: tuple[str, ...]
    tail: tuple[str, ...]
    item: Callable[[Line], str]
    before_group: Callable[[str], tuple[str, ...]] = lambda _: ()
    after_group: tuple[str, ...] = ()

    def group_chars(self, category: str) -> int:
        """Characters that a category costs before its first memory."""
        return sum(len(line) + 1 for line in (*self.before_group(category), *self.after_group))


_PLAIN_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./@+-]*")


def _memory_item(line: Line) -> str:
    about = f"[{people(line)}] " if line.about else ""
    return f"- [id:{line.id}] {about}{said(line)}"


def _filtered_item(line: Line) -> str:
    value = said(line, keyed=False)
    shown = value if not hedge(line) and _structured(value) else _quoted(value)
    return f"  {_key(line.key)}{shown} [id:{line.id}]"


def _key(key: str | None) -> str:
    if key is None:
        return ""
    name = inert(key)
    return f"{name if _PLAIN_KEY.fullmatch(name) else _quoted(name)} = "


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _structured(text: str) -> bool:
    """A JSON object or list is shown as it is; anything else is a text between quotes."""
    if not text.startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


LAYOUTS = {
    Style.MEMORY: Layout(
        head=(
            "## Your Memory",
            "",
            "The following is what you have learned in earlier conversations.",
            "Use it naturally. To update a memory, use the update_memory tool with its id.",
            "",
            OPEN,
        ),
        tail=(CLOSE,),
        before_group=lambda category: (f"### {heading(category)}",),
        item=_memory_item,
        after_group=("",),
    ),
    Style.FILTERED: Layout(
        head=("Long-term Memory (filtered)", OPEN),
        tail=(CLOSE,),
        before_group=lambda category: (f"{named(category)}:",),
        item=_filtered_item,
    ),
}
