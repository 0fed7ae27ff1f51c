"""The story as plain HTTP: routes, headers and JSON, and nothing of ours on this side."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx2

from tacit.memory import Memory
from tests.server.headers import bearer, vouching
from tests.server.story import At, Refused
from tests.server.story_library import suggested


class Rest:
    def __init__(self, url: str, adapter: str, admin: str, memory: Memory) -> None:
        self.url = url
        self._client = httpx2.Client(base_url=url, timeout=60)
        self.adapter = adapter
        self._admin = admin
        self._memory = memory  # learns what it was told, when the story says so

    def close(self) -> None:
        self._client.close()

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        body = {"content": content, "category": category, "subject": subject}
        got = self._ask(at, "POST", "/api/memory/", json=body)
        if got.status_code == 409:
            found = got.json()["suggestion"]
            raise suggested(found["id"], found["content"])
        assert got.headers["location"].endswith(got.json()["id"])
        return str(self._good(got, 201)["id"])

    def update(self, at: At, id: str, content: str) -> int:
        got = self._ask(at, "PUT", f"/api/memory/{id}", json={"content": content})
        return int(self._good(got)["memory"]["version"])

    def put(self, at: At, category: str, key: str, value: str) -> str:
        got = self._ask(at, "PUT", self._item(category, key), json={"value": value})
        return str(self._good(got)["id"])

    def get(self, at: At, category: str, key: str) -> str | None:
        got = self._ask(at, "GET", self._item(category, key))
        return None if got.status_code == 404 else str(self._good(got)["content"])

    def listed(self, at: At, category: str) -> Sequence[str]:
        got = self._good(self._ask(at, "GET", f"/api/items/{quote(category)}"))
        return [one["content"] for one in got["items"]]

    def forget_key(self, at: At, category: str, key: str) -> int:
        return int(self._good(self._ask(at, "DELETE", self._item(category, key)))["count"])

    def recalled(self, at: At, question: str) -> Sequence[str]:
        got = self._good(self._ask(at, "POST", "/api/recall", json={"query": question}))
        return [one["memory"]["content"] for one in got]

    def block(self, at: At) -> str:
        return str(self._good(self._ask(at, "GET", "/api/block"))["text"])

    def share(self, at: At, category: str, key: str) -> None:
        id = self._good(self._ask(at, "GET", self._item(category, key)))["id"]
        got = self._ask(at, "PATCH", f"/api/memory/{id}", json={"visibility": "public_ok"})
        assert got.is_success, got.text

    def approve_all(self, at: At) -> None:
        for one in self._good(self._ask(at, "GET", "/api/proposals"))["items"]:
            got = self._ask(at, "POST", f"/api/proposals/{one['id']}/approve")
            assert got.status_code == 204, got.text

    def said(self, at: At, words: str) -> None:
        messages = [{"role": "user", "content": words}]
        got = self._ask(at, "POST", "/api/learn", json={"messages": messages})
        assert self._good(got, 202 if got.status_code == 202 else 200)["turns"] == 1
        self._memory.jobs.wait_for_learning()

    def link(self, key: str, account: str) -> None:
        body = {"external_key": key, "account": account}
        got = self._client.post("/api/links", json=body, headers=bearer(self._admin))
        assert got.is_success, got.text

    def _item(self, category: str, key: str) -> str:
        return f"/api/items/{quote(category)}/{quote(key)}"

    def _ask(self, at: At, method: str, path: str, **sent: Any) -> httpx2.Response:
        return self._client.request(method, path, headers=vouching(self.adapter, at), **sent)

    def _good(self, got: httpx2.Response, status: int = 200) -> Any:
        if got.status_code in (404, 422):
            assert got.headers["content-type"] == "application/problem+json"
            raise Refused(got.json()["detail"])
        assert got.status_code == status, got.text
        return got.json()
