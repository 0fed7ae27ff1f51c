"""The part of a view that tells what happened lately to a person's own memories."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.request import Request
from tacit.records.results import ActivityEntry, DayCounts, Page
from tacit.storage import history
from tacit.storage.history import DAY_MICROS, ActivityPosition, ActivityRange, PositionedActivity
from tacit.views.access import Access

_DIVIDER = " "
_BAD_CURSOR = "is not one we gave; start again without it"


class ViewActivity(Access):
    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        """What happened to your own memories, newest first. In a private chat only; elsewhere,
        nothing."""
        wanted, most = stretch(since, cursor), page_of(limit)
        narrowed = replace(wanted, categories=self._category_filter())
        found = self._read(lambda c, r: history.list_own_activity(c, r, narrowed, most + 1))
        page = page_with(found, most)
        return replace(page, items=tuple(replace(one, owner=None) for one in page))

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        """How often what happened to your own memories on each of the last days, in UTC, today
        last. In a private chat only; elsewhere, nothing."""
        count = days_of(days)

        def work(connection: Connection, request: Request) -> tuple[DayCounts, ...]:
            if not request.private:
                return ()
            first = first_day(request.at, count)
            found = history.count_own_days(connection, request, first, self._category_filter())
            return each_day(first, count, found)

        return self._read(work)


def stretch(since: datetime | None, cursor: str | None) -> ActivityRange:
    start = None if since is None else to_micros(validation.parse_datetime("since", since))
    return ActivityRange(since=start, after=_decoded(cursor))


def page_of(limit: int) -> int:
    return validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)


def page_with(found: list[PositionedActivity], most: int) -> Page[ActivityEntry]:
    following = _encoded(found[most - 1][0]) if len(found) > most else None
    return Page(items=tuple(happened for _, happened in found[:most]), cursor=following)


def days_of(days: int) -> int:
    return validation.parse_int("days", days, 1, limits.ACTIVITY_MAX_DAYS)


def first_day(now: datetime, count: int) -> int:
    """The first microsecond of the first of so many days, of which the last is today."""
    at = to_micros(now)
    return at - at % DAY_MICROS - (count - 1) * DAY_MICROS


def each_day(
    first: int, count: int, found: Mapping[int, Mapping[str, int]]
) -> tuple[DayCounts, ...]:
    starts = [first + n * DAY_MICROS for n in range(count)]
    return tuple(
        DayCounts(day=from_micros(at).date(), counts=dict(sorted(found.get(at, {}).items())))
        for at in starts
    )


def _encoded(place: ActivityPosition) -> str:
    plain = _DIVIDER.join((str(place.at), place.memory_id, str(place.seq)))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def _decoded(cursor: str | None) -> ActivityPosition | None:
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.urlsafe_b64decode(padded.encode("ascii")).decode("ascii")
        at, id, seq = plain.split(_DIVIDER)
        place = ActivityPosition(int(at), id, int(seq))
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise InvalidInput("cursor", _BAD_CURSOR) from None
    good = (
        validation.parse_memory_id(id) is not None
        and abs(place.at) < 2**62
        and abs(place.seq) < 2**31
    )
    if not good:
        raise InvalidInput("cursor", _BAD_CURSOR)
    return place
