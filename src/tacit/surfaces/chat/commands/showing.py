"""How a memory is put into a line of a list."""

from __future__ import annotations

from tacit import chat_limits
from tacit.model.key_text import show_with_key
from tacit.model.memory import Memory


def shortened(content: str) -> str:
    """On one line, and no longer than a list can bear."""
    line = " ".join(content.split())
    most = chat_limits.CHAT_LISTED_MAX_CHARS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def with_key(memory: Memory) -> str:
    return show_with_key(memory.key, memory.content)


def in_brief(memory: Memory) -> str:
    return shortened(with_key(memory))
