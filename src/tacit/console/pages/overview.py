"""Pages that only read: graph, activity, prompt preview and access log."""

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
from tacit.records.results import Graph
from tacit.settings import Settings

pages = PageGroup()
prompt_pages = PageGroup()  # stand behind the review in the navigation

# The graph. The page is a list, from which a script draws the picture.

NODES_MAX_COUNT = limits.GRAPH_NODES_MAX_COUNT


@pages.get("/graph", who=PageAccess.BOTH, nav="Graph")
def show_graph(asked: PageRequest) -> Response:
    """Show some nodes at first, which draws quickly, and more on request."""
    count, api = ("most", limits.GRAPH_FIRST_COUNT, 1, NODES_MAX_COUNT), asked.visitor.api
    asked, found = asked.attempt(lambda: api.graph(limit=asked.query.integer(*count)), Graph())
    return asked.render("graph.html", drawn=draw_graph(found), most=NODES_MAX_COUNT)


# Activity, newest first, and counts of the last 30 days.

_PENDING_MAX_COUNT = limits.PAGE_MAX_COUNT


@pages.get("/activity", who=PageAccess.BOTH, nav="Activity")
def show_activity(asked: PageRequest) -> Response:
    audit = asked.visitor.api.audit
    asked, found = asked.attempt(lambda: audit.activity(cursor=asked.query.line("cursor")), Page())
    counts = audit.daily_counts()
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
    """Return the ids of a person's proposals. Operators have none."""
    if asked.visitor.is_operator:
        return frozenset()
    pending = Search(state=State.PENDING)
    return frozenset(one.id for one in asked.visitor.view.browse(pending, limit=_PENDING_MAX_COUNT))


# The prompt preview: block and fresh context exactly as the model receives them.

PROMPT_STYLES = {"memory": "Headings and lists", "filtered": "Keys and values", "summary": "Notes and recent sessions"}


@prompt_pages.get("/prompt", who=PageAccess.PERSON, nav="Prompt preview")
def show_prompt(asked: PageRequest) -> Response:
    asked, shown = asked.attempt(lambda: _preview_prompt(asked), {"block": None, "fresh": None})
    settings = asked.site.settings
    return asked.render(
        "prompt_preview.html",
        styles=PROMPT_STYLES,
        agents=[(one, one) for one in sorted(settings.allowlists)],
        usual=settings.prompt.style,
        **shown,
    )


def preview_thread() -> str:
    """Return a thread of this minute: its block is new, and no other conversation's changes.

    Thread names repeat each day, so few rows are stored.
    """
    return f"console {system_clock():%H:%M}"


def _preview_prompt(asked: PageRequest) -> Mapping[str, Any]:
    settings, question = asked.site.settings, asked.query.line("query")
    style = asked.query.line("style") or settings.prompt.style
    agent = asked.query.line("agent")
    if agent is not None and agent not in settings.allowlists:
        raise InvalidInput("agent", "is unknown; choose one from the list")
    view = asked.visitor.view_in(preview_thread(), agent)
    return {
        "block": view.block(style),
        "fresh": None if question is None else view.fresh(question),
        "style": style,
        "most": _describe_limits(settings, style),
        "fresh_most": limits.FRESH_BUDGET_TOKENS,
    }


def _describe_limits(settings: Settings, style: str) -> str:
    if style == "summary":
        return f"{settings.notes.items_max:,} memories"
    return f"{settings.prompt.items_max:,} memories and {settings.prompt.chars_max:,} characters"


# The access log: a person sees reads of their own memories, an operator all reads.

OPERATION_LABELS = {
    "browse": "listed memories",
    "browse_count": "counted memories",
    "show": "opened a memory",
    "history": "opened the history of a memory",
    "rooms": "listed chats",
    "hearing": "previewed the memories a person would see",
    "hearers": "checked who can see a memory",
    "recalled": "previewed the memories a question would recall",
    "graph": "opened the graph",
    "activity": "opened the activity",
    "activity_days": "counted the activity by day",
    "people": "listed people",
    "about": "listed memories about a person",
    "looks": "opened the access log",
}


@prompt_pages.get("/access-log", who=PageAccess.BOTH, nav="Access log")
def show_access_log(asked: PageRequest) -> Response:
    log = asked.visitor.api.audit.access_log
    asked, found = asked.attempt(lambda: log(cursor=asked.query.line("cursor")), Page())
    return asked.render("access_log.html", found=found, did=OPERATION_LABELS, days=limits.ACCESS_LOG_KEEP_DAYS)
