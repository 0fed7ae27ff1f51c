"""A client of the Model Context Protocol: start `tacit mcp` for one person, and call its tools.

Run it:

    pip install '.[server]'
    python examples/mcp_client.py

It prints:

    12 tools, among them memory_query
    Stored as ….
    <tacit-memory …>
    [{"id": "…", "category": "preference", "text": "[preference] Alice drinks green tea"}]
    </tacit-memory>
"""

import asyncio
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import TextContent


async def main(folder: Path) -> None:
    server = StdioServerParameters(
        command="tacit",
        args=["mcp", "--as", "local:alice", "--name", "Alice"],
        env={"TACIT_DB_DSN": str(folder / "memory.sqlite")},
    )
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        print(len(names), "tools, among them", *(one for one in names if one.endswith("_query")))
        fact = {"content": "Alice drinks green tea", "category": "preference"}
        for name, arguments in (("add_to_memory", fact), ("memory_query", {"query": "green tea"})):
            for part in (await client.call_tool(name, arguments)).content:
                if isinstance(part, TextContent):
                    print(part.text)


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder)))
