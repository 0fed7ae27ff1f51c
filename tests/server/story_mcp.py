"""The story through the official client of MCP, over HTTP: tools, and the block as a resource. What
no tool may do (the owner's own yes, links, what a channel hands over) goes over REST."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.headers import vouching
from tests.server.story import At, Refused
from tests.server.story_library import suggested
from tests.server.story_rest import Rest

T = TypeVar("T")
# Tools name the speaker of what another person said; the library has that in fields of its own.
_SPEAKER = re.compile(r"^\w+ said that ")


def _words(content: str) -> str:
    return _SPEAKER.sub("", content)


class Mcp:
    def __init__(self, url: str, adapter: str, rest: Rest) -> None:
        self._url = url
        self._adapter = adapter
        self._rest = rest

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        given = {"content": content, "category": category, "subject": subject}
        done = self._call(at, "add_to_memory", **given)
        if not done["stored"]:
            raise suggested(done["suggestion"]["id"], done["suggestion"]["content"])
        return str(done["id"])

    def update(self, at: At, id: str, content: str) -> int:
        return int(self._call(at, "update_memory", memory_id=id, content=content)["version"])

    def put(self, at: At, category: str, key: str, value: str) -> str:
        return str(self._call(at, "memory_put", namespace=category, key=key, value=value)["id"])

    def get(self, at: At, category: str, key: str) -> str | None:
        found = self._call(at, "memory_get", namespace=category, key=key)["memory"]
        return None if found is None else _words(str(found["content"]))

    def listed(self, at: At, category: str) -> Sequence[str]:
        found = self._call(at, "memory_list", namespace=category)["memories"]
        return [_words(one["content"]) for one in found]

    def forget_key(self, at: At, category: str, key: str) -> int:
        return int(self._call(at, "memory_delete", namespace=category, key=key)["forgotten"])

    def recalled(self, at: At, question: str) -> Sequence[str]:
        found = self._call(at, "search_memories", query=question)["memories"]
        return [_words(one["content"]) for one in found]

    def block(self, at: At) -> str:
        async def read(client: Client) -> str:
            (found,) = (await client.read_resource("tacit://block")).contents
            return str(getattr(found, "text", ""))

        return self._as(at, read)

    def share(self, at: At, category: str, key: str) -> None:
        """The model asks, and the owner says yes."""
        value = self.get(at, category, key)
        given = {"namespace": category, "key": key, "value": value, "visibility": "public_ok"}
        assert self._call(at, "memory_put", **given)["asked"]
        self._rest.approve_all(at)

    def said(self, at: At, words: str) -> None:
        self._rest.said(at, words)

    def link(self, key: str, account: str) -> None:
        self._rest.link(key, account)

    def _call(self, at: At, tool: str, **given: Any) -> dict[str, Any]:
        async def call(client: Client) -> dict[str, Any]:
            done = await client.call_tool(tool, given)
            if done.is_error:
                raise Refused("".join(getattr(one, "text", "") for one in done.content))
            assert done.structured_content is not None
            return dict(done.structured_content)

        return self._as(at, call)

    def _as(self, at: At, work: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            async with httpx2.AsyncClient(headers=vouching(self._adapter, at)) as http:
                transport = streamable_http_client(f"{self._url}/mcp", http_client=http)
                refused: Refused | None = None
                async with Client(transport) as client:
                    # Raised inside, it would come out as a group of errors.
                    try:
                        return await work(client)
                    except Refused as error:
                        refused = error
            raise refused

        return anyio.run(connected)
