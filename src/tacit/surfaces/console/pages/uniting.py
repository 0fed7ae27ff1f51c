"""Saying that two people are one, after a question that tells what changes, and taking it back."""

from __future__ import annotations

from starlette.responses import Response

from tacit.errors import InvalidInput, NotFound
from tacit.records.accounts import Person
from tacit.surfaces.console import knowing, merging
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.pages.people import NONE, PATH, address
from tacit.surfaces.console.routes import Pages, Said, Who

_UNDO = f"{PATH}/unmerge"
pages = Pages(
    flashes={
        "merged": Said(one="They are one person from now on.", undo=_UNDO),
        "unmerged": Said(one="They are two people again."),
        "not-merged": Said(
            one="Nothing was changed: they are not merged, or an operator said that they are one."
        ),
    }
)


@pages.get(f"{PATH}/{{id}}/merge", who=Who.BOTH)
def ask(asked: Asked, id: str) -> Response:
    """Whom with; and once that is known, whether."""
    person = knowing.person(asked.visitor, id)
    into = asked.query.line("into")
    if into is not None and asked.wrong is None:
        try:
            other = knowing.person(asked.visitor, into)
            source, target = merging.pair(asked.visitor, person, other)
            return asked.render(
                "merge_confirm.html", person=person, source=source, target=target, knowing=knowing
            )
        except InvalidInput as wrong:
            asked = asked.with_error(wrong)
    return _choose(asked, id)


def _choose(asked: Asked, id: str) -> Response:
    visitor = asked.visitor
    person = knowing.person(visitor, id)
    try:
        found = knowing.people(visitor, asked.query.line("name"), asked.query.line("cursor"))
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NONE
    return asked.render(
        "merge.html",
        fragment="merge_found.html",
        person=person,
        found=found,
        some=[other for other in found if _fits(asked, person, other)],
        knowing=knowing,
    )


def _fits(asked: Asked, person: Person, other: Person) -> bool:
    try:
        merging.pair(asked.visitor, person, other)
    except InvalidInput:
        return False
    return True


@pages.post(f"{PATH}/{{id}}/merge", who=Who.BOTH, again=_choose)
def merge(asked: Asked, id: str) -> Response:
    visitor = asked.visitor
    person = knowing.person(visitor, id)
    other = knowing.person(visitor, asked.form.line("into") or "")
    source, target = merging.pair(visitor, person, other)
    merged = merging.merge(visitor, source, target)
    mark = merged.removeprefix(knowing.BY_NAME_ONLY)  # as ids are written in cookies
    return asked.redirect(address(target.id), said="merged", ids=[mark])


@pages.post(f"{PATH}/{{id}}/apart", who=Who.BOTH)
def take_apart(asked: Asked, id: str) -> Response:
    person = knowing.person(asked.visitor, id)
    return _taken_apart(asked, merging.merged_into(asked.visitor, person), person.id)


@pages.post(_UNDO, who=Who.BOTH)
def undo(asked: Asked) -> Response:
    ids = asked.form.many("id")
    if len(ids) != 1:
        raise NotFound("page")
    merged = f"{knowing.BY_NAME_ONLY}{ids[0]}"
    return _taken_apart(asked, [merged], merged)


def _taken_apart(asked: Asked, ids: list[str], back: str) -> Response:
    undone = 0
    for one in ids:
        try:
            merging.unmerge(asked.visitor, one)
            undone += 1
        except (NotFound, InvalidInput):
            continue
    return asked.redirect(address(back), said="unmerged" if undone else "not-merged")
