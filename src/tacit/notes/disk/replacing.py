"""Puts a file in the place of another, or takes one away, in one step; and gives back what was
there where somebody changed it in that very moment."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tacit.errors import NoteMoved, NoteUnreadable
from tacit.notes.disk import folder_root, handles
from tacit.notes.disk.stamps import ANY, Expected, Read, Stamp

Open = tuple[int, os.stat_result]


@contextmanager
def opened(at: int | None, name: str, *, linked: bool = False) -> Iterator[Open | None]:
    found = None if at is None else handles.plain(at, name, linked=linked)
    try:
        yield found
    finally:
        if found is not None:
            os.close(found[0])


def must_match(found: Open | None, expected: Expected) -> None:
    if expected is ANY:
        return
    if found is None or expected is None:
        same = found is None and expected is None
    elif isinstance(expected, Read):
        same = _bytes(found[0]) == expected.data
    else:
        same = Stamp.from_stat(found[1]) == expected
    if not same:
        raise NoteMoved


def put(at: int, name: str, data: bytes, old: Open | None, expected: Expected) -> Stamp:
    """`old` is what is there, and was found to be what the caller expects."""
    like = os.fstat(at) if old is None else old[1]
    temporary = folder_root.temporary()
    handle = handles.fresh(at, temporary, data, like)
    try:
        if old is None:
            _begin(at, temporary, name)
        else:
            _replace(at, temporary, name, old, expected)
        handles.settle(at)
        return Stamp.from_stat(os.fstat(handle))
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):  # what was replaced, or what could not be put
            os.unlink(temporary, dir_fd=at)


def take_away(at: int, name: str, old: Open, expected: Expected) -> None:
    """Aside first, where it can still be looked at."""
    aside = folder_root.temporary()
    try:
        os.rename(name, aside, src_dir_fd=at, dst_dir_fd=at)
    except FileNotFoundError:
        raise NoteMoved from None
    if not _is_still(at, aside, old, expected):
        try:
            handles.moved(at, aside, at, name)
        except FileExistsError:  # saved once more by now, over this
            os.unlink(aside, dir_fd=at)
        raise NoteMoved
    os.unlink(aside, dir_fd=at)


def _begin(at: int, temporary: str, name: str) -> None:
    try:
        handles.moved(at, temporary, at, name)
    except FileExistsError:
        raise NoteMoved from None


def _replace(at: int, temporary: str, name: str, old: Open, expected: Expected) -> None:
    try:
        swapped = handles.exchanged(at, temporary, name)
    except FileNotFoundError:
        raise NoteMoved from None
    if not swapped:  # a file system that cannot: an edit in between is lost, in a blink
        os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
    elif not _is_still(at, temporary, old, expected):
        handles.exchanged(at, temporary, name)
        raise NoteMoved


def _is_still(at: int, name: str, old: Open, expected: Expected) -> bool:
    """Whether what lies there is what was looked at before."""
    now = os.stat(name, dir_fd=at, follow_symlinks=False)
    if expected is ANY and stat.S_ISREG(now.st_mode):
        return True
    if Stamp.from_stat(now) != Stamp.from_stat(old[1]):
        return False
    return not isinstance(expected, Read) or _bytes(old[0]) == expected.data


def _bytes(handle: int) -> bytes | None:
    try:
        return handles.whole(handle)
    except NoteUnreadable:
        return None
