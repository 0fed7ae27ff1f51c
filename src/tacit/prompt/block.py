"""The block for the cached prefix of a prompt: its bytes depend on the memories alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tacit import limits
from tacit.prompt.fair import Written, choose
from tacit.prompt.lines import Line
from tacit.prompt.styles import LAYOUTS, Layout, Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    text: str = ""
    shown: tuple[str, ...] = ()  # ids, in the order of the text
    cut: Mapping[str, int] = field(default_factory=dict)  # how many of a category did not fit


def render(
    lines: Sequence[Line],
    style: Style,
    *,
    items_max: int = limits.BLOCK_ITEMS_MAX_COUNT,
    chars_max: int = limits.BLOCK_MAX_CHARS,
) -> Rendered:
    """No memories, no text. The limit of characters holds for everything, frame and fence too."""
    layout = LAYOUTS[style]
    frame_chars = sum(len(line) + 1 for line in (*layout.head, *layout.tail)) - 1
    shown = choose(
        lines,
        write=layout.item,
        opening_chars=layout.group_chars,
        items_max=items_max,
        chars_max=chars_max - frame_chars,
    )
    cut = Counter(line.category for line in lines)
    cut.subtract(item.line.category for item in shown)
    return Rendered(
        text=_text(layout, shown) if shown else "",
        shown=tuple(item.line.id for item in shown),
        cut={name: count for name, count in sorted(cut.items()) if count},
    )


def _text(layout: Layout, shown: Sequence[Written]) -> str:
    text = [*layout.head]
    for category, items in groupby(shown, key=lambda item: item.line.category):
        text += layout.before_group(category)
        text += [item.text for item in items]
        text += layout.after_group
    return "\n".join([*text, *layout.tail])
