"""The part of a view with which a person looks through what is theirs, and sees who else did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.records import validation
from tacit.records.memory import Memory
from tacit.records.queries import MATCH_ALL, Search, decode_cursor, encode_cursor
from tacit.records.request import Request
from tacit.records.results import AccessLogEntry, Page
from tacit.storage import access_log
from tacit.storage.search import ListFilter, browse_own, count_own
from tacit.views.access import Access
from tacit.views.sought import Sought, sought


class ViewBrowsing(Access):
    """In your own private chat. In any other there is nothing to look through."""

    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Your own memories, newest first, as far as the search goes: the active ones, unless it
        names another state."""
        return self._read(self._browse_page(search, limit, cursor))

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        """How many there are to `browse`, on all its pages; from a thousand on, a thousand."""
        wanted = sought(search, self._parse_category)

        def work(connection: Connection, request: Request) -> int:
            chosen = self._resolve_search(connection, request, wanted)
            dialect, asked = self._storage.database.dialect, request.for_management()
            return 0 if chosen is None else count_own(connection, dialect, asked, chosen)

        return self._read(work)

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        """Which operator looked at memories of yours, when and by which word, newest first. Where
        this view is narrowed to some categories, nothing: looks were at all of them."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[AccessLogEntry]:
            if not request.private or self._category_filter() is not None:
                return Page()
            found = access_log.list_access_log_of_person(connection, request, after, most + 1)
            return access_log.access_log_page(found, most)

        return self._read(work)

    def _browse_page(
        self, search: Search, limit: int, cursor: str | None
    ) -> Callable[[Connection, Request], Page[Memory]]:
        """A page of theirs, for a read to find."""
        wanted = sought(search, self._parse_category)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[Memory]:
            chosen = self._resolve_search(connection, request, wanted)
            if chosen is None:
                return Page()
            found = browse_own(
                connection,
                self._storage.audiences,
                self._storage.database.dialect,
                request.for_management(),
                replace(chosen, after=after),
                most + 1,
            )
            shown = [self._redact(connection, request, memory) for memory, _ in found[:most]]
            following = encode_cursor(shown[-1]) if len(found) > most else None
            return Page(items=tuple(shown), cursor=following)

        return work

    def _resolve_search(
        self, connection: Connection, request: Request, wanted: Sought
    ) -> ListFilter | None:
        chosen = wanted.resolve_for_requester(connection, request) if request.private else None
        return None if chosen is None else replace(chosen, categories=self._category_filter())
