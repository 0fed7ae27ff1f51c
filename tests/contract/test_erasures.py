"""What an erasure leaves: a signed note of hashes, with which a restored backup is put right."""

import json
import logging
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import make_url

import tacit
from tacit import Message, Update
from tacit.errors import ErasureForged, SignInRefused
from tacit.lifecycle import erasure_records
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import EraseSettings, LearnSettings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, CAROL, OPEN, TEAM, SetClock, group, kept, private, said
from tests.contract.rows import rows
from tests.contract.traces import cleaned, dead_rows, rows_with, traces

KEEPING = Settings(learn=LearnSettings(workers=0), memory=MemorySettings(sessions=SessionsSettings(keep=True)))


def canary() -> str:
    return f"Qx{uuid4().hex}"


def file_of(url: str) -> Path:
    return Path(make_url(url).database or "")


def journal_of(url: str) -> Path:
    return erasure_records.journal_path(file_of(url))


def lines(memory: Memory) -> list[str]:
    """As a journal has them, from the rows: PostgreSQL has none by itself."""
    found = rows(memory, "SELECT id, scope, digests, counts, erased_at, signature FROM erasures")
    told = []
    for id, scope, digests, counts, at, signature in found:
        hashes = {name: value for name, value in json.loads(digests).items() if name != "key"}
        plain = {
            "id": id,
            "scope": scope,
            "digests": hashes,
            "counts": json.loads(counts),
            "erased_at": at,
            "signature": signature,
        }
        told.append(json.dumps(plain))
    return told


def test_an_erasure_is_noted_with_hashes_counts_and_a_signature(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one", category="profile", key="k")
    view.update(id, "two")
    done = view.erase(id)
    (line,) = [json.loads(line) for line in lines(memory)]
    assert line["scope"] == "memory"
    assert len(line["digests"]["ids"]) == 1
    assert line["counts"]["memories"] == 1
    assert line["counts"]["memory_versions"] == 2
    assert id not in json.dumps(line)
    assert "1001" not in json.dumps(line)
    assert done.certificate is not None
    assert done.certificate.counts == line["counts"]


def test_the_journal_beside_a_file_is_its_owners_alone_and_tells_nothing(tmp_path: Path, opened: Open) -> None:
    memory = opened(f"sqlite:///{tmp_path / 'tacit.db'}")
    id = kept(private(memory, ALICE), "secret words")
    private(memory, ALICE).erase(id)
    memory.admin.erase_person(ALICE.key)
    path = tmp_path / "tacit.db.erasures.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = path.read_text()
    assert len(written.splitlines()) == 2
    for word in (id, "secret", "1001", "Alice", "default"):
        assert word not in written


def test_a_database_in_memory_and_a_server_have_no_journal_unless_told(
    migrated_postgres_url: str, opened: Open, tmp_path: Path
) -> None:
    path = tmp_path / "erasures.jsonl"
    settings = Settings(erase=EraseSettings(journal=str(path)))
    for url in ("sqlite://", migrated_postgres_url):
        path.unlink(missing_ok=True)
        plain = opened(url)
        private(plain, ALICE).erase(kept(private(plain, ALICE), "one"))
        assert not path.exists()
        told = opened(url, settings=settings)
        private(told, ALICE).erase(kept(private(told, ALICE), "two"))
        assert len(path.read_text().splitlines()) == (2 if url == migrated_postgres_url else 1)


def test_a_line_that_a_crash_kept_from_the_journal_is_added_at_the_next_opening(tmp_path: Path, opened: Open) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    memory = opened(url)
    private(memory, ALICE).erase(kept(private(memory, ALICE), "one"))
    private(memory, ALICE).erase(kept(private(memory, ALICE), "two"))
    memory.close()
    path = journal_of(url)
    whole = path.read_text()
    first, second = whole.splitlines()
    path.write_text(first + "\n" + second[:40])  # cut short in the middle of a line
    opened(url)
    assert set(path.read_text().splitlines()) == {first, second[:40], second}


def test_what_an_older_copy_still_has_is_erased_before_anybody_reads(
    tmp_path: Path, opened: Open, clock: SetClock
) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    memory = opened(url)
    word = canary()
    view = private(memory, ALICE)
    id = kept(view, f"one {word}")
    view.remember("stays")
    copy = tmp_path.parent / f"{tmp_path.name}-copy.db"
    memory.admin.backup(copy)
    view.erase(id)
    private(memory, BOB).remember("after the backup")
    memory.close()
    shutil.copy(copy, file_of(url))
    copy.unlink()
    again = opened(url)
    assert said(private(again, ALICE).list()) == ["stays"]
    assert traces(url, word) == []
    assert rows_with(url, id) == []
    assert len(journal_of(url).read_text().splitlines()) == 1
    again.close()
    opened(url)
    assert len(journal_of(url).read_text().splitlines()) == 1


def prepared(memory: Memory, word: str) -> str:
    """The word wherever somebody, something about them, or something they taught can be."""
    own = private(memory, ALICE)
    id = kept(own, f"I like {word}", category="profile", key="k", tags=[word])
    own.update(id, f"I love {word}")
    group(memory, BOB).remember(f"Alice hides {word}", about=[ALICE.key], **OPEN)
    group(memory, ALICE).remember(f"for all: {word}", for_room=True, sensitivity="public")
    private(memory, BOB).remember("Bob's own")
    return id


SCOPES: dict[str, tuple[Callable[[Memory, str], tacit.Erased], set[str]]] = {
    "memory": (lambda m, id: private(m, ALICE).erase(id), {"hides", "for all"}),
    "wipe": (lambda m, _: private(m, ALICE).wipe(), {"hides", "for all"}),
    "person": (lambda m, _: m.admin.erase_person(ALICE.key), {"hides"}),
    "subject": (lambda m, _: m.admin.erase_about(ALICE.key), set()),
    "space": (lambda m, _: m.admin.erase_space(), set()),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_replaying_an_erasure_on_an_older_copy_does_it_again_once(database_url: str, opened: Open, scope: str) -> None:
    erase, left = SCOPES[scope]
    memory = opened(database_url)
    word = canary()
    id = prepared(memory, word)
    before = _tables(memory)
    done = erase(memory, id)
    told = lines(memory)
    assert done.certificate is not None
    _restore(memory, before)
    assert _with(memory, word)
    again = memory.admin.replay_erasures(told)
    assert again.count == done.count
    assert again.complete is (memory.admin.maintain().pending == ())
    found = _with(memory, word)
    assert {one for one in ("hides", "for all") if any(one in text for text in found)} == left
    assert not any("I l" in text for text in found)
    assert memory.admin.replay_erasures(told).count == 0
    assert memory.admin.maintain().healthy
    if scope != "space":
        assert "Bob's own" in said(private(memory, BOB).list())


def _tables(memory: Memory) -> dict[str, list[dict[str, Any]]]:
    """Everything that is stored, as a backup would have it."""
    from sqlalchemy import text

    names = [*reversed_names(memory)]
    with memory._storage.database.read() as connection:
        return {
            name: [dict(row._mapping) for row in connection.execute(text(f'SELECT * FROM "{name}"'))] for name in names
        }


def reversed_names(memory: Memory) -> list[str]:
    from tacit.storage.schema import metadata

    names = [table.name for table in metadata.sorted_tables]
    return [*names, "fts_rows"] if memory._storage.database.dialect.one_writer else names


def _restore(memory: Memory, stored: dict[str, list[dict[str, Any]]]) -> None:
    from sqlalchemy import text

    def work(connection: Any) -> None:
        for name in reversed(stored):
            connection.execute(text(f'DELETE FROM "{name}"'))
        for name, found in stored.items():
            for row in found:
                columns, values = ", ".join(f'"{c}"' for c in row), ", ".join(f":{c}" for c in row)
                connection.execute(text(f'INSERT INTO "{name}" ({columns}) VALUES ({values})'), row)
        if memory._storage.database.dialect.one_writer:
            connection.execute(text("DELETE FROM fts_index"))
            connection.execute(
                text(
                    "INSERT INTO fts_index (rowid, content) SELECT r.number, m.content "
                    "FROM fts_rows r JOIN memories m ON m.id = r.memory_id"
                )
            )

    memory._storage.database.write(work)


def _with(memory: Memory, word: str) -> list[str]:
    return [text for (text,) in rows(memory, "SELECT content FROM memories") if word in text]


def test_a_forged_line_is_refused_and_nothing_is_done(memory: Memory) -> None:
    view = private(memory, ALICE)
    keep = kept(view, "keep me")
    view.erase(kept(view, "one"))
    (line,) = lines(memory)
    true = json.loads(line)
    forged = [
        {**true, "scope": "person"},
        {**true, "id": "0" * 16, "digests": {**true["digests"], "people": ["ab"]}},
        {**true, "signature": "0" * 64},
        {**true, "counts": {}},
        {**true, "erased_at": 5},
    ]
    for one in forged:
        with pytest.raises(ErasureForged):
            memory.admin.replay_erasures([json.dumps(one)])
    for bad in ("", "x", "[]", "{}", json.dumps({**true, "digests": 5}), '{"id": 1}'):
        with pytest.raises(tacit.InvalidInput):
            memory.admin.replay_erasures([bad])
    elsewhere = {**true, "id": "1" * 16, "digests": {**true["digests"], "space": "another"}}
    assert memory.admin.replay_erasures([json.dumps(elsewhere)]).count == 0
    assert view.show(keep).content == "keep me"


def test_a_forged_journal_keeps_a_file_from_being_opened(tmp_path: Path, opened: Open) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    memory = opened(url)
    private(memory, ALICE).erase(kept(private(memory, ALICE), "one"))
    memory.close()
    path = journal_of(url)
    line = json.loads(path.read_text())
    line["id"] = "f" * 16
    path.write_text(json.dumps(line, separators=(",", ":")) + "\n")
    with pytest.raises(ErasureForged, match="move it aside"):
        opened(url)
    path.unlink()
    opened(url)


def test_somebody_who_came_back_keeps_what_is_new_when_a_journal_is_replayed(memory: Memory) -> None:
    private(memory, ALICE).remember("old")
    memory.admin.erase_person(ALICE.key)
    private(memory, ALICE).remember("new")
    assert memory.admin.replay_erasures(lines(memory)).count == 0
    assert said(private(memory, ALICE).list()) == ["new"]


def test_what_waits_to_be_learned_in_an_older_copy_does_not_bring_it_back(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=KEEPING)
    view = private(memory, ALICE)
    view.learn([Message("user", "I live in Lisbon")])
    before = _tables(memory)
    memory.jobs.wait_for_learning()
    (found,) = view.list()
    view.erase(found.id)
    told = lines(memory)
    _restore(memory, before)
    memory.admin.replay_erasures(told)
    memory.jobs.wait_for_learning()
    assert said(view.list()) == []


@pytest.mark.parametrize("scope", ["a memory", "a person", "a source"])
def test_what_a_channel_brought_into_an_older_copy_is_not_worked_on_again(
    database_url: str, opened: Open, scope: str
) -> None:
    memory = opened(database_url)
    view = private(memory, ALICE)
    id = kept(view, "one") if scope == "a memory" else ""
    memory.inbox.add("telegram", [Update("1", ALICE.key, canary(), ALICE.key)])
    memory.inbox.add("telegram", [Update("2", TEAM, canary(), BOB.key)])
    before = _tables(memory)
    if scope == "a memory":
        view.erase(id)
    elif scope == "a person":
        memory.admin.erase_person(ALICE.key)  # of whom nothing else was known
    else:
        memory.operator("root").erase_source(TEAM)
    told = lines(memory)
    _restore(memory, before)
    assert len(memory.inbox.pending("telegram")) == 2
    memory.admin.replay_erasures(told)
    left = "1" if scope == "a source" else "2"
    assert [one.id for one in memory.inbox.pending("telegram")] == [left]


def test_who_was_signed_in_in_an_older_copy_is_signed_out_again(memory: Memory) -> None:
    alices, bobs = (
        memory.console.sign_in(memory.console.create_link(person=who.key).token).cookie for who in (ALICE, BOB)
    )
    link = memory.console.create_link(person=ALICE.key).token
    before = _tables(memory)
    memory.admin.erase_person(ALICE.key)  # of whom nothing else was known
    told = lines(memory)
    _restore(memory, before)
    assert memory.console.session(alices) is not None
    memory.admin.replay_erasures(told)
    assert memory.console.session(alices) is None
    assert memory.console.session(bobs) is not None
    with pytest.raises(SignInRefused):
        memory.console.sign_in(link)


def test_a_certificate_is_verified_as_it_stands_also_when_its_space_is_gone(memory: Memory) -> None:
    view = private(memory, ALICE)
    done = view.erase(kept(view, "one"))
    assert done.certificate is not None
    text = done.certificate.to_json()
    assert memory.admin.verify_certificate(text)
    plain = json.loads(text)
    changes: list[dict[str, Any]] = [
        {"complete": not plain["complete"]},
        {"pending": [{"where": "log", "what": "", "ends": ""}]},
        {"counts": {"memories": 9}},
        {"scope": "person"},
        {"erased_at": "2020-01-01T00:00:00+00:00"},
        {"id": "0" * 16},
        {"signature": "0" * 64},
    ]
    for change in changes:
        assert not memory.admin.verify_certificate(json.dumps({**plain, **change})), change
    assert not memory.space("other").admin.verify_certificate(text)
    bad: list[Any] = ["", "x", "[]", "{}", None, 5, json.dumps({**plain, "more": 1})]
    for one in bad:
        with pytest.raises(tacit.InvalidInput):
            memory.admin.verify_certificate(one)
    private(memory, ALICE).remember("one")
    done = memory.admin.erase_space()
    assert done.certificate is not None
    text = done.certificate.to_json()
    assert memory.admin.verify_certificate(text)
    private(memory, ALICE).remember("a new beginning")
    assert memory.admin.verify_certificate(text)
    assert not memory.admin.verify_certificate(text.replace('"scope": "space"', '"scope": "owned"'))
    assert memory.spaces() == ["default"]


def test_a_certificate_tells_nobody_what_they_may_not_know(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Bob snores", about=[BOB.key], **OPEN)
    group(memory, ALICE).update(id, "Bob snores loudly")
    done = group(memory, BOB).erase(id)
    assert done.certificate is not None
    assert done.certificate.counts == {"memories": 1}


def test_erasing_about_a_person_takes_what_anybody_said_of_them(memory: Memory) -> None:
    private(memory, ALICE).remember("Bob is dull", about=[BOB.key])
    group(memory, CAROL, here=(ALICE, BOB, CAROL)).remember("Bob snores", about=[BOB.key], **OPEN)
    private(memory, ALICE).remember("I run")
    was = kept(private(memory, ALICE), "Bob owes me", about=[BOB.key])
    private(memory, ALICE).update(was, "somebody owes me", about=["Zelda"])
    private(memory, BOB).remember("My aunt is ill", about=["Aunt"])
    private(memory, BOB).remember("I am Bob")
    done = memory.admin.erase_about(BOB.key)
    assert cleaned(done)
    assert said(private(memory, ALICE).list()) == ["I run"]
    assert said(private(memory, BOB).list()) == ["My aunt is ill"]
    assert memory.admin.erase_about(BOB.key).count == 0
    for bad in ("Bob", "", "person:x", None):
        with pytest.raises(tacit.InvalidInput):
            memory.admin.erase_about(bad)  # type: ignore[arg-type]


def test_no_log_of_an_erasure_names_anything(shared_url: str, opened: Open, caplog: pytest.LogCaptureFixture) -> None:
    memory = opened(shared_url)
    word = canary()
    with caplog.at_level(logging.DEBUG):
        id = prepared(memory, word)
        private(memory, ALICE).erase(id)
        memory.admin.erase_about(ALICE.key)
        memory.admin.erase_person(ALICE.key)
    assert word not in caplog.text
    assert id not in caplog.text
    if not shared_url.startswith("sqlite"):
        assert dead_rows(shared_url) == 0
