"""mem0's Memory and AsyncMemory on Tacit: each user is a person in a private chat."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tacit import Chat, Message, Page, Recalled, Requester, Search, Signals, limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.integrations.mem0 import formats
from tacit.integrations.mem0.filters import FilterTest, compile_filters
from tacit.integrations.mem0.formats import UNSET, CallMetadata, Mem0Message, parse_metadata
from tacit.integrations.mem0.scope import (
    ID_NAMES,
    Mem0Scope,
    ValidationError,
    parse_location,
    parse_memory_id,
    parse_scope,
)
from tacit.records import drafts, validation
from tacit.records.conversation import Role, UserTurn
from tacit.records.drafts import MemoryFields
from tacit.records.memory import Kind, State
from tacit.records.memory import Memory as Record
from tacit.records.queries import ANY_STATE
from tacit.text import split_terms

if TYPE_CHECKING:
    import tacit.memory

Item = dict[str, Any]
FoundMemory = tuple[Record, float, Signals]

_log = logging.getLogger(__name__)
# Arguments of `search` and `get_all` in earlier versions of mem0.
_LEGACY_NAMES = frozenset({*ID_NAMES, "actor_id", "limit"})
_TRIES_COUNT = 10
_EXPIRED_PROBLEM = "is past: to change an expired memory, also give a later expiration_date, or None for never"
_PLATFORM_ONLY = "is of mem0's hosted platform, not of its open-source memory; leave it out"
_PROCEDURAL = "procedural_memory"
_PROCEDURE_PROMPT = (
    "Below is the conversation of an agent during a task. Write down, for the agent that does it "
    "next time, what the task was, which steps were taken in which order, the result of each, and "
    "the current state. Leave out small talk. Answer with that text only."
)
_EVENTS = {"created": "ADD", "restored": "ADD", "updated": "UPDATE", "merged": "UPDATE"}
_FOUND_DEFAULT_COUNT = 20
_FOUND_MAX_COUNT = 1_000_000_000
_DEFAULT_THRESHOLD = 0.1
_VISIBLE_STATES = (State.ACTIVE, State.EXPIRED)
_KINDS = tuple(Kind)  # by default recall leaves out procedures


class Memory:
    """mem0's `Memory`. Each user is a person in a private chat: no one else sees their memories."""

    def __init__(
        self, config: object = None, *, memory: tacit.memory.Memory | None = None, space: str | None = None
    ) -> None:
        """Open a memory by the configuration or Tacit's settings, or use an open one.

        It uses one space, by default `mem0`. A memory that is passed in stays open on `close`.
        """
        place = parse_location(config, space)
        self._opened = None
        if memory is None:
            import tacit

            memory = self._opened = tacit.open(place.url)
        self._memory = memory.space(place.space)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(config_dict)

    def add(
        self,
        messages: object,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, list[Item]]:
        """Learn from messages; without `infer`, store each message as it is."""
        if timestamp is not None:
            raise InvalidInput("timestamp", _PLATFORM_ONLY)
        more = parse_metadata(metadata, UNSET if expiration_date is None else expiration_date)
        scope = parse_scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "VALIDATION_001")
        if memory_type not in (None, _PROCEDURAL):
            raise ValidationError("memory_type", f"must be {_PROCEDURAL} or None", "VALIDATION_002")
        said = formats.parse_messages(messages)
        if memory_type == _PROCEDURAL and scope.agent is not None:
            made = self._add_procedure(scope, said, more, prompt)
        else:
            made = (self._add_learned if infer else self._add_raw)(scope, said, more)
        return {"results": made}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """Recall memories for a query, strongest first."""
        del rerank  # recall ranks already
        if reference_date is not None:
            raise InvalidInput("reference_date", _PLATFORM_ONLY)
        asked = _parse_query(filters, older, top_k, show_expired)
        return {"results": self._search(query, asked, threshold, explain=bool(explain))}

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """List memories, newest first."""
        asked = _parse_query(filters, older, top_k, show_expired)
        found = filter(asked.matches, _list(self._view(asked.scope, acting=True), asked))
        items = [formats.make_item(asked.scope, one) for one in islice(found, asked.count)]
        return {"results": items}

    def get(self, memory_id: str) -> Item | None:
        found = self._find(memory_id)
        return None if found is None else {**formats.make_item(*found), "score": None}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change text, metadata or expiry; `data` is an older name of `text`.

        `expiration_date=None` means that it never expires.
        """
        content = text if text is not None else data
        more = parse_metadata(metadata, expiration_date)
        if content is None and metadata is None and more.expires_at is None:
            raise InvalidInput("update", "name at least one of text, metadata and expiration_date")
        for left in reversed(range(_TRIES_COUNT)):
            try:
                self._update(memory_id, content, more)
                break
            except Conflict:  # changed at the same time: merge with the new metadata
                if left == 0:
                    raise
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory; its history stays until it is purged."""
        scope, record = self._get(memory_id)
        try:
            self._view(scope).forget(record.id)
        except NotFound:
            raise _no_such_memory() from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | int | None = None, agent_id: str | int | None = None, run_id: str | int | None = None
    ) -> dict[str, str]:
        scope = parse_scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        view = self._view(scope)
        for one in _list_own(view):
            if scope.holds(one):
                view.forget(one.id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Item]:
        """Return the history, oldest first, also of a deleted memory."""
        scope, id = parse_memory_id(memory_id) or (None, "")
        if scope is None:
            return []
        view = self._view(scope)
        try:
            return formats.make_history(memory_id, view.show(id), view.history(id))
        except NotFound:
            return []

    def reset(self) -> None:
        """Erase the whole space permanently."""
        self._memory.admin.erase_space()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _view(self, scope: Mem0Scope, *, thread: str | None = None, acting: bool = False) -> tacit.memory.View:
        """Open the owner's view of their private chat; `acting`: with the agent's allow-list."""
        requester, chat = Requester(scope.key, scope.name), Chat.private(scope.key)
        agent = scope.agent if acting else None
        return self._memory.view(requester, chat, thread=thread, agent=agent)

    def _add_raw(self, scope: Mem0Scope, said: Sequence[Mem0Message], given: CallMetadata) -> list[Item]:
        """Store each message as a memory; validate all before the first is stored."""
        messages = [one for one in said if one.role != Role.SYSTEM]
        fields = [_memory_fields(scope, given, one) for one in messages]
        for one, more in zip(messages, fields, strict=True):
            drafts.parse_draft({"content": one.content, **more}, ())
        view = self._view(scope, acting=True)
        made = []
        for one, more in zip(messages, fields, strict=True):
            if kept := view.remember(one.content, **more):
                made.append(
                    {
                        "id": scope.id_of(kept.id),
                        "memory": one.content,
                        "event": "ADD",
                        "actor_id": one.name,
                        "role": one.role,
                    }
                )
        return made

    def _add_learned(self, scope: Mem0Scope, said: Sequence[Mem0Message], given: CallMetadata) -> list[Item]:
        """Learn at once and return the changes, which a thread of their own identifies.

        Facts that need consent are not among them: they wait as proposals.
        """
        validation.parse_data(given.data)
        thread = f"mem0-{secrets.token_hex(8)}"
        view = self._view(scope, thread=thread, acting=True)
        if not _queue_messages(view, [one.message(scope.user) for one in said]):
            return []
        # With a model, learning waits until a conversation is quiet; a call of `add` is complete.
        self._memory.jobs.wait_for_learning(thread=None if self._memory.llm.available else thread)
        made = []
        for change in reversed(view.delta().changes):
            event = _EVENTS.get(change.event)
            if event is None or change.content is None:
                continue
            try:
                _add_metadata(view, change.memory_id, scope, given)
            except (Conflict, NotFound):
                continue  # deleted or replaced meanwhile
            id = scope.id_of(change.memory_id)
            made.append({"id": id, "memory": change.content, "event": event})
        return made

    def _add_procedure(
        self, scope: Mem0Scope, said: Sequence[Mem0Message], given: CallMetadata, prompt: str | None
    ) -> list[Item]:
        """Store a procedure, summarized by a model if there is one."""
        for one in said:
            validation.parse_content(one.content, "messages")  # before a model sees it
        content = "\n".join(f"{one.role}: {one.content}" for one in said)
        if not content:
            raise InvalidInput("messages", "are empty; give the steps of the task")
        if self._memory.llm.available:
            reply = self._memory.llm.talk(prompt or _PROCEDURE_PROMPT, [UserTurn(content)])
            content = reply.text.strip() or content
        fields = _memory_fields(scope, given)
        fields["data"] = {**given.data, "memory_type": _PROCEDURAL}
        fields["kind"] = Kind.PROCEDURE
        kept = self._view(scope, acting=True).remember(content, **fields)
        return [{"id": scope.id_of(kept.id), "memory": content, "event": "ADD"}] if kept else []

    def _search(self, query: object, asked: _Query, threshold: object, *, explain: bool) -> list[Item]:
        """Recall, strongest first; fill up with the newest unless the threshold is above the default."""
        text = validation.check_storable("query", query, limits.QUERY_MAX_CHARS).strip()
        if not text:
            raise InvalidInput("query", "is empty; say what to look for")
        least = validation.parse_fraction("threshold", _DEFAULT_THRESHOLD if threshold is None else threshold)
        if asked.count == 0:
            return []
        view = self._view(asked.scope, acting=True)
        found: list[FoundMemory] = [
            (one.memory, one.score, one.signals)
            for one in _recall(view, text, asked, least)
            if asked.matches(one.memory)
        ]
        if asked.show_expired:
            found += _find_expired(view, text, asked, least)
            found.sort(key=lambda one: -one[1])
        if least <= _DEFAULT_THRESHOLD and len(found) < asked.count:
            found += _fill_with_newest(view, asked, found, least)
        return [
            formats.make_scored_item(asked.scope, *one, threshold=least if explain else None)
            for one in found[: asked.count]
        ]

    def _update(self, memory_id: object, content: str | None, more: CallMetadata) -> None:
        """Update once; raise Conflict if merged metadata is based on an older version."""
        scope, record = self._get(memory_id)
        whole = formats.merge_metadata(record, more) if more.data else None
        drafts.parse_draft({"content": content, "data": whole}, ())  # validate before a restore
        view = self._view(scope)
        try:
            if record.state is State.EXPIRED:
                if more.expires_at is None:
                    raise InvalidInput("expiration_date", _EXPIRED_PROBLEM)
                view.restore(record.id)
            seen = None if whole is None else record.version
            view.update(record.id, content, data=whole, expires_at=more.expires_at, if_version=seen)
        except NotFound:
            raise _no_such_memory() from None

    def _find(self, memory_id: object) -> tuple[Mem0Scope, Record] | None:
        """Find an active or expired memory; others do not exist for mem0."""
        scope, id = parse_memory_id(memory_id) or (None, "")
        if scope is None:
            return None
        try:
            record = self._view(scope).show(id)
        except NotFound:
            return None
        return (scope, record) if record.state in _VISIBLE_STATES else None

    def _get(self, memory_id: object) -> tuple[Mem0Scope, Record]:
        found = self._find(memory_id)
        if found is None:
            raise _no_such_memory()
        return found


def _no_such_memory() -> InvalidInput:
    return InvalidInput("memory_id", "no such memory; use an id from add, search or get_all")


# `add`.


def _memory_fields(scope: Mem0Scope, given: CallMetadata, said: Mem0Message | None = None) -> MemoryFields:
    actor = {} if said is None or said.name is None else {formats.ACTOR: said.name}
    return {
        "role": None if said is None else said.role,
        "agent": scope.agent,
        "run": scope.run,
        "data": {**given.data, **actor} or None,
        "expires_at": given.expires_at,
    }


def _queue_messages(view: tacit.memory.View, messages: Sequence[Message]) -> bool:
    """Queue messages for learning; return whether any was accepted."""
    count = 0
    for start in range(0, len(messages), limits.MESSAGES_MAX_COUNT):
        accepted = view.learn(messages[start : start + limits.MESSAGES_MAX_COUNT])
        count += accepted.turns
        if accepted.refused:
            kinds = ", ".join(accepted.refused)
            _log.warning("messages were ignored: they contain secrets (%s)", kinds)
    return count > 0


def _add_metadata(view: tacit.memory.View, id: str, scope: Mem0Scope, given: CallMetadata) -> None:
    """Add what learning does not set: run, metadata and expiry."""
    if scope.run is None and not given.data and given.expires_at is None:
        return
    said: MemoryFields = {"run": scope.run, "expires_at": given.expires_at}
    before = view.show(id).data or {}
    if whole := {**before, **given.data}:
        said["data"] = whole
    try:
        view.update(id, **said)
    except InvalidInput:  # too large together: keep the new metadata
        said["data"] = given.data
        view.update(id, **said)


# `search` and `get_all`.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    scope: Mem0Scope
    test: FilterTest | None  # None: all match
    count: int
    show_expired: bool

    def matches(self, memory: Record) -> bool:
        if not self.scope.holds(memory):
            return False
        return self.test is None or self.test(formats.make_filter_payload(self.scope, memory))


def _parse_query(filters: object, older: Mapping[str, Any], top_k: object, show_expired: object) -> _Query:
    """Parse arguments; `older` are those of earlier versions of mem0 beside `filters`.

    Unknown ones are ignored, as mem0 does.
    """
    for name in older.keys() - _LEGACY_NAMES:
        _log.warning("the argument %s is ignored", name)
    older = {n: v for n, v in older.items() if n in _LEGACY_NAMES and v is not None}
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput("filters", f"expected a dict, got {type(filters).__name__}")
    given = {**(filters or {}), **{n: v for n, v in older.items() if n != "limit"}}
    scope = parse_scope(given)
    others = {name: value for name, value in given.items() if name not in ID_NAMES}
    count = next((n for n in (top_k, older.get("limit")) if n is not None), _FOUND_DEFAULT_COUNT)
    return _Query(
        scope=scope,
        test=compile_filters(others) if others else None,
        count=validation.parse_int("top_k", count, 0, _FOUND_MAX_COUNT),
        show_expired=validation.parse_bool("show_expired", show_expired),
    )


def _fill_with_newest(
    view: tacit.memory.View, asked: _Query, found: Sequence[FoundMemory], least: float
) -> list[FoundMemory]:
    """Return the newest memories that recall did not find.

    In mem0 any two sentences have some similarity, so a search with the default threshold returns
    the nearest memories instead of nothing.
    """
    known = {one.id for one, *_ in found}
    weakest = min([least, *(score for _, score, _ in found)])
    others = (one for one in _list(view, asked) if one.id not in known and asked.matches(one))
    return [(one, weakest, Signals()) for one in islice(others, asked.count - len(found))]


def _list_own(view: tacit.memory.View, state: str = ANY_STATE) -> Iterator[Record]:
    """Yield the owner's active and expired memories."""
    search = Search(state=state)
    found = _each(lambda cursor: view.browse(search, limit=limits.PAGE_MAX_COUNT, cursor=cursor))
    return (one for one in found if one.state in _VISIBLE_STATES)


def _list(view: tacit.memory.View, asked: _Query) -> Iterator[Record]:
    """Yield memories, newest first; expired ones only if they are asked for."""
    if asked.show_expired:
        return _list_own(view)
    return _each(lambda cursor: view.list(limit=limits.PAGE_MAX_COUNT, cursor=cursor))


def _each(read: Callable[[str | None], Page[Record]]) -> Iterator[Record]:
    page = read(None)
    yield from page
    while page.cursor is not None:
        page = read(page.cursor)
        yield from page


def _recall(view: tacit.memory.View, query: str, asked: _Query, least: float) -> list[Recalled]:
    """Recall; with an agent or run, twice: imported memories have these in their data, which the
    filters of recall do not use."""
    user, agent, run = asked.scope.user, asked.scope.agent, asked.scope.run
    run = None if user is None and agent is None else run  # the owner narrows nothing
    agent = None if user is None else agent
    narrow = agent is not None or run is not None
    most = limits.RECALL_MAX_COUNT
    count = most if narrow or asked.test is not None else min(asked.count, most)
    found = view.recall(query, top_k=count, kinds=_KINDS, threshold=least)
    if not narrow:
        return found
    own = view.recall(query, top_k=count, kinds=_KINDS, threshold=least, agent=agent, run=run)
    both = {one.memory.id: one for one in (*found, *own)}
    return sorted(both.values(), key=lambda one: -one.score)


def _find_expired(view: tacit.memory.View, query: str, asked: _Query, least: float) -> Iterator[FoundMemory]:
    """Find expired memories, which recall leaves out, by their share of the query's words."""
    terms = set(split_terms(query))
    for one in _list_own(view, State.EXPIRED):
        share = len(terms & set(split_terms(one.content))) / len(terms) if terms else 0.0
        if share > 0 and share >= least and asked.matches(one):
            yield one, share, Signals(words=share)


# The asynchronous form.

P = ParamSpec("P")
T = TypeVar("T")


def _make_async(method: Callable[Concatenate[Memory, P], T]) -> Callable[Concatenate[AsyncMemory, P], Awaitable[T]]:
    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, self._memory, *args, **named)

    return call


class AsyncMemory:
    """mem0's `AsyncMemory`: the methods of `Memory`, each in a worker thread."""

    def __init__(
        self, config: object = None, *, memory: tacit.memory.Memory | None = None, space: str | None = None
    ) -> None:
        self._memory = Memory(config, memory=memory, space=space)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(config_dict)

    def __await__(self) -> Generator[Any, None, Self]:
        """Allow `await AsyncMemory.from_config(…)`, as in earlier versions of mem0."""
        yield from ()
        return self

    add = _make_async(Memory.add)
    search = _make_async(Memory.search)
    get_all = _make_async(Memory.get_all)
    get = _make_async(Memory.get)
    update = _make_async(Memory.update)
    delete = _make_async(Memory.delete)
    delete_all = _make_async(Memory.delete_all)
    history = _make_async(Memory.history)
    reset = _make_async(Memory.reset)

    def close(self) -> None:
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
