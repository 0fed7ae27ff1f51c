"""The doors through which a search for words finds memories, as tokens beside the words.

A full-text index lists every memory that holds a word, whoever's it is. So each memory is indexed
with a token for its owner, its speaker, its subjects, its room and its listeners, and a search asks
for the words together with the doors of its branch: it then costs by what lies behind those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from sqlalchemy import Connection

from tacit import limits
from tacit.policy.predicate import AccessPath, predicate_parameters, select_audiences
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.store.rows import counted_subjects
from tacit.store.tables import ROWS

_AUDIENCES_MAX_COUNT = 300  # with more it is cheaper to ask for the words alone


def of_memory(memory: Memory, heard: str | None) -> str:
    people = counted_subjects(memory) | {memory.owner, memory.speaker} - {None}
    tokens = [_token(memory.space, "person", person) for person in people if person]
    if memory.learned_in:
        tokens.append(_token(memory.space, "room", memory.learned_in))
    if heard:
        tokens.append(_token(memory.space, "heard", heard))
    return " ".join(sorted(tokens))


def of_request(connection: Connection, request: Request, door: AccessPath) -> list[str] | None:
    """The tokens of a door; never an empty list, because behind no door there is nothing. None
    where there are too many: the branch's own condition filters all the same."""
    params = predicate_parameters(request)
    asked = select_audiences(door, request, ROWS)
    if asked is not None:
        most = asked.limit(_AUDIENCES_MAX_COUNT + 1)
        sets = connection.execute(most, params).scalars().all()
        return None if len(sets) > _AUDIENCES_MAX_COUNT else _tokens(request.space, "heard", sets)
    if door is AccessPath.ROOM:
        return _tokens(request.space, "room", params["p_rooms"])
    return _tokens(request.space, "person", params["p_me" if door is AccessPath.ME else "p_here"])


def _tokens(space: str, kind: str, names: Iterable[str]) -> list[str]:
    return [_token(space, kind, name) for name in names] or [_token(space, kind, "")]


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _token(space: str, kind: str, name: str) -> str:
    """One word of plain letters, whatever the name holds."""
    return "x" + hashlib.sha256(f"{space}\n{kind}\n{name}".encode()).hexdigest()[:16]
