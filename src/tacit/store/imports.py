"""Imports as rows: the runs by which somebody took over another memory, and what is known of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, insert, or_, select, text, update

from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict
from tacit.policy.predicate import sql_literal
from tacit.records.drafts import ImportRun
from tacit.records.memory import State
from tacit.records.request import Request
from tacit.store import rendered
from tacit.store.ids import digest, new_id, within_second
from tacit.store.tables import imported, imports, memories, spaces
from tacit.store.writes import Writing

_R = imports.c
_I = imported.c
_M = memories.c
_TOKEN_CHARS = 32
_MINE = (
    _R.space_id == bindparam("space"),
    _R.person.in_(bindparam("who", expanding=True)),
)
_RUN = (
    select(imports)
    .where(*_MINE, _R.run == bindparam("run"))
    .order_by(_R.started_at.desc(), _R.person)
)
_KNOWN = select(_I.token, _I.run).where(
    _I.space_id == bindparam("space"),
    _I.person.in_(bindparam("who", expanding=True)),
    _I.token.in_(bindparam("tokens", expanding=True)),
)
_OWN_ACTIVE = (
    _M.space_id == bindparam("space"),
    _M.owner.in_(bindparam("who", expanding=True)),
    _M.state == sql_literal(State.ACTIVE),
)
_LIVE = or_(_M.expires_at.is_(None), _M.expires_at > bindparam("at"))
_SAID = select(_M.content, _M.id).where(*_OWN_ACTIVE, _LIVE, _M.is_turn.is_(False))
_HOLDING = select(_M.key, _M.id).where(
    *_OWN_ACTIVE,
    _M.category == bindparam("category"),
    _M.key.is_not(None),
    _M.key.in_(bindparam("keys", expanding=True)),
)
_KEYED = _HOLDING.where(_LIVE)
_LAPSED = _HOLDING.where(_M.expires_at <= bindparam("at"))
_OF_SECOND = select(_M.id).where(
    _M.space_id == bindparam("space"), _M.id.between(bindparam("first"), bindparam("last"))
)
_SECRET = select(spaces.c.secret).where(spaces.c.space_id == bindparam("space"))
_ADD = rendered.inserting(imported)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run, and whose of a person's identities it is."""

    person: str
    forgotten: int
    changed: int
    run: ImportRun


def secret(connection: Connection, space: str) -> str | None:
    """What keys the hashes of a space; None where nobody has written to it."""
    found = rendered.rows(connection, _SECRET, {"space": space})
    return found[0][0] if found else None


def token(key: str, source: str, kind: str, named: str) -> str:
    """Recognises something by its id in another memory, or by its words, and tells neither."""
    return digest(key, json.dumps([source, kind, named]))[:_TOKEN_CHARS]


def known(
    connection: Connection, space: str, who: Collection[str], tokens: Collection[str]
) -> dict[str, str | None]:
    """Those of these that were imported before, and the run that each belongs to."""
    params = {"space": space, "who": sorted(who), "tokens": sorted(tokens)}
    return dict(rendered.rows(connection, _KNOWN, params)) if tokens else {}


def said(connection: Connection, request: Request, contents: Collection[str]) -> dict[str, str]:
    """What somebody has in these very words, by the words."""
    if not contents:
        return {}
    params = _own(request)
    params |= {f"c{number}": content for number, content in enumerate(sorted(contents))}
    return dict(rendered.rows(connection, _saying(len(contents)), params))


@lru_cache(maxsize=256)
def _saying(count: int) -> Select[Any]:
    """As a table of its own, for each of somebody's memories to be looked up in: a list, PostgreSQL
    would go through for each of them."""
    table = ", ".join(f"(:c{number})" for number in range(count))
    return _SAID.where(text(f"memories.content IN (VALUES {table})"))


def keyed(
    connection: Connection, request: Request, category: str, keys: Collection[str]
) -> dict[str, str]:
    """The values that somebody has of these keys, by key."""
    params = _own(request) | {"category": category, "keys": sorted(keys)}
    return dict(rendered.rows(connection, _KEYED, params))


def lapsed(
    connection: Connection, request: Request, category: str, keys: Collection[str]
) -> list[str]:
    """What holds these keys though its time is past."""
    params = _own(request) | {"category": category, "keys": sorted(keys)}
    return [id for _, id in rendered.rows(connection, _LAPSED, params)]


def _own(request: Request) -> dict[str, Any]:
    return {
        "space": request.space,
        "who": sorted(request.own_identities),
        "at": to_micros(request.at),
    }


def take_turns(w: Writing) -> None:
    """Two imports of one person see what the other did: one of them waits."""
    w.dialect.acquire_lock(w.connection, f"{w.space} imports {w.request.requester}")


def avoid_taken_ids(w: Writing) -> None:
    """Where hundreds are added in one second, chance alone would give an id twice."""
    first, last = within_second(w.at)
    params = {"space": w.space, "first": first, "last": last}
    w.issued_ids.update(id for (id,) in rendered.rows(w.connection, _OF_SECOND, params))


def find(connection: Connection, space: str, who: Collection[str], run: str) -> list[Kept]:
    """The newest first, where identities that are one person by now have each one of the name."""
    params = {"space": space, "who": sorted(who), "run": run}
    return [_read(row) for row in connection.execute(_RUN, params)]


def begin(w: Writing, run: str, source: str, total: int | None) -> Kept:
    """The run, as it stands before this call; one that was reverted begins anew."""
    found = find(w.connection, w.space, w.request.own_identities, run)
    if not found:
        return _add(w, run, source, total)
    kept = found[0]
    if any(one.run.reverting for one in found):
        raise Conflict("this import is being reverted: revert it to the end, then begin again")
    if kept.run.source != source:
        raise Conflict("this run is the name of an import from elsewhere: take another one")
    if kept.run.reverted_at is None:
        return kept
    zero = dict.fromkeys(("created", "already", "refused", "done", "forgotten", "changed"), 0)
    at = to_micros(w.at)
    change(w, kept, {**zero, "total": total, "started_at": at, "reverted_at": None})
    return find(w.connection, w.space, w.request.own_identities, run)[0]


def _add(w: Writing, run: str, source: str, total: int | None) -> Kept:
    at = to_micros(w.at)
    row = {
        "space_id": w.space,
        "person": w.request.subject,
        "run": run,
        "id": new_id(),
        "source": source,
        "started_at": at,
        "updated_at": at,
        **dict.fromkeys(("created", "already", "refused", "done", "forgotten", "changed"), 0),
        "total": total,
        "reverting": False,
        "reverted_at": None,
    }
    w.connection.execute(insert(imports).values(**row))
    return find(w.connection, w.space, w.request.own_identities, run)[0]


def change(w: Writing, kept: Kept, values: Mapping[str, Any]) -> None:
    one = (_R.space_id == w.space, _R.person == kept.person, _R.run == kept.run.run)
    moved = {**values, "updated_at": to_micros(w.at)}
    w.connection.execute(update(imports).where(*one).values(**moved))


def count(w: Writing, kept: Kept, more: Mapping[str, int], total: int | None) -> ImportRun:
    """The run, with what this call did."""
    values: dict[str, Any] = {name: getattr(kept.run, name) + by for name, by in more.items()}
    if total is not None:
        values["total"] = total
    change(w, kept, values)
    return replace(kept.run, **values, updated_at=w.at)


def note(w: Writing, made: Iterable[tuple[str, str | None, str]]) -> None:
    """By token: the run that made a memory, or None where it was here before, and its id."""
    fixed = {"space_id": w.space, "person": w.request.subject, "at": to_micros(w.at)}
    steps = [(_ADD, {**fixed, "token": t, "run": run, "memory_id": id}) for t, run, id in made]
    rendered.insert(w.connection, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a run made, as it is now."""

    token: str
    memory_id: str
    is_untouched: bool  # it stands as it was imported
    is_changed: bool  # it stands otherwise, or something else stands in its place


def brought(w: Writing, run: str, most: int) -> list[Brought]:
    """Some of what a run made and nobody has undone yet; its memories are locked."""
    rows = (
        select(_I.token, _I.memory_id, _I.at, _M.state, _M.version, _M.updated_at)
        .join(memories, (_M.space_id == _I.space_id) & (_M.id == _I.memory_id))
        .where(
            _I.space_id == w.space, _I.person.in_(sorted(w.request.own_identities)), _I.run == run
        )
        .order_by(_I.person, _I.token)
        .limit(most)
    )
    return [_brought(row) for row in w.connection.execute(w.dialect.lock_memory(rows))]


def _brought(row: Any) -> Brought:
    untouched = row.state == State.ACTIVE and (row.version, row.updated_at) == (1, row.at)
    stands = row.state in (State.ACTIVE, State.SUPERSEDED)
    return Brought(
        token=row.token,
        memory_id=row.memory_id,
        is_untouched=untouched,
        is_changed=stands and not untouched,
    )


def undone(w: Writing, run: str, forgotten: Sequence[str], left: Sequence[str]) -> None:
    """What is forgotten may be imported again; what is left is known as before, and stays."""
    of_run = (
        _I.space_id == w.space,
        _I.person.in_(sorted(w.request.own_identities)),
        _I.run == run,
    )
    if forgotten:
        w.connection.execute(delete(imported).where(*of_run, _I.token.in_(forgotten)))
    if left:
        these = update(imported).where(*of_run, _I.token.in_(left))
        w.connection.execute(these.values(run=None))


def page(
    connection: Connection,
    space: str,
    who: Collection[str],
    after: tuple[int, str] | None,
    most: int,
) -> list[tuple[str, ImportRun]]:
    """Somebody's runs with their ids, the newest first."""
    wanted = select(imports).where(_R.space_id == space, _R.person.in_(sorted(who)))
    if after is not None:
        at, id = after
        wanted = wanted.where(or_(_R.started_at < at, (_R.started_at == at) & (_R.id < id)))
    rows = connection.execute(wanted.order_by(_R.started_at.desc(), _R.id.desc()).limit(most))
    return [(row.id, _read(row).run) for row in rows]


def drop(connection: Connection, space: str, who: Collection[str]) -> int:
    """All that is known of somebody's imports. Says how many runs that were."""
    theirs = sorted(who)
    connection.execute(delete(imported).where(_I.space_id == space, _I.person.in_(theirs)))
    gone = delete(imports).where(_R.space_id == space, _R.person.in_(theirs))
    return connection.execute(gone).rowcount


def _read(row: Any) -> Kept:
    reverted = row.reverted_at
    return Kept(
        person=row.person,
        forgotten=row.forgotten,
        changed=row.changed,
        run=ImportRun(
            run=row.run,
            source=row.source,
            started_at=from_micros(row.started_at),
            updated_at=from_micros(row.updated_at),
            created=row.created,
            already=row.already,
            refused=row.refused,
            done=row.done,
            total=row.total,
            reverting=bool(row.reverting),
            reverted_at=None if reverted is None else from_micros(reverted),
        ),
    )
