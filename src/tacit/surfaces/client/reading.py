"""The part of a remote view that reads memories, and takes them along."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator
from typing import Any, Literal

from tacit import limits
from tacit.errors import NotFound
from tacit.records import validation
from tacit.records.accounts import Person
from tacit.records.memory import ExportFormat, HistoryEntry, Kind, Memory, State
from tacit.records.results import Delta, Page, Proposal, Stats, Suggestion
from tacit.surfaces.client.calling import Calling, item_part, memory_part, query, said, words

List = builtins.list


class RemoteReads(Calling):
    def get(self, category: str, key: str) -> Memory | None:
        try:
            found: Memory = self._get(Memory, f"/api/items/{item_part(category, key)}")
        except NotFound:
            return None
        return found

    def show(self, id: str) -> Memory:
        found: Memory = self._get(Memory, f"/api/memory/{memory_part(id)}/record")
        return found

    def list(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        narrowed = _narrowed(category, prefix, kind, state, pinned)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query(**narrowed, limit=most, cursor=words("cursor", cursor))
        found: Page[Memory] = self._get(Page[Memory], f"/api/items{asked}")
        return found

    def count(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
    ) -> int:
        asked = query(**_narrowed(category, prefix, kind, state, pinned))
        return self._count(self._get(dict[str, Any], f"/api/count{asked}"))

    def about(
        self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        who = validation.check_storable("person", person, limits.NAME_MAX_CHARS)
        asked = query(person=who, limit=most, cursor=words("cursor", cursor))
        found: Page[Memory] = self._get(Page[Memory], f"/api/about{asked}")
        return found

    def history(self, id: str) -> List[HistoryEntry]:
        path = f"/api/memory/{memory_part(id)}/history"
        found: list[HistoryEntry] = self._get(list[HistoryEntry], path)
        return found

    def delta(self, since: int = 0) -> Delta:
        start = validation.parse_int("since", since, 0, limits.REVISION_MAX)
        found: Delta = self._get(Delta, f"/api/delta{query(since=start)}")
        return found

    def stats(self) -> Stats:
        found: Stats = self._get(Stats, "/api/stats")
        return found

    def people(self) -> List[Person]:
        return self._list_all(Person, "/api/people")

    def proposals(self) -> List[Proposal]:
        return self._list_all(Proposal, "/api/proposals")

    def suggest_update(
        self, content: str, *, category: str | None = None, about: Collection[str] | None = None
    ) -> Suggestion | None:
        found: Suggestion | None = self._ask(
            Suggestion | None,
            "/api/suggest",
            content=content,
            **said(category=category, about=about),
        )
        return found

    def export(
        self,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002 (its public name)
        everything: bool = False,
        turns: bool = False,
    ) -> Iterator[str]:
        """Line by line as they arrive; the server is asked when the first one is."""
        asked = query(
            format=validation.parse_enum("format", format, ExportFormat).value,
            everything=validation.parse_bool("everything", everything),
            turns=validation.parse_bool("turns", turns),
        )
        return self._stream_lines(f"/api/export{asked}")

    def history_export(self) -> Iterator[str]:
        return self._stream_lines("/api/export/history")


def _narrowed(
    category: object, prefix: object, kind: object, state: object, pinned: object
) -> dict[str, str | bool | None]:
    return {
        "category": words("category", category),
        "prefix": words("prefix", prefix),
        "kind": words("kind", kind),
        "state": words("state", state),
        "pinned": None if pinned is None else validation.parse_bool("pinned", pinned),
    }
