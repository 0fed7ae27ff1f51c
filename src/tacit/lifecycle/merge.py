"""Two memories become one, and two again. Nothing is lost: the other stays, superseded, and both
histories tell which run did it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, or_, select, update

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.lifecycle.pairs import Two, numbers, reach_of
from tacit.records.memory import HistoryEvent, Memory, State
from tacit.records.text import split_terms
from tacit.storage import memories, relations, revisions
from tacit.storage.memories import RELATED_TO, Transaction
from tacit.storage.relations import FOREVER, STATED_BY_PERSON, PairCheck
from tacit.storage.schema import history_table, memories_table, relations_table

_M = memories_table.c
_H = history_table.c
_R = relations_table.c
_RUN, _INTO, _OTHER, _UPDATED = "run", "into", "other", "updated"
_FIELDS = ("importance", "pinned", "tags")
_UNDONE = "the merge was undone"
_PAGE_COUNT = 500
# Whoever forgot or erased the one that stayed meant the other as well.
_UNDOABLE = (State.ACTIVE, State.SUPERSEDED, State.EXPIRED)


def stays(pair: Two) -> tuple[Memory, Memory]:
    """Which of two that say the same stays, and which gives way. Nothing of value is worn away by
    it: one with a key stays, then the one that lasts longer, the pinned one, the more important
    one, an older one that says more; otherwise the newer wording."""
    older, newer = pair.older.memory, pair.newer.memory
    if not pair.replaced and _older_stays(older, newer):
        return older, newer
    return newer, older


def _older_stays(older: Memory, newer: Memory) -> bool:
    if (older.key is None) != (newer.key is None):
        return older.key is not None
    if older.expires_at != newer.expires_at:
        return outlasts(older, newer)
    if older.pinned != newer.pinned:
        return older.pinned
    if older.importance != newer.importance:
        return older.importance > newer.importance
    more = len(split_terms(older.content)) > len(split_terms(newer.content))
    return more and numbers(older.content) >= numbers(newer.content)


def outlasts(one: Memory, other: Memory) -> bool:
    """At least as long."""
    if one.expires_at is None or other.expires_at is None:
        return one.expires_at is None
    return one.expires_at >= other.expires_at


def merge(w: Transaction, pair: Two, run: str) -> bool:
    """False where one of them is no longer what was looked at, or they do not belong together: then
    nothing happens. The rows are locked in the order of their ids."""
    now = {id: memories.get_for_update(w, id) for id in pair.key}
    kept, gone = (now[one.id] for one in stays(pair))
    looked_at = {note.id: note.memory.version for note in (pair.older, pair.newer)}
    if kept is None or gone is None or not _mergeable(kept, gone, w.at, replaced=pair.replaced):
        return False
    if any(one.version != looked_at[one.id] for one in (kept, gone)):
        return False
    _take_over(w, kept, gone, run)
    _move_relations(w, kept.id, gone.id)
    left = replace(gone, state=State.SUPERSEDED, superseded_by=kept.id, updated_at=w.at)
    told = {_RUN: run, _INTO: kept.id, _UPDATED: str(to_micros(gone.updated_at))}
    memories.update_fields(w, left, HistoryEvent.MERGE, "superseded", told)
    return True


def may_merge(pair: Two, at: datetime) -> bool:
    """As far as can be told without a look at what they are by now."""
    return _mergeable(*stays(pair), at, replaced=pair.replaced)


def _mergeable(kept: Memory, gone: Memory, at: datetime, *, replaced: bool) -> bool:
    """Two keys have two values, even where these are the same: one with a key never gives way. What
    has data says more than its words."""
    stands = all(
        one.state is State.ACTIVE
        and not one.is_turn
        and not one.inferred
        and one.data is None
        and (one.expires_at is None or one.expires_at > at)
        for one in (kept, gone)
    )
    lasting = replaced or outlasts(kept, gone)
    return stands and lasting and gone.key is None and reach_of(kept) == reach_of(gone)


def enriched(kept: Memory, gone: Memory) -> Memory:
    """The one that stays, with what the other had on top of it: nothing of that says who hears
    it."""
    return replace(
        kept,
        importance=max(kept.importance, gone.importance),
        pinned=kept.pinned or gone.pinned,
        tags=tuple(dict.fromkeys([*kept.tags, *gone.tags]))[: limits.TAGS_MAX_COUNT],
    )


def _take_over(w: Transaction, kept: Memory, gone: Memory, run: str) -> None:
    better = enriched(kept, gone)
    if better != kept:
        better = replace(better, updated_at=w.at)
    before = {name: json.dumps(getattr(kept, name), ensure_ascii=False) for name in _FIELDS}
    told = {_RUN: run, _OTHER: gone.id, _UPDATED: str(to_micros(kept.updated_at)), **before}
    memories.update_fields(w, better, HistoryEvent.MERGE, "merged", told)
    _count_uses(w, kept, gone.access_count, gone.last_accessed_at)


def _count_uses(w: Transaction, kept: Memory, count: int, last: datetime | None) -> None:
    """Uses are counted beside the memory: no cache keeps them."""
    used: dict[str, Any] = {"access_count": max(0, kept.access_count + count)}
    if last is not None and (kept.last_accessed_at is None or last > kept.last_accessed_at):
        used["last_accessed_at"] = to_micros(last)
    which = (_M.space_id == w.space, _M.id == kept.id)
    w.connection.execute(update(memories_table).where(*which).values(**used))


def _move_relations(w: Transaction, kept: str, gone: str) -> None:
    """To the one that stays as well. Those of the other are left: nothing follows them."""
    rows = [
        {**dict(row), "from_id": ends[0], "to_id": ends[1], "created_at": to_micros(w.at)}
        for row in _relations(w.connection, w.space, gone)
        if (ends := _moved(row, kept, gone)) is not None
    ]
    w.dialect.insert_missing(w.connection, relations_table, rows)


def _relations(connection: Connection, space: str, id: str) -> list[Any]:
    touching = or_(_R.from_id == id, _R.to_id == id)
    found = select(relations_table).where(_R.space_id == space, touching)
    return list(connection.execute(found).mappings())


def _moved(row: Any, kept: str, gone: str) -> tuple[str, str] | None:
    ends = tuple(kept if end == gone else end for end in (row["from_id"], row["to_id"]))
    if ends[0] == ends[1]:
        return None
    if row["relation_type"] == RELATED_TO:
        return min(ends), max(ends)
    return ends[0], ends[1]


# Undoing


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    kept: str
    gone: str
    updated_at: datetime  # when the one that is gone had last changed before


def merged_in(connection: Connection, space: str, run: str) -> dict[str, list[Merged]]:
    """What a run merged and nothing has taken back yet, by the id of what stayed."""
    found: defaultdict[str, list[Merged]] = defaultdict(list)
    after = ""
    while True:
        page = (
            select(_M.id)
            .where(_M.space_id == space, _M.superseded_by.is_not(None), _M.id > after)
            .order_by(_M.id)
            .limit(_PAGE_COUNT)
        )
        ids = list(connection.execute(page).scalars())
        events = select(_H.memory_id, _H.detail).where(
            _H.space_id == space, _H.memory_id.in_(ids), _H.event == HistoryEvent.MERGE.value
        )
        for id, detail in connection.execute(events) if ids else ():
            told = json.loads(detail)
            if told.get(_RUN) == run and _INTO in told:
                was = from_micros(int(told[_UPDATED]))
                found[told[_INTO]].append(Merged(kept=told[_INTO], gone=id, updated_at=was))
        if len(ids) < _PAGE_COUNT:
            return found
        after = ids[-1]


def outermost_first(merged: Mapping[str, Sequence[Merged]]) -> list[str]:
    """What stayed, and before it whatever it gave way to itself later on in the same run."""
    into = {one.gone: kept for kept, some in merged.items() for one in some}

    def depth(id: str) -> int:
        steps = 0
        while id in into and steps <= len(into):
            id, steps = into[id], steps + 1
        return steps

    return sorted(merged, key=lambda id: (depth(id), id))


def undo(w: Transaction, run: str, kept_id: str, merged: Sequence[Merged]) -> int:
    """What gave way to one memory in a run stands again, as it was; and that memory is as it was,
    unless somebody changed it since. Says how many stand again."""
    held = {
        id: memories.get_for_update(w, id)
        for id in sorted({kept_id, *(one.gone for one in merged)})
    }
    kept = held[kept_id]
    if kept is None or kept.state not in _UNDOABLE:
        return 0
    back = 0
    for one in merged:
        gone = held[one.gone]
        if gone is None or not _as_it_was_left(w, gone, kept_id, run):
            continue
        _stand_again(w, one, gone, run)
        _unmove_relations(w, kept_id, one.gone)
        counted = memories.get_for_update(w, kept_id)
        assert counted is not None
        _count_uses(w, counted, -gone.access_count, None)
        back += 1
    if back and back == len(merged):
        _give_back(w, kept, run)
    if back:
        revisions.restamp_memories(w.connection, w.space, [kept_id])
    return back


def _as_it_was_left(w: Transaction, gone: Memory, kept: str, run: str) -> bool:
    if gone.state is not State.SUPERSEDED or gone.superseded_by != kept:
        return False
    return not _changed_since(_history(w, gone.id), run)


def _stand_again(w: Transaction, one: Merged, gone: Memory, run: str) -> None:
    back = replace(gone, state=State.ACTIVE, superseded_by=None, updated_at=one.updated_at)
    memories.update_fields(
        replace(w, why=_UNDONE), back, HistoryEvent.RESTORE, "restored", {_RUN: run}
    )
    # The next run would find the same again.
    check = PairCheck(similarity=STATED_BY_PERSON, is_same=False, checked_at=w.at + FOREVER)
    relations.save_pair_checks(w, {relations.pair_key(one.kept, one.gone): check})


def _unmove_relations(w: Transaction, kept: str, gone: str) -> None:
    """Those that came with it: they were made when the two were merged."""
    merged_at = select(_H.at).where(
        _H.space_id == w.space, _H.memory_id == gone, _H.event == HistoryEvent.MERGE.value
    )
    moments = list(w.connection.execute(merged_at).scalars())
    for row in _relations(w.connection, w.space, gone):
        ends = _moved(row, kept, gone)
        if ends is not None:
            w.connection.execute(
                delete(relations_table).where(
                    _R.space_id == w.space,
                    _R.from_id == ends[0],
                    _R.to_id == ends[1],
                    _R.relation_type == row["relation_type"],
                    _R.created_at.in_(moments),
                )
            )


def _give_back(w: Transaction, kept: Memory, run: str) -> None:
    events = _history(w, kept.id)
    if _changed_since(events, run):
        return
    before = next(told for told in events if told.get(_RUN) == run and _OTHER in told)
    was = {name: json.loads(before[name]) for name in _FIELDS}
    as_before = replace(
        kept,
        importance=was["importance"],
        pinned=was["pinned"],
        tags=tuple(was["tags"]),
        updated_at=from_micros(int(before[_UPDATED])),
    )
    memories.update_fields(
        replace(w, why=_UNDONE), as_before, HistoryEvent.UPDATE, "updated", {_RUN: run}
    )


def _history(w: Transaction, id: str) -> list[dict[str, str]]:
    found = select(_H.detail).where(_H.space_id == w.space, _H.memory_id == id).order_by(_H.seq)
    return [json.loads(detail) for detail in w.connection.execute(found).scalars()]


def _changed_since(events: Iterable[dict[str, str]], run: str) -> bool:
    """Whether anything but the run, and its undoing, happened to a memory since the run."""
    began = False
    for told in events:
        began = began or told.get(_RUN) == run
        if began and told.get(_RUN) != run:
            return True
    return False
