"""What all of a view's methods stand on: resolving the request, and finding what it may reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.disclosure.change import Act, may_change
from tacit.errors import NotFound
from tacit.identity.resolve import Asking
from tacit.model import draft, text
from tacit.model.cursor import decode, encode
from tacit.model.draft import Draft
from tacit.model.memory import Memory, Source
from tacit.model.request import Request
from tacit.model.results import Page
from tacit.model.words import Visibility
from tacit.store import listing, reads, writes
from tacit.store.core import Store
from tacit.store.glance import MISS, Miss
from tacit.store.listing import Filter
from tacit.store.reads import Found
from tacit.store.writes import Writing

T = TypeVar("T")
Choose = Callable[[Connection, Request], Filter | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an operator set for all views of a memory."""

    categories: tuple[str, ...]
    ttls: dict[str, int]  # days, by kind
    union: bool  # read aliases together with the account


@dataclass(frozen=True)
class Access:
    _store: Store
    _asking: Asking
    _space: str
    _thread: str
    _policy: Policy

    def _read(self, work: Callable[[Connection, Request], T]) -> T:
        return self._store.read(self._space, self._asking, work, union=self._policy.union)

    def _write(self, work: Callable[[Writing], T]) -> T:
        return self._store.write(self._space, self._asking, self._thread, work)

    def _draft(self, **fields: Any) -> Draft:
        return draft.parse(fields, self._policy.categories)

    def _category(self, category: object) -> str:
        return text.category(category, self._policy.categories)

    def _key(self, key: object) -> str:
        return text.identifier("key", key, limits.KEY_MAX_CHARS)

    def _found(self, connection: Connection, request: Request, id: str) -> Found:
        """What may be heard here; for the owner in private, in any state."""
        good = text.memory_id(id)
        if good is not None:
            for asked in (request, request.managing()):
                found = reads.by_id(connection, self._store.audiences, asked, good)
                if found is not None:
                    return found
        raise NotFound

    def _held(self, w: Writing, id: str, act: Act, to: Visibility | None = None) -> Memory:
        """The memory, locked, if the requester may do this to it. Absent and refused look alike."""
        good = text.memory_id(id)
        memory = writes.held(w, good) if good is not None else None
        if memory is None or may_change(act, w.request, memory, to) is None:
            raise NotFound
        return memory

    def _glanced(
        self, which: Literal["id", "key"], named: Mapping[str, str]
    ) -> Memory | Miss | None:
        """The shortest way to one memory, where nothing else needs to be looked up."""
        found = self._store.glance(
            self._space, self._asking, which, named, union=self._policy.union
        )
        if found is None or found is MISS:
            return found
        request, memory = found
        return memory if request.private and owns(request, memory) else MISS

    def _page(
        self, wanted: Filter | Choose, limit: int, cursor: str | None, *, manage: bool = False
    ) -> Page[Memory]:
        most = text.whole("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode(cursor)

        def work(connection: Connection, request: Request) -> Page[Memory]:
            chosen = wanted(connection, request) if callable(wanted) else wanted
            if chosen is None:
                return Page()
            found = listing.page(
                connection,
                self._store.audiences,
                self._store.database.dialect,
                request.managing() if manage else request,
                replace(chosen, after=after),
                most + 1,
            )
            shown = [self._seen(connection, request, memory) for memory, _ in found[:most]]
            following = encode(shown[-1]) if len(found) > most else None
            return Page(items=tuple(shown), cursor=following)

        return self._read(work)

    def _seen(self, connection: Connection, request: Request, memory: Memory) -> Memory:
        """As this requester may see it: the owner in private all of it, anybody else no more than
        what is said and about whom. Versions they may not hear are not even counted."""
        if request.private and owns(request, memory):
            return memory
        seen, since = reads.seen_version(connection, self._store.audiences, request, memory)
        return replace(
            memory,
            version=seen,
            updated_at=since,
            owner=_known_as(request, memory.owner),
            speaker=_known_as(request, memory.speaker),
            subjects=frozenset(_known_as(request, one) or one for one in memory.subjects),
            learned_in=None,
            heard_by=frozenset(),
            withheld_from=frozenset(),
            withheld_unknown=False,
            source=Source(),
            thread=None,
            agent=None,
            run=None,
            last_accessed_at=None,
            access_count=0,
        )

    def _used(self, *memories: Memory | None) -> None:
        ids = [memory.id for memory in memories if memory is not None]
        self._store.accesses.note(self._space, ids, self._store.clock())


def _known_as(request: Request, identity: str | None) -> str | None:
    """Somebody in this chat goes by the identity they have here: that they have others is theirs
    to tell."""
    if identity is None:
        return None
    here = (i for i in request.present if request.person(i) == request.person(identity))
    return min(here, default=identity)


def owns(request: Request, memory: Memory) -> bool:
    return memory.owner is not None and request.person(memory.owner) == request.requester
