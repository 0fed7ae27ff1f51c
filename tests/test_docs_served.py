"""Docs of the server that cannot rot: its routes and tools are listed, and its examples run."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.surfaces.rest.app import app
from tacit.surfaces.tools import tools
from tacit.surfaces.tools.reference.registry import reference_tools
from tests.service.serving import running

DOCS = Path(__file__).parent.parent / "docs"
ALICE = tacit.Requester("telegram:1001", name="Alice")
# As the pages write them.
ADDRESS = re.compile(r"http://(?:localhost|127\.0\.0\.1):8377")
TOKEN = "tct_…"
PYTHON = re.compile(r"```python\n(.*?)```(?:\n\nIt prints:\n\n```\n(.*?)```)?", re.DOTALL)
CURL = re.compile(r"```sh\n(curl .*?)```\n\nIt answers (\d+):\n\n```\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Served:
    url: str
    key: str  # of an adapter
    document: dict[str, Any]

    def here(self, written: str) -> str:
        return ADDRESS.sub(self.url, written).replace(TOKEN, self.key)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Memory, str, dict[str, Any]]]:
    with tacit.open("sqlite://", embedder=None) as memory:
        made = app(memory, Settings(), local=True)
        with running(made) as url:
            yield memory, url, made.openapi()


@pytest.fixture
def served(server: tuple[Memory, str, dict[str, Any]]) -> Served:
    """Each page has a space of its own."""
    memory, url, document = server
    space = memory.space(f"page-{len(memory.spaces())}")
    key = space.create_key("adapter", scopes=["read", "write", "act-as"])
    return Served(url, key.token, document)


def rows(page: str, name: str) -> list[tuple[str, ...]]:
    """The first cells of each table row that begins with something like this."""
    return re.findall(rf"^\| `({name})` \| ([^|]+?) \|", (DOCS / page).read_text(), re.MULTILINE)


def test_every_route_is_documented_with_its_scope(served: Served) -> None:
    found = [
        (f"{method.upper()} {path}", operation.get("x-scope", "–"))
        for path, methods in served.document["paths"].items()
        for method, operation in methods.items()
    ]
    assert sorted(rows("rest.md", "[A-Z]+ /[^`]*")) == sorted(found)


def test_what_a_route_takes_stands_beside_it(served: Served) -> None:
    written = (DOCS / "rest.md").read_text()
    told = dict(re.findall(r"^\| `([A-Z]+ /[^`]*)` \| [^|]+ \| ([^|]*)\|", written, re.MULTILINE))
    # What is said of many routes at once, in one place of the page.
    stands_for = {
        "page": {"cursor", "limit"},
        "?page": {"cursor", "limit"},
        "?filters": {"category", "prefix", "kind", "state", "pinned"},
        "any field of `remember`": {*re.findall(r"`(\w+)", told["POST /api/remember"])},
    }
    for path, methods in served.document["paths"].items():
        for method, operation in methods.items():
            asks = told[f"{method.upper()} {path}"]
            known = set(re.findall(r"`\??([\w-]+)", asks))
            known |= set().union(*(names for short, names in stands_for.items() if short in asks))
            assert taken(served.document, operation) <= known | {"key"}, f"{method} {path}"
            takes_key = "#/components/parameters/Idempotency-Key" in json.dumps(operation)
            assert takes_key == ("1×" in asks), f"{method} {path}"


def taken(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    names = {one["name"] for one in operation.get("parameters", ()) if one.get("in") == "query"}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        shape = content["schema"]
        if "$ref" in shape:
            shape = document["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]]
        names |= {
            name for name, one in shape.get("properties", {}).items() if one.get("type") != "null"
        }
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


def test_every_problem_of_the_wire_is_documented(served: Served) -> None:
    from tacit.surfaces.wire.problems import STATUS_OF_WIRE

    written = (DOCS / "rest.md").read_text()
    statuses = {
        status
        for methods in served.document["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if int(status) >= 400
    }
    for status in statuses | {str(status) for status in STATUS_OF_WIRE.values()}:
        assert re.search(rf"^\|.*\b{status}\b", written, re.MULTILINE), status
    for name in STATUS_OF_WIRE:
        assert f"`{name}`" in written, name


@pytest.mark.parametrize("page", ["agents.md", "client.md", "keys.md", "mcp.md", "tools.md"])
def test_what_an_example_prints_is_what_the_page_says(page: str, served: Served) -> None:
    names: dict[str, Any] = {"__name__": page}
    examples = PYTHON.findall((DOCS / page).read_text())
    assert examples
    for code, expected in examples:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(served.here(code), page, "exec"), names)  # noqa: S102 (our own pages)
        assert printed.getvalue() == expected


def test_what_the_page_asks_is_answered_as_it_says(served: Served) -> None:
    """As a shell and curl would. An ellipsis stands for anything."""
    written = (DOCS / "rest.md").read_text()
    asked = CURL.findall(written)
    assert len(asked) == written.count("```sh\n")
    known = {"KEY": served.key}
    with httpx2.Client(trust_env=False) as http:
        for command, status, expected in asked:
            answer = curl(http, served.here(filled(command, known)))
            known.setdefault("ID", answer.json().get("id", "") if status == "201" else "")
            assert str(answer.status_code) == status, f"{command}{answer.text}"
            pattern = re.escape(squeezed(expected)).replace("…", ".*")
            assert re.fullmatch(pattern, squeezed(answer.text)), f"{command}{answer.text}"


def filled(command: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        command = command.replace(f"${name}", value)
    return command


def squeezed(written: str) -> str:
    return re.sub(r"\s", "", written).replace("…,", "…").replace(",…", "…")


def curl(http: httpx2.Client, command: str) -> httpx2.Response:
    words = iter(shlex.split(command)[1:])
    method, url, headers, body = "", "", {}, None
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "--json":
            body = next(words)
            headers["Content-Type"] = "application/json"
        else:
            url = word
    return http.request(method or ("POST" if body else "GET"), url, headers=headers, content=body)
