"""The records as people read them in a terminal: compact, aligned, one line for each."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from tacit.records.memory import Memory
from tacit.surfaces.cli.console import safe

_GAP = "  "
_NEWLINE = " ⏎ "
_TEXT_MIN_COLUMNS = 20
_UNITS = (("y", timedelta(days=365)), ("d", timedelta(days=1)), ("h", timedelta(hours=1)),
          ("m", timedelta(minutes=1)))  # fmt: skip


def memories(items: Iterable[Memory], now: datetime) -> list[str]:
    """What is filed under, how far it goes and how old it is; the words last, to run free."""
    rows = [(m.id, filed(m), m.visibility.value, age(m.created_at, now), m.content) for m in items]
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell. The last is cut on a terminal, and never in a pipe."""
    cells = [[safe(one_line(cell)) for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(width(row[n]) for row in cells) for n in range(len(cells[0]) - 1)]
    room = _terminal_columns()
    if room is not None:
        room = max(_TEXT_MIN_COLUMNS, room - sum(widths) - len(_GAP) * len(widths))
    return [
        _GAP.join([*(_padded(cell, w) for cell, w in zip(row, widths, strict=False)),
                   _cut(row[-1], room)]).rstrip()
        for row in cells
    ]  # fmt: skip


def fields(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names and values, one pair on a line; a pair without a value is left out."""
    shown = [(name, value) for name, value in pairs if value]
    widest = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        yield f"  {name.ljust(widest)}  {one_line(value)}"


def paragraph(text: str, indent: str = "  ") -> list[str]:
    """Somebody's words as they wrote them, line by line."""
    return [indent + line for line in text.replace("\r\n", "\n").split("\n")]


def filed(memory: Memory) -> str:
    return f"{memory.category}/{memory.key}" if memory.key else memory.category


def age(then: datetime, now: datetime) -> str:
    passed = now - then
    for unit, length in _UNITS:
        if passed >= length:
            return f"{passed // length}{unit}"
    return "now"


def when(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else ""


def width(text: str) -> int:
    """Columns on a terminal: pictures and CJK take two, marks on a letter take none."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def one_line(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", _NEWLINE).replace("\t", " ")


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - width(cell))


def _cut(text: str, room: int | None) -> str:
    if room is None or width(text) <= room:
        return text
    kept, used = [], 1  # the ellipsis
    for char in text:
        used += _columns(char)
        if used > room:
            break
        kept.append(char)
    return "".join(kept) + "…"


def _terminal_columns() -> int | None:
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns
