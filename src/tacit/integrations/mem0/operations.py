"""Add, list, search and filter memories as mem0 does."""

from __future__ import annotations

import logging
import operator
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from tacit import Chat, Message, Page, Recalled, Requester, Search, Signals, limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.integrations.mem0 import formats
from tacit.integrations.mem0.formats import CallMetadata, Mem0Message
from tacit.integrations.mem0.scope import ID_NAMES, Mem0Scope, parse_scope
from tacit.records import drafts, validation
from tacit.records.conversation import Role, UserTurn
from tacit.records.drafts import MemoryFields
from tacit.records.memory import Kind, State
from tacit.records.memory import Memory as Record
from tacit.records.queries import ANY_STATE
from tacit.records.text import split_terms

if TYPE_CHECKING:
    from tacit.memory import Memory, View


# mem0's filters on metadata, with operators and AND, OR, NOT, compiled to one test. They only narrow
# the memories that a view returns.

FilterPayload = Mapping[str, Any]
FilterTest = Callable[[FilterPayload], bool]

_WILDCARD = "*"
_DEPTH_MAX_COUNT = 16
_MISSING = object()
_COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_GROUPS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}


def compile_filters(filters: Mapping[str, Any]) -> FilterTest:
    """Compile filters to a test that requires all of them."""
    return _compile_all(filters, _DEPTH_MAX_COUNT)


def _compile_all(filters: Mapping[str, Any], depth: int) -> FilterTest:
    if depth == 0:
        raise InvalidInput("filters", f"are nested deeper than {_DEPTH_MAX_COUNT} levels")
    tests = [_compile_part(name, wanted, depth) for name, wanted in filters.items()]
    return lambda payload: all(test(payload) for test in tests)


def _compile_part(name: object, wanted: object, depth: int) -> FilterTest:
    if not isinstance(name, str):
        raise InvalidInput("filters", f"are named by text, not by {type(name).__name__}")
    group = _GROUPS.get(name)
    if group is None:
        return _compile_field(name, wanted)
    tests = [_compile_all(one, depth - 1) for one in _check_conditions(name, wanted)]
    if group == "AND":
        return lambda payload: all(test(payload) for test in tests)
    if group == "OR":
        return lambda payload: any(test(payload) for test in tests)
    return lambda payload: not any(test(payload) for test in tests)


def _check_conditions(name: str, wanted: object) -> list[dict[str, Any]]:
    if isinstance(wanted, list) and all(isinstance(one, dict) for one in wanted):
        if wanted or name.lstrip("$").upper() == "AND":
            return wanted
        raise InvalidInput("filters", f"{name} is empty; give it at least one condition")
    raise InvalidInput("filters", f"{name} takes a list of conditions, such as [{{'kind': 'a'}}]")


def _compile_field(name: str, wanted: object) -> FilterTest:
    if isinstance(wanted, str) and wanted == _WILDCARD:
        return lambda _: True
    if isinstance(wanted, list):
        wanted = {"in": wanted}
    asked = wanted if isinstance(wanted, dict) else {"eq": wanted}
    if not asked:
        raise InvalidInput("filters", f"{name!r} says nothing; write for example {{'gt': 3}}")
    tests = [_compile_operator(name, one, value) for one, value in asked.items()]

    def holds(payload: FilterPayload) -> bool:
        found = _get_by_path(payload, name)
        # Of several values one must match; a missing field never matches.
        several = found if isinstance(found, list) else [] if found is _MISSING else [found]
        return all(any(test(one) for one in several) for test in tests)

    return holds


def _get_by_path(payload: FilterPayload, name: str) -> Any:
    if name in payload:
        return payload[name]
    inside: Any = payload
    for part in name.split("."):
        if not isinstance(inside, Mapping) or part not in inside:
            return _MISSING
        inside = inside[part]
    return inside


def _compile_operator(name: str, comparator: object, value: Any) -> Callable[[Any], bool]:
    def refuse(takes: str) -> InvalidInput:
        return InvalidInput("filters", f"{comparator!r} of {name!r} takes {takes}")

    match comparator:
        case "eq" | "ne":
            return lambda found: _is_equal(found, value) is (comparator == "eq")
        case "in" | "nin":
            if not isinstance(value, list | tuple | set | frozenset):
                raise refuse("a list of values")
            among = list(value)
            return lambda found: any(_is_equal(found, one) for one in among) is (comparator == "in")
        case "contains" | "icontains":
            if not isinstance(value, str):
                raise refuse("text")
            fold = str.casefold if comparator == "icontains" else str
            return lambda found: isinstance(found, str) and fold(value) in fold(found)
        case "gt" | "gte" | "lt" | "lte":
            bound, compare = _parse_ordered(value), _COMPARISONS[comparator]
            if bound is None:
                raise refuse("a number or a date")

            def holds(found: Any) -> bool:
                mark = _parse_ordered(found)
                alike = isinstance(mark, datetime) is isinstance(bound, datetime)
                return mark is not None and alike and bool(compare(mark, bound))

            return holds
    known = "eq, ne, gt, gte, lt, lte, in, nin, contains, icontains"
    raise InvalidInput("filters", f"{name!r} has no operator {comparator!r}; use one of {known}")


def _parse_ordered(value: object) -> Any:
    """Return a number or a moment; None for values without an order."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _is_equal(found: object, wanted: object) -> bool:
    """Compare as JSON does, where True is not 1."""
    return found == wanted and isinstance(found, bool) is isinstance(wanted, bool)


# `add`: messages as they are, what is learned from them, or a procedure.

Item = dict[str, Any]

PROCEDURAL = "procedural_memory"
_log = logging.getLogger(__name__)
_PROCEDURE_PROMPT = (
    "Below is the conversation of an agent during a task. Write down, for the agent that does it "
    "next time, what the task was, which steps were taken in which order, the result of each, and "
    "the current state. Leave out small talk. Answer with that text only."
)
_EVENTS = {"created": "ADD", "restored": "ADD", "updated": "UPDATE", "merged": "UPDATE"}


def open_view(
    memory: Memory, scope: Mem0Scope, *, thread: str | None = None, acting: bool = True
) -> View:
    """Open the owner's view of their private chat; `acting`: with the agent's allow-list."""
    requester, chat = Requester(scope.key, scope.name), Chat.private(scope.key)
    return memory.view(requester, chat, thread=thread, agent=scope.agent if acting else None)


def add_raw(
    memory: Memory, scope: Mem0Scope, said: Sequence[Mem0Message], given: CallMetadata
) -> list[Item]:
    """Store each message as a memory; validate all before the first is stored."""
    messages = [one for one in said if one.role != Role.SYSTEM]
    fields = [_memory_fields(scope, given, one) for one in messages]
    for one, more in zip(messages, fields, strict=True):
        drafts.parse_draft({"content": one.content, **more}, ())
    view = open_view(memory, scope)
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


def add_learned(
    memory: Memory, scope: Mem0Scope, said: Sequence[Mem0Message], given: CallMetadata
) -> list[Item]:
    """Learn at once and return the changes, which a thread of their own identifies.

    Facts that need consent are not among them: they wait as proposals.
    """
    validation.parse_data(given.data)
    thread = f"mem0-{secrets.token_hex(8)}"
    view = open_view(memory, scope, thread=thread)
    if not _queue_messages(view, [one.message(scope.user) for one in said]):
        return []
    # With a model, learning waits until a conversation is quiet; a call of `add` is complete.
    memory.jobs.wait_for_learning() if memory.llm.available else memory.jobs.wait_for_learning(
        thread=thread
    )
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


def add_procedure(
    memory: Memory,
    scope: Mem0Scope,
    said: Sequence[Mem0Message],
    given: CallMetadata,
    prompt: str | None,
) -> list[Item]:
    """Store a procedure, summarized by a model if there is one."""
    for one in said:
        validation.parse_content(one.content, "messages")  # before a model sees it
    content = "\n".join(f"{one.role}: {one.content}" for one in said)
    if not content:
        raise InvalidInput("messages", "are empty; give the steps of the task")
    if memory.llm.available:
        reply = memory.llm.talk(prompt or _PROCEDURE_PROMPT, [UserTurn(content)])
        content = reply.text.strip() or content
    fields = _memory_fields(scope, given)
    fields["data"] = {**given.data, "memory_type": PROCEDURAL}
    fields["kind"] = Kind.PROCEDURE
    kept = open_view(memory, scope).remember(content, **fields)
    return [{"id": scope.id_of(kept.id), "memory": content, "event": "ADD"}] if kept else []


def _memory_fields(
    scope: Mem0Scope, given: CallMetadata, said: Mem0Message | None = None
) -> MemoryFields:
    return {
        "role": None if said is None else said.role,
        "agent": scope.agent,
        "run": scope.run,
        "data": given.with_actor(None if said is None else said.name),
        "expires_at": given.expires_at,
    }


def _queue_messages(view: View, messages: Sequence[Message]) -> bool:
    """Queue messages for learning; return whether any was accepted."""
    count = 0
    for start in range(0, len(messages), limits.MESSAGES_MAX_COUNT):
        accepted = view.learn(messages[start : start + limits.MESSAGES_MAX_COUNT])
        count += accepted.turns
        if accepted.refused:
            kinds = ", ".join(accepted.refused)
            _log.warning("messages were ignored: they contain secrets (%s)", kinds)
    return count > 0


def _add_metadata(view: View, id: str, scope: Mem0Scope, given: CallMetadata) -> None:
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

FoundMemory = tuple[Record, float, Signals]

_FOUND_DEFAULT_COUNT = 20
_FOUND_MAX_COUNT = 1_000_000_000
DEFAULT_THRESHOLD = 0.1
VISIBLE_STATES = (State.ACTIVE, State.EXPIRED)
_KINDS = tuple(Kind)  # by default recall leaves out procedures


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Query:
    scope: Mem0Scope
    test: FilterTest | None  # None: all match
    count: int
    show_expired: bool

    def matches(self, memory: Record) -> bool:
        if not self.scope.holds(memory):
            return False
        return self.test is None or self.test(formats.make_filter_payload(self.scope, memory))


def parse_query(
    filters: object, older: Mapping[str, Any], top_k: object, show_expired: object
) -> Mem0Query:
    """Parse arguments; `older` are those of earlier versions of mem0 beside `filters`."""
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput("filters", f"expected a dict, got {type(filters).__name__}")
    given = {**(filters or {}), **{n: v for n, v in older.items() if n != "limit"}}
    scope = parse_scope(given)
    others = {name: value for name, value in given.items() if name not in ID_NAMES}
    count = next((n for n in (top_k, older.get("limit")) if n is not None), _FOUND_DEFAULT_COUNT)
    return Mem0Query(
        scope=scope,
        test=compile_filters(others) if others else None,
        count=validation.parse_int("top_k", count, 0, _FOUND_MAX_COUNT),
        show_expired=validation.parse_bool("show_expired", show_expired),
    )


def list_memories(memory: Memory, asked: Mem0Query) -> list[Item]:
    """List memories, newest first."""
    found = filter(asked.matches, _list(open_view(memory, asked.scope), asked))
    return [formats.make_item(asked.scope, one) for one in islice(found, asked.count)]


def search_memories(
    memory: Memory, query: object, asked: Mem0Query, threshold: object, *, explain: bool
) -> list[Item]:
    """Recall, strongest first; fill up with the newest unless the threshold is above the default."""
    text = validation.check_storable("query", query, limits.QUERY_MAX_CHARS).strip()
    if not text:
        raise InvalidInput("query", "is empty; say what to look for")
    least = validation.parse_fraction(
        "threshold", DEFAULT_THRESHOLD if threshold is None else threshold
    )
    if asked.count == 0:
        return []
    view = open_view(memory, asked.scope)
    found: list[FoundMemory] = [
        (one.memory, one.score, one.signals)
        for one in _recall(view, text, asked, least)
        if asked.matches(one.memory)
    ]
    if asked.show_expired:
        found += _find_expired(view, text, asked, least)
        found.sort(key=lambda one: -one[1])
    if least <= DEFAULT_THRESHOLD and len(found) < asked.count:
        found += _fill_with_newest(view, asked, found, least)
    return [
        formats.make_scored_item(asked.scope, *one, threshold=least if explain else None)
        for one in found[: asked.count]
    ]


def _fill_with_newest(
    view: View, asked: Mem0Query, found: Sequence[FoundMemory], least: float
) -> list[FoundMemory]:
    """Return the newest memories that recall did not find.

    In mem0 any two sentences have some similarity, so a search with the default threshold returns
    the nearest memories instead of nothing.
    """
    known = {one.id for one, *_ in found}
    weakest = min([least, *(score for _, score, _ in found)])
    others = (one for one in _list(view, asked) if one.id not in known and asked.matches(one))
    return [(one, weakest, Signals()) for one in islice(others, asked.count - len(found))]


def list_own(view: View, state: str = ANY_STATE) -> Iterator[Record]:
    """Yield the owner's active and expired memories."""
    search = Search(state=state)
    found = _each(lambda cursor: view.browse(search, limit=limits.PAGE_MAX_COUNT, cursor=cursor))
    return (one for one in found if one.state in VISIBLE_STATES)


def _list(view: View, asked: Mem0Query) -> Iterator[Record]:
    """Yield memories, newest first; expired ones only if they are asked for."""
    if asked.show_expired:
        return list_own(view)
    return _each(lambda cursor: view.list(limit=limits.PAGE_MAX_COUNT, cursor=cursor))


def _each(read: Callable[[str | None], Page[Record]]) -> Iterator[Record]:
    page = read(None)
    yield from page
    while page.cursor is not None:
        page = read(page.cursor)
        yield from page


def _recall(view: View, query: str, asked: Mem0Query, least: float) -> list[Recalled]:
    """Recall; with an agent or run, twice: imported memories have these in their data, which the
    filters of recall do not use."""
    agent, run = asked.scope.narrows_agent, asked.scope.narrows_run
    narrow = agent is not None or run is not None
    most = limits.RECALL_MAX_COUNT
    count = most if narrow or asked.test is not None else min(asked.count, most)
    found = view.recall(query, top_k=count, kinds=_KINDS, threshold=least)
    if not narrow:
        return found
    own = view.recall(query, top_k=count, kinds=_KINDS, threshold=least, agent=agent, run=run)
    both = {one.memory.id: one for one in (*found, *own)}
    return sorted(both.values(), key=lambda one: -one.score)


def _find_expired(view: View, query: str, asked: Mem0Query, least: float) -> Iterator[FoundMemory]:
    """Find expired memories, which recall leaves out, by their share of the query's words."""
    terms = set(split_terms(query))
    for one in list_own(view, State.EXPIRED):
        share = len(terms & set(split_terms(one.content))) / len(terms) if terms else 0.0
        if share > 0 and share >= least and asked.matches(one):
            yield one, share, Signals(words=share)
