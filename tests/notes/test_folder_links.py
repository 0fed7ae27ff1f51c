"""What lies in the folder and leads elsewhere, or is no file: it is never read or written."""

import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tacit.errors import NoteMoved, NoteOutside, SettingsError, StoreUnavailable
from tacit.notes import files
from tacit.notes.folder import LOCK_FILE, NotesFolder
from tests.notes.attacks import SECRET, untouched

RACES, LOOKS = 300, 20


def test_a_link_is_never_followed(folder: NotesFolder, outside: Path) -> None:
    folder.write("a/b/c.md", b"here")
    (folder.root / "file.md").symlink_to(outside / "secret.md")
    (folder.root / "dir").symlink_to(outside)
    (folder.root / "a/b/up").symlink_to("..")
    (folder.root / "new.md").symlink_to(outside / "new.md")  # to nothing
    for path in ("file.md", "dir/secret.md", "dir/new.md", "a/b/up/x.md", "new.md", "dir"):
        for attempt in (folder.read, folder.remove, lambda path: folder.write(path, b"mine")):
            with pytest.raises(NoteOutside):
                attempt(path)
    scan = folder.scan()
    assert sorted(scan.files) == ["a/b/c.md"]
    assert set(scan.refused) == {"file.md", "dir", "a/b/up", "new.md"}
    assert set(scan.refused.values()) == {"link"}
    assert untouched(outside)


def test_a_second_name_of_a_file_elsewhere_is_neither_read_nor_written(
    folder: NotesFolder, outside: Path
) -> None:
    secret = outside / "secret.md"
    secret.chmod(0o644)
    os.link(secret, folder.root / "a.md")
    for attempt in (folder.read, lambda path: folder.write(path, b"mine")):
        with pytest.raises(NoteOutside):
            attempt("a.md")
    assert folder.scan().refused == {"a.md": "hard_link"}
    assert stat.S_IMODE(secret.stat().st_mode) == 0o644
    assert folder.remove("a.md")
    assert untouched(outside)


def test_pipes_sockets_and_folders_are_no_notes(
    folder: NotesFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder.root / "pipe.md")
    (folder.root / "folder.md").mkdir()
    monkeypatch.chdir(folder.root)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.md")
    for path in ("pipe.md", "socket.md", "folder.md"):
        for attempt in (folder.read, folder.remove, lambda path: folder.write(path, b"mine")):
            with pytest.raises(NoteOutside):
                attempt(path)
    assert folder.scan().refused == {"pipe.md": "special", "socket.md": "special"}


def test_a_note_is_no_folder(folder: NotesFolder) -> None:
    folder.write("a.md", b"here")
    with pytest.raises(NoteOutside):
        folder.write("a.md/b.md", b"mine")
    with pytest.raises(NoteOutside):
        folder.read("a.md/b.md")


def test_what_has_a_bad_name_or_lies_too_deep_is_told_and_not_read(folder: NotesFolder) -> None:
    for name in ("aux.md", "trailing.", "nothing\u200b.md"):
        (folder.root / name).write_text("x")
    Path(os.fsdecode(os.fsencode(folder.root) + b"/\xff.md")).write_text("x")
    deep = folder.root.joinpath(*"abcdef")
    deep.mkdir(parents=True)
    (deep / "g.md").write_text("x")
    scan = folder.scan()
    assert scan.files == {}
    assert set(scan.refused.values()) == {"name", "deep"}
    assert scan.refused["a/b/c/d/e/f"] == "deep"
    assert all(path.encode() for path in scan.refused)
    assert len(scan.refused) == 5


def test_what_begins_with_a_dot_is_left_alone(folder: NotesFolder) -> None:
    hooks = folder.root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    hooks.chmod(0o755)
    (hooks / "x.md").write_text("x")
    scan = folder.scan()
    assert (scan.files, scan.refused, scan.folders) == ({}, {}, [""])
    assert stat.S_IMODE(hooks.stat().st_mode) == 0o755


def test_a_lock_that_is_a_link_is_refused(folder: NotesFolder, outside: Path) -> None:
    (folder.root / LOCK_FILE).symlink_to(outside / "lock")
    with pytest.raises(NoteOutside):
        folder.lock()
    assert untouched(outside)


def test_a_folder_replaced_by_a_link_is_refused(folder: NotesFolder, outside: Path) -> None:
    folder.root.rename(folder.root.with_name("away"))
    folder.root.symlink_to(outside)
    with pytest.raises(SettingsError):
        folder.write("b.md", b"mine")
    assert untouched(outside)


# Links that are swapped in between a look and a use.


def _swapping(folder: NotesFolder, one: str, other: str, over: threading.Event) -> threading.Thread:
    """Two names change places for as long as the attack lasts."""
    at = os.open(folder.root, os.O_RDONLY)

    def swap() -> None:
        try:
            while not over.is_set():
                with suppress(FileNotFoundError):  # it was renamed or removed just now
                    files.exchange_files(at, one, other)
        finally:
            os.close(at)

    thread = threading.Thread(target=swap)
    thread.start()
    return thread


def _attack(folder: NotesFolder, one: str, other: str, path: str) -> set[bytes]:
    """What was read while names were swapped."""
    over, seen = threading.Event(), set()
    thread = _swapping(folder, one, other, over)
    attempts: list[Callable[[], object]] = [
        lambda: folder.write(path, b"ours"),
        lambda: folder.remove(path),
        folder.scan,
        folder.clean,
    ]
    try:
        for number in range(RACES):
            looks = [lambda: folder.read(path)] * LOOKS
            for attempt in (*looks, attempts[number % len(attempts)]):
                try:
                    found = attempt()
                except (NoteOutside, NoteMoved, StoreUnavailable):
                    continue
                if isinstance(found, bytes):
                    seen.add(found)
    finally:
        over.set()
        thread.join()
    return seen


@pytest.mark.parametrize(
    ("path", "target"), [("day/secret.md", "."), ("secret.md", "secret.md")], ids=["folder", "file"]
)
def test_what_is_swapped_for_a_link_leads_nowhere(
    folder: NotesFolder, outside: Path, path: str, target: str
) -> None:
    folder.write(path, b"ours")
    (folder.root / ".aside").symlink_to(outside / target)
    assert SECRET not in _attack(folder, path.split("/", maxsplit=1)[0], ".aside", path)
    assert untouched(outside)
