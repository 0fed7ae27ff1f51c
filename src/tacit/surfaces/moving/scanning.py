"""A JSON document in the order of its characters: the elements of its list, or of each list that a
field of it has, and its other fields. Each is parsed on its own, so that one that is broken, too
long or nested too deep is left out and the others are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from tacit import limits
from tacit.surfaces.moving.records import Skipped
from tacit.surfaces.moving.texts import parsed

TOO_LONG = "is longer than a record may be; leave out what is not needed"
_CUT_SHORT = "the file ends in the middle of it; fetch the file again"
_CHUNK_CHARS = 262_144
_NAME_MAX_CHARS = 200  # of a list, with the blanks around it
_WHERE_MAX_CHARS = 60
_OUTSIDE = re.compile(r'["{}\[\],]')
_INSIDE = re.compile(r'["\\]')
_NAMED = re.compile(r'\s*+"((?:[^"\\]|\\.)*+)"\s*+:\s*+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    where: str
    value: Any
    name: str | None = None  # of the list or the field of a document that it stands in


def numbered(name: str | None, number: int) -> str:
    return f"item {number}" if name is None else f"{named(name)} {number}"


def named(name: str) -> str:
    """A field of a document, as a place in it."""
    return name[:_WHERE_MAX_CHARS]


def scanned(file: TextIO) -> Iterator[Element | Skipped]:
    scan = _Scan()
    while chunk := file.read(_CHUNK_CHARS):
        yield from scan.chunk(chunk)
    yield from scan.rest()


class _Scan:
    def __init__(self) -> None:
        self._depth = 0
        self._level = 0  # the depth at which elements stand
        self._in_object = False  # the document is one: its parts have names
        self._name: str | None = None  # of the list that is being read
        self._number = 0
        self._kept: list[str] = []  # of the element that is being read
        self._size = 0
        self._in_string = False
        self._escaped = False  # the first character of the next chunk is

    def chunk(self, text: str) -> Iterator[Element | Skipped]:
        at, start = int(self._escaped), 0
        self._escaped = False
        while found := (_INSIDE if self._in_string else _OUTSIDE).search(text, at):
            at, mark = found.end(), found[0]
            if mark == "\\":
                self._escaped = at == len(text)
                at += 1
            elif mark == '"':
                self._in_string = not self._in_string
            elif mark in "{[":
                self._depth += 1
                if self._depth == 1 or (
                    self._may_name(mark, at - start) and self._set_name(text[start : at - 1])
                ):
                    self._open_bracket(mark)
                    start = at
            elif self._depth == 0:
                continue  # between two documents nothing is meant
            elif self._depth == self._level:
                yield from self._end_element(text[start : at - 1])
                start = at
                if mark != ",":
                    self._close_bracket()
            elif mark != ",":
                self._depth -= 1
        if self._depth:
            self._keep(text[start:])

    def rest(self) -> Iterator[Skipped]:
        if self._depth:
            yield Skipped(where=numbered(self._name, self._number + 1), why=_CUT_SHORT)

    def _may_name(self, mark: str, near: int) -> bool:
        """Whether a list may begin here that a field of the document has."""
        in_field = self._in_object and self._level == 1 and self._depth == 2
        return mark == "[" and in_field and self._size + near <= _NAME_MAX_CHARS

    def _set_name(self, before: str) -> bool:
        found = _NAMED.fullmatch("".join(self._kept) + before)
        if found is not None:
            self._name = found[1]
        return found is not None

    def _open_bracket(self, mark: str) -> None:
        if self._depth == 1:
            self._in_object, self._name = mark == "{", None
        self._level, self._number = self._depth, 0
        self._clear()

    def _close_bracket(self) -> None:
        self._depth -= 1
        self._level = self._depth
        self._name = None
        if self._depth:
            self._number = 0

    def _keep(self, text: str) -> None:
        self._size += len(text)
        if self._size <= limits.IMPORTER_RECORD_MAX_CHARS:
            self._kept.append(text)

    def _clear(self) -> None:
        self._kept.clear()
        self._size = 0

    def _end_element(self, last: str) -> Iterator[Element | Skipped]:
        self._keep(last)
        fits, text = self._size <= limits.IMPORTER_RECORD_MAX_CHARS, "".join(self._kept)
        self._clear()
        if fits and not text.strip():
            return
        self._number += 1
        where = numbered(self._name, self._number)
        if not fits:
            yield Skipped(where=where, why=TOO_LONG)
            return
        try:
            if self._in_object and self._level == 1:
                for name, value in parsed(f"{{{text}}}").items():
                    yield Element(where=named(name), value=value, name=name)
            else:
                yield Element(where=where, value=parsed(text), name=self._name)
        except ValueError as error:
            yield Skipped(where=where, why=str(error))
