"""Memories with a folder of notes beside them, and files that a test edits as a person would."""

from pathlib import Path

from tacit.memory import Memory
from tacit.records.notes import NoteLink, SessionDraft, TaskDraft, TopicDraft
from tacit.settings import NotesSettings, Settings
from tacit.view.view import View

TRIP = SessionDraft(
    summary="Planned the trip to Lisbon.",
    topics=(TopicDraft(topic="Trip", users="Alice", event="Planned it", result="A plan"),),
    facts=("Hotel: booked for May", "The ferry leaves at nine"),
    tasks=(TaskDraft(text="Buy tickets"), TaskDraft(text="Pack the tent")),
    follow_ups=(TaskDraft(text="Ask Bob about the car"),),
    links=(NoteLink(text="Previous day", target="../2026-02-28/telegram_1001.md"),),
)


def with_notes(folder: Path, *, watch: bool = False, forget_at_once_max: int = 5) -> Settings:
    return Settings(
        notes=NotesSettings(enabled=True, dir=str(folder), watch=watch, forget_at_once_max=forget_at_once_max)
    )


def files_in(folder: Path) -> dict[str, bytes]:
    """By path; without our own, whose names begin with a dot."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def hand_written(folder: Path, name: str, text: str) -> Path:
    """A file that a person made, in a folder that nobody else can look into."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Notebook:
    """The file of one session, edited by hand."""

    def __init__(self, memory: Memory, folder: Path, view: View) -> None:
        self.memory, self.folder, self.view = memory, folder, view
        ended = view.sessions.end(draft=TRIP)
        memory.notes.sync()
        self.path = folder / ended.path
        self.name = ended.path

    @property
    def text(self) -> str:
        return self.path.read_text()

    def line(self, words: str) -> str:
        (found,) = [line for line in self.text.splitlines() if words in line]
        return found

    def id(self, words: str) -> str:
        return self.line(words).rpartition("<!-- ")[2].removesuffix(" -->")

    def replace(self, before: str, after: str) -> None:
        text = self.text
        assert before in text
        self.path.write_text(text.replace(before, after, 1))

    def without(self, *words: str) -> None:
        lines = [line for line in self.text.splitlines(keepends=True) if not any(word in line for word in words)]
        self.path.write_text("".join(lines))
