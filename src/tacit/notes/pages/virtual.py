"""The files that one view has: their names as a model writes them, looked at before anything else.

`_index.md` is the person's long-term index, `trips.md` or `work/plans.md` a page of theirs, and
`2026-03-01/telegram_1001.md` the session of a day.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from tacit.errors import InvalidInput, NoteOutside
from tacit.notes.disk import safe_paths
from tacit.notes.text.names import INDEX, PAGE_SUFFIXES, page_name, path_of, place_of
from tacit.records import validation
from tacit.records.notes import NoteKind, NoteRef

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where in the tree. A folder has no kind of its own: it is what lies in it."""

    path: str
    kind: NoteKind | None

    def stored_paths(self, subjects: Collection[str]) -> list[str]:
        """The paths under which notes of these people, or the session, are kept."""
        if self.kind is NoteKind.SESSION:
            return [self.path]
        name = self.path if self.kind is NoteKind.PAGE else None
        return [
            path_of(NoteRef(kind=self.kind or NoteKind.PAGE, subject=subject, name=name))
            for subject in sorted(subjects)
        ]


def spot(path: object) -> Spot:
    """What a path names, or the reason why it can name nothing. Nothing is looked up for that."""
    names = _names(path)
    whole = "/".join(names)
    if whole == INDEX:
        return Spot(path=whole, kind=NoteKind.LONG_TERM)
    if names[0].startswith("_") or names[-1].startswith("_"):
        raise NoteOutside("a name begins with _, which only _index.md does; use another")
    if _DAY.fullmatch(names[0]):
        return _of_a_day(names)
    if len(names) == 1 and not whole.endswith(PAGE_SUFFIXES):
        return Spot(path=whole, kind=None)
    if any(name.endswith(PAGE_SUFFIXES) for name in names[:-1]):
        raise NoteOutside("leads through a file; name the folder without .md or .txt")
    try:
        return Spot(path=page_name(whole), kind=NoteKind.PAGE)
    except InvalidInput as error:
        raise NoteOutside(error.problem) from None


def file_spot(path: object) -> Spot:
    """The same for what must be a file."""
    found = spot(path)
    if found.kind is None:
        raise NoteOutside("names a folder; a file ends with .md or .txt")
    return found


def name_of(path: str) -> str | None:
    """What a view calls a note that is kept under this path."""
    found = place_of(path)
    if found is None:
        return None
    place = found[1]
    if place.kind is NoteKind.SESSION:
        return path
    return INDEX if place.kind is NoteKind.LONG_TERM else place.name


def alike(one: str, other: str) -> bool:
    """Two names that some file system takes for one."""
    return safe_paths.folded(one) == safe_paths.folded(other)


def _names(path: object) -> tuple[str, ...]:
    names = safe_paths.parts(path)
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        # What somebody decodes, or writes more simply, must not become another path then.
        if any(char in plain for char in "/\\%") or plain.startswith("."):
            raise NoteOutside("a name holds one of / \\ % or begins with a dot; use another")
    validation.refuse_secrets("path", "/".join(names))
    return names


def _of_a_day(names: tuple[str, ...]) -> Spot:
    whole = "/".join(names)
    if len(names) == 1:
        return Spot(path=whole, kind=None)
    found = place_of(whole)
    if found is None or found[1].kind is not NoteKind.SESSION:
        raise NoteOutside("names no session; in the folder of a day there is nothing else")
    return Spot(path=whole, kind=NoteKind.SESSION)
