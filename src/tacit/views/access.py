"""What all of a view's methods stand on: resolving the request, and finding what it may reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection

from tacit import console_limits, limits
from tacit.disclosure.change import Act, may_change
from tacit.disclosure.decide import decide
from tacit.disclosure.orders import is_for
from tacit.disclosure.redact import owns, redact
from tacit.errors import InvalidInput, NotFound
from tacit.identity.resolve import Asking
from tacit.model import draft, text
from tacit.model.cursor import decode, encode
from tacit.model.draft import Draft
from tacit.model.memory import Memory
from tacit.model.request import Request
from tacit.model.results import Delta, Page, Remembered
from tacit.model.tokens import Count, estimate
from tacit.model.words import State, Visibility
from tacit.prompt.styles import Style
from tacit.recall.names import Called, Names
from tacit.recall.reach import known_to
from tacit.recall.recollection import Recollection
from tacit.recall.relate import at_hand, neighbours
from tacit.store import deltas, happening, listing, reads, relations, writes
from tacit.store.core import Store
from tacit.store.glance import MISS, Miss
from tacit.store.listing import Filter
from tacit.store.reads import Found
from tacit.store.writes import NO_VECTORS, Alike, Behind, Vectors, Writing
from tacit.telemetry import measures
from tacit.views.mind import Mind

T = TypeVar("T")
NOTHING: Mapping[str, float] = {}
Choose = Callable[[Connection, Request], Filter | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an operator set for all views of a memory."""

    categories: tuple[str, ...]
    ttls: dict[str, int]  # days, by kind
    union: bool  # read aliases together with the account
    link_min: float = 0.6  # likeness from which two memories are related
    turns_days: int | None = None  # how long turns are kept; None: not at all
    count: Count = estimate  # tokens of a text
    style: Style = Style.MEMORY
    items_max: int = limits.BLOCK_ITEMS_MAX_COUNT
    chars_max: int = limits.BLOCK_MAX_CHARS
    conversation_gap: timedelta = timedelta(hours=1)
    recalled_only: Mapping[str, int] = field(default_factory=dict)  # category → at most so many
    allowlists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # agent → categories
    only: frozenset[str] | None = None  # categories that a single view is narrowed to
    restorable_days: int = limits.RESTORABLE_DAYS
    note_days: int = limits.NOTE_DAYS_DEFAULT  # that a session starts with
    note_items_max: int = limits.NOTE_ITEMS_SHOWN_DEFAULT_COUNT
    sign_in_minutes: int = console_limits.SIGN_IN_DEFAULT_MINUTES  # that a link works
    sitting_idle_minutes: int = console_limits.SITTING_IDLE_DEFAULT_MINUTES
    sitting_hours: int = console_limits.SITTING_DEFAULT_HOURS


@dataclass(frozen=True)
class Access:
    _mind: Mind
    _asking: Asking
    _space: str
    _thread: str
    _policy: Policy
    _agent: str | None

    @property
    def _store(self) -> Store:
        return self._mind.store

    @property
    def _recollection(self) -> Recollection:
        return self._mind.recollection

    def _read(self, work: Callable[[Connection, Request], T]) -> T:
        return self._store.read(self._space, self._asking, work, union=self._policy.union)

    def _write(
        self,
        work: Callable[[Writing], T],
        vectors: Vectors = NO_VECTORS,
        *,
        changing: bool = False,
    ) -> T:
        """`changing`: who is whom."""
        where = (self._space, self._asking, self._thread)
        return self._store.write(*where, work, vectors, changing=changing)

    def _write_text(
        self, content: str | None, work: Callable[[Writing], Remembered], *, new: bool = False
    ) -> Remembered:
        """A write of words: with what they mean and what they are like, both found beforehand.
        `content` is the text that is embedded, see `meaning_of`. `new`: it surely makes a memory,
        and the writer owns it."""
        vectors = NO_VECTORS if content is None else self._recollection.vectors([content])
        vector = vectors.of(content) if content is not None else None
        if vector is None:
            done = self._write(work, vectors)
            if content is not None:
                self._mind.mind_the_gap()
            return done
        alike = self._at_hand(vector) if new else None
        if alike is not None:
            try:
                return self._write_related(work, replace(vectors, alike=alike), vector)
            except Behind:
                pass  # another process wrote meanwhile: ask the store
        library, least = self._recollection.library, self._policy.link_min
        near = self._read(lambda c, r: neighbours(library, c, r, vector, least))
        return self._write_related(work, vectors, vector, near)

    def _at_hand(self, vector: bytes) -> Alike | None:
        kept = self._store.requests.kept(self._space, self._asking, union=True)
        if kept is None:
            return None
        return at_hand(self._recollection.library, kept[1], vector, self._policy.link_min)

    def _write_related(
        self,
        work: Callable[[Writing], Remembered],
        vectors: Vectors,
        vector: bytes,
        near: Mapping[str, float] = NOTHING,
    ) -> Remembered:
        """`near` is what the words are like, where the vectors do not say so."""
        written: list[Writing] = []

        def related(w: Writing) -> Remembered:
            done = work(w)
            if vectors.alike is None and done.state is not State.PENDING:
                w.edges[:] = relations.find(w, done.id, near, new=done.created)
                happening.likened(w, done.id, near)
            written[:] = [w]
            return done

        done = self._write(related, vectors)
        if self._mind.has_gap or done.state is State.PENDING:
            self._mind.mind_the_gap()
        for w in written:
            for row in w.added:
                self._recollection.library.learn(row, vector, w.edges)
        return done

    def _allowed(self, agent: str | None) -> frozenset[str] | None:
        """The categories that an agent may use in this view; None: all of them. Where there are
        allow-lists, an agent that is on none may use nothing."""
        only = self._policy.only
        if agent is None or not self._policy.allowlists:
            return only
        listed = frozenset(self._policy.allowlists.get(agent, ()))
        return listed if only is None else listed & only

    def _draft(self, **fields: Any) -> Draft:
        return draft.parse(fields, self._policy.categories)

    def _category(self, category: object) -> str:
        name = text.category(category, self._policy.categories)
        allowed = self._allowed(self._agent)
        if allowed is not None and name not in allowed:
            raise InvalidInput("category", f"this agent may not use {name}")
        return name

    def _key(self, key: object) -> str:
        return text.identifier("key", key, limits.KEY_MAX_CHARS)

    def _found(self, connection: Connection, request: Request, id: str) -> Found:
        """What may be heard here; for the owner in private, in any state."""
        good = text.memory_id(id)
        if good is not None:
            for asked in (request, request.managing()):
                found = reads.by_id(connection, self._store.audiences, asked, good)
                if found is not None and self._may_use(found[0]):
                    return found
        raise NotFound

    def _held(self, w: Writing, id: str, act: Act, to: Visibility | None = None) -> Memory:
        """The memory, locked, if the requester may do this to it. Absent and refused look alike."""
        good = text.memory_id(id)
        memory = writes.held(w, good) if good is not None else None
        if memory is None:
            raise NotFound
        if may_change(act, w.request, memory, to) is None:
            self._refused(w.request, memory)
            raise NotFound
        if not self._may_use(memory) or (memory.is_turn and act is not Act.ERASE):
            raise NotFound  # what was said is not changed, it goes or it stays
        return memory

    def _refused(self, request: Request, memory: Memory) -> None:
        """Which rule it was is counted, for operators alone."""
        if self._store.meter.on:
            decision = decide(request, memory)
            rule = measures.UNCHANGEABLE if decision.allowed else decision.rule
            self._store.meter.count(measures.REFUSAL_COUNT, rule=rule)

    def _may_use(self, memory: Memory) -> bool:
        allowed = self._allowed(self._agent)
        return allowed is None or memory.category in allowed

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
        return (
            memory if request.private and owns(request, memory) and self._may_use(memory) else MISS
        )

    def _page(
        self,
        wanted: Filter | Choose,
        limit: int,
        cursor: str | None,
        *,
        manage: bool = False,
        orders: bool = True,
    ) -> Page[Memory]:
        """`orders`: also what others told the assistant to do."""
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
                replace(chosen, after=after, categories=self._categories()),
                most + 1,
            )
            called = self._names_here(connection, request)
            shown = [
                self._seen(connection, request, memory, called)
                for memory, _ in found[:most]
                if orders or is_for(request, memory)
            ]
            following = encode(found[most - 1][0]) if len(found) > most else None
            return Page(items=tuple(shown), cursor=following)

        return self._read(work)

    def _categories(self) -> tuple[str, ...] | None:
        allowed = self._allowed(self._agent)
        return None if allowed is None else tuple(sorted(allowed))

    def _delta(
        self, connection: Connection, request: Request, since: int, *, newest: bool = False
    ) -> Delta:
        allowed, thread = self._allowed(self._agent), self._thread
        return deltas.delta(
            connection, self._store.audiences, request, thread, since, allowed, newest=newest
        )

    def _names_here(self, connection: Connection, request: Request) -> Called:
        """What people go by here. Looked up where somebody else said something, and once."""
        return Called(lambda: Names(request, known_to(connection, request)).called)

    def _seen(
        self, connection: Connection, request: Request, memory: Memory, called: Called | None = None
    ) -> Memory:
        """As this requester may see it (`redact`). Versions they may not hear are not even
        counted."""
        # By its number a turn would tell how much else is written in its chat.
        plain = memory if memory.seq is None else replace(memory, seq=None)
        shown = redact(
            request, plain, self._names_here(connection, request) if called is None else called
        )
        if request.private and owns(request, memory):
            return shown
        seen, since = reads.seen_version(connection, self._store.audiences, request, memory)
        return replace(shown, version=seen, updated_at=since)

    def _used(self, *memories: Memory | None) -> None:
        ids = [memory.id for memory in memories if memory is not None]
        self._store.accesses.note(self._space, ids, self._store.clock())
