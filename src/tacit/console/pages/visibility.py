"""Show who would be told what, and change who may see one memory."""

from __future__ import annotations

from starlette.responses import Response

from tacit.console import audience, labels, requests
from tacit.console.audience import DisclosurePreview, PreviewSetting
from tacit.console.pages import memories
from tacit.console.pages.memories import redirect_to_memory
from tacit.console.requests import PageRequest
from tacit.console.site import FlashText, PageAccess, PageGroup
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind, Memory, Visibility
from tacit.records.results import AudienceChat
from tacit.records.validation import fold_name

# Who would hear this? What would be said to somebody in some chat, what is withheld, and by which
# rule.

audience_pages = PageGroup()
AUDIENCE_PATH = "/hear"
_NAMES_MAX_CHARS = 50  # of those in a room, beside its id


@audience_pages.get(AUDIENCE_PATH, who=PageAccess.BOTH, nav="Who would hear")
def show_audience(asked: PageRequest) -> Response:
    visitor = asked.visitor
    rooms = audience.list_groups(visitor)
    askers = audience.list_askers(visitor, rooms)
    at, found = None, DisclosurePreview()
    try:
        at = _parse_setting(asked, rooms)
        if at is not None:
            found = _preview(asked, at)
    except InvalidInput as wrong:
        asked, at = asked.with_error(_with_form_field(asked, wrong)), None
    room = None if at is None else next((one for one in rooms if one.id == at.room), None)
    return asked.render(
        "hear.html",
        chosen=at,
        found=found,
        there=[] if room is None else _people_present(asked, room),
        confidential=room is not None and room.confidential,
        hear_rooms={one.id: _room_label(asked, one) for one in rooms},
        askers=askers,
        ask_labels={key: f"{name} · {key}" for key, name in askers.items()},
        narrowed=requests.count_filters(asked) or bool(asked.query.get("words")),
        names=labels.labels_for(visitor),
        **requests.list_filter_choices(asked),
    )


def _parse_setting(asked: PageRequest, rooms: tuple[AudienceChat, ...]) -> PreviewSetting | None:
    """None: an operator has not said who asks. Nothing is looked at before that."""
    query = asked.query
    if asked.visitor.is_operator and query.line("by") is None:
        if query.line("room") is not None:
            raise InvalidInput("by", "say who asks there: a key, such as telegram:1001")
        return None
    return audience.choose_setting(asked.visitor, rooms, query.line("room"), query.line("by"))


def _preview(asked: PageRequest, at: PreviewSetting) -> DisclosurePreview:
    question, cursor = asked.query.line("question"), asked.query.line("cursor")
    search = requests.parse_search(asked)
    if question is None:
        return audience.preview_list(asked.visitor, at, search, cursor)
    return audience.preview_answer(asked.visitor, at, question, search, cursor)


def _with_form_field(asked: PageRequest, wrong: InvalidInput) -> InvalidInput:
    """The library names what it was given, and the form its fields."""
    ours = {"requester": "by", "query": "question"}
    if not asked.query.get("chat"):
        ours["chat"] = "room"
    return InvalidInput(ours.get(wrong.field, wrong.field), wrong.problem)


def _room_label(asked: PageRequest, room: AudienceChat) -> str:
    """Who is there, and the id."""
    there = ", ".join(_people_present(asked, room))
    return f"{labels.single_line(there, _NAMES_MAX_CHARS)} · {room.id}"


def _people_present(asked: PageRequest, room: AudienceChat) -> list[str]:
    me = [] if asked.visitor.is_operator else [labels.YOU]
    more = [] if room.complete else ["others"]
    return [*me, *(labels.person_label(one) for one in room.people), *more]


# How far a memory goes: who may hear it, shown before anything is changed, and whom it never
# reaches.

visibility_pages = PageGroup(
    flashes={
        "visibility": FlashText(
            one="Who may hear it is changed.",
            many="Who may hear {count} of them is changed.",
            undo="/undo/visibility",
        ),
        "withheld": FlashText(one="It is withheld from them, here and everywhere."),
        "withheld-unknown": FlashText(
            one="It is withheld from whoever goes by that name. As long as nobody knows who is "
            "meant, only you hear it."
        ),
    }
)


@visibility_pages.get("/memories/{id}/visibility", who=PageAccess.BOTH)
def show_visibility_form(asked: PageRequest, id: str) -> Response:
    memory = memories.get_managed_memory(asked.visitor, id)
    wanted = (asked.form if asked.wrong else asked.query).choice("visibility", Visibility)
    words = asked.visitor.api
    now = words.audience.of(id)
    is_now = labels.effective_visibility(memory)
    then = now if wanted in (None, is_now) else words.audience.of(id, visibility=wanted)
    names = labels.labels_for(asked.visitor)
    return asked.render(
        "memory_visibility.html",
        fragment="memory_preview.html",
        memory=memory,
        wanted=wanted or is_now,
        changes=audience.compare_audiences(now, then, names),
        left_out=then.rooms_left_out + then.people_left_out,
        choices=_visibility_choices(asked, memory, labels.visibility_labels(memory, names)),
    )


def _visibility_choices(
    asked: PageRequest, memory: Memory, says: dict[Visibility, str]
) -> dict[Visibility, str]:
    """What was said in no room is for none. An operator lowers it, and never raises it."""
    if memory.learned_kind is not ChatKind.GROUP:
        says = {one: text for one, text in says.items() if one is not Visibility.ROOM}
    if not asked.visitor.is_operator:
        return says
    return {one: text for one, text in says.items() if one.rank <= memory.visibility.rank}


@visibility_pages.post("/memories/{id}/visibility", who=PageAccess.BOTH, again=show_visibility_form)
def post_visibility(asked: PageRequest, id: str) -> Response:
    wanted = asked.form.choice("visibility", Visibility)
    if wanted is None:
        raise InvalidInput("visibility", "choose who may hear it")
    return redirect_to_memory(
        asked, memories.change_visibility(asked.visitor, id, wanted), "visibility"
    )


@visibility_pages.get("/memories/{id}/withhold", who=PageAccess.BOTH)
def show_withhold_form(asked: PageRequest, id: str) -> Response:
    visitor = asked.visitor
    people = (
        set()
        if visitor.is_operator
        else {labels.person_label(one) for one in visitor.view.people.list()}
    )
    return asked.render(
        "question.html",
        fragment="memory_withhold.html",
        title="Withhold it from somebody",
        part="memory_withhold.html",
        memory=memories.get_managed_memory(visitor, id),
        people=sorted(people, key=str.casefold),
        unmet=_unknown_name(asked) if asked.wrong else None,
    )


def _unknown_name(asked: PageRequest) -> str | None:
    """The name they wrote, if nobody whom they know has it."""
    who = asked.form.line("who")
    if who is None or ":" in who or asked.visitor.is_operator:
        return None
    known = {fold_name(name.text) for one in asked.visitor.view.people.list() for name in one.names}
    return None if fold_name(who) in known else who


@visibility_pages.post("/memories/{id}/withhold", who=PageAccess.BOTH, again=show_withhold_form)
def post_withhold(asked: PageRequest, id: str) -> Response:
    who = asked.form.line("who")
    if who is None:
        raise InvalidInput("who", "say from whom: by a name, or by a key such as telegram:123")
    memory = memories.get_managed_memory(asked.visitor, id)
    unmet = _unknown_name(asked)
    if unmet is not None and asked.form.line("sure") != unmet:
        raise InvalidInput("who", "nobody you know is called so; see whether you mean another name")
    try:
        what = memories.withhold_memory(asked.visitor, id, who)
    except InvalidInput as wrong:  # of the one field that there is, whatever a draft calls it
        raise InvalidInput("who", wrong.problem) from None
    now = memories.get_managed_memory(asked.visitor, id)
    unknown = now.withheld_unknown and not memory.withheld_unknown
    return redirect_to_memory(asked, what, "withheld-unknown" if unknown else "withheld")
