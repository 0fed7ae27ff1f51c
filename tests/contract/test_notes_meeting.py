"""Notes where things meet: an erasure with a look at the files, two writers, two rooms."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tacit import InvalidInput, SessionDraft, TaskDraft
from tacit.memory import Memory
from tacit.notes import readback, sync
from tacit.records.notes import NoteLink
from tacit.storage import notes
from tests.contract.conftest import Open
from tests.contract.notebooks import files_in, with_notes
from tests.contract.rooms import ALICE, BOB, TEAM, group, private
from tests.contract.traces import cleaned


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def memory(shared_url: str, opened: Open, folder: Path) -> Memory:
    return opened(shared_url, settings=with_notes(folder))


def rows(memory: Memory, statement: str) -> list[Any]:
    with memory._storage.database.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def contents(memory: Memory) -> set[str]:
    return {row[0] for row in rows(memory, "SELECT content FROM memories")}


def id_of(memory: Memory, words: str) -> str:
    found = rows(memory, "SELECT id, content, inferred FROM memories")
    (id,) = [id for id, content, inferred in found if words in content and not inferred]
    return str(id)


def edit(file: Path, before: str, after: str) -> None:
    said = file.read_text()
    assert before in said
    file.write_text(said.replace(before, after, 1))


def meanwhile(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_what_is_erased_while_its_file_is_written_does_not_come_back(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    path = view.sessions.end(draft=SessionDraft(facts=("Doctor zq1z", "Another thing"))).path
    id, write = id_of(memory, "zq1z"), sync.NotesSync._write_file
    erasing: list[threading.Thread] = []

    def slow(self: sync.NotesSync, *what: Any) -> None:
        if not erasing:
            erasing.append(meanwhile(lambda: view.erase(id)))
            while any("zq1z" in one for one in contents(memory)):
                time.sleep(0.01)
        write(self, *what)

    monkeypatch.setattr(sync.NotesSync, "_write_file", slow)
    memory.notes.sync()
    erasing[0].join()
    assert "zq1z" not in (folder / path).read_text()
    memory.notes.sync()
    assert not any("zq1z" in one for one in contents(memory))


def test_the_summary_in_a_file_that_could_not_be_read_is_not_learned_again(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    draft = SessionDraft(summary="Saw zq1z", facts=("It was zq1z", "Another thing"))
    file = folder / view.sessions.end(draft=draft).path
    memory.notes.sync()
    edit(file, "source: telegram\n", "source: telegram\nbroken: [1, 2\n")
    memory.notes.sync()
    view.erase(id_of(memory, "It was zq1z"))
    memory.notes.sync()
    edit(file, "broken: [1, 2\n", "")
    memory.notes.sync()
    assert "zq1z" not in file.read_text()
    assert not any("zq1z" in one for one in contents(memory))


def test_the_other_wording_of_a_summary_goes_with_it(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    draft = SessionDraft(summary="Saw zq1z", facts=("The doctor said so", "Another thing"))
    file = folder / view.sessions.end(draft=draft).path
    memory.notes.sync()
    edit(file, "Saw zq1z", "Saw somebody")
    view.sessions.end(draft=SessionDraft(summary="Saw zq2z", facts=("A third thing",)))
    memory.notes.sync()
    assert "zq2z" in file.read_text()
    assert cleaned(view.erase(id_of(memory, "The doctor")))
    assert "zq2z" not in file.read_text()


def test_what_is_said_in_private_does_not_change_a_room_s_note(memory: Memory, folder: Path) -> None:
    draft = SessionDraft(facts=("The build is red",), tasks=(TaskDraft(text="Pay the rent"),))
    path = group(memory, ALICE).sessions.end(draft=draft).path
    view = private(memory, ALICE)
    before = view.files.read(path)
    for after in (
        before.replace("is red", "is red, Bob zq1z broke it"),
        before.replace("is red", "is red\n2. I leave zq1z"),
        before.replace("[ ]", "[x]"),
    ):
        with pytest.raises(InvalidInput):
            view.files.write(path, after)
    memory.notes.sync()
    assert "zq1z" not in (folder / path).read_text()
    assert group(memory, BOB).files.read(path) == before


def test_a_person_s_new_line_outlives_a_page_s_old_name(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", "- Lisbon in May\n")
    memory.notes.sync()
    (path,) = files_in(folder)
    (folder / path).write_text((folder / path).read_text() + "- Porto, by hand\n")
    view.files.rename("trips.md", "travel.md")
    memory.notes.sync()
    assert "Porto, by hand" in contents(memory)


def test_a_person_s_new_line_outlives_the_erasure_of_all_others(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    file = folder / view.sessions.end(draft=SessionDraft(facts=("Doctor zq1z",))).path
    memory.notes.sync()
    edit(file, "## Tasks\n", "## Tasks\n- [ ] Written by hand\n")
    view.erase(id_of(memory, "zq1z"))
    memory.notes.sync()
    assert "Written by hand" in contents(memory)
    assert not any(b"zq1z" in data for data in files_in(folder).values())


def test_what_an_operator_words_anew_was_heard_by_nobody(memory: Memory, folder: Path) -> None:
    group(memory, BOB).remember("hello")
    draft = SessionDraft(facts=("Bob is away on Friday", "The build is red"))
    path = group(memory, ALICE).sessions.end(draft=draft).path
    memory.notes.sync()
    edit(folder / path, "on Friday <!--", "on Friday, when we prepare zq1z for him <!--")
    memory.notes.sync()
    assert "zq1z" not in group(memory, ALICE).files.read(path)  # Bob is there, and hears it
    assert "zq1z" not in private(memory, BOB).files.read(path)


def test_a_new_line_in_the_file_of_a_confidential_room_is_confidential(memory: Memory, folder: Path) -> None:
    memory.chats.set_confidential(TEAM)
    draft = SessionDraft(facts=("The build is red",))
    path = group(memory, ALICE).sessions.end(draft=draft).path
    memory.notes.sync()
    edit(folder / path, "## Tasks\n", "## Tasks\n- [ ] Written by hand\n")
    memory.notes.sync()
    assert all(one for (one,) in rows(memory, "SELECT confidential FROM memories"))


def test_links_and_tags_of_a_room_s_note_go_with_whoever_said_them(memory: Memory, folder: Path) -> None:
    draft = SessionDraft(facts=("The build zq1z",), links=(NoteLink(text="a", target="zq1z.md"),), tags=("zq1z",))
    path = group(memory, ALICE).sessions.end(draft=draft).path
    group(memory, BOB).sessions.end(draft=SessionDraft(facts=("Something else",)))
    memory.notes.sync()
    assert cleaned(memory.admin.erase_person(ALICE.key))
    assert "zq1z" not in (folder / path).read_text()
    assert "zq1z" not in str(rows(memory, "SELECT links, tags FROM notes"))


def test_a_link_taken_out_through_a_view_does_not_come_back_by_an_erasure(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    draft = SessionDraft(facts=("One", "Two"), links=(NoteLink(text="b", target="zq1z.md"),))
    path = view.sessions.end(draft=draft).path
    memory.notes.sync()
    view.files.write(path, view.files.read(path).replace("- [b](zq1z.md)\n", ""))
    view.erase(id_of(memory, "One"))
    memory.notes.sync()
    assert "zq1z" not in (folder / path).read_text()


def test_a_heading_taken_out_through_a_view_does_not_come_back_by_an_erasure(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("a.md", "# About zq1z\n\n- One\n- Two\n")
    memory.notes.sync()
    view.files.write("a.md", "# Plans\n\n- One\n- Two\n")
    view.erase(id_of(memory, "One"))
    memory.notes.sync()
    assert view.files.read("a.md") == "# Plans\n\n- Two\n"


def test_an_item_added_while_a_file_is_first_written_reaches_it(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    path = view.sessions.end(draft=SessionDraft(facts=("First",))).path
    rows_of, done = notes.list_file_items, list[threading.Thread]()

    def slow(*what: Any) -> Any:
        found = rows_of(*what)
        if not done:
            done.append(meanwhile(lambda: view.sessions.end(draft=SessionDraft(facts=("Second",)))))
            done[0].join(1)  # on SQLite it waits for this write
        return found

    monkeypatch.setattr("tacit.notes.rendering.list_file_items", slow)
    memory.notes.sync()
    done[0].join()
    memory.notes.sync()
    assert "2. Second <!-- " in (folder / path).read_text()


def test_links_that_two_add_at_once_are_both_kept(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)

    def linked(name: str) -> SessionDraft:
        return SessionDraft(facts=("First",), links=(NoteLink(text=name, target=f"{name}.md"),))

    file = folder / view.sessions.end(draft=linked("a")).path
    memory.notes.sync()
    file.write_text(file.read_text() + "- [b](b.md)\n")
    fields, done = readback.Readback._read_fields, list[threading.Thread]()

    def slow(self: readback.Readback, *, touched: bool) -> None:
        if not done:
            done.append(meanwhile(lambda: view.sessions.end(draft=linked("c"))))
            done[0].join(1)
        fields(self, touched=touched)

    monkeypatch.setattr(readback.Readback, "_read_fields", slow)
    memory.notes.sync()
    done[0].join()
    memory.notes.sync()
    today = view.sessions.begin().today
    assert today is not None
    assert {link.target for link in today.links} == {"a.md", "b.md", "c.md"}
