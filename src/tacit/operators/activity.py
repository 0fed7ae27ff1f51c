"""The part of an operator's looks that tells what happened in a space, and draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from tacit import limits
from tacit.operators.access import OperatorAccess
from tacit.records.memory import Memory, State
from tacit.records.results import ActivityEntry, DayCounts, Graph, Page
from tacit.store import activity, browsing, everybody
from tacit.store.browsing import Owned
from tacit.store.listing import Filter
from tacit.store.looks import Seen
from tacit.store.writes import Writing
from tacit.views.activity import days_of, each_day, first_day, page_of, page_with, stretch
from tacit.views.graph import drawn, nodes_of, who_is


class OperatorActivity(OperatorAccess):
    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        """What happened to memories, newest first, and whose they are."""
        wanted, most = stretch(since, cursor), page_of(limit)

        def work(w: Writing) -> tuple[Page[ActivityEntry], Iterable[Seen]]:
            found = activity.of_space(w.connection, w.space, wanted, most + 1)
            page = page_with(found, most)
            return page, {Owned(one.memory_id, one.owner) for one in page}

        return self._read_logged("activity", work)

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        """How often what happened on each of the last days, in UTC, today last."""
        count = days_of(days)

        def work(w: Writing) -> tuple[tuple[DayCounts, ...], Iterable[Seen]]:
            first = first_day(w.at, count)
            found = activity.days_of_space(w.connection, w.space, first)
            return each_day(first, count, found), ()

        return self._read_logged("activity_days", work)

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        """The newest active memories, with the people whom they are about and who said them, by the
        names that these go by and that the owners of these memories have for them. What there was
        no room for is counted as `browse_count` counts."""
        most = nodes_of(limit)

        def work(w: Writing) -> tuple[Graph, Iterable[Seen]]:
            active = Filter(state=State.ACTIVE.value)
            newest = browsing.page(w, active, None, most)
            if not newest:
                return Graph(), ()
            # What others call somebody is not shown: they could not be told without learning that
            # there is a memory about them.
            owners = {memory.owner for memory in newest if memory.owner is not None}
            people = everybody.named(w.connection, w.space, _named(newest), by=owners)
            known = who_is(people)
            picture = drawn(w.connection, newest, browsing.count(w, active, None), known, most)
            shown = {node.id for node in picture.nodes}
            return picture, [memory for memory in newest if memory.id in shown]

        return self._read_logged("graph", work)


def _named(memories: Sequence[Memory]) -> set[str]:
    found = {one for memory in memories for one in memory.subjects}
    return found | {memory.speaker for memory in memories if memory.speaker is not None}
