"""Whether the pages of the console are as quick with 10,000 memories as with 100, and how large.

    python bench/console_speed.py [--large 10000] [--rounds 25]

One server, two spaces: in one a person has 100 memories, in the other 10,000. Both are asked for
the same pages in turns, as a person and as an operator; search as you type is asked for letter by
letter: for words that all memories have, for one that two have, and for one that some have, which
fills a page of the one space and not of the other. Then Chromium opens the first page with nothing
at hand, and counts what came. On a SQLite file, and on PostgreSQL if
TACIT_TEST_POSTGRES names one.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx2

import tacit
from bench.serve_load import databases
from bench.tables import milliseconds, percentile, table
from tests.console.chromium import driven, executable
from tests.console.conftest import COOKIE
from tests.server.processes import serving

SMALL, LARGE = 100, 10_000
RATIO_MAX = 2.0
FIRST_PAGE_MAX_BYTES = 200_000
WHO, OPERATOR, ROOM = "bench:1", "bench", "bench:-1"
_RARE = "zeppelin"
_RARELY = (7, 42)  # the memories that hold it
_TYPED = {"typed, all have it": "green", "typed, two have it": _RARE, "typed, two words": "door gree"}
_TYPED_SOME = {"typed, some have it": "garden"}  # a page of few rows beside a full one
_ENVIRONMENT = {
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_JOBS_ON_OPEN": "false",
    "TACIT_SERVER_RATE_PER_MINUTE": "10000000",
    "TACIT_SERVER_LOG": "json",
}
_THINGS = ("train", "garden", "kitchen", "bicycle", "library", "harbour", "violin", "market")
_PAGES = {
    "memories": "/",
    "memories, filtered": "/?category=context&visibility=private_only&state=any",
    "one memory": "/memories/{id}",
    "visibility": "/visibility",
    "people": "/people",
    "graph": "/graph",
    "review": "/review",
    "activity": "/activity",
    "prompt": "/prompt",
    "access log": "/access-log",
}
_FOR_PERSONS = frozenset({"review", "prompt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A visitor of one of the two spaces."""

    asking: httpx2.Client
    id: str  # of one memory there

    def took(self, path: str, *, typed: bool = False) -> float:
        headers = {"X-Tacit-Fragment": "1"} if typed else {}
        begun = time.perf_counter()
        answer = self.asking.get(path.format(id=self.id), headers=headers)
        taken = time.perf_counter() - begun
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        return taken


def fill(memory: tacit.Memory, count: int) -> str:
    view = memory.view(tacit.Requester(WHO, name="Ann"), tacit.Chat.private(WHO))
    for one in (WHO, *(f"bench:{n}" for n in range(2, 12))):
        memory.chats.join(ROOM, one)
    last = ""
    for n in range(count):
        rare = f" near the {_RARE}" if n in _RARELY else ""
        content = f"The {_THINGS[n % 8]} has the number {n} and a green door{rare}"
        last = view.remember(content, category="context").id
    return last


def signed_in(memory: tacit.Memory, url: str, id: str, *, operator: bool) -> Side:
    offer = memory.console.create_link
    offered = offer(operator=OPERATOR) if operator else offer(person=WHO)
    cookie = memory.console.sign_in(offered.token).cookie
    asking = httpx2.Client(base_url=url, cookies={COOKIE: cookie}, timeout=60)
    return Side(asking=asking, id=id)


def compared(small: Side, large: Side, path: str, rounds: int) -> tuple[list[float], list[float]]:
    for side in (small, large):
        side.took(path)  # what is asked for first is read from the disk
    pairs = [(small.took(path), large.took(path)) for _ in range(rounds)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def typed(small: Side, large: Side, word: str, rounds: int) -> tuple[list[float], list[float]]:
    """Each letter is a request, as it is while somebody types."""
    paths = [f"/?words={word[:end].replace(' ', '+')}" for end in range(1, len(word) + 1)]
    some: tuple[list[float], list[float]] = ([], [])
    for _ in range(max(1, rounds // 5)):
        for path in paths:
            for side, took in zip((small, large), some, strict=True):
                took.append(side.took(path, typed=True))
    return some


def report(name: str, small: Side, large: Side, *, operator: bool, rounds: int) -> bool:
    rows, fine = [], True
    measured = {
        page: compared(small, large, path, rounds)
        for page, path in _PAGES.items()
        if not (operator and page in _FOR_PERSONS)
    }
    words = _TYPED | _TYPED_SOME
    measured |= {what: typed(small, large, word, rounds) for what, word in words.items()}
    for what, (few, many) in measured.items():
        ratio = median(many) / median(few)
        bound = what not in _TYPED_SOME
        fine &= ratio <= RATIO_MAX or not bound
        rows.append(
            (
                what,
                milliseconds(median(few)),
                milliseconds(median(many)),
                milliseconds(percentile(many, 0.95)),
                f"{ratio:.2f}x{_said(ratio, bound)}",
            )
        )
    print(f"\n{name}, as {'an operator' if operator else 'a person'} (at most {RATIO_MAX:.0f}x)")
    print(table(("page", "p50 few", "p50 many", "p95 many", "ratio"), rows))
    return fine


def _said(ratio: float, bound: bool) -> str:
    if not bound:
        return "  more rows"
    return "" if ratio <= RATIO_MAX else "  WRONG"


def first_page_bytes(url: str, cookie: str) -> tuple[int, int]:
    """What a browser with nothing at hand fetches for the first page: bytes on the wire with their
    headers, and how many answers."""
    path = executable()
    if path is None:
        raise RuntimeError("there is no Chromium; make test fetches one")
    with driven(path) as chromium:
        chromium.go_on()
        context = chromium.browser.new_context()
        context.add_cookies([{"name": COOKIE, "value": cookie, "url": url}])
        page = context.new_page()
        session = context.new_cdp_session(page)
        found: list[int] = []
        session.on("Network.loadingFinished", lambda one: found.append(one["encodedDataLength"]))
        session.send("Network.enable")
        page.goto(url, wait_until="networkidle")
        context.close()
    return int(sum(found)), len(found)


def measured(name: str, url: str, large: int, rounds: int) -> bool:
    with tacit.open(url, embedder=None) as memory:
        spaces = {"few": SMALL, "many": large}
        ids = {space: fill(memory.space(space), count) for space, count in spaces.items()}
        with serving(url, env=_ENVIRONMENT) as served:
            fine = True
            for operator in (False, True):
                few, many = (
                    signed_in(memory.space(space), served.url, ids[space], operator=operator) for space in spaces
                )
                fine &= report(name, few, many, operator=operator, rounds=rounds)
            size, answers = first_page_bytes(served.url, many.asking.cookies[COOKIE])
    small = size <= FIRST_PAGE_MAX_BYTES
    print(f"first page: {size / 1000:.1f} kB in {answers} answers (at most 200 kB)")
    return fine and small


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="pages of the console, with few and many memories")
    parser.add_argument("--large", type=int, default=LARGE)
    parser.add_argument("--rounds", type=int, default=25)
    asked = parser.parse_args(arguments)
    fine = True
    for name, url in databases():
        fine &= measured(name, url, asked.large, asked.rounds)
    print(f"\n{'every' if fine else 'not every'} figure is within its bound")
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
