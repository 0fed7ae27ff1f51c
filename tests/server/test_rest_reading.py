"""How a body is read and an export sent: only for those who were let in, and while they are there.

The app is called as a server calls it, message by message.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tacit.server.streaming import CHUNK_BYTES
from tests.server.calls import Caller, World

Sent = list[dict[str, Any]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
LINES = "application/x-ndjson"


def scope(method: str, path: str, caller: Caller) -> dict[str, Any]:
    headers = {"Host": "localhost", **caller.headers}
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }


async def ask(world: World, asked: dict[str, Any], receive: Receive, sent: Sent) -> None:
    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await world.client.app(asked, receive, send)  # type: ignore[arg-type]


def status(sent: Sent) -> int:
    return int(sent[0]["status"])


def test_nothing_of_a_body_is_read_before_the_key_is_known_to_be_good(world: World) -> None:
    read: list[str] = []

    async def receive() -> dict[str, Any]:
        read.append("a part")
        return {"type": "http.request", "body": b"{}", "more_body": False}

    nobody = world.stranger().with_headers(Content_Type="application/json")
    for path in ("/api/remember", "/api/memory/", "/api/import"):
        sent: Sent = []
        asyncio.run(ask(world, scope("POST", path, nobody), receive, sent))
        assert status(sent) == 401
    assert read == []


def test_two_imports_are_read_at_a_time_and_another_is_told_to_wait(world: World) -> None:
    alice = world.caller().with_headers(Content_Type=LINES)
    answers: list[Sent] = [[], [], [], []]
    began = asyncio.Queue[int]()

    async def story() -> None:
        go_on = asyncio.Event()

        def sender(number: int) -> Receive:
            async def receive() -> dict[str, Any]:
                began.put_nowait(number)
                await go_on.wait()
                return {"type": "http.request", "body": b"", "more_body": False}

            return receive

        def send(number: int) -> Awaitable[None]:
            asked = scope("POST", "/api/import", alice)
            return ask(world, asked, sender(number), answers[number])

        first = [asyncio.ensure_future(send(number)) for number in (0, 1)]
        assert {await began.get(), await began.get()} == {0, 1}
        await asyncio.wait_for(send(2), 20)
        assert began.empty()  # nothing of it was read
        go_on.set()
        await asyncio.gather(*first)
        await send(3)

    asyncio.run(story())
    assert [status(sent) for sent in answers] == [200, 200, 503, 200]
    assert dict(answers[2][0]["headers"])[b"retry-after"] == b"1"
    assert b"urn:tacit:problem:store-busy" in answers[2][1]["body"]


def test_an_export_stops_when_its_reader_hangs_up(world: World) -> None:
    alice = world.caller()
    text = "long text " * 1_500
    for number in range(30):
        alice.did("/api/remember", content=f"{number} {text}")
    assert 30 * len(text) > 6 * CHUNK_BYTES
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        return messages.pop() if messages else {"type": "http.disconnect"}

    sent: Sent = []
    asyncio.run(ask(world, scope("GET", "/api/export", alice), receive, sent))
    assert status(sent) == 200
    assert 1 <= len(sent[1:]) <= 2
    assert all(message["more_body"] for message in sent[1:])  # nobody takes it for all
