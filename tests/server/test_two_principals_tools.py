"""Whatever Bob has, Alice's model is answered the same by every tool. A tool that has no case here
fails."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.memory import Memory
from tacit.tools import Tool, tools
from tacit.tools.reference import reference_tools
from tacit.view.view import View
from tests.contract.rooms import ALICE, group, private
from tests.server.cases import TOOL_CALLS, headers_of
from tests.server.conftest import Both
from tests.server.headers import bearer
from tests.server.two_worlds import Ask, Names
from tests.server.worlds import World, opened

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
