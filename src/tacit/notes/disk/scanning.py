"""Looks through a folder of notes without following a link: what lies in it, and what killed
writers left."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from tacit import limits
from tacit.errors import NoteOutside
from tacit.notes.disk import folder_root, handles, safe_paths
from tacit.notes.disk.stamps import Scan, Stamp


def scanned(root: int) -> Scan:
    scan = Scan(files={}, refused={}, folders=())
    folders = []
    for at, before, entries in _folders(root, scan.refused):
        folders.append(before.removesuffix("/"))
        for entry in entries:
            _note(at, before, entry, scan)
    return Scan(files=scan.files, refused=scan.refused, folders=tuple(folders))


def cleaned(root: int) -> int:
    count = 0
    for at, _, entries in _folders(root, {}):
        for entry in entries:
            if folder_root.is_leftover(entry.name):
                with suppress(FileNotFoundError, IsADirectoryError):
                    os.unlink(entry.name, dir_fd=at)
                    count += 1
    return count


def _folders(
    at: int, refused: dict[str, str], before: str = "", depth: int = 1
) -> Iterator[tuple[int, str, list[os.DirEntry[str]]]]:
    """Each folder, open, with how paths in it begin and what is in it. `at` is not closed."""
    own = handles.again(at)
    try:
        with os.scandir(own) as found:
            entries = list(found)
        yield own, before, entries
        for entry in entries:
            if not _is_ours_to_see(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            path = f"{before}{entry.name}"
            if depth >= limits.NOTE_DEPTH_MAX_COUNT:
                refused[path] = "deep"
                continue
            inner = _inner(own, entry.name, path, refused)
            if inner is None:
                continue
            try:
                yield from _folders(inner, refused, f"{path}/", depth + 1)
            finally:
                os.close(inner)
    finally:
        os.close(own)


def _inner(at: int, name: str, path: str, refused: dict[str, str]) -> int | None:
    try:
        return handles.folder(at, name)
    except NoteOutside:  # it was a folder a moment ago
        refused[path] = "link"
    except PermissionError:
        refused[path] = "closed"
    return None


def _is_ours_to_see(name: str) -> bool:
    return not name.startswith(".") and safe_paths.fault(name) is None


def _note(at: int, before: str, entry: os.DirEntry[str], scan: Scan) -> None:
    if entry.name.startswith("."):
        return
    path = f"{before}{entry.name}"
    if safe_paths.fault(entry.name) is not None:
        # As it can be shown: a name need not be text.
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
        if what.st_mode & handles.OTHERS:
            _mend(at, entry.name)
        scan.files[path] = Stamp.from_stat(what)
    elif not stat.S_ISDIR(what.st_mode):
        scan.refused[path] = "link" if stat.S_ISLNK(what.st_mode) else "special"


def _mend(at: int, name: str) -> None:
    with suppress(OSError, NoteOutside):
        found = handles.plain(at, name)
        if found is not None:
            handles.mend(*found)
            os.close(found[0])
