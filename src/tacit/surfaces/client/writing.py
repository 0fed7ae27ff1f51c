"""The part of a remote view that changes memories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Unpack

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.accounts import NameKind, Person
from tacit.records.drafts import CategorizedFields, MemoryFields
from tacit.records.memory import Visibility
from tacit.records.results import Erased, Imported, Remembered, Reverted
from tacit.surfaces.client.calling import (
    Calling,
    item_part,
    memory_part,
    part,
    query,
    said,
    sendable,
)
from tacit.surfaces.client.server import Call

_LINE = re.compile(r"line (\d+)")


class RemoteWrites(Calling):
    def remember(self, content: str, **fields: Unpack[CategorizedFields]) -> Remembered:
        done: Remembered = self._write(
            Remembered, "POST", "/api/remember", content=content, **_checked(**fields)
        )
        return done

    def put(
        self, category: str, key: str, value: str, **fields: Unpack[MemoryFields]
    ) -> Remembered:
        path = f"/api/items/{item_part(category, key)}"
        said_so = sendable("content", value)
        done: Remembered = self._write(Remembered, "PUT", path, value=said_so, **_checked(**fields))
        return done

    def update(
        self,
        id: str,
        content: str | None = None,
        *,
        if_version: int | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        done: Remembered = self._write(
            Remembered,
            "POST",
            f"/api/memory/{memory_part(id)}/update",
            **_checked(content=content, if_version=if_version, **fields),
        )
        return done

    def pin(self, id: str, on: bool = True) -> None:
        wanted = validation.parse_bool("pin", on)
        self._write(None, "PUT", f"/api/memory/{memory_part(id)}/pinned", on=wanted)

    def set_visibility(self, id: str, visibility: Visibility | str) -> None:
        wanted = validation.parse_enum("visibility", visibility, Visibility)
        self._write(None, "PUT", f"/api/memory/{memory_part(id)}/visibility", visibility=wanted)

    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        path = f"/api/memory/{memory_part(id)}/withhold"
        self._write(None, "POST", path, who=sendable("withheld_from", who))

    def relate(
        self, id: str, other: str, relation: str = "related_to", *, strength: float = 1.0
    ) -> None:
        self._write(
            None,
            "POST",
            "/api/relations",
            id=id,
            other=other,
            relation=relation,
            strength=strength,
        )

    def forget(self, id: str) -> None:
        self._write(None, "DELETE", f"/api/memory/{memory_part(id)}")

    def forget_key(self, category: str, key: str) -> int:
        path = f"/api/items/{item_part(category, key)}"
        return self._count(self._write(dict[str, Any], "DELETE", path))

    def forget_category(self, category: str) -> int:
        filed = validation.parse_identifier("category", category, limits.CATEGORY_MAX_CHARS)
        return self._count(self._write(dict[str, Any], "DELETE", f"/api/items/{part(filed)}"))

    def restore(self, id: str) -> None:
        self._write(None, "POST", f"/api/memory/{memory_part(id)}/restore")

    def erase(self, id: str, *, turns: bool = False) -> Erased:
        also = query(turns=validation.parse_bool("turns", turns))
        path = f"/api/memory/{memory_part(id)}/erase{also}"
        done: Erased = self._write(Erased, "POST", path)
        return done

    def wipe(self) -> Erased:
        done: Erased = self._write(Erased, "POST", "/api/wipe")
        return done

    def name(self, person: str, name: str, kind: NameKind | str = NameKind.ALIAS) -> Person:
        named: Person = self._write(
            Person, "POST", "/api/people/name", person=person, name=name, kind=kind
        )
        return named

    def merge_people(self, person: str, into: str) -> Person:
        done: Person = self._write(Person, "POST", "/api/people/merge", person=person, into=into)
        return done

    def unmerge_people(self, person: str) -> Person:
        done: Person = self._write(Person, "POST", "/api/people/unmerge", person=person)
        return done

    def unlearn(self, message: str) -> Reverted:
        done: Reverted = self._write(Reverted, "POST", "/api/unlearn", message=message)
        return done

    def propose_public(self, category: str, key: str) -> None:
        self._write(None, "POST", "/api/proposals", category=category, key=key)

    def approve(self, id: str) -> None:
        self._write(None, "POST", f"/api/proposals/{memory_part(id)}/approve")

    def decline(self, id: str) -> None:
        self._write(None, "POST", f"/api/proposals/{memory_part(id)}/decline")

    def import_lines(self, lines: Iterable[str]) -> Imported:
        """In as many requests as it takes. None is sent again by itself: for the caller it is safe
        to, as what is there already is skipped."""
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise InvalidInput("lines", "expected lines of text, as an open file gives them")
        whole, before = Imported(), 0
        for few in _requests(_ended(lines)):
            call = Call(method="POST", path="/api/import", headers=self._claims)
            done: Imported = self._decode(Imported, self._server.send_lines(call, few))
            whole = Imported(
                created=whole.created + done.created,
                skipped=whole.skipped + done.skipped,
                refused=(*whole.refused, *(_renumbered(one, before) for one in done.refused)),
            )
            before += len(few)
        return whole


def _checked(**fields: Any) -> dict[str, Any]:
    """What was said; data that would not come back the same is refused before it is sent."""
    told = said(**fields)
    return told | {"data": validation.parse_data(told["data"])} if "data" in told else told


def _requests(lines: Iterable[str]) -> Iterator[list[str]]:
    """As many lines at a time as a server takes. At least one request, where there are none."""
    few: list[str] = []
    chars = wordings = 0
    for line in lines:
        # Each version of a memory says its content, and so does the memory.
        more = max(1, line.count('"content"'))
        full = wordings + more > limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT
        if few and (full or chars + len(line) > limits.IMPORT_REQUEST_MAX_CHARS):
            yield few
            few, chars, wordings = [], 0, 0
        few.append(line)
        chars, wordings = chars + len(line), wordings + more
    yield few


def _renumbered(refused: str, before: int) -> str:
    """By its number among all lines, and not among those of its request."""
    named = _LINE.match(refused)
    return refused if named is None else f"line {int(named[1]) + before}{refused[named.end() :]}"


def _ended(lines: Iterable[object]) -> Iterator[str]:
    most = limits.IMPORT_LINE_MAX_BYTES
    for line in lines:
        # What is no text, or too long for any request, is refused by its number like other lines.
        said = line.rstrip("\n") if isinstance(line, str) else "?"
        long = len(said) > most or len(said.encode("utf-8", "replace")) > most
        yield f"{'x' * (most + 1) if long else said}\n"
