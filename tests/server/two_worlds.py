"""Asking both worlds the same, and seeing whether they answer the same, byte for byte."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from sqlalchemy import text

from tests.server.worlds import CANARY, World

# What may differ between two answers to one question.
_PASSING = {"date", "x-request-id"}
_REQUEST_ID = re.compile(r'"request_id": ?"[^"]*"')
# A certificate has an id of chance, and is signed with it.
_SIGNED = re.compile(r'(?<="certificate":\{"id":")[0-9a-f]+|(?<="signature":")[0-9a-f]+')
# And so is a code.
_CODE = re.compile(r'(?<="code":")[2-9A-Z]{5}-[2-9A-Z]{5}(?=")')
_TOKEN = re.compile(r"[0-9A-Za-z]{8}")
_NEW_IDS = "SELECT id FROM memories UNION SELECT substr(id, 8) FROM people"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `{own}` and its like stand for what a world knows; see `World.known`."""

    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_bob(self) -> bool:
        """Whether it names something of Bob's."""
        return "{theirs" in json.dumps([self.path, self.body, dict(self.query)])


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: str
    body: str


class Names:
    """Puts names in the place of what is chance: the ids that came about since it was made."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._before = self._ids()
        self._names: dict[str, str] = {}
        self._sent: set[str] = set()

    def plain(self, told: str) -> str:
        new = self._ids() - self._before if _TOKEN.search(told) else set()

        def named(token: re.Match[str]) -> str:
            if token[0] not in new and token[0] not in self._names:
                return token[0]
            return self._names.setdefault(token[0], f"<{len(self._names):06}>")

        told = _CODE.sub("", told)
        told = _SIGNED.sub("", _REQUEST_ID.sub('"request_id":""', told))
        return _TOKEN.sub(named, told)

    def filled(self, part: Any) -> Any:
        """With what the world knows by these names; other braces stay."""
        if isinstance(part, str):
            known = self._world.known
            part = re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], found[0]), part)
            self._sent.update(CANARY.findall(part))
            return part
        if isinstance(part, Mapping):
            return {self.filled(k): self.filled(v) for k, v in part.items()}
        return [self.filled(one) for one in part] if isinstance(part, list | tuple) else part

    def leaked(self, told: str) -> set[str]:
        """Words of Bob's in an answer, but for those that Alice's questions brought along."""
        return set(CANARY.findall(told)) - self._sent

    def _ids(self) -> set[str]:
        with self._world.memory._storage.database.read() as connection:
            return {row[0] for row in connection.execute(text(_NEW_IDS))}


class Caller:
    """Asks one world over HTTP."""

    def __init__(self, world: World, url: str, headers: Mapping[str, str]) -> None:
        self.world = world
        self._url = url
        self._client = httpx2.Client(base_url=url, headers=dict(headers), timeout=60)
        self._names = Names(world)
        self.raw = ""

    def ask(self, method: str, asked: Ask) -> Answer:
        self.world.clock.forward(seconds=1)
        path, query, headers, body = (
            self._names.filled(part) for part in (asked.path, dict(asked.query), dict(asked.headers), asked.body)
        )
        sent: dict[str, Any] = {"headers": headers, "params": query}
        if isinstance(body, str):
            sent["content"] = body.encode()
        elif body is not None:
            sent["json"] = body
        got = self._client.request(method, path, **sent)
        self.raw = f"{got.headers}\n{got.text}"
        kept = ((k, v) for k, v in got.headers.multi_items() if k not in _PASSING)
        told = "\n".join(f"{name}: {value}" for name, value in sorted(kept))
        return Answer(got.status_code, *self._plain(f"{told}\n\n{got.text}").split("\n\n", 1))

    def leaked(self) -> set[str]:
        """Words of Bob's in the last answer."""
        return self._names.leaked(self.raw)

    def close(self) -> None:
        self._client.close()

    def _plain(self, told: str) -> str:
        return self._names.plain(told.replace(self._url, "http://here"))
