"""MCP over HTTP in the app: the same keys and headers as everywhere, and the same refusals.

`tests/server/test_two_principals.py` proves that what others have changes no answer.
"""

import httpx2
import pytest
from mcp import Client

from tests.tools.calling import STANDARD
from tests.tools.mcp import stories
from tests.tools.mcp.clients import Served, called, data

ALICE, BOB, ROOM = "telegram:1001", "telegram:2002", "telegram:-5"
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
READING = {"memory_get", "memory_list", "memory_query", "search_memories", "read_file"}


def test_every_tool_is_listed_and_called(served: Served) -> None:
    served.tell(stories.standard, served.token("read", "write", requester=ALICE))


def test_an_older_client_is_served_too(served: Served) -> None:
    served.tell(stories.standard, served.token("read", "write", requester=ALICE), mode="legacy")


def test_every_tool_of_the_reference_profile_is_listed_and_called(served: Served) -> None:
    token = served.token("read", "write", requester=ALICE)
    served.tell(stories.reference, token, path="/mcp/reference")


def test_somebody_on_this_machine_needs_no_key(served: Served) -> None:
    async def story(client: Client) -> None:
        assert len((await client.list_tools()).tools) == len(STANDARD)

    served.tell(story, None)


def test_another_requester_chat_host_or_key_is_refused(served: Served) -> None:
    bearer = {"authorization": f"Bearer {served.token('read', requester=ALICE)}"}
    for claim in ({"x-tacit-requester": BOB}, {"x-tacit-chat": ROOM}, {"x-tacit-chat": BOB}):
        assert served.post(b"{}", **JSON, **bearer, **claim).status_code == 403
    assert served.post(b"{}", **JSON, **bearer, host="evil.example").status_code == 421
    assert served.post(b"{}", **JSON, **bearer, origin="http://evil.example").status_code == 403
    refused = served.post(b"{}", **JSON, authorization="Bearer tct_AAAAAAAAAAAA_nonsense")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_a_key_that_only_reads_has_no_tool_that_writes(served: Served) -> None:
    async def story(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        for name in ("memory_put", "no_such_tool"):
            with pytest.raises(Exception, match="there is no such tool here"):
                await called(client, name, namespace="profile", key="k", value="v")

    served.tell(story, served.token("read", requester=ALICE))


def test_a_key_that_only_writes_reads_nothing(served: Served) -> None:
    async def story(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & READING
        assert "memory_put" in names
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []

    served.tell(story, served.token("write", requester=ALICE))


def test_a_key_is_kept_to_its_categories(served: Served) -> None:
    async def story(client: Client) -> None:
        await data(client, "memory_put", namespace="goal", key="k", value="v")
        refused = await called(client, "memory_put", namespace="profile", key="k", value="v")
        assert refused.is_error

    served.tell(story, served.token("read", "write", requester=ALICE, categories=["goal"]))


def test_nothing_is_pushed_so_nothing_is_listened_to(served: Served) -> None:
    with httpx2.Client(trust_env=False) as http:
        for method in ("GET", "DELETE", "PUT"):
            refused = http.request(method, f"{served.address}/mcp")
            assert refused.status_code == 405
            assert refused.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}',
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "nonsense"])
def test_odd_bodies_are_refused_and_nothing_breaks(served: Served, body: bytes, version: str) -> None:
    bearer = {"authorization": f"Bearer {served.token('read', requester=ALICE)}"}
    answer = served.post(body, **JSON, **bearer, **{"mcp-protocol-version": version})
    assert answer.status_code < 500


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    bearer = {"authorization": f"Bearer {served.token('read', requester=ALICE)}"}
    assert served.post(b" " * 1_100_000, **JSON, **bearer).status_code == 413
