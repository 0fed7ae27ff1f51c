"""Somebody edits a note, and it is told; nothing else is."""

import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tacit import limits
from tacit.notes.folder import NotesFolder
from tacit.notes.watcher import FolderWatcher

_PATIENCE_SECONDS = 60.0


class Heard:
    """What was told, one call after another."""

    def __init__(self) -> None:
        self.calls: list[set[str]] = []
        self._news = threading.Condition()

    def __call__(self, paths: set[str]) -> None:
        with self._news:
            self.calls.append(paths)
            self._news.notify_all()

    def paths(self) -> set[str]:
        return set().union(*self.calls)

    def until(self, found: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(found, _PATIENCE_SECONDS), self.calls


@contextmanager
def _watched(folder: NotesFolder, *, poll: bool = False) -> Iterator[Heard]:
    heard = Heard()
    watcher = FolderWatcher(folder, heard, poll=poll)
    watcher.start()
    try:
        heard.until(lambda: heard.calls == [set()])
        yield heard
    finally:
        watcher.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[NotesFolder]:
    with NotesFolder(tmp_path / "notes") as opened:
        opened.write("2026-01-31/morning.md", b"tea\n")
        yield opened


def test_what_is_edited_new_renamed_or_gone_is_told(folder: NotesFolder) -> None:
    day = folder.root / "2026-01-31"
    with _watched(folder) as heard:
        (day / "morning.md").write_bytes(b"coffee\n")
        heard.until(lambda: "2026-01-31/morning.md" in heard.paths())
        heard.calls.clear()
        (day / "noon.md").write_bytes(b"lunch\n")
        heard.until(lambda: "2026-01-31/noon.md" in heard.paths())
        (day / "noon.md").rename(day / "evening.md")
        heard.until(lambda: "2026-01-31/evening.md" in heard.paths())
        (day / "morning.md").unlink()
        heard.until(lambda: "2026-01-31/morning.md" in heard.paths())


def test_what_lies_in_a_folder_that_is_new_is_told_and_watched(folder: NotesFolder) -> None:
    with _watched(folder) as heard:
        new = folder.root / "_longterms" / "acct_42"
        new.mkdir(parents=True)
        (new / "_index.md").write_bytes(b"likes tea\n")
        heard.until(lambda: "_longterms/acct_42/_index.md" in heard.paths())
        before = len(heard.calls)
        (new / "page.md").write_bytes(b"more\n")
        heard.until(lambda: any("page.md" in str(call) for call in heard.calls[before:]))
        (folder.root / "2026-01-31/morning.md").write_bytes(b"coffee\n")
        heard.until(lambda: "2026-01-31/morning.md" in heard.paths())
        assert not heard.paths() & {"_longterms", "_longterms/acct_42"}


def test_what_is_in_a_folder_that_is_moved_in_or_away_is_told(folder: NotesFolder, tmp_path: Path) -> None:
    day = tmp_path / "day"
    day.mkdir()
    (day / "noon.md").write_bytes(b"lunch\n")
    with _watched(folder) as heard:
        day.rename(folder.root / "2026-02-01")
        heard.until(lambda: "2026-02-01/noon.md" in heard.paths())
        before = len(heard.calls)
        (folder.root / "2026-02-01").rename(day)
        heard.until(lambda: {"2026-02-01/noon.md"} in heard.calls[before:])


def test_our_own_files_in_the_making_are_not_told(folder: NotesFolder) -> None:
    with _watched(folder) as heard:
        folder.lock()
        folder.write("2026-01-31/noon.md", b"lunch\n")
        (folder.root / ".git").mkdir()
        (folder.root / ".git/index.md").write_bytes(b"x")
        folder.write("last.md", b"x")
        heard.until(lambda: "last.md" in heard.paths())
        assert heard.paths() == {"2026-01-31/noon.md", "last.md"}


def test_what_a_link_leads_to_is_not_watched(folder: NotesFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder.root / "link").symlink_to(elsewhere)
    with _watched(folder) as heard:
        (elsewhere / "a.md").write_bytes(b"x")
        folder.write("last.md", b"x")
        heard.until(lambda: "last.md" in heard.paths())
        assert heard.paths() == {"last.md"}


def test_a_deleted_folder_is_made_anew_and_watched(folder: NotesFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NOTE_WATCH_ROUND_MS", 100)
    with _watched(folder) as heard:
        shutil.rmtree(folder.root)
        heard.until(lambda: heard.calls.count(set()) >= 2)
        folder.write("2026-02-01/a.md", b"x")
        heard.until(lambda: "2026-02-01/a.md" in heard.paths())


def test_who_cannot_take_a_change_in_hears_of_the_next(folder: NotesFolder, caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()

    def changed(paths: set[str]) -> None:
        heard(paths)
        if "2026-01-31/morning.md" in paths:
            raise ValueError("tea")

    watcher = FolderWatcher(folder, changed)
    with caplog.at_level(logging.WARNING, "tacit"):
        watcher.start()
        folder.write("2026-01-31/morning.md", b"coffee\n")
        heard.until(lambda: "2026-01-31/morning.md" in heard.paths())
        folder.write("a.md", b"x")
        heard.until(lambda: "a.md" in heard.paths())
        watcher.stop()
    assert "ValueError" in caplog.text
    assert "tea" not in caplog.text
    assert "morning" not in caplog.text


def test_nothing_is_told_after_the_end(folder: NotesFolder) -> None:
    heard = Heard()
    watcher = FolderWatcher(folder, heard)
    watcher.start()
    watcher.start()
    watcher.stop()
    watcher.stop()
    calls = len(heard.calls)
    folder.write("a.md", b"x")
    assert len(heard.calls) == calls
    assert not [one for one in threading.enumerate() if one.name == "tacit-notes-watch"]


def test_a_folder_without_notifications_is_looked_through(folder: NotesFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NOTE_POLL_MS", 20)
    with _watched(folder, poll=True) as heard:
        (folder.root / "2026-01-31/morning.md").write_bytes(b"coffee\n")
        heard.until(lambda: "2026-01-31/morning.md" in heard.paths())
        folder.write("2026-02-01/a.md", b"x")
        heard.until(lambda: "2026-02-01/a.md" in heard.paths())
        folder.remove("2026-02-01/a.md")
        heard.until(lambda: heard.calls[-1] == {"2026-02-01/a.md"})


# A process that may open hardly any more files gets no notifications from the system.
_SHORT = """
import logging, os, resource, sys, threading
from pathlib import Path
from tacit import limits
from tacit.notes.folder import NotesFolder
from tacit.notes.watcher import FolderWatcher, _load_watchfiles
logging.basicConfig(level="WARNING")
_load_watchfiles()
limits.NOTE_POLL_MS = 20
told = threading.Event()
with NotesFolder(Path(sys.argv[1])) as folder:
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 2, free + 2))
    watcher = FolderWatcher(folder, lambda paths: "a.md" in paths and told.set())
    watcher.start()
    Path(sys.argv[1], "a.md").write_bytes(b"x")
    print("told", told.wait(60))
    print("polling", watcher._poll)
    watcher.stop()
"""


def test_a_system_without_notifications_left_is_told_of_and_done_without(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHORT, str(tmp_path / "notes")], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["told", "True", "polling", "True"]
    assert done.stderr.count("no notifications left") == 1
