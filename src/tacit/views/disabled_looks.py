"""The part of the view of nobody that looks through memories, and finds none."""

from __future__ import annotations

import builtins
from datetime import datetime

from tacit import console_limits, limits
from tacit.errors import NotFound
from tacit.model.activity import DayCounts, Happened
from tacit.model.chat import Chat, Requester
from tacit.model.graph import Graph
from tacit.model.hearing import Hearers, Hearing, Room
from tacit.model.looks import Look
from tacit.model.memory import Memory
from tacit.model.results import Page
from tacit.model.search import EVERYTHING, Search
from tacit.model.words import Visibility

List = builtins.list


class DisabledLooks:
    def rooms(self) -> List[Room]:
        return []

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = EVERYTHING,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Hearing]:
        return Page()

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> Hearers:
        raise NotFound

    def browse(
        self,
        search: Search = EVERYTHING,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        return Page()

    def browse_count(self, search: Search = EVERYTHING) -> int:
        return 0

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Look]:
        return Page()

    def graph(self, *, limit: int = console_limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        return Graph()

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Happened]:
        return Page()

    def activity_days(
        self, days: int = console_limits.ACTIVITY_DEFAULT_DAYS
    ) -> tuple[DayCounts, ...]:
        return ()
