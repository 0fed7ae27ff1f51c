"""Notes where things meet: a process that was killed, two notes with one memory, people who are
linked, pages in free form."""

from pathlib import Path

import pytest

import tacit
from tacit.memory import Memory
from tacit.notes.markdown import strip_ids
from tacit.records.notes import Section, SessionDraft
from tacit.storage import notes
from tests.contract.conftest import Open
from tests.contract.notebooks import Notebook, files_in, hand_written, with_notes
from tests.contract.noting import act
from tests.contract.rooms import ALICE, SetClock, kept, private

INDEX = "_longterms/ext_telegram_1001/_index.md"
HOUSE = "The summer house in Sintra has the blue door"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def memory(database_url: str, opened: Open, folder: Path) -> Memory:
    return opened(database_url, settings=with_notes(folder))


@pytest.fixture
def book(memory: Memory, folder: Path) -> Notebook:
    return Notebook(memory, folder, private(memory, ALICE))


def promoted(book: Notebook) -> str:
    """Something in the long-term index, and its id."""
    draft = SessionDraft(promote=HOUSE, promote_to=Section.KEY_FACTS)
    id = book.view.sessions.end(draft=draft).promoted
    book.memory.notes.sync()
    assert id is not None
    return id


def state_of(book: Notebook) -> notes.FileState:
    folder = (book.folder / ".tacit-notes").read_text().strip()
    with book.memory._storage.database.read() as connection:
        state = notes.get_file_state(connection, "default", folder, book.name)
    assert state is not None
    return state


def test_a_process_that_is_killed_before_it_wrote_the_file_does_no_harm(book: Notebook) -> None:
    """Everything is in the store, and the file and what is known of it are as they were."""
    state = state_of(book)
    ferry = book.id("ferry")
    book.replace("## Follow Ups", "- [x] Water the plants\n\n## Follow Ups")
    book.replace("booked for May", "booked for June")
    book.replace("- [ ] Buy tickets", "- [x] Buy tickets")
    book.without("ferry")
    edited = book.path.read_bytes()
    book.memory.notes.sync()
    settled = book.path.read_bytes()
    before = {(one.id, one.version) for one in book.view.list().items}
    book.path.write_bytes(edited)
    act(book.memory, lambda w: notes.save_file_state(w, state))
    report = book.memory.notes.sync()
    assert (report.remembered, report.updated, report.forgotten) == (0, 0, 0)
    assert {(one.id, one.version) for one in book.view.list().items} == before
    assert book.path.read_bytes() == settled
    assert book.view.show(ferry).state == "forgotten"


def test_a_process_that_is_killed_before_it_noted_what_it_wrote_does_no_harm(book: Notebook) -> None:
    state = state_of(book)
    book.view.update(book.id("Hotel"), "Hotel: booked for July")
    book.view.forget(book.id("ferry"))
    book.memory.notes.sync()
    settled = book.path.read_bytes()
    act(book.memory, lambda w: notes.save_file_state(w, state))
    report = book.memory.notes.sync()
    assert (report.remembered, report.updated, report.forgotten) == (0, 0, 0)
    assert report.problems == ()
    assert book.path.read_bytes() == settled


def test_a_summary_that_both_changed_is_shown_twice(book: Notebook) -> None:
    (summary,) = [one for one in book.view.list().items if "session" in one.tags]
    book.view.update(summary.id, "Planned the trip to Faro.")
    book.replace("Planned the trip to Lisbon.", "Planned the trip to Porto.")
    assert [one.problem for one in book.memory.notes.sync().problems] == ["conflict"]
    assert 'summary: "Planned the trip to Porto."' in book.text
    assert "summary_conflict: " in book.text
    assert "Planned the trip to Faro." in book.text
    assert book.view.show(summary.id).content == "Planned the trip to Porto."
    book.without("summary_conflict")
    assert book.memory.notes.sync().problems == ()


def test_an_item_of_the_index_keeps_its_day(book: Notebook, clock: SetClock) -> None:
    id = promoted(book)
    path = book.folder / INDEX
    assert f"- {HOUSE} (added 2026-03-01) <!-- {id} -->" in path.read_text()
    clock.forward(days=40)
    path.write_text(path.read_text().replace("blue door", "green door"))
    book.memory.notes.sync()
    path.write_text(path.read_text() + "- The boat is red\n")
    book.memory.notes.sync()
    text = path.read_text()
    assert "the green door (added 2026-03-01) <!-- " in text
    assert "- The boat is red (added 2026-04-10) <!-- " in text
    assert book.view.show(id).content.endswith("green door")


def test_a_memory_in_two_notes_leaves_the_one_whose_line_is_deleted(book: Notebook) -> None:
    id = promoted(book)
    line = f"1. {HOUSE} <!-- {id} -->"
    book.replace("## Tasks", f"{line}\n\n## Tasks")
    book.memory.notes.sync()
    book.without("summer house")
    assert book.memory.notes.sync().forgotten == 0
    assert book.view.show(id).state == "active"
    assert id in (book.folder / INDEX).read_text()


def test_what_somebody_else_replaced_is_shown_under_its_new_id(book: Notebook) -> None:
    """A wording from another chat is another memory."""
    promoted_id = promoted(book)
    elsewhere = book.memory.view(ALICE, tacit.Chat.private("web:alice"))
    new = elsewhere.update(promoted_id, "The summer house has a red door")
    assert new.id != promoted_id
    book.memory.notes.sync()
    text = (book.folder / INDEX).read_text()
    assert f"- The summer house has a red door (added 2026-03-01) <!-- {new.id} -->" in text
    assert promoted_id not in text


def test_an_edit_of_what_was_said_in_another_private_chat_keeps_its_id(book: Notebook, folder: Path) -> None:
    elsewhere = book.memory.view(ALICE, tacit.Chat.private("web:alice"))
    draft = SessionDraft(promote=HOUSE, promote_to=Section.KEY_FACTS)
    id = elsewhere.sessions.end(draft=draft).promoted
    book.memory.notes.sync()
    path = folder / INDEX
    path.write_text(path.read_text().replace("blue door", "green door"))
    book.memory.notes.sync()
    assert book.view.show(str(id)).content.endswith("green door")
    assert book.view.show(str(id)).learned_in == "web:alice"


def test_notes_of_a_person_who_is_linked_since_stay_theirs(book: Notebook) -> None:
    id = book.id("ferry")
    book.memory.admin.link("telegram:1001", "acct:42")
    book.replace("leaves at nine", "leaves at ten")
    book.replace("## Follow Ups", "- [ ] Water the plants\n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert (report.updated, report.remembered, report.problems) == (1, 1, ())
    assert book.view.show(id).content == "The ferry leaves at ten"
    account = private(book.memory, tacit.Requester("acct:42"))
    assert "Water the plants" in [one.content for one in account.list().items]


def test_a_page_is_free_text(memory: Memory, folder: Path) -> None:
    said = "# Boats\n\nWe have two of them.\nBoth leak.\n\n## Red\n\n* It is red\n    * and old\n"
    path = hand_written(folder, "_longterms/ext_telegram_1001/boats.md", said)
    assert memory.notes.sync().remembered == 2
    view = private(memory, ALICE)
    assert sorted(one.content for one in view.list().items) == ["It is red\nand old", "We have two of them. Both leak."]
    assert strip_ids(path.read_text()) == said
    assert memory.notes.sync().written == 0
    assert view.files.read("boats.md").startswith("# Boats\n\nWe have two of them. Both leak.\n")


def test_what_a_model_writes_into_a_page_reaches_its_file(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    view.files.write("boats.md", "# Boats\n\n- The red one\n")
    memory.notes.sync()
    path = folder / "_longterms" / "ext_telegram_1001" / "boats.md"
    assert path.read_text().startswith("# Boats\n\n- The red one <!-- ")
    view.files.write("boats.md", "# All boats\n\n- The red one\n- The blue one\n")
    memory.notes.sync()
    text = path.read_text()
    assert text.startswith("# All boats\n\n- The red one <!-- ")
    assert "\n- The blue one <!-- " in text


def test_a_page_that_a_model_deleted_is_gone_from_the_folder(memory: Memory, folder: Path) -> None:
    view = private(memory, ALICE)
    view.files.write("boats.md", "# Boats\n\n- The red one\n")
    memory.notes.sync()
    assert len(files_in(folder)) == 1
    view.files.delete("boats.md")
    memory.notes.sync()
    assert files_in(folder) == {}


def test_a_secret_in_the_head_or_in_a_link_stays_in_the_file_alone(book: Notebook) -> None:
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    book.replace("contact_nickname: Alice", f"contact_nickname: {key}")
    book.replace("## Related Links\n", f"## Related Links\n- [door](https://x.example/?k={key})\n")
    book.memory.notes.sync()
    with book.memory._storage.database.read() as connection:
        row = notes.get_note(connection, "default", book.name)
    assert row is not None
    assert key not in repr(row)
    book.view.update(book.id("ferry"), "The ferry leaves at ten")
    book.memory.notes.sync()
    assert book.text.count(key) == 2
    assert "leaves at ten" in book.text


def test_a_template_that_nobody_filled_in_is_nothing_to_remember(book: Notebook) -> None:
    book.replace("## Follow Ups", "- [ ]\n- [ ] \n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert (report.remembered, report.problems) == (0, ())


def test_what_was_forgotten_elsewhere_is_gone_and_a_new_edit_of_it_brings_it_back(book: Notebook) -> None:
    id = book.id("ferry")
    book.view.forget(id)
    book.replace("leaves at nine", "leaves at ten")
    book.memory.notes.sync()
    assert book.view.show(id).content == "The ferry leaves at ten"
    assert book.view.show(id).state == "active"


def test_a_diary_keeps_what_has_expired(book: Notebook, clock: SetClock) -> None:
    before = book.path.read_bytes()
    for _ in range(20):
        clock.forward(days=1)
        book.memory.jobs.expire()
    assert "ferry" not in " ".join(one.content for one in book.view.list().items)
    book.memory.notes.sync()
    assert book.path.read_bytes() == before
    for _ in range(40):
        clock.forward(days=1)
        book.memory.jobs.expire()
        book.memory.jobs.purge()
    book.memory.notes.sync()
    assert not book.path.exists() or b"ferry" not in book.path.read_bytes()


def test_somebody_elses_memory_in_the_store_is_not_in_ones_notes(book: Notebook, folder: Path) -> None:
    kept(book.view, "Nothing of this is in a note")
    book.memory.notes.sync()
    assert not any(b"Nothing of this" in data for data in files_in(folder).values())
