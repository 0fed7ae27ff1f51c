"""How a memory is put into a line of a list."""

from __future__ import annotations

from tacit import limits
from tacit.records.memory import Memory
from tacit.records.text import show_with_key


def shortened(content: str) -> str:
    """On one line, and no longer than a list can bear."""
    line = " ".join(content.split())
    most = limits.CHAT_LISTED_MAX_CHARS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def with_key(memory: Memory) -> str:
    return show_with_key(memory.key, memory.content)


def in_brief(memory: Memory) -> str:
    return shortened(with_key(memory))
