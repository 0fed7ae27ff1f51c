"""Files and store, both ways: what a person edits is read back, what changes is written out."""

from pathlib import Path

import pytest

from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.notebooks import Notebook, files_in, with_notes
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def memory(database_url: str, opened: Open, folder: Path) -> Memory:
    return opened(database_url, settings=with_notes(folder))


@pytest.fixture
def book(memory: Memory, folder: Path) -> Notebook:
    return Notebook(memory, folder, private(memory, ALICE))


def test_a_session_becomes_a_file(book: Notebook) -> None:
    assert book.name == "2026-03-01/telegram_1001.md"
    text = book.text
    assert 'summary: "Planned the trip to Lisbon."' in text
    assert 'tasks: "0/2"' in text
    assert "1. **Hotel**: booked for May <!-- " in text
    assert "- [ ] Buy tickets <!-- " in text
    assert "- [Previous day](../2026-02-28/telegram_1001.md)" in text


def test_files_are_for_their_owner_alone(book: Notebook, folder: Path) -> None:
    assert book.path.stat().st_mode & 0o777 == 0o600
    assert book.path.parent.stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700


def test_nothing_is_written_where_nothing_changed(book: Notebook) -> None:
    before = book.path.stat()
    report = book.memory.notes.sync()
    assert (report.written, report.read_back, report.problems) == (0, 0, ())
    assert book.path.stat().st_mtime_ns == before.st_mtime_ns


def test_an_edited_line_is_the_next_version_with_the_person_as_its_actor(book: Notebook) -> None:
    id = book.id("Hotel")
    book.replace("booked for May", "booked for June")
    report = book.memory.notes.sync()
    assert (report.updated, report.remembered, report.forgotten) == (1, 0, 0)
    found = book.view.show(id)
    assert (found.content, found.version) == ("Hotel: booked for June", 2)
    assert book.view.history(id)[-1].actor == "ext:telegram:1001"


def test_an_edit_that_needs_nothing_from_us_leaves_the_file_alone(book: Notebook) -> None:
    book.replace("booked for May", "booked for June")
    edited = book.path.read_bytes()
    assert book.memory.notes.sync().written == 0
    assert book.path.read_bytes() == edited


def test_a_new_bullet_is_remembered(book: Notebook) -> None:
    book.replace("## Follow Ups", "- [ ] Water the plants\n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert report.remembered == 1
    found = book.view.show(book.id("Water the plants"))
    assert (found.content, found.kind, found.category) == ("Water the plants", "task", "task_state")
    assert 'tasks: "0/3"' in book.text
    assert book.memory.notes.sync().written == 0


def test_a_deleted_line_is_forgotten_and_can_be_restored(book: Notebook) -> None:
    id = book.id("ferry")
    book.without("ferry")
    assert book.memory.notes.sync().forgotten == 1
    assert book.view.history(id)[-1].actor == "ext:telegram:1001"
    assert [one.id for one in book.view.list(state="forgotten").items] == [id]
    book.view.restore(id)
    book.memory.notes.sync()
    assert book.id("ferry") == id


def test_undoing_the_deletion_of_a_line_restores_it(book: Notebook) -> None:
    before = book.path.read_bytes()
    id = book.id("ferry")
    book.without("ferry")
    book.memory.notes.sync()
    book.path.write_bytes(before)
    book.memory.notes.sync()
    found = book.view.show(id)
    assert found.state == "active"
    assert book.text.count("ferry") == 1


def test_a_tick_completes_a_task_and_may_be_taken_back(book: Notebook) -> None:
    id = book.id("Buy tickets")
    book.replace("- [ ] Buy tickets", "- [x] Buy tickets")
    report = book.memory.notes.sync()
    assert (report.completed, report.updated) == (1, 0)
    assert "done" in book.view.show(id).tags
    assert 'tasks: "1/2"' in book.text
    book.replace("- [x] Buy tickets", "- [ ] Buy tickets")
    book.memory.notes.sync()
    assert "done" not in book.view.show(id).tags
    assert 'tasks: "0/2"' in book.text


def test_the_summary_is_a_memory_too(book: Notebook) -> None:
    book.replace("Planned the trip to Lisbon.", "Planned the trip to Porto.")
    assert book.memory.notes.sync().updated == 1
    (found,) = [one for one in book.view.list().items if "session" in one.tags]
    assert (found.content, found.version) == ("Planned the trip to Porto.", 2)
    book.view.update(found.id, "Planned the trip to Faro.")
    book.memory.notes.sync()
    assert 'summary: "Planned the trip to Faro."' in book.text


def test_what_changes_in_the_store_is_shown_in_the_file(book: Notebook) -> None:
    id = book.id("Hotel")
    book.view.update(id, "Hotel: booked for July")
    book.view.forget(book.id("ferry"))
    assert book.memory.notes.sync().written == 1
    assert f"1. **Hotel**: booked for July <!-- {id} -->" in book.text
    assert "ferry" not in book.text


def test_what_a_person_arranged_survives_byte_for_byte(book: Notebook) -> None:
    id = book.id("Buy tickets")
    book.replace("source: telegram\n", "source: telegram\nmood:   'fine'  # mine\n")
    book.replace("## Tasks\n", "<!-- a comment of mine -->\n\n\n## Tasks   \n\n")
    book.replace("- [ ] Buy tickets", "* [ ] Buy tickets")
    book.memory.notes.sync()
    before = book.text
    book.view.update(id, "Buy three tickets")
    book.memory.notes.sync()
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), book.text.splitlines(), strict=True)
        if old != new and not old.startswith("updated_at")
    ]
    assert changed == [(f"* [ ] Buy tickets <!-- {id} -->", f"* [ ] Buy three tickets <!-- {id} -->")]


def test_the_order_that_a_person_gave_the_lines_stays(book: Notebook, folder: Path) -> None:
    first, second = book.line("Buy tickets"), book.line("Pack the tent")
    book.replace(f"{first}\n{second}", f"{second}\n{first}")
    book.memory.notes.sync()
    book.memory.notes.rebuild(folder.parent / "again")
    text = (folder.parent / "again" / book.name).read_text()
    assert text.index("Pack the tent") < text.index("Buy tickets")


def test_a_line_in_another_section_is_filed_anew(book: Notebook) -> None:
    id, line = book.id("ferry"), book.line("ferry")
    book.without("ferry")
    moved = "- [ ] " + line.partition(". ")[2]
    book.replace("## Follow Ups\n", f"## Follow Ups\n{moved}\n")
    book.memory.notes.sync()
    found = book.view.show(id)
    assert (found.kind, found.tags) == ("task", ("follow_up",))


def test_a_conflict_keeps_both_and_says_so(book: Notebook) -> None:
    id = book.id("Hotel")
    book.view.update(id, "Hotel: booked for July")
    book.replace("booked for May", "booked for June")
    report = book.memory.notes.sync()
    assert [(one.path, one.problem) for one in report.problems] == [(book.name, "conflict")]
    assert f"1. **Hotel**: booked for June <!-- {id} -->" in book.text
    assert f". **Hotel**: booked for July <!-- {id} conflict -->" in book.text
    assert book.view.show(id).content == "Hotel: booked for June"
    assert [one.content for one in book.view.history(id)][-2:] == ["Hotel: booked for July", "Hotel: booked for June"]
    book.without("conflict -->")
    assert book.memory.notes.sync().problems == ()
    assert book.view.show(id).content == "Hotel: booked for June"


def test_the_other_wording_of_a_conflict_may_be_chosen(book: Notebook) -> None:
    id = book.id("Hotel")
    book.view.update(id, "Hotel: booked for July")
    book.replace("booked for May", "booked for June")
    book.memory.notes.sync()
    book.without("booked for June")
    assert book.memory.notes.sync().problems == ()
    assert book.view.show(id).content == "Hotel: booked for July"
    assert f". **Hotel**: booked for July <!-- {id} -->" in book.text


def test_a_tick_and_another_wording_are_no_conflict(book: Notebook) -> None:
    id = book.id("Buy tickets")
    book.view.update(id, "Buy three tickets")
    book.replace("- [ ] Buy tickets", "- [x] Buy tickets")
    assert book.memory.notes.sync().problems == ()
    assert f"- [x] Buy three tickets <!-- {id} -->" in book.text
    assert "done" in book.view.show(id).tags


def test_what_changed_since_its_line_was_deleted_comes_back(book: Notebook) -> None:
    id = book.id("Hotel")
    book.without("Hotel")
    book.view.update(id, "Hotel: booked for July")
    assert book.memory.notes.sync().forgotten == 0
    assert f"**Hotel**: booked for July <!-- {id} -->" in book.text


def test_a_line_that_lost_its_id_is_known_again(book: Notebook) -> None:
    id = book.id("ferry")
    book.replace(f" <!-- {id} -->", "")
    report = book.memory.notes.sync()
    assert (report.remembered, report.forgotten) == (0, 0)
    assert book.id("ferry") == id


def test_a_copied_line_is_a_memory_of_its_own(book: Notebook) -> None:
    line = book.line("Buy tickets")
    book.replace(line, f"{line}\n{line.replace('tickets', 'bread')}")
    assert book.memory.notes.sync().remembered == 1
    assert book.id("Buy bread") != book.id("Buy tickets")


def test_a_line_that_moved_to_another_file_is_not_forgotten(book: Notebook, clock: SetClock) -> None:
    id, line = book.id("Pack the tent"), book.line("Pack the tent")
    clock.forward(days=1)
    other = Notebook(book.memory, book.folder, book.view)
    book.without("Pack the tent <!-- " + id)
    other.replace("## Follow Ups", f"{line}\n\n## Follow Ups")
    assert book.memory.notes.sync().forgotten == 0
    assert book.view.show(id).state == "active"
    assert book.memory.notes.sync().written == 0
    book.view.update(id, "Pack the large tent")
    book.memory.notes.sync()
    assert "Pack the large tent" in other.text


def test_nobody_reaches_anothers_memory_by_its_id(book: Notebook) -> None:
    secret = kept(private(book.memory, BOB), "Bob's own affair")
    book.replace("## Follow Ups", f"- [ ] Mine now <!-- {secret} -->\n\n## Follow Ups")
    book.memory.notes.sync()
    assert book.id("Mine now") != secret
    assert private(book.memory, BOB).show(secret).content == "Bob's own affair"
    book.without("Mine now")
    book.memory.notes.sync()
    assert private(book.memory, BOB).show(secret).state == "active"


def test_a_bullet_with_a_secret_is_left_alone_and_said(book: Notebook) -> None:
    line = "- [ ] the password is hunter2secret99"
    book.replace("## Follow Ups", f"{line}\n- [ ] Water the plants\n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert [(one.path, one.problem) for one in report.problems] == [(book.name, "refused")]
    assert report.remembered == 1
    assert line in book.text.splitlines()
    assert not any("hunter2" in one.content for one in book.view.list().items)


def test_an_edit_into_a_secret_leaves_the_memory_as_it_was(book: Notebook) -> None:
    id = book.id("ferry")
    book.replace("The ferry leaves at nine", "the password is hunter2secret99")
    assert [one.problem for one in book.memory.notes.sync().problems] == ["refused"]
    assert book.view.show(id).content == "The ferry leaves at nine"
    assert "hunter2secret99" in book.text
    book.replace("the password is hunter2secret99", "The ferry leaves at ten")
    assert book.memory.notes.sync().problems == ()
    assert book.view.show(id).content == "The ferry leaves at ten"


def test_a_file_that_cannot_be_read_is_left_alone_and_said(book: Notebook) -> None:
    id = book.id("Hotel")
    good = book.path.read_bytes()
    bad = good.replace(b"session_id: ", b"session_id: {[")
    book.path.write_bytes(bad)
    book.view.update(id, "Hotel: booked for July")
    report = book.memory.notes.sync()
    assert [(one.path, one.problem) for one in report.problems] == [(book.name, "unreadable")]
    assert book.path.read_bytes() == bad
    book.path.write_bytes(good)
    assert book.memory.notes.sync().problems == ()
    assert "booked for July" in book.text


def test_a_group_session_is_edited_by_the_operator_of_the_folder(memory: Memory, folder: Path) -> None:
    book = Notebook(memory, folder, group(memory, ALICE))
    assert "subject_id" not in book.text
    id = book.id("ferry")
    book.replace("leaves at nine", "leaves at ten")
    book.replace("## Follow Ups", "- [ ] Rent a van\n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert (report.updated, report.remembered, report.problems) == (1, 1, ())
    assert book.view.history(id)[-1].actor == "operator:notes"
    heard = [one.content for one in group(memory, BOB).list().items]
    assert "Rent a van" in heard
    assert "The ferry leaves at ten" in heard


def test_a_rooms_line_that_is_reworded_into_something_delicate_is_public_no_more(memory: Memory, folder: Path) -> None:
    book = Notebook(memory, folder, group(memory, ALICE))
    book.replace("The ferry leaves at nine", "Bob was diagnosed with cancer")
    assert book.memory.notes.sync().updated == 1
    assert "cancer" in book.text
    heard = [one.content for one in group(memory, BOB).list().items]
    assert not any("cancer" in one for one in heard)


def test_diff_tells_what_a_sync_would_do_and_does_nothing(book: Notebook) -> None:
    book.view.update(book.id("Hotel"), "Hotel: booked for July")
    book.without("ferry")
    book.replace("- [ ] Buy tickets", "- [x] Buy tickets")
    before = files_in(book.folder)
    acts = sorted((one.act, one.before, one.after) for one in book.memory.notes.diff())
    assert acts == [
        ("complete", "Buy tickets", "Buy tickets"),
        ("forget", "The ferry leaves at nine", None),
        ("show", "Hotel: booked for May", "Hotel: booked for July"),
    ]
    assert files_in(book.folder) == before
    assert "The ferry leaves at nine" in [one.content for one in book.view.list().items]
    assert sorted((one.act, one.before, one.after) for one in book.memory.notes.diff()) == acts


def test_another_space_has_its_own_part_of_the_folder(memory: Memory, folder: Path) -> None:
    other = memory.space("Team.B")
    book = Notebook(other, folder / "_spaces" / "=team.=b", private(other, ALICE))
    book.replace("leaves at nine", "leaves at ten")
    assert memory.notes.sync().updated == 0
    assert other.notes.sync().updated == 1
