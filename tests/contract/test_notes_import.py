"""From one database to another by way of files: nothing that they mirror is lost or changed."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.records.notes import Section, SessionDraft, TaskDraft, TopicDraft
from tests.contract.conftest import Open
from tests.contract.notebooks import TRIP, files_in, hand_written, with_notes
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, private


def _filled(memory: Memory, clock: SetClock) -> None:
    """Sessions of two days, in private and in a group, a long-term index, and a page."""
    for who in (ALICE, BOB, CAROL):
        private(memory, who).sessions.end(draft=TRIP)
    group(memory, ALICE).sessions.end(draft=TRIP)
    clock.forward(days=1, seconds=1.25)
    view = private(memory, ALICE)
    view.sessions.end(
        draft=SessionDraft(
            summary="A day with one wish.",
            promote="The summer house in Sintra has the blue door",
            promote_to=Section.KEY_FACTS,
            tags=("summer", "house"),
        )
    )
    view.files.write("boats.md", "# Boats\n\n- The red boat leaks\n\nA whole paragraph.\n")


@pytest.fixture
def source(database_url: str, opened: Open, clock: SetClock, tmp_path: Path) -> Memory:
    memory = opened(database_url, settings=with_notes(tmp_path / "notes"))
    _filled(memory, clock)
    memory.notes.sync()
    return memory


def test_a_rebuild_is_what_the_mirror_wrote(source: Memory, tmp_path: Path) -> None:
    report = source.notes.rebuild(tmp_path / "again")
    assert report.written == len(files_in(tmp_path / "notes")) == 7
    assert files_in(tmp_path / "again") == files_in(tmp_path / "notes")


def test_an_empty_database_takes_the_files_in_with_their_ids(
    source: Memory, opened: Open, clock: SetClock, tmp_path: Path
) -> None:
    before = files_in(tmp_path / "notes")
    clock.forward(days=3)
    other = opened("sqlite://", settings=with_notes(tmp_path / "notes"))
    assert {one.problem for one in other.notes.sync().problems} == {"unknown_folder"}
    assert files_in(tmp_path / "notes") == before
    report = other.notes.import_files()
    assert report.problems == ()
    assert report.written == 0
    assert files_in(tmp_path / "notes") == before
    for who in (ALICE, BOB, CAROL):
        mine, theirs = private(source, who).list().items, private(other, who).list().items
        assert _told(mine) == _told(theirs)
    other.notes.rebuild(tmp_path / "again")
    assert files_in(tmp_path / "again") == before


def _told(memories: Sequence[Record]) -> set[tuple[object, ...]]:
    """What a file says of a person's own. A summary stands in the head, where ids have no room; and
    who heard what in a group is nothing that a file could say."""
    own = [one for one in memories if one.owner is not None and "session" not in one.tags]
    return {(one.id, one.content, one.kind, one.category, one.tags) for one in own}


def test_another_folder_is_taken_in_and_stays_as_it_is(source: Memory, opened: Open, tmp_path: Path) -> None:
    before = files_in(tmp_path / "notes")
    other = opened("sqlite://", settings=with_notes(tmp_path / "other"))
    assert other.notes.import_files(tmp_path / "notes").remembered > 0
    assert other.notes.import_files(tmp_path / "notes").remembered == 0
    assert files_in(tmp_path / "notes") == before
    other.notes.sync()
    assert files_in(tmp_path / "other") == before


def test_an_index_written_by_hand_is_taken_in(database_url: str, opened: Open, tmp_path: Path) -> None:
    path = hand_written(
        tmp_path / "notes",
        "_longterms/acct_42/_index.md",
        "# Mine\n\n## Key Facts\n- **Boat**: is red\n- The door is blue\n",
    )
    memory = opened(database_url, settings=with_notes(tmp_path / "notes"))
    text = path.read_text()
    assert "(added 2026-03-01) <!-- " in text
    assert "subject_id: acct:42" in text
    assert text.endswith(" -->\n")
    view = private(memory, tacit.Requester("acct:42"))
    assert sorted(one.content for one in view.list().items) == ["Boat: is red", "The door is blue"]
    assert memory.notes.sync().written == 0


def test_a_session_that_belongs_to_nobody_is_left_alone(database_url: str, opened: Open, tmp_path: Path) -> None:
    said = "## Temporary Facts\n1. It rained\n"
    path = hand_written(tmp_path / "notes", "2026-03-01/diary.md", said)
    memory = opened(database_url, settings=with_notes(tmp_path / "notes"))
    assert [one.problem for one in memory.notes.sync().problems] == ["unknown_person"]
    assert path.read_text() == said


def test_other_files_in_the_folder_are_none_of_our_business(database_url: str, opened: Open, tmp_path: Path) -> None:
    hand_written(tmp_path / "notes", "README.md", "- mine\n")
    memory = opened(database_url, settings=with_notes(tmp_path / "notes"))
    assert memory.notes.sync().files == 0


NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
WORDS = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cf", "Co", "Cn", "Zl", "Zp")), min_size=1, max_size=40
).filter(str.strip)
TASKS = st.builds(TaskDraft, text=WORDS, done=st.booleans())
DRAFTS = st.builds(
    SessionDraft,
    summary=WORDS,
    topics=st.lists(st.builds(TopicDraft, topic=WORDS, event=WORDS), max_size=2).map(tuple),
    facts=st.lists(WORDS, max_size=3).map(tuple),
    tasks=st.lists(TASKS, max_size=3).map(tuple),
    follow_ups=st.lists(TASKS, max_size=2).map(tuple),
)


@settings(max_examples=8, deadline=None, phases=NO_SHRINKING)
@given(st.lists(DRAFTS, min_size=1, max_size=3))
def test_any_notes_become_files_and_the_same_notes_again(drafts: list[SessionDraft]) -> None:
    with TemporaryDirectory() as made:
        folder, clock = Path(made), SetClock()
        one = tacit.open("sqlite://", clock=clock, embedder=None, settings=with_notes(folder / "one"))
        with one:
            for draft in drafts:
                private(one, ALICE).sessions.end(draft=draft)
                clock.forward(days=1)
            one.notes.sync()
            before = files_in(folder / "one")
            assert one.notes.sync().written == 0
            told = {(m.id, m.content, m.tags) for m in private(one, ALICE).list().items}
        two = tacit.open("sqlite://", clock=clock, embedder=None, settings=with_notes(folder / "one"))
        with two:
            assert two.notes.import_files().problems == ()
            found = {(m.id, m.content, m.tags) for m in private(two, ALICE).list().items}
            two.notes.rebuild(folder / "two")
        assert {m for m in found if "session" not in m[2]} == {m for m in told if "session" not in m[2]}
        assert {m[1:] for m in found} == {m[1:] for m in told}
        assert files_in(folder / "two") == files_in(folder / "one") == before
