"""One story through the library, REST and MCP: each step of it is answered the same by all of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import SetClock
from tests.server.http_server import served
from tests.server.story import Step, Surface, tell
from tests.server.story_surfaces import Library, Mcp, Rest
from tests.server.worlds import UNHURRIED

# What the story comes to, whoever tells it.
MEANT = {
    "she asks who Sarah is": ["Sarah is the wife of Alice"],
    "she says it again": "refused: update <1>: Sarah is the wife of Alice",
    "she corrects it": 2,
    "and hears the correction": ["Sarah works in Porto these days"],
    "the group hears nothing yet": [],
    "not even with her": None,
    "now she hears it there": "Lisbon",
    "and Bob not, it is personal": [],
    "which he heard": ["Alice prefers green tea"],
    "which Bob does not hear": [],
    "Bob alone hears nothing of her": [],
    "but what he heard himself": ["Alice prefers green tea"],
    "he changes nothing of hers": "refused: no such memory here",
    "nor what is not there": "refused: no such memory here",
    "on Slack nobody knows her": [],
    "now she is known there": ["Sarah works in Porto these days"],
    "she finds it": ["the key is under the fern"],
    "she forgets it": 1,
    "it has no value": None,
    "it does not come to mind": [],
    "to forget it again does nothing": 0,
}


@contextmanager
def _memory() -> Iterator[Memory]:
    with tacit.open("sqlite://", clock=SetClock(), settings=UNHURRIED, embedder=None) as memory:
        yield memory


def _scopes(memory: Memory) -> tuple[str, str]:
    adapter = memory.keys.create("bot", scopes=["read", "write", "erase", "act-as"])
    return adapter.token, memory.keys.create("ops", scopes=["admin"]).token


@contextmanager
def _library() -> Iterator[Surface]:
    with _memory() as memory:
        yield Library(memory)


@contextmanager
def _rest() -> Iterator[Rest]:
    with ExitStack() as stack:
        memory = stack.enter_context(_memory())
        url = stack.enter_context(served(memory, UNHURRIED))
        rest = Rest(url, *_scopes(memory), memory)
        stack.callback(rest.close)
        yield rest


@contextmanager
def _mcp() -> Iterator[Surface]:
    with _rest() as rest:
        yield Mcp(rest.url, rest.adapter, rest)


def test_the_story_means_what_it_says() -> None:
    with _library() as surface:
        told = {step.says: step.answer for step in tell(surface)}
    assert {says: told[says] for says in MEANT} == MEANT


@pytest.mark.parametrize("surface", [_rest, _mcp], ids=["rest", "mcp"])
def test_every_step_is_answered_as_by_the_library(surface: Callable[..., Iterator[Surface]]) -> None:
    with _library() as expected, surface() as tried:  # type: ignore[attr-defined]
        steps: list[tuple[Step, Step]] = list(zip(tell(expected), tell(tried), strict=True))
    assert [(one, other) for one, other in steps if one != other] == []
