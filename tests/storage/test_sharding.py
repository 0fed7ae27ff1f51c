"""A busy day on a PostgreSQL whose every table is divided by space: each statement that really runs
touches one part of each table, as it would touch one server of a sharded PostgreSQL."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, make_url, text

import tacit
from tacit.bootstrap import open_memory
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite
from tacit.settings import JobsSettings, LearnSettings, MemorySettings, SessionsSettings, Settings
from tacit.storage.schema import metadata
from tests.contract.rooms import group, private
from tests.databases import PostgresDatabases
from tests.storage.test_schema_rules import divide_by_space

PARTS = 2
SCHEMA = "scratch"
ALICE, BOB = tacit.Requester("telegram:1001", name="Alice"), tacit.Requester("slack:T1:U2")
# What is asked of all spaces at once, because nobody knows yet which one it is. Each is one small
# question to every server, and none is part of remembering or recalling.
OF_ALL_SPACES = (
    "SELECT jobs.",  # a worker takes the next of whatever space
    "UPDATE jobs SET due_at",  # after the clock has leapt
    "SELECT spaces.space_id FROM spaces",  # the list of spaces
    "UPDATE tombstones SET scrubbed",  # the files of the database no longer hold what was erased
    "SELECT erasures.id, erasures.remains",  # of which of them files still hold something
    "SELECT erasures.remains",
    "UPDATE erasures SET remains",
    "SELECT api_keys.",  # whose key it is
    "SELECT EXISTS (SELECT api_keys.",  # whether there is any
)
SETTINGS = Settings(
    learn=LearnSettings(workers=0, debounce_seconds=0),
    jobs=JobsSettings(on_open=False),
    memory=MemorySettings(sessions=SessionsSettings(keep=True)),
)


@pytest.fixture(scope="module")
def divided_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """Every table in parts by space, and every plan told to whoever runs the statement."""
    url = postgres_databases.create_migrated()
    name = make_url(url).database
    engine = create_engine(url)
    with engine.begin() as connection:
        divide_by_space(connection, SCHEMA, PARTS)
        for what, value in (
            ("search_path", f"{SCHEMA}, public"),
            ("session_preload_libraries", "auto_explain"),
            ("auto_explain.log_min_duration", "0"),
            ("auto_explain.log_format", "json"),
            ("auto_explain.log_level", "notice"),
            ("auto_explain.log_nested_statements", "on"),
            # Parts that a plan names and never gets to are left out when it runs.
            ("auto_explain.log_analyze", "on"),
            ("auto_explain.log_timing", "off"),
        ):
            connection.execute(text(f'ALTER DATABASE "{name}" SET {what} = {value}'))
    engine.dispose()
    yield url
    postgres_databases.drop(url)


class Plans:
    """What the server says of each statement of a memory."""

    def __init__(self, engine: Engine) -> None:
        self.told: list[dict[str, Any]] = []
        event.listen(engine, "connect", self._listen)
        engine.dispose()  # those that are open do not tell

    def _listen(self, connection: Any, _record: object) -> None:
        connection.add_notice_handler(self._hear)

    def _hear(self, notice: Any) -> None:
        found = re.search(r"plan:\n(\{.*\})", notice.message_primary or "", re.DOTALL)
        if found:
            self.told.append(json.loads(found[1]))

    def crossing(self) -> list[tuple[str, str]]:
        """Tables of which more than one part is read by one statement, and the statement."""
        found = []
        for one in self.told:
            parts: dict[str, set[str]] = {}
            for relation in _relations(one["Plan"]):
                table, _, part = relation.rpartition("_")
                if table in metadata.tables and part.isdigit():
                    parts.setdefault(table, set()).add(part)
            query = " ".join(one["Query Text"].split())
            found += [(table, query) for table, seen in parts.items() if len(seen) > 1]
        return found


def _relations(plan: dict[str, Any]) -> Iterator[str]:
    if "Relation Name" in plan and plan.get("Actual Loops"):
        yield plan["Relation Name"]
    for below in plan.get("Plans", ()):
        yield from _relations(below)


@pytest.fixture
def memory(divided_url: str) -> Iterator[Memory]:
    with open_memory(divided_url, settings=SETTINGS, embedder=None) as opened:
        yield opened


def busy_day(memory: Memory) -> None:
    alice, bob = private(memory, ALICE, thread="t1"), private(memory, BOB)
    id = alice.remember("I like green apples", about=["Zoe"], tags=["fruit"]).id
    other = alice.put("profile", "timezone", "Europe/Lisbon").id
    alice.update(id, "I like red apples", if_version=1)
    alice.relate(id, other, "related")
    alice.pin(id)
    alice.set_visibility(id, "public_ok")
    alice.withhold_from(id, ["Yves"])
    alice.people.name("Zoe", "Zoe Miller")
    room = group(memory, ALICE, "telegram:-5", here=(ALICE, BOB))
    said = room.remember("The picnic is on Sunday", visibility="room", sensitivity="public").id
    memory.admin.link("slack:T1:U2", "acct:bob")
    alice.record([tacit.Message("user", "Shall we have a picnic?")], session="s1")
    alice.learn([tacit.Message("user", "My favourite colour is blue", id="m1")])
    memory.jobs.wait_for_learning()
    alice.unlearn("m1")
    memory.inbox.add("telegram", [tacit.Update(f"{n}", ALICE.key, "{}", ALICE.key) for n in range(3)])
    memory.inbox.complete("telegram", "0")
    memory.inbox.fail("telegram", "1")
    assert len(memory.inbox.pending("telegram")) == 2
    phone = private(memory, tacit.Requester("matrix:alice"))
    with suppress(tacit.NotFound):
        phone.account.accept_link("ABCDE-23456")
    phone.account.accept_link(alice.account.offer_link().code)
    assert alice.account.pending_link()
    alice.account.confirm_link()
    phone.account.unlink()
    phone.account.refuse_link()
    _read(alice, id)
    _read(group(memory, BOB, "telegram:-5", here=(ALICE, BOB)), said)
    root = memory.operator("root")
    root.browse(tacit.Search(words="app"))
    root.show(id)
    root.audit.access_log()
    alice.forget(said)
    alice.restore(said)
    alice.forget_key("profile", "timezone")
    lines = list(alice.export(everything=True, turns=True))
    list(private(memory.space("other"), ALICE).imports.add_lines(lines).refused)
    alice.erase(said)
    bob.wipe()
    key = memory.keys.create("adapter", scopes=["read", "act-as"])
    assert memory.keys.authenticate(key.token)
    assert memory.keys.any_active()
    memory.keys.revoke(key.key.id)
    alice.checkpoints.save({"step": 1}, thread="t1")
    assert alice.checkpoints.get("t1")
    steps = alice.checkpoints.steps
    for id, parent in (("1", None), ("2", "1")):
        step = GraphStep(thread="t", id=id, parent=parent, type="x", data=b"", run="r")
        steps.save(step, [StepValue(channel="a", version=id, type="x", data=b"")])
        steps.write("t", "", id, [StepWrite(task="k", index=0, channel="a", type="x", data=b"")])
    assert steps.find("t")
    assert len(steps.list()) == 2
    steps.copy_thread("t", "u")
    steps.prune(["t"])
    steps.delete_runs(["r"])
    steps.delete_thread("u")
    alice.once("k1").remember("I like blue skies")
    moved = [tacit.ImportItem(content="I sail", source="1", key="hobby", about=["Zoe"])]
    alice.imports.preview(moved, source="mem0")
    assert alice.imports.add("r1", moved, source="mem0").created == 1
    assert alice.imports.add("r2", moved, source="mem0").already == 1
    assert alice.imports.revert("r1").forgotten == 1
    assert len(alice.imports.list()) == 2
    memory.jobs.run_due()
    memory.admin.stats()
    memory.admin.erase_person("telegram:1001")


def _read(view: Any, id: str) -> None:
    view.recall("which apples?")
    view.query("apples")
    view.block()
    view.fresh("apples")
    view.get("profile", "timezone")
    view.list()
    view.people.about("Zoe")
    for words in (None, "app", "red app"):
        view.browse(tacit.Search(words=words, about="me"))
        view.browse_count(tacit.Search(words=words))
    view.audit.access_log()
    view.show(id)
    view.history(id)
    view.people.list()
    view.proposals.list()
    view.delta(since=0)
    view.stats()
    with suppress(tacit.NotFound):
        view.explain(id)
    view.sessions.begin()
    list(view.audit.export_history())


def test_every_statement_stays_within_its_space(memory: Memory) -> None:
    plans = Plans(memory._storage.database.engine)
    busy_day(memory.space("tenant"))
    touched = {relation.rpartition("_")[0] for one in plans.told for relation in _relations(one["Plan"])}
    assert len(plans.told) > 200
    assert {"memories", "memory_people", "identity_links", "jobs"} <= touched
    crossing = {query for _, query in plans.crossing() if not query.startswith(OF_ALL_SPACES)}
    assert crossing == set()


def test_a_join_without_the_space_is_what_the_plans_tell(memory: Memory) -> None:
    """The check above can fail: this is how."""
    private(memory.space("tenant"), ALICE).remember("I like green apples")
    engine = memory._storage.database.engine
    plans = Plans(engine)
    with engine.connect() as connection:
        connection.execute(
            text("SELECT m.id FROM memories AS m JOIN history AS h ON h.memory_id = m.id WHERE m.space_id = 'tenant'")
        )
    assert {table for table, _ in plans.crossing()} == {"history"}
