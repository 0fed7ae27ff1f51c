"""What the most expensive request that is still legal costs, in CPU seconds: `make bench-requests`.

    python bench/request_cost.py [--only ROUTE] [--every N] [--top N]

Each route that takes a body gets the largest inputs that its limits allow, made of texts and values
that cost as much as we know how to make them cost (`bench/request_shapes.py`). The time is that of
the process, so that a busy machine does not count; the second figure is the ratio to a plain
request of the same route. One above the bound fails. What a request leaves to the background, such
as learning, is measured beside it, message by message, and has a bound of its own. SQLite in
memory, without an embedder; what writes of many texts take with the local model is measured apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from starlette.testclient import TestClient

import tacit
from bench.request_shapes import UNITS, filled, values
from bench.tables import table
from tacit import limits
from tacit.records.accounts import Scope
from tacit.server.app import create_app
from tacit.settings import Settings
from tacit.tools.reference import reference_tools

BOUND_SECONDS = 1.0
JOB_BOUND_SECONDS = 5.0  # of one message that is learned in the background
BODY_BYTES = limits.SERVER_BODY_MAX_BYTES - 200
PER_MEMORY = 20  # requests
WHO = "telegram:1"
UNHURRIED = 1_000_000
_JSON = "application/json"
_LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request; `made_of` says what is hostile about it."""

    made_of: str
    method: str
    path: str
    body: bytes
    media: str = _JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    route: str
    made_of: str
    seconds: float
    times: float  # a plain request of the same route
    outcome: str
    bound: float


Body = Mapping[str, Any]
Made = Iterator[tuple[str, Body]]


def written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _texts(chars: int, every: int) -> Iterator[tuple[str, str]]:
    for unit in UNITS[::every]:
        yield repr(unit), filled(unit, chars)


def _shared(unit: str, count: int, chars: int) -> list[str]:
    """As many of them as have that many characters in all, each another one."""
    each = min(limits.CONTENT_MAX_CHARS, chars // count) - 4
    return [f"{number:04}{filled(unit, each)}" for number in range(count)]


def contents(every: int) -> Made:
    for made_of, text in _texts(limits.CONTENT_MAX_CHARS, every):
        yield made_of, {"content": text}


def with_data(every: int) -> Made:
    for made_of, value in list(values(limits.DATA_MAX_BYTES - 20))[::every]:
        yield made_of, {"content": "a fact", "data": {"v": value}}


def puts(every: int) -> Made:
    for _, body in contents(every):
        yield body["content"][:24], {"value": body["content"]}


def checkpoints(every: int) -> Made:
    for size in (BODY_BYTES - 100, 480_000, 200_000):
        for made_of, value in list(values(size))[::every]:
            yield f"{size:,} bytes, {made_of}", {"data": value}


def items(every: int) -> Made:
    most = limits.IMPORT_ITEMS_MAX_CHARS
    for unit in UNITS[::every]:
        for count in (8, limits.IMPORT_ITEMS_MAX_COUNT):
            each = _shared(unit, count, most - count * 40)
            told = [{"content": text} for text in each]
            yield f"{count} of {unit!r}", {"items": told, "source": "x"}
    for made_of, value in list(values(limits.DATA_MAX_BYTES - 20))[::every]:
        one: dict[str, Any] = {"content": "a fact", "data": {"v": value}}
        yield f"data: {made_of}", {"items": [one], "source": "x"}
    for count in (2, 200):
        pairs = {f"pin{number:05}": "a" for number in range(4_000 // count)}
        named = [{"content": f"fact {n}", "data": pairs} for n in range(count)]
        yield f"{count} with names of secrets in their data", {"items": named, "source": "x"}


def imports(every: int) -> Made:
    for number, (made_of, body) in enumerate(items(every)):
        yield made_of, {**body, "run": f"run {number}"}


def queries(every: int) -> Made:
    for made_of, text in _texts(limits.QUERY_MAX_CHARS, every):
        yield made_of, {"query": text, "top_k": limits.RECALL_MAX_COUNT}


def messages(every: int) -> Made:
    for unit in UNITS[::every]:
        for count in (25, limits.MESSAGES_MAX_COUNT):
            said = _shared(unit, count, limits.MESSAGES_MAX_CHARS)
            told = [{"role": "user", "content": text} for text in said]
            yield f"{count} of {unit!r}", {"messages": told}


def one_message(every: int) -> Made:
    for made_of, text in _texts(limits.CONTENT_MAX_CHARS, every):
        yield made_of, {"text": text}


def drafts(every: int) -> Made:
    fields = ("facts", "tasks", "follow_ups", "topics")
    for unit in UNITS[::every]:
        few = _shared(unit, 4, limits.SESSION_DRAFT_MAX_CHARS)
        yield f"4 facts of {unit!r}", {"draft": {"facts": few}}
        many = _shared(unit, limits.SESSION_PARTS_MAX_COUNT, limits.SESSION_DRAFT_MAX_CHARS // 4)
        told: dict[str, Any] = {"facts": many, "topics": [{"topic": one} for one in many]}
        for name in fields[1:3]:
            told[name] = [{"text": f"{name} {one}"[: len(one)]} for one in many]
        yield f"200 of each part, of {unit!r}", {"draft": told}


def files(every: int) -> Made:
    """Each replaces what the one before wrote, and is told from it line by line."""
    half = limits.FILE_CHANGED_LINES_MAX_COUNT // 2
    for unit in UNITS[::every]:
        one = filled(unit, limits.FILE_MAX_CHARS - 4).replace("\n", " ")
        yield f"one line of {unit!r}", {"text": f"- {one}\n"}
        for count in (6, 48, half):
            each = min(limits.CONTENT_MAX_CHARS, limits.FILE_MAX_CHARS // count) - 24
            line = filled(unit, each).replace("\n", " ")
            for word in ("this", "other"):
                text = "".join(f"- {number} {word} {line}\n" for number in range(count))
                yield f"{count} {word} lines of {unit!r}", {"text": text}


def searches(every: int) -> Made:
    for made_of, text in _texts(limits.SEARCH_MAX_CHARS, every):
        yield made_of, {"search": {"words": text}}


def drafted_names(every: int) -> Made:
    for made_of, text in _texts(limits.NAME_MAX_CHARS, every):
        tags = [f"{n}{filled(text, limits.TAG_MAX_CHARS - 2)}" for n in range(32)]
        about = [f"{text[:190]}{n}" for n in range(limits.PEOPLE_PER_MEMORY_MAX_COUNT)]
        yield made_of, {"content": "a fact", "tags": tags, "about": about}


def exported(every: int) -> Iterator[tuple[str, bytes]]:
    most, chars = (limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT, limits.IMPORT_REQUEST_MAX_CHARS)
    for unit in UNITS[::every]:
        for count in (25, most):
            said = _shared(unit, count, chars - count * 40)
            lines = [written({"content": text}) for text in said]
            yield f"{count} lines of {unit!r}", b"\n".join(lines)
        told = [{"content": text} for text in _shared(unit, most, chars - most * 40)]
        line = {"content": told[-1]["content"], "versions": told}
        yield f"{most} versions of {unit!r}", written(line)


ROUTES: dict[str, tuple[str, Callable[[int], Made], Body]] = {
    "/api/remember": ("POST", contents, {"content": "a fact"}),
    "/api/remember data": ("POST", with_data, {"content": "a fact", "data": {"a": 1}}),
    "/api/remember names": ("POST", drafted_names, {"content": "a fact", "tags": ["a"]}),
    "/api/items/profile/k": ("PUT", puts, {"value": "a fact"}),
    "/api/suggest": ("POST", contents, {"content": "a fact"}),
    "/api/checkpoints/t": ("PUT", checkpoints, {"data": {"step": 1}}),
    "/api/imports/preview": ("POST", items, {"items": [{"content": "a"}], "source": "x"}),
    "/api/imports": ("POST", imports, {"items": [{"content": "a"}], "source": "x", "run": "r"}),
    "/api/query": ("POST", queries, {"query": "tea"}),
    "/api/recall": ("POST", queries, {"query": "tea"}),
    "/api/fresh": ("POST", queries, {"query": "tea"}),
    "/api/learn": ("POST", messages, {"messages": [{"role": "user", "content": "I like tea"}]}),
    "/api/record": ("POST", messages, {"messages": [{"role": "user", "content": "I like tea"}]}),
    "/api/trace": ("POST", one_message, {"text": "I like tea"}),
    "/api/sessions/end": ("POST", messages, {"messages": [{"role": "user", "content": "I like tea"}]}),
    "/api/sessions/end draft": ("POST", drafts, {"draft": {"facts": ["a fact"]}}),
    "/api/files/trips.md": ("PUT", files, {"text": "- a fact\n"}),
    "/api/browse": ("POST", searches, {"search": {"words": "tea"}}),
}
IMPORT = "/api/import"
LEARNED = "learning one message"
TOOLS = "create_entities"
BLOCK = "GET /api/block"
EMBEDDED = "with the local model"


class Measuring:
    """One memory with a person who has some, and a server over it."""

    def __init__(self, every: int) -> None:
        made = Settings()
        self._settings = replace(
            made,
            server=replace(made.server, rate_per_minute=UNHURRIED),
            memory=replace(made.memory, sessions=replace(made.memory.sessions, keep=True)),
            learn=replace(made.learn, workers=0, daily_max_count=UNHURRIED),
        )
        self._every = every

    def costs(self, only: str | None) -> Iterator[Cost]:
        for route, (method, made, plain) in ROUTES.items():
            if only is None or only in route:
                path = route.partition(" ")[0]
                sent = (
                    Sent(made_of=made_of, method=method, path=path, body=written(body))
                    for made_of, body in made(self._every)
                )
                first = Sent(made_of="", method=method, path=path, body=written(plain))
                yield from self._of_route(route, first, sent)
        if only is None or only in IMPORT:
            told = {"method": "POST", "path": IMPORT, "media": _LINES}
            sent = (Sent(made_of=made_of, body=body, **told) for made_of, body in exported(self._every))
            yield from self._of_route(IMPORT, Sent(made_of="", body=b'{"content":"a"}', **told), sent)
        yield from self._of_library(only)

    def _opened(self) -> tacit.Memory:
        return tacit.open("sqlite://", embedder=None, settings=self._settings)

    def _of_route(self, route: str, plain: Sent, sent: Iterator[Sent]) -> Iterator[Cost]:
        """With a new memory now and then: what is measured is a request, not what is stored."""
        while some := list(islice(sent, PER_MEMORY)):
            yield from self._with_new_memory(route, plain, some)

    def _with_new_memory(self, route: str, plain: Sent, sent: Sequence[Sent]) -> Iterator[Cost]:
        with (
            self._opened() as memory,
            TestClient(create_app(memory, self._settings, local=False), base_url="http://localhost") as client,
        ):
            _fill(memory)
            key = memory.keys.create("bench", scopes=tuple(Scope), rate_per_minute=UNHURRIED)
            headers = {"Authorization": f"Bearer {key.token}", "X-Tacit-Requester": WHO}

            def ask(one: Sent) -> tuple[float, str]:
                told = {**headers, "Content-Type": one.media}
                begun = time.process_time()
                answer = client.request(one.method, one.path, headers=told, content=one.body)
                spent = time.process_time() - begun
                refused = answer.json()["detail"] if answer.status_code >= 400 else ""
                return spent, f"{answer.status_code} {refused[:60]}".strip()

            ask(plain)  # what is read and compiled once is no part of a request
            base = min(ask(plain)[0] for _ in range(5))
            for one in sent:
                spent, outcome = ask(one)
                yield _cost(route, one.made_of, spent, base, outcome)

    def _of_library(self, only: str | None) -> Iterator[Cost]:
        if only is None or only in LEARNED:
            with self._opened() as memory:
                _fill(memory)
                base = min(_learned(memory, f"I like tea {n}") for n in range(5))
                for made_of, text in _texts(limits.CONTENT_MAX_CHARS, self._every):
                    spent = _learned(memory, text)
                    yield _cost(LEARNED, made_of, spent, base, "learned", JOB_BOUND_SECONDS)
        if only is None or only in TOOLS:
            with self._opened() as memory:
                yield from self._of_tools(_view(memory))
        if only is None or only in EMBEDDED:
            yield from self._with_a_model()
        if only is None or only in BLOCK:
            for unit in UNITS[:: self._every]:
                with self._opened() as memory:
                    view = _view(memory)
                    base = _timed(view.block)
                    for number in range(limits.BLOCK_ITEMS_MAX_COUNT):
                        text = filled(unit, limits.CONTENT_MAX_CHARS - 4)
                        with suppress(tacit.SecretRefused):
                            view.remember(f"{number:03}{text}", importance=5)
                    spent = _timed(view.block) + _timed(partial(view.fresh, "tea"))
                    yield _cost(BLOCK, f"50 memories of {unit!r}", spent, base, "made")

    def _with_a_model(self) -> Iterator[Cost]:
        """Of the thread that asks: what is embedded later is another one's."""
        said = "\u4e2d\u6587" * 250  # a token for each character

        def texts(count: int) -> list[str]:
            return [f"{number} {said}" for number in range(count)]

        def record(view: Any, count: int) -> None:
            view.record([tacit.Message("user", text) for text in texts(count)])

        def import_items(view: Any, count: int) -> None:
            view.imports.add("run", [{"content": text} for text in texts(count)], source="x")

        with tacit.open("sqlite://", settings=self._settings) as memory:
            view = _view(memory)
            view.remember("a fact")
            base = _timed(partial(view.remember, "another fact"), time.thread_time)
            whole = (limits.MESSAGES_MAX_CHARS - 10_000) // len(said)
            for act, counts in ((record, (7, whole)), (import_items, (7, 150))):
                for count in counts:
                    spent = _timed(partial(act, view, count), time.thread_time)
                    yield _cost(EMBEDDED, f"{act.__name__} {count}", spent, base, "kept")

    def _of_tools(self, view: Any) -> Iterator[Cost]:
        found = {tool.name: tool for tool in reference_tools(view)}

        def entities(count: int, observed: int, tag: str) -> dict[str, Any]:
            said = [f"likes tea {n}" for n in range(observed)]
            return {
                "entities": [{"name": f"{tag} {n}", "entityType": "person", "observations": said} for n in range(count)]
            }

        def ask(given: dict[str, Any]) -> tuple[float, str]:
            begun = time.process_time()
            answer = found[TOOLS].call(given)
            return time.process_time() - begun, answer.text[:40] if answer.failed else "made"

        base = ask(entities(1, 1, "plain"))[0]
        for count, observed in ((200, 0), (1, 199), (100, 1), (50_000, 0), (1_000, 20)):
            spent, outcome = ask(entities(count, observed, f"Ana {count} {observed}"))
            made_of = f"{count} entities with {observed} observations"
            yield _cost(TOOLS, made_of, spent, base, outcome)


def _timed(act: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    begun = clock()
    act()
    return clock() - begun


def _cost(route: str, made_of: str, spent: float, base: float, outcome: str, bound: float = BOUND_SECONDS) -> Cost:
    times = spent / max(base, 1e-6)
    return Cost(route=route, made_of=made_of, seconds=spent, times=times, outcome=outcome, bound=bound)


def _view(memory: tacit.Memory) -> Any:
    return memory.view(tacit.Requester(WHO), tacit.Chat.private(WHO))


def _fill(memory: tacit.Memory) -> None:
    view = _view(memory)
    for number in range(50):
        view.remember(f"I like tea number {number} and my sister Ana lives in Oslo")
    view.trace("I like tea")


def _learned(memory: tacit.Memory, text: str) -> float:
    _view(memory).learn([tacit.Message("user", text)])
    return _timed(memory.jobs.wait_for_learning)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="routes whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="only every so many of the inputs")
    parser.add_argument("--top", type=int, default=30, help="how many of the slowest to print")
    given = parser.parse_args()
    found = sorted(Measuring(given.every).costs(given.only), key=lambda one: -one.seconds)
    rows = [
        [f"{one.route}: {one.made_of}"[:84], f"{one.seconds:.2f} s", f"{one.times:,.0f}x", one.outcome]
        for one in found[: given.top]
    ]
    print(table(("the slowest inputs", "CPU", "a plain one", "answer"), rows))
    over = [one for one in found if one.seconds > one.bound]
    print(
        f"\n{len(found):,} inputs; {len(over)} over the bound of {BOUND_SECONDS:g} s for a request "
        f"and {JOB_BOUND_SECONDS:g} s for a message that is learned"
    )
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
