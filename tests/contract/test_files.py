"""Notes as files of a view: what a model reads and writes."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.notes import SessionDraft, TaskDraft
from tests.contract.noting import maybe
from tests.contract.rooms import ALICE, SetClock, private, said

TRIPS = "# Trips\n\n- Lisbon in May\n- Porto in June\n"
TODAY = "2026-03-01/telegram_1001.md"


def test_a_page_reads_back_as_it_was_written(memory: Memory) -> None:
    view = private(memory, ALICE)
    assert view.files.list() == []
    view.files.write("trips.md", TRIPS)
    assert view.files.list() == ["trips.md"]
    assert view.files.sizes() == {"trips.md": len(TRIPS)}
    assert view.files.read("trips.md") == TRIPS
    assert said(view.list()) == ["Lisbon in May", "Porto in June"]


PAGES = [
    "",
    "One paragraph.\n",
    "One paragraph.\n\nAnother one.\n",
    "# Head\n\nText under it.\n\n## More\n\n1. first\n2. second\n\n* star\n",
    "- [ ] buy milk\n- [x] call Sarah\n",
    "```python\nprint('hello')\n```\n\n- a line\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n- a line\n",
    "> quoted words\n\n- a line\n\n---\n\n- another\n",
    "- a parent\n  - a child\n  - another child\n- next\n",
    "- the same\n- the same\n",
    "- **Bold**: text with `code` and [a link](b.md)\n",
    "- Zürich, 東京, كتاب 🎉\n",
]


def test_whatever_a_page_holds_reads_back_as_it_was_written(memory: Memory, subtests: pytest.Subtests) -> None:
    for number, text in enumerate(PAGES):
        view = private(memory.space(f"page-{number}"), ALICE)
        with subtests.test(text):
            view.files.write("page.md", text)
            assert view.files.read("page.md") == text
            view.files.write("page.md", text, instead_of=text)
            assert view.files.read("page.md") == text
            assert {one.version for one in view.list()} <= {1}


def test_an_edited_line_is_the_next_version_and_a_missing_one_is_forgotten(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    ids = {one.content: one.id for one in view.list()}
    view.files.write("trips.md", "# Trips\n\n- Lisbon in April\n- Rome in autumn\n")
    assert view.show(ids["Lisbon in May"]).content == "Lisbon in April"
    assert view.show(ids["Lisbon in May"]).version == 2
    assert view.show(ids["Porto in June"]).state == "forgotten"
    assert said(view.list()) == ["Lisbon in April", "Rome in autumn"]
    view.restore(ids["Porto in June"])
    assert "Porto in June" in view.files.read("trips.md")


def test_history_says_who_changed_a_line(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    view.files.write("trips.md", TRIPS.replace("May", "April"))
    (changed,) = (one for one in view.list() if one.version == 2)
    entries = view.history(changed.id)
    assert [(e.event, e.actor) for e in entries] == [("ADD", "ext:telegram:1001"), ("UPDATE", "ext:telegram:1001")]


def test_what_changed_in_memory_changes_in_the_file(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    ids = {one.content: one.id for one in view.list()}
    view.update(ids["Lisbon in May"], "Lisbon in July")
    view.forget(ids["Porto in June"])
    assert view.files.read("trips.md") == "# Trips\n\n- Lisbon in July\n"


def test_what_is_erased_leaves_the_file_with_nothing_in_its_place(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    (one,) = (one for one in view.list() if "Porto" in one.content)
    view.erase(one.id)
    assert view.files.read("trips.md") == "# Trips\n\n- Lisbon in May\n"
    view.wipe()
    assert view.files.list() == []
    assert maybe(memory, "_longterms/ext_telegram_1001/trips.md") is None


def test_lines_keep_the_order_they_are_written_in(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", "- two\n- three\n")
    view.files.write("trips.md", "- one\n- two\n- two and a half\n- three\n")
    assert view.files.read("trips.md") == "- one\n- two\n- two and a half\n- three\n"
    view.files.write("trips.md", "- three\n- one\n- two\n")
    assert view.files.read("trips.md") == "- three\n- one\n- two\n"


def test_the_index_is_written_by_its_headings_and_keeps_the_day_of_each_line(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.files.write("_index.md", "## Key Facts\n- Sarah is Alice's wife\n")
    clock.forward(days=3)
    text = view.files.read("_index.md")
    assert "- Sarah is Alice's wife (added 2026-03-01)" in text
    view.files.write("_index.md", text.replace("Alice's wife", "my wife") + "- We have a dog\n")
    assert "- Sarah is my wife (added 2026-03-01)\n- We have a dog (added 2026-03-04)" in (view.files.read("_index.md"))
    assert "subject_id" not in text
    assert "---" not in text


def test_what_the_index_could_not_keep_is_refused_and_not_dropped(memory: Memory) -> None:
    view = private(memory, ALICE)
    for text in ("Some prose.\n", "## My own heading\n- a\n", "```\ncode\n```\n"):
        with pytest.raises(tacit.InvalidInput, match="page"):
            view.files.write("_index.md", text)
    with pytest.raises(tacit.InvalidInput, match="page"):
        view.files.write("_index.md", "## Key Facts\n" + "".join(f"- {n}\n" for n in range(101)))
    assert view.files.list() == []
    assert said(view.list()) == []


def test_a_session_can_be_read_and_edited_by_its_person(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(
        draft=SessionDraft(
            summary="We planned the trip",
            facts=("The hotel is near the river",),
            tasks=(TaskDraft(text="Book the hotel"),),
        )
    )
    assert view.files.list() == [TODAY]
    text = view.files.read(TODAY)
    assert "The hotel is near the river" in text
    view.files.write(TODAY, text.replace("- [ ] Book the hotel", "- [x] Book the hotel"))
    assert "- [x] Book the hotel" in view.files.read(TODAY)
    (task,) = (one for one in view.list() if one.content == "Book the hotel")
    assert "done" in task.tags


def test_todays_session_of_this_chat_can_be_begun_and_no_other(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write(TODAY, "## Temporary Facts\n- The wifi is slow\n")
    assert "The wifi is slow" in view.files.read(TODAY)
    for path in ("2026-02-28/telegram_1001.md", "2026-03-01/telegram_2002.md"):
        with pytest.raises(tacit.NotFound):
            view.files.write(path, "## Temporary Facts\n- The wifi is slow\n")


def test_a_deleted_file_is_gone_and_its_lines_can_be_restored(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    view.files.delete("trips.md")
    assert view.files.list() == []
    with pytest.raises(tacit.NotFound):
        view.files.read("trips.md")
    with pytest.raises(tacit.NotFound):
        view.files.delete("trips.md")
    gone = view.list(state="forgotten")
    assert said(gone) == ["Lisbon in May", "Porto in June"]
    view.restore(gone.items[0].id)
    assert view.files.list() == ["trips.md"]
    view.files.write("trips.md", "- Oslo\n")
    assert view.files.read("trips.md") == "- Oslo\n"


def test_a_folder_is_deleted_with_everything_in_it(memory: Memory) -> None:
    view = private(memory, ALICE)
    for path in ("work/a.md", "work/b.md", "home.md"):
        view.files.write(path, f"- in {path}\n")
    assert view.files.list("work") == ["work/a.md", "work/b.md"]
    view.files.delete("work")
    assert view.files.list() == ["home.md"]
    with pytest.raises(tacit.NotFound):
        view.files.list("work")


def test_a_page_and_a_folder_of_pages_can_be_renamed(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", TRIPS)
    view.files.write("work/a.md", "- a\n")
    ids = {one.id for one in view.list()}
    view.files.rename("trips.md", "travel.md")
    view.files.rename("work", "job")
    assert view.files.list() == ["job/a.md", "travel.md"]
    assert view.files.read("travel.md") == TRIPS
    assert {one.id for one in view.list()} == ids
    with pytest.raises(tacit.Conflict):
        view.files.rename("job/a.md", "travel.md")
    with pytest.raises(tacit.NotFound):
        view.files.rename("trips.md", "x.md")
    view.files.delete("travel.md")
    view.files.rename("job/a.md", "travel.md")
    assert view.files.read("travel.md") == "- a\n"


def test_index_and_sessions_keep_their_names(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.files.write("_index.md", "## Key Facts\n- a\n")
    view.files.write(TODAY, "## Temporary Facts\n- b\n")
    for old, new in (("_index.md", "a.md"), (TODAY, "b.md"), ("2026-03-01", "days")):
        with pytest.raises(tacit.InvalidInput):
            view.files.rename(old, new)
    view.files.write("c.md", "- c\n")
    for new in ("_index.md", "2026-03-01/x.md", "folder"):
        with pytest.raises(tacit.InvalidInput):
            view.files.rename("c.md", new)
    assert len(view.files.list()) == 3
