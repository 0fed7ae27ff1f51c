"""From one database to another by way of files: nothing that they mirror is lost or changed."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

import tacit
from tacit.errors import Conflict, NotFound
from tacit.memory import Memory
from tacit.notes.document import Entry, parse_note
from tacit.records import notes
from tacit.records.memory import Memory as Record
from tacit.records.notes import NoteKind, Section, SessionDraft, TaskDraft, TopicDraft
from tacit.storage.notes import list_file_items
from tests.contract.conftest import Open
from tests.contract.notebooks import TRIP, Notebook, files_in, hand_written, with_notes
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


EDITED_WORDS = st.sampled_from(["tea", "coffee at nine", "Boat: is red", "Boat: is blue", "3 tents"])


WHICH = st.integers(0, 8)


ACTS = st.one_of(
    st.tuples(st.sampled_from(["edit", "add", "update", "said"]), WHICH, EDITED_WORDS),
    st.tuples(
        st.sampled_from(["delete", "tick", "unname", "copy", "forget", "restore", "swap", "erase"]), WHICH, st.just("")
    ),
    st.tuples(st.just("sync"), WHICH, st.just("")),
)


class Desk(Notebook):
    def entries(self) -> tuple[Entry, ...]:
        return parse_note(self.path.read_bytes(), NoteKind.SESSION).entries

    def by_hand(self, act: str, which: int, words: str) -> None:
        lines, entries = self.text.split("\n"), self.entries()
        if act == "add":
            at = lines.index("## Follow Ups")
            lines[at:at] = [f"- [ ] {words}", ""]
        elif entries:
            entry = entries[which % len(entries)]
            line = lines[entry.start]
            name = f" <!-- {entry.item.id} -->"
            if act == "edit":
                end = name if name in line else ""
                body = line.partition("] ") if "] " in line else line.partition(". ")
                lines[entry.start] = f"{body[0]}{body[1]}{words}{end}"
            elif act == "delete":
                del lines[entry.start : entry.end]
            elif act == "tick":
                lines[entry.start] = line.replace("[ ]", "[x]")
            elif act == "unname":
                lines[entry.start] = line.replace(name, "")
            elif act == "copy":
                lines.insert(entry.end, line)
            elif act == "swap" and entry.start:
                other = entries[(which + 1) % len(entries)]
                if other.item.section is entry.item.section:
                    lines[entry.start], lines[other.start] = lines[other.start], lines[entry.start]
        self.path.write_text("\n".join(lines))

    def in_the_store(self, act: str, which: int, words: str) -> None:
        state = "forgotten" if act == "restore" else "active"
        found = self.view.list(state=state).items
        if act == "said":
            self.view.remember(words)
        elif found:
            id = sorted(one.id for one in found)[which % len(found)]
            try:
                if act == "update":
                    self.view.update(id, words)
                else:
                    getattr(self.view, act)(id)
            except (Conflict, NotFound):
                pass


@settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(ACTS, max_size=12))
def test_files_and_store_say_the_same_after_any_edits(acts: list[tuple[str, int, str]]) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made) / "notes"
        memory = tacit.open(
            "sqlite://", clock=SetClock(), embedder=None, settings=with_notes(folder, forget_at_once_max=1000)
        )
        with memory:
            desk = Desk(memory, folder, private(memory, ALICE))
            for act, which, words in acts:
                if act == "sync" or not desk.path.exists():
                    memory.notes.sync()
                elif act in ("update", "said", "forget", "restore", "erase"):
                    desk.in_the_store(act, which, words)
                else:
                    desk.by_hand(act, which, words)
            memory.notes.sync()
            again = memory.notes.sync()
            assert (again.written, again.read_back) == (0, 0)
            assert all(one.problem == "conflict" for one in again.problems)
            stored = memory._storage.database
            with stored.read() as connection:
                shown = _shown(connection, memory, desk.name)
            if not desk.path.exists():
                assert shown == []
                return
            written = [(e.item.id, e.item.content, e.item.done) for e in desk.entries() if not e.item.conflict]
            assert sorted(map(repr, written)) == sorted(map(repr, shown))


def _shown(connection: Connection, memory: tacit.Memory, path: str) -> list[tuple[object, ...]]:
    rows = list_file_items(connection, memory._storage.audiences, "default", path)
    items = [notes.item_from_memory(found, row.section) for row, found in rows]
    return [(item.id, item.content, item.done) for item in items]
