"""Whether a read costs by what a person may hear, or by what everybody else has stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import tacit
from bench.crowd import Group, Memo, mixed, one_group, one_person, others, sentence
from bench.filling import Filling
from bench.measure import Figure, compared
from bench.sinks import open_sink
from tacit.memory import Memory
from tacit.view.view import View
from tests.databases import PostgresDatabases

ALICE = tacit.Requester("telegram:1001")
ALICE_CHAT = tacit.Chat.private(ALICE.key)
ALICE_COUNT = 1_000
GROUP = Group("telegram:-50", tuple(range(2_001, 2_031)))
GROUP_EACH_COUNT = 2_000
OTHER_PEOPLE_COUNT = 1_000
QUESTION = "when does the train to Lisbon leave?"

_PAGE_COUNT = 50
_ROUNDS = 101
_SLOW_ROUNDS = 11

MakeUrl = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Stores:
    """One with everybody in it, one with Alice alone, one with the group alone."""

    crowd: Memory
    alice: Memory
    group: Memory


def figures(name: str, url_of: MakeUrl, others_count: int) -> Iterator[Figure]:
    group_count = len(GROUP.members) * GROUP_EACH_COUNT
    alice = (ALICE_COUNT, lambda: one_person(1_001, ALICE_COUNT))
    group = (group_count, lambda: one_group(GROUP, GROUP_EACH_COUNT))
    with ExitStack() as stack:

        def filled(file: str, memos: Iterable[Memo]) -> Memory:
            fill(url_of(file), memos)
            return stack.enter_context(tacit.open(url_of(file)))

        everybody = mixed(
            (alice[0], alice[1]()), (group[0], group[1]()), (others_count, others(others_count, OTHER_PEOPLE_COUNT))
        )
        stores = Stores(
            crowd=filled("crowd", everybody), alice=filled("alice", alice[1]()), group=filled("group", group[1]())
        )
        yield from _figures(f"{name}, {others_count:,} others", stores)


def fill(url: str, memos: Iterable[Memo]) -> None:
    with tacit.open(url) as memory:
        memory.view(tacit.Requester("telegram:5"), tacit.Chat.private("telegram:5")).remember(
            "The first memory makes the space"
        )
    filling = Filling(open_sink(url))
    filling.add(memos)
    filling.close()


def _figures(name: str, stores: Stores) -> Iterator[Figure]:
    ours, alone = (_view(m, ALICE, ALICE_CHAT) for m in (stores.crowd, stores.alice))
    yield _listing(f"list 50 of a person's 1,000 ({name})", ours, alone, _ROUNDS)
    yield _recall(f"recall in private ({name})", ours, alone, _SLOW_ROUNDS)
    for complete, word in ((True, "complete"), (False, "open")):
        here, there = (_in_group(m, complete=complete) for m in (stores.crowd, stores.group))
        what = f"list 50, group of 30 x 2,000, {word} ({name})"
        yield _listing(what, here, there, _SLOW_ROUNDS)
    here, there = (_in_group(m, complete=True) for m in (stores.crowd, stores.group))
    yield _recall(f"recall in the group ({name})", here, there, _SLOW_ROUNDS)


def _in_group(memory: Memory, *, complete: bool) -> View:
    people = [tacit.Requester(f"telegram:{n}") for n in GROUP.members]
    chat = tacit.Chat.group(GROUP.chat, participants=people, complete=complete)
    return _view(memory, people[3], chat)


def _view(memory: Memory, person: tacit.Requester, chat: tacit.Chat) -> View:
    view = memory.view(person, chat)
    assert isinstance(view, View)
    return view


def _listing(what: str, ours: View, alone: View, rounds: int) -> Figure:
    def listed(view: View) -> None:
        assert len(view.list(limit=_PAGE_COUNT)) == _PAGE_COUNT

    listed(ours)
    listed(alone)
    return compared(what, lambda: listed(ours), lambda: listed(alone), rounds=rounds, at_most=2)


def _recall(what: str, ours: View, alone: View, rounds: int) -> Figure:
    """For information: words that everybody uses, and one that few do."""
    asked = f"{QUESTION} {sentence(5_000).split()[3]}"

    def recalled(view: View) -> None:
        assert view.recall(asked)

    recalled(ours)
    recalled(alone)
    return compared(what, lambda: recalled(ours), lambda: recalled(alone), rounds=rounds)


def on_sqlite(folder: Path, others_count: int) -> Iterator[Figure]:
    return figures("SQLite", lambda name: f"sqlite:///{folder / name}.db", others_count)


def on_postgres(server: str, others_count: int) -> Iterator[Figure]:
    databases = PostgresDatabases(server)
    urls: dict[str, str] = {}

    def url_of(name: str) -> str:
        if name not in urls:
            urls[name] = databases.create()
        return urls[name]

    try:
        yield from figures("PostgreSQL", url_of, others_count)
    finally:
        for url in urls.values():
            databases.drop(url)
        databases.close()
