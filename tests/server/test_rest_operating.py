"""Chats, spaces, health and measures over HTTP: for adapters and operators."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

import tacit
from tacit.records.accounts import Scope
from tacit.server.app import create_app
from tests.server.calls import ALICE, BOB, TEAM, Caller, World, good, refused
from tests.server.conftest import settings

CONTENT = "apple pie for the surprise party"


def operator(world: World) -> Caller:
    return world.keyed(Scope.ADMIN)


def test_who_joined_a_group_may_ask_there_until_they_leave(world: World) -> None:
    own = world.keyed(Scope.READ, requester=BOB)
    there = own.with_headers(X_Tacit_Chat=TEAM)
    refused(there.get("/api/view"), 403)
    adapter = world.caller(None)
    assert adapter.did(f"/api/chats/{TEAM}/joined", person=BOB) is None
    assert there.told("/api/view")["enabled"]
    assert adapter.did(f"/api/chats/{TEAM}/migrated", new="telegram:-777") is None
    assert own.with_headers(X_Tacit_Chat="telegram:-777").told("/api/view")["enabled"]
    assert adapter.did("/api/chats/telegram:-777/left", person=BOB) is None
    refused(own.with_headers(X_Tacit_Chat="telegram:-777").get("/api/view"), 403)


def test_a_link_is_begun_verified_and_ended(world: World) -> None:
    asked = operator(world)
    made = asked.post("/api/links", external_key=ALICE, account="acct:a", verified=False)
    assert made.status_code == 201
    assert made.json()["actor"].startswith("key:")
    refused(asked.post("/api/links", external_key=ALICE, account="acct:b"), 409)
    assert asked.did("/api/verify-link", external_key=ALICE)["verified_at"]
    assert good(asked.delete(f"/api/links/{ALICE}"))["source"] == f"ext:{ALICE}"
    refused(asked.delete(f"/api/links/{ALICE}"), 404)
    refused(asked.post("/api/verify-link", external_key=ALICE), 404)
    (link,) = asked.told("/api/links", identity=ALICE)["items"]
    assert link["ended_at"]
    assert asked.told("/api/links", identity="acct:a")["items"] == [link]


def test_events_tell_how_often_and_never_what(world: World) -> None:
    for number in range(2):
        world.caller().did("/api/remember", content=f"{CONTENT} {number}")
    asked = operator(world)
    page = asked.told("/api/events", node="hotpath", op="create")
    assert [one["count"] for one in page["items"]] == [2]
    told = asked.get("/api/events").text
    assert "apple" not in told
    assert "telegram" not in told
    tomorrow = f"{world.clock().date().replace(year=2027).isoformat()}T00:00:00Z"
    assert asked.told("/api/events", since=tomorrow)["items"] == []


def test_jobs_are_told_and_run(world: World) -> None:
    asked = operator(world)
    told = [one["task"] for one in asked.told("/api/jobs")["items"]]
    assert "expire" in told
    assert asked.told("/api/jobs", limit=2)["cursor"]
    ran = good(asked.send("POST", "/api/jobs/expire/run"))
    assert ran["task"] == "expire"
    assert ran["last"]["problem"] is None


def test_a_whole_space_is_counted_and_no_other(world: World) -> None:
    world.caller().did("/api/remember", content=CONTENT)
    world.caller(BOB).did("/api/remember", content="pear tart")
    assert operator(world).told("/api/spaces/stats")["memories"] == 2
    other = world.memory.space("another-space").keys.create("own", scopes=["admin"])
    elsewhere = Caller(world.client, {"Authorization": f"Bearer {other.token}"})
    assert elsewhere.told("/api/spaces/stats")["memories"] == 0


@contextmanager
def local(exporter: Any = "off") -> Iterator[Caller]:
    """The one local person, who needs no key."""
    wanted = settings()
    wanted = replace(wanted, metrics=replace(wanted.metrics, exporter=exporter))
    with (
        tacit.open("sqlite://", embedder=None, settings=wanted) as memory,
        TestClient(create_app(memory, wanted, local=True), base_url="http://localhost") as client,
    ):
        yield Caller(client, {})


def test_anybody_hears_that_it_is_alive_and_ready_and_no_more(world: World) -> None:
    for word in ("live", "ready"):
        answer = world.stranger().get(f"/health/{word}")
        assert good(answer) == {"status": {"live": "alive", "ready": "ready"}[word]}


def test_a_server_that_is_about_to_stop_is_alive_and_not_ready(world: World) -> None:
    state = world.client.app.state  # type: ignore[attr-defined]
    state.draining = True
    try:
        assert "detail" not in refused(world.stranger().get("/health/ready"), 503)
        assert good(world.stranger().get("/health/live")) == {"status": "alive"}
    finally:
        state.draining = False


def test_a_server_whose_database_does_not_answer_is_not_ready() -> None:
    with local() as caller:
        assert good(caller.get("/health/ready"))
        caller.client.app.state.memory.close()  # type: ignore[attr-defined]
        problem = refused(caller.get("/health/ready"), 503)
        assert problem["type"] == "urn:tacit:problem:store-unavailable"
        assert "detail" not in problem
        assert good(caller.get("/health/live"))


def test_measures_are_for_an_operator_or_the_local_person(world: World) -> None:
    # This server tells nobody, and an operator is told what to set.
    problem = refused(world.keyed(Scope.ADMIN).get("/metrics"), 404)
    assert "metrics.exporter" in problem["detail"]
    refused(world.keyed(Scope.READ, Scope.WRITE, requester=ALICE).get("/metrics"), 403)
    refused(world.stranger().get("/metrics"), 401)
    with local("prometheus") as caller:
        caller.did("/api/remember", content="apple pie")
        answer = caller.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain")
        assert "tacit_operations_total" in answer.text
        assert "apple" not in answer.text
