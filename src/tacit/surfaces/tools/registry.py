"""Which tools there are. To wipe a person's memory is not among them: that is for people."""

from __future__ import annotations

from tacit.memory import DisabledView, View
from tacit.records.memory import Sensitivity
from tacit.surfaces.tools.facts import fact_tools
from tacit.surfaces.tools.files import file_tools
from tacit.surfaces.tools.questions import question_tools
from tacit.surfaces.tools.tool import Tool
from tacit.surfaces.tools.values import value_tools


def tools(
    view: View | DisabledView, message: str | None = None, least: Sensitivity | None = None
) -> tuple[Tool, ...]:
    """Bound to this view; none where memory is disabled. `message` is the channel's id of what they
    are called for: what is kept then goes again when that message is taken back. What is kept is
    no less sensitive than `least`, where that is given."""
    if isinstance(view, DisabledView) or not view.enabled:
        return ()
    kept = (*value_tools(view, message, least), *fact_tools(view, message, least))
    return (*kept, *question_tools(view), *file_tools(view))
