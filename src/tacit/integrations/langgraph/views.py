"""The view that checkpoints and items belong to: a fixed one, or by a run's config."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeGuard

from tacit.errors import InvalidInput, MissingExtra
from tacit.memory import View, is_remote

try:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.runnables.config import ensure_config
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's checkpoints and store") from None

VIEW_FUNCTION_HINT = (
    'lambda config: memory.view(tacit.Requester(key := config["configurable"]["user_id"]), tacit.Chat.private(key))'
)
# A view, or a function that makes one from the config of a run: one graph for many people.
ViewSource: TypeAlias = View | Callable[[RunnableConfig], View]


def is_open_view(found: object) -> TypeGuard[View]:
    """Return whether it is a view, and this process has its memory open."""
    return isinstance(found, View) and not is_remote(found)


def require_view_source(whose: object) -> None:
    """Check the argument early, not in the middle of a run."""
    if not is_open_view(whose) and not callable(whose):
        raise InvalidInput(
            "view",
            "takes memory.view(requester, chat), or a function that makes one from the config of "
            f"a run: {VIEW_FUNCTION_HINT}. Views of tacit.connect are not supported: a graph saves "
            "at each step, in the process that has the memory open",
        )


def resolve_view(whose: ViewSource, config: RunnableConfig | None = None) -> View:
    """Return the view for the config of the call, or of the running node if there is none."""
    if isinstance(whose, View):
        return whose
    running = ensure_config(config) if config is None else config
    if not running.get("configurable"):
        raise InvalidInput(
            "view",
            "there is no config that names the person: call this inside a running graph, or pass "
            "a view instead of a function",
        )
    view = whose(running)
    if not is_open_view(view):
        raise InvalidInput("view", f"the function must return a view, as does {VIEW_FUNCTION_HINT}")
    return view
