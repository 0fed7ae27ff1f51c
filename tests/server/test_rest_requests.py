"""What every request passes on its way in and out, and what is refused on it."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

import tacit
from tacit.memory import Memory
from tacit.records.accounts import Scope
from tacit.server.app import create_app
from tacit.server.streaming import CHUNK_BYTES
from tests.contract.rooms import SetClock
from tests.corpus import check_corpus
from tests.server.calls import ALICE, Caller, World, good, refused
from tests.server.conftest import settings
from tests.server.http_server import served


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with tacit.open("sqlite://", clock=SetClock(), embedder=None, settings=settings()) as opened:
        yield opened


@pytest.fixture
def local(memory: Memory) -> Iterator[TestClient]:
    """Somebody at this machine, without a key."""
    served = create_app(memory, settings(), local=True)
    with TestClient(served, base_url="http://localhost") as client:
        yield client


def test_a_request_keeps_its_id_or_gets_one(world: World) -> None:
    alice = world.caller()
    named = alice.with_headers(X_Request_Id="abc.DEF_1-2").get("/api/count")
    assert named.headers["x-request-id"] == "abc.DEF_1-2"
    for bad in ("", "a b", "x" * 65, "a;b", "a\tb"):
        made = alice.with_headers(X_Request_Id=bad).get("/api/count")
        assert len(made.headers["x-request-id"]) == 16
    twice = [("Authorization", alice.headers["Authorization"]), ("X-Request-Id", "a")]
    answer = world.client.get("/api/count", headers=[*twice, ("X-Request-Id", "b")])
    assert answer.headers["x-request-id"] not in ("a", "b")


def test_nothing_on_the_way_keeps_an_answer(world: World) -> None:
    for answer in (world.caller().get("/api/count"), world.stranger().get("/api/count")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_unknown_host_is_misdirected_and_a_strange_page_refused(world: World) -> None:
    alice = world.caller()
    for host in ("evil.example", "localhost.evil.example", "localhost@evil", "", "[::2]"):
        refused(alice.with_headers(Host=host).get("/api/count"), 421)
    for host in ("localhost:8377", "127.0.0.1", "[::1]:80", "LOCALHOST"):
        good(alice.with_headers(Host=host).get("/api/count"))
    for origin in ("http://evil.example", "null", "https://localhost", "http://localhost:1"):
        refused(alice.with_headers(Origin=origin).get("/api/count"), 403)
    good(alice.with_headers(Origin="http://localhost").get("/api/count"))


def test_unknown_paths_and_methods_are_problems_too(world: World) -> None:
    alice = world.caller()
    for path in ("/api", "/api/memory", "/api/nonsense", "/api/memory/x/y", "/redoc"):
        found = refused(alice.get(path), 404)
        assert found["type"] == "urn:tacit:problem:no-such-route"
    for method, path, methods in (
        ("PUT", "/api/memory/", "GET, POST"),
        ("POST", "/api/memory/AAAAAAAA", "DELETE, GET, PATCH, PUT"),
        ("PATCH", "/api/rename-file", "POST"),
        ("PATCH", "/api/files/rename", "DELETE, GET, PUT"),
        ("PATCH", "/api/links/verify", "DELETE"),
    ):
        answer = alice.send(method, path)
        assert refused(answer, 405)["type"] == "urn:tacit:problem:method-not-allowed"
        assert answer.headers["allow"] == methods
    assert alice.send("BREW", "/api/count").status_code == 405


def test_somebody_at_this_machine_needs_no_key_and_reaches_their_own_alone(local: TestClient) -> None:
    made = local.post("/api/remember", json={"content": "I live in Lisbon"})
    assert made.status_code == 200
    assert local.get("/api/count").json() == {"count": 1}
    for headers in ({"X-Tacit-Requester": ALICE}, {"X-Tacit-Chat": "telegram:-5"}, {"X-Tacit-Chat-Kind": "group"}):
        refused(local.get("/api/count", headers=headers), 403)
    refused(local.get("/api/count", headers={"X-Forwarded-For": "10.0.0.1"}), 401)
    refused(local.get("/api/jobs"), 403)


def test_a_body_has_a_limit_whatever_its_headers_say(world: World) -> None:
    alice = world.caller().with_headers(Content_Type="application/json")
    most = 1_048_576
    at_most = b'{"content": "a fact"}'.ljust(most)
    good(alice.send("POST", "/api/remember", content=at_most))
    too_long = alice.send("POST", "/api/remember", content=at_most + b" ")
    assert refused(too_long, 413)["type"] == "urn:tacit:problem:too-large"
    in_parts = (b" " * 65_536 for _ in range(17))
    refused(alice.send("POST", "/api/remember", content=in_parts), 413)
    lying = alice.with_headers(Content_Length="5")
    refused(lying.send("POST", "/api/remember", content=at_most + b" "), 413)
    refused(alice.with_headers(Content_Length="9" * 30).send("POST", "/api/remember"), 413)


def test_an_import_has_a_body_like_any_other(world: World) -> None:
    lines = b"\n" * 1_000_000
    alice = world.caller().with_headers(Content_Type="application/x-ndjson")
    assert good(alice.send("POST", "/api/import", content=lines[:200_000]))["created"] == 0
    refused(alice.send("POST", "/api/import", content=lines + lines), 413)
    stranger = world.stranger().with_headers(Content_Type="application/x-ndjson")
    refused(stranger.send("POST", "/api/import", content=lines), 401)


def test_nothing_new_is_begun_while_the_server_drains(memory: Memory) -> None:
    served = create_app(memory, settings(), local=True)
    with TestClient(served, base_url="http://localhost") as client:
        served.state.draining = True
        answer = client.get("/api/count")
        assert refused(answer, 503)["type"] == "urn:tacit:problem:draining"
        assert answer.headers["retry-after"] == "1"
        assert client.get("/health/live").status_code == 200


def test_whoever_asks_too_often_waits(world: World) -> None:
    slow = world.keyed(Scope.READ, requester=ALICE, rate_per_minute=10)
    good(slow.get("/api/count"))
    answer = slow.get("/api/count")
    assert refused(answer, 429)["type"] == "urn:tacit:problem:too-many-requests"
    assert int(answer.headers["retry-after"]) >= 1


def test_what_nobody_expected_says_nothing_and_is_logged_by_its_kind(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    served = create_app(memory, settings(), local=True)
    served.state.authenticator = None  # something is broken
    with TestClient(served, base_url="http://localhost") as client:
        answer = client.post("/api/remember", json={"content": "the canary sings"})
    problem = refused(answer, 500)
    assert problem == {
        "type": "urn:tacit:problem:internal",
        "title": "Internal",
        "status": 500,
        "request_id": answer.headers["x-request-id"],
    }
    assert "AttributeError" in caplog.text
    assert "canary" not in caplog.text


# Whatever is sent, the answer is a problem or an answer, and never a failure of ours


DEEP = b"[" * 100_000
BODIES = (
    b"", b"{", b"[]", b"null", b"5", b'"text"', b"true", DEEP, b'{"content": ' + DEEP,
    b'{"content": NaN}', b'{"content": "a", "confidence": -Infinity}',
    b'{"content": "a", "importance": ' + b"1" * 5_000 + b"}",
    b"\xff\xfe\x00", b'{"content": "\xff"}', b"\x00", b'{"content": "a"} {"content": "b"}',
    b'\xef\xbb\xbf{"content": "a"}',
)  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:24]))
def test_a_body_that_is_no_object_is_refused_as_one(world: World, body: bytes) -> None:
    alice = world.caller().with_headers(Content_Type="application/json")
    for method, path in (("POST", "/api/remember"), ("PUT", "/api/items/profile/k")):
        refused(alice.send(method, path, content=body), 422, "body")
    assert alice.told("/api/count") == {"count": 0}


def test_a_part_of_a_path_that_cannot_be_kept_is_of_nothing(world: World) -> None:
    alice = world.caller()
    for part in ("%00", "%ED%A0%80", "a%00b", "%E2%80%8B"):
        answer = alice.get(f"/api/items/profile/{part}")
        assert answer.status_code in (404, 422)
        assert alice.get(f"/api/memory/{part}").status_code == 404
        assert alice.get(f"/api/memory/{part}/history").status_code == 404
        assert alice.get(f"/api/items?prefix={part}").status_code in (200, 422)
        assert alice.get(f"/api/items?cursor={part}").status_code == 422


def test_a_whole_number_may_be_written_with_a_point(world: World) -> None:
    alice = world.caller()
    made = alice.did("/api/remember", content="a fact", importance=4.0, confidence=1.0)
    assert alice.told(f"/api/memory/{made['id']}/record")["importance"] == 4
    good(alice.post("/api/query", query="fact", top_k=3.0, filters={"importance_min": 2.0}))
    # What is somebody's own stays as they wrote it.
    saved = good(alice.put("/api/checkpoints/t", data={"at": 3.0, "n": [1.0]}, version=0.0))
    assert repr(saved["data"]) == "{'at': 3.0, 'n': [1.0]}"


def test_lone_surrogates_in_a_query_are_no_failure(world: World) -> None:
    alice = world.caller()
    refused(alice.get("/api/items?%ff=1"), 422)
    refused(alice.get("/api/items?" + "&".join(f"a{n}=1" for n in range(200))), 422, "query")


def test_a_body_is_json_and_said_to_be(world: World) -> None:
    alice = world.caller()
    body = b'{"content": "a fact"}'
    for kind in ("text/plain", "", "application/x-www-form-urlencoded", "application/jsonx",
                 "application/json; charset=utf-16", "multipart/form-data"):  # fmt: skip
        sent = alice.with_headers(Content_Type=kind).send("POST", "/api/remember", content=body)
        assert refused(sent, 415)["type"] == "urn:tacit:problem:unsupported-media-type"
    refused(alice.send("POST", "/api/remember", content=body), 415)
    for kind in ("application/json", "Application/JSON; charset=UTF-8"):
        good(alice.with_headers(Content_Type=kind).send("POST", "/api/remember", content=body))


def test_a_header_that_says_who_asks_is_sent_once(world: World) -> None:
    token = ("Authorization", world.caller().headers["Authorization"])
    for name, values, status in (
        ("X-Tacit-Requester", ("telegram:1", "telegram:2"), 422),
        ("X-Tacit-Chat", ("telegram:1", "telegram:1"), 422),
        ("Authorization", ("Bearer x",), 401),
        ("Host", ("localhost",), 421),
    ):
        headers = [token, ("X-Tacit-Requester", "telegram:1")]
        if name == "X-Tacit-Requester":
            headers = [token]
        if name == "Host":
            headers.append(("Host", "localhost"))
        headers += [(name, value) for value in values]
        refused(world.client.get("/api/count", headers=headers), status)
    keys = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    headers = [token, ("X-Tacit-Requester", "telegram:1"), *keys]
    answer = world.client.delete("/api/items/profile", headers=headers)
    refused(answer, 422, "Idempotency-Key")


REFUSALS = Path(__file__).with_name("refusals.tsv")
SAID = {"role": "user", "content": "My sister is called Sarah"}
TALK = [{"role": "user", "content": "tea " * 4_000}] * 19
ITEMS = [{"content": f"{n} " + "tea " * 3_900} for n in range(7)]
TOO_LARGE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST /api/remember", "content", {"content": "x" * 16_001}),
    ("POST /api/remember", "about", {"content": "a fact", "about": ["t"] * 1_000}),
    ("POST /api/remember", "field", {"content": "a fact", "x" * 5_000: 1}),
    ("GET /api/people?cursor=" + "x" * 5_000, "cursor", {}),
    ("POST /api/query", "query", {"query": "x" * 200_001}),
    ("PUT /api/items/profile/k", "content", {"value": "x" * 16_001}),
    ("PUT /api/files/trips.md", "text", {"text": "x" * 100_001}),
    ("PUT /api/checkpoints/t", "data", {"data": {"secret": {"password": "key=" * 250_000}}}),
    *(
        (f"POST /api/{path}", "messages", {"messages": said})
        for path in ("learn", "record", "sessions/end")
        for said in ([SAID] * 501, TALK)
    ),
    ("POST /api/imports/preview", "items", {"items": ITEMS, "source": "mem0"}),
    ("POST /api/imports", "items", {"items": ITEMS, "source": "mem0", "run": "r"}),
)


def send(world: World, request: str, body: Any) -> Response:
    method, _, path = request.partition(" ")
    return world.caller().send(method, path, **({} if body is None else {"json": body}))


def test_each_bad_request_is_refused_by_the_field_that_is_wrong(world: World) -> None:
    def field(request: str, body: str) -> Iterator[str]:
        answer = send(world, request, json.loads(body) if body else None)
        told = answer.json()
        named = f"{told.get('field')}"
        good = answer.status_code == 422 and told["detail"].startswith(f"{named}: ")
        yield named if good else f"{answer.status_code} {answer.text}"

    check_corpus(REFUSALS, 2, field)
    assert world.caller().told("/api/count") == {"count": 0}


@pytest.mark.parametrize(("request_line", "field", "body"), TOO_LARGE)
def test_what_is_too_large_is_refused_and_not_quoted(world: World, request_line: str, field: str, body: Any) -> None:
    problem = refused(send(world, request_line, body), 422, field)
    assert len(str(problem)) < 1_000


# The app called as a server calls it, message by message


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


# The app behind a real server: what only bytes on a connection can show


PART = b"8000\r\n" + b" " * 0x8000 + b"\r\n"  # as chunked bodies are written
POST = b"POST /api/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
COUNT = b"GET /api/count HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def url(memory: tacit.Memory) -> Iterator[str]:
    with served(memory, settings(), local=True) as url:
        yield url


@pytest.fixture
def address(url: str) -> tuple[str, int]:
    found = urlsplit(url)
    assert found.hostname is not None
    assert found.port is not None
    return found.hostname, found.port


def exchange(address: tuple[str, int], *parts: bytes) -> bytes:
    """Everything that comes back until the other side hangs up, or has said enough."""
    with socket.create_connection(address, timeout=60) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # they had heard enough
        found = b""
        try:
            while not _whole(found) and (more := connection.recv(65_536)):
                found += more
        except ConnectionResetError:
            pass
        return found


def _whole(found: bytes) -> bool:
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(lengths) and len(body) >= int(lengths[0].partition(b":")[2])


def test_a_body_in_parts_is_counted_while_it_is_read(address: tuple[str, int]) -> None:
    begun = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    whole = exchange(address, begun, b'15\r\n{"content": "a fact"}\r\n', PART, b"0\r\n\r\n")
    assert whole.startswith(b"HTTP/1.1 200 ")
    answer = exchange(address, begun, *[PART] * 33)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b"urn:tacit:problem:too-large" in answer


def test_a_length_that_is_too_long_is_refused_before_it_is_sent(address: tuple[str, int]) -> None:
    answer = exchange(address, POST + b"Content-Length: 2000000\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()


def test_whoever_hangs_up_in_the_middle_harms_nobody(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    before = exchange(address, COUNT)
    for sent in (POST + b"Content-Length: 500\r\n\r\n{", POST, b"GET /api/co", COUNT):
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(sent)
    assert exchange(address, COUNT).rpartition(b"\n")[2] == before.rpartition(b"\n")[2]
    assert caplog.text == ""


def test_a_thousand_people_can_be_named_and_far_too_much_is_told_so(memory: tacit.Memory, url: str) -> None:
    key = memory.keys.create("adapter", scopes=["read", "act-as"]).token
    names = [tacit.Requester(f"telegram:{10**9 + n}", name="Ж" * 100) for n in range(1_000)]
    with tacit.connect(url, key) as client:
        crowd = tacit.Chat.group("telegram:-5", names)
        assert client.view("telegram:1000000001", crowd).count() == 0
        long = [tacit.Requester(one.key, "Ж" * 200, "Ж" * 200) for one in names]
        crowd = tacit.Chat.group("telegram:-5", long)
        with pytest.raises(tacit.InvalidInput, match="leave out the names of participants"):
            client.view("telegram:1000000001", crowd)


def test_headers_that_are_too_large_are_told_so(address: tuple[str, int]) -> None:
    answer = exchange(address, COUNT[:-2] + b"X-Tacit-Name: " + b"x" * 1_100_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"urn:tacit:problem:headers-too-large" in answer
