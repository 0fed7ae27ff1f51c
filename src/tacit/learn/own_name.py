"""The name of a requester whose channel gives none: what the store knows of them."""

from __future__ import annotations

import re

from sqlalchemy import Connection

from tacit import limits
from tacit.identity.resolution import RawRequest
from tacit.records.accounts import NameKind
from tacit.records.memory import State
from tacit.records.request import Request
from tacit.storage import memory_reads, people, search
from tacit.storage.search import ListFilter
from tacit.storage.store import Store

_SLOT, _CATEGORY = "name", "profile"
_KEYS = ("preferred_name", "name")
_NAME_MAX_CHARS = 64
_NAME = re.compile(r"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,3}")
# The name stands at the end: "… wants to be called Nora Becker".
_STATED = re.compile(r"\w.*?\s((?:[^\W\d_a-z][\w'-]*\s)*[^\W\d_a-z][\w'-]*)\W*")


def own_name(store: Store, space: str, asking: RawRequest) -> str | None:
    """Return the name that the requester put under a key, else the one that a channel gave before,
    else the one that they told: as far as it may be said in this chat, and in private also while it
    waits for their consent. None: none is known."""

    def work(connection: Connection, request: Request) -> str | None:
        for key in _KEYS:
            value = memory_reads.get_memory_by_key(
                connection, store.audiences, request, _CATEGORY, key
            )
            name = "" if value is None else value[0].content
            if len(name) <= _NAME_MAX_CHARS and _NAME.fullmatch(name):
                return name
        given = {
            name.text
            for person in people.read_public_names(
                connection, space, request.own_identities
            ).values()
            for name in person.names
            if name.kind is NameKind.NAME
        }
        if len(given) == 1:
            return given.pop()
        return _told(store, connection, request)

    return store.read(space, asking, work)


def _told(store: Store, connection: Connection, request: Request) -> str | None:
    states = (State.ACTIVE, State.PENDING) if request.private else (None,)
    for state in states:
        wanted = ListFilter(
            category=_CATEGORY, owners=tuple(sorted(request.own_identities)), state=state
        )
        page = search.list_memories(
            connection,
            store.audiences,
            store.database.dialect,
            request if state is None else request.for_management(),
            wanted,
            limits.PAGE_DEFAULT_COUNT,
        )
        stated = (_STATED.fullmatch(one.content) for one, _ in page if one.slot == _SLOT)
        names = [found[1] for found in stated if found and len(found[1]) <= _NAME_MAX_CHARS]
        if names:
            return names[0]
    return None
