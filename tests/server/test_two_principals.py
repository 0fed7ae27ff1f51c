"""Whatever Bob has, Alice is answered the same, by every route and tool; and nobody gets further than their key."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tacit.memory import Memory
from tacit.tools import Tool, tools
from tacit.tools.reference import reference_tools
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, TEAM, group, private
from tests.server.cases import ALICES_OWN, CASES, IN_FULL, OPEN, PRINCIPALS, READS, TOOL_CALLS, asked, headers_of
from tests.server.conftest import Both
from tests.server.http_server import served
from tests.server.story_surfaces import bearer
from tests.server.two_worlds import Answer, Ask, Caller, Names
from tests.server.worlds import ABSENT, BOBS_ROOM, UNHURRIED, World, opened


def differences(one: Caller, other: Caller, *, in_short: bool) -> Iterator[str]:
    """Each answer that is not the same, or that holds a word of Bob's."""
    for operation, method, ask in asked(in_short=in_short):
        here, there = one.ask(method, ask), other.ask(method, ask)
        if here != there:
            yield f"{operation} {ask}\n  with    {here}\n  without {there}"
        words = one.leaked()
        if words:
            yield f"{operation} {ask} tells {words}: {one.raw}"
        if here.status >= 500:
            yield f"{operation} {ask} fails: {here}"


def operations(known: Mapping[str, str], url: str) -> set[str]:
    document = httpx2.get(f"{url}/openapi.json", headers=bearer(known["admin_token"])).json()
    return {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}


def test_every_route_has_its_case(prepared: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, known = prepared
    world = opened(folder, tmp_path, "without", known)
    with world.memory, served(world.memory, UNHURRIED) as url:
        assert operations(known, url) == set(CASES)


def test_every_route_that_names_something_is_asked_for_what_is_bobs() -> None:
    naming = {operation: asks for operation, asks in CASES.items() if "{" in operation}
    harmless = {"DELETE /api/items/{category}"}
    without = {name for name, asks in naming.items() if not any(ask.of_bob for ask in asks)}
    assert without == harmless


@pytest.mark.parametrize("principal", PRINCIPALS)
def test_alice_is_answered_the_same_whatever_bob_has(both: Both, known: dict[str, str], principal: str) -> None:
    with both(headers_of(principal, known)) as (one, other):
        assert list(differences(one, other, in_short=principal not in IN_FULL)) == []


def test_forbidden_and_absent_are_the_same_bytes(both: Both, known: dict[str, str]) -> None:
    with both(headers_of("her own key", known)) as (caller, _):
        for operation, method, ask in asked():
            if "{id}" in operation and "{theirs" in ask.path:
                path = re.sub(r"\{theirs\w*\}", ABSENT, ask.path)
                absent = Ask(path, ask.body, ask.query, ask.headers)
                assert caller.ask(method, ask) == caller.ask(method, absent), operation


@pytest.mark.parametrize("principal", ["her own key, in the team", "an adapter, in the team"])
def test_where_bob_listens_nothing_of_alice_alone_is_said(both: Both, known: dict[str, str], principal: str) -> None:
    with both(headers_of(principal, known)) as (caller, _):
        for operation, method, ask in asked():
            if operation in READS:
                caller.ask(method, ask)
                told = set(ALICES_OWN.findall(caller.raw)) - set(ALICES_OWN.findall(repr(ask)))
                assert not told, f"{operation} {ask}: {caller.raw}"


PROTOCOL = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

ROOMS: dict[str, Callable[[Memory], View]] = {
    "alone": lambda memory: private(memory, ALICE),
    "in the team": lambda memory: group(memory, ALICE),
    "in the team, all told": lambda memory: group(memory, ALICE, complete=True),
}
PROFILES: dict[str, Callable[[View], tuple[Tool, ...]]] = {"registry": tools, "reference": reference_tools}


@contextmanager
def both_worlds(prepared: tuple[Path, dict[str, str]], folder: Path) -> Iterator[tuple[World, World]]:
    with ExitStack() as stack:
        worlds = [opened(prepared[0], folder, name, prepared[1]) for name in ("with", "without")]
        for world in worlds:
            stack.callback(world.memory.close)
        yield worlds[0], worlds[1]


def told(world: World, names: Names, tool: Tool, given: Mapping[str, Any]) -> str:
    world.clock.forward(seconds=1)
    return repr(tool.call(names.filled(given)))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("room", ROOMS)
def test_alices_model_is_answered_the_same_whatever_bob_has(
    prepared: tuple[Path, dict[str, str]], tmp_path: Path, room: str, profile: str
) -> None:
    make, cases = PROFILES[profile], TOOL_CALLS[profile]
    with both_worlds(prepared, tmp_path) as worlds:
        kits = [{one.name: one for one in make(ROOMS[room](world.memory))} for world in worlds]
        assert set(kits[0]) == set(kits[1]) == set(cases)
        names = [Names(world) for world in worlds]
        for tool, asks in cases.items():
            for given in asks:
                here, there = (
                    told(world, name, kit[tool], given) for world, name, kit in zip(worlds, names, kits, strict=True)
                )
                assert names[0].plain(here) == names[1].plain(there), (tool, given)
                assert not names[0].leaked(here), (tool, given, here)


def _asks(path: str, cases: Mapping[str, Any]) -> Iterator[Ask]:
    """As messages of the protocol, each of which stands for itself."""
    plain: list[tuple[str, Mapping[str, Any]]] = [("tools/list", {}), ("resources/list", {}), ("prompts/list", {})]
    block = [("resources/read", {"uri": "tacit://block"}), ("prompts/get", {"name": "memory"})]
    calls = [("tools/call", {"name": tool, "arguments": given}) for tool, asks in cases.items() for given in asks]
    for number, (method, params) in enumerate([*plain, *block, *calls, *block]):
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        yield Ask(path, body, headers=PROTOCOL)


@pytest.mark.parametrize("principal", ["her own key", "an adapter, in the team"])
def test_mcp_answers_alice_the_same_whatever_bob_has(both: Both, known: dict[str, str], principal: str) -> None:
    paths = {"/mcp": TOOL_CALLS["registry"], "/mcp/reference": TOOL_CALLS["reference"]}
    with both(headers_of(principal, known)) as (one, other):
        for path, cases in paths.items():
            for ask in _asks(path, cases):
                answer = one.ask("POST", ask)
                assert answer.status == 200, (ask, answer)
                assert answer == other.ask("POST", ask), ask
                assert not one.leaked(), (ask, one.raw)


def test_mcp_lets_nobody_in_whom_the_key_does_not_cover(both: Both, known: dict[str, str]) -> None:
    (ask, *_) = _asks("/mcp", {})
    claimed = [{"X-Tacit-Requester": "telegram:2002"}, {"X-Tacit-Chat": "telegram:-300"}]
    with both(bearer(known["alice_token"])) as (caller, _):
        for claim in claimed:
            with_it = replace(ask, headers={**ask.headers, **claim})
            assert caller.ask("POST", with_it).status == 403
        unknown = replace(ask, headers={**ask.headers, "Authorization": "Bearer nonsense"})
        assert caller.ask("POST", unknown).status == 401


CLAIMS = {
    "another requester": {"X-Tacit-Requester": BOB.key},
    "a requester whom nobody knows": {"X-Tacit-Requester": "telegram:909"},
    "another's private chat": {"X-Tacit-Chat": BOB.key},
    "a room that they are not in": {"X-Tacit-Chat": BOBS_ROOM},
    "a room that there is not": {"X-Tacit-Chat": "telegram:-909"},
    "that a room is private": {"X-Tacit-Chat": TEAM, "X-Tacit-Chat-Kind": "private"},
    "who is there": {"X-Tacit-Participants": "telegram:1001"},
    "that this is everybody": {"X-Tacit-Chat": TEAM, "X-Tacit-Complete": "true"},
    "a name": {"X-Tacit-Name": "Bob"},
    "an agent, and another requester": {"X-Tacit-Agent": "a", "X-Tacit-Requester": BOB.key},
}
ON_ALL = {"another requester", "a room that they are not in"}  # these are tried on every route
NO_KEYS = ("Bearer tct_", "Bearer nonsense", f"Bearer tct_AAAAAAAAAAAA_{'A' * 43}", "Basic YWxpY2U6cGFzc3dvcmQ=")
SOME = {"GET /api/memory/", "POST /api/recall", "PUT /api/memory/{id}", "GET /api/events"}


def everywhere(
    caller: Caller, headers: Mapping[str, str], *, only: Collection[str] = CASES
) -> Iterator[tuple[str, Answer]]:
    """What each route that asks who is there says to these headers."""
    for operation, (ask, *_) in CASES.items():
        if operation not in OPEN and operation in only:
            with_them = replace(ask, headers={**ask.headers, **headers})
            yield operation, caller.ask(operation.split(" ")[0], with_them)


def test_a_claim_that_the_key_does_not_cover_gets_nothing(both: Both, known: dict[str, str]) -> None:
    with both(bearer(known["alice_token"])) as (caller, _):
        told = {
            answer
            for name, claim in CLAIMS.items()
            for _, answer in everywhere(caller, claim, only=CASES if name in ON_ALL else SOME)
        }
    assert [answer.status for answer in told] == [403]


def test_a_key_that_opens_nothing_is_refused_in_the_same_bytes(both: Both, known: dict[str, str]) -> None:
    secret = known["alice_token"]
    wrong = (
        *NO_KEYS,
        f"Bearer {known['revoked_token']}",
        f"Bearer {secret[:-4]}AAAA",
        f"Bearer {secret}A",
        f"bearer {secret} x",
    )
    with both({}) as (caller, _):
        told = {answer for _, answer in everywhere(caller, {})} | {
            answer for key in wrong for _, answer in everywhere(caller, {"Authorization": key}, only=SOME)
        }
    assert [answer.status for answer in told] == [401]
    assert "www-authenticate: Bearer" in next(iter(told)).headers


def test_a_key_to_read_with_changes_nothing(both: Both, known: dict[str, str]) -> None:
    with both(bearer(known["reader_token"])) as (caller, _):
        told = dict(everywhere(caller, {}))
    changing = {operation for operation, answer in told.items() if answer.status != 403}
    assert changing == set(READS) - OPEN


def test_a_key_for_some_categories_tells_of_no_others(both: Both, known: dict[str, str]) -> None:
    with both(bearer(known["narrow_token"])) as (caller, _):
        for operation, answer in everywhere(caller, {}):
            # What people are called is of no category.
            if operation != "GET /api/people":
                assert not ALICES_OWN.search(caller.raw), (operation, answer)


def test_a_key_of_another_space_finds_nothing_here(both: Both, known: dict[str, str]) -> None:
    asking = {"X-Tacit-Requester": "telegram:1001"}
    with both(bearer(known["elsewhere_token"])) as (caller, _):
        for operation, answer in everywhere(caller, asking):
            assert not ALICES_OWN.search(caller.raw), (operation, answer)
