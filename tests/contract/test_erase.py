"""Erase: gone now, everywhere, for good; on SQLite down to the last byte."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.settings import DbSettings, Settings, SqliteSettings
from tacit.storage import memories
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, FAMILY, SetClock, group, index_words, kept, private, said
from tests.contract.traces import cleaned, dead_rows, rows_with, traces

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
WEB = tacit.Requester("acct:alice")


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


def test_erasing_a_key_takes_its_values_under_all_of_the_owners_identities(memory: Memory) -> None:
    phone, web = private(memory, ALICE), private(memory, WEB)
    phone.put("profile", "city", "Porto", visibility="public_ok", sensitivity="public")
    phone.put("profile", "name", "Al")
    memory.admin.link(ALICE.key, "acct:alice")
    id = kept(web, "Lisbon", category="profile", key="city")
    web.forget(id)
    assert web.erase(id).count == 2
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


def test_a_subject_erases_what_they_hear_about_themselves_and_that_alone(memory: Memory) -> None:
    alice = group(memory, ALICE)
    about_bob = kept(alice, "Bob snores", about=[BOB.key], **OPEN)
    alice.remember("I run", **OPEN)
    behind = kept(private(memory, ALICE), "Bob is dull", about=[BOB.key])
    bob = private(memory, BOB)
    assert bob.erase(about_bob).count == 1
    with pytest.raises(tacit.NotFound):
        bob.erase(behind)
    assert said(private(memory, ALICE).list()) == ["Bob is dull", "I run"]


def test_what_a_correction_replaced_does_not_point_at_it_once_it_is_erased(memory: Memory) -> None:
    old = kept(group(memory, ALICE), "Bob lives in Rome", about=[BOB.key], **OPEN)
    new = group(memory, BOB).update(old, "Bob lives in Milan")
    assert private(memory, ALICE).show(old).superseded_by == new.id
    private(memory, BOB).erase(new.id)
    found = private(memory, ALICE).show(old)
    assert (found.state, found.superseded_by) == ("superseded", None)


def test_members_do_not_erase_a_rooms_own_fact_but_its_speaker_does(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    with pytest.raises(tacit.NotFound):
        group(memory, BOB).erase(id)
    assert group(memory, ALICE).erase(id).count == 1
    assert said(group(memory, BOB).list()) == []


def test_erasing_one_leaves_the_words_of_others_findable(memory: Memory) -> None:
    view = private(memory, ALICE)
    ids = [kept(view, f"the parrot says {number}") for number in range(5)]
    view.erase(ids[2])
    assert len(view.recall("parrot", top_k=10)) == 4
    assert memory.admin.maintain().healthy


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
    fields: dict[str, Any] = {"visibility": "public_ok", "sensitivity": "public"}
    private(memory, ALICE).put("profile", "city", "Porto", **fields)
    memory.admin.link(ALICE.key, "acct:alice")
    id = kept(private(memory, ALICE), "Lisbon", category="profile", key="city", **fields)
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
