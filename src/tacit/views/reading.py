"""The half of a view that reads memories."""

from __future__ import annotations

import builtins
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.policy.redaction import is_owner
from tacit.records import validation
from tacit.records.accounts import Person
from tacit.records.memory import HistoryEntry, HistoryEvent, Kind, Memory, State, Version
from tacit.records.request import Request
from tacit.records.results import Delta, Page, Stats
from tacit.storage import memory_reads, people, search
from tacit.storage.search import ListFilter
from tacit.storage.store import FAST_PATH_MISS
from tacit.views.access import Access

List = builtins.list


class ViewReads(Access):
    def get(self, category: str, key: str) -> Memory | None:
        """The value of one of your keys, or None where there is none or it may not be said here."""
        name, slot = self._parse_category(category), self._parse_key(key)

        def work(connection: Connection, request: Request) -> Memory | None:
            found = memory_reads.get_memory_by_key(
                connection, self._storage.audiences, request, name, slot
            )
            return self._redact(connection, request, found[0]) if found else None

        memory = self._get_fast("key", {"category": name, "key": slot})
        if memory is FAST_PATH_MISS:
            memory = self._read(work)
        self._record_use(memory)
        return memory

    def show(self, id: str) -> Memory:
        """One memory by its id. The owner, in private, sees it in any state."""

        def work(connection: Connection, request: Request) -> Memory:
            memory, _ = self._get_visible(connection, request, id)
            return self._redact(connection, request, memory)

        memory = (
            self._get_fast("id", {"id": id}) if validation.parse_memory_id(id) else FAST_PATH_MISS
        )
        if memory is FAST_PATH_MISS or memory is None:
            memory = self._read(work)
        self._record_use(memory)
        return memory

    def list(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """What may be said here, newest first, without what others told the assistant to do. With
        `state`, your own in that state, in private."""
        wanted = self._build_filter(category, prefix, kind, state, pinned)
        return self._list_page(wanted, limit, cursor, manage=state is not None, orders=False)

    def count(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
    ) -> int:
        """How many there are to `list`, on all its pages."""
        narrowed = self._build_filter(category, prefix, kind, state, pinned)
        wanted = replace(narrowed, categories=self._category_filter())

        def work(connection: Connection, request: Request) -> int:
            asked = request if state is None else request.for_management()
            return search.count_memories(connection, asked, wanted)

        return self._read(work)

    def _build_filter(
        self,
        category: str | None,
        prefix: str | None,
        kind: Kind | str | None,
        state: State | str | None,
        pinned: bool | None,
    ) -> ListFilter:
        return ListFilter(
            category=None if category is None else self._parse_category(category),
            kind=None if kind is None else validation.parse_enum("kind", kind, Kind).value,
            state=None if state is None else validation.parse_enum("state", state, State).value,
            prefix=None if prefix is None else validation.parse_key_prefix(prefix),
            pinned=None if pinned is None else validation.parse_bool("pinned", pinned),
        )

    def about(
        self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        """What may be said here about a person, whoever said it."""

        def wanted(connection: Connection, request: Request) -> ListFilter | None:
            who = people.resolve_person(connection, request, person, "person")
            if not who:
                return None
            # Under a key that they did not meet here, only what they said themselves about it.
            own = people.is_hidden_identity(connection, request, who)
            mine = tuple(sorted(request.own_identities)) if own else None
            return ListFilter(about=tuple(sorted(who)), owners=mine)

        return self._list_page(wanted, limit, cursor)

    def history(self, id: str) -> List[HistoryEntry]:
        """What happened to a memory, oldest first, in the wordings you may hear."""

        def work(connection: Connection, request: Request) -> List[HistoryEntry]:
            memory, _ = self._get_visible(connection, request, id)
            managing = request.private and is_owner(request, memory)
            asked = request.for_management() if managing else request
            wordings = memory_reads.list_versions(
                connection, self._storage.audiences, asked, memory
            )
            if not managing:
                return _as_heard(wordings)
            texts = {v.number: v.content for v in wordings}
            return [
                replace(entry, content=texts[entry.version])
                for entry in memory_reads.list_memory_history(connection, memory)
            ]

        return self._read(work)

    def delta(self, since: int = 0) -> Delta:
        """What changed in this thread since a revision."""
        start = validation.parse_int("since", since, 0, limits.REVISION_MAX)
        return self._read(lambda c, r: self._read_delta(c, r, start))

    def stats(self) -> Stats:
        """Counts of your own memories, in any state. In a private chat only; elsewhere, nothing."""
        return self._read(lambda c, r: search.read_owner_stats(c, r, self._category_filter()))

    def people(self) -> List[Person]:
        """The people you have named, and those who are here. In a group by the names that they
        have there: what you call somebody is for your own ears."""
        return self._read(lambda c, r: people.list_known_people(c, r, own_names=r.private))


def _as_heard(wordings: List[Version]) -> List[HistoryEntry]:
    """What others may know of a memory's past: the wordings they heard. What the owner does with
    it in private is the owner's."""
    return [
        HistoryEntry(
            event=HistoryEvent.ADD if number == 1 else HistoryEvent.UPDATE,
            at=wording.created_at,
            actor=wording.actor,
            version=number,
            content=wording.content,
            detail={},
        )
        for number, wording in enumerate(wordings, start=1)
    ]
