"""Erase: gone now, everywhere, for good; on SQLite down to the last byte."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, make_url, text

import tacit
from tacit import Certificate, Requester, limits
from tacit.memory import Memory
from tacit.records.results import Maintained
from tacit.settings import DbSettings, Settings, SqliteSettings
from tacit.storage import memories, postgres
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, BOB, FAMILY, LENT, OPEN, WEB, SetClock, group, index_words, kept, private, said
from tests.contract.rows import rows
from tests.contract.traces import cleaned, dead_rows, rows_with, traces
from tests.databases import PostgresDatabases


def canary() -> str:
    return f"Qx{uuid4().hex}"


def lived(memory: Memory, word: str) -> str:
    """A memory that has been through everything, with the word wherever a word can be."""
    view = private(memory, ALICE)
    for number in range(30):
        view.remember(f"filler {number} about nothing", tags=[f"tag{number}"])
    id = kept(
        view,
        f"first {word}",
        category="profile",
        key=word,
        slot=word,
        tags=[word],
        about=[f"Zelda {word}"],
        withheld_from=[f"Link {word}"],
        agent=word,
        run=word,
        role=word,
        message=word,
    )
    index_words(memory)
    for number in range(20):
        view.update(id, f"{word} in version {number} " + "and more words " * (number * 10))
    view.forget(id)
    view.restore(id)
    view.pin(id)
    view.update(id, "the word is not in it any more")
    for number in range(30):
        view.remember(f"later filler {number}")
    index_words(memory)
    assert [one.memory.id for one in view.recall(word)] == [id]  # by its key
    return id


ERASES: dict[str, Callable[[Memory, str], tacit.Erased]] = {
    "erase": lambda memory, id: private(memory, ALICE).erase(id),
    "wipe": lambda memory, _: private(memory, ALICE).wipe(),
    "an operator's erase": lambda memory, id: memory.operator("root").erase(id),
    "erase_subject": lambda memory, _: memory.admin.erase_person(ALICE.key),
    "erase_space": lambda memory, _: memory.admin.erase_space(),
}


@pytest.mark.parametrize("how", ERASES)
def test_nothing_of_an_erased_memory_stays(shared_url: str, opened: Open, clock: SetClock, how: str) -> None:
    memory, other = opened(shared_url), opened(shared_url)
    word = canary()
    id = lived(memory, word)
    private(other, ALICE).list()  # a second process has the database open
    memory.admin.maintain()  # and the planner has looked at the rows
    assert traces(shared_url, word)
    done = ERASES[how](memory, id)
    assert cleaned(done)
    assert traces(shared_url, word) == []
    assert rows_with(shared_url, id) == []
    if not shared_url.startswith("sqlite"):
        assert dead_rows(shared_url) == 0
    assert memory.admin.maintain().healthy
    if how in ("erase", "an operator's erase"):
        assert private(other, ALICE).stats().memories == 60


def test_an_erased_memory_is_gone_from_every_answer(memory: Memory) -> None:
    view = private(memory, ALICE)
    word = canary()
    id = kept(view, f"one {word}", category="profile", key="k", about=[word])
    view.update(id, f"two {word}")
    done = view.erase(id)
    assert (done.count, cleaned(done)) == (1, True)
    for act in (view.show, view.history, view.explain, view.restore, view.erase):
        with pytest.raises(tacit.NotFound, match="no such memory here"):
            act(id)
    assert view.get("profile", "k") is None
    assert view.recall(word) == []
    answers = [view.list(), view.list(state="forgotten"), view.delta(), view.people.list()]
    assert word not in repr([*answers, list(view.export()), view.stats()])
    assert view.stats().memories == 0


def test_the_id_of_an_erased_memory_is_never_given_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    taken = kept(view, "two")
    view.erase(id)
    # Chance would give the erased id, then one in use, before a free one.
    chosen = iter([id, taken, "zyxwvuts"])
    monkeypatch.setattr(memories, "new_memory_id", lambda _: next(chosen))
    monkeypatch.setattr(memories, "new_id", lambda: next(chosen))
    assert kept(view, "three") == "zyxwvuts"


@pytest.mark.parametrize("by", ["the owner", "an operator"])
def test_erasing_a_key_takes_its_values_under_all_of_the_owners_identities(memory: Memory, by: str) -> None:
    phone, web = private(memory, ALICE), private(memory, WEB)
    phone.put("profile", "city", "Porto", **LENT)
    phone.put("profile", "name", "Al")
    memory.admin.link(ALICE.key, "acct:alice")
    id = kept(web, "Lisbon", category="profile", key="city")
    web.forget(id)
    done = web.erase(id) if by == "the owner" else memory.operator("root").erase(id)
    assert done.count == 2
    assert said(web.list()) == ["Al"]
    memory.admin.unlink(ALICE.key)
    assert said(phone.list()) == ["Al"]
    assert said(group(memory, BOB).list()) == []


def test_erasing_takes_what_the_memory_had_replaced(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    word = canary()
    own = private(memory, ALICE)
    first = kept(group(memory, ALICE), f"I live in {word}", **OPEN)
    second = own.update(first, "I live in Lisbon").id
    assert second is not None
    third = kept(own, "v", category="profile", key="k")
    assert group(memory, ALICE).put("profile", "k", "w").id != third
    assert own.erase(second).count == 2
    assert traces(shared_url, word) == []
    assert said(own.list()) == ["w"]


def test_erasing_takes_what_was_replaced_under_an_earlier_identity(memory: Memory) -> None:
    web = private(memory, WEB)
    old = kept(private(memory, ALICE), "I live in Porto")
    memory.admin.link(ALICE.key, "acct:alice")
    new = web.update(old, "I live in Lisbon")
    assert new.supersedes == old
    assert web.erase(new.id).count == 2
    assert memory.admin.stats().memories == 0


def test_a_person_somebody_else_still_speaks_of_keeps_their_name(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", about=["Zelda"])
    view.remember("two", about=["Zelda"])
    view.erase(id)
    assert said(view.people.about("Zelda")) == ["two"]


def test_a_subject_and_a_speaker_erase_what_is_theirs_and_members_do_not(memory: Memory) -> None:
    alice = group(memory, ALICE)
    about_bob = kept(alice, "Bob snores", about=[BOB.key], **OPEN)
    alice.remember("I run", **OPEN)
    behind = kept(private(memory, ALICE), "Bob is dull", about=[BOB.key])
    bob = private(memory, BOB)
    assert bob.erase(about_bob).count == 1
    with pytest.raises(tacit.NotFound):
        bob.erase(behind)
    assert said(private(memory, ALICE).list()) == ["Bob is dull", "I run"]
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    with pytest.raises(tacit.NotFound):
        group(memory, BOB).erase(id)
    assert group(memory, ALICE).erase(id).count == 1
    assert "Standup is at 9" not in said(group(memory, BOB).list())


def test_what_a_correction_replaced_does_not_point_at_it_once_it_is_erased(memory: Memory) -> None:
    old = kept(group(memory, ALICE), "Bob lives in Rome", about=[BOB.key], **OPEN)
    new = group(memory, BOB).update(old, "Bob lives in Milan")
    assert private(memory, ALICE).show(old).superseded_by == new.id
    private(memory, BOB).erase(new.id)
    found = private(memory, ALICE).show(old)
    assert (found.state, found.superseded_by) == ("superseded", None)


def test_what_another_reader_holds_is_reported_and_finished_later(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ERASE_WAIT_MAX_SECONDS", 0.2)
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    impatient = Settings(db=DbSettings(sqlite=SqliteSettings(busy_timeout_ms=50)))
    memory = opened(url, settings=impatient)
    word = canary()
    id = lived(memory, word)
    reader = sqlite3.connect(tmp_path / "tacit.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()
    done = private(memory, ALICE).erase(id)
    assert not done.complete
    assert private(memory, ALICE).recall(word) == []
    assert not memory.admin.maintain().healthy
    reader.close()
    finished = memory.admin.maintain()
    assert finished.healthy
    assert any("erasure" in did for did in finished.did)
    assert traces(url, word) == []


def test_thousands_of_erasures_do_not_wear_out_the_search_index(tmp_path: Path, opened: Open) -> None:
    """Each merge of a larger FTS5 index lifts it by a level, and with 2,000 it is unreadable."""
    memory = opened(f"sqlite:///{tmp_path / 'tacit.db'}")
    view = private(memory, ALICE)
    view.remember("the parrot stays")
    aged = sqlite3.connect(tmp_path / "tacit.db")
    for number in range(10**9, 10**9 + 9_000):
        aged.execute("INSERT INTO fts_index (rowid, content) VALUES (?, 'x')", (number,))
        aged.execute("INSERT INTO fts_index (fts_index) VALUES ('optimize')")
        shape = aged.execute("SELECT length(block) FROM fts_index_data WHERE id = 10")
        if shape.fetchone()[0] > 3_950:  # two bytes for each level
            break
    aged.commit()
    for number in range(40):
        view.erase(kept(view, f"parrot {number}"))
    aged.execute("DELETE FROM fts_index WHERE rowid >= 1000000000")
    aged.commit()
    aged.close()
    assert [one.memory.content for one in view.recall("parrot")] == ["the parrot stays"]
    assert memory.admin.maintain().healthy


def test_an_owners_erase_in_a_group_leaves_no_older_value_behind(memory: Memory) -> None:
    private(memory, ALICE).put("profile", "city", "Porto", **LENT)
    memory.admin.link(ALICE.key, "acct:alice")
    id = kept(private(memory, ALICE), "Lisbon", category="profile", key="city", **LENT)
    room = group(memory, ALICE)
    assert room.erase(id).count == 1  # of what may be heard here
    assert said(group(memory, BOB).list()) == []
    memory.admin.link("slack:T1:UB", "acct:alice")
    assert said(group(memory, BOB).list()) == []
    assert memory.admin.stats().memories == 0


def test_erasing_in_one_room_says_nothing_in_another(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "I run", **OPEN)
    before = group(memory, BOB, FAMILY).delta()
    group(memory, ALICE).erase(id)
    assert group(memory, BOB, FAMILY).delta() == before
    assert group(memory, BOB).delta().changes == ()


WHERE = {"rows", "pages", "log", "server_log", "notes"}


@contextmanager
def server(url: str) -> Iterator[Connection]:
    """As superuser, outside any transaction."""
    there = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(there, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def holding(url: str, *needles: bytes) -> list[str]:
    """The files of the database that hold one of these, all of its pages being written out."""
    if url.startswith("sqlite"):
        folder = Path(make_url(url).database or "").parent
    else:
        with server(url) as connection:
            folder = Path(connection.execute(text("SHOW data_directory")).scalar_one())
            connection.execute(text("CHECKPOINT"))
    assert any(folder.iterdir()), "there is no database to search"
    found = []
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        try:
            data = file.read_bytes()
        except FileNotFoundError:  # the server has removed it meanwhile
            continue
        if any(one in data for one in needles):
            found.append(str(file.relative_to(folder)))
    return found


def turn_log_over(url: str) -> None:
    with server(url) as connection:
        connection.execute(text("SELECT pg_logical_emit_message(false, 'test', '')"))
        connection.execute(text("SELECT pg_switch_wal()"))
        connection.execute(text("CHECKPOINT"))


def segments(url: str) -> int:
    with server(url) as connection:
        return int(connection.execute(text("SELECT count(*) FROM pg_ls_waldir()")).scalar_one())


def issued(done: tacit.Erased) -> Certificate:
    assert done.certificate is not None
    assert done.complete is done.certificate.complete
    return well_formed(done.certificate)


def well_formed(one: Certificate) -> Certificate:
    assert one.complete is (one.pending == ())
    for part in one.pending:
        assert part.where in WHERE
        assert part.what.endswith(".")
        assert part.ends.endswith(".")
    assert json.loads(one.to_json())["complete"] is one.complete
    return one


def where(one: Certificate) -> set[str]:
    return {part.where for part in one.pending}


@dataclass(frozen=True)
class Case:
    words: int  # of chance, so that no compression hides them
    key: bool
    meaning: bool
    analysed: bool
    how: str


def rewritten(memory: Memory) -> Maintained:
    """Rewrite the tables; again while autovacuum or another reader of this database is at work."""
    for _ in range(60):
        done = memory.admin.maintain(rewrite=True)
        if done.healthy:
            return done
        time.sleep(1)
    raise AssertionError(done.problems)


HOW: dict[str, Callable[[Memory, Requester, list[str]], tacit.Erased]] = {
    "erase": lambda memory, who, ids: [private(memory, who).erase(id) for id in ids][-1],
    "wipe": lambda memory, who, _: private(memory, who).wipe(),
    "person": lambda memory, who, _: memory.admin.erase_person(who.key),
    "space": lambda memory, _, __: memory.admin.erase_space(),
}


CASES = st.builds(
    Case,
    words=st.sampled_from([0, 20, 400]),  # within a page; in pieces beside the table
    key=st.booleans(),
    meaning=st.booleans(),
    analysed=st.booleans(),
    how=st.sampled_from(sorted(HOW)),
)


@settings(
    max_examples=4,
    phases=(Phase.explicit, Phase.generate),  # each run rewrites a database: no smaller cases
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(case=CASES)
@example(case=Case(words=0, key=True, meaning=True, analysed=True, how="person"))
@example(case=Case(words=400, key=False, meaning=False, analysed=False, how="erase"))
def test_no_file_holds_what_a_complete_certificate_says_is_gone(shared_url: str, opened: Open, case: Case) -> None:
    word = f"qx{uuid4().hex}"
    meaning = np.frombuffer(uuid4().bytes * 4, np.uint8).astype(np.float32)
    embedder = Table({word: meaning.tolist()}, dimension=64) if case.meaning else None
    memory = opened(shared_url, embedder=embedder)
    who = Requester(f"telegram:{10**14 + uuid4().int % 10**14}", name="Zoe")
    needles = [word.encode()]
    if embedder is not None:
        needles.append(embedder.embed([word])[0].tobytes())
    if case.how == "person":  # the planner's statistics name people
        needles.append(who.key.removeprefix("telegram:").encode())
    ids = []
    for number in range(3):  # the planner notes values of which there are several
        keyed: dict[str, Any] = {"category": "profile", "key": f"k{number}{word}"}
        more = " ".join(uuid4().hex for _ in range(case.words))
        said = f"{number} I saw {word} there, {more}"
        ids.append(kept(private(memory, who), said, **(keyed if case.key else {})))
    private(memory, who).recall(word)
    if case.analysed:
        memory.admin.maintain()
    assert all(holding(shared_url, needle) for needle in needles)

    one = issued(HOW[case.how](memory, who, ids))
    assert not rows(memory, "SELECT 1 FROM memories")
    finishes = 0 if one.complete else segments(shared_url) * 2 + 8
    if not one.complete:
        assert len(rewritten(memory).pending) == 1
        one = well_formed(memory.admin.renew_certificate(one.to_json()))
        assert where(one) == {"log"}
        assert all(name.startswith("pg_wal") for name in holding(shared_url, *needles))
    while not one.complete and finishes:
        turn_log_over(shared_url)
        one = well_formed(memory.admin.renew_certificate(one.to_json()))
        finishes -= 1
    assert one.complete
    assert holding(shared_url, *needles) == []
    assert memory.admin.verify_certificate(one.to_json())
    assert memory.admin.maintain().pending == ()


def test_an_erasure_by_itself_leaves_nothing_in_a_file_and_says_what_a_server_keeps(
    shared_url: str, opened: Open
) -> None:
    memory, word = opened(shared_url), f"qx{uuid4().hex}"
    one = issued(private(memory, ALICE).erase(kept(private(memory, ALICE), f"I saw {word}")))
    found = holding(shared_url, word.encode())
    assert one.complete is shared_url.startswith("sqlite")
    assert one.complete is (found == [])
    assert where(one) == (set() if one.complete else {"pages"})


@pytest.mark.parametrize("holds", ["a snapshot", "a transaction that has written"])
def test_what_an_older_transaction_may_read_is_pending_until_it_ends(
    migrated_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch, holds: str
) -> None:
    monkeypatch.setattr(limits, "ERASE_WAIT_MAX_SECONDS", 0.2)
    memory = opened(migrated_postgres_url)
    id = kept(private(memory, ALICE), "one")
    engine = create_engine(make_url(migrated_postgres_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as other:
        if holds == "a snapshot":
            other = other.execution_options(isolation_level="REPEATABLE READ")
            other.execute(text("SELECT count(*) FROM memories"))
        else:
            other.execute(text("SELECT pg_current_xact_id()"))
        one = issued(private(memory, ALICE).erase(id))
        assert where(one) == {"rows"}
        assert not memory.admin.maintain(rewrite=True).healthy
        assert where(memory.admin.renew_certificate(one.to_json())) == {"rows"}
    engine.dispose()
    assert memory.admin.maintain().healthy
    assert where(memory.admin.renew_certificate(one.to_json())) == {"pages"}


def test_statistics_that_a_transaction_may_still_read_are_pending(
    migrated_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins after the erased rows are gone and before their statistics are replaced."""
    monkeypatch.setattr(limits, "ERASE_WAIT_MAX_SECONDS", 0.2)
    memory = opened(migrated_postgres_url)
    ids = [kept(private(memory, ALICE), f"{number} I saw it") for number in range(3)]
    memory.admin.maintain()  # the planner notes values
    one = issued([private(memory, ALICE).erase(id) for id in ids][-1])
    engine = create_engine(make_url(migrated_postgres_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as other:
        wait_for_readers = postgres.wait_for_readers

        def wait_then_begin(connection: Connection, deleted: str) -> bool:
            waited = wait_for_readers(connection, deleted)
            if not other.in_transaction():
                other.execute(text("SELECT pg_current_xact_id()"))
            return waited

        with monkeypatch.context() as patched:
            patched.setattr(postgres, "wait_for_readers", wait_then_begin)
            assert not memory.admin.maintain(rewrite=True).healthy
        assert where(memory.admin.renew_certificate(one.to_json())) == {"pages"}
    engine.dispose()
    assert rewritten(memory).healthy
    assert where(memory.admin.renew_certificate(one.to_json())) == {"log"}


@pytest.fixture
def weak_url(fresh_postgres_url: str, opened: Open) -> Iterator[str]:
    """A role that may read and write the tables, and neither owns them nor looks at the server."""
    opened(fresh_postgres_url)
    role = f"weak_{uuid4().hex}"
    with server(fresh_postgres_url) as connection:
        connection.execute(text(f"CREATE ROLE {role} LOGIN"))
        for what in ("TABLES", "SEQUENCES", "FUNCTIONS"):
            connection.execute(text(f"GRANT ALL ON ALL {what} IN SCHEMA public TO {role}"))
    yield make_url(fresh_postgres_url).set(username=role).render_as_string(hide_password=False)
    with server(fresh_postgres_url) as connection:
        connection.execute(text(f"DROP OWNED BY {role}"))
        connection.execute(text(f"DROP ROLE {role}"))


def test_a_role_that_may_not_clean_or_look_never_says_complete(
    fresh_postgres_url: str, weak_url: str, opened: Open
) -> None:
    owner, weak = opened(fresh_postgres_url), opened(weak_url)
    one = issued(private(weak, ALICE).erase(kept(private(weak, ALICE), "one")))
    assert not weak.admin.maintain(rewrite=True).healthy
    assert where(weak.admin.renew_certificate(one.to_json())) == {"pages"}

    rewritten(owner)
    for _ in range(segments(fresh_postgres_url) * 2 + 8):
        turn_log_over(fresh_postgres_url)
    assert where(weak.admin.renew_certificate(one.to_json())) == {"log"}  # it was not looked at

    with server(fresh_postgres_url) as connection:
        connection.execute(text(f"GRANT pg_monitor TO {make_url(weak_url).username}"))
    for _ in range(segments(fresh_postgres_url) + 2):
        weak.admin.maintain()
        turn_log_over(fresh_postgres_url)
    assert weak.admin.renew_certificate(one.to_json()).complete


def test_a_server_that_logs_values_is_told_of(postgres_databases: PostgresDatabases, opened: Open) -> None:
    url = postgres_databases.create_migrated()
    with server(url) as connection:
        name = make_url(url).database
        quiet = opened(url)
        one = issued(private(quiet, ALICE).erase(kept(private(quiet, ALICE), "one")))
        assert where(one) == {"pages"}
        setting = "log_min_duration_statement = '1h'"
        connection.execute(text(f'ALTER DATABASE "{name}" SET {setting}'))
        logging = opened(url)
        one = issued(private(logging, ALICE).erase(kept(private(logging, ALICE), "two")))
        assert where(one) == {"pages", "server_log"}
        quiet.close()
        logging.close()
    postgres_databases.drop(url)


def test_only_a_genuine_certificate_is_renewed_also_of_a_space_that_is_gone(memory: Memory) -> None:
    view = private(memory, ALICE)
    one = issued(view.erase(kept(view, "one")))
    again = well_formed(memory.admin.renew_certificate(one.to_json()))
    assert (again.id, again.counts, again.erased_at) == (one.id, one.counts, one.erased_at)
    plain = json.loads(one.to_json())
    for change in ({"counts": {"memories": 9}}, {"id": "0" * 16}, {"pending": "x"}):
        with pytest.raises(tacit.InvalidInput):
            memory.admin.renew_certificate(json.dumps({**plain, **change}))
    with pytest.raises(tacit.InvalidInput):
        memory.space("other").admin.renew_certificate(one.to_json())
    private(memory, ALICE).remember("one")
    one = issued(memory.admin.erase_space())
    assert well_formed(memory.admin.renew_certificate(one.to_json())).scope == "space"
