"""The folder that notes live in. Nothing outside of it is ever read or written, whatever a path
says and whatever lies in the folder; a file is always a whole one, the old or the new."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tacit import limits
from tacit.errors import (
    Conflict,
    InvalidInput,
    NoteMoved,
    NoteOutside,
    NotFound,
    StoreUnavailable,
)
from tacit.notes.disk import handles, replacing, safe_paths, scanning
from tacit.notes.disk.folder_root import Root
from tacit.notes.disk.stamps import ANY, Expected, Read, Scan, Stamp, Whatever

__all__ = ["ANY", "Folder", "Read", "Scan", "Stamp", "Whatever"]

_READ_ATTEMPTS_COUNT = 5  # while somebody is writing to the file


class Folder:
    """A folder that is open. Made where there is none; modes are mended; what a killed writer left
    is cleaned. May be used by several threads.

    Paths are relative, with `/`. One that no note may have raises `NoteOutside`, which is an
    `InvalidInput`; so does one that leads over a symbolic link, to a file with a second name, or to
    what is no plain file. The disk's own failures are a `StoreUnavailable`.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).resolve()
        self._guard = threading.Lock()  # over what is open
        self._turn = threading.Lock()  # of those who write
        self._generation = 0
        with _disk():
            self._open: Root | None = Root(self.root)
        try:
            with suppress(Conflict):  # somebody else is at it, and what is left stays till later
                self._clean(limits.NOTE_CLEAN_WAIT_MAX_SECONDS)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the lock too. Twice is once."""
        with self._guard:
            if self._open is not None:
                self._open.unlock()
                self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def identity(self) -> str:
        """A random id, kept in the folder. Where the folder was deleted and made anew it is
        another: nothing that was known of the old one holds."""
        with _disk():
            return self._current_root().identity()

    def lock(self) -> bool:
        """Whether this folder object is the one that mirrors now. Cheap where it already is: ask
        before each round, since a folder that was made anew has nobody yet."""
        with _disk():
            return self._current_root().lock()

    def unlock(self) -> None:
        with self._guard:
            if self._open is not None:
                self._open.unlock()

    def read(self, path: str) -> Read | None:
        """None where there is no such file. `NoteUnreadable` where it is too large for a note, or
        may not be opened."""
        names = safe_paths.parts(path)
        with self._reading() as root, _parent(root, names) as at:
            found = None if at is None else handles.plain(at, names[-1])
            if at is None or found is None:
                return None
            handle, before = found
            try:
                _must_be_spelt(root, at, names[-1])
                for _ in range(_READ_ATTEMPTS_COUNT):
                    data, after = handles.whole(handle), os.fstat(handle)
                    if Stamp.from_stat(after) == Stamp.from_stat(before):
                        break
                    before = after
            finally:
                os.close(handle)
            return Read(data=data, stamp=Stamp.from_stat(after))

    def write(self, path: str, data: bytes, *, expected: Expected = ANY) -> Stamp:
        """The file is there, whole and on the disk, before this returns.

        `expected` is what the caller has seen: a `Read` (its bytes count), a `Stamp`, None for no
        file, ANY. Where there is something else `NoteMoved` is raised, and that stays."""
        names = safe_paths.parts(path)
        if len(data) > limits.NOTE_FILE_MAX_BYTES:
            most = limits.NOTE_FILE_MAX_BYTES
            raise InvalidInput("data", f"a note has at most {most:,} bytes; make it two")
        make = expected is None or expected is ANY
        with self._writing() as root, _parent(root, names, make=make) as at:
            if at is None:
                raise NoteMoved
            _must_be_spelt(root, at, names[-1], new=True)
            with replacing.opened(at, names[-1]) as old:
                replacing.must_match(old, expected)
                return replacing.put(at, names[-1], data, old, expected)

    def remove(self, path: str, *, expected: Stamp | Read | Whatever = ANY) -> bool:
        """Whether there was one. Folders that are empty then go too: their names may tell of whom
        they were."""
        names = safe_paths.parts(path)
        with self._writing() as root:
            with _parent(root, names) as at:
                if at is None:
                    return False
                with replacing.opened(at, names[-1], linked=True) as old:
                    if old is None:
                        return False
                    _must_be_spelt(root, at, names[-1])
                    replacing.must_match(old, expected)
                    replacing.take_away(at, names[-1], old, expected)
                    handles.settle(at)
            _prune(root, names[:-1])
            return True

    def rename(self, old: str, new: str) -> Stamp:
        """`NotFound` where there is no such file; `NoteMoved` where the new name is taken."""
        here, there = safe_paths.parts(old), safe_paths.parts(new)
        with self._writing() as root:
            with _parent(root, here) as at, replacing.opened(at, here[-1]) as found:
                if at is None or found is None:
                    raise NotFound("note")
                _must_be_spelt(root, at, here[-1])
                with _parent(root, there, make=True) as to:
                    assert to is not None  # it was made
                    but = here[-1] if here[:-1] == there[:-1] else None
                    _must_be_spelt(root, to, there[-1], new=True, but=but)
                    try:
                        handles.moved(at, here[-1], to, there[-1])
                    except FileExistsError:
                        raise NoteMoved from None
                    handles.settle(to)
                    handles.settle(at)
                stamp = Stamp.from_stat(os.fstat(found[0]))
            _prune(root, here[:-1])
            return stamp

    def generation(self) -> int:
        """Goes up when the folder was deleted, moved or replaced, and another is there now."""
        with _disk():
            self._current_root()
            return self._generation

    def is_folder(self, path: str) -> bool:
        names = safe_paths.parts(path)
        with self._reading() as root:
            try:
                with _parent(root, (*names, "")) as at:
                    return at is not None
            except NoteOutside:
                return False

    def files(self) -> dict[str, Stamp]:
        """Of all plain files. Modes that are too open are mended."""
        return self.scan().files

    def scan(self) -> Scan:
        with self._reading() as root:
            return scanning.scanned(root.handle)

    def clean(self) -> int:
        """Removes what killed writers left, and says how many that were. What somebody is writing
        now stays: whoever writes is alone. An erasure does it too, for content lies in these."""
        return self._clean(limits.NOTE_LOCK_WAIT_MAX_SECONDS)

    def _clean(self, wait_seconds: float) -> int:
        with self._writing(wait_seconds) as root:
            return scanning.cleaned(root.handle)

    def _current_root(self) -> Root:
        """The folder that the path leads to now: it may have been deleted and made anew. Whoever is
        at work in the old one keeps that open until it is done."""
        with self._guard:
            if self._open is None:
                raise StoreUnavailable("the folder of notes is closed; open it again")
            if not self._open.is_at(self.root):
                self._open.unlock()
                self._open = Root(self.root)
                self._generation += 1
            return self._open

    @contextmanager
    def _reading(self) -> Iterator[Root]:
        with _disk():
            yield self._current_root()

    @contextmanager
    def _writing(self, wait_seconds: float = limits.NOTE_LOCK_WAIT_MAX_SECONDS) -> Iterator[Root]:
        with self._turn, _disk():
            root = self._current_root()
            with root.writing(wait_seconds):
                yield root


@contextmanager
def _parent(root: Root, names: tuple[str, ...], *, make: bool = False) -> Iterator[int | None]:
    """The folder that holds the file, open; None where there is none."""
    at: int | None = handles.again(root.handle)
    try:
        for name in names[:-1]:
            assert at is not None
            _must_be_spelt(root, at, name, new=make)
            above, at = at, None
            try:
                at = handles.folder(above, name, make=make)
            finally:
                os.close(above)
            if at is None:
                break
        yield at
    finally:
        if at is not None:
            os.close(at)


def _must_be_spelt(
    root: Root, at: int, name: str, *, new: bool = False, but: str | None = None
) -> None:
    """A note has one name: not a further one where the file system does not mind the case, and no
    new one (`new`) that would be one with another elsewhere. `but` is given up for it."""
    if not (new or root.folds):
        return
    if not root.folds and handles.is_there(at, name):
        return
    found = handles.names(at)
    if name in found:  # since a moment ago: whoever writes it now finds out
        return
    if root.folds and any(safe_paths.same(other, name) for other in found):
        return
    key = safe_paths.folded(name)
    if any(safe_paths.folded(other) == key and other != but for other in found):
        raise NoteOutside("a name differs from one that is there in no more than case or accents")


def _prune(root: Root, names: tuple[str, ...]) -> None:
    """From the innermost folder outwards, as long as they are empty."""
    for depth in range(len(names), 0, -1):
        with _parent(root, names[:depth]) as at:
            if at is None:
                return
            try:
                os.rmdir(names[depth - 1], dir_fd=at)
            except OSError:
                return
            handles.settle(at)


@contextmanager
def _disk() -> Iterator[None]:
    """What the disk refuses, in our words and without the path: a name may tell of somebody."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StoreUnavailable(
            f"the folder of notes cannot be used ({why}); see that it is there, and has room"
        ) from None
