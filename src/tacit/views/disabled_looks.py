"""The part of the view of nobody that looks through memories, and finds none."""

from __future__ import annotations

import builtins
from datetime import datetime

from tacit import limits
from tacit.errors import NotFound
from tacit.records.memory import Memory, Visibility
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.request import Chat, Requester
from tacit.records.results import (
    AccessLogEntry,
    ActivityEntry,
    AudienceChat,
    AudiencePreview,
    AudienceReport,
    DayCounts,
    Graph,
    Page,
)

List = builtins.list


class DisabledLooks:
    def rooms(self) -> List[AudienceChat]:
        return []

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        return Page()

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        raise NotFound

    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        return Page()

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        return 0

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        return Page()

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        return Graph()

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        return Page()

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        return ()
