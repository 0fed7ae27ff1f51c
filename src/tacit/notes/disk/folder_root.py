"""The root of a folder of notes while it is open: made, private, with an id of its own, and with
the locks by which processes take turns."""

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

from tacit import limits
from tacit.errors import Conflict, SettingsError
from tacit.notes.disk import handles

MARK, LOCK, WRITING = ".tacit-notes", ".tacit-lock", ".tacit-writing"
_LEFTOVER = re.compile(r"\.tacit-[0-9a-f]{32}\.tmp")
_ID = re.compile(rb"[0-9a-f]{32}")
_LOCK_PAUSE_SECONDS = 0.002


def temporary() -> str:
    """A name for a file that is being written."""
    return f".tacit-{secrets.token_hex(16)}.tmp"


def is_leftover(name: str) -> bool:
    return _LEFTOVER.fullmatch(name) is not None


class Root:
    """One folder, however it is called later: a path that leads elsewhere by then is another."""

    def __init__(self, path: Path) -> None:
        self.handle = _opened(path)
        # Closed when nobody is at work in it any more, which may be later than another is opened.
        weakref.finalize(self, os.close, self.handle)
        what = os.fstat(self.handle)
        self._key = (what.st_dev, what.st_ino)
        self._guard = threading.Lock()
        self._lock: int | None = None
        self.identity()
        self.folds = self._folds()

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
            if self._lock is None or not _is_named(self._lock, self.handle, LOCK):
                self._let_go()
                self._lock = _locked(self.handle, LOCK)
            return self._lock is not None

    def unlock(self) -> None:
        with self._guard:
            self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def writing(self, wait_seconds: float = limits.NOTE_LOCK_WAIT_MAX_SECONDS) -> Iterator[None]:
        """Alone among all that write here. Whoever is killed in it lets go of it by that."""
        deadline = time.monotonic() + wait_seconds
        while (held := _locked(self.handle, WRITING)) is None:
            if time.monotonic() > deadline:
                raise Conflict("another process is writing to the notes; try again later")
            time.sleep(_LOCK_PAUSE_SECONDS)
        try:
            yield
        finally:
            os.close(held)

    def _read_identity(self) -> str | None:
        found = handles.plain(self.handle, MARK, linked=True)
        if found is None:
            return None
        handle, what = found
        try:
            handles.mend(handle, what)
            match = _ID.match(os.pread(handle, 64, 0))
        finally:
            os.close(handle)
        return None if match is None else match[0].decode()

    def _write_identity(self) -> str:
        new, name = secrets.token_hex(16), temporary()
        os.close(handles.fresh(self.handle, name, f"{new}\n".encode(), os.fstat(self.handle)))
        os.rename(name, MARK, src_dir_fd=self.handle, dst_dir_fd=self.handle)
        handles.settle(self.handle)
        return new

    def _folds(self) -> bool:
        """Whether this file system takes names of another case for the same."""
        try:
            other = os.stat(MARK.upper(), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return other.st_ino == os.stat(MARK, dir_fd=self.handle, follow_symlinks=False).st_ino


def _opened(path: Path) -> int:
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
            raise SettingsError("notes.dir is no folder; name one for the notes alone") from None
        raise
    try:
        _make_private(handle, made)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _make_private(handle: int, made: bool) -> None:
    """A folder that is not ours is left as it is: others may need to look into it."""
    what = os.fstat(handle)
    if what.st_mode & stat.S_ISVTX or any(os.path.samestat(what, one) for one in _of_others()):
        raise SettingsError("notes.dir is used for more than notes; name a folder of its own")
    if made:
        os.fchmod(handle, 0o700)
        return
    ours = not what.st_mode & handles.OTHERS or _is_ours(handle)
    if not ours or not handles.mend(handle, what):
        raise SettingsError("notes.dir can be read by others; give it mode 0700")


def _is_ours(handle: int) -> bool:
    found = handles.names(handle)
    return not found or MARK in found


def _of_others() -> Iterator[os.stat_result]:
    with suppress(RuntimeError, OSError):  # nobody in particular, or nowhere
        yield Path.home().stat()
    yield Path("/").stat()


def _locked(at: int, name: str) -> int | None:
    """The lock of that name, held until it is closed; None where somebody else holds it."""
    while True:
        handle = handles.locked_file(at, name)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        if _is_named(handle, at, name):
            return handle
        os.close(handle)  # somebody removed the file: those who come now lock another


def _is_named(handle: int, at: int, name: str) -> bool:
    try:
        named = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), named)
