"""Open, create, move and lock files by descriptor, without following links."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, Self

from tacit import limits
from tacit.errors import NoteOutside, NoteUnreadable

# Files and folders by their descriptors: no step from one name to the next follows a link, and
# what was looked at is what is used.

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
OTHERS_MODE = 0o077  # what group and others may do
# NONBLOCK: a pipe that nobody writes to must not hold us.
_OPEN_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK if os.name == "posix" else 0
_NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
_NOREPLACE, _EXCHANGE = 1, 2  # of renameat2


def reopen_folder(at: int) -> int:
    """The same folder with a place of its own in its listing: a copy of the number would share it
    with other threads."""
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY | _OPEN_FLAGS, dir_fd=at)


def list_folder_names(at: int) -> set[str]:
    """Of all that lies in a folder, ours and others'."""
    own = reopen_folder(at)
    try:
        with os.scandir(own) as found:
            return {entry.name for entry in found}
    finally:
        os.close(own)


def file_exists(at: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_folder(at: int, name: str, *, make: bool = False) -> int | None:
    """The folder of that name, open; None where there is none and none is to be made."""
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
            raise NoteOutside("leads over a link or a file; name a folder of notes") from None
        raise
    try:
        _require_below(at, found)
        if made:
            os.fchmod(found, _FOLDER_MODE)
            copy_owner(found, os.fstat(at))
            sync_folder(at)
        else:
            restrict_mode(found, os.fstat(found))
    except BaseException:
        os.close(found)
        raise
    return found


def _require_below(at: int, inner: int) -> None:
    """Holds by how it was opened, unless it was moved away since. Before a mode is changed, and
    before anything is written, it is made sure of in another way too."""
    if not os.path.samestat(os.stat("..", dir_fd=inner), os.fstat(at)):
        raise NoteOutside("leads out of the folder of notes; name a folder in it")


def open_file(at: int, name: str, *, linked: bool = False) -> tuple[int, os.stat_result] | None:
    """The plain file of that name, open for reading, with what it is. None where there is none.
    Another name of the same file may be anywhere: only whoever removes a name may take such a one
    (`linked`)."""
    try:
        # Looked at before it is opened: to open a device is to do something to it.
        _require_plain(os.stat(name, dir_fd=at, follow_symlinks=False), linked)
        found = os.open(name, os.O_RDONLY | _OPEN_FLAGS, dir_fd=at)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise NoteUnreadable("this process may not open it; give it to its user") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NoteOutside("is a link or no plain file; name a file of notes") from None
        raise
    try:
        what = os.fstat(found)
        _require_plain(what, linked)
    except BaseException:
        os.close(found)
        raise
    return found, what


def _require_plain(what: os.stat_result, linked: bool) -> None:
    if not stat.S_ISREG(what.st_mode):
        raise NoteOutside("is a link, a folder or no plain file; name a file of notes")
    if what.st_nlink > 1 and not linked:
        raise NoteOutside("is a file that has a second name elsewhere; put a copy there instead")


def open_lock_file(at: int, name: str) -> int:
    """A file of ours to lock, made where there is none."""
    try:
        found = os.open(name, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, _FILE_MODE, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise NoteOutside("the lock of the folder is no plain file; remove it") from None
        raise
    try:
        what = os.fstat(found)
        _require_plain(what, linked=True)  # it may be gone again by now
        restrict_mode(found, what)
    except BaseException:
        os.close(found)
        raise
    return found


def read_all(handle: int) -> bytes:
    """Everything in a file, up to what a note may be."""
    most = limits.NOTE_FILE_MAX_BYTES
    pieces: list[bytes] = []
    left = most + 1
    while left and (piece := os.pread(handle, left, most + 1 - left)):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise NoteUnreadable(f"it is larger than {most:,} bytes")
    return b"".join(pieces)


def create_file(at: int, name: str, data: bytes, like: os.stat_result) -> int:
    """A new file, open, with its bytes on the disk."""
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS, _FILE_MODE, dir_fd=at)
    try:
        os.fchmod(handle, _FILE_MODE)
        copy_owner(handle, like)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except BaseException:
        os.close(handle)
        with suppress(OSError):
            os.unlink(name, dir_fd=at)
        raise
    return handle


def sync_folder(at: int) -> None:
    """So that names outlive a power cut, where a folder can be synced."""
    try:
        os.fsync(at)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise


def restrict_mode(handle: int, what: os.stat_result) -> bool:
    """Takes from others what they may do. Whether they may do nothing now."""
    if not what.st_mode & OTHERS_MODE:
        return True
    with suppress(OSError):
        os.fchmod(handle, stat.S_IMODE(what.st_mode) & ~OTHERS_MODE)
    return not os.fstat(handle).st_mode & OTHERS_MODE


def copy_owner(handle: int, like: os.stat_result) -> None:
    """Whose the folder is, theirs are the files: also where an administrator's process writes."""
    mine = os.fstat(handle)
    if os.geteuid() == 0 and (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.fchown(handle, like.st_uid, like.st_gid)


def move_file(at: int, old: str, to: int, new: str) -> None:
    """Gives a file another name. Raises `FileExistsError` where that is taken."""
    if _rename_at(at, old, to, new, _NOREPLACE):
        return
    if file_exists(to, new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    # A file system that cannot: what takes the name in between is lost, in a blink.
    os.rename(old, new, src_dir_fd=at, dst_dir_fd=to)


def exchange_files(at: int, one: str, other: str) -> bool:
    """Two names change places, in one step. False where the system cannot."""
    return _rename_at(at, one, at, other, _EXCHANGE)


def _rename_at(at: int, old: str, to: int, new: str, how: int) -> bool:
    call = _load_renameat2()
    if call is None:
        return False
    if call(at, os.fsencode(old), to, os.fsencode(new), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_SUCH_CALL:
        return False
    raise OSError(number, os.strerror(number))


@cache
def _load_renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Of the C library: Python has no name for it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    call.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    call.restype = ctypes.c_int

    def renamed(at: int, old: bytes, to: int, new: bytes, how: int) -> int:
        return int(call(at, old, to, new, how))

    return renamed


# What was seen of the files of notes, as plain records.


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """Tells a file from what it was before, mostly: two edits within one tick of the file system's
    clock, of one size, look alike."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def from_stat(cls, what: os.stat_result) -> Self:
        return cls(mtime_ns=what.st_mtime_ns, size=what.st_size, inode=what.st_ino)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    data: bytes
    stamp: FileStamp


class AnyFile(Enum):
    """Says that a caller does not mind what is there."""

    ANY = "any"


ANY: Final = AnyFile.ANY
ExpectedFile = FileStamp | FileContent | AnyFile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScan:
    """What lies in the folder: paths with `/`, relative to it. Names with a leading dot are not
    looked at (ours, `.git`, `.obsidian`)."""

    files: dict[str, FileStamp]
    refused: dict[str, str]  # link | hard_link | special | closed | name | deep: never read
    folders: tuple[str, ...]  # the root is ""
