"""Sets of listeners. A set never changes under its name, so what was read once stays true."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, select

from tacit import limits
from tacit.store import rendered
from tacit.store.dialect import Dialect
from tacit.store.ids import audience_id
from tacit.store.tables import audience_people

_A = audience_people.c
_PEOPLE = select(_A.audience, _A.person).where(
    _A.space_id == bindparam("space"), _A.audience.in_(bindparam("ids", expanding=True))
)
_EXISTS = (
    select(_A.audience)
    .where(_A.space_id == bindparam("space"), _A.audience == bindparam("id"))
    .limit(1)
)
_NOBODY: frozenset[str] = frozenset()


class Audiences:
    """Reads sets, and remembers the ones it has read."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def get_cached(self, space: str, id: str | None) -> frozenset[str] | None:
        """Without asking the database; None where only that would tell."""
        return _NOBODY if id is None else self._known.get((space, id))

    def get_people(
        self, connection: Connection, space: str, ids: Iterable[str | None]
    ) -> dict[str | None, frozenset[str]]:
        found: dict[str | None, frozenset[str]] = {None: _NOBODY}
        missing = []
        for id in set(ids) - {None}:
            assert id is not None
            known = self._known.get((space, id))
            if known is None:
                missing.append(id)
            else:
                found[id] = known
        if missing:
            sets: dict[str, set[str]] = {id: set() for id in missing}
            for audience, person in rendered.rows(
                connection, _PEOPLE, {"space": space, "ids": missing}
            ):
                sets[audience].add(person)
            if len(self._known) > limits.AUDIENCE_CACHE_MAX_COUNT:
                self._known.clear()
            for id, people in sets.items():
                found[id] = frozenset(people)
                if people:  # an empty set may only be one that is not committed yet
                    self._known[space, id] = found[id]
        return found


def ensure(
    connection: Connection, dialect: Dialect, space: str, people: frozenset[str]
) -> str | None:
    """The name of this set of listeners, written down if it is new."""
    if not people:
        return None
    id = audience_id(people)
    if not rendered.rows(connection, _EXISTS, {"space": space, "id": id}):
        rows = [{"space_id": space, "audience": id, "person": person} for person in sorted(people)]
        dialect.insert_missing(connection, audience_people, rows)
    return id
