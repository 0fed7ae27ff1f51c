"""Writing a graph's steps: a step with the values that changed in it, and what its tasks wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, select, text

from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.model.step import GraphStep, StepValue, StepWrite
from tacit.store import audiences as listeners
from tacit.store import graph_reads, rendered
from tacit.store.rendered import inserting
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
_S = graph_steps.c
_SEAL = select(_S.heard).where(
    _S.space_id == bindparam("space"),
    _S.person.in_(bindparam("mine", expanding=True)),
    _S.place.in_(bindparam("places", expanding=True)),
    _S.thread == bindparam("thread"),
    _S.ns == bindparam("ns"),
    _S.id == bindparam("id"),
)


def save(
    w: Writing, step: GraphStep, values: Iterable[StepValue], allowed: frozenset[str] | None
) -> None:
    """In one go, so that a step is there with its values or not at all."""
    where = _where(w, step.thread, step.ns)
    sealed = _sealed(w, step.thread, step.ns, step.parent, allowed)
    row = {
        "id": step.id,
        "parent": step.parent,
        "type": step.type,
        "run": step.run,
        "metadata": json.dumps(step.metadata, separators=(",", ":")),
        "versions": json.dumps(step.versions, separators=(",", ":")),
        "data": step.data,
    }
    rendered.run(
        w.connection,
        [
            (_ADD_STEP, {**where, **sealed, **row}),
            *(
                (
                    _ADD_VALUE,
                    {
                        **where,
                        **sealed,
                        "channel": one.channel,
                        "version": one.version,
                        "type": one.type,
                        "data": one.data,
                    },
                )
                for one in values
            ),
        ],
    )


def write(
    w: Writing,
    at: tuple[str, str, str],
    writes: Sequence[StepWrite],
    allowed: frozenset[str] | None,
    *,
    replace: bool,
) -> None:
    """`at`: the thread, the namespace and the id of a step, which may still be on its way.
    `replace`: what a task wrote there before under the same numbers; otherwise that stays."""
    thread, ns, id = at
    same = {**_where(w, thread, ns), **_sealed(w, thread, ns, id, allowed), "step": id}
    statement = _REPLACE_WRITE if replace else _KEEP_WRITE
    rendered.run(
        w.connection,
        [
            (
                statement,
                {
                    **same,
                    "task": one.task,
                    "idx": one.index,
                    "path": one.path,
                    "channel": one.channel,
                    "type": one.type,
                    "data": one.data,
                },
            )
            for one in writes
        ],
    )


def _where(w: Writing, thread: str, ns: str) -> dict[str, Any]:
    return {
        "space_id": w.space,
        "person": w.request.subject,
        "place": required_places(w)[0],
        "thread": thread,
        "ns": ns,
    }


def required_places(w: Writing) -> list[str]:
    found = graph_reads.places(w.request)
    if found is None:
        raise InvalidInput(
            "chat", "steps of a graph are kept in a private chat, or in a group that one is in"
        )
    return found


def _sealed(
    w: Writing, thread: str, ns: str, before: str | None, allowed: frozenset[str] | None
) -> dict[str, Any]:
    named = None if allowed is None else json.dumps(sorted(allowed))
    heard = None if w.request.private else _heard(w, thread, ns, before)
    return {"heard": heard, "categories": named, "saved_at": to_micros(w.at)}


def _heard(w: Writing, thread: str, ns: str, before: str | None) -> str | None:
    """Who is here, as far as they were there for what this one goes on from: whoever came in
    between has not heard all of it."""
    request, here = w.request, w.request.present
    if before is not None:
        params = {"space": w.space, "mine": sorted(request.mine), "places": required_places(w)}
        rows = rendered.rows(
            w.connection, _SEAL, {**params, "thread": thread, "ns": ns, "id": before}
        )
        sets = w.audiences.people(w.connection, w.space, {row[0] for row in rows})
        for (heard,) in rows:
            were = {request.person(one) for one in sets[heard]} | {request.requester}
            here = frozenset(one for one in here if request.person(one) in were)
    return listeners.ensure(w.connection, w.dialect, w.space, here)
