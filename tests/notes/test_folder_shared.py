"""One folder of notes, several processes; and who else may look into it."""

import os
import stat
from pathlib import Path

import pytest

from tacit.errors import Conflict, SettingsError
from tacit.notes.folder import LOCK_FILE, WRITING_FILE, FolderRoot, NotesFolder, temporary_name


def _leftovers(folder: NotesFolder) -> list[str]:
    return [path.name for path in folder.root.rglob(".tacit-*.tmp")]


def test_one_at_a_time_mirrors_and_others_still_read(folder: NotesFolder) -> None:
    folder.write("a.md", b"here")
    assert folder.lock()
    assert folder.lock()
    with NotesFolder(folder.root) as other:
        assert not other.lock()
        assert other.read("a.md") is not None
        other.write("b.md", b"there")
        folder.unlock()
        assert other.lock()
        assert not folder.lock()
    assert folder.lock()


def test_a_lock_that_was_deleted_is_taken_anew(folder: NotesFolder) -> None:
    assert folder.lock()
    (folder.root / LOCK_FILE).unlink()
    with NotesFolder(folder.root) as other:
        assert other.lock()
        assert not folder.lock()


def test_what_a_killed_writer_left_is_cleaned_at_the_next_opening(folder: NotesFolder) -> None:
    folder.write("day/a.md", b"here")
    for at in ("", "day"):
        (folder.root / at / temporary_name()).write_bytes(b"half")
    (folder.root / ".tacit-mine.tmp").write_bytes(b"of a person")
    assert len(_leftovers(folder)) == 3
    with NotesFolder(folder.root):
        assert _leftovers(folder) == [".tacit-mine.tmp"]


def test_what_a_living_writer_has_in_hand_stays(folder: NotesFolder) -> None:
    name = temporary_name()
    (folder.root / name).write_bytes(b"half")
    with FolderRoot(folder.root).writing(), NotesFolder(folder.root) as other:
        assert _leftovers(folder) == [name]
        with pytest.raises(Conflict):
            other.clean(0.0)
    assert folder.clean() == 1
    assert folder.clean() == 0


# Who may read.


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with NotesFolder(tmp_path / "notes") as folder:
            folder.lock()
            folder.write("day/a.md", b"here")
            folder.write("day/a.md", b"here again")
            folder.identity()
    finally:
        os.umask(before)
    for path in (tmp_path / "notes", *(tmp_path / "notes").rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        if path.name not in {LOCK_FILE, WRITING_FILE}:
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path
        assert not path.stat().st_mode & 0o077


def test_modes_that_are_too_open_are_mended(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir(mode=0o755)
    root.chmod(0o755)
    with NotesFolder(root) as folder:  # it was empty
        folder.write("day/a.md", b"here")
    for path, mode in ((root, 0o755), (root / "day", 0o777), (root / "day/a.md", 0o664)):
        path.chmod(mode)
    with NotesFolder(root) as folder:
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        assert sorted(folder.files()) == ["day/a.md"]
    assert stat.S_IMODE((root / "day").stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "day/a.md").stat().st_mode) == 0o600


def test_a_folder_that_others_may_read_and_is_not_ours_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    tmp_path.chmod(0o755)
    with pytest.raises(SettingsError):
        NotesFolder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    tmp_path.chmod(0o700)
    with NotesFolder(tmp_path) as folder:
        assert sorted(folder.files()) == ["a.md"]


def test_a_folder_that_others_need_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("file", "shared", "home"):
        with pytest.raises(SettingsError):
            NotesFolder(tmp_path / name)
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o1777
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o755
