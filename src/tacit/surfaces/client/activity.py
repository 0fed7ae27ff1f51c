"""The part of a remote view that draws a person's memories, and tells what happened to them."""

from __future__ import annotations

from datetime import datetime

from tacit import limits
from tacit.records import validation
from tacit.records.results import ActivityEntry, DayCounts, Graph, Page
from tacit.surfaces.client.calling import Calling, query, words


class RemoteActivity(Calling):
    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        most = validation.parse_int("limit", limit, 1, limits.GRAPH_NODES_MAX_COUNT)
        found: Graph = self._get(Graph, f"/api/graph{query(limit=most)}")
        return found

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        start = None if since is None else validation.parse_datetime("since", since).isoformat()
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query(since=start, limit=most, cursor=words("cursor", cursor))
        found: Page[ActivityEntry] = self._get(Page[ActivityEntry], f"/api/activity{asked}")
        return found

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        count = validation.parse_int("days", days, 1, limits.ACTIVITY_MAX_DAYS)
        asked = query(days=count)
        found: tuple[DayCounts, ...] = self._get(
            tuple[DayCounts, ...], f"/api/activity/days{asked}"
        )
        return found
