"""What is wrong with a request is refused by the field that is wrong, whatever is stored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from tests.corpus import check_corpus
from tests.server.calls import World, refused

REFUSALS = Path(__file__).with_name("refusals.tsv")
SAID = {"role": "user", "content": "My sister is called Sarah"}
TALK = [{"role": "user", "content": "tea " * 4_000}] * 19
ITEMS = [{"content": f"{n} " + "tea " * 3_900} for n in range(7)]
TOO_LARGE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST /api/remember", "content", {"content": "x" * 16_001}),
    ("POST /api/remember", "about", {"content": "a fact", "about": ["t"] * 1_000}),
    ("POST /api/remember", "field", {"content": "a fact", "x" * 5_000: 1}),
    ("GET /api/people?cursor=" + "x" * 5_000, "cursor", {}),
    ("POST /api/query", "query", {"query": "x" * 200_001}),
    ("PUT /api/items/profile/k", "content", {"value": "x" * 16_001}),
    ("PUT /api/files/trips.md", "text", {"text": "x" * 100_001}),
    ("PUT /api/checkpoints/t", "data", {"data": {"secret": {"password": "key=" * 250_000}}}),
    *(
        (f"POST /api/{path}", "messages", {"messages": said})
        for path in ("learn", "record", "sessions/end")
        for said in ([SAID] * 501, TALK)
    ),
    ("POST /api/imports/preview", "items", {"items": ITEMS, "source": "mem0"}),
    ("POST /api/imports", "items", {"items": ITEMS, "source": "mem0", "run": "r"}),
)


def send(world: World, request: str, body: Any) -> Response:
    method, _, path = request.partition(" ")
    return world.caller().send(method, path, **({} if body is None else {"json": body}))


def test_each_bad_request_is_refused_by_the_field_that_is_wrong(world: World) -> None:
    def field(request: str, body: str) -> Iterator[str]:
        answer = send(world, request, json.loads(body) if body else None)
        told = answer.json()
        named = f"{told.get('field')}"
        good = answer.status_code == 422 and told["detail"].startswith(f"{named}: ")
        yield named if good else f"{answer.status_code} {answer.text}"

    check_corpus(REFUSALS, 2, field)
    assert world.caller().told("/api/count") == {"count": 0}


@pytest.mark.parametrize(("request_line", "field", "body"), TOO_LARGE)
def test_what_is_too_large_is_refused_and_not_quoted(world: World, request_line: str, field: str, body: Any) -> None:
    problem = refused(send(world, request_line, body), 422, field)
    assert len(str(problem)) < 1_000
