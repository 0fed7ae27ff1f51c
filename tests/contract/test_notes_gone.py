"""What is gone: from the files, which may be a mistake; and for good, which leaves no byte."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import tacit
from tacit import Erased
from tacit.memory import Memory
from tacit.records.notes import SessionDraft
from tests.contract.conftest import Open
from tests.contract.notebooks import Notebook, files_in, hand_written, with_notes
from tests.contract.rooms import ALICE, BOB, group, private
from tests.contract.traces import cleaned

CANARY = "quokkaphant"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def memory(database_url: str, opened: Open, folder: Path) -> Memory:
    return opened(database_url, settings=with_notes(folder, forget_at_once_max=2))


@pytest.fixture
def book(memory: Memory, folder: Path) -> Notebook:
    return Notebook(memory, folder, private(memory, ALICE))


def holds(folder: Path, word: str) -> list[str]:
    """The files that hold a word, ours among them."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if word in path.name or (path.is_file() and word.encode() in path.read_bytes())
    ]


def standing(book: Notebook) -> int:
    return len(book.view.list().items)


def test_many_lines_that_are_gone_are_asked_about_until_somebody_says_so(book: Notebook) -> None:
    before, tent = standing(book), book.line("Pack the tent")
    book.without("Hotel", "ferry", "Pack the tent")
    for _ in range(2):
        report = book.memory.notes.sync()
        assert (report.forgotten, standing(book)) == (0, before)
        assert [(one.path, one.problem) for one in report.problems] == [(book.name, "asks")]
    assert "ferry" not in book.text
    book.replace("## Follow Ups", f"{tent}\n\n## Follow Ups")  # a few lines more do not make up for an answer
    assert (book.memory.notes.sync().forgotten, standing(book)) == (0, before)
    report = book.memory.notes.import_files(forget=True)
    assert (report.forgotten, report.problems) == (2, ())
    assert standing(book) == before - 2
    assert book.memory.notes.sync().problems == ()


def test_rebuilding_brings_back_what_is_gone_after_edits_are_read(book: Notebook) -> None:
    before = book.path.read_bytes()
    book.without("Hotel", "ferry", "Pack the tent")
    book.memory.notes.sync()
    assert book.memory.notes.rebuild().problems == ()
    assert book.path.read_bytes() == before
    assert book.memory.notes.sync().written == 0
    book.replace("leaves at nine", "leaves at ten")
    book.memory.notes.rebuild()
    assert book.view.show(book.id("ferry")).content == "The ferry leaves at ten"


def test_a_file_that_is_gone_is_asked_about_and_comes_back_or_is_forgotten(book: Notebook) -> None:
    before, data = standing(book), book.path.read_bytes()
    book.path.unlink()
    for _ in range(2):
        report = book.memory.notes.sync()
        assert [(one.path, one.problem) for one in report.problems] == [(book.name, "asks")]
        assert (standing(book), book.path.exists()) == (before, False)
    book.memory.notes.rebuild()
    assert book.path.read_bytes() == data
    book.path.unlink()
    book.memory.notes.sync()
    book.path.write_bytes(data)
    assert book.memory.notes.sync().problems == ()
    assert (standing(book), book.path.read_bytes()) == (before, data)
    book.path.unlink()
    book.memory.notes.sync()
    assert book.memory.notes.import_files(forget=True).problems == ()
    assert standing(book) == 0
    assert book.memory.notes.sync().problems == ()
    assert files_in(book.folder) == {}


def test_a_folder_that_is_gone_is_written_anew_and_nothing_is_forgotten(book: Notebook, folder: Path) -> None:
    data, before = book.path.read_bytes(), standing(book)
    shutil.rmtree(folder)
    assert book.memory.notes.sync().problems == ()
    assert (standing(book), book.path.read_bytes()) == (before, data)


def test_a_page_that_was_renamed_keeps_its_memories(book: Notebook, folder: Path) -> None:
    page = folder / "_longterms" / "ext_telegram_1001" / "ideas.md"
    page.parent.mkdir(parents=True, mode=0o700)
    page.write_text("# Ideas\n\n- A boat\n- A shed\n- A pond\n")
    assert book.memory.notes.sync().remembered == 3
    before = standing(book)
    page.rename(page.with_name("plans.md"))
    report = book.memory.notes.sync()
    assert (report.remembered, report.forgotten, report.problems) == (0, 0, ())
    assert standing(book) == before
    assert not page.exists()


ERASURES: dict[str, Callable[[Notebook], Erased]] = {
    "erase": lambda book: book.view.erase(book.id(CANARY)),
    "wipe": lambda book: book.view.wipe(),
    "operator": lambda book: book.memory.operator("ops").erase(book.id(CANARY)),
}


@pytest.mark.parametrize("how", ERASURES)
def test_what_is_erased_leaves_no_byte_in_the_files(memory: Memory, folder: Path, how: str) -> None:
    book = Notebook(memory, folder, (group if how == "operator" else private)(memory, ALICE))
    book.replace("The ferry leaves at nine", f"The {CANARY} leaves at nine")
    memory.notes.sync()
    assert holds(folder, CANARY)
    assert cleaned(ERASURES[how](book))
    assert holds(folder, CANARY) == []
    assert how == "wipe" or "Hotel" in book.text


def test_an_erased_line_that_comes_back_is_not_remembered(book: Notebook) -> None:
    before = book.path.read_bytes()
    id = book.id("ferry")
    book.view.erase(id)
    book.path.write_bytes(before)
    book.memory.notes.sync()
    assert "ferry" not in book.text
    assert not any("ferry" in one.content for one in book.view.list().items)


def test_an_erased_wording_of_a_conflict_goes_with_its_memory(book: Notebook) -> None:
    id = book.id("ferry")
    book.view.update(id, f"The {CANARY} leaves at ten")
    book.replace("leaves at nine", "leaves at eight")
    book.memory.notes.sync()
    assert holds(book.folder, CANARY)
    book.view.erase(id)
    assert holds(book.folder, CANARY) == []


def test_an_erased_summary_leaves_the_head(book: Notebook) -> None:
    book.replace("Planned the trip to Lisbon.", f"Planned to see a {CANARY}.")
    book.memory.notes.sync()
    (summary,) = [one for one in book.view.list().items if CANARY in one.content]
    book.view.erase(summary.id)
    assert holds(book.folder, CANARY) == []
    assert 'summary: ""' in book.text


def test_an_erased_memory_leaves_a_file_that_cannot_be_read(book: Notebook) -> None:
    id = book.id("ferry")
    book.replace("The ferry leaves at nine", f"The {CANARY} leaves at nine")
    book.memory.notes.sync()
    book.replace("session_id: ", "session_id: {[")
    book.view.erase(id)
    assert holds(book.folder, CANARY) == []
    assert "{[" in book.text


def test_erasing_a_person_takes_their_files(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    ended = view.sessions.end(draft=SessionDraft(summary=f"Saw a {CANARY}", facts=("It is grey",)))
    private(memory, BOB).sessions.end(draft=SessionDraft(summary="Bob's day", facts=("Rain",)))
    memory.notes.sync()
    assert (folder / ended.path).exists()
    assert cleaned(memory.admin.erase_person("telegram:1001"))
    assert holds(folder, CANARY) == []
    assert holds(folder, "1001") == []
    assert [name for name in files_in(folder) if "2002" in name]


def test_erasing_a_space_takes_its_files_and_no_others_and_none_is_taken_in_again(memory: Memory, folder: Path) -> None:
    other = memory.space("b")
    here = Notebook(memory, folder, private(memory, ALICE))
    there = Notebook(other, folder / "_spaces" / "b", private(other, ALICE))
    there.replace("The ferry leaves at nine", f"The {CANARY} leaves at nine")
    other.notes.sync()
    other.admin.erase_space()
    assert holds(folder, CANARY) == []
    assert here.path.exists()
    assert other.notes.sync().remembered == 0
    other = memory.space("b")
    there = Notebook(other, folder / "_spaces" / "b", private(other, ALICE))
    data = there.path.read_bytes()
    other.admin.erase_space()
    there.path.parent.mkdir(parents=True)
    there.path.write_bytes(data)
    report = other.notes.sync()
    assert [one.problem for one in report.problems] == ["unknown_folder"]
    assert report.remembered == 0
    assert there.path.read_bytes() == data


def test_where_there_is_no_folder_the_methods_say_so(database_url: str, opened: Open) -> None:
    with pytest.raises(tacit.SettingsError, match=r"notes\.enabled"):
        opened(database_url).notes.sync()


def found_by(memory: Memory, **options: bool) -> dict[str, int]:
    return {one.check: one.left for one in memory.admin.doctor(**options).findings}  # type: ignore[arg-type]


def test_the_doctor_finds_and_mends_drift_and_nothing_else(book: Notebook) -> None:
    assert found_by(book.memory) == {}
    book.replace("leaves at nine", "leaves at ten")
    assert found_by(book.memory) == {"notes-drift": 1}
    assert book.view.show(book.id("ferry")).content == "The ferry leaves at nine"
    assert found_by(book.memory, repair=True) == {"notes-drift": 0}
    assert book.view.show(book.id("ferry")).content == "The ferry leaves at ten"


def test_the_doctor_tells_of_what_only_a_person_can_mend(book: Notebook) -> None:
    book.view.update(book.id("Hotel"), "Hotel: booked for July")
    book.replace("booked for May", "booked for June")
    book.replace("## Follow Ups", "- [ ] the password is hunter2secret99\n\n## Follow Ups")
    book.memory.notes.sync()
    hand_written(book.folder, "2026-03-02/diary.md", "## Temporary Facts\n1. It rained\n")
    hand_written(book.folder, "2026-03-02/telegram_7.md", "---\na: {[\n---\n")
    (book.folder / "2026-03-02" / "telegram_8.md").symlink_to("/etc/hostname")
    assert found_by(book.memory) == {
        "notes-conflicts": 1,
        "notes-orphaned": 1,
        "notes-outside": 1,
        "notes-refused": 1,
        "notes-unreadable": 1,
    }
    assert list(found_by(book.memory)) == list(found_by(book.memory, repair=True))


def test_the_doctor_looks_at_what_it_is_asked_to_look_at(book: Notebook) -> None:
    book.path.unlink()
    asked = book.memory.admin.doctor(checks=["notes-asking", "missing-vectors"]).findings
    assert [one.check for one in asked] == ["notes-asking"]
    with pytest.raises(tacit.InvalidInput, match="checks"):
        book.memory.admin.doctor(checks=["notes-nothing"])
