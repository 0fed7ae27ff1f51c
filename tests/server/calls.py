"""Whoever asks over HTTP in these tests: a space of its own, keys to it, and callers with them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from httpx2 import Response
from starlette.testclient import TestClient

from tacit.memory import Memory
from tacit.records.accounts import Scope
from tests.contract.rooms import SetClock

ALL = tuple(Scope)
ALICE = "telegram:1001"
BOB = "telegram:2002"
TEAM = "telegram:-100"
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Caller:
    client: TestClient
    headers: Mapping[str, str]

    def get(self, path: str, **query: Any) -> Response:
        return self.send("GET", path, params=query or None)

    def post(self, path: str, **body: Any) -> Response:
        return self.send("POST", path, json=body)

    def put(self, path: str, **body: Any) -> Response:
        return self.send("PUT", path, json=body)

    def delete(self, path: str) -> Response:
        return self.send("DELETE", path)

    def send(self, method: str, path: str, **sent: Any) -> Response:
        headers = {**self.headers, **sent.pop("headers", {})}
        if "json" in sent:  # also what is no text, which the client itself would not send
            sent["content"] = json.dumps(sent.pop("json")).encode()
            headers["Content-Type"] = "application/json"
        return self.client.request(method, path, headers=headers, **sent)

    def with_headers(self, **headers: str) -> "Caller":
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})

    def told(self, path: str, **query: Any) -> Any:
        """What a good question is answered with."""
        return good(self.get(path, **query))

    def did(self, path: str, **body: Any) -> Any:
        return good(self.post(path, **body))


@dataclass(frozen=True)
class World:
    client: TestClient
    memory: Memory  # of the space
    clock: SetClock
    token: str  # of a channel's adapter, which may do everything

    def caller(self, who: str | None = ALICE, chat: str | None = None, **said: str) -> Caller:
        """Somebody whom the adapter vouches for."""
        headers = {"Authorization": f"Bearer {self.token}"}
        for name, value in {"Requester": who, "Chat": chat, **said}.items():
            if value is not None:
                headers[f"X-Tacit-{name}"] = quote(value, safe=":;,-")
        return Caller(self.client, headers)

    def keyed(self, *scopes: Scope, **bound: Any) -> Caller:
        """Somebody with a key of their own."""
        made = self.memory.keys.create("own", scopes=scopes, **bound)
        return Caller(self.client, {"Authorization": f"Bearer {made.token}"})

    def stranger(self) -> Caller:
        return Caller(self.client, {})


def good(response: Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json() if response.content else None


def refused(response: Response, status: int, field: str | None = None) -> dict[str, Any]:
    """The problem of an answer that says no."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["request_id"] == response.headers["x-request-id"]
    if field is not None:
        assert problem["field"] == field, problem
        assert problem["detail"].startswith(f"{field}: ")
    return problem


def alike(one: Response, other: Response) -> None:
    """Two answers that nobody can tell apart, but for the request's id."""
    first, second = one.json(), other.json()
    assert one.status_code == other.status_code
    assert {**first, "request_id": ""} == {**second, "request_id": ""}
    unlike = ("x-request-id", "date")
    kept = [{k: v for k, v in r.headers.items() if k not in unlike} for r in (one, other)]
    assert kept[0] == kept[1]
