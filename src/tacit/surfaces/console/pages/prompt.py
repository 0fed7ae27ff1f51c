"""What a model would get: the block and the fresh part, to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from tacit import limits
from tacit.clock import system_clock
from tacit.errors import InvalidInput
from tacit.records.results import Block, Fresh
from tacit.settings import Settings
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
STYLES = {
    "memory": "Headings and lists",
    "filtered": "Keys and values",
    "summary": "Notes and recent sessions",
}


@pages.get("/prompt", who=Who.PERSON, nav="Prompt")
def show(asked: Asked) -> Response:
    try:
        shown = _preview(asked)
    except InvalidInput as wrong:
        asked, shown = asked.with_error(wrong), {"block": None, "fresh": None}
    settings = asked.site.settings
    return asked.render(
        "prompt.html",
        styles=STYLES,
        agents=[(one, one) for one in sorted(settings.allowlists)],
        usual=settings.prompt.style,
        **shown,
    )


def thread() -> str:
    """A conversation that begins within this minute, so that its block is as one would be now, and
    no other conversation's is touched. Names come round: what is noted of them stays few rows."""
    return f"console {system_clock():%H:%M}"


def _preview(asked: Asked) -> Mapping[str, Any]:
    settings, question = asked.site.settings, asked.query.line("query")
    style = asked.query.line("style") or settings.prompt.style
    agent = asked.query.line("agent")
    if agent is not None and agent not in settings.allowlists:
        raise InvalidInput("agent", "is not one of the list; choose one")
    view = asked.visitor.view_in(thread(), agent)
    block: Block = view.block(style)
    fresh: Fresh | None = view.fresh(question) if question is not None else None
    return {
        "block": block,
        "fresh": fresh,
        "style": style,
        "most": _most(settings, style),
        "fresh_most": limits.FRESH_BUDGET_TOKENS,
    }


def _most(settings: Settings, style: str) -> str:
    """What the limits of a block are, in words."""
    if style == "summary":
        return f"{settings.notes.items_max:,} memories"
    return f"{settings.prompt.items_max:,} memories and {settings.prompt.chars_max:,} characters"
