"""The part of a view that tells what became of everything, for a person to keep or to look into."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tacit import limits
from tacit.errors import NotFound
from tacit.records.memory import HistoryEntry, Memory
from tacit.storage.search import ListFilter
from tacit.views.reading import ViewReads


class ViewTelling(ViewReads):
    def history_export(self) -> Iterator[str]:
        """What happened to each memory that you may hear of here, as JSON lines, oldest first for
        each. In a private chat that is also what is yours in any other state."""
        private, mine = self._read(lambda _, request: (request.private, request.own_identities))
        if private:
            for memory in self._iter_listed(manage=True):
                yield from self._iter_history_lines(memory)
        for memory in self._iter_listed(manage=False):
            if not (private and memory.owner in mine):
                yield from self._iter_history_lines(memory)

    def _iter_listed(self, *, manage: bool) -> Iterator[Memory]:
        cursor = None
        while True:
            page = self._list_page(ListFilter(), limits.PAGE_MAX_COUNT, cursor, manage=manage)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _iter_history_lines(self, memory: Memory) -> Iterator[str]:
        try:
            entries = self.history(memory.id)
        except NotFound:
            return  # gone, or not to be heard here any more, since it was listed
        for entry in entries:
            yield _line(memory.id, entry)


def _line(id: str, entry: HistoryEntry) -> str:
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
