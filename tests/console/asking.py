"""A visitor without a browser: requests as they are sent, and what comes back."""

import re
from collections.abc import Mapping

import httpx2

from tests.console.conftest import COOKIE, World

PAGE = {"Accept": "text/html"}
Fields = Mapping[str, str | list[str]]


class Caller:
    def __init__(self, world: World, cookie: str | None = None) -> None:
        self.world = world
        self.cookie = cookie

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self._send("GET", path, headers)

    def post(self, path: str, fields: Fields, **headers: str) -> httpx2.Response:
        return self._send("POST", path, headers, fields)

    def do(self, path: str, **fields: str | list[str]) -> httpx2.Response:
        """As a form of ours does."""
        return self.post(path, {**fields, "csrf": self.token()})

    def token(self) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.get("/nothing").text)
        assert found is not None
        return found[1]

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], fields: Fields | None = None
    ) -> httpx2.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie is not None and "Cookie" not in sent:
            sent["Cookie"] = f"{COOKIE}={self.cookie}"
        return httpx2.request(
            method,
            f"{self.world.url}{path}",
            headers={**PAGE, **sent},
            data=dict(fields) if fields is not None else None,
            follow_redirects=False,
        )
