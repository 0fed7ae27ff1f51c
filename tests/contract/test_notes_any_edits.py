"""Whatever people do to a file and to the store in between: both say the same in the end."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

import tacit
from tacit.errors import Conflict, NotFound
from tacit.notes.document import Entry, parse_note
from tacit.records import notes
from tacit.records.notes import NoteKind
from tacit.storage.notes import list_file_items
from tests.contract.notebooks import Notebook, with_notes
from tests.contract.rooms import ALICE, SetClock, private

WORDS = st.sampled_from(["tea", "coffee at nine", "Boat: is red", "Boat: is blue", "3 tents"])
WHICH = st.integers(0, 8)
ACTS = st.one_of(
    st.tuples(st.sampled_from(["edit", "add", "update", "said"]), WHICH, WORDS),
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
