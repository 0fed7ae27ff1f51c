"""The steps that were saved or read last, at hand: whether one is still the newest is asked of the
database each time, and that costs less than to fetch it again. Private ones alone."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from sqlalchemy import text

from tacit import limits
from tacit.clock import from_micros
from tacit.records.checkpoints import (
    GraphStep,
    StepValue,
    StepWrite,
    StoredGraphStep,
    dump_compact_json,
)

_OWN = "space_id = :space AND person = :person AND place = '' AND thread = :thread AND ns = :ns"
# What the newest step is told by: two that agree in all of it are the same.
NEWEST = text(
    "SELECT (SELECT identity_rev FROM spaces WHERE space_id = :space), "  # noqa: S608
    "s.id, s.saved_at, s.parent, s.metadata, s.versions, "
    "(SELECT count(*) || ' ' || coalesce(max(saved_at), 0) FROM graph_writes "
    f"WHERE {_OWN} AND step = s.id) "
    "FROM (SELECT id, saved_at, parent, metadata, versions FROM graph_steps "
    f"WHERE {_OWN} ORDER BY id DESC LIMIT 1) AS s"
)
NO_WRITES = "0 0"
Key = tuple[str, str, str, str]  # space, person, thread and namespace
Mark = tuple[str, int, str | None, str, str, str]  # as NEWEST tells it


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    mark: Mark
    saved_at: datetime
    step: GraphStep  # as it was handed in
    values: tuple[StepValue, ...]
    writes: tuple[StepWrite, ...] = ()


class Recent:
    def __init__(self) -> None:
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._lock = Lock()

    def has(self, key: Key) -> bool:
        return key in self._kept

    def find(self, key: Key, mark: Mark) -> StoredGraphStep | None:
        """The step, if it is the one that the database has; else it is let go of."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.mark != mark:
                del self._kept[key]
                return None
        if kept is None:
            return None
        step = kept.step
        return StoredGraphStep(
            step=GraphStep(  # not by `replace`, which takes longer than all the rest
                thread=step.thread,
                ns=step.ns,
                id=step.id,
                parent=step.parent,
                type=step.type,
                data=step.data,
                metadata=json.loads(mark[3]),  # anew: whoever gets it may change it
                versions=step.versions,
                run=step.run,
                saved_at=kept.saved_at,
            ),
            values=kept.values,
            writes=kept.writes,
        )

    def add_saved(
        self, key: Key, step: GraphStep, metadata: str, values: Iterable[StepValue], at: int
    ) -> None:
        """A step that was just written, if all of its values are at hand."""
        kept = self._kept.get(key)
        known = {(one.channel, one.version): one for one in kept.values} if kept else {}
        known |= {(one.channel, one.version): one for one in values}
        pairs = list(step.versions.items())
        if all(pair in known for pair in pairs):
            whole = tuple(known[pair] for pair in pairs)
            mark = (step.id, at, step.parent, metadata, dump_compact_json(step.versions), NO_WRITES)
            kept = _Kept(mark=mark, saved_at=from_micros(at), step=step, values=whole)
            self._put(key, kept)
        else:
            self.remove(key)

    def add_read(self, key: Key, mark: Mark, found: StoredGraphStep) -> None:
        """A step that was just read whole."""
        self._put(
            key,
            _Kept(
                mark=mark,
                saved_at=from_micros(mark[1]),
                step=found.step,
                values=found.values,
                writes=found.writes,
            ),
        )

    def remove(self, key: Key) -> None:
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> bool:
        """After an erasure: what went in the database goes here."""
        with self._lock:
            self._kept.clear()
        return True

    def _put(self, key: Key, kept: _Kept) -> None:
        size = len(kept.step.data) + sum(len(one.data) for one in kept.values)
        size += sum(len(one.data) for one in kept.writes)
        with self._lock:
            self._kept.pop(key, None)
            if size <= limits.STEP_CACHED_MAX_BYTES:
                self._kept[key] = kept
                if len(self._kept) > limits.STEPS_CACHED_MAX_COUNT:
                    self._kept.popitem(last=False)
