"""The folder of notes: every file is whole, and what somebody else wrote is never lost."""

import os
import resource
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tacit import limits
from tacit.errors import (
    InvalidInput,
    NoteMoved,
    NoteOutside,
    NoteUnreadable,
    NotFound,
    StoreUnavailable,
)
from tacit.notes.files import ANY, FileContent
from tacit.notes.folder import MARK_FILE, NotesFolder

RACES = 160


def _leftovers(folder: NotesFolder) -> list[str]:
    return [path.name for path in folder.root.rglob(".tacit-*.tmp")]


def test_what_is_written_is_read_and_listed(folder: NotesFolder) -> None:
    stamp = folder.write("2026-01-31/morning.md", b"tea\n")
    read = folder.read("2026-01-31/morning.md")
    assert read is not None
    assert (read.data, read.stamp) == (b"tea\n", stamp)
    assert folder.files() == {"2026-01-31/morning.md": stamp}
    assert folder.scan().folders == ("", "2026-01-31")


def test_what_is_not_there_is_none_and_makes_no_folder(folder: NotesFolder) -> None:
    assert folder.read("2026-01-31/morning.md") is None
    assert folder.remove("2026-01-31/morning.md") is False
    with pytest.raises(NotFound):
        folder.rename("2026-01-31/morning.md", "evening.md")
    assert folder.scan().folders == ("",)


def test_a_file_that_is_no_longer_what_was_read_stays(folder: NotesFolder) -> None:
    first = folder.write("a.md", b"one")
    read = folder.read("a.md")
    assert read is not None
    (folder.root / "a.md").write_bytes(b"by hand")
    for expected in (first, read, None):
        with pytest.raises(NoteMoved):
            folder.write("a.md", b"two", expected=expected)
    for seen in (first, read):
        with pytest.raises(NoteMoved):
            folder.remove("a.md", expected=seen)
    assert (folder.root / "a.md").read_bytes() == b"by hand"
    now = folder.read("a.md")
    assert now is not None
    folder.write("a.md", b"three", expected=now)
    assert (folder.root / "a.md").read_bytes() == b"three"


def test_a_file_that_is_gone_is_not_brought_back(folder: NotesFolder) -> None:
    stamp = folder.write("day/a.md", b"one")
    (folder.root / "day/a.md").unlink()
    (folder.root / "day").rmdir()
    with pytest.raises(NoteMoved):
        folder.write("day/a.md", b"two", expected=stamp)
    assert folder.scan().folders == ("",)


def test_an_edit_of_the_same_size_within_a_tick_is_seen_by_its_bytes(folder: NotesFolder) -> None:
    folder.write("a.md", b"one")
    read = folder.read("a.md")
    assert read is not None
    path = folder.root / "a.md"
    path.write_bytes(b"two")
    os.utime(path, ns=(read.stamp.mtime_ns, read.stamp.mtime_ns))
    with pytest.raises(NoteMoved):
        folder.write("a.md", b"six", expected=read)


def test_the_same_bytes_saved_anew_are_what_was_read(folder: NotesFolder) -> None:
    folder.write("a.md", b"one")
    read = folder.read("a.md")
    assert read is not None
    (folder.root / "new").write_bytes(b"one")
    (folder.root / "new").rename(folder.root / "a.md")
    folder.write("a.md", b"two", expected=read)


def _replaces(folder: NotesFolder, read: FileContent | None) -> None:
    folder.write("a.md", b"from the store", expected=read)


def _begins(folder: NotesFolder, read: FileContent | None) -> None:
    assert folder.remove("a.md", expected=ANY if read is None else read)
    folder.write("a.md", b"from the store", expected=None)


def _removes(folder: NotesFolder, read: FileContent | None) -> None:
    folder.remove("a.md", expected=ANY if read is None else read)


@pytest.mark.parametrize("act", [_replaces, _begins, _removes])
def test_an_edit_in_the_very_moment_of_writing_is_never_lost(
    folder: NotesFolder, act: Callable[[NotesFolder, FileContent | None], None]
) -> None:
    path, scratch = folder.root / "a.md", folder.root / ".editor"
    for number in range(RACES):
        folder.write("a.md", b"before")
        read = folder.read("a.md")
        saved = f"by hand {number}".encode()
        scratch.write_bytes(saved)
        # Now sooner and now later, over all that a write does.
        editor = threading.Timer(number % 40 * 0.00005, scratch.rename, (path,))
        editor.start()
        with suppress(NoteMoved):
            act(folder, read)
        editor.join()
        assert path.read_bytes() == saved
    assert _leftovers(folder) == []


def test_a_removed_note_takes_empty_folders_with_it(folder: NotesFolder) -> None:
    folder.write("_longterms/acct_42/_index.md", b"one")
    folder.write("_longterms/acct_7/_index.md", b"two")
    assert folder.remove("_longterms/acct_42/_index.md")
    assert folder.scan().folders == ("", "_longterms", "_longterms/acct_7")


def test_a_renamed_note_takes_no_place_that_is_taken(folder: NotesFolder) -> None:
    folder.write("a/one.md", b"one")
    folder.write("b/two.md", b"two")
    with pytest.raises(NoteMoved):
        folder.rename("a/one.md", "b/two.md")
    stamp = folder.rename("a/one.md", "b/three.md")
    assert folder.files()["b/three.md"] == stamp
    assert folder.scan().folders == ("", "b")
    folder.rename("b/two.md", "b/Two.md")
    assert sorted(folder.files()) == ["b/Two.md", "b/three.md"]


def test_a_file_beyond_the_limit_is_neither_read_nor_written(folder: NotesFolder) -> None:
    most = b"x" * limits.NOTE_FILE_MAX_BYTES
    folder.write("a.md", most)
    assert folder.read("a.md") is not None
    (folder.root / "a.md").write_bytes(most + b"x")
    with pytest.raises(NoteUnreadable):
        folder.read("a.md")
    with pytest.raises(InvalidInput):
        folder.write("b.md", most + b"x")
    assert sorted(folder.files()) == ["a.md"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(folder: NotesFolder) -> None:
    folder.write("a.md", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))  # as good as full
    try:
        for path in ("a.md", "b.md"):
            with pytest.raises(StoreUnavailable):
                folder.write(path, b"x" * 5_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (folder.root / "a.md").read_bytes() == b"old"
    assert sorted(folder.files()) == ["a.md"]
    assert _leftovers(folder) == []


def test_threads_that_look_at_once_see_everything(folder: NotesFolder) -> None:
    for number in range(1_500):
        (folder.root / f"{number}.md").touch()
    seen: list[int] = []
    lookers = [
        threading.Thread(target=lambda: seen.extend(len(folder.files()) for _ in range(5)))
        for _ in range(4)
    ]
    for thread in lookers:
        thread.start()
    for thread in lookers:
        thread.join()
    assert seen == [1_500] * 20


def test_threads_that_write_and_look_do_not_disturb_each_other(folder: NotesFolder) -> None:
    for number in range(30):
        folder.write(f"day/{number}.md", b"0" * 100)
    seen: list[int] = []

    def look() -> None:
        seen.extend(len(folder.files()) for _ in range(50))

    def write(mark: bytes) -> None:
        for number in range(30):
            folder.write(f"day/{number}.md", mark * 100)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(mark,)) for mark in (b"1", b"2")]
    for thread in (*lookers, *writers):
        thread.start()
    for thread in (*lookers, *writers):
        thread.join()
    # A name that is exchanged while it is listed may be missed or met once more, and no other.
    assert min(seen) >= 28
    assert {len(set((folder.root / path).read_bytes())) for path in folder.files()} == {1}


def test_the_folder_keeps_its_id(folder: NotesFolder) -> None:
    known = folder.identity()
    with NotesFolder(folder.root) as other:
        assert other.identity() == known
    (folder.root / MARK_FILE).write_bytes(b"torn")
    assert folder.identity() not in {known, "torn"}


def test_a_folder_made_anew_is_another(folder: NotesFolder) -> None:
    known, generation = folder.identity(), folder.generation()
    folder.write("day/a.md", b"here")
    assert folder.lock()
    folder.root.rename(folder.root.with_name("away"))
    assert folder.files() == {}
    assert folder.identity() != known
    assert folder.generation() == generation + 1
    assert folder.lock()
    folder.write("b.md", b"here")
    assert (folder.root / "b.md").exists()
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700


def test_a_closed_folder_says_so(folder: NotesFolder) -> None:
    folder.close()
    folder.close()
    with pytest.raises(StoreUnavailable):
        folder.read("a.md")
    folder.unlock()


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def use() -> None:
        with NotesFolder(tmp_path / "notes") as folder:
            folder.lock()
            folder.write("day/a.md", b"here")
            folder.write("day/a.md", b"there")
            folder.scan()
            (folder.root / "link").symlink_to(tmp_path)
            for path in ("link/x", "day", "x/y"):
                with suppress(NoteOutside):
                    folder.read(path)
            (folder.root / "link").unlink()
            folder.rename("day/a.md", "b.md")
            folder.remove("b.md")

    use()
    before = count()
    use()
    assert count() == before
