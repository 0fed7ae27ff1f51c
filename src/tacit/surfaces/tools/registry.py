"""Which tools there are. To wipe a person's memory is not among them: that is for people."""

from __future__ import annotations

from tacit.memory import DisabledView, View
from tacit.surfaces.tools.facts import fact_tools
from tacit.surfaces.tools.files import file_tools
from tacit.surfaces.tools.questions import question_tools
from tacit.surfaces.tools.tool import Tool
from tacit.surfaces.tools.values import value_tools


def tools(view: View | DisabledView) -> tuple[Tool, ...]:
    """Bound to this view; none where memory is disabled."""
    if isinstance(view, DisabledView) or not view.enabled:
        return ()
    return (*value_tools(view), *fact_tools(view), *question_tools(view), *file_tools(view))
