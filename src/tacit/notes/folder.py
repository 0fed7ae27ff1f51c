"""The folder that holds notes: read, write, rename, scan and lock, never outside of it."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NoteMoved, NoteOutside, NoteUnreadable, SettingsError, StoreUnavailable
from tacit.notes import files, paths
from tacit.notes.files import ANY, AnyFile, ExpectedFile, FileStamp, FolderScan, OpenFile, open_file

# The open root of a notes folder: created, private, with its own id, and with the locks by which
# processes take turns.

MARK_FILE, LOCK_FILE, WRITING_FILE = ".tacit-notes", ".tacit-lock", ".tacit-writing"
_LEFTOVER = re.compile(r"\.tacit-[0-9a-f]{32}\.tmp")
_ID = re.compile(rb"[0-9a-f]{32}")
_LOCK_PAUSE_SECONDS = 0.002


def temporary_name() -> str:
    """Return a name for a file that is being written."""
    return f".tacit-{secrets.token_hex(16)}.tmp"


class FolderRoot:
    """An open folder. A path that leads elsewhere later opens another root."""

    def __init__(self, path: Path) -> None:
        self.handle = _open_root(path)
        # Closed after the last user, which may be after another root was opened.
        weakref.finalize(self, os.close, self.handle)
        what = os.fstat(self.handle)
        self._key = (what.st_dev, what.st_ino)
        self._guard = threading.RLock()
        self._lock: int | None = None
        self.identity()
        self.folds = self._ignores_case()

    def is_at(self, path: Path) -> bool:
        try:
            what = path.lstat()
        except FileNotFoundError:
            return False
        return (what.st_dev, what.st_ino) == self._key

    def identity(self) -> str:
        known = self._read_identity()
        if known is None:
            with self.writing():
                known = self._read_identity() or self._write_identity()
        return known

    def lock(self) -> bool:
        with self._guard:
            if self._lock is None or not _is_still_named(self._lock, self.handle, LOCK_FILE):
                self.unlock()
                self._lock = _lock_file(self.handle, LOCK_FILE)
            return self._lock is not None

    def unlock(self) -> None:
        with self._guard:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    @contextmanager
    def writing(self, wait_seconds: float = limits.NOTE_LOCK_WAIT_MAX_SECONDS) -> Iterator[None]:
        """Hold the write lock of the folder; the system releases it if the process is killed."""
        deadline = time.monotonic() + wait_seconds
        while (held := _lock_file(self.handle, WRITING_FILE)) is None:
            if time.monotonic() > deadline:
                raise Conflict("another process is writing to the notes; try again later")
            time.sleep(_LOCK_PAUSE_SECONDS)
        with files.closed(held):
            yield

    def _read_identity(self) -> str | None:
        with files.open_file(self.handle, MARK_FILE, linked=True) as found:
            if found is None:
                return None
            files.restrict_mode(*found)
            match = _ID.match(os.pread(found[0], 64, 0))
        return None if match is None else match[0].decode()

    def _write_identity(self) -> str:
        new, name = secrets.token_hex(16), temporary_name()
        files.create_file(self.handle, name, f"{new}\n".encode(), os.fstat(self.handle))
        os.rename(name, MARK_FILE, src_dir_fd=self.handle, dst_dir_fd=self.handle)
        files.sync_folder(self.handle)
        return new

    def _ignores_case(self) -> bool:
        """Report whether this file system ignores the case of names."""
        handle = self.handle
        try:
            other = os.stat(MARK_FILE.upper(), dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return other.st_ino == os.stat(MARK_FILE, dir_fd=handle, follow_symlinks=False).st_ino


def _open_root(path: Path) -> int:
    if os.open not in os.supports_dir_fd:
        raise SettingsError("notes need a system with POSIX files; set notes.enabled to false")
    made = False
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(0o700)
        made = True
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise SettingsError("notes.dir is not a folder; name one that holds notes only") from None
        raise
    with files.closed(handle, on_error_only=True):
        _make_private(handle, made)
    return handle


def _make_private(handle: int, made: bool) -> None:
    """Make a folder private if it is ours; leave other folders as they are."""
    what = os.fstat(handle)
    if what.st_mode & stat.S_ISVTX or any(os.path.samestat(what, one) for one in _shared_folders()):
        raise SettingsError("notes.dir is used for more than notes; name a folder of its own")
    if made:
        os.fchmod(handle, 0o700)
        return
    found = files.list_folder_names(handle) if what.st_mode & files.OTHERS_MODE else set()
    if (found and MARK_FILE not in found) or not files.restrict_mode(handle, what):
        raise SettingsError("notes.dir can be read by others; give it mode 0700")


def _shared_folders() -> Iterator[os.stat_result]:
    with suppress(RuntimeError, OSError):  # no such user, or no such folder
        yield Path.home().stat()
    yield Path("/").stat()


def _lock_file(at: int, name: str) -> int | None:
    """Take the lock of that name until it is closed; None where another process holds it."""
    while True:
        handle = files.open_lock_file(at, name)
        try:
            with files.closed(handle, on_error_only=True):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if _is_still_named(handle, at, name):
            return handle
        os.close(handle)  # the file was removed: newcomers lock another one


def _is_still_named(handle: int, at: int, name: str) -> bool:
    try:
        named = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), named)


# Replace or remove a file in one step, and restore what was there if it was changed in that
# instant.


def require_match(found: OpenFile | None, expected: ExpectedFile) -> None:
    if expected is ANY:
        return
    if not (expected is None if found is None else _holds(found[0], expected)):
        raise NoteMoved


def put_file(at: int, name: str, data: bytes, old: OpenFile | None, expected: ExpectedFile) -> None:
    """Put a file; `old` is what was checked to be there."""
    like = os.fstat(at) if old is None else old[1]
    temporary = temporary_name()
    files.create_file(at, temporary, data, like)
    try:
        if old is None:
            files.move_file(at, temporary, name)
        elif not files.exchange_files(at, temporary, name):
            # Without renameat2: an edit in this instant is lost.
            os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
        elif not _is_unchanged(at, temporary, old, expected):
            files.exchange_files(at, temporary, name)
            raise NoteMoved
        files.sync_folder(at)
    except (FileExistsError, FileNotFoundError):
        raise NoteMoved from None
    finally:
        with suppress(FileNotFoundError):  # the replaced file, or the one that could not be put
            os.unlink(temporary, dir_fd=at)


def remove_file(at: int, name: str, old: OpenFile, expected: ExpectedFile) -> None:
    """Move a file aside, where it can be checked again, then remove it."""
    aside = temporary_name()
    try:
        os.rename(name, aside, src_dir_fd=at, dst_dir_fd=at)
    except FileNotFoundError:
        raise NoteMoved from None
    if not _is_unchanged(at, aside, old, expected):
        try:
            files.move_file(at, aside, name)
        except FileExistsError:  # saved again meanwhile, over this one
            os.unlink(aside, dir_fd=at)
        raise NoteMoved
    os.unlink(aside, dir_fd=at)


def _is_unchanged(at: int, name: str, old: OpenFile, expected: ExpectedFile) -> bool:
    """Report whether the file is the one that was checked."""
    now = os.stat(name, dir_fd=at, follow_symlinks=False)
    if expected is ANY and stat.S_ISREG(now.st_mode):
        return True
    if FileStamp.from_stat(now) != FileStamp.from_stat(old[1]):
        return False
    return _holds(old[0], expected)


def _holds(handle: int, expected: ExpectedFile) -> bool:
    try:
        return files.read_all(handle) == expected
    except NoteUnreadable:  # larger than any file that was read
        return False


# Scan a notes folder without following links: what it contains, and what killed writers left.


def scan_folder(root: int) -> FolderScan:
    scan = FolderScan(files={}, refused={}, folders=[])
    for at, before, entries in _walk_folders(root, scan.refused):
        scan.folders.append(before.removesuffix("/"))
        for entry in entries:
            _record_file(at, before, entry, scan)
    return scan


def remove_leftovers(root: int) -> int:
    count = 0
    for at, _, entries in _walk_folders(root, {}):
        for entry in entries:
            if _LEFTOVER.fullmatch(entry.name):
                with suppress(FileNotFoundError, IsADirectoryError):
                    os.unlink(entry.name, dir_fd=at)
                    count += 1
    return count


def _walk_folders(
    at: int, refused: dict[str, str], before: str = "", depth: int = 1
) -> Iterator[tuple[int, str, list[os.DirEntry[str]]]]:
    """Yield each folder, open, with the prefix of its paths and its entries. `at` stays open."""
    with files.closed(files.reopen_folder(at)) as own:
        with os.scandir(own) as found:
            entries = list(found)
        yield own, before, entries
        for entry in entries:
            if paths.find_name_fault(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            path = f"{before}{entry.name}"
            if depth >= limits.NOTE_DEPTH_MAX_COUNT:
                refused[path] = "deep"
                continue
            try:
                inner = files.open_folder(own, entry.name)
            except (NoteOutside, PermissionError) as error:  # a link by now, or not ours
                refused[path] = "link" if isinstance(error, NoteOutside) else "closed"
                continue
            if inner is not None:
                with files.closed(inner):
                    yield from _walk_folders(inner, refused, f"{path}/", depth + 1)


def _record_file(at: int, before: str, entry: os.DirEntry[str], scan: FolderScan) -> None:
    if entry.name.startswith("."):
        return
    path = f"{before}{entry.name}"
    if paths.find_name_fault(entry.name) is not None:
        # A name need not be valid text.
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        scan.refused[shown] = "name"
        return
    try:
        what = os.stat(entry.name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(what.st_mode):
        if what.st_nlink > 1:
            scan.refused[path] = "hard_link"
            return
        if what.st_mode & files.OTHERS_MODE:
            with suppress(OSError, NoteOutside), open_file(at, entry.name) as found:
                if found is not None:
                    files.restrict_mode(*found)
        scan.files[path] = FileStamp.from_stat(what)
    elif not stat.S_ISDIR(what.st_mode):
        scan.refused[path] = "link" if stat.S_ISLNK(what.st_mode) else "special"


# The folder that contains the notes. Nothing outside is ever read or written, whatever a path says
# and whatever the folder contains. A file is always whole: the old or the new one.

_READ_ATTEMPTS_COUNT = 5  # while another process writes the file


class NotesFolder:
    """An open notes folder, created where there is none. Safe for several threads.

    Opening repairs file modes and removes what killed writers left. Paths are relative, with `/`. A
    path that no note may have, that crosses a symbolic link, or that leads to a hard link or to
    anything but a plain file raises `NoteOutside`, which is an `InvalidInput`. Failures of the disk
    raise `StoreUnavailable`.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).resolve()
        self._guard = threading.Lock()  # guards the open root
        self._turn = threading.Lock()  # serializes writers
        self._generation = 0
        with _translate_disk_errors():
            self._open: FolderRoot | None = FolderRoot(self.root)
        try:
            with suppress(Conflict):  # another process holds the lock; leftovers stay until later
                self.clean(limits.NOTE_CLEAN_WAIT_MAX_SECONDS)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the folder and release the lock. A second call does nothing."""
        with self._guard:
            if self._open is not None:
                self._open.unlock()
                self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def identity(self) -> str:
        """Return the random id stored in the folder.

        A folder that was deleted and created again has another one: nothing known of the old one
        holds.
        """
        with self._reading() as root:
            return root.identity()

    def lock(self) -> bool:
        """Report whether this object holds the mirror lock, and try to take it.

        Cheap where it is held already. Call it before each round: a folder that was created again
        has no holder yet.
        """
        with self._reading() as root:
            return root.lock()

    def unlock(self) -> None:
        with self._guard:
            if self._open is not None:
                self._open.unlock()

    def read(self, path: str) -> bytes | None:
        """Read a file; None where there is none.

        Raises `NoteUnreadable` where it is too large for a note or may not be opened.
        """
        names = paths.split_path(path)
        with self._reading() as root, _open_parent(root, names) as at:
            if at is None:
                return None
            with open_file(at, names[-1]) as found:
                if found is None:
                    return None
                handle, before = found
                _require_exact_name(root, at, names[-1])
                for _ in range(_READ_ATTEMPTS_COUNT):
                    data, after = files.read_all(handle), os.fstat(handle)
                    if FileStamp.from_stat(after) == FileStamp.from_stat(before):
                        break
                    before = after
            return data

    def write(self, path: str, data: bytes, *, expected: ExpectedFile = ANY) -> None:
        """Write a whole file, synced to disk.

        `expected` is the content that the caller has seen, None for no file, or ANY. In any other
        state the file stays, and `NoteMoved` is raised.
        """
        names = paths.split_path(path)
        if len(data) > limits.NOTE_FILE_MAX_BYTES:
            most = limits.NOTE_FILE_MAX_BYTES
            raise InvalidInput("data", f"a note has at most {most:,} bytes; split it")
        make = expected is None or expected is ANY
        with self._writing() as root, _open_parent(root, names, make=make) as at:
            if at is None:
                raise NoteMoved
            _require_exact_name(root, at, names[-1], new=True)
            with open_file(at, names[-1]) as old:
                require_match(old, expected)
                put_file(at, names[-1], data, old, expected)

    def remove(self, path: str, *, expected: bytes | AnyFile = ANY) -> bool:
        """Remove a file and report whether there was one.

        Folders that are then empty are removed too: their names may identify a person.
        """
        names = paths.split_path(path)
        with self._writing() as root:
            with _open_parent(root, names) as at:
                if at is None:
                    return False
                with open_file(at, names[-1], linked=True) as old:
                    if old is None:
                        return False
                    _require_exact_name(root, at, names[-1])
                    require_match(old, expected)
                    remove_file(at, names[-1], old, expected)
                    files.sync_folder(at)
            _remove_empty_folders(root, names[:-1])
            return True

    def generation(self) -> int:
        """Return a number that grows each time the folder was deleted, moved or replaced."""
        with self._reading():
            return self._generation

    def files(self) -> dict[str, FileStamp]:
        """Return the stamps of all plain files, and restrict modes that are too open."""
        return self.scan().files

    def scan(self) -> FolderScan:
        with self._reading() as root:
            return scan_folder(root.handle)

    def clean(self, wait_seconds: float = limits.NOTE_LOCK_WAIT_MAX_SECONDS) -> int:
        """Remove what killed writers left, and return how many files.

        Files being written now stay, because writers hold the lock. Erasures call this too: such
        files have content.
        """
        with self._writing(wait_seconds) as root:
            return remove_leftovers(root.handle)

    def _current_root(self) -> FolderRoot:
        """Return the folder that the path leads to now; it may have been deleted and created again.

        Threads that work in the old one keep it open until they are done.
        """
        with self._guard:
            if self._open is None:
                raise StoreUnavailable("the notes folder is closed; open it again")
            if not self._open.is_at(self.root):
                self._open.unlock()
                self._open = FolderRoot(self.root)
                self._generation += 1
            return self._open

    @contextmanager
    def _reading(self) -> Iterator[FolderRoot]:
        with _translate_disk_errors():
            yield self._current_root()

    @contextmanager
    def _writing(self, wait_seconds: float = limits.NOTE_LOCK_WAIT_MAX_SECONDS) -> Iterator[FolderRoot]:
        with self._turn, _translate_disk_errors():
            root = self._current_root()
            with root.writing(wait_seconds):
                yield root


@contextmanager
def _open_parent(root: FolderRoot, names: tuple[str, ...], *, make: bool = False) -> Iterator[int | None]:
    """Open the folder that holds the file; None where there is none."""
    at: int | None = files.reopen_folder(root.handle)
    try:
        for name in names[:-1]:
            assert at is not None
            _require_exact_name(root, at, name, new=make)
            above, at = at, None
            try:
                at = files.open_folder(above, name, make=make)
            finally:
                os.close(above)
            if at is None:
                break
        yield at
    finally:
        if at is not None:
            os.close(at)


def _require_exact_name(root: FolderRoot, at: int, name: str, *, new: bool = False) -> None:
    """Require that a name is unique: no other spelling on file systems that ignore case.

    With `new`, nor a spelling that would clash on another system.
    """
    if not (new or root.folds) or (not root.folds and files.file_exists(at, name)):
        return
    found = files.list_folder_names(at)
    if name in found:  # created a moment ago: the write below detects that
        return
    if root.folds and any(paths.is_same_name(other, name) for other in found):
        return
    key = paths.fold_file_name(name)
    if any(paths.fold_file_name(other) == key for other in found):
        raise NoteOutside("a name differs from an existing one only in case or accents")


def _remove_empty_folders(root: FolderRoot, names: tuple[str, ...]) -> None:
    """Remove empty folders, the innermost first."""
    for depth in range(len(names), 0, -1):
        with _open_parent(root, names[:depth]) as at:
            if at is None:
                return
            try:
                os.rmdir(names[depth - 1], dir_fd=at)
            except OSError:
                return
            files.sync_folder(at)


@contextmanager
def _translate_disk_errors() -> Iterator[None]:
    """Translate disk errors, without the path: a name may identify a person."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StoreUnavailable(
            f"the notes folder cannot be used ({why}); check that it exists and has free space"
        ) from None
