"""No read scans: the plans of every statement that a view really runs, on both databases.

Planners choose by statistics, so each read is planned in several stores: one where the group is
everything there is, one where it is lost among others, and for SQLite without statistics too.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Connection, make_url, text

import tacit
from bench.crowd import Group, Memo, mixed, one_group, one_person, others
from bench.filling import Filling
from bench.plans import Statement, plans_of, recorded, traced
from bench.sinks import open_sink
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite
from tacit.records.memory import ChatKind
from tacit.records.queries import Search
from tacit.storage.schema import metadata
from tacit.view.view import VIEW_OPERATIONS, View
from tests.databases import PostgresDatabases
from tests.storage.test_note_plans import fill as notes_of_others

ALICE = 1001
GROUP = Group("telegram:-50", tuple(range(2001, 2031)))
BOB, CAROL = GROUP.members[:2]
ACCOUNT = "acct:bob"

AN_EARLIER_TIME = datetime(2026, 1, 1, tzinfo=UTC)
INCOMING = [
    tacit.ImportItem(content="The train to Lisbon", source="1", about=["Tom"]),
    tacit.ImportItem(content="A ferry", category="fact", key="ferry"),
    tacit.ImportItem(content="A tram"),
]

Read = Callable[[View, str], object]


def _narrowed_about(view: View, id: str) -> object:
    return [view.people.about(f"telegram:{CAROL}"), view.people.about("Name 2002"), view.people.about("my boss")]


def _continued(view: View, id: str) -> object:
    first = view.list(limit=2)
    return view.list(limit=2, cursor=first.cursor)


READS: dict[str, Read] = {
    "get": lambda v, _: v.get("profile", "timezone"),
    "show": lambda v, id: _found(lambda: v.show(id)),
    "list": lambda v, _: v.list(),
    "list by category": lambda v, _: v.list("fact"),
    "list by kind": lambda v, _: v.list(kind="knowledge"),
    "list by prefix": lambda v, _: v.list("profile", prefix="time"),
    "list by state": lambda v, _: v.list(state="forgotten"),
    "list pinned": lambda v, _: v.list(pinned=True),
    "list by everything": lambda v, _: v.list("profile", kind="knowledge", prefix="t", state="active", pinned=False),
    "list on": _continued,
    "count": lambda v, _: v.count(),
    "count by everything": lambda v, _: v.count("profile", kind="knowledge", prefix="t", state="active", pinned=False),
    "people.about": _narrowed_about,
    "recall": lambda v, _: v.recall("the train to Lisbon"),
    "recall of a rare word": lambda v, _: v.recall("zanzibar"),
    "recall with filters": lambda v, _: v.recall(
        "the train", categories=["fact"], user="me", updated_after=AN_EARLIER_TIME
    ),
    "recall of then": lambda v, _: v.recall("the train", as_of=AN_EARLIER_TIME),
    "recall of turns": lambda v, _: v.recall("the train", include=["memories", "turns"]),
    "query": lambda v, _: v.query("the train to Lisbon"),
    "block": lambda v, _: v.block(),
    "block of notes": lambda v, _: v.block("summary"),
    "sessions.begin": lambda v, _: v.sessions.begin(),
    "checkpoints.get": lambda v, _: v.checkpoints.get(),
    "imports.list": lambda v, _: [v.imports.list(), v.imports.list(limit=1, cursor=v.imports.list(limit=1).cursor)],
    "imports.preview": lambda v, _: _in_private(lambda: v.imports.preview(INCOMING, source="mem0")),
    "checkpoints.steps": lambda v, _: [
        v.checkpoints.steps.find("t"),
        v.checkpoints.steps.find("t", "", "1"),
        v.checkpoints.steps.list("t", before="9"),
        v.checkpoints.steps.list("t", "", metadata={"step": 1}, limit=1),
        v.checkpoints.steps.list(limit=1, cursor='["9", "t", ""]'),
    ],
    "account.pending_link": lambda v, _: v.account.pending_link(),
    "account.identities": lambda v, _: v.account.identities(),
    "files.list": lambda v, _: v.files.list(),
    "files.sizes": lambda v, _: v.files.sizes(),
    "files.read": lambda v, _: [_found(partial(v.files.read, path)) for path in ("_index.md", "a.md", *v.files.list())],
    "fresh": lambda v, _: v.fresh("the train to Lisbon"),
    "history": lambda v, id: _found(lambda: v.history(id)),
    "delta": lambda v, _: v.delta(since=1),
    "stats": lambda v, _: v.stats(),
    "people.list": lambda v, _: v.people.list(),
    "graph": lambda v, _: [v.graph(), v.graph(limit=3)],
    "audit.activity": lambda v, _: [
        v.audit.activity(),
        v.audit.activity(since=AN_EARLIER_TIME, limit=2, cursor=v.audit.activity(limit=2).cursor),
    ],
    "browse": lambda v, _: v.browse(),
    "browse words": lambda v, _: [v.browse(Search(words=one)) for one in ("t", "zan", "8th lis")],
    "browse by everything": lambda v, _: v.browse(
        Search(
            words="t",
            category="fact",
            kind="knowledge",
            about="me",
            chat="telegram:-50",
            visibility="room",
            sensitivity="public",
            state="any",
            pinned=False,
            since=AN_EARLIER_TIME,
            until=AN_EARLIER_TIME,
        )
    ),
    "browse what is rare": lambda v, _: v.browse(Search(about="telegram:9", state="forgotten")),
    "browse on": lambda v, _: v.browse(Search(words="t"), limit=2, cursor=v.browse(limit=2).cursor),
    "browse_count": lambda v, _: [v.browse_count(Search(words=one)) for one in (None, "t", "zan")],
    "audit.access_log": lambda v, _: v.audit.access_log(),
    "audit.daily_counts": lambda v, _: v.audit.daily_counts(),
    "explain": lambda v, id: _found(lambda: v.explain(id)),
    "explain elsewhere": lambda v, id: _found(
        lambda: v.explain(id, _group(complete=True), tacit.Requester(f"telegram:{CAROL}"))
    ),
    "audience.chats": lambda v, _: v.audience.chats(),
    "audience.preview": lambda v, _: v.audience.preview(_group(complete=True), limit=3),
    "audience.preview of somebody": lambda v, _: v.audience.preview(
        _private(CAROL), tacit.Requester(f"telegram:{CAROL}"), Search(words="t")
    ),
    "audience.of": lambda v, id: _found(lambda: v.audience.of(id)),
    "audience.of of what a group heard": lambda v, _: [
        _found(partial(v.audience.of, one.id)) for one in v.list(limit=3)
    ],
    "export": lambda v, _: list(v.export()),
    "export everything": lambda v, _: list(v.export(everything=True, turns=True)),
    "audit.export_history": lambda v, _: list(v.audit.export_history()),
}


def _found(read: Callable[[], object]) -> object:
    """Absent or forbidden is an answer too, and its statements ran."""
    try:
        return read()
    except tacit.NotFound:
        return None


def _in_private(read: Callable[[], object]) -> object:
    """Elsewhere it is refused, and what ran before that counts."""
    try:
        return read()
    except tacit.InvalidInput:
        return None


def _group(*, complete: bool) -> tacit.Chat:
    people = [tacit.Requester(f"telegram:{n}") for n in GROUP.members]
    return tacit.Chat.group(GROUP.chat, participants=people, complete=complete)


def _private(person: int) -> tacit.Chat:
    return tacit.Chat.private(f"telegram:{person}")


# Who asks where. Bob has an account and two keys; Alice is in no group.
ROOMS: dict[str, tuple[int, tacit.Chat]] = {
    "in private": (ALICE, _private(ALICE)),
    "in private with aliases": (BOB, _private(BOB)),
    "in a complete group": (CAROL, _group(complete=True)),
    "in a group": (CAROL, _group(complete=False)),
    "in a complete group with aliases": (BOB, _group(complete=True)),
    "in a group that one is not in": (ALICE, _group(complete=False)),
    "in an unknown chat": (CAROL, tacit.Chat("slack:C1", ChatKind.UNKNOWN)),
}


@dataclass(frozen=True)
class Filled:
    url: str
    ids: dict[int, str]  # one memory of each writer, with versions and a history


def _crowd() -> Iterator[Memo]:
    return mixed((200, one_person(ALICE, 200)), (900, one_group(GROUP, 30)), (6_000, others(6_000, 1_000)))


def _mostly_the_group() -> Iterator[Memo]:
    return mixed((1_800, one_group(GROUP, 60)), (1_800, others(1_800, 600)))


WITHOUT_STATISTICS = " without statistics"
STORES = {"crowd": _crowd, "mostly the group": _mostly_the_group}


def _relate(connection: Connection) -> None:
    """Neighbours among everybody's: in a table of a few rows no index is worth its while."""
    owned = text("SELECT owner, id FROM memories WHERE owner IS NOT NULL ORDER BY owner, id")
    rows = connection.execute(owned).all()
    insert = text(
        "INSERT INTO relations (space_id, from_id, to_id, relation_type, strength, found, "
        "created_at) VALUES ('default', :one, :other, 'related_to', 0.7, :found, 0)"
    )
    pairs = [
        {"one": one.id, "other": other.id, "found": True} for one, other in pairwise(rows) if one.owner == other.owner
    ]
    connection.execute(insert, pairs)


def _step(view: View, thread: str) -> None:
    for id in ("1", "2"):
        step = GraphStep(thread=thread, id=id, type="x", data=b"-", versions={"a": id, "b": id})
        values = [StepValue(channel=name, version=id, type="x", data=b"-") for name in "ab"]
        view.checkpoints.steps.save(step, values)
        write = StepWrite(task="k", index=0, channel="a", type="x", data=b"-")
        view.checkpoints.steps.write(thread, "", id, [write])


def _steps_of_others(connection: Connection) -> None:
    """As many as there are, once for each of many people, in private and in the same group."""
    for table in ("graph_steps", "graph_values", "graph_writes"):
        columns = [column.name for column in metadata.tables[table].columns]
        copied = ", ".join("person || '-' || n" if c == "person" else c for c in columns)
        numbers = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers"
        connection.exec_driver_sql(
            f"INSERT INTO {table} ({', '.join(columns)}) {numbers} WHERE n < 60) SELECT {copied} FROM {table}, numbers"
        )


def _fill(url: str, memos: Iterator[Memo]) -> Filled:
    with tacit.open(url) as memory:
        _view(memory, 5, _private(5)).put("profile", "timezone", "UTC")  # makes the space
    filling = Filling(open_sink(url))
    filling.add(memos)
    filling.close()
    with tacit.open(url) as memory:
        memory._storage.database.write(_relate)
        memory.admin.link(f"telegram:{BOB}", ACCOUNT)
        memory.admin.link("slack:T1:U1", ACCOUNT)
        ids = {}
        for person in (ALICE, BOB, CAROL):
            view = _view(memory, person, _private(person))
            view.put("profile", "timezone", "Europe/Lisbon")
            view.remember("A trip to Zanzibar", withheld_from=["Sarah"], about=["Tom"], pinned=True)
            view.people.name("Tom", "my boss", "relation")
            done = view.remember("The first wording")
            view.update(done.id, "The second wording")
            gone = view.remember("Not for long")
            assert gone.id is not None
            view.forget(gone.id)
            view.sessions.end(draft=tacit.SessionDraft(summary="Talked.", facts=("It rains",)))
            for run in ("one", "two"):
                view.imports.add(run, INCOMING, source="mem0")
            _step(view, "t")
            if person in GROUP.members:
                _step(_view(memory, person, _group(complete=True)), "t")
            ids[person] = done.id
        notes_of_others(memory, list(ids.values()))
        memory._storage.database.write(_steps_of_others)
        memory.admin.maintain()
    return Filled(url, ids)


class Stores:
    """Each is filled once, in whatever order tests ask for them."""

    def __init__(self, folder: Path, request: pytest.FixtureRequest) -> None:
        self._folder = folder
        self._request = request
        self._made: dict[tuple[str, str], Filled] = {}
        self._ran: dict[tuple[str, str, str], list[tuple[str, Statement]]] = {}

    @cached_property
    def _postgres(self) -> PostgresDatabases:
        databases: PostgresDatabases = self._request.getfixturevalue("postgres_databases")
        return databases

    def of(self, database: str, name: str) -> Filled:
        found = self._made.get((database, name))
        if found is None:
            found = self._made[database, name] = self._make(database, name)
        return found

    def _make(self, database: str, name: str) -> Filled:
        if database == "postgres":
            return _fill(self._postgres.create_migrated(), STORES[name]())
        path = self._folder / f"{database} {name}.db"
        if not database.endswith(WITHOUT_STATISTICS):
            return _fill(f"sqlite:///{path}", STORES[name]())
        filled = self.of("sqlite", name)
        shutil.copy(str(make_url(filled.url).database), path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM sqlite_stat1")
        return Filled(f"sqlite:///{path}", filled.ids)

    def statements(self, database: str, name: str, room: str) -> list[tuple[str, Statement]]:
        """Statistics change plans, and not what is run."""
        where = (database.removesuffix(WITHOUT_STATISTICS), name, room)
        if where not in self._ran:
            self._ran[where] = list(_statements(self.of(*where[:2]), room).values())
        return self._ran[where]

    def drop(self) -> None:
        for (database, _), filled in self._made.items():
            if database == "postgres":
                self._postgres.drop(filled.url)


@pytest.fixture(scope="module")
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    made = Stores(tmp_path_factory.mktemp("plans"), request)
    yield made
    made.drop()


def _view(memory: Memory, person: int, chat: tacit.Chat) -> View:
    view = memory.view(tacit.Requester(f"telegram:{person}"), chat)
    assert isinstance(view, View)
    return view


def _statements(filled: Filled, room: str) -> dict[str, tuple[str, Statement]]:
    """By their text, with the first read that ran each. All reads twice: the first time nothing
    is known yet, the second time the caches are warm. One asks hundreds of times by itself."""
    person, chat = ROOMS[room]
    found: dict[str, tuple[str, Statement]] = {}
    with tacit.open(filled.url) as memory:
        view = _view(memory, person, chat)
        again = {name: read for name, read in READS.items() if name != "history_export"}
        for name, read in [*READS.items(), *again.items()]:
            with recorded(memory) as ran:
                read(view, filled.ids[person])
            assert ran, f"{name} ran nothing"
            for statement in ran:
                if statement.sql.startswith(("SELECT", "WITH")):  # a block notes that it was taken
                    found.setdefault(statement.sql, (name, statement))
    return found


# Where there is little but the group, only a group's plans could be others.
PLANNED = [(store, room) for store in STORES for room in ROOMS if store == "crowd" or "group" in room]


@pytest.mark.parametrize("database", ["sqlite", f"sqlite{WITHOUT_STATISTICS}", "postgres"])
@pytest.mark.parametrize(("store", "room"), PLANNED)
def test_no_read_scans_a_table_or_a_whole_space(stores: Stores, database: str, store: str, room: str) -> None:
    wide = []
    with closing(plans_of(stores.of(database, store).url)) as plans:
        for name, statement in stores.statements(database, store, room):
            wide += [f"{name}: {step}" for step in plans.too_wide(statement)]
    assert wide == []


@pytest.mark.parametrize("room", ["in private with aliases", "in a complete group"])
def test_the_recorded_statements_are_all_that_ran(stores: Stores, room: str) -> None:
    """Else a read that goes past the recorder would go past the test above."""
    filled = stores.of("sqlite", "mostly the group")
    person, chat = ROOMS[room]
    with tacit.open(filled.url, embedder=None) as memory:  # or vectors are made meanwhile
        view = _view(memory, person, chat)
        with traced(memory) as ran, recorded(memory) as found:
            for read in READS.values():
                read(view, filled.ids[person])
        selects = [sql for sql in ran if sql.startswith(("SELECT", "WITH"))]
    assert len(selects) == len([s for s in found if s.sql.startswith(("SELECT", "WITH"))]) > 0


def test_every_way_to_read_is_among_the_reads() -> None:
    reads = {name for name, one in VIEW_OPERATIONS.items() if not one.writes}
    public = {"checkpoints.steps" if ".steps." in name else name for name in reads}
    public -= {"proposals.list", "suggest_update"}
    assert public == {name.split(" ")[0] for name in READS}


@pytest.mark.parametrize(
    ("sql", "wide"),
    [
        ("SELECT content FROM memories", True),
        ("SELECT content FROM memories WHERE space_id = 'default'", True),
        ("SELECT content FROM memories WHERE space_id = 'a' AND learned_in IS NOT NULL", True),
        ("SELECT rowid FROM fts_index", True),
        ("SELECT rowid FROM fts_index WHERE fts_index MATCH 'lisbon'", False),
        ("SELECT content FROM memories WHERE space_id = 'default' AND id = 'x'", False),
    ],
)
def test_a_plan_that_reads_too_much_is_recognised(tmp_path: Path, sql: str, wide: bool) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    tacit.open(url).close()
    with closing(plans_of(url)) as plans:
        assert bool(plans.too_wide(Statement(sql, ()))) is wide
