"""Writing a graph's steps: a step with the values that changed in it, and what its tasks wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select, text

from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.identity.resolution import RawRequest
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite, dump_compact_json
from tacit.store import audiences as listeners
from tacit.store import graph_reads, rendered
from tacit.store.core import Store
from tacit.store.rendered import Step, inserting
from tacit.store.tables import graph_steps, graph_values, graph_writes
from tacit.store.writes import Writing

_KEYED = "space_id, person, place, thread, ns"
_ADD_STEP = text(
    inserting(graph_steps).text
    + f" ON CONFLICT ({_KEYED}, id) DO UPDATE SET parent = excluded.parent, "
    "type = excluded.type, run = excluded.run, heard = excluded.heard, "
    "categories = excluded.categories, saved_at = excluded.saved_at, "
    "metadata = excluded.metadata, versions = excluded.versions, data = excluded.data"
)
# A version has one value, but for graphs that count theirs from one: then each of those who may
# not read each other's has their own, the newest.
_ADD_VALUE = text(
    inserting(graph_values).text
    + f" ON CONFLICT ({_KEYED}, channel, version) DO UPDATE SET type = excluded.type, "
    "heard = excluded.heard, categories = excluded.categories, "
    "saved_at = excluded.saved_at, data = excluded.data "
    "WHERE graph_values.heard IS DISTINCT FROM excluded.heard "
    "OR graph_values.categories IS DISTINCT FROM excluded.categories"
)
_ADD_WRITE = inserting(graph_writes).text + f" ON CONFLICT ({_KEYED}, step, task, idx) DO "
_KEEP_WRITE = text(_ADD_WRITE + "NOTHING")
_REPLACE_WRITE = text(
    _ADD_WRITE + "UPDATE SET path = excluded.path, channel = excluded.channel, "
    "type = excluded.type, heard = excluded.heard, categories = excluded.categories, "
    "saved_at = excluded.saved_at, data = excluded.data"
)
_UNCHANGED = text("SELECT 1 FROM spaces WHERE space_id = :space AND identity_rev = :rev")
_S = graph_steps.c
_SEALS = select(_S.heard).where(
    _S.space_id == bindparam("space"),
    _S.person.in_(bindparam("mine", expanding=True)),
    _S.place.in_(bindparam("places", expanding=True)),
    _S.thread == bindparam("thread"),
    _S.ns == bindparam("ns"),
)
_SEAL = _SEALS.where(_S.id == bindparam("id"))
_NEWEST_SEAL = _SEALS.order_by(_S.id.desc()).limit(1)
_WITHIN = "|"  # between the names of a graph and of one within it, as LangGraph writes them
Rows = Callable[[Mapping[str, Any]], list[Step]]


@dataclass(frozen=True, slots=True, kw_only=True)
class To:
    """Where something is written."""

    thread: str
    ns: str
    parent: str | None  # the step that it goes on from
    categories: str | None  # JSON list of those that whoever writes may use; None: all


def step_rows(
    same: Mapping[str, Any], step: GraphStep, metadata: str, values: Iterable[StepValue]
) -> list[Step]:
    """In one go, so that a step is there with its values or not at all. `same`: what all of its
    rows have."""
    row = {
        **same,
        "id": step.id,
        "parent": step.parent,
        "type": step.type,
        "run": step.run,
        "metadata": metadata,
        "versions": dump_compact_json(step.versions),
        "data": step.data,
    }
    found: list[Step] = [(_ADD_STEP, row)]
    # Each once: PostgreSQL writes them all at the same moment.
    for one in {(one.channel, one.version): one for one in values}.values():
        value = {
            **same,
            "channel": one.channel,
            "version": one.version,
            "type": one.type,
            "data": one.data,
        }
        found.append((_ADD_VALUE, value))
    return found


def write_rows(
    same: Mapping[str, Any], id: str, writes: Sequence[StepWrite], replace: bool
) -> list[Step]:
    """`id`: of a step, which may still be on its way. `replace`: what a task wrote there before
    under the same numbers; otherwise that stays."""
    statement = _REPLACE_WRITE if replace else _KEEP_WRITE
    # Each number once, the last or the first: PostgreSQL writes them all at the same moment.
    told = {(one.task, one.index): one for one in (writes if replace else reversed(writes))}
    return [
        (
            statement,
            {
                **same,
                "step": id,
                "task": one.task,
                "idx": one.index,
                "path": one.path,
                "channel": one.channel,
                "type": one.type,
                "data": one.data,
            },
        )
        for one in told.values()
    ]


def add_at_hand(store: Store, space: str, asking: RawRequest, to: To, rows: Rows) -> int | None:
    """In private, and where who is who is at hand: in one go with the test that this still holds.
    Gives the time it was written at; None where it does not, or where it fails: the usual way then
    does it, or says why."""
    kept = store.requests.get_cached(space, asking, union=True)
    if kept is None or not kept[1].private:
        return None
    rev, request = kept
    if not store.requests.is_registered(space, asking, rev):
        return None
    at = to_micros(store.clock())
    same = {
        "space_id": space,
        "person": request.subject,
        "place": "",
        "thread": to.thread,
        "ns": to.ns,
        "heard": None,
        "categories": to.categories,
        "saved_at": at,
    }
    done = store.database.write_if((_UNCHANGED, {"space": space, "rev": rev}), rows(same))
    return at if done else None


def add(w: Writing, to: To, rows: Rows) -> None:
    request = w.request
    same = {
        "space_id": w.space,
        "person": request.subject,
        "place": required_places(w)[0],
        "thread": to.thread,
        "ns": to.ns,
        "heard": None if request.private else _heard(w, to),
        "categories": to.categories,
        "saved_at": to_micros(w.at),
    }
    rendered.run(w.connection, rows(same))


def required_places(w: Writing) -> list[str]:
    found = graph_reads.places(w.request)
    if found is None:
        raise InvalidInput(
            "chat", "steps of a graph are kept in a private chat, or in a group that one is in"
        )
    return found


def _heard(w: Writing, to: To) -> str | None:
    """Who is here, as far as they were there for what this one goes on from: whoever came in
    between has not heard all of it."""
    request, here = w.request, w.request.present
    rows = _seals_before(w, to)
    sets = w.audiences.get_people(w.connection, w.space, {row[0] for row in rows})
    for (heard,) in rows:
        were = {request.person(one) for one in sets[heard]} | {request.requester}
        here = frozenset(one for one in here if request.person(one) in were)
    return listeners.ensure(w.connection, w.dialect, w.space, here)


def _seals_before(w: Writing, to: To) -> Sequence[tuple[Any, ...]]:
    """A graph within a graph begins with what that one has."""
    at = {"space": w.space, "mine": sorted(w.request.own_identities), "places": required_places(w)}
    at |= {"thread": to.thread, "ns": to.ns}
    if to.parent is not None:
        return rendered.rows(w.connection, _SEAL, {**at, "id": to.parent})
    if not to.ns:
        return []
    return rendered.rows(w.connection, _NEWEST_SEAL, {**at, "ns": to.ns.rpartition(_WITHIN)[0]})
