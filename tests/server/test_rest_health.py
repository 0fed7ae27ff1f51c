"""Whether the server is alive and ready, and its measures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

import tacit
from tacit.records.accounts import Scope
from tacit.server.app import create_app
from tests.server.calls import ALICE, Caller, World, good, refused
from tests.server.conftest import settings


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
