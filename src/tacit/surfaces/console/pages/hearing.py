"""Who would hear this? What would be said to somebody in some chat, what is withheld, and by which
rule."""

from __future__ import annotations

from starlette.responses import Response

from tacit.errors import InvalidInput
from tacit.records.results import AudienceChat
from tacit.surfaces.console import listening, naming, plain, searching, wording
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.listening import Heard, Scene
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
PATH = "/hear"
_NAMES_MAX_CHARS = 50  # of those in a room, beside its id


@pages.get(PATH, who=Who.BOTH, nav="Who would hear")
def show(asked: Asked) -> Response:
    visitor = asked.visitor
    rooms = listening.rooms_of(visitor)
    askers = listening.askers(visitor, rooms)
    at, found = None, Heard()
    try:
        at = _scene(asked, rooms)
        if at is not None:
            found = _heard(asked, at)
    except InvalidInput as wrong:
        asked, at = asked.with_error(_of_our_field(asked, wrong)), None
    room = None if at is None else next((one for one in rooms if one.id == at.room), None)
    return asked.render(
        "hear.html",
        chosen=at,
        found=found,
        there=[] if room is None else _there(asked, room),
        confidential=room is not None and room.confidential,
        hear_rooms={one.id: _label(asked, one) for one in rooms},
        askers=askers,
        ask_labels={key: f"{name} · {key}" for key, name in askers.items()},
        narrowed=searching.filters_in(asked) or bool(asked.query.get("words")),
        names=naming.names_for(visitor),
        plain=plain,
        **searching.choices(asked),
    )


def _scene(asked: Asked, rooms: tuple[AudienceChat, ...]) -> Scene | None:
    """None: an operator has not said who asks. Nothing is looked at before that."""
    query = asked.query
    if asked.visitor.is_operator and query.line("by") is None:
        if query.line("room") is not None:
            raise InvalidInput("by", "say who asks there: a key, such as telegram:1001")
        return None
    return listening.scene(asked.visitor, rooms, query.line("room"), query.line("by"))


def _heard(asked: Asked, at: Scene) -> Heard:
    question, cursor = asked.query.line("question"), asked.query.line("cursor")
    search = searching.search_of(asked)
    if question is None:
        return listening.heard(asked.visitor, at, search, cursor)
    return listening.answered(asked.visitor, at, question, search, cursor)


def _of_our_field(asked: Asked, wrong: InvalidInput) -> InvalidInput:
    """The library names what it was given, and the form its fields."""
    ours = {"requester": "by", "query": "question"}
    if not asked.query.get("chat"):
        ours["chat"] = "room"
    return InvalidInput(ours.get(wrong.field, wrong.field), wrong.problem)


def _label(asked: Asked, room: AudienceChat) -> str:
    """Who is there, and the id."""
    there = ", ".join(_there(asked, room))
    return f"{wording.flat(there, _NAMES_MAX_CHARS)} · {room.id}"


def _there(asked: Asked, room: AudienceChat) -> list[str]:
    me = [] if asked.visitor.is_operator else [naming.YOU]
    more = [] if room.complete else ["others"]
    return [*me, *(naming.called(one) for one in room.people), *more]
