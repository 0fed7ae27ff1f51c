"""A memory that keeps conversations, and what of them is found."""

from typing import Any

from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import MemorySettings, SessionsSettings
from tacit.view.view import View
from tests.contract.rows import rows

KEEP = Settings(memory=MemorySettings(sessions=SessionsSettings(keep=True, retention_days=7)))

FORGETFUL = Settings(memory=MemorySettings(sessions=SessionsSettings(keep=False)))


def turns(view: View, query: str, **options: Any) -> list[str]:
    found = view.recall(query, include=["turns"], top_k=20, **options)
    return [one.memory.content for one in found]


def stored(memory: Memory) -> int:
    return int(rows(memory, "SELECT count(*) FROM memories WHERE is_turn")[0][0])
