"""Docs of the server that cannot rot: its routes, tools and problems are listed as they are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.server.app import create_app
from tacit.settings import Settings
from tacit.tools import tools
from tacit.tools.reference import reference_tools

DOCS = Path(__file__).parents[2] / "docs"
ALICE = tacit.Requester("telegram:1001", name="Alice")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    with tacit.open("sqlite://", embedder=None) as memory:
        made: dict[str, Any] = create_app(memory, Settings(), local=True).openapi()
        return made


def rows(page: str, name: str) -> list[tuple[str, ...]]:
    """The first cells of each table row that begins with something like this."""
    return re.findall(rf"^\| `({name})` \| ([^|]+?) \|", (DOCS / page).read_text(), re.MULTILINE)


def test_every_route_is_documented_with_its_scope(document: dict[str, Any]) -> None:
    found = [
        (f"{method.upper()} {path}", operation.get("x-scope", "–"))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert sorted(rows("rest.md", "[A-Z]+ /[^`]*")) == sorted(found)


def test_what_a_route_takes_stands_beside_it(document: dict[str, Any]) -> None:
    written = (DOCS / "rest.md").read_text()
    told = dict(re.findall(r"^\| `([A-Z]+ /[^`]*)` \| [^|]+ \| ([^|]*)\|", written, re.MULTILINE))
    # What is said of many routes at once, in one place of the page.
    stands_for = {
        "page": {"cursor", "limit"},
        "?page": {"cursor", "limit"},
        "?filters": {"category", "prefix", "kind", "state", "pinned"},
        "any field of `remember`": {*re.findall(r"`(\w+)", told["POST /api/remember"])},
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            asks = told[f"{method.upper()} {path}"]
            known = set(re.findall(r"`\??([\w-]+)", asks))
            known |= set().union(*(names for short, names in stands_for.items() if short in asks))
            assert taken(document, operation) <= known | {"key"}, f"{method} {path}"
            takes_key = "#/components/parameters/Idempotency-Key" in json.dumps(operation)
            assert takes_key == ("1×" in asks), f"{method} {path}"


def taken(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    names = {one["name"] for one in operation.get("parameters", ()) if one.get("in") == "query"}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        shape = content["schema"]
        if "$ref" in shape:
            shape = document["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]]
        names |= {name for name, one in shape.get("properties", {}).items() if one.get("type") != "null"}
    return names


def test_every_tool_is_documented_with_what_it_needs_and_takes() -> None:
    with tacit.open("sqlite://", embedder=None) as memory:
        view = memory.view(ALICE, tacit.Chat.private(ALICE.key))
        there = (*tools(view), *reference_tools(view))
    assert rows("tools.md", "[a-z_]+") == [(tool.name, ", ".join(tool.needs)) for tool in there]
    written = (DOCS / "tools.md").read_text()
    for tool in there:
        (row,) = re.findall(rf"^\| `{tool.name}` .*$", written, re.MULTILINE)
        for name in tool.parameters["properties"]:
            mark = "*" if name in tool.parameters["required"] else ""
            assert f"`{name}{mark}`" in row, f"{tool.name}: {name}"


def test_every_problem_of_the_wire_is_documented(document: dict[str, Any]) -> None:
    from tacit.wire import HTTP_PROBLEM_STATUSES

    written = (DOCS / "rest.md").read_text()
    statuses = {
        status
        for methods in document["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if int(status) >= 400
    }
    for status in statuses | {str(status) for status in HTTP_PROBLEM_STATUSES.values()}:
        assert re.search(rf"^\|.*\b{status}\b", written, re.MULTILINE), status
    for name in HTTP_PROBLEM_STATUSES:
        assert f"`{name}`" in written, name
