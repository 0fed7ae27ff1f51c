"""Records of a JSON file, one at a time: lines of JSON, or a document with a list in it. One that
is broken, too long or nested too deep does not take the others with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from tacit import limits
from tacit.errors import InvalidInput
from tacit.surfaces.moving.records import Skipped
from tacit.surfaces.moving.scanning import TOO_LONG, Element, named, numbered, scanned
from tacit.surfaces.moving.texts import FIELD, Line, checked_size, lines, opened, parsed

_LOOKED_AT_LINES = 8  # to tell lines of JSON from a document
_LINED = (".jsonl", ".ndjson")


def elements(path: Path, wrappers: frozenset[str]) -> Iterator[Element | Skipped]:
    """What a file holds. `wrappers` are the names by which a document is told from a record."""
    if _is_lined(path):
        with opened(path) as file:
            yield from _lined(file)
        return
    if checked_size(path) <= limits.IMPORTER_RECORD_MAX_CHARS:
        with opened(path) as file:
            whole = file.read()
        try:
            value = parsed(whole)
        except ValueError:
            pass  # its good parts are read one by one
        else:
            yield from _whole(value, wrappers)
            return
    with opened(path) as file:
        yield from scanned(file)


def _is_lined(path: Path) -> bool:
    """Lines of JSON each begin with a brace, or most of them are a record by themselves, and a few
    are broken; the lines of a document are neither."""
    if path.suffix.lower() in _LINED:
        return True
    with opened(path) as file:
        looked_at = list(islice(filter(_says, lines(file)), _LOOKED_AT_LINES))
    heads = [line.head for line in looked_at]
    if len(heads) > 1 and heads[0] != "[":
        whole = sum(_is_record(line) for line in looked_at)
        if set(heads) == {"{"} or whole * 2 >= len(heads):
            return True
    if heads and heads[0] not in ("{", "["):
        raise InvalidInput(FIELD, "is no JSON; look at what was saved, and which format it is")
    return False


def _is_record(line: Line) -> bool:
    found = _line(line) if line.head == "{" else None
    return isinstance(found, Element)


def _says(line: Line) -> bool:
    return bool(line.head)


def _lined(file: TextIO) -> Iterator[Element | Skipped]:
    for line in lines(file):
        if _says(line):
            yield _line(line)


def _line(line: Line) -> Element | Skipped:
    where = f"line {line.number}"
    if line.text is None:
        return Skipped(where=where, why=TOO_LONG)
    try:
        return Element(where=where, value=parsed(line.text))
    except ValueError as error:
        return Skipped(where=where, why=str(error))


def _whole(value: Any, wrappers: frozenset[str]) -> Iterator[Element]:
    if isinstance(value, dict) and not wrappers.isdisjoint(value):
        for name, one in value.items():
            if isinstance(one, list):
                yield from _listed(one, name)
            else:
                yield Element(where=named(name), value=one, name=name)
    elif isinstance(value, list):
        yield from _listed(value, None)
    else:
        yield Element(where="item 1", value=value)


def _listed(values: list[Any], name: str | None) -> Iterator[Element]:
    for number, one in enumerate(values, start=1):
        yield Element(where=numbered(name, number), value=one, name=name)
