"""While a process watches: edits reach the store, and changes the files, without being asked."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

import tacit
from tacit.records.notes import NotesReport
from tests.contract.conftest import Open
from tests.contract.notebooks import Notebook, with_notes
from tests.contract.rooms import ALICE, private
from tests.contract.threads import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def book(shared_url: str, opened: Open, folder: Path) -> Notebook:
    memory = opened(shared_url, settings=with_notes(folder, watch=True))
    return Notebook(memory, folder, private(memory, ALICE))


def test_edits_are_heard_of(book: Notebook) -> None:
    id = book.id("ferry")
    book.replace("leaves at nine", "leaves at ten")
    until(lambda: book.view.show(id).content == "The ferry leaves at ten")
    book.replace("## Follow Ups", "- [ ] Water the plants\n\n## Follow Ups")
    until(lambda: "<!--" in book.line("Water the plants"))
    assert book.view.show(book.id("Water the plants")).content == "Water the plants"


def test_a_change_in_the_store_is_written_out_whichever_process_made_it(
    book: Notebook, shared_url: str, opened: Open
) -> None:
    book.view.update(book.id("ferry"), "The ferry leaves at ten")
    until(lambda: "leaves at ten" in book.text)
    other = private(opened(shared_url), ALICE)  # of a process that has no notes of its own
    other.update(book.id("ferry"), "The ferry leaves at eleven")
    until(lambda: "leaves at eleven" in book.text)


def test_two_processes_that_watch_do_not_get_in_each_others_way(
    book: Notebook, shared_url: str, folder: Path, opened: Open
) -> None:
    second = opened(shared_url, settings=with_notes(folder, watch=True))
    book.replace("## Follow Ups", "- [ ] Water the plants\n\n## Follow Ups")
    until(lambda: "<!--" in book.line("Water the plants"))
    private(second, ALICE).update(book.id("ferry"), "The ferry leaves at ten")
    until(lambda: "leaves at ten" in book.text)
    contents = [one.content for one in book.view.list().items]
    assert contents.count("Water the plants") == 1


def test_what_was_edited_while_nobody_watched_is_read_at_the_next_start(
    shared_url: str, folder: Path, opened: Open
) -> None:
    with tacit.open(shared_url, embedder=None, settings=with_notes(folder)) as memory:
        book = Notebook(memory, folder, private(memory, ALICE))
        id = book.id("ferry")
    book.replace("leaves at nine", "leaves at ten")
    again = opened(shared_url, settings=with_notes(folder))
    assert private(again, ALICE).show(id).content == "The ferry leaves at ten"


def test_what_was_written_last_is_in_the_files_when_a_memory_is_closed(shared_url: str, folder: Path) -> None:
    with tacit.open(shared_url, embedder=None, settings=with_notes(folder)) as memory:
        book = Notebook(memory, folder, private(memory, ALICE))
        book.view.update(book.id("ferry"), "The ferry leaves at ten")
    assert "leaves at ten" in book.text


def test_whoever_watches_is_told(shared_url: str, opened: Open, folder: Path) -> None:
    memory = opened(shared_url, settings=with_notes(folder))
    book = Notebook(memory, folder, private(memory, ALICE))
    told: list[NotesReport] = []

    def listen() -> None:
        reports: Iterator[NotesReport] = memory.notes.watch()
        with closing(reports):  # type: ignore[type-var]
            told.append(next(report for report in reports if report.updated))

    thread = Thread(target=listen)
    thread.start()
    try:
        until(lambda: bool(memory._runtime.mirroring and memory._runtime.mirroring.watching))
        book.replace("leaves at nine", "leaves at ten")
        until(lambda: bool(told))
    finally:
        memory.close()
        thread.join()
    assert told[0].updated == 1
