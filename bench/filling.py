"""Big stores in a minute: real memories as patterns, copied for any number of people.

A pattern is every row that one write through the public API leaves. Copies differ from it in id,
people, chat, time and text, so that a filled store looks as if everybody had written by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from sqlalchemy import text

import tacit
from bench.crowd import OTHERS, WRITTEN, Group, Memo, sentence
from bench.sinks import Sink
from tacit.records.memory import Memory
from tacit.storage.dialect import FtsDocument, build_fts_document, fts_lexemes
from tacit.storage.memory_reads import audience_id
from tacit.storage.spaces import acl_tokens_of_memory, audience_path, chat_path, person_path

SPACE = "default"
_CHUNK_COUNT = 20_000
_START = 1_700_000_000_000_000  # microseconds
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_IDS = len(_ALPHABET) ** 8
_SPREAD = 104_729 * 1_299_709 * 15_485_863  # shares no factor with _IDS: no id comes twice
_TABLES = ("memories", "memory_versions", "memory_people", "history", "change_log")


class _Rows:
    """One pattern's rows of one table: fixed values, and the places where a copy differs."""

    def __init__(self, columns: list[str], row: list[Any], named: dict[Any, str]) -> None:
        self.columns, self._row = columns, row
        marks = {"rev": "rev", "created_at": "at", "updated_at": "at", "observed_at": "at", "at": "at"}
        self._places = [
            (i, marks.get(column) or named[value])
            for i, (column, value) in enumerate(zip(columns, row, strict=True))
            if column in marks or (isinstance(value, str) and value in named)
        ]

    @property
    def stamp(self) -> int:
        return int(self._row[self.columns.index("stamp")])

    def copy(self, values: dict[str, Any]) -> list[Any]:
        row = self._row.copy()
        for i, name in self._places:
            row[i] = values[name]
        return row


def patterns() -> tuple[dict[str, dict[str, _Rows]], dict[str, Memory]]:
    """Written once, in memory, by the code that is measured: as rows, and as read back."""
    ann, ben = tacit.Requester("telegram:7001"), tacit.Requester("telegram:7002")
    chats = {
        "private": tacit.Chat.private("telegram:7001"),
        "group": tacit.Chat.group("telegram:-7", participants=[ann, ben], complete=True),
    }
    heard = audience_id(frozenset({"ext:telegram:7001", "ext:telegram:7002"}))
    found: dict[str, dict[str, _Rows]] = {}
    memories: dict[str, Memory] = {}
    with tacit.open("sqlite://") as memory:
        for name, (where, fields) in WRITTEN.items():
            content = f"the words of {name}"
            done = memory.view(ann, chats[where]).remember(content, **fields)
            memories[name] = memory.view(ann, chats["private"]).show(done.id)
            named: dict[Any, str] = {
                done.id: "id",
                content: "content",
                "ext:telegram:7001": "person",
                chats[where].id: "chat",
                heard: "heard",
            }
            with memory._storage.database.read() as connection:
                found[name] = {}
                for table in _TABLES:
                    column = "id" if table == "memories" else "memory_id"
                    query = text(f"SELECT * FROM {table} WHERE {column} = :id")
                    result = connection.execute(query, {"id": done.id})
                    found[name][table] = _Rows(list(result.keys()), list(result.one()), named)
    return found, memories


class Filling:
    """Fills one store. People and groups that memos name are registered as an adapter would."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._patterns, self._memories = patterns()
        self._doors: dict[tuple[str, int, str], str] = {}
        self._count = 1_000  # below are the rows that were written before
        self._revisions: Counter[str] = Counter()
        self._people: set[int] = set()
        self._groups: dict[str, Group] = {}
        self._heard: dict[str, str] = {}  # by chat: its one set of listeners

    def add(self, memos: Iterable[Memo]) -> None:
        turns = iter(memos)
        while chunk := list(islice(turns, _CHUNK_COUNT)):
            self._add(chunk)

    def close(self) -> None:
        revisions = [(SPACE, thread, rev) for thread, rev in sorted(self._revisions.items())]
        self._sink.insert("thread_revisions", ("space_id", "thread", "rev"), revisions)
        self._register()
        self._sink.close()

    def _add(self, memos: list[Memo]) -> None:
        rows: dict[tuple[str, str], list[list[Any]]] = {}
        numbers: list[tuple[int, str, str]] = []
        words: list[tuple[int, str, str, str]] = []
        in_column = not self._sink.words_in_tables
        for memo in memos:
            self._count += 1
            values = self._values(memo)
            said, own = build_fts_document(SPACE, values["person"], values["content"])
            for table, pattern in self._patterns[memo.pattern].items():
                row = pattern.copy(values)
                if in_column and table == "memories":
                    row.append(" ".join(f"'{word}'" for word in fts_lexemes(FtsDocument(said, own))))
                rows.setdefault((table, memo.pattern), []).append(row)
            numbers.append((self._count, SPACE, values["id"]))
            doors_of = self._doors_of(memo, values)
            words.append((self._count, " ".join(said), doors_of, " ".join(own)))
        for table, name in sorted(rows, key=lambda key: _TABLES.index(key[0])):
            columns = self._patterns[name][table].columns
            own = ["fts_document"] if in_column and table == "memories" else []
            self._sink.insert(table, columns + own, rows[table, name])
        if self._sink.words_in_tables:
            self._sink.insert("fts_rows", ("number", "space_id", "memory_id"), numbers)
            self._sink.insert("fts_index", ("rowid", "content", "acl_tokens", "owner_words"), words)

    def _values(self, memo: Memo) -> dict[str, Any]:
        self._people.add(memo.person)
        chat = f"telegram:{memo.person}"
        heard = None
        if memo.group is not None:
            chat = memo.group.chat
            if chat not in self._groups:
                self._groups[chat] = memo.group
                self._people.update(memo.group.members)
                self._heard[chat] = audience_id(frozenset(memo.group.subjects))
            heard = self._heard[chat]
        self._revisions[chat] += 1
        return {
            "id": _id(self._count),
            "content": sentence(self._count),
            "person": f"ext:telegram:{memo.person}",
            "chat": chat,
            "heard": heard,
            "rev": self._revisions[chat],
            "at": _START + self._count * 1_000,
        }

    def _doors_of(self, memo: Memo, values: dict[str, Any]) -> str:
        """The same for all of a person's memories of one pattern in one chat."""
        same = (memo.pattern, memo.person, values["chat"])
        if same not in self._doors:
            person = values["person"]
            pattern = self._memories[memo.pattern]
            copy = replace(pattern, owner=person, speaker=person, learned_in=values["chat"])
            self._doors[same] = acl_tokens_of_memory(copy, values["heard"])
        return self._doors[same]

    def _register(self) -> None:
        subjects = {n: f"ext:telegram:{n}" for n in sorted(self._people)}
        insert = self._sink.insert
        insert("subjects", ("space_id", "id", "created_at"), [(SPACE, s, _START) for s in subjects.values()])
        insert(
            "person_names",
            ("space_id", "person", "kind", "folded", "known_to", "name", "created_at"),
            [(SPACE, s, "name", f"name {n}", "", f"Name {n}", _START) for n, s in subjects.items()],
        )
        friends = [(f"person:{_id(n)}", s, f"friend {n}") for n, s in subjects.items()]
        insert(
            "people",
            ("space_id", "id", "created_by", "created_at"),
            [(SPACE, person, s, _START) for person, s, _ in friends],
        )
        insert(
            "person_names",
            ("space_id", "person", "kind", "folded", "known_to", "name", "created_at"),
            [(SPACE, person, "name", name, s, name, _START) for person, s, name in friends],
        )
        insert(
            "same_people",
            ("space_id", "known_to", "person", '"into"', "created_at"),
            [(SPACE, s, f"{person}1", person, _START) for person, s, _ in friends],
        )
        private = [Group(f"telegram:{n}", (n,)) for n in subjects]
        insert(
            "chats",
            ("space_id", "id", "kind", "confidential", "migrated_to", "created_at"),
            [(SPACE, g.chat, "private", 0, None, _START) for g in private]
            + [(SPACE, g.chat, "group", 0, None, _START) for g in self._groups.values()],
        )
        insert(
            "chat_members",
            ("space_id", "chat", "person", "joined_at", "left_at"),
            [(SPACE, g.chat, s, _START, None) for g in (*private, *self._groups.values()) for s in g.subjects],
        )
        linked = [(n, s) for n, s in subjects.items() if n >= OTHERS and n % 3 == 0]
        insert(
            "identity_links",
            ("space_id", "id", "source", "target", "kind", "actor", "created_at", "verified_at"),
            [(SPACE, _id(n), s, f"acct:{n}", "link", "system", _START, _START) for n, s in linked],
        )
        insert(
            "link_offers",
            (
                "space_id", "id", "code_hash", "offered_by", "accepted_by", "state", "created_at",
                "expires_at",
            ),
            [(SPACE, _id(n), f"{n:064}", s, f"{s}1", "asked", _START, _START + n)
             for n, s in subjects.items()],
        )  # fmt: skip
        looks = [(s, _id(n), _START + n) for n, s in subjects.items()]
        insert(
            "access_log",
            ("space_id", "id", "at", "actor", "operation", "count"),
            [(SPACE, id, at, "operator:root", "browse", 1) for _, id, at in looks],
        )
        insert(
            "access_log_people",
            ("space_id", "entry_id", "person", "at", "count"),
            [(SPACE, id, s, at, 1) for s, id, at in looks],
        )
        tenants = [(f"tenant-{n}", "00" * 32, 1, _START) for n in range(20)]
        insert("spaces", ("space_id", "secret", "identity_rev", "created_at"), tenants)
        insert("revisions", ("space_id", "access_path", "rev", "cleared_rev"), self._partitions())
        insert(
            "audience_people",
            ("space_id", "audience", "person"),
            [(SPACE, self._heard[chat], s) for chat, group in self._groups.items() for s in group.subjects],
        )

    def _partitions(self) -> list[tuple[str, str, int, int]]:
        """Everything that leads to a memory, none of which has changed since it was written."""
        people = [f"ext:telegram:{n}" for n in sorted(self._people)]
        rooms = [f"telegram:{n}" for n in sorted(self._people)] + sorted(self._groups)
        found = [person_path(one) for one in people]
        found += [chat_path(one) for one in rooms]
        found += [audience_path(one) for one in sorted(set(self._heard.values()))]
        last = max(memory["memories"].stamp for memory in self._patterns.values())
        return [(SPACE, door, last, last) for door in found]


def _id(n: int) -> str:
    number, letters = n * _SPREAD % _IDS, []
    for _ in range(8):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)
