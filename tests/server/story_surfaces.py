"""The story through the library, over plain HTTP, and through the official client of MCP."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import tacit
from tacit.memory import Memory, View
from tests.server.story import At, Refused


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def vouching(token: str, at: At) -> dict[str, str]:
    """As a channel adapter says who asks, where, and who else is there."""
    return {
        **bearer(token),
        "X-Tacit-Requester": quote(at.who.key),
        "X-Tacit-Name": quote(at.who.name or ""),
        "X-Tacit-Chat": quote(at.chat.id),
        "X-Tacit-Chat-Kind": at.chat.kind.value,
        **_others(at.chat),
    }


def _others(chat: tacit.Chat) -> dict[str, str]:
    if not chat.participants:
        return {}
    people = [p if isinstance(p, tacit.Requester) else tacit.Requester(p) for p in chat.participants]
    written = ",".join(f"{quote(p.key)};{quote(p.name or '')}" for p in people)
    return {"X-Tacit-Participants": written, "X-Tacit-Complete": str(chat.complete).lower()}


def suggested(id: str, content: str) -> Refused:
    return Refused(f"update {id}: {content}")


class Library:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def _view(self, at: At) -> View:
        view = self._memory.view(at.who, at.chat)
        assert isinstance(view, View)
        return view

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        view = self._view(at)
        found = view.suggest_update(content, category=category, about=[subject])
        if found is not None:
            raise suggested(found.id, found.content)
        return str(view.remember(content, category=category, about=[subject]).id)

    def update(self, at: At, id: str, content: str) -> int:
        try:
            return int(self._view(at).update(id, content).version)
        except tacit.NotFound as error:
            raise Refused(str(error)) from None

    def put(self, at: At, category: str, key: str, value: str) -> str:
        try:
            return str(self._view(at).put(category, key, value).id)
        except tacit.SecretRefused as error:
            raise Refused(str(error)) from None

    def get(self, at: At, category: str, key: str) -> str | None:
        found = self._view(at).get(category, key)
        return None if found is None else found.content

    def listed(self, at: At, category: str) -> Sequence[str]:
        return [one.content for one in self._view(at).list(category)]

    def forget_key(self, at: At, category: str, key: str) -> int:
        return int(self._view(at).forget_key(category, key))

    def recalled(self, at: At, question: str) -> Sequence[str]:
        return [one.memory.content for one in self._view(at).recall(question)]

    def block(self, at: At) -> str:
        return str(self._view(at).block())

    def share(self, at: At, category: str, key: str) -> None:
        view = self._view(at)
        found = view.get(category, key)
        assert found is not None
        view.set_visibility(found.id, "public_ok")

    def said(self, at: At, words: str) -> None:
        self._view(at).learn([tacit.Message("user", words)])
        self._memory.jobs.wait_for_learning()

    def link(self, key: str, account: str) -> None:
        self._memory.admin.link(key, account)


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


T = TypeVar("T")
# Tools name the speaker of what another person said; the library has that in fields of its own.
_SPEAKER = re.compile(r"^\w+ said that ")


def _words(content: str) -> str:
    return _SPEAKER.sub("", content)


class Mcp:
    def __init__(self, url: str, adapter: str, rest: Rest) -> None:
        self._url = url
        self._adapter = adapter
        self._rest = rest

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        given = {"content": content, "category": category, "subject": subject}
        done = self._call(at, "add_to_memory", **given)
        if not done["stored"]:
            raise suggested(done["suggestion"]["id"], done["suggestion"]["content"])
        return str(done["id"])

    def update(self, at: At, id: str, content: str) -> int:
        return int(self._call(at, "update_memory", memory_id=id, content=content)["version"])

    def put(self, at: At, category: str, key: str, value: str) -> str:
        return str(self._call(at, "memory_put", namespace=category, key=key, value=value)["id"])

    def get(self, at: At, category: str, key: str) -> str | None:
        found = self._call(at, "memory_get", namespace=category, key=key)["memory"]
        return None if found is None else _words(str(found["content"]))

    def listed(self, at: At, category: str) -> Sequence[str]:
        found = self._call(at, "memory_list", namespace=category)["memories"]
        return [_words(one["content"]) for one in found]

    def forget_key(self, at: At, category: str, key: str) -> int:
        return int(self._call(at, "memory_delete", namespace=category, key=key)["forgotten"])

    def recalled(self, at: At, question: str) -> Sequence[str]:
        found = self._call(at, "search_memories", query=question)["memories"]
        return [_words(one["content"]) for one in found]

    def block(self, at: At) -> str:
        async def read(client: Client) -> str:
            (found,) = (await client.read_resource("tacit://block")).contents
            return str(getattr(found, "text", ""))

        return self._as(at, read)

    def share(self, at: At, category: str, key: str) -> None:
        """The model asks, and the owner says yes."""
        value = self.get(at, category, key)
        given = {"namespace": category, "key": key, "value": value, "visibility": "public_ok"}
        assert self._call(at, "memory_put", **given)["asked"]
        self._rest.approve_all(at)

    def said(self, at: At, words: str) -> None:
        self._rest.said(at, words)

    def link(self, key: str, account: str) -> None:
        self._rest.link(key, account)

    def _call(self, at: At, tool: str, **given: Any) -> dict[str, Any]:
        async def call(client: Client) -> dict[str, Any]:
            done = await client.call_tool(tool, given)
            if done.is_error:
                raise Refused("".join(getattr(one, "text", "") for one in done.content))
            assert done.structured_content is not None
            return dict(done.structured_content)

        return self._as(at, call)

    def _as(self, at: At, work: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            async with httpx2.AsyncClient(headers=vouching(self._adapter, at)) as http:
                transport = streamable_http_client(f"{self._url}/mcp", http_client=http)
                refused: Refused | None = None
                async with Client(transport) as client:
                    # Raised inside, it would come out as a group of errors.
                    try:
                        return await work(client)
                    except Refused as error:
                        refused = error
            raise refused

        return anyio.run(connected)
