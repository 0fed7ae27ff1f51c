"""`ViewContext` and the runtime in which operations run, and the decorators that declare operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from functools import cache, wraps
from threading import Lock
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
    overload,
)

from sqlalchemy import Connection

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.errors import InvalidInput, NotFound
from tacit.identity import RawRequest
from tacit.jobs.scheduler import TASKS_AT_OPENING, PeriodicRunner, SchedulerThreads, build_tasks
from tacit.jobs.worker import LearningWorkers
from tacit.learning.pipeline import LearningOptions, LearningPipeline
from tacit.lifecycle.tasks import LifecycleOptions, TaskStep
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.policy.rules import ChangeAction, decide, is_owner, may_change, may_enter_prompt, redact_memory
from tacit.prompts.block import BlockCache, Style
from tacit.records import drafts, validation
from tacit.records.drafts import Draft
from tacit.records.memory import Memory, State, Visibility
from tacit.records.queries import decode_cursor, make_page, memory_position
from tacit.records.request import Request
from tacit.records.results import Delta, EmbeddingStatus, Page, Remembered
from tacit.records.token_counts import TokenCounter, estimate_tokens
from tacit.retrieval.index_cache import find_cached_neighbors, find_neighbors
from tacit.retrieval.indexer import VectorIndexer
from tacit.retrieval.retriever import Retriever, list_known_people
from tacit.retrieval.text_features import KnownNames, LazyPersonLabels
from tacit.storage import history, memories, memory_reads, queue, relations, search
from tacit.storage.memories import NO_VECTORS, StaleRevision, TextVectors, Transaction
from tacit.storage.memory_reads import MemoryDecision
from tacit.storage.search import ListFilter
from tacit.storage.store import FAST_PATH_MISS, FastPathMiss, Store
from tacit.telemetry import metrics

if TYPE_CHECKING:
    from tacit.notes.mirror import MirrorThread
    from tacit.storage.idempotency import IdempotentResult

# What all views of one open memory share.


@dataclass(slots=True, eq=False)
class Runtime:
    storage: Store
    embedder: Embedder | None
    learning: LearningOptions | None = None  # None: nothing is learned from conversations
    learner_threads: int = 0  # threads of this process that learn
    upkeep: LifecycleOptions = field(default_factory=LifecycleOptions)
    mirroring: MirrorThread | None = None  # None: notes are not mirrored as files
    model: LanguageModel | None = None  # set even if nothing is learned
    allowance: Allowance = field(default_factory=Allowance)  # daily budget of each space
    retriever: Retriever = field(init=False)
    blocks: BlockCache = field(init=False)
    indexing: VectorIndexer | None = field(init=False, default=None)
    pipeline: LearningPipeline | None = field(init=False, default=None)
    tasks: dict[str, TaskStep] = field(init=False)
    _workers: list[LearningWorkers] = field(init=False, default_factory=list)
    _scheduler: SchedulerThreads = field(init=False)
    _start_lock: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        store, retriever = self.storage, Retriever(self.storage, self.embedder)
        self.retriever, self.blocks = retriever, BlockCache(retriever, store.audiences)
        self.tasks = build_tasks(store, retriever, self.embedder, self.learning, self.upkeep)
        self._scheduler = SchedulerThreads(self.periodic_runner)
        if self.mirroring is not None:
            self.mirroring.mirror.written = self.wake_indexer
            store.after_erasure.append(self.mirroring.mirror.remove_erased)
        if self.embedder is not None:
            self.indexing = VectorIndexer(store, self.embedder)
            self.indexing.wake()
        if self.learning is not None:
            self.pipeline = LearningPipeline(store, retriever, self.learning)
            with store.database.read() as connection:
                has_queued_turns = queue.has_waiting_jobs(connection)
            if has_queued_turns:
                self.wake_learners()

    @property
    def has_missing_vectors(self) -> bool:
        """Return whether vectors are missing after a model failure and no thread creates them."""
        return self.indexing is not None and self.indexing.failed

    def wake_indexer(self) -> None:
        """Wake the indexer: a memory was written without a vector."""
        if self.indexing is not None:
            self.indexing.wake()

    def embedding(self, space: str) -> EmbeddingStatus:
        if self.indexing is None:
            return EmbeddingStatus(model=None, dimension=0, done=0, total=0, running=False)
        return self.indexing.status(space)

    def reembed(self, progress: Callable[[int], None]) -> int:
        if self.indexing is None:
            raise InvalidInput("embedding", "no model is set; choose one with embedding.provider")
        return self.indexing.embed_missing(progress)

    def wake_learners(self) -> None:
        """Wake the learning threads; start them at the first call."""
        if self.pipeline is None or not self.learner_threads:
            return
        with self._start_lock:
            if not self._workers:
                self._workers.append(LearningWorkers(self.pipeline, self.learner_threads))
        self._workers[0].wake()

    def periodic_runner(self) -> PeriodicRunner:
        """Return a runner for scheduled tasks."""
        return PeriodicRunner(self.storage, self.tasks, self.upkeep.intervals)

    def start_background_work(self) -> None:
        """Start the threads for learning and for scheduled tasks; they run until close."""
        self.wake_learners()
        self._scheduler.start(max(1, self.learner_threads))

    def run_overdue_tasks(self, space: str) -> None:
        """Run overdue tasks of a newly opened space, if this process has background threads."""
        known = [one for one in TASKS_AT_OPENING if one in self.tasks and one in self.upkeep.intervals]
        if not self.upkeep.runs_on_open or not self.learner_threads or not known:
            return
        with self.storage.database.read() as connection:
            overdue = queue.has_overdue_tasks(connection, space, known, self.storage.clock())
        if overdue:
            self._scheduler.run_overdue(space)

    def start_note_sync(self) -> None:
        """Read files that were edited while the memory was closed, and start watching them."""
        if self.mirroring is not None:
            self.mirroring.start()

    def close(self) -> None:
        try:
            if self.model is not None:
                self.model.close()  # ends waiting model calls
            for workers in self._workers:
                workers.close()
            self._scheduler.close()
            if self.mirroring is not None:
                self.mirroring.close()  # after all writers
            if self.indexing is not None:
                self.indexing.close()
        finally:
            self.storage.close()
            if self.embedder is not None:
                self.embedder.close()


# The requester, chat and options of one view.

T = TypeVar("T")
NO_NEIGHBORS: Mapping[str, float] = {}
WriteGuard = Callable[[Callable[[Transaction], Any]], Callable[[Transaction], Any]]
FilterFactory = Callable[[Connection, Request], ListFilter | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Options that an operator set for all views of a memory."""

    categories: tuple[str, ...]
    ttl_days: dict[str, int]  # lifetime in days, by kind
    union: bool  # read memories of aliases together with the account's
    link_min: float = 0.6  # minimum similarity at which two memories are related
    turns_days: int | None = None  # retention of turns in days; None: turns are not recorded
    count_tokens: TokenCounter = estimate_tokens  # counts the tokens of a text
    style: Style = Style.MEMORY
    items_max: int = limits.BLOCK_ITEMS_MAX_COUNT
    chars_max: int = limits.BLOCK_MAX_CHARS
    conversation_gap: timedelta = timedelta(hours=1)
    recall_only_limits: Mapping[str, int] = field(default_factory=dict)  # category → maximum count
    allowlists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # agent → categories
    only: frozenset[str] | None = None  # categories that this view is limited to; None: all
    restorable_days: int = limits.RESTORABLE_DAYS
    note_days: int = limits.NOTE_DAYS_DEFAULT  # days of notes that a session starts with
    note_items_max: int = limits.NOTE_ITEMS_SHOWN_DEFAULT_COUNT
    sign_in_minutes: int = limits.SIGN_IN_DEFAULT_MINUTES  # lifetime of a sign-in link
    web_session_idle_minutes: int = limits.WEB_SESSION_IDLE_DEFAULT_MINUTES
    web_session_hours: int = limits.WEB_SESSION_DEFAULT_HOURS


class SpaceContext:
    """One space of an open database."""

    def __init__(self, runtime: Runtime, options: ViewOptions, space: str, enabled: bool) -> None:
        self._runtime = runtime
        self._storage = runtime.storage
        self._options = options
        self._space = space
        self._enabled = enabled

    @property
    def _shared(self) -> tuple[Runtime, ViewOptions, str, bool]:
        return self._runtime, self._options, self._space, self._enabled

    def _write_identities(self, work: Callable[[Transaction], T]) -> T:
        """Run a transaction that changes people, links or chats."""
        return self._storage.change_identities(self._space, "system", work)


@dataclass(frozen=True, slots=True)
class ViewContext:
    """The requester, chat and options of one view, with reads and writes under disclosure rules."""

    runtime: Runtime
    raw_request: RawRequest
    space: str
    thread: str
    options: ViewOptions
    agent: str | None
    guard: WriteGuard | None = None  # wraps the work of each write under an idempotency key

    @property
    def storage(self) -> Store:
        return self.runtime.storage

    @property
    def retriever(self) -> Retriever:
        return self.runtime.retriever

    def read(self, work: Callable[[Connection, Request], T]) -> T:
        return self.storage.read(self.space, self.raw_request, work, union=self.options.union)

    def write(
        self, work: Callable[[Transaction], T], vectors: TextVectors = NO_VECTORS, *, changing: bool = False
    ) -> T:
        """Run `work` in one transaction.

        Set `changing` if the work changes which identities are one person.
        """
        if self.guard is not None:
            work = self.guard(work)
        where = (self.space, self.raw_request, self.thread)
        return self.storage.write(*where, work, vectors, changing=changing)

    def unguarded(self) -> ViewContext:
        """Return this context without the guard, for writes that the caller did not ask for."""
        return self if self.guard is None else replace(self, guard=None)

    def write_text(
        self, content: str | None, work: Callable[[Transaction], Remembered], *, new: bool = False
    ) -> Remembered:
        """Write a text with its vector and its neighbors, both computed before the transaction.

        `content` is the text to embed, see `text_to_embed`. Set `new` if the write always inserts a
        memory that the writer owns.
        """
        vectors = NO_VECTORS if content is None else self.retriever.embed_inline([content])
        vector = vectors.of_text(content) if content is not None else None
        if vector is None:
            done = self.write(work, vectors)
            if content is not None:
                self.runtime.wake_indexer()
            return done
        cache, least = self.retriever.index_cache, self.options.link_min
        kept = self.storage.requests.get_cached(self.space, self.raw_request, union=True)
        alike = find_cached_neighbors(cache, kept[1], vector, least) if new and kept else None
        if alike is not None:
            try:
                return self._write_with_relations(work, replace(vectors, alike=alike), vector)
            except StaleRevision:
                pass  # another process wrote meanwhile: query the database
        near = self.read(lambda c, r: find_neighbors(cache, c, r, vector, least))
        return self._write_with_relations(work, vectors, vector, near)

    def _write_with_relations(
        self,
        work: Callable[[Transaction], Remembered],
        vectors: TextVectors,
        vector: bytes,
        near: Mapping[str, float] = NO_NEIGHBORS,
    ) -> Remembered:
        """Run `work` and insert relations to its neighbors: those of `vectors`, or `near`."""
        written: list[Transaction] = []

        def related(tx: Transaction) -> Remembered:
            done = work(tx)
            if vectors.alike is None and done.state is not State.PENDING:
                tx.edges[:] = relations.replace_found_edges(tx, done.id, near, new=done.created)
                memories.set_event_similarity(tx, done.id, near)
            written[:] = [tx]
            return done

        done = self.write(related, vectors)
        if self.runtime.has_missing_vectors or done.state is State.PENDING:
            self.runtime.wake_indexer()
        for tx in written:
            for row in tx.added:
                self.retriever.index_cache.add_written(row, vector, tx.edges)
        return done

    def allowed_categories(self, agent: str | None) -> frozenset[str] | None:
        """Return the categories that an agent may use in this view; None: all of them.

        If allow-lists are set, an agent that has none may use no category.
        """
        only = self.options.only
        if agent is None or not self.options.allowlists:
            return only
        listed = frozenset(self.options.allowlists.get(agent, ()))
        return listed if only is None else listed & only

    @property
    def permitted_categories(self) -> frozenset[str] | None:
        """Return the categories that the agent of this view may use; None: all of them."""
        return self.allowed_categories(self.agent)

    def parse_draft(self, **fields: Any) -> Draft:
        return drafts.parse_draft(fields, self.options.categories)

    def parse_category(self, category: object) -> str:
        name = validation.parse_category(category, self.options.categories)
        allowed = self.permitted_categories
        if allowed is not None and name not in allowed:
            raise InvalidInput("category", f"this agent may not use {name}")
        return name

    def parse_key(self, key: object) -> str:
        return validation.parse_identifier("key", key, limits.KEY_MAX_CHARS)

    def get_visible(self, connection: Connection, request: Request, id: str) -> MemoryDecision:
        """Return a memory that may be shown here; for the owner in private, in any state."""
        parsed_id = validation.parse_memory_id(id)
        if parsed_id is not None:
            for asked in (request, request.for_management()):
                found = memory_reads.get_memory(connection, self.storage.audiences, asked, parsed_id)
                if found is not None and self.may_use(found[0]):
                    return found
        raise NotFound

    def get_for_update(self, tx: Transaction, id: str, act: ChangeAction, to: Visibility | None = None) -> Memory:
        """Lock and return the memory if the requester may change it in this way.

        Raises NotFound both if it is absent and if the change is refused, so that they look alike.
        """
        parsed_id = validation.parse_memory_id(id)
        memory = memories.get_for_update(tx, parsed_id) if parsed_id is not None else None
        if memory is None:
            raise NotFound
        if may_change(act, tx.request, memory, to) is None:
            if self.storage.meter.on:  # only operators can read which rule refused the change
                decision = decide(tx.request, memory)
                rule = metrics.CHANGE_REFUSED if decision.allowed else decision.rule
                self.storage.meter.count(metrics.REFUSAL_COUNT, rule=rule)
            raise NotFound
        if not self.may_use(memory) or (memory.is_turn and act is not ChangeAction.ERASE):
            raise NotFound  # a turn can only be erased, not changed
        return memory

    def may_use(self, memory: Memory) -> bool:
        allowed = self.permitted_categories
        return allowed is None or memory.category in allowed

    def get_fast(self, which: Literal["id", "key"], named: Mapping[str, str]) -> Memory | FastPathMiss | None:
        """Return one memory by the fast path, or FAST_PATH_MISS if more has to be looked up."""
        found = self.storage.get_memory_fast(self.space, self.raw_request, which, named, union=self.options.union)
        if found is None or found is FAST_PATH_MISS:
            return found
        request, memory = found
        return memory if request.private and is_owner(request, memory) and self.may_use(memory) else FAST_PATH_MISS

    def list_page(
        self,
        wanted: ListFilter | FilterFactory,
        limit: int,
        cursor: str | None,
        *,
        manage: bool = False,
        include_instructions: bool = True,
    ) -> Page[Memory]:
        """List one page of memories. With or without instructions that other people gave."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[Memory]:
            chosen = wanted(connection, request) if callable(wanted) else wanted
            if chosen is None:
                return Page()
            found = search.list_memories(
                connection,
                self.storage.audiences,
                self.storage.database.dialect,
                request.for_management() if manage else request,
                replace(chosen, after=after, categories=self.category_filter()),
                most + 1,
            )
            called = self.person_labels(connection, request)
            page = make_page([memory for memory, _ in found], most, memory_position)
            shown = (
                self.redact(connection, request, memory, called)
                for memory in page
                if include_instructions or may_enter_prompt(request, memory)
            )
            return replace(page, items=tuple(shown))

        return self.read(work)

    def iter_listed(self, wanted: ListFilter | FilterFactory, *, manage: bool = False) -> Iterator[Memory]:
        """List all pages of memories, each from its own snapshot."""
        most = limits.PAGE_MAX_COUNT
        return iter_pages(lambda cursor: self.list_page(wanted, most, cursor, manage=manage))

    def category_filter(self) -> tuple[str, ...] | None:
        allowed = self.permitted_categories
        return None if allowed is None else tuple(sorted(allowed))

    def read_delta(self, connection: Connection, request: Request, since: int, *, newest: bool = False) -> Delta:
        allowed, thread = self.permitted_categories, self.thread
        return history.read_delta(connection, self.storage.audiences, request, thread, since, allowed, newest=newest)

    def person_labels(self, connection: Connection, request: Request) -> LazyPersonLabels:
        """Return labels of the people in this chat, loaded once and only if needed."""
        return LazyPersonLabels(lambda: KnownNames(request, list_known_people(connection, request)).labels)

    def redact(
        self, connection: Connection, request: Request, memory: Memory, called: LazyPersonLabels | None = None
    ) -> Memory:
        """Return the memory as this requester may see it (see `redact_memory`).

        The version number does not count versions that the requester may not see.
        """
        # The sequence number of a turn would reveal how many other turns its chat has.
        plain = memory if memory.seq is None else replace(memory, seq=None)
        shown = redact_memory(request, plain, self.person_labels(connection, request) if called is None else called)
        if request.private and is_owner(request, memory):
            return shown
        seen, since = memory_reads.visible_version(connection, self.storage.audiences, request, memory)
        return replace(shown, version=seen, updated_at=since)

    def record_use(self, *memories: Memory | None) -> None:
        ids = [memory.id for memory in memories if memory is not None]
        self.storage.accesses.count(self.space, ids, self.storage.clock())


def iter_pages(page: Callable[[str | None], Page[T]]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        found = page(cursor)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return


# Declarations: what every surface needs to know of an operation.

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
Arguments = Mapping[str, Any]  # the arguments of a call, by name


class Repeat(Enum):
    """The effect of a second call under the same idempotency key."""

    READ = "read"  # a read: the key has no effect
    REPLAYED = "replayed"  # answered from the record of the first call
    HARMLESS = "harmless"  # runs again: the operation is idempotent
    REFUSED = "refused"  # InvalidInput: the default of every write


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The rule that answers a repeated write under its idempotency key.

    `record` selects what is stored of the outcome, in the same transaction; `replay` builds the
    answer from that record.
    """

    record: Callable[[Any, Arguments], tuple[Mapping[str, Any], Any]]
    replay: Callable[[ViewContext, IdempotentResult, Arguments], Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The HTTP request of an operation: the server serves it, and a remote view sends it.

    Arguments that the path names stand in the path. The others are the query string of a GET or
    DELETE, and the JSON body of a POST or PUT, except for those that `query` names.
    """

    method: str
    path: str  # a template of Starlette: /api/items/{category}/{key:rest}
    query: tuple[str, ...]
    paged: bool  # the list of the answer comes in pages

    @property
    def path_names(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\{(\w+)", self.path))

    @classmethod
    def parse(cls, declared: str, paged: bool) -> Endpoint:
        """Parse `POST /api/memory/{id}/erase?turns`."""
        method, _, target = declared.partition(" ")
        path, _, query = target.partition("?")
        return cls(method, path, tuple(query.split("&")) if query else (), paged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One public operation, declared by the decorator of its method."""

    name: str  # "remember", "proposals.approve"
    method: Callable[..., Any] = field(repr=False)  # undecorated
    repeat: Repeat
    replay: Replay | None
    disabled: Any  # answer of a disabled view: a value, or a function that makes or raises it
    measured_as: str  # name of the operation in metrics
    lines: bool  # returns an iterator; timed until it is exhausted
    endpoint: Endpoint | None  # None: not offered over HTTP, only in the process that opened the memory

    @property
    def writes(self) -> bool:
        return self.repeat is not Repeat.READ

    def disabled_outcome(self) -> Any:
        return self.disabled() if callable(self.disabled) else self.disabled


class Dispatch(Protocol):
    """An interceptor between the call of an operation and its method."""

    @property
    def why_disabled(self) -> str | None: ...

    def once(self, key: str) -> Dispatch:
        """Return a dispatch whose next write runs at most once under this key."""

    def invoke(self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments, /) -> Any: ...


class Resource:
    """A group of operations on one context.

    Without a dispatch, methods run directly. An operation that calls another one is therefore
    measured and recorded once.
    """

    __slots__ = ("_context", "_dispatch")

    def __init__(self, context: ViewContext, dispatch: Dispatch | None = None) -> None:
        self._context = context
        self._dispatch = dispatch

    @property
    def _shared(self) -> tuple[ViewContext, Dispatch | None]:
        return self._context, self._dispatch

    def __init_subclass__(cls, name: str | None = None, measured_as: str | None = None) -> None:
        """Register the resource; `name` is the attribute of the view that returns it."""
        super().__init_subclass__()
        if name is None:
            return
        for method in vars(cls).values():
            declared = getattr(method, "__operation__", None)
            if declared is not None:
                full = f"{name}.{declared.name}"
                label = measured_as or full.replace(".", "_")
                method.__operation__ = replace(declared, name=full, measured_as=label)


class ResourceOwner(Protocol):
    @property
    def _shared(self) -> tuple[Any, ...]:
        """Return the arguments from which its resources are made."""


class resource(Generic[R]):  # noqa: N801 (a descriptor, used like property)
    """An attribute that is a group of operations. Each access creates a new one."""

    def __init__(self, kind: type[R]) -> None:
        self.kind: Any = kind

    @overload
    def __get__(self, owner: None, kind: type) -> resource[R]: ...
    @overload
    def __get__(self, owner: ResourceOwner, kind: type) -> R: ...
    def __get__(self, owner: ResourceOwner | None, kind: type) -> R | resource[R]:
        if owner is None:
            return self
        made: R = self.kind(*owner._shared)
        return made


def read(http: str | None = None, *, disabled: Any, lines: bool = False, paged: bool = False) -> Callable[[F], F]:
    """Declare an operation that changes nothing; see `Endpoint` for `http` and `paged`."""
    return _declare(Repeat.READ, None, disabled, lines, http, paged)


def write(
    http: str | None = None, *, disabled: Any, replay: Replay | None = None, repeat: Repeat = Repeat.REFUSED
) -> Callable[[F], F]:
    """Declare an operation that changes something.

    Without `replay` or `repeat` it is refused under an idempotency key, so that it never runs
    twice.
    """
    how = Repeat.REPLAYED if replay is not None else repeat
    return _declare(how, replay, disabled, False, http, False)


def not_found(what: str = "memory") -> Callable[[], NoReturn]:
    """Make a disabled view raise NotFound for an operation that needs an existing item."""

    def refuse() -> NoReturn:
        raise NotFound(what)

    return refuse


def _declare(
    repeat: Repeat, replay: Replay | None, disabled: Any, lines: bool, http: str | None, paged: bool
) -> Callable[[F], F]:
    def decorate(method: F) -> F:
        @wraps(method)
        def call(self: Resource, *args: Any, **named: Any) -> Any:
            dispatch = self._dispatch
            if dispatch is None:
                return method(self, *args, **named)
            return dispatch.invoke(call.__operation__, self, args, named)  # type: ignore[attr-defined]

        call.__operation__ = Operation(  # type: ignore[attr-defined]
            name=method.__name__,
            method=method,
            repeat=repeat,
            replay=replay,
            disabled=disabled,
            measured_as=method.__name__,
            lines=lines,
            endpoint=None if http is None else Endpoint.parse(http, paged),
        )
        return cast("F", call)

    return decorate


def list_operations(view: type[Resource]) -> Iterator[Operation]:
    """List the operations of a class and of its resources."""
    for base in reversed(view.__mro__):
        for member in vars(base).values():
            declared = getattr(member, "__operation__", None)
            if declared is not None:
                yield declared
            elif isinstance(member, resource):
                yield from list_operations(member.kind)


REQUIRED: Any = inspect.Parameter.empty


@cache
def signature_of(method: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(method)


def bind_arguments(method: Callable[..., Any], args: tuple[Any, ...], named: Arguments) -> dict[str, Any]:
    """Bind the arguments of a call by name, with defaults. Raises TypeError as the method does."""
    signature = signature_of(method)
    bound = signature.bind(None, *args, **named)
    bound.apply_defaults()
    found = dict(bound.arguments)
    del found["self"]
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= found.pop(name)
    return found


@cache
def parameters_of(method: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the default of each argument by name, or REQUIRED; those of a TypedDict are None."""
    found: dict[str, Any] = {}
    for name, parameter in signature_of(method).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (fields,) = get_args(type_hints_of(method)[name])
            found |= dict.fromkeys(get_type_hints(fields))
        elif name != "self":
            found[name] = parameter.default
    return found


@cache
def type_hints_of(method: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the types of the parameters and, as `return`, of the answer."""
    return get_type_hints(method)
