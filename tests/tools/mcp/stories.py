"""What is told to a server, whatever it is reached by: every tool is listed and called."""

from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.tools.calling import REFERENCE, STANDARD, filled
from tests.tools.mcp.clients import called, data

Calls = tuple[tuple[str, dict[str, Any]], ...]


async def every_tool(client: Client, calls: Calls) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == {name for name, _ in calls}
    for tool in listed.values():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
    id = ""
    for name, arguments in calls:
        answer = await called(client, name, **filled(arguments, id))
        assert not answer.is_error, (name, answer.content)
        assert answer.content
        if name == "add_to_memory":
            id = answer.structured_content["id"]


async def standard(client: Client) -> None:
    assert client.server_info is not None
    assert client.server_info.name == "tacit"
    await every_tool(client, STANDARD)
    await the_block(client)
    with pytest.raises(MCPError, match="no such tool"):
        await client.call_tool("memory_wipe", {})


async def reference(client: Client) -> None:
    await every_tool(client, REFERENCE)
    uris = [one.uri for one in (await client.list_resources()).resources]
    assert uris == ["memory://knowledge-graph", "tacit://block"]
    found = await client.read_resource("memory://knowledge-graph")
    assert [part.text for part in found.contents if isinstance(part, types.TextResourceContents)]


async def the_block(client: Client) -> None:
    """As a resource, and as a prompt: the same bytes."""
    await data(client, "add_memory", content="Alice likes jazz", type="preference")
    (listed,) = (await client.list_resources()).resources
    (part,) = (await client.read_resource(listed.uri)).contents
    assert isinstance(part, types.TextResourceContents)
    assert "Alice likes jazz" in part.text
    (prompt,) = (await client.list_prompts()).prompts
    (said,) = (await client.get_prompt(prompt.name)).messages
    assert isinstance(said.content, types.TextContent)
    assert said.content.text == part.text
    asked = await client.get_prompt(prompt.name, {"question": "which music?"})
    assert isinstance(asked.messages[0].content, types.TextContent)
    assert asked.messages[0].content.text.startswith(part.text)
    with pytest.raises(MCPError, match="no such resource"):
        await client.read_resource("tacit://nothing")
    with pytest.raises(MCPError, match="no such prompt"):
        await client.get_prompt("nothing")
