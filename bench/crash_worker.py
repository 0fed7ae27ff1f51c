"""Writes through the public API until it is killed, saying what it is about to do and what is done.

Each line is JSON: first the intent, then, once the call has returned, the acknowledgement. What
was acknowledged has to be there for ever; of one intent without it, all or nothing.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import tacit
from tacit.memory import Memory
from tacit.records.results import Remembered
from tacit.view.view import View

PEOPLE = [tacit.Requester(f"telegram:{n}", name=f"Person {n}") for n in (101, 102, 103)]
GROUP = tacit.Chat.group("telegram:-100", participants=PEOPLE, complete=True)
_KEYS = [f"field-{n}" for n in range(12)]


def digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def say(**line: object) -> None:
    print(json.dumps(line), flush=True)


def rooms(memory: Memory) -> list[View]:
    """Everybody's private chat, and the group as each of them sees it."""
    found = [memory.view(person, tacit.Chat.private(person.key)) for person in PEOPLE]
    found += [memory.view(person, GROUP) for person in PEOPLE]
    return [view for view in found if view.enabled]


class Worker:
    def __init__(self, memory: Memory, seed: int) -> None:
        self._memory = memory
        self._random = random.Random(seed)
        self._name = f"{seed:x}"
        self._texts = self._sentences()
        self._rooms = rooms(memory)
        # Only what was written in a room is changed there: elsewhere it would become another one.
        self._mine: list[list[str]] = [[] for _ in self._rooms]

    def run(self) -> None:
        acts: list[Callable[[int], None]] = [self._remember, self._put, self._update, self._forget]
        for _ in count():
            room = self._random.randrange(len(self._rooms))
            if self._random.random() < 0.04:
                self._link()
            else:
                (act,) = self._random.choices(acts, weights=(35, 25, 30, 10))
                act(room)

    def _remember(self, room: int) -> None:
        content = next(self._texts)
        say(intent="write", content=digest(content))
        fields: dict[str, Any] = {"visibility": "room"} if room >= len(PEOPLE) else {}
        self._done(room, content, self._rooms[room].remember(content, **fields))

    def _put(self, room: int) -> None:
        content, key = next(self._texts), self._random.choice(_KEYS)
        # A person's key has one value wherever they put it: one room for each of them is enough.
        room %= len(PEOPLE)
        say(intent="write", content=digest(content))
        self._done(room, content, self._rooms[room].put("project", key, content))

    def _update(self, room: int) -> None:
        if not self._mine[room]:
            return
        content, id = next(self._texts), self._random.choice(self._mine[room])
        say(intent="write", content=digest(content))
        self._done(room, content, self._rooms[room].update(id, content))

    def _forget(self, room: int) -> None:
        if not self._mine[room]:
            return
        id = self._mine[room].pop(self._random.randrange(len(self._mine[room])))
        say(intent="forget", id=id)
        self._rooms[room].forget(id)
        say(done="forget", id=id)

    def _link(self) -> None:
        key = f"irc:{self._name}-{self._random.getrandbits(48):x}"
        say(intent="link", key=key)
        self._memory.admin.link(key, f"acct:{key.partition(':')[2]}")
        say(done="link", key=key)

    def _done(self, room: int, content: str, written: Remembered) -> None:
        assert written.id is not None
        if written.id not in self._mine[room]:
            self._mine[room].append(written.id)
        say(done="write", id=written.id, version=written.version, content=digest(content))

    def _sentences(self) -> Iterator[str]:
        for n in count():
            yield f"Fact {n} of {self._name}, in the middle of which a process may die"


def main() -> None:
    url, seed = sys.argv[1], int(sys.argv[2])
    with tacit.open(url) as memory:
        worker = Worker(memory, seed)
        say(ready=True)
        worker.run()
