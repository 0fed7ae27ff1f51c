"""What mem0's `search` and `get_all` find, of one person's, narrowed by its filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from tacit import Recalled, Search, Signals, limits
from tacit.compat.mem0 import shapes
from tacit.compat.mem0.adding import view_of
from tacit.compat.mem0.filters import Test, reading
from tacit.compat.mem0.scope import NAMES, Scope, scope_of
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Kind, State
from tacit.records.memory import Memory as Record
from tacit.records.queries import ANY_STATE
from tacit.records.text import split_terms

if TYPE_CHECKING:
    from tacit.memory import DisabledView, Memory, View

Item = dict[str, Any]
Found = tuple[Record, float, Signals]

_FOUND_DEFAULT_COUNT = 20
_FOUND_MAX_COUNT = 1_000_000_000
THRESHOLD = 0.1
STANDING = (State.ACTIVE, State.EXPIRED)
_KINDS = tuple(Kind)  # all of them: how-tos come only to those who ask for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whose, which of them, and how many."""

    scope: Scope
    test: Test | None  # None: any
    count: int
    show_expired: bool

    def matches(self, memory: Record) -> bool:
        if not self.scope.holds(memory):
            return False
        return self.test is None or self.test(shapes.payload(self.scope, memory))


def wanted(
    filters: object, older: Mapping[str, Any], top_k: object, show_expired: object
) -> Wanted:
    """`older` are the names that earlier versions of mem0 take beside `filters`."""
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput("filters", f"expected a dict, got {type(filters).__name__}")
    given = {**(filters or {}), **{n: v for n, v in older.items() if n != "limit"}}
    scope = scope_of(given)
    others = {name: value for name, value in given.items() if name not in NAMES}
    count = next((n for n in (top_k, older.get("limit")) if n is not None), _FOUND_DEFAULT_COUNT)
    return Wanted(
        scope=scope,
        test=reading(others) if others else None,
        count=validation.parse_int("top_k", count, 0, _FOUND_MAX_COUNT),
        show_expired=validation.parse_bool("show_expired", show_expired),
    )


def listed(memory: Memory, asked: Wanted) -> list[Item]:
    """Newest first."""
    view = view_of(memory, asked.scope)
    found: list[Item] = []
    if asked.count == 0:
        return found
    for one in own(view) if asked.show_expired else _heard(view):
        if asked.matches(one):
            found.append(shapes.item(asked.scope, one))
            if len(found) == asked.count:
                break
    return found


def searched(
    memory: Memory, query: object, asked: Wanted, threshold: object, *, explain: bool
) -> list[Item]:
    """Strongest first, and then whatever else there is, unless more is asked for than mem0 does."""
    words = validation.check_storable("query", query, limits.QUERY_MAX_CHARS).strip()
    if not words:
        raise InvalidInput("query", "is empty; say what to look for")
    least = validation.parse_fraction("threshold", THRESHOLD if threshold is None else threshold)
    if asked.count == 0:
        return []
    view = view_of(memory, asked.scope)
    found: list[Found] = [
        (one.memory, one.score, one.signals)
        for one in _recalled(view, words, asked, least)
        if asked.matches(one.memory)
    ]
    if asked.show_expired:
        found += _expired(view, words, asked, least)
        found.sort(key=lambda one: -one[1])
    if least <= THRESHOLD and len(found) < asked.count:
        found += _others(view, asked, found, least)
    return [
        shapes.scored(asked.scope, *one, threshold=least if explain else None)
        for one in found[: asked.count]
    ]


def _others(
    view: View | DisabledView, asked: Wanted, found: Sequence[Found], least: float
) -> list[Found]:
    """What recall did not think of, newest first. Any two sentences are a little alike to the
    models that mem0 asks, so that whoever does not ask for more gets what is nearest, and not
    nothing."""
    known = {one.id for one, *_ in found}
    weakest = min([least, *(score for _, score, _ in found)])
    rest = own(view) if asked.show_expired else _heard(view)
    others = (one for one in rest if one.id not in known and asked.matches(one))
    return [(one, weakest, Signals()) for one in islice(others, asked.count - len(found))]


def own(view: View | DisabledView, state: str = ANY_STATE) -> Iterator[Record]:
    """What is theirs and stands or has expired, a page at a time."""
    cursor = None
    while True:
        page = view.browse(Search(state=state), limit=limits.PAGE_MAX_COUNT, cursor=cursor)
        yield from (one for one in page if one.state in STANDING)
        cursor = page.cursor
        if cursor is None:
            return


def _recalled(view: View | DisabledView, query: str, asked: Wanted, least: float) -> list[Recalled]:
    """Where an agent or a run is named, twice: what was moved here from mem0 has them in its data,
    which recall does not look at."""
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


def _heard(view: View | DisabledView) -> Iterator[Record]:
    cursor = None
    while True:
        page = view.list(limit=limits.PAGE_MAX_COUNT, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _expired(view: View | DisabledView, query: str, asked: Wanted, least: float) -> Iterator[Found]:
    """Recall has let go of them: they are found by the share of the question's words they have."""
    sought = set(split_terms(query))
    for one in own(view, State.EXPIRED):
        share = len(sought & set(split_terms(one.content))) / len(sought) if sought else 0.0
        if share > 0 and share >= least and asked.matches(one):
            yield one, share, Signals(words=share)
