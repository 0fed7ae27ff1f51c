"""All that Alice asks, of every route and tool, in the order of asking; and who she does it as."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tacit
from tests.contract.rooms import ALICE, TEAM
from tests.corpus import read_corpus
from tests.server.story import At
from tests.server.story_surfaces import bearer, vouching
from tests.server.two_worlds import Ask
from tests.server.worlds import BOBS_ROOM

HERE = Path(__file__).parent


def _read_asks(*parts: str) -> dict[str, tuple[Ask, ...]]:
    """The requests of some parts of the corpus, by operation."""
    found: dict[str, tuple[Ask, ...]] = {}
    for part, operation, path, *more in read_corpus(HERE / "requests.tsv"):
        if part in parts:
            body, query, headers = (json.loads(one) if one else None for one in [*more, "", "", ""][:3])
            ask = Ask(path, body, query or {}, headers or {})
            found[operation] = (*found.get(operation, ()), ask)
    return found


def _read_tool_calls(profile: str) -> dict[str, tuple[Mapping[str, Any], ...]]:
    found: dict[str, tuple[Mapping[str, Any], ...]] = {}
    for part, tool, arguments in read_corpus(HERE / "tool_calls.tsv"):
        if part == profile:
            found[tool] = (*found.get(tool, ()), json.loads(arguments))
    return found


OPEN = {"GET /health/live", "GET /health/ready"}
READS = _read_asks("reads")
CASES = _read_asks("reads", "writes", "operators", "removals")
TOOL_CALLS = {profile: _read_tool_calls(profile) for profile in ("registry", "reference")}
# What is Alice's alone, and may not be said where Bob listens.
ALICES_OWN = re.compile(r"Porto|ferns|peanuts|garage|Lisbon|timezone|the rent|my sister")

ALONE = At(ALICE, tacit.Chat.private(ALICE.key))
TOGETHER = At(ALICE, tacit.Chat.group(TEAM, ["telegram:1001", "telegram:2002"], complete=True))
IN_FULL = ("her own key", "an adapter, in the team")
PRINCIPALS = (
    "her own key",
    "her own key, in the team",
    "her own key, in a room she is not in",
    "an adapter",
    "an adapter, in the team",
)


def headers_of(principal: str, known: Mapping[str, str]) -> dict[str, str]:
    own, adapter = bearer(known["alice_token"]), known["adapter_token"]
    named = (
        own,
        {**own, "X-Tacit-Chat": TEAM},
        {**own, "X-Tacit-Chat": BOBS_ROOM},
        vouching(adapter, ALONE),
        vouching(adapter, TOGETHER),
    )
    return dict(zip(PRINCIPALS, named, strict=True))[principal]


def asked(*, in_short: bool = False) -> Iterator[tuple[str, str, Ask]]:
    """Operation, method and request. In short: of each operation two, one of which names what is
    Bob's, where that can be."""
    for operation, asks in CASES.items():
        of_bob = [ask for ask in asks if ask.of_bob]
        for ask in [asks[0], *of_bob[:1]] if in_short else asks:
            yield operation, operation.split(" ")[0], ask
