"""The folder of notes: every file is whole, what another process wrote is never lost, and nothing
outside of it is read or written."""

import os
import random
import resource
import socket
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.notes_crash import kills
from bench.notes_crash_child import content, version_of
from tacit import limits
from tacit.errors import Conflict, InvalidInput, NoteMoved, NoteOutside, NoteUnreadable, SettingsError, StoreUnavailable
from tacit.notes import files
from tacit.notes.files import ANY
from tacit.notes.folder import LOCK_FILE, WRITING_FILE, FolderRoot, NotesFolder, temporary_name
from tests.corpus import read_corpus
from tests.notes.attacks import NO_TEXT, PATHS, SECRET, TOO_LONG, untouched

RACES = 160
ATTACKS_COUNT, LOOKS_COUNT = 300, 20


def _leftovers(folder: NotesFolder) -> list[str]:
    return [path.name for path in folder.root.rglob(".tacit-*.tmp")]


def test_what_is_written_is_read_and_listed(folder: NotesFolder) -> None:
    folder.write("2026-01-31/morning.md", b"tea\n")
    assert folder.read("2026-01-31/morning.md") == b"tea\n"
    assert list(folder.files()) == ["2026-01-31/morning.md"]
    assert folder.scan().folders == ["", "2026-01-31"]


def test_a_file_that_is_no_longer_what_was_read_stays(folder: NotesFolder) -> None:
    (folder.root / "a.md").write_bytes(b"by hand")
    for expected in (b"one", None):
        with pytest.raises(NoteMoved):
            folder.write("a.md", b"two", expected=expected)
    with pytest.raises(NoteMoved):
        folder.remove("a.md", expected=b"one")
    assert (folder.root / "a.md").read_bytes() == b"by hand"
    folder.write("a.md", b"three", expected=b"by hand")
    assert (folder.root / "a.md").read_bytes() == b"three"


def test_an_edit_of_the_same_size_within_a_tick_is_seen_by_its_bytes(folder: NotesFolder) -> None:
    folder.write("a.md", b"one")
    path = folder.root / "a.md"
    at = path.stat().st_mtime_ns
    path.write_bytes(b"two")
    os.utime(path, ns=(at, at))
    with pytest.raises(NoteMoved):
        folder.write("a.md", b"six", expected=b"one")


def _replaces(folder: NotesFolder, read: bytes | None) -> None:
    folder.write("a.md", b"from the store", expected=read)


def _removes(folder: NotesFolder, read: bytes | None) -> None:
    assert folder.remove("a.md", expected=ANY if read is None else read)


def _begins(folder: NotesFolder, read: bytes | None) -> None:
    _removes(folder, read)
    folder.write("a.md", b"from the store", expected=None)


@pytest.mark.parametrize("act", [_replaces, _begins, _removes])
def test_an_edit_in_the_very_moment_of_writing_is_never_lost(
    folder: NotesFolder, act: Callable[[NotesFolder, bytes | None], None]
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


def test_a_file_beyond_the_limit_is_neither_read_nor_written(folder: NotesFolder) -> None:
    most = b"x" * limits.NOTE_FILE_MAX_BYTES
    folder.write("a.md", most)
    assert folder.read("a.md") is not None
    (folder.root / "a.md").write_bytes(most + b"x")
    with pytest.raises(NoteUnreadable):
        folder.read("a.md")
    for expected in (None, most):
        with pytest.raises(NoteMoved):
            folder.write("a.md", b"x", expected=expected)
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


def _run_together(works: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_that_write_and_look_do_not_disturb_each_other(folder: NotesFolder) -> None:
    for number in range(30):
        folder.write(f"day/{number}.md", b"0" * 100)
    seen: list[int] = []

    def look() -> None:
        seen.extend(len(folder.files()) for _ in range(50))

    def write(mark: bytes) -> None:
        for number in range(30):
            folder.write(f"day/{number}.md", mark * 100)

    _run_together([look, look, lambda: write(b"1"), lambda: write(b"2")])
    # A name that is exchanged while it is listed may be missed or met once more, and no other.
    assert min(seen) >= 28
    assert {len(set((folder.root / path).read_bytes())) for path in folder.files()} == {1}


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
            folder.remove("day/a.md")

    use()
    before = count()
    use()
    assert count() == before


# When a process is killed: the short form of `make crash-notes`.


def test_every_note_is_whole_and_nothing_is_left_when_writers_are_killed(tmp_path: Path) -> None:
    outcome = kills(tmp_path / "notes", count=3, seed=7)
    assert outcome.wrong == []
    assert outcome.kills == 3
    assert outcome.writes  # or nothing was put to the test


@pytest.mark.parametrize("cut", [0, 1, 10, 1_000, -2])
def test_a_torn_note_is_told(cut: int) -> None:
    whole = content("a/1.md", 7, random.Random(1))
    assert version_of("a/1.md", whole) == 7
    assert version_of("a/1.md", whole[:cut]) is None
    assert version_of("a/2.md", whole) is None


# What leads elsewhere, or is no file.


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


def test_a_second_name_of_a_file_elsewhere_is_neither_read_nor_written(folder: NotesFolder, outside: Path) -> None:
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


def test_pipes_sockets_and_folders_are_no_notes(folder: NotesFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder.root / "pipe.md")
    (folder.root / "folder.md").mkdir()
    monkeypatch.chdir(folder.root)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.md")
    folder.write("a.md", b"here")
    for path in ("pipe.md", "socket.md", "folder.md", "a.md/b.md"):
        for attempt in (folder.read, folder.remove, lambda path: folder.write(path, b"mine")):
            with pytest.raises(NoteOutside):
                attempt(path)
    assert folder.scan().refused == {"pipe.md": "special", "socket.md": "special"}


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
        for number in range(ATTACKS_COUNT):
            looks = [lambda: folder.read(path)] * LOOKS_COUNT
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
def test_what_is_swapped_for_a_link_leads_nowhere(folder: NotesFolder, outside: Path, path: str, target: str) -> None:
    folder.write(path, b"ours")
    (folder.root / ".aside").symlink_to(outside / target)
    assert SECRET not in _attack(folder, path.split("/", maxsplit=1)[0], ".aside", path)
    assert untouched(outside)


# Paths that a caller may name.


def test_no_path_leads_out(folder: NotesFolder, outside: Path) -> None:
    folder.write("a.md", b"here")
    bad = [path for path, in_folder, *_ in read_corpus(PATHS) if in_folder == "refused"]
    for path in (*bad, *TOO_LONG, *NO_TEXT):
        attempts: list[Callable[..., object]] = [folder.read, folder.remove, lambda path: folder.write(path, b"mine")]
        for attempt in attempts:
            with pytest.raises(NoteOutside) as refused:
                attempt(path)
            assert "secret" not in str(refused.value)  # nor any word of the path
    assert untouched(outside)
    assert sorted(folder.files()) == ["a.md"]


_PIECE = st.sampled_from(["..", ".", "", "/", "\\", "\0", "a", "link", "secret.md", "CON", " ", ":"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.one_of(st.text(max_size=40), st.lists(_PIECE, max_size=8).map("/".join)))
def test_whatever_a_path_says_nothing_outside_is_touched(folder: NotesFolder, outside: Path, path: str) -> None:
    if not (folder.root / "link").is_symlink():
        (folder.root / "link").symlink_to(outside)
    try:
        folder.write(path, b"mine")
        read = folder.read(path)
    except NoteOutside:
        assert folder.read("nothing.md") is None
    else:
        assert read == b"mine"
        assert path in folder.files()
        folder.remove(path)
    assert untouched(outside)
    assert {one.name for one in outside.parent.iterdir()} == {"notes", "outside"}


# Names that some file system takes for one.


@pytest.mark.parametrize(
    ("there", "named"),
    [
        ("notes.md", "Notes.md"),
        ("straße.md", "STRASSE.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("cafe\u0301.md", "CAF\u00c9.md"),
        ("\ufb01le.md", "file.md"),  # a ligature
        ("\u212aim.md", "kim.md"),  # the sign for kelvin
        ("day/a.md", "Day/b.md"),
    ],
)
def test_a_name_that_elsewhere_is_another_one_is_not_made(folder: NotesFolder, there: str, named: str) -> None:
    folder.write(there, b"first")
    with pytest.raises(NoteOutside):
        folder.write(named, b"second")
    assert list(folder.files()) == [there]
    assert folder.read(named) is None


# Several processes, and who else may look into it.


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


def test_a_folder_that_others_need_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
