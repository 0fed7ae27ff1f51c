"""The items that a view holds: its person's own, or those of the room.

What somebody else lent or said here is left to recall: under a key that one never set, a program
must not find another person's value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.memory import DisabledView, View
from tacit.records.memory import Memory
from tacit.surfaces.langgraph.items import Namespace, Stored, below, place, stored


class Holding:
    """For one batch of operations: whose somebody's memories are is asked once."""

    def __init__(self, view: View | DisabledView, category: str, *, of_room: bool) -> None:
        self.view, self.category, self._of_room = view, category, of_room
        self._own: dict[str, bool] = {}

    def find(self, namespace: Namespace, key: str) -> Stored | None:
        where = place(namespace, key)
        if not self._of_room:
            memory = self.view.get(self.category, where)
            return None if memory is None else stored(memory)
        found = (one for one in self._pages(where) if one.key == where and one.owner is None)
        memory = next(found, None)
        return None if memory is None else stored(memory)

    def forget(self, namespace: Namespace, key: str) -> None:
        if not self._of_room:
            self.view.forget_key(self.category, place(namespace, key))
            return
        found = self.find(namespace, key)
        if found is not None:
            with suppress(NotFound):  # somebody else was quicker
                self.view.forget(found.memory.id)

    def newest(self, namespace: Namespace, count: int | None = None) -> Iterator[Stored]:
        """Those of a namespace and of all within it; `count` is how many are likely wanted. Of two
        rooms' items with one key, the newer: the other is not to be reached by it."""
        seen: set[str | None] = set()
        for memory in self._pages(below(namespace), count):
            item = stored(memory) if self._is_own(memory) else None
            if item is not None and memory.key not in seen:
                seen.add(memory.key)
                yield item

    def like(self, query: str, namespace: Namespace, count: int) -> Iterator[tuple[Stored, float]]:
        """What comes to mind for a question, strongest first."""
        asked = min(limits.RECALL_MAX_COUNT, max(limits.ITEMS_RECALLED_MIN_COUNT, 4 * count))
        seen: set[str | None] = set()
        start = below(namespace)
        while True:
            found = self.view.recall(query, top_k=asked, categories=[self.category])
            for one in found:
                memory = one.memory
                if memory.key in seen or not (memory.key or "").startswith(start):
                    continue
                item = stored(memory) if self._is_own(memory) else None
                if item is not None and item.index is not False:
                    seen.add(memory.key)
                    yield item, one.score
            if len(found) < asked or asked == limits.RECALL_MAX_COUNT:
                return
            asked = limits.RECALL_MAX_COUNT

    def _pages(self, prefix: str, wanted: int | None = None) -> Iterator[Memory]:
        cursor, count, most = None, 0, limits.ITEMS_PAGE_COUNT
        size = most if wanted is None else min(most, max(1, wanted))
        while True:
            page = self.view.list(self.category, prefix=prefix or None, limit=size, cursor=cursor)
            yield from page.items
            cursor, count, size = page.cursor, count + len(page.items), most
            if cursor is None:
                return
            if count >= limits.ITEMS_SCANNED_MAX_COUNT:
                raise InvalidInput(
                    "namespace",
                    f"more than {limits.ITEMS_SCANNED_MAX_COUNT:,} items would have to be "
                    "looked at; name a narrower one",
                )

    def _is_own(self, memory: Memory) -> bool:
        if memory.key is None:
            return False
        if memory.owner is None or self._of_room:
            return memory.owner is None and self._of_room
        if memory.owner not in self._own:
            # Under whichever key: the value that one gets is one's own.
            mine = self.view.get(self.category, memory.key)
            self._own[memory.owner] = mine is not None and mine.id == memory.id
        return self._own[memory.owner]
