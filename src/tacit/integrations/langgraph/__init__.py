"""LangGraph's checkpointer and store, for the person of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.integrations.langgraph.checkpointer import Checkpointer
    from tacit.integrations.langgraph.store import Store

__all__ = ["Checkpointer", "Store"]


def __getattr__(name: str) -> Any:
    """Import each on first use: a graph that needs one does not load the other."""
    if name == "Checkpointer":
        from tacit.integrations.langgraph.checkpointer import Checkpointer

        return Checkpointer
    if name == "Store":
        from tacit.integrations.langgraph.store import Store

        return Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
