"""How far a memory goes: who may hear it, shown before anything is changed, and whom it never
reaches."""

from __future__ import annotations

from starlette.responses import Response

from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind, Memory, Visibility
from tacit.records.validation import fold_name
from tacit.surfaces.console import acting, naming, plain, previewing, wording
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.pages.memory import done
from tacit.surfaces.console.routes import Pages, Said, Who

pages = Pages(
    flashes={
        "visibility": Said(
            one="Who may hear it is changed.",
            many="Who may hear {count} of them is changed.",
            undo="/undo/visibility",
        ),
        "withheld": Said(one="It is withheld from them, here and everywhere."),
        "withheld-unknown": Said(
            one="It is withheld from whoever goes by that name. As long as nobody knows who is "
            "meant, only you hear it."
        ),
    }
)


@pages.get("/memories/{id}/visibility", who=Who.BOTH)
def preview(asked: Asked, id: str) -> Response:
    memory = acting.memory_of(asked.visitor, id)
    wanted = (asked.form if asked.wrong else asked.query).choice("visibility", Visibility)
    words = asked.visitor.api
    now = words.hearers(id)
    is_now = wording.reach(memory)
    then = now if wanted in (None, is_now) else words.hearers(id, visibility=wanted)
    names = naming.names_for(asked.visitor)
    return asked.render(
        "memory_visibility.html",
        fragment="memory_preview.html",
        memory=memory,
        wanted=wanted or is_now,
        changes=previewing.compared(now, then, names),
        left_out=then.rooms_left_out + then.people_left_out,
        choices=_choices(asked, memory, plain.visibility(memory, names)),
    )


def _choices(asked: Asked, memory: Memory, says: dict[Visibility, str]) -> dict[Visibility, str]:
    """What was said in no room is for none. An operator lowers it, and never raises it."""
    if memory.learned_kind is not ChatKind.GROUP:
        says = {one: text for one, text in says.items() if one is not Visibility.ROOM}
    if not asked.visitor.is_operator:
        return says
    return {one: text for one, text in says.items() if one.rank <= memory.visibility.rank}


@pages.post("/memories/{id}/visibility", who=Who.BOTH, again=preview)
def set_visibility(asked: Asked, id: str) -> Response:
    wanted = asked.form.choice("visibility", Visibility)
    if wanted is None:
        raise InvalidInput("visibility", "choose who may hear it")
    return done(asked, acting.set_visibility(asked.visitor, id, wanted), "visibility")


@pages.get("/memories/{id}/withhold", who=Who.BOTH)
def ask_whom(asked: Asked, id: str) -> Response:
    visitor = asked.visitor
    people = set() if visitor.is_operator else {naming.called(one) for one in visitor.view.people()}
    return asked.render(
        "question.html",
        fragment="memory_withhold.html",
        title="Withhold it from somebody",
        part="memory_withhold.html",
        memory=acting.memory_of(visitor, id),
        people=sorted(people, key=str.casefold),
        unmet=_unmet(asked) if asked.wrong else None,
    )


def _unmet(asked: Asked) -> str | None:
    """The name they wrote, if nobody whom they know has it."""
    who = asked.form.line("who")
    if who is None or ":" in who or asked.visitor.is_operator:
        return None
    known = {fold_name(name.text) for one in asked.visitor.view.people() for name in one.names}
    return None if fold_name(who) in known else who


@pages.post("/memories/{id}/withhold", who=Who.BOTH, again=ask_whom)
def withhold(asked: Asked, id: str) -> Response:
    who = asked.form.line("who")
    if who is None:
        raise InvalidInput("who", "say from whom: by a name, or by a key such as telegram:123")
    memory = acting.memory_of(asked.visitor, id)
    unmet = _unmet(asked)
    if unmet is not None and asked.form.line("sure") != unmet:
        raise InvalidInput("who", "nobody you know is called so; see whether you mean another name")
    try:
        what = acting.withhold(asked.visitor, id, who)
    except InvalidInput as wrong:  # of the one field that there is, whatever a draft calls it
        raise InvalidInput("who", wrong.problem) from None
    now = acting.memory_of(asked.visitor, id)
    unknown = now.withheld_unknown and not memory.withheld_unknown
    return done(asked, what, "withheld-unknown" if unknown else "withheld")
