"""What is looked for, as an address says it: so that it can be kept, sent on and gone back to."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tacit.records.memory import State
from tacit.records.queries import ANY_STATE, Search
from tacit.settings import category_names
from tacit.surfaces.console import naming, wording
from tacit.surfaces.console.asking import Asked

FILTERS = (
    "kind",
    "category",
    "about",
    "chat",
    "visibility",
    "sensitivity",
    "state",
    "pinned",
    "since",
    "until",
    "owner",
)
_KEPT = ("words", *FILTERS, "cursor")
# Without one of these it is what is active.
STATES = {
    **{one.value: says for one, says in wording.STATE.items() if one is not State.ACTIVE},
    ANY_STATE: "In every state",
}


def search_of(asked: Asked) -> Search:
    """The library says what is wrong with a value."""
    query = asked.query
    return Search(
        words=query.line("words"),
        category=query.line("category"),
        kind=query.line("kind"),
        about=query.line("about"),
        chat=query.line("chat"),
        visibility=query.line("visibility"),
        sensitivity=query.line("sensitivity"),
        state=query.line("state"),
        pinned=True if query.flag("pinned") else None,
        since=query.since("since"),
        until=query.until("until"),
        owner=query.line("owner") if asked.visitor.is_operator else None,
    )


def choices(asked: Asked) -> dict[str, Any]:
    """What filters can be set to. An operator names people and rooms by their keys."""
    people, rooms = [], []
    if not asked.visitor.is_operator:
        view = asked.visitor.view
        people = sorted({naming.called(one) for one in view.people()}, key=str.casefold)
        rooms = [one.id for one in view.rooms()]
    return {
        "states": STATES,
        "categories": {
            name: wording.category(name) for name in category_names(asked.site.settings)
        },
        "people": people,
        "rooms": rooms,
    }


def filters_in(asked: Asked) -> int:
    """How many narrow what is found, besides words."""
    return sum(1 for name in FILTERS if asked.query.get(name))


def address(asked: Asked, path: str) -> str:
    """Of another page that keeps what is looked for here."""
    kept = {name: asked.query[name] for name in _KEPT if asked.query.get(name)}
    return f"{path}?{urlencode(kept)}" if kept else path
