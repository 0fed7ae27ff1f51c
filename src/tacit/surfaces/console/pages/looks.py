"""Who looked at memories: a person is told of looks at their own, an operator of all."""

from __future__ import annotations

from starlette.responses import Response

from tacit import Page, limits
from tacit.errors import InvalidInput
from tacit.records.results import AccessLogEntry
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
NONE: Page[AccessLogEntry] = Page()
DID = {
    "browse": "looked through memories",
    "browse_count": "counted memories",
    "show": "opened a memory",
    "history": "looked at what happened to a memory",
    "rooms": "looked at rooms",
    "hearing": "asked what would be said to somebody",
    "hearers": "asked who would hear a memory",
    "recalled": "asked what would come to somebody's mind",
    "graph": "looked at the picture of memories and people",
    "activity": "looked at what happened lately",
    "activity_days": "counted what happened lately",
    "people": "looked through people",
    "about": "looked at what is remembered about somebody",
    "looks": "looked at this list",
}


@pages.get("/looks", who=Who.BOTH, nav="Looks")
def show(asked: Asked) -> Response:
    try:
        found = asked.visitor.api.looks(
            limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor")
        )
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NONE
    return asked.render("looks.html", found=found, did=DID, days=limits.ACCESS_LOG_KEEP_DAYS)
