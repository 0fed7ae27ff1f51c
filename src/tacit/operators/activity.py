"""The part of an operator's looks that tells what happened in a space, and draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from tacit import limits
from tacit.operators.access import OperatorAccess
from tacit.records.memory import Memory, State
from tacit.records.results import ActivityEntry, DayCounts, Graph, Page
from tacit.storage import history, search
from tacit.storage.access_log import LoggedMemory
from tacit.storage.memories import Transaction
from tacit.storage.people import list_people
from tacit.storage.search import ListFilter, OwnedMemory
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

        def work(w: Transaction) -> tuple[Page[ActivityEntry], Iterable[LoggedMemory]]:
            found = history.list_space_activity(w.connection, w.space, wanted, most + 1)
            page = page_with(found, most)
            return page, {OwnedMemory(one.memory_id, one.owner) for one in page}

        return self._read_logged("activity", work)

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        """How often what happened on each of the last days, in UTC, today last."""
        count = days_of(days)

        def work(w: Transaction) -> tuple[tuple[DayCounts, ...], Iterable[LoggedMemory]]:
            first = first_day(w.at, count)
            found = history.count_space_days(w.connection, w.space, first)
            return each_day(first, count, found), ()

        return self._read_logged("activity_days", work)

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        """The newest active memories, with the people whom they are about and who said them, by the
        names that these go by and that the owners of these memories have for them. What there was
        no room for is counted as `browse_count` counts."""
        most = nodes_of(limit)

        def work(w: Transaction) -> tuple[Graph, Iterable[LoggedMemory]]:
            active = ListFilter(state=State.ACTIVE.value)
            newest = search.browse_space(w, active, None, most)
            if not newest:
                return Graph(), ()
            # What others call somebody is not shown: they could not be told without learning that
            # there is a memory about them.
            owners = {memory.owner for memory in newest if memory.owner is not None}
            people = list_people(w.connection, w.space, _named(newest), by=owners)
            known = who_is(people)
            picture = drawn(
                w.connection, newest, search.count_in_space(w, active, None), known, most
            )
            shown = {node.id for node in picture.nodes}
            return picture, [memory for memory in newest if memory.id in shown]

        return self._read_logged("graph", work)


def _named(memories: Sequence[Memory]) -> set[str]:
    found = {one for memory in memories for one in memory.subjects}
    return found | {memory.speaker for memory in memories if memory.speaker is not None}
