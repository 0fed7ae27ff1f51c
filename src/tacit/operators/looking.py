"""The part of an operator's looks that goes through memories, whoever's they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tacit import limits
from tacit.errors import NotFound
from tacit.operators.access import OperatorAccess
from tacit.records import validation
from tacit.records.memory import HistoryEntry, Memory
from tacit.records.queries import MATCH_ALL, Search, decode_cursor, encode_cursor
from tacit.records.results import AccessLogEntry, Page
from tacit.storage import access_log, memories, memory_reads
from tacit.storage.access_log import LoggedMemory
from tacit.storage.memories import Transaction
from tacit.storage.search import browse_space, count_in_space, list_owned, list_wordings
from tacit.views.sought import Sought, sought


class OperatorLooks(OperatorAccess):
    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Memories of the space, newest first, as far as the search goes: the active ones, unless
        it names another state. People are named by their keys."""
        browsed = self._browse_page(search, limit, cursor)

        def work(w: Transaction) -> tuple[Page[Memory], Iterable[Memory]]:
            found = browsed(w)
            return found, found.items

        return self._read_logged("browse", work)

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        """How many there are to `browse`, on all its pages; from a thousand on, a thousand. That
        there is one of somebody's that fits a search is told to them. How many there are in all
        says nothing of anybody."""
        wanted = self._parse_search(search)

        def work(w: Transaction) -> tuple[int, Iterable[LoggedMemory]]:
            chosen, owners = wanted.resolve_for_operator(w.connection, w.space)
            if search == MATCH_ALL:
                return count_in_space(w, chosen, owners), ()
            found = list_owned(w, chosen, owners)
            return len(found), found

        return self._read_logged("browse_count", work)

    def show(self, id: str) -> Memory:
        """One memory by its id, in any state."""

        def work(w: Transaction) -> tuple[Memory, Iterable[Memory]]:
            memory = memory_reads.apply_expiry(_held(w, id), w.at)
            return memory, [memory]

        return self._read_logged("show", work)

    def history(self, id: str) -> list[HistoryEntry]:
        """What happened to a memory, oldest first, in all its wordings."""

        def work(w: Transaction) -> tuple[list[HistoryEntry], Iterable[Memory]]:
            memory = _held(w, id)
            texts = list_wordings(w, memory)
            entries = memory_reads.list_memory_history(w.connection, memory)
            return [replace(one, content=texts.get(one.version)) for one in entries], [memory]

        return self._read_logged("history", work)

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        """Who looked at what in the space, newest first."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(w: Transaction) -> tuple[Page[AccessLogEntry], Iterable[Memory]]:
            return access_log.access_log_page(
                access_log.list_access_log(w, after, most + 1), most
            ), ()

        return self._read_logged("looks", work)

    def _browse_page(
        self, search: Search, limit: int, cursor: str | None
    ) -> Callable[[Transaction], Page[Memory]]:
        """A page of the space, for a look to find."""
        wanted = self._parse_search(search)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(w: Transaction) -> Page[Memory]:
            chosen, owners = wanted.resolve_for_operator(w.connection, w.space)
            found = browse_space(w, replace(chosen, after=after), owners, most + 1)
            shown = tuple(found[:most])
            return Page(items=shown, cursor=encode_cursor(shown[-1]) if len(found) > most else None)

        return work

    def _parse_search(self, search: Search) -> Sought:
        known = self._options.categories
        return sought(search, lambda name: validation.parse_category(name, known), operator=True)


def _held(w: Transaction, id: str) -> Memory:
    good = validation.parse_memory_id(id)
    memory = memories.get_for_update(w, good) if good is not None else None
    if memory is None or memory.is_turn:
        raise NotFound
    return memory
