"""Open, create, move and lock files by descriptor, without following links."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, Self, cast

from tacit import limits
from tacit.errors import NoteOutside, NoteUnreadable

# Files and folders by descriptor: no step of a path follows a link, and the file that was checked
# is the file that is used.

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
OTHERS_MODE = 0o077  # permissions of group and others
# NONBLOCK: opening a pipe without a writer must not block.
_OPEN_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK if os.name == "posix" else 0
_NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
_NOREPLACE, _EXCHANGE = 1, 2  # flags of renameat2

OpenFile = tuple[int, os.stat_result]


@contextmanager
def closed(handle: int, *, on_error_only: bool = False) -> Iterator[int]:
    """Close a descriptor at the end of a block, or only if the block fails."""
    try:
        yield handle
    except BaseException:
        os.close(handle)
        raise
    if not on_error_only:
        os.close(handle)


def reopen_folder(at: int) -> int:
    """Reopen a folder: a duplicated descriptor would share its listing position with other threads."""
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY | _OPEN_FLAGS, dir_fd=at)


def list_folder_names(at: int) -> set[str]:
    """Return the names of all entries of a folder."""
    with closed(reopen_folder(at)) as own, os.scandir(own) as found:
        return {entry.name for entry in found}


def file_exists(at: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_folder(at: int, name: str, *, make: bool = False) -> int | None:
    """Open a folder; return None where it does not exist and `make` is not set."""
    made = False
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, _FOLDER_MODE, dir_fd=at)
            made = True
    try:
        found = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _OPEN_FLAGS, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _NOT_A_FOLDER:
            raise NoteOutside("leads through a link or a file; name a notes folder") from None
        raise
    with closed(found, on_error_only=True):
        _require_below(at, found)
        if made:
            os.fchmod(found, _FOLDER_MODE)
            copy_owner(found, os.fstat(at))
            sync_folder(at)
        else:
            restrict_mode(found, os.fstat(found))
    return found


def _require_below(at: int, inner: int) -> None:
    """Fail if a folder was moved out of its parent since it was opened.

    Called before a mode is changed and before anything is written, in addition to how it was
    opened.
    """
    if not os.path.samestat(os.stat("..", dir_fd=inner), os.fstat(at)):
        raise NoteOutside("leads out of the notes folder; name a folder in it")


@contextmanager
def open_file(at: int, name: str, *, linked: bool = False) -> Iterator[OpenFile | None]:
    """Open a plain file for reading, with its status; None where there is none.

    A hard link may lead anywhere, so only callers that remove a name accept one (`linked`).
    """
    try:
        # Check it before opening: opening a device has effects.
        _require_plain(os.stat(name, dir_fd=at, follow_symlinks=False), linked)
        handle = os.open(name, os.O_RDONLY | _OPEN_FLAGS, dir_fd=at)
    except FileNotFoundError:
        yield None
        return
    except PermissionError:
        raise NoteUnreadable("this process may not open it; change its owner or mode") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NoteOutside("is a link or not a plain file; name a note file") from None
        raise
    with closed(handle):
        what = os.fstat(handle)
        _require_plain(what, linked)
        yield handle, what


def _require_plain(what: os.stat_result, linked: bool) -> None:
    if not stat.S_ISREG(what.st_mode):
        raise NoteOutside("is a link, a folder or not a plain file; name a note file")
    if what.st_nlink > 1 and not linked:
        raise NoteOutside("is a file that has a second name elsewhere; put a copy there instead")


def open_lock_file(at: int, name: str) -> int:
    """Open a lock file, created where there is none."""
    try:
        found = os.open(name, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, _FILE_MODE, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise NoteOutside("the lock of the folder is not a plain file; remove it") from None
        raise
    with closed(found, on_error_only=True):
        what = os.fstat(found)
        _require_plain(what, linked=True)  # it may be removed again by now
        restrict_mode(found, what)
    return found


def read_all(handle: int) -> bytes:
    """Read a file, up to the size limit of a note."""
    most = limits.NOTE_FILE_MAX_BYTES
    pieces: list[bytes] = []
    left = most + 1
    while left and (piece := os.pread(handle, left, most + 1 - left)):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise NoteUnreadable(f"it is larger than {most:,} bytes")
    return b"".join(pieces)


def create_file(at: int, name: str, data: bytes, like: os.stat_result) -> None:
    """Create a file, synced to disk."""
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS, _FILE_MODE, dir_fd=at)
    try:
        with closed(handle):
            os.fchmod(handle, _FILE_MODE)
            copy_owner(handle, like)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=at)
        raise


def sync_folder(at: int) -> None:
    """Sync a folder, where the system can, so that names survive a power cut."""
    try:
        os.fsync(at)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise


def restrict_mode(handle: int, what: os.stat_result) -> bool:
    """Remove all permissions of group and others; report whether none is left."""
    if not what.st_mode & OTHERS_MODE:
        return True
    with suppress(OSError):
        os.fchmod(handle, stat.S_IMODE(what.st_mode) & ~OTHERS_MODE)
    return not os.fstat(handle).st_mode & OTHERS_MODE


def copy_owner(handle: int, like: os.stat_result) -> None:
    """Give files the owner of the folder, also when an administrator's process writes."""
    mine = os.fstat(handle)
    if os.geteuid() == 0 and (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.fchown(handle, like.st_uid, like.st_gid)


def move_file(at: int, old: str, new: str) -> None:
    """Rename a file in its folder. Raises `FileExistsError` where the name is taken."""
    if _rename_at(at, old, new, _NOREPLACE):
        return
    if file_exists(at, new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    # Without renameat2: a file that takes the name in this instant is lost.
    os.rename(old, new, src_dir_fd=at, dst_dir_fd=at)


def exchange_files(at: int, one: str, other: str) -> bool:
    """Swap two names in one step. Return False where the system cannot."""
    return _rename_at(at, one, other, _EXCHANGE)


def _rename_at(at: int, old: str, new: str, how: int) -> bool:
    """Call renameat2; return False where the system has no such call."""
    call = _load_renameat2()
    if call is None:
        return False
    if call(at, os.fsencode(old), at, os.fsencode(new), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_SUCH_CALL:
        return False
    raise OSError(number, os.strerror(number))


@cache
def _load_renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Load renameat2 from the C library: Python has no function for it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    folder, name = ctypes.c_int, ctypes.c_char_p
    call.argtypes, call.restype = (folder, name, folder, name, ctypes.c_uint), ctypes.c_int
    return cast("Callable[[int, bytes, int, bytes, int], int]", call)


# What was seen of note files.


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """Identify a state of a file: two edits of equal size within one clock tick look alike."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def from_stat(cls, what: os.stat_result) -> Self:
        return cls(mtime_ns=what.st_mtime_ns, size=what.st_size, inode=what.st_ino)


class AnyFile(Enum):
    """Accept any state of a file."""

    ANY = "any"


ANY: Final = AnyFile.ANY
ExpectedFile = bytes | AnyFile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScan:
    """The content of the folder: relative paths with `/`.

    Names with a leading dot (`.git`, `.obsidian`, own files) are skipped.
    """

    files: dict[str, FileStamp]
    refused: dict[str, str]  # link | hard_link | special | closed | name | deep: never read
    folders: list[str]  # the root is ""
