"""`tacit mcp`: the official client starts it, and talks to it over its standard streams."""

from pathlib import Path

import anyio
import pytest

import tacit
from tacit.cli.servers import MCP_PROFILES
from tacit.tools.mcp import ProfileName
from tests.tools.mcp import stories
from tests.tools.mcp.clients import Story, process

ALICE = ("--as", "telegram:1001")


def tell(story: Story, database: Path, *options: str) -> None:
    async def run() -> None:
        async with process(database, *options) as client:
            await story(client)

    anyio.run(run)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    tacit.open(path, embedder=None).close()
    return path


def test_every_tool_is_listed_and_called(database: Path) -> None:
    tell(stories.standard, database, *ALICE)


def test_every_tool_of_the_reference_profile_is_listed_and_called(database: Path) -> None:
    tell(stories.reference, database, *ALICE, "--profile", "reference")


def test_the_profiles_of_the_command_are_those_there_are() -> None:
    assert tuple(ProfileName) == MCP_PROFILES
