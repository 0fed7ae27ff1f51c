"""List and export what happened to the requester's memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import itemgetter

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import NotFound
from tacit.records import validation
from tacit.records.memory import HistoryEntry, Memory
from tacit.records.queries import decode_cursor, make_page, parse_cursor, parse_micros
from tacit.records.request import Request
from tacit.records.results import AccessLogEntry, ActivityEntry, DayCounts, Page
from tacit.storage import access_log, history
from tacit.storage.history import DAY_MICROS, ActivityPosition, ActivityRange, PositionedActivity
from tacit.storage.search import ListFilter
from tacit.view.context import Resource, read
from tacit.view.memories import ViewMemories


class Audit(Resource, name="audit"):
    """The history of the requester's memories, and the access log of operators."""

    @read("GET /api/looks", disabled=Page)
    def access_log(self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[AccessLogEntry]:
        """List which operator read memories of yours, when and by which method, newest first.

        Empty if this view is limited to some categories, because an operator's read covers all of
        them.
        """
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[AccessLogEntry]:
            if not request.private or self._context.category_filter() is not None:
                return Page()
            found = access_log.list_access_log_of_person(connection, request, after, most + 1)
            return access_log.access_log_page(found, most)

        return self._context.read(work)

    @read("GET /api/activity", disabled=Page)
    def activity(
        self, *, since: datetime | None = None, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ActivityEntry]:
        """List what happened to your own memories, newest first. Empty outside a private chat."""
        wanted, most = parse_activity_range(since, cursor), parse_page_limit(limit)
        narrowed = replace(wanted, categories=self._context.category_filter())
        found = self._context.read(lambda c, r: history.list_own_activity(c, r, narrowed, most + 1))
        page = build_activity_page(found, most)
        return replace(page, items=tuple(replace(one, owner=None) for one in page))

    @read("GET /api/activity/days", disabled=())
    def daily_counts(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        """Count the events of your own memories per day (UTC), today last.

        Empty outside a private chat.
        """
        count = parse_day_count(days)

        def work(connection: Connection, request: Request) -> tuple[DayCounts, ...]:
            if not request.private:
                return ()
            first = first_day_micros(request.at, count)
            found = history.count_own_days(connection, request, first, self._context.category_filter())
            return fill_days(first, count, found)

        return self._context.read(work)

    @read("GET /api/export/history", disabled=partial(iter, ()), lines=True)
    def export_history(self) -> Iterator[str]:
        """Export the history of each memory that this chat may show, as JSON lines, oldest first.

        In a private chat this includes your own memories in every other state.
        """
        private, mine = self._context.read(lambda _, request: (request.private, request.own_identities))
        if private:
            for memory in self._context.iter_listed(ListFilter(), manage=True):
                yield from self._iter_history_lines(memory)
        for memory in self._context.iter_listed(ListFilter()):
            if not (private and memory.owner in mine):
                yield from self._iter_history_lines(memory)

    def _iter_history_lines(self, memory: Memory) -> Iterator[str]:
        try:
            entries = ViewMemories(self._context).history(memory.id)
        except NotFound:
            return  # deleted, or no longer visible here, since it was listed
        for entry in entries:
            yield _history_line(memory.id, entry)


def parse_activity_range(since: datetime | None, cursor: str | None) -> ActivityRange:
    start = None if since is None else to_micros(validation.parse_datetime("since", since))
    return ActivityRange(since=start, after=parse_cursor(cursor, _parse_activity_position))


def parse_page_limit(limit: int) -> int:
    return validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)


def build_activity_page(found: list[PositionedActivity], most: int) -> Page[ActivityEntry]:
    page = make_page(found, most, itemgetter(0))
    return Page(items=tuple(happened for _, happened in page), cursor=page.cursor)


def parse_day_count(days: int) -> int:
    return validation.parse_int("days", days, 1, limits.ACTIVITY_MAX_DAYS)


def first_day_micros(now: datetime, count: int) -> int:
    """Return the first microsecond of the first of `count` days, the last of which is today."""
    at = to_micros(now)
    return at - at % DAY_MICROS - (count - 1) * DAY_MICROS


def fill_days(first: int, count: int, found: Mapping[int, Mapping[str, int]]) -> tuple[DayCounts, ...]:
    starts = [first + n * DAY_MICROS for n in range(count)]
    return tuple(DayCounts(day=from_micros(at).date(), counts=dict(sorted(found.get(at, {}).items()))) for at in starts)


def _parse_activity_position(at: str, id: str, seq: str) -> ActivityPosition:
    if validation.parse_memory_id(id) is None or abs(int(seq)) >= 2**31:
        raise ValueError(id, seq)
    return ActivityPosition(parse_micros(at), id, int(seq))


def _history_line(id: str, entry: HistoryEntry) -> str:
    told = {
        "memory_id": id,
        "event": entry.event,
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "version": entry.version,
        "content": entry.content,
        "detail": entry.detail,
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True)
