"""The OpenAPI document: true of every route, and complete."""

import json
import re
from typing import Any

import pytest
from jsonschema_rs import validator_for
from starlette.routing import BaseRoute
from starlette.testclient import TestClient

from tests.server.calls import World, good

Document = dict[str, Any]
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


@pytest.mark.parametrize(
    ("header", "good_ones", "bad_ones"),
    [
        (
            "Requester",
            (
                "telegram:1",
                "slack:T1:U2",
                "acct:42",
                "mail:a@b.example",
                "a:b:c:d",
                "x:" + "y" * 188,
            ),
            (
                "telegram:-5",
                "telegram:0",
                "slack:U2",
                "ext:telegram:1",
                "x:" + "y" * 189,
                "0",
                "a:",
            ),
        ),
        (
            "Chat",
            ("telegram:-5", "telegram:5", "slack:C1", "matrix:room", "x:" + "y" * 188),
            ("telegram:abc", "person:ABCDEFGH", "x:" + "y" * 189, "nowhere", "a::b"),
        ),
        (
            "Name",
            ("Zo%C3%AB", "100%", "%2", "%F0%9F%98%80", "x" * 300),
            ("%ff", "%ED%A0%80", "%C3"),
        ),
        (
            "Participants",
            (
                "telegram:2;Bob;bob_l,slack:T1:U2",
                ",, telegram:2 ;100%",
                "x:" + "y" * 188 + ";%C3%AB",
            ),
            (
                "telegram:2;%ff",
                "Bob",
                "telegram:2;a;b;c",
                "x:" + "y" * 189,
                "telegram:2,telegram:-5",
            ),
        ),
        (
            "Thread",
            ("x" * 200, "%C3%AB" * 200, "a%20b", "50%", "a b"),
            ("x" * 201, "%C3%AB" * 201, "%20a", "a%20", "%C2%AD", "%ff", "%07"),
        ),
    ],
)
def test_what_is_told_of_a_header_is_what_is_taken(
    world: World,
    document: Document,
    header: str,
    good_ones: tuple[str, ...],
    bad_ones: tuple[str, ...],
) -> None:
    told = validator_for(document["components"]["parameters"][f"X-Tacit-{header}"]["schema"])
    alice = world.caller()
    for one in (*good_ones, *bad_ones):
        sent = alice.send("GET", "/api/count", headers={f"X-Tacit-{header}": one})
        expected = 200 if one in good_ones else 422
        assert (sent.status_code, told.is_valid(one)) == (expected, one in good_ones), one


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
