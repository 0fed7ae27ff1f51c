"""The first page: what is remembered, newest first; searched as you type, narrowed by filters."""

from __future__ import annotations

from starlette.responses import Response

from tacit import Page, limits
from tacit.errors import InvalidInput
from tacit.records.memory import Memory
from tacit.surfaces.console import naming, plain, searching
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
NONE: Page[Memory] = Page()


@pages.get("/", who=Who.BOTH, nav="Memories")
def show(asked: Asked) -> Response:
    found, count, most, problem = NONE, 0, limits.BROWSE_COUNT_MAX_COUNT, None
    try:
        search = searching.search_of(asked)
        words = asked.visitor.api
        cursor = asked.query.line("cursor")
        found = words.browse(search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
        if search.words is None:
            count = words.browse_count(search)
        else:
            # Not counted further than the page: at each letter, that would cost more than finding.
            count = len(found)
            most = count if found.cursor or cursor else most
    except InvalidInput as wrong:
        # To who types, not a failure: the next letter may put it right.
        asked = asked if asked.is_fragment else asked.with_error(wrong)
        problem = wrong.problem
    return asked.render(
        "memories.html",
        fragment="memories_found.html",
        found=found,
        count=count,
        most=most,
        problem=problem,
        narrowed=searching.filters_in(asked),
        bulk=searching.address(asked, "/chosen"),
        names=naming.names_for(asked.visitor),
        plain=plain,
        **({} if asked.is_fragment else searching.choices(asked)),
    )
