"""The official client, over HTTP with a key, and over stdio with a process."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tacit.memory import Memory

Story = Callable[[Client], Awaitable[None]]


@dataclass(frozen=True)
class Served:
    address: str
    memory: Memory

    def token(self, *scopes: str, requester: str | None = None, **more: Any) -> str:
        return self.memory.keys.create("test", scopes=scopes, requester=requester, **more).token

    def tell(self, story: Story, token: str | None, *, path: str = "/mcp", mode: str = "auto", **said: str) -> None:
        """`said` are headers: `chat` for X-Tacit-Chat, and so on."""
        headers = {f"X-Tacit-{name.replace('_', '-')}": value for name, value in said.items()}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"

        async def run() -> None:
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(self.address + path, http_client=http), mode=mode) as client,
            ):
                await story(client)

        anyio.run(run)

    def post(self, body: bytes, *, path: str = "/mcp", **headers: str) -> httpx2.Response:
        with httpx2.Client(trust_env=False) as http:
            return http.post(self.address + path, content=body, headers=headers)


@asynccontextmanager
async def process(database: Path, *options: str) -> AsyncIterator[Client]:
    """`tacit mcp`, as a client starts it."""
    # What the tests set for every process: no model, and nobody who tidies up.
    own = {name: value for name, value in os.environ.items() if name.startswith("TACIT_")}
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tacit.cli", "mcp", "--db", str(database), *options],
        env=own | {"HOME": str(database.parent)},
        cwd=database.parent,
    )
    async with Client(started) as client:
        yield client


async def called(client: Client, name: str, **arguments: Any) -> types.CallToolResult:
    return await client.call_tool(name, arguments)


async def data(client: Client, name: str, **arguments: Any) -> Any:
    answer = await called(client, name, **arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content
