"""A LangGraph store over views: what a graph puts there is a memory of the person it runs for, and
is heard exactly where such a memory is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Unpack

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import Conflict, InvalidInput, MissingExtra, NotFound
from tacit.records import drafts, validation
from tacit.records.drafts import Draft, MemoryFields
from tacit.records.memory import Sensitivity, Visibility
from tacit.surfaces.langgraph import items, matching
from tacit.surfaces.langgraph.holding import Holding
from tacit.surfaces.langgraph.items import Namespace, Stored
from tacit.surfaces.langgraph.whose import Whose, required, view_of

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
        validate_op_namespace,
    )
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's store") from None

_OURS = ("data", "expires_at")  # of a memory's fields: they say what the item is, and its time
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # in place of a time that an item had before
_REFRESHED_SHARE = 0.1  # of its time: an item that is read all the time is not written all the time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Put:
    """An item as it is to be kept, checked."""

    namespace: Namespace
    key: str
    item_key: str  # the key of its memory
    words: str
    data: dict[str, Any]
    ttl: float | None


class Store(BaseStore):
    """`view` is one of `memory.view(…)`, or a function that makes one of the config of the run.
    `index` says what of a value is found by a question: all of it, nothing, or some fields. Further
    fields, such as `visibility`, are those that `view.put` takes, for every item; with
    `for_room=True` and `sensitivity="public"` the items are those of the room, in place of the
    person's."""

    supports_ttl = True

    def __init__(
        self,
        view: Whose,
        *,
        category: str = "item",
        index: bool | Iterable[str] = True,
        ttl: TTLConfig | None = None,
        clock: Clock = system_clock,
        **fields: Unpack[MemoryFields],
    ) -> None:
        required(view)
        for name in _OURS:
            if name in fields:
                raise InvalidInput(name, "is the store's to say; for a time there is ttl")
        _require_heard(drafts.parse_draft(dict(fields), ()))
        self._view_source, self._clock = view, clock
        self._category = validation.parse_identifier(
            "category", category, limits.CATEGORY_MAX_CHARS
        )
        self._index = items.index_of(index)
        self._fields = fields
        self.ttl_config = _checked(ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before; of two puts to one place the last one counts."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        puts = self._puts(asked)
        view = view_of(self._view_source)
        of_room = bool(self._fields.get("for_room"))
        holding = Holding(view, self._category, of_room=of_room)
        results = [self._answer(holding, op) for op in asked]
        for put in puts:
            self._write(holding, put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, ops)

    def _answer(self, holding: Holding, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = holding.find(op.namespace, str(op.key))
            return None if found is None else _item(self._read(holding, found, op.refresh_ttl))
        if isinstance(op, SearchOp):
            return [
                _search_item(self._read(holding, one, op.refresh_ttl), score)
                for one, score in self._search(holding, op)
            ]
        if isinstance(op, ListNamespacesOp):
            return _namespaces(holding, op)
        return None

    def _search(self, holding: Holding, op: SearchOp) -> list[tuple[Stored, float | None]]:
        wanted = matching.checked(op.filter)
        limit = validation.parse_int("limit", op.limit, 0, limits.ITEMS_FOUND_MAX_COUNT)
        skipped = validation.parse_int("offset", op.offset, 0, limits.REVISION_MAX)
        if limit == 0:
            return []
        found: list[tuple[Stored, float | None]] = []
        if op.query:
            ranked = holding.like(op.query, op.namespace_prefix, skipped + limit)
            fitting = ((one, score) for one, score in ranked if matching.fits(one.value, wanted))
            found = list(islice(fitting, skipped + limit))
        known = {one.memory.id for one, _ in found}
        rest = (
            (one, None)
            for one in holding.newest(op.namespace_prefix, skipped + limit)
            if one.memory.id not in known and matching.fits(one.value, wanted)
        )
        # What no question leads to comes after all that one does.
        found += islice(rest, skipped + limit - len(found))
        return found[skipped:]

    def _puts(self, ops: Iterable[Op]) -> list[_Put | PutOp]:
        """All of them checked before any is written; one without a value takes an item away."""
        last: dict[tuple[Namespace, str], _Put | PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                if not op.namespace:
                    raise InvalidInput("namespace", "is empty; name at least one label")
                items.place(op.namespace, str(op.key))
                last[tuple(op.namespace), str(op.key)] = op if op.value is None else self._put(op)
            elif not isinstance(op, GetOp | SearchOp | ListNamespacesOp):
                raise InvalidInput("ops", f"a {type(op).__name__} is no operation of a store")
        return list(last.values())

    def _put(self, op: PutOp) -> _Put:
        if not isinstance(op.value, Mapping):
            raise InvalidInput("value", 'expected an object, such as {"text": "…"}')
        namespace, key, ttl = tuple(op.namespace), str(op.key), items.minutes(op.ttl)
        index = self._index if op.index is None else items.index_of(op.index)
        place = validation.parse_screened_identifier(
            "key", items.place(namespace, key), limits.KEY_MAX_CHARS
        )
        at = self._clock()
        whole = items.data_of(namespace, key, op.value, index=index, ttl_minutes=ttl, updated_at=at)
        data = validation.parse_data(whole)
        words = validation.parse_content(items.words(namespace, key, data["value"], index), "value")
        return _Put(namespace=namespace, key=key, item_key=place, words=words, data=data, ttl=ttl)

    def _write(self, holding: Holding, put: _Put | PutOp) -> None:
        if isinstance(put, PutOp):
            holding.forget(put.namespace, str(put.key))
            return
        before = holding.find(put.namespace, put.key)
        fields: MemoryFields = {**self._fields, "data": put.data}
        if before is not None and _says_the_same(before, put):
            stamp = (before.memory.data or {})["updated_at"]
            fields["data"] = {**put.data, "updated_at": stamp}
        if put.ttl is not None:
            fields["expires_at"] = self._clock() + timedelta(minutes=put.ttl)
        elif before is not None and before.memory.expires_at is not None:
            fields["expires_at"] = _NEVER
        holding.view.put(self._category, put.item_key, put.words, **fields)

    def _read(self, holding: Holding, found: Stored, refresh: bool) -> Stored:
        """Its time begins again. It is left where it is not this person's to change, or is another
        one by now."""
        memory = found.memory
        if not refresh or found.ttl_minutes is None or memory.expires_at is None:
            return found
        lasts = timedelta(minutes=found.ttl_minutes)
        until = self._clock() + lasts
        if until - memory.expires_at >= lasts * _REFRESHED_SHARE:
            with suppress(NotFound, Conflict, InvalidInput):
                holding.view.update(memory.id, if_version=memory.version, expires_at=until)
        return found


def _require_heard(fields: Draft) -> None:
    """What members do not hear they would replace unseen, each the other's."""
    if not fields.for_room:
        return
    if fields.sensitivity is not Sensitivity.PUBLIC:
        raise InvalidInput(
            "for_room",
            'the items of a group need sensitivity="public", too: what is not public is told there '
            "to whoever said it alone, so that members would not read each other's",
        )
    if fields.visibility is Visibility.PRIVATE_ONLY:
        raise InvalidInput("for_room", "is for items that a group hears: leave visibility out")


def _says_the_same(before: Stored, put: _Put) -> bool:
    """Then nothing of it changes, and it is as old as it was."""
    index = items.index_of(put.data["index"])
    return before.index == index and validation.is_same_json(before.value, put.data["value"])


def _namespaces(holding: Holding, op: ListNamespacesOp) -> list[Namespace]:
    limit = validation.parse_int("limit", op.limit, 0, limits.ITEMS_FOUND_MAX_COUNT)
    skipped = validation.parse_int("offset", op.offset, 0, limits.REVISION_MAX)
    conditions = op.match_conditions or ()
    found = {
        item.namespace
        for item in holding.newest(matching.begins_with(conditions))
        if all(matching.matches(item.namespace, one) for one in conditions)
    }
    if op.max_depth is not None:
        depth = validation.parse_int("max_depth", op.max_depth, 1, limits.REVISION_MAX)
        found = {one[:depth] for one in found}
    return sorted(found)[skipped : skipped + limit]


def _item(found: Stored) -> Item:
    return Item(
        value=found.value,
        key=found.key,
        namespace=found.namespace,
        created_at=found.memory.created_at,
        updated_at=found.updated_at,
    )


def _search_item(found: Stored, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=found.namespace,
        key=found.key,
        value=found.value,
        created_at=found.memory.created_at,
        updated_at=found.updated_at,
        score=score,
    )


def _checked(ttl: TTLConfig | None) -> TTLConfig | None:
    if ttl is None:
        return None
    known = TTLConfig.__optional_keys__ | TTLConfig.__required_keys__
    given: object = ttl
    if not isinstance(given, Mapping) or not known >= set(given):
        raise InvalidInput("ttl", f"takes an object with {', '.join(sorted(known))}")
    if ttl.get("omit_expired") is False:
        raise InvalidInput("ttl", "omit_expired cannot be false: what is past its time is not told")
    items.minutes(ttl.get("default_ttl"))
    return ttl
