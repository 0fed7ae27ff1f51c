"""The part of a remote view that draws a person's memories, and tells what happened to them."""

from __future__ import annotations

from datetime import datetime

from tacit import console_limits, limits
from tacit.model import text
from tacit.model.activity import DayCounts, Happened
from tacit.model.graph import Graph
from tacit.model.results import Page
from tacit.surfaces.client.calling import Calling, query, words


class RemoteActivity(Calling):
    def graph(self, *, limit: int = console_limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        most = text.whole("limit", limit, 1, console_limits.GRAPH_NODES_MAX_COUNT)
        found: Graph = self._get(Graph, f"/api/graph{query(limit=most)}")
        return found

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Happened]:
        start = None if since is None else text.moment("since", since).isoformat()
        most = text.whole("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query(since=start, limit=most, cursor=words("cursor", cursor))
        found: Page[Happened] = self._get(Page[Happened], f"/api/activity{asked}")
        return found

    def activity_days(
        self, days: int = console_limits.ACTIVITY_DEFAULT_DAYS
    ) -> tuple[DayCounts, ...]:
        count = text.whole("days", days, 1, console_limits.ACTIVITY_MAX_DAYS)
        asked = query(days=count)
        found: tuple[DayCounts, ...] = self._get(
            tuple[DayCounts, ...], f"/api/activity/days{asked}"
        )
        return found
