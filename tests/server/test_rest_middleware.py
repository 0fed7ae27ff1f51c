"""What every request passes: its id, its host and origin, the size of its body, and the way out."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

import tacit
from tacit.memory import Memory
from tacit.records.accounts import Scope
from tacit.server import responses
from tacit.server.app import create_app
from tests.contract.rooms import SetClock
from tests.server.calls import ALICE, World, good, refused
from tests.server.conftest import settings


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


def test_a_problem_of_the_wire_may_say_more() -> None:
    answer = responses.error_response(responses.HttpProblem("precondition-failed", "read it again"), "r1")
    assert answer.status_code == 412
    assert b"read it again" in bytes(answer.body)
