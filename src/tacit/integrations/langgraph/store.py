"""LangGraph's store: each item is a memory with a key, owned by the person of the run."""

from __future__ import annotations

import asyncio
import json
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Unpack
from urllib.parse import quote

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import Conflict, InvalidInput, MissingExtra, NotFound
from tacit.integrations.langgraph.views import ViewSource, require_view_source, resolve_view
from tacit.memory import View
from tacit.records import drafts, validation
from tacit.records.drafts import Draft, MemoryFields
from tacit.records.memory import Memory, Sensitivity, Visibility

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition


try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's store") from None

# An item as a memory, and back. The memory's key is the labels of the namespace joined by "/", then
# "//" and the item's key, as in `users/1//prefs`. The value is the memory's data; its content is
# made from the value, for people and for recall.

Namespace = tuple[str, ...]
Index = Literal[True, False] | tuple[str, ...]  # index the whole value, nothing, or these fields
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # not allowed in keys
_PLAIN_LABEL = re.compile(r"[\w@:;,+=~()$&!*'-]*", re.ASCII)
_KEPT_CONTROLS = "\n\t"  # control characters that the content keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """An item and its memory."""

    memory: Memory
    namespace: Namespace
    key: str
    value: dict[str, Any]
    index: Index
    ttl_minutes: float | None
    updated_at: datetime  # of the last put; reads do not change it


def parse_item(memory: Memory) -> StoredItem | None:
    """Return the item, or None for a memory that the store did not write."""
    data = memory.data
    if data is None:
        return None
    try:
        found = StoredItem(
            memory=memory,
            namespace=tuple(map(str, data["namespace"])),
            key=str(data["key"]),
            value=dict(data["value"]),
            index=parse_index(data["index"]),
            ttl_minutes=parse_ttl_minutes(data["ttl_minutes"]),
            updated_at=max(memory.created_at, datetime.fromisoformat(data["updated_at"])),
        )
        return found if memory.key == item_key(found.namespace, found.key) else None
    except (LookupError, TypeError, ValueError):
        return None


def make_item_data(
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any],
    *,
    index: Index,
    ttl_minutes: float | None,
    updated_at: datetime,
) -> dict[str, Any]:
    return {
        "namespace": list(namespace),
        "key": key,
        "value": dict(value),
        "index": index if isinstance(index, bool) else list(index),
        "ttl_minutes": ttl_minutes,
        "updated_at": updated_at.isoformat(),
    }


def item_key(namespace: Namespace, key: str) -> str:
    """Return the memory's key, which is unique to an item whatever characters its names have."""
    whole = f"{key_prefix(namespace)}/{_escape_label(key)}"
    if len(whole) > limits.KEY_MAX_CHARS:
        raise InvalidInput(
            "key",
            f"is {len(whole):,} characters long with its namespace; at most "
            f"{limits.KEY_MAX_CHARS} are allowed: shorten one of them",
        )
    return whole


def key_prefix(namespace: Namespace) -> str:
    """Return the prefix of all keys in a namespace and the namespaces within it."""
    return "".join(f"{_escape_label(label)}/" for label in namespace)


def _escape_label(label: str) -> str:
    """Percent-encode what a key may not contain: invisible characters, other than NFC, outer space."""
    if _PLAIN_LABEL.fullmatch(label):
        return label
    plain = unicodedata.normalize("NFC", label) == label and not unicodedata.combining(label[0])
    inner = label.strip()
    begin = len(label) - len(label.lstrip())
    within = range(begin, begin + len(inner))
    return "".join(
        char
        if at in within and char not in "%/" and _is_visible(char) and (plain or char.isascii())
        else quote(char, safe="", errors="surrogatepass")
        for at, char in enumerate(label)
    )


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _INVISIBLE


def parse_index(given: object) -> Index:
    if isinstance(given, bool):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        fields: list[object] = list(given)
        if all(isinstance(one, str) for one in fields):
            return tuple(map(str, fields))
    raise InvalidInput(
        "index", 'takes True, False or a list of fields such as ["text"]; embeddings are a setting of the memory'
    )


def parse_ttl_minutes(ttl: object) -> float | None:
    if ttl is None:
        return None
    plain = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    if not plain or not 0 < ttl <= limits.ITEM_TTL_MAX_MINUTES:  # type: ignore[operator]
        raise InvalidInput("ttl", "must be minutes, more than 0 and at most a hundred years")
    return float(ttl)  # type: ignore[arg-type]


def item_content(namespace: Namespace, key: str, value: Mapping[str, Any], index: Index) -> str:
    """Return the memory's content: what people read and recall searches."""
    if index is True:
        found = "\n".join(_format_field(name, one) for name, one in value.items() if one is not None)
    elif index is False:
        found = ""
    else:
        found = "\n".join(text for path in index for text in get_text_at_path(value, path))
    shown = "".join(c if c in _KEPT_CONTROLS or unicodedata.category(c) != "Cc" else " " for c in found)
    if not any(not c.isspace() and _is_visible(c) for c in shown):
        return f"{_escape_label(key)} in {key_prefix(namespace)}"
    if len(shown) > limits.CONTENT_MAX_CHARS:
        shown = shown[: limits.CONTENT_MAX_CHARS - 1] + "…"
    return shown


def _format_field(name: str, value: object) -> str:
    return f"{name}: {_format_value(value)}"


def _format_value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(_format_field(str(name), one) for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    return json.dumps(value)


# LangGraph's filters of values and patterns of namespaces.

_ORDER_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER_OPERATORS)


def parse_filter(wanted: object) -> Mapping[str, Any]:
    """Check a filter, so that it can be applied to any value."""
    if wanted is None:
        return {}
    if not isinstance(wanted, Mapping):
        raise InvalidInput("filter", 'expected an object, such as {"status": "open"}')
    _check_filter(wanted, limits.DATA_DEPTH_MAX_COUNT)
    return wanted


def _check_filter(wanted: object, depth: int) -> None:
    """Raise InvalidInput for unknown operators, or if it is nested deeper than any value."""
    if not isinstance(wanted, Mapping | list | tuple):
        return
    if depth == 0:
        most = limits.DATA_DEPTH_MAX_COUNT
        raise InvalidInput("filter", f"is nested deeper than {most} levels")
    if isinstance(wanted, Mapping):
        if not all(isinstance(name, str) for name in wanted):
            raise InvalidInput("filter", "has a name that is not text")
        if _has_operators(wanted):
            if not wanted.keys() <= set(_OPERATORS):
                raise InvalidInput("filter", f"unknown operator; use one of {', '.join(_OPERATORS)}")
            return  # operands are not checked
    for one in wanted.values() if isinstance(wanted, Mapping) else wanted:
        _check_filter(one, depth - 1)


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_matches_value(_get_by_path(value, name), one) for name, one in wanted.items())


def _get_by_path(value: Any, name: str) -> Any:
    """Get a field by name or by a path such as `user.city`."""
    if not isinstance(value, Mapping):
        return None
    first, dot, rest = name.partition(".")
    if name in value or not dot:
        return value.get(name)
    return _get_by_path(value.get(first), rest)


def _matches_value(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return all(_compare_values(value, name, other) for name, other in wanted.items())
        return isinstance(value, Mapping) and matches_filter(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(_matches_value(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _has_operators(wanted: Mapping[str, Any]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _compare_values(value: Any, name: str, other: Any) -> bool:
    """Apply an operator; values without an order, such as a number and a list, do not match."""
    if name == "$eq":
        return bool(value == other)
    if name == "$ne":
        return bool(value != other)
    if isinstance(value, str) and isinstance(other, str):
        return _ORDER_OPERATORS[name](value, other)
    try:
        return _ORDER_OPERATORS[name](float(value), float(other))
    except (TypeError, ValueError, OverflowError):
        return False


def matches_namespace(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInput("match_conditions", "expected prefix or suffix")
    if len(namespace) < len(path):
        return False
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    part = namespace[start : start + len(path)]
    return all(label in ("*", one) for one, label in zip(part, path, strict=True))


def common_prefix(conditions: tuple[MatchCondition, ...]) -> Namespace:
    """Return the labels that all matching namespaces start with."""
    for condition in conditions:
        if condition.match_type == "prefix":
            upto = condition.path.index("*") if "*" in condition.path else len(condition.path)
            return tuple(condition.path[:upto])
    return ()


class ItemCollection:
    """The items of a view, its person's own or the group's, for one batch of operations.

    Visible memories of other people are left out: under a key that its person never set, a program
    must not find another person's value.
    """

    def __init__(self, view: View, category: str, *, of_room: bool) -> None:
        self.view, self.category, self._of_room = view, category, of_room
        self._own: dict[str, bool] = {}

    def find(self, namespace: Namespace, key: str) -> StoredItem | None:
        where = item_key(namespace, key)
        if self._of_room:
            found = (one for one in self._pages(where) if one.key == where and one.owner is None)
            memory = next(found, None)
        else:
            memory = self.view.get(self.category, where)
        return None if memory is None else parse_item(memory)

    def forget(self, namespace: Namespace, key: str) -> None:
        if not self._of_room:
            self.view.forget_key(self.category, item_key(namespace, key))
            return
        found = self.find(namespace, key)
        if found is not None:
            with suppress(NotFound):  # deleted at the same time
                self.view.forget(found.memory.id)

    def newest(self, namespace: Namespace, count: int | None = None) -> Iterator[StoredItem]:
        """Yield items of a namespace and those within it; `count` is a hint for the page size.

        Of two items with the same key, from two groups, only the newer is reachable.
        """
        seen: set[str | None] = set()
        for memory in self._pages(key_prefix(namespace), count):
            item = parse_item(memory) if self._is_own(memory) else None
            if item is not None and memory.key not in seen:
                seen.add(memory.key)
                yield item

    def like(self, query: str, namespace: Namespace, count: int) -> Iterator[tuple[StoredItem, float]]:
        """Yield recalled items with their scores, strongest first."""
        most = min(limits.RECALL_MAX_COUNT, max(limits.ITEMS_RECALLED_MIN_COUNT, 4 * count))
        seen: set[str | None] = set()
        start = key_prefix(namespace)
        while True:
            found = self.view.recall(query, top_k=most, categories=[self.category])
            for one in found:
                memory = one.memory
                if memory.key in seen or not (memory.key or "").startswith(start):
                    continue
                item = parse_item(memory) if self._is_own(memory) else None
                if item is not None and item.index is not False:
                    seen.add(memory.key)
                    yield item, one.score
            if len(found) < most or most == limits.RECALL_MAX_COUNT:
                return
            most = limits.RECALL_MAX_COUNT

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
                    "namespace", f"has more than {limits.ITEMS_SCANNED_MAX_COUNT:,} items to scan; name a narrower one"
                )

    def _is_own(self, memory: Memory) -> bool:
        if memory.key is None:
            return False
        if memory.owner is None or self._of_room:
            return memory.owner is None and self._of_room
        if memory.owner not in self._own:
            # `get` returns only the person's own values, so this shows whether the owner is them.
            mine = self.view.get(self.category, memory.key)
            self._own[memory.owner] = mine is not None and mine.id == memory.id
        return self._own[memory.owner]


_RESERVED_FIELDS = ("data", "expires_at")  # fields of a memory that the store sets itself
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # replaces an earlier expiry
_REFRESH_MIN_FRACTION = 0.1  # of the TTL: an item that is read often is not written often


@dataclass(frozen=True, slots=True)
class _CheckedPut:
    """A put whose item was validated. Without content it deletes the item."""

    op: PutOp
    content: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Store(BaseStore):
    """A LangGraph store: items are memories, visible exactly where such memories are.

    `view` is a `memory.view(…)`, or a function that makes one from the config of the run. `index`
    says what of a value recall finds: all of it, nothing, or some fields. Further fields, such as
    `visibility`, are those of `view.put`, for every item. With `for_room=True` and
    `sensitivity="public"` the group owns the items instead of the person.
    """

    supports_ttl = True

    def __init__(
        self,
        view: ViewSource,
        *,
        category: str = "item",
        index: bool | Iterable[str] = True,
        ttl: TTLConfig | None = None,
        clock: Clock = system_clock,
        **fields: Unpack[MemoryFields],
    ) -> None:
        require_view_source(view)
        for name in _RESERVED_FIELDS:
            if name in fields:
                raise InvalidInput(name, "is set by the store; use ttl for an expiry")
        _require_room_visibility(drafts.parse_draft(dict(fields), ()))
        self._view_source, self._clock = view, clock
        self._category = validation.parse_identifier("category", category, limits.CATEGORY_MAX_CHARS)
        self._index = parse_index(index)
        self._fields = fields
        self.ttl_config = _check_ttl_config(ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see the state before, and of two puts to one key the last wins."""
        operations = list(ops)
        for op in operations:
            validate_op_namespace(op)
        puts = self._puts(operations)
        view = resolve_view(self._view_source)
        of_room = bool(self._fields.get("for_room"))
        items = ItemCollection(view, self._category, of_room=of_room)
        results = [self._answer(items, op) for op in operations]
        for put in puts:
            self._write(items, put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, ops)

    def _answer(self, items: ItemCollection, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = items.find(op.namespace, str(op.key))
            if found is None:
                return None
            return Item(**_item_fields(self._read(items, found, op.refresh_ttl)))
        if isinstance(op, SearchOp):
            return [
                SearchItem(**_item_fields(self._read(items, one, op.refresh_ttl)), score=score)
                for one, score in self._search(items, op)
            ]
        if isinstance(op, ListNamespacesOp):
            return _list_namespaces(items, op)
        return None

    def _search(self, items: ItemCollection, op: SearchOp) -> list[tuple[StoredItem, float | None]]:
        wanted = parse_filter(op.filter)
        limit = validation.parse_int("limit", op.limit, 0, limits.ITEMS_FOUND_MAX_COUNT)
        skipped = validation.parse_int("offset", op.offset, 0, limits.REVISION_MAX)
        if limit == 0:
            return []
        found: list[tuple[StoredItem, float | None]] = []
        if op.query:
            ranked = items.like(op.query, op.namespace_prefix, skipped + limit)
            fitting = ((one, score) for one, score in ranked if matches_filter(one.value, wanted))
            found = list(islice(fitting, skipped + limit))
        known = {one.memory.id for one, _ in found}
        rest = (
            (one, None)
            for one in items.newest(op.namespace_prefix, skipped + limit)
            if one.memory.id not in known and matches_filter(one.value, wanted)
        )
        # Items that recall does not find come last.
        found += islice(rest, skipped + limit - len(found))
        return found[skipped:]

    def _puts(self, ops: Iterable[Op]) -> list[_CheckedPut]:
        """Validate all puts before any is written; one without a value deletes the item."""
        last: dict[tuple[Namespace, str], _CheckedPut] = {}
        for op in ops:
            if isinstance(op, PutOp):
                if not op.namespace:
                    raise InvalidInput("namespace", "is empty; name at least one label")
                item_key(op.namespace, str(op.key))
                put = _CheckedPut(op) if op.value is None else self._check_put(op)
                last[tuple(op.namespace), str(op.key)] = put
            elif not isinstance(op, GetOp | SearchOp | ListNamespacesOp):
                raise InvalidInput("ops", f"a {type(op).__name__} is not an operation of a store")
        return list(last.values())

    def _check_put(self, op: PutOp) -> _CheckedPut:
        if not isinstance(op.value, Mapping):
            raise InvalidInput("value", 'expected an object, such as {"text": "…"}')
        namespace, key, ttl = tuple(op.namespace), str(op.key), parse_ttl_minutes(op.ttl)
        index = self._index if op.index is None else parse_index(op.index)
        validation.parse_screened_identifier("key", item_key(namespace, key), limits.KEY_MAX_CHARS)
        whole = make_item_data(namespace, key, op.value, index=index, ttl_minutes=ttl, updated_at=self._clock())
        data = validation.parse_data(whole)
        content = item_content(namespace, key, data["value"], index)
        return _CheckedPut(op, validation.parse_content(content, "value"), data)

    def _write(self, items: ItemCollection, put: _CheckedPut) -> None:
        namespace, key, ttl = tuple(put.op.namespace), str(put.op.key), put.data.get("ttl_minutes")
        if put.content is None:
            items.forget(namespace, key)
            return
        before = items.find(namespace, key)
        fields: MemoryFields = {**self._fields, "data": put.data}
        if before is not None and _is_unchanged(before, put):
            stamp = (before.memory.data or {})["updated_at"]
            fields["data"] = {**put.data, "updated_at": stamp}
        if ttl is not None:
            fields["expires_at"] = self._clock() + timedelta(minutes=ttl)
        elif before is not None and before.memory.expires_at is not None:
            fields["expires_at"] = _NEVER
        items.view.put(self._category, item_key(namespace, key), put.content, **fields)

    def _read(self, items: ItemCollection, found: StoredItem, refresh: bool) -> StoredItem:
        """Extend the TTL on a read, unless the person may not change the item or it has changed."""
        memory = found.memory
        if not refresh or found.ttl_minutes is None or memory.expires_at is None:
            return found
        lasts = timedelta(minutes=found.ttl_minutes)
        until = self._clock() + lasts
        if until - memory.expires_at >= lasts * _REFRESH_MIN_FRACTION:
            with suppress(NotFound, Conflict, InvalidInput):
                items.view.update(memory.id, if_version=memory.version, expires_at=until)
        return found


def _require_room_visibility(fields: Draft) -> None:
    """Refuse group items that members cannot see: they would overwrite each other's unseen."""
    if not fields.for_room:
        return
    if fields.sensitivity is not Sensitivity.PUBLIC:
        raise InvalidInput(
            "for_room",
            'items of a group also need sensitivity="public": others are shown in the group only '
            "to their speaker, so members would not read each other's",
        )
    if fields.visibility is Visibility.PRIVATE_ONLY:
        raise InvalidInput("for_room", "is for items that a group sees: leave visibility out")


def _is_unchanged(before: StoredItem, put: _CheckedPut) -> bool:
    index = parse_index(put.data["index"])
    return before.index == index and validation.is_same_json(before.value, put.data["value"])


def _list_namespaces(items: ItemCollection, op: ListNamespacesOp) -> list[Namespace]:
    limit = validation.parse_int("limit", op.limit, 0, limits.ITEMS_FOUND_MAX_COUNT)
    skipped = validation.parse_int("offset", op.offset, 0, limits.REVISION_MAX)
    conditions = op.match_conditions or ()
    found = {
        item.namespace
        for item in items.newest(common_prefix(conditions))
        if all(matches_namespace(item.namespace, one) for one in conditions)
    }
    if op.max_depth is not None:
        depth = validation.parse_int("max_depth", op.max_depth, 1, limits.REVISION_MAX)
        found = {one[:depth] for one in found}
    return sorted(found)[skipped : skipped + limit]


def _item_fields(found: StoredItem) -> dict[str, Any]:
    return {
        "namespace": found.namespace,
        "key": found.key,
        "value": found.value,
        "created_at": found.memory.created_at,
        "updated_at": found.updated_at,
    }


def _check_ttl_config(ttl: TTLConfig | None) -> TTLConfig | None:
    if ttl is None:
        return None
    known = TTLConfig.__optional_keys__ | TTLConfig.__required_keys__
    given: object = ttl
    if not isinstance(given, Mapping) or not known >= set(given):
        raise InvalidInput("ttl", f"takes an object with {', '.join(sorted(known))}")
    if ttl.get("omit_expired") is False:
        raise InvalidInput("ttl", "omit_expired cannot be false: expired items are never returned")
    parse_ttl_minutes(ttl.get("default_ttl"))
    return ttl
