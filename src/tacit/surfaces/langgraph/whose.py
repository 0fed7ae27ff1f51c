"""Whose checkpoints and items: those of one view, or of the view that a graph's config leads to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tacit.errors import InvalidInput, MissingExtra
from tacit.memory import DisabledView, View

try:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.runnables.config import ensure_config
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's checkpoints and store") from None

VIEWS = (View, DisabledView)
HINT = (
    'lambda config: memory.view(tacit.Requester(key := config["configurable"]["user_id"]), '
    "tacit.Chat.private(key))"
)
# A view, or a function that finds one by the config of the run: one graph for many people.
Whose: TypeAlias = View | DisabledView | Callable[[RunnableConfig], View | DisabledView]


def required(whose: object) -> None:
    """Said where it is handed in, not in the middle of a run."""
    if not isinstance(whose, VIEWS) and not callable(whose):
        raise InvalidInput(
            "view",
            "takes memory.view(requester, chat), or a function that makes one of the config of a "
            f"run: {HINT}. Views of tacit.connect are not taken: a graph saves with each of its "
            "steps, in the process that has the memory open",
        )


def view_of(whose: Whose, config: RunnableConfig | None = None) -> View | DisabledView:
    """`config` is that of the call; without one, that of the node which is running."""
    if isinstance(whose, VIEWS):
        return whose
    running = ensure_config(config) if config is None else config
    if not running.get("configurable"):
        raise InvalidInput(
            "view",
            "there is no config here to tell whose it is: call this inside a graph that runs, "
            "or hand a view instead of a function",
        )
    view = whose(running)
    if not isinstance(view, VIEWS):
        raise InvalidInput("view", f"the function must give a view, as does {HINT}")
    return view
