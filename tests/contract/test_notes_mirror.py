"""Files and store, both ways: what a person edits is read back, what changes is written out."""

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


def test_a_session_becomes_a_file_of_its_owner_alone_and_is_written_once(book: Notebook, folder: Path) -> None:
    assert book.name == "2026-03-01/telegram_1001.md"
    text = book.text
    assert 'summary: "Planned the trip to Lisbon."' in text
    assert 'tasks: "0/2"' in text
    assert "1. **Hotel**: booked for May <!-- " in text
    assert "- [ ] Buy tickets <!-- " in text
    assert "- [Previous day](../2026-02-28/telegram_1001.md)" in text
    assert book.path.stat().st_mode & 0o777 == 0o600
    assert book.path.parent.stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700
    before = book.path.stat()
    report = book.memory.notes.sync()
    assert (report.written, report.read_back, report.problems) == (0, 0, ())
    assert book.path.stat().st_mtime_ns == before.st_mtime_ns


def test_an_edited_line_is_the_next_version_with_the_person_as_its_actor(book: Notebook) -> None:
    id = book.id("Hotel")
    book.replace("booked for May", "booked for June")
    edited = book.path.read_bytes()
    report = book.memory.notes.sync()
    assert (report.updated, report.remembered, report.forgotten, report.written) == (1, 0, 0, 0)
    assert book.path.read_bytes() == edited  # it needed nothing from us
    found = book.view.show(id)
    assert (found.content, found.version) == ("Hotel: booked for June", 2)
    assert book.view.history(id)[-1].actor == "ext:telegram:1001"


def test_a_new_or_copied_bullet_is_remembered_and_one_that_lost_its_id_is_known_again(book: Notebook) -> None:
    book.replace("## Follow Ups", "- [ ] Water the plants\n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert report.remembered == 1
    found = book.view.show(book.id("Water the plants"))
    assert (found.content, found.kind, found.category) == ("Water the plants", "task", "task_state")
    assert 'tasks: "0/3"' in book.text
    assert book.memory.notes.sync().written == 0
    line = book.line("Buy tickets")
    book.replace(line, f"{line}\n{line.replace('tickets', 'bread')}")
    assert book.memory.notes.sync().remembered == 1
    assert book.id("Buy bread") != book.id("Buy tickets")
    id = book.id("ferry")
    book.replace(f" <!-- {id} -->", "")
    report = book.memory.notes.sync()
    assert (report.remembered, report.forgotten) == (0, 0)
    assert book.id("ferry") == id


def test_a_deleted_line_is_forgotten_and_restored_as_a_memory_or_by_undoing_the_edit(book: Notebook) -> None:
    id = book.id("ferry")
    book.without("ferry")
    assert book.memory.notes.sync().forgotten == 1
    assert book.view.history(id)[-1].actor == "ext:telegram:1001"
    assert [one.id for one in book.view.list(state="forgotten").items] == [id]
    book.view.restore(id)
    book.memory.notes.sync()
    assert book.id("ferry") == id
    before = book.path.read_bytes()
    id = book.id("ferry")
    book.without("ferry")
    book.memory.notes.sync()
    book.path.write_bytes(before)
    book.memory.notes.sync()
    found = book.view.show(id)
    assert found.state == "active"
    assert book.text.count("ferry") == 1


def test_a_tick_completes_a_task_may_be_taken_back_and_is_no_conflict_with_another_wording(book: Notebook) -> None:
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
    id = book.id("Buy tickets")
    book.view.update(id, "Buy three tickets")
    book.replace("- [ ] Buy tickets", "- [x] Buy tickets")
    assert book.memory.notes.sync().problems == ()
    assert f"- [x] Buy three tickets <!-- {id} -->" in book.text
    assert "done" in book.view.show(id).tags


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


def test_what_changed_since_its_line_was_deleted_comes_back(book: Notebook) -> None:
    id = book.id("Hotel")
    book.without("Hotel")
    book.view.update(id, "Hotel: booked for July")
    assert book.memory.notes.sync().forgotten == 0
    assert f"**Hotel**: booked for July <!-- {id} -->" in book.text


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


INDEX = "_longterms/ext_telegram_1001/_index.md"


HOUSE = "The summer house in Sintra has the blue door"


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


def test_what_a_model_writes_into_a_page_reaches_its_file_and_goes_with_it(memory: Memory, folder: Path) -> None:
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


def test_neither_a_template_nor_what_is_in_no_note_is_taken_for_an_item(book: Notebook, folder: Path) -> None:
    book.replace("## Follow Ups", "- [ ]\n- [ ] \n\n## Follow Ups")
    report = book.memory.notes.sync()
    assert (report.remembered, report.problems) == (0, ())
    kept(book.view, "Nothing of this is in a note")
    book.memory.notes.sync()
    assert not any(b"Nothing of this" in data for data in files_in(folder).values())


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
