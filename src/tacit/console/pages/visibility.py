"""Preview what is shown in a chat, and change who may see one memory."""

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

pages = PageGroup(
    flashes={
        "visibility": FlashText("Visibility changed.", many="Visibility of {count} changed.", undo="/undo/visibility"),
        "withheld": FlashText("Withheld from them in every chat."),
        "withheld-unknown": FlashText("Withheld. Until that name is linked to an account, only you see it."),
    }
)

# The preview of a chat: what a requester would see there, what is withheld, and by which rule.

AUDIENCE_PATH = "/visibility"
_MEMBERS_MAX_CHARS = 50


@pages.get(AUDIENCE_PATH, who=PageAccess.BOTH, nav="Visibility")
def show_audience(asked: PageRequest) -> Response:
    visitor = asked.visitor
    groups = audience.list_groups(visitor)
    requesters = audience.list_requesters(visitor, groups)
    at, found = None, DisclosurePreview()
    try:
        at = _parse_setting(asked, groups)
        if at is not None:
            found = _preview(asked, at)
    except InvalidInput as wrong:
        asked, at = asked.with_error(_with_form_field(asked, wrong)), None
    group = None if at is None else next((one for one in groups if one.id == at.room), None)
    return asked.render(
        "visibility.html",
        chosen=at,
        found=found,
        members=[] if group is None else _list_members(asked, group),
        confidential=group is not None and group.confidential,
        group_labels={one.id: _group_label(asked, one) for one in groups},
        requesters=requesters,
        requester_labels={key: f"{name} · {key}" for key, name in requesters.items()},
        filtered=requests.count_filters(asked) or bool(asked.query.get("words")),
        names=labels.labels_for(visitor),
        **requests.list_filter_choices(asked),
    )


def _parse_setting(asked: PageRequest, groups: tuple[AudienceChat, ...]) -> PreviewSetting | None:
    """Return None if an operator has not named a requester: nothing is read before that."""
    query = asked.query
    if asked.visitor.is_operator and query.line("by") is None:
        if query.line("room") is not None:
            raise InvalidInput("by", "enter the requester's key, such as telegram:1001")
        return None
    return audience.choose_setting(asked.visitor, groups, query.line("room"), query.line("by"))


def _preview(asked: PageRequest, at: PreviewSetting) -> DisclosurePreview:
    question, cursor = asked.query.line("question"), asked.query.line("cursor")
    search = requests.parse_search(asked)
    if question is None:
        return audience.preview_list(asked.visitor, at, search, cursor)
    return audience.preview_answer(asked.visitor, at, question, search, cursor)


def _with_form_field(asked: PageRequest, wrong: InvalidInput) -> InvalidInput:
    """Translate the library's name of an argument to the field of the form."""
    fields = {"requester": "by", "query": "question"}
    if not asked.query.get("chat"):
        fields["chat"] = "room"
    return InvalidInput(fields.get(wrong.field, wrong.field), wrong.problem)


def _group_label(asked: PageRequest, group: AudienceChat) -> str:
    members = ", ".join(_list_members(asked, group))
    return f"{labels.single_line(members, _MEMBERS_MAX_CHARS)} · {group.id}"


def _list_members(asked: PageRequest, group: AudienceChat) -> list[str]:
    me = [] if asked.visitor.is_operator else [labels.YOU]
    more = [] if group.complete else ["others"]
    return [*me, *(labels.person_label(one) for one in group.people), *more]


# The visibility of one memory, with a preview of each change, and withholding it from a person.


@pages.get("/memories/{id}/visibility", who=PageAccess.BOTH)
def show_visibility_form(asked: PageRequest, id: str) -> Response:
    memory = memories.get_managed_memory(asked.visitor, id)
    wanted = (asked.form if asked.wrong else asked.query).choice("visibility", Visibility)
    api = asked.visitor.api
    now = api.audience.of(id)
    current = labels.effective_visibility(memory)
    then = now if wanted in (None, current) else api.audience.of(id, visibility=wanted)
    names = labels.labels_for(asked.visitor)
    return asked.render(
        "memory_visibility.html",
        fragment="memory_preview.html",
        memory=memory,
        wanted=wanted or current,
        changes=audience.compare_audiences(now, then, names),
        left_out=then.rooms_left_out + then.people_left_out,
        choices=_visibility_choices(asked, memory),
    )


def _visibility_choices(asked: PageRequest, memory: Memory) -> dict[Visibility, str]:
    """Offer "This group" only if there is one. An operator may not raise the visibility."""
    return {
        one: label
        for one, label in labels.VISIBILITY.items()
        if (one is not Visibility.ROOM or memory.learned_kind is ChatKind.GROUP)
        and (not asked.visitor.is_operator or one.rank <= memory.visibility.rank)
    }


@pages.post("/memories/{id}/visibility", who=PageAccess.BOTH, again=show_visibility_form)
def post_visibility(asked: PageRequest, id: str) -> Response:
    wanted = asked.form.choice("visibility", Visibility)
    if wanted is None:
        raise InvalidInput("visibility", "choose a visibility")
    return redirect_to_memory(asked, memories.change_visibility(asked.visitor, id, wanted), "visibility")


@pages.get("/memories/{id}/withhold", who=PageAccess.BOTH)
def show_withhold_form(asked: PageRequest, id: str) -> Response:
    visitor = asked.visitor
    people = set() if visitor.is_operator else {labels.person_label(one) for one in visitor.view.people.list()}
    return asked.render_form(
        "memory_withhold.html",
        "Withhold from a person",
        memory=memories.get_managed_memory(visitor, id),
        people=sorted(people, key=str.casefold),
        unmet=_unknown_name(asked) if asked.wrong else None,
    )


def _unknown_name(asked: PageRequest) -> str | None:
    """Return the name from the form if the visitor knows no person with it."""
    who = asked.form.line("who")
    if who is None or ":" in who or asked.visitor.is_operator:
        return None
    known = {fold_name(name.text) for one in asked.visitor.view.people.list() for name in one.names}
    return None if fold_name(who) in known else who


@pages.post("/memories/{id}/withhold", who=PageAccess.BOTH, again=show_withhold_form)
def post_withhold(asked: PageRequest, id: str) -> Response:
    who = asked.form.line("who")
    if who is None:
        raise InvalidInput("who", "enter a name, or a key such as telegram:123")
    memory = memories.get_managed_memory(asked.visitor, id)
    unmet = _unknown_name(asked)
    if unmet is not None and asked.form.line("sure") != unmet:
        raise InvalidInput("who", "you know no person with this name; check the spelling")
    try:
        result = memories.withhold_memory(asked.visitor, id, who)
    except InvalidInput as error:  # name the form's only field
        raise InvalidInput("who", error.problem) from None
    now = memories.get_managed_memory(asked.visitor, id)
    unknown = now.withheld_unknown and not memory.withheld_unknown
    return redirect_to_memory(asked, result, "withheld-unknown" if unknown else "withheld")
