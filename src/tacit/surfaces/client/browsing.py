"""The part of a remote view with which a person looks through what is theirs."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.model import text
from tacit.model.looks import Look
from tacit.model.memory import Memory
from tacit.model.results import Page
from tacit.model.search import EVERYTHING, Search
from tacit.surfaces.client.calling import Calling, query, said, words
from tacit.surfaces.client.hearing import sought


class RemoteBrowsing(Calling):
    def browse(
        self,
        search: Search = EVERYTHING,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        found: Page[Memory] = self._ask(
            Page[Memory],
            "/api/browse",
            search=sought(search),
            limit=text.whole("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **said(cursor=words("cursor", cursor)),
        )
        return found

    def browse_count(self, search: Search = EVERYTHING) -> int:
        return self._count(self._ask(dict[str, Any], "/api/browse/count", search=sought(search)))

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Look]:
        most = text.whole("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query(limit=most, cursor=words("cursor", cursor))
        found: Page[Look] = self._get(Page[Look], f"/api/looks{asked}")
        return found
