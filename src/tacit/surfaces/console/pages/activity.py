"""What was learned, changed, merged and forgotten: today first, and how often over a month."""

from __future__ import annotations

from starlette.responses import Response

from tacit import Page, Search, limits
from tacit.errors import InvalidInput
from tacit.records.memory import State
from tacit.records.results import ActivityEntry
from tacit.surfaces.console import lately, naming
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
NONE: Page[ActivityEntry] = Page()
_MOST = limits.PAGE_MAX_COUNT


@pages.get("/activity", who=Who.BOTH, nav="Activity")
def show(asked: Asked) -> Response:
    words = asked.visitor.api
    try:
        found = words.activity(limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor"))
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NONE
    counts = words.activity_days()
    return asked.render(
        "activity.html",
        found=found,
        days=lately.days(found, waiting=_waiting(asked)),
        charts=lately.charts(counts),
        counted=lately.counted(counts),
        counts=[one for one in reversed(counts) if one.counts],
        of_days=len(counts),
        lately=lately,
        names=naming.names_for(asked.visitor),
    )


def _waiting(asked: Asked) -> frozenset[str]:
    """What a person is asked about now. An operator is asked nothing, and each look is noted."""
    if asked.visitor.is_operator:
        return frozenset()
    pending = Search(state=State.PENDING)
    return frozenset(one.id for one in asked.visitor.view.browse(pending, limit=_MOST))
