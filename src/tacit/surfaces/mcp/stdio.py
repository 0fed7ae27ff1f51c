"""MCP over standard input and output: one person, one conversation, as long as the client stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tacit.memory import DisabledView, View
from tacit.surfaces.mcp.profiles import Name
from tacit.surfaces.mcp.server import Bound, server

T = TypeVar("T")


def serve(view: View | DisabledView, profile: Name = Name.STANDARD) -> None:
    """Until the other side closes its end."""
    import anyio

    anyio.run(_serve, view, profile)


async def _serve(view: View | DisabledView, profile: Name) -> None:
    from mcp.server.stdio import stdio_server

    bound = Bound(view=view)

    def bind(_: Any) -> Bound:
        return bound

    made = server(bind, _in_a_thread, profile)
    async with stdio_server() as (reading, writing):
        await made.run(reading, writing, made.create_initialization_options())


async def _in_a_thread(work: Callable[[], T], /) -> T:
    from anyio.to_thread import run_sync

    return await run_sync(work)
