"""What a speaker is called in what is learned from them, where their request gives no name."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit.learn.reading.mentions import is_name
from tacit.learn.reading.tongue import Tongue
from tacit.learn.turn import Turn
from tacit.model.people import NameKind
from tacit.model.request import Request
from tacit.store import learned, people, reads
from tacit.store.audiences import Audiences
from tacit.store.core import Store

_KEYS = (("profile", "preferred_name"), ("profile", "name"))
_SLOT = "name"
_LOOKED_AT_COUNT = 5


def stored_name(store: Store, space: str, turn: Turn, tongue: Tongue) -> str:
    """The name that is known of the requester, as far as it may be said here: what they put under
    a key, what they told, or what they went by before; "The user" where there is none."""

    def look(connection: Connection, request: Request) -> str:
        return _known(connection, store.audiences, request, tongue)

    return store.read(space, turn.asking, look) or tongue.texts["nobody"]


def _known(connection: Connection, audiences: Audiences, request: Request, tongue: Tongue) -> str:
    for category, key in _KEYS:
        found = reads.by_key(connection, audiences, request, category, key)
        if found is not None and is_name(found[0].content, tongue, named=True):
            return found[0].content
    if request.private:  # what was told in private is not for a room to hear
        told = learned.alike(connection, request.space, request.mine, (), {_SLOT}, _LOOKED_AT_COUNT)
        for one in told:
            name = _as_written(one)
            if name:
                return name
    known = people.going_by(connection, request.space, request.mine)
    names = (name for one in known.values() for name in one.names)
    return next((name.text for name in names if name.kind is NameKind.NAME), "")


def _as_written(kept: learned.Kept) -> str:
    """The value of a slot with the capitals of its sentence."""
    fact = kept.fact
    if not fact.about_speaker or fact.negated or not fact.value:
        return ""
    at = kept.content.casefold().find(fact.value)
    return kept.content[at : at + len(fact.value)] if at >= 0 else ""
