"""What happened in a space, in counts, and the measures of this process."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.records import validation
from tacit.records.results import EventCounts, EventNode, EventOperation, EventStatus, Page
from tacit.storage import history
from tacit.storage.history import EventPosition

_DIVIDER = " "
_BAD_CURSOR = "is not one we gave; start again without it"


class MemoryTelling(Opened):
    def events(
        self,
        node: EventNode | str | None = None,
        op: EventOperation | str | None = None,
        since: datetime | None = None,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[EventCounts]:
        """How often what happened in this space, by day, newest first: for its operator. Counts
        alone, of as many days as `events.keep_days` says."""
        nodes = (
            list(EventNode) if node is None else [validation.parse_enum("node", node, EventNode)]
        )
        wanted = None if op is None else validation.parse_enum("op", op, EventOperation)
        start = None if since is None else validation.parse_datetime("since", since)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = _decoded(cursor)
        self._storage.events.flush()  # what this process has not written yet counts, too
        with self._storage.database.read() as connection:
            found = history.count_events(
                connection, self._space, nodes, wanted, start, most + 1, after
            )
        following = _encoded(found[most - 1]) if len(found) > most else None
        return Page(items=tuple(found[:most]), cursor=following)

    def metrics(self) -> str:
        """The measures of this process as Prometheus reads them; of all its memories and spaces."""
        told = getattr(self._storage.meter, "text", None)
        if told is None:
            raise InvalidInput("metrics", "are not for Prometheus: set metrics.exporter to it")
        return str(told())


def _encoded(last: EventCounts) -> str:
    day = to_micros(datetime(last.day.year, last.day.month, last.day.day, tzinfo=UTC))
    plain = _DIVIDER.join((str(day), last.node, last.op, last.status))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def _decoded(cursor: str | None) -> EventPosition | None:
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.urlsafe_b64decode(padded.encode("ascii")).decode("ascii")
        day, node, op, status = plain.split(_DIVIDER)
        place = (
            int(day),
            EventNode(node).value,
            EventOperation(op).value,
            EventStatus(status).value,
        )
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise InvalidInput("cursor", _BAD_CURSOR) from None
    if not 0 <= place[0] < 2**62:
        raise InvalidInput("cursor", _BAD_CURSOR)
    return place
