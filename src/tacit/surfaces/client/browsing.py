"""The part of a remote view with which a person looks through what is theirs."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.records import validation
from tacit.records.memory import Memory
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.results import AccessLogEntry, Page
from tacit.surfaces.client.calling import Calling, query, said, words
from tacit.surfaces.client.hearing import sought


class RemoteBrowsing(Calling):
    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        found: Page[Memory] = self._ask(
            Page[Memory],
            "/api/browse",
            search=sought(search),
            limit=validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **said(cursor=words("cursor", cursor)),
        )
        return found

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        return self._count(self._ask(dict[str, Any], "/api/browse/count", search=sought(search)))

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query(limit=most, cursor=words("cursor", cursor))
        found: Page[AccessLogEntry] = self._get(Page[AccessLogEntry], f"/api/looks{asked}")
        return found
