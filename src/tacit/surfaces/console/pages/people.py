"""Who is known, what they are called, and what is remembered about them."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from tacit import Page, limits
from tacit.errors import InvalidInput
from tacit.records.accounts import NameKind, Person
from tacit.records.queries import Search
from tacit.surfaces.console import knowing, merging, naming, plain
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Said, Who

PATH = "/people"
pages = Pages(
    flashes={
        "named": Said(
            one="You call them so, too, from now on. No other person is told; operators can see it."
        )
    }
)
NONE: Page[Person] = Page()
GIVEN = (NameKind.ALIAS, NameKind.NAME, NameKind.USERNAME, NameKind.RELATION)


@pages.get(PATH, who=Who.BOTH, nav="People")
def show(asked: Asked) -> Response:
    query = asked.query
    try:
        found = knowing.people(asked.visitor, query.line("name"), query.line("cursor"))
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NONE
    return asked.render(
        "people.html",
        fragment="people_found.html",
        found=found,
        names=naming.names_for(asked.visitor),
        knowing=knowing,
    )


@pages.get(f"{PATH}/{{id}}", who=Who.BOTH)
def one(asked: Asked, id: str) -> Response:
    visitor = asked.visitor
    person = knowing.person(visitor, id)
    names = naming.names_for(visitor)
    return asked.render(
        "person.html",
        person=person,
        is_me=names.is_mine(person.id),
        merged=merging.merged_into(visitor, person),
        names=names,
        knowing=knowing,
        plain=plain,
        found=visitor.api.about(
            person.id, limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor")
        ),
        count=visitor.api.browse_count(Search(about=person.id)),
        kinds={kind.value: knowing.KINDS[kind].capitalize() for kind in GIVEN},
        most_chars=limits.NAME_MAX_CHARS,
    )


@pages.post(f"{PATH}/{{id}}/name", who=Who.PERSON, again=one)
def name(asked: Asked, id: str) -> Response:
    person = knowing.person(asked.visitor, id)
    kind = asked.form.choice("kind", NameKind) or NameKind.ALIAS
    named = asked.visitor.view.name(person.id, asked.form.line("name") or "", kind)
    return asked.redirect(address(named.id), said="named")


def address(id: str) -> str:
    return f"{PATH}/{quote(id, safe='')}"
