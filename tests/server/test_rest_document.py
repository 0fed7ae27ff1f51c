"""The OpenAPI document: true of every route, and complete; and its page at /docs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for
from starlette.routing import BaseRoute
from starlette.testclient import TestClient

import tacit
from tacit.memory import VIEW_OPERATIONS, parameters_of
from tacit.records.accounts import Scope
from tests.corpus import check_corpus
from tests.server.calls import ALICE, World, good, refused
from tests.server.fuzzing import fuzz, one_who_may_all, settings
from tests.server.http_server import served
from tests.server.worlds import UNHURRIED

Document = dict[str, Any]
HEADERS = Path(__file__).with_name("identity_headers.tsv")
KEY: list[Document] = [{"key": []}]
# The first keeps nothing unless told to; of the second, no code is kept that could be told again.
NOT_ONCE = ("/api/trace", "/api/link/offer")
OPEN = ("/health/live", "/health/ready")


@pytest.fixture
def document(world: World) -> Document:
    found: Document = good(world.client.get("/openapi.json"))
    return found


def operations(document: Document) -> list[tuple[str, str, Document]]:
    return [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_route_is_told_of(world: World, document: Document) -> None:
    told = {(method, path) for method, path, _ in operations(document)}
    assert isinstance(world.client, TestClient)
    routes: list[BaseRoute] = world.client.app.routes  # type: ignore[attr-defined]
    served = {
        (method, getattr(route, "path_format", ""))
        for route in routes
        for method in getattr(route, "methods", None) or ()
        if getattr(route, "path", "").startswith(("/api/", "/health/", "/metrics"))
    }
    assert told == served


def test_every_operation_of_a_view_is_served_with_all_that_it_takes(document: Document) -> None:
    for name, one in VIEW_OPERATIONS.items():
        if one.endpoint is None:
            continue
        path = one.endpoint.path.replace(":rest", "")
        served = document["paths"][path][one.endpoint.method.lower()]
        taken = {parameter.get("name") for parameter in served["parameters"]}
        body = served.get("requestBody", {}).get("content", {})
        if "application/json" in body:
            model = body["application/json"]["schema"]["$ref"].rpartition("/")[2]
            taken |= document["components"]["schemas"][model]["properties"].keys()
        elif body:
            taken.add("lines")
        asked = {"return" if arg == "form" else arg for arg in parameters_of(one.method)}
        assert asked <= taken, f"{name} also takes {asked - taken}"


def test_every_operation_says_whom_it_is_for_and_what_can_go_wrong(document: Document) -> None:
    for method, path, operation in operations(document):
        if path in OPEN:
            assert "security" not in operation
            continue
        assert operation["security"] == KEY, path
        assert operation["x-scope"] in ("read", "write", "erase", "admin", "act-as")
        assert {"401", "403", "422", "429", "503"} <= operation["responses"].keys(), path
        if "requestBody" in operation:
            assert {"413", "415"} <= operation["responses"].keys(), path
        if "{id}" in path:
            assert "404" in operation["responses"], (method, path)
        names = [one.get("$ref", "").rpartition("/")[2] for one in operation["parameters"]]
        if "Idempotency-Key" in names:
            assert {"404", "409"} <= operation["responses"].keys(), path
        else:
            assert operation["x-scope"] not in ("write", "erase") or path in NOT_ONCE, path


def test_every_operation_takes_the_scope_that_the_document_says(world: World, document: Document) -> None:
    for method, path, operation in operations(document):
        if path not in OPEN:
            others = [scope for scope in Scope if scope != operation["x-scope"]]
            asked = world.keyed(*others, requester=ALICE)
            refused(asked.send(method, path.replace("{id}", "AAAAAAAA")), 403)


def test_every_problem_is_told_as_one(document: Document) -> None:
    for _, path, operation in operations(document):
        assert operation["summary"], path
        for code, response in operation["responses"].items():
            if int(code) >= 400:
                assert list(response["content"]) == ["application/problem+json"], path
            assert "X-Request-Id" in response["headers"], path


def test_nothing_of_how_it_is_made_stands_in_it(document: Document) -> None:
    assert "x-tacit" not in json.dumps(document).replace("X-Tacit", "")
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(ids) == len(set(ids))


def test_all_that_it_refers_to_is_there(document: Document) -> None:
    def refs(part: Any) -> list[str]:
        if isinstance(part, list):
            return [ref for one in part for ref in refs(one)]
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [ref for one in part.values() for ref in refs(one)]
        return []

    for ref in set(refs(document)):
        found: Any = document
        for name in ref.removeprefix("#/").split("/"):
            found = found[name]


def test_no_path_is_also_one_of_another_template(document: Document) -> None:
    """Else its methods would be those of both."""
    for path in document["paths"]:
        template = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
        covers = re.compile(re.sub("{[^}]+}$", ".+", re.sub("{[^}]+}(?!$)", "[^/]+", template)))
        covered = [one for one in document["paths"] if one != path and covers.fullmatch(one)]
        assert [one for one in covered if "{" not in one] == [], path


def test_who_asks_is_told_of_where_somebody_looks_at_it(document: Document) -> None:
    for _, path, operation in operations(document):
        refs = [one.get("$ref", "").rpartition("/")[2] for one in operation.get("parameters", ())]
        said = [name for name in refs if name.startswith("X-Tacit-")]
        if operation.get("x-scope") in ("admin", "act-as", None):
            assert said == [], path
        else:
            assert len(said) == 9 - ("{thread}" in path), path


def test_what_is_told_of_a_header_is_what_is_taken(world: World, document: Document) -> None:
    parameters = document["components"]["parameters"]
    told = {name: validator_for(one["schema"]) for name, one in parameters.items()}

    def status(header: str, value: str) -> Iterator[int]:
        name = f"X-Tacit-{header}"
        found = world.caller().send("GET", "/api/count", headers={name: value}).status_code
        assert told[name].is_valid(value) == (found == 200), (header, value)
        yield found

    check_corpus(HEADERS, 2, status)


def test_answers_are_as_the_document_says(world: World, document: Document) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", content="Sarah is my wife", category="person")
    id = made.json()["id"]
    good(alice.put("/api/items/profile/city", value="Lisbon"))
    asked = {
        "/api/memory/": "/api/memory/",
        "/api/memory/{id}": f"/api/memory/{id}",
        "/api/memory/{id}/record": f"/api/memory/{id}/record",
        "/api/memory/{id}/history": f"/api/memory/{id}/history",
        "/api/memory/{id}/explain": f"/api/memory/{id}/explain",
        "/api/memory/{id}/hearers": f"/api/memory/{id}/hearers",
        "/api/rooms": "/api/rooms",
        "/api/graph": "/api/graph",
        "/api/looks": "/api/looks",
        "/api/activity": "/api/activity?limit=1",
        "/api/activity/days": "/api/activity/days",
        "/api/items": "/api/items?limit=1",
        "/api/items/{category}": "/api/items/profile",
        "/api/items/{category}/{key}": "/api/items/profile/city",
        "/api/count": "/api/count",
    }
    for path, url in asked.items():
        response = document["paths"][path]["get"]["responses"]["200"]
        schema = response["content"]["application/json"]["schema"]
        whole = {"components": document["components"], **schema}
        validator_for(whole).validate(alice.told(url))
    problem = {"components": document["components"], "$ref": "#/components/schemas/Problem"}
    validator_for(problem).validate(alice.get("/api/memory/AAAAAAAA").json())


def test_where_somebody_needs_no_key_the_document_says_so(world: World) -> None:
    from tacit.server.app import create_app
    from tests.server.conftest import settings

    told = create_app(world.memory, settings(), local=True).openapi()["paths"]
    assert told["/api/count"]["get"]["security"] == [{}, *KEY]
    assert told["/api/jobs"]["get"]["security"] == KEY
    assert told["/metrics"]["get"]["security"] == [{}, *KEY]


PATHS = ("/docs", "/docs/docs.js", "/docs/docs.css")


def test_docs_are_a_page_for_everybody(world: World) -> None:
    page = world.client.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Tacit API" in page.text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    for path in set(loaded) - {"data:,"}:
        assert world.client.get(path).status_code == 200, path


@pytest.mark.parametrize("path", PATHS)
def test_docs_load_nothing_from_another_host(world: World, path: str) -> None:
    answer = world.client.get(path)
    assert answer.status_code == 200
    assert re.findall(r"\w+:?//\w|@import|url\(", answer.text) == []
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "http" not in policy


def test_every_operation_does_what_its_document_says() -> None:
    with tacit.open("sqlite://", settings=UNHURRIED, embedder=None) as memory:
        config = settings(one_who_may_all(memory), 1, ("fuzzing",), seed=7)
        with served(memory, UNHURRIED) as url:
            done = fuzz(url, config)
    assert (done.findings, done.errors) == ({}, [])
    assert len(done.cases) == done.operations
