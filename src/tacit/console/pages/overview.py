"""Pages that only read: activity, access log, graph and prompt preview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from tacit import Page, Search, limits
from tacit.clock import system_clock
from tacit.console import charts, labels
from tacit.console.charts import draw_graph
from tacit.console.requests import PageRequest
from tacit.console.site import PageAccess, PageGroup
from tacit.errors import InvalidInput
from tacit.records.memory import State
from tacit.records.results import AccessLogEntry, ActivityEntry, Block, Fresh, Graph
from tacit.settings import Settings

# What was learned, changed, merged and forgotten: today first, and how often over a month.

activity_pages = PageGroup()
NO_ACTIVITY: Page[ActivityEntry] = Page()
_PENDING_MAX_COUNT = limits.PAGE_MAX_COUNT


@activity_pages.get("/activity", who=PageAccess.BOTH, nav="Activity")
def show_activity(asked: PageRequest) -> Response:
    words = asked.visitor.api
    try:
        found = words.audit.activity(
            limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor")
        )
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NO_ACTIVITY
    counts = words.audit.daily_counts()
    return asked.render(
        "activity.html",
        found=found,
        days=charts.group_by_day(found, waiting=_pending_ids(asked)),
        charts=charts.build_charts(counts),
        counted=charts.list_charted_events(counts),
        counts=[one for one in reversed(counts) if one.counts],
        of_days=len(counts),
        drawing=charts,
        names=labels.labels_for(asked.visitor),
    )


def _pending_ids(asked: PageRequest) -> frozenset[str]:
    """What a person is asked about now. An operator is asked nothing, and each look is noted."""
    if asked.visitor.is_operator:
        return frozenset()
    pending = Search(state=State.PENDING)
    return frozenset(one.id for one in asked.visitor.view.browse(pending, limit=_PENDING_MAX_COUNT))


# Who looked at memories: a person is told of looks at their own, an operator of all.

access_log_pages = PageGroup()
NO_ENTRIES: Page[AccessLogEntry] = Page()
OPERATION_LABELS = {
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


@access_log_pages.get("/looks", who=PageAccess.BOTH, nav="Looks")
def show_access_log(asked: PageRequest) -> Response:
    try:
        found = asked.visitor.api.audit.access_log(
            limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor")
        )
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), NO_ENTRIES
    return asked.render(
        "looks.html", found=found, did=OPERATION_LABELS, days=limits.ACCESS_LOG_KEEP_DAYS
    )


# Memories and people as a picture, and the same as a list: the picture is drawn from the list.

graph_pages = PageGroup()
NODES_MAX_COUNT = limits.GRAPH_NODES_MAX_COUNT


@graph_pages.get("/graph", who=PageAccess.BOTH, nav="Graph")
def show_graph(asked: PageRequest) -> Response:
    """Some at first, which is quick to draw and to take in, and more where that is asked for."""
    try:
        most = asked.query.integer("most", limits.GRAPH_FIRST_COUNT, 1, NODES_MAX_COUNT)
        found = asked.visitor.api.graph(limit=most)
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), Graph()
    return asked.render("graph.html", drawn=draw_graph(found), most=NODES_MAX_COUNT)


# What a model would get: the block and the fresh part, to the letter.

prompt_pages = PageGroup()
PROMPT_STYLES = {
    "memory": "Headings and lists",
    "filtered": "Keys and values",
    "summary": "Notes and recent sessions",
}


@prompt_pages.get("/prompt", who=PageAccess.PERSON, nav="Prompt")
def show_prompt(asked: PageRequest) -> Response:
    try:
        shown = _preview_prompt(asked)
    except InvalidInput as wrong:
        asked, shown = asked.with_error(wrong), {"block": None, "fresh": None}
    settings = asked.site.settings
    return asked.render(
        "prompt.html",
        styles=PROMPT_STYLES,
        agents=[(one, one) for one in sorted(settings.allowlists)],
        usual=settings.prompt.style,
        **shown,
    )


def preview_thread() -> str:
    """A conversation that begins within this minute, so that its block is as one would be now, and
    no other conversation's is touched. Names come round: what is noted of them stays few rows."""
    return f"console {system_clock():%H:%M}"


def _preview_prompt(asked: PageRequest) -> Mapping[str, Any]:
    settings, question = asked.site.settings, asked.query.line("query")
    style = asked.query.line("style") or settings.prompt.style
    agent = asked.query.line("agent")
    if agent is not None and agent not in settings.allowlists:
        raise InvalidInput("agent", "is not one of the list; choose one")
    view = asked.visitor.view_in(preview_thread(), agent)
    block: Block = view.block(style)
    fresh: Fresh | None = view.fresh(question) if question is not None else None
    return {
        "block": block,
        "fresh": fresh,
        "style": style,
        "most": _describe_limits(settings, style),
        "fresh_most": limits.FRESH_BUDGET_TOKENS,
    }


def _describe_limits(settings: Settings, style: str) -> str:
    """What the limits of a block are, in words."""
    if style == "summary":
        return f"{settings.notes.items_max:,} memories"
    return f"{settings.prompt.items_max:,} memories and {settings.prompt.chars_max:,} characters"
