"""The people and rooms that the contract's stories happen in."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import tacit
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.records.results import Page
from tacit.storage import search
from tacit.view.view import View

ALICE = tacit.Requester("telegram:1001", name="Alice", username="alice_l")
BOB = tacit.Requester("telegram:2002", name="Bob")
CAROL = tacit.Requester("slack:T1:U3", name="Carol")

WEB = tacit.Requester("acct:alice")
ALL = (ALICE, BOB, CAROL)

TEAM = "telegram:-100"
FAMILY = "telegram:-200"

# Said aloud in a room, with and without a kind that lasts; and lent to every company by its owner.
ALOUD: Any = {"visibility": "room", "sensitivity": "public"}
OPEN: Any = {**ALOUD, "kind": "knowledge"}
LENT: Any = {"visibility": "public_ok", "sensitivity": "public"}

Item = TypeVar("Item")


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


def in_pages(ask: Callable[..., Page[Item]], **asked: Any) -> list[Item]:
    """What all pages of an answer hold, one after the other; only the last of them may be short."""
    page = ask(**asked)
    found = list(page)
    while page.cursor is not None:
        assert len(page) == asked["limit"]
        page = ask(**asked, cursor=page.cursor)
        assert page, "a page that is promised has something on it"
        found += page
    return found


def get_value(view: View, category: str, key: str) -> Record:
    """What is kept under a key, which is there."""
    found = view.get(category, key)
    assert found is not None
    return found


def said(memories: Iterable[Record]) -> list[str]:
    """The contents, in the order of the alphabet: for questions of what, and not of when."""
    return sorted(memory.content for memory in memories)
