"""What the tests of the language model share: a schema, a key that must never show, a ledger."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Lock
from typing import Literal, TypeVar

import pytest

from tacit.errors import LanguageFailed
from tacit.llm.budget import Usage
from tacit.llm.endpoint import EndpointModel
from tacit.llm.language_model import ModelAnswer

KEY = "sk-very-secret-0123456789"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TODAY = NOON.date()
ASKED = "Say what is to be kept."
TEXT = "I take my secret tea with milk"
Build = Callable[..., EndpointModel]
E = TypeVar("E", bound=LanguageFailed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    content: str
    kind: Literal["preference", "event"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    facts: tuple[Fact, ...]


GOOD = {"facts": [{"content": "Alice takes tea with milk", "kind": "preference"}]}
WRONG = {"facts": [{"content": "my secret answer", "kind": "rumour"}]}
MEANT = Facts(facts=(Fact(content="Alice takes tea with milk", kind="preference"),))


class Notebook:
    """A ledger that lasts as long as the test."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, date], Usage] = defaultdict(Usage)
        self._lock = Lock()

    def spent(self, space: str, day: date) -> Usage:
        return self._spent[space, day]

    def add(self, space: str, day: date, usage: Usage) -> None:
        with self._lock:
            self._spent[space, day] += usage


def asked(model: EndpointModel) -> ModelAnswer[Facts]:
    return model.ask(ASKED, TEXT, Facts, budget=None)


def failure(model: EndpointModel, kind: type[E]) -> E:
    """The error, after a look at whether it tells what it must not."""
    with pytest.raises(kind) as caught:
        asked(model)
    error = caught.value
    assert type(error) is kind
    assert (error.__cause__, error.__context__) == (None, None)
    told = f"{error} {error!r} {vars(error)} {model!r}"
    assert_nothing_told(told)
    return error


def assert_nothing_told(told: str) -> None:
    for secret in (KEY, KEY[3:], "secret", ASKED):
        assert secret not in told
