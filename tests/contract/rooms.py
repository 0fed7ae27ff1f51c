"""The people and rooms that the contract's stories happen in."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import tacit
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.storage import search
from tacit.view.view import View

ALICE = tacit.Requester("telegram:1001", name="Alice", username="alice_l")
BOB = tacit.Requester("telegram:2002", name="Bob")
CAROL = tacit.Requester("slack:T1:U3", name="Carol")

TEAM = "telegram:-100"
FAMILY = "telegram:-200"


class SetClock:
    """Stands still until it is moved, so that times in a test are exact."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, *, days: float = 0, seconds: float = 0) -> None:
        self.now += timedelta(days=days, seconds=seconds)


def index_words(memory: Memory) -> int:
    """As a search by words does before it looks; says how much there was to index."""
    database = memory._storage.database
    return search.update_fts_index(database) if database.dialect.defers_fts_index else 0


def private(memory: Memory, who: tacit.Requester, thread: str | None = None) -> View:
    """Somebody alone with the agent. An account's own chat is one on the web."""
    chat = who.key.replace("acct:", "web:")
    return _enabled(memory.view(who, tacit.Chat.private(chat), thread=thread))


def group(
    memory: Memory,
    who: tacit.Requester,
    chat: str = TEAM,
    *,
    here: Iterable[tacit.Requester | str] = (ALICE, BOB),
    complete: bool = False,
    thread: str | None = None,
) -> View:
    room = tacit.Chat.group(chat, participants=here, complete=complete)
    return _enabled(memory.view(who, room, thread=thread))


def _enabled(view: object) -> View:
    assert isinstance(view, View)
    return view


def kept(view: View, content: str, **fields: Any) -> str:
    """Remember, and say under which id."""
    return view.remember(content, **fields).id


def said(memories: Iterable[Record]) -> list[str]:
    """The contents, in the order of the alphabet: for questions of what, and not of when."""
    return sorted(memory.content for memory in memories)
