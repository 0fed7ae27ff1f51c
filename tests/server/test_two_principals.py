"""Whatever Bob has, Alice is answered the same: by every route, in every byte, also when she names
what is his. A route that has no case here fails."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest

from tests.server.cases import ALICES_OWN, CASES, IN_FULL, PRINCIPALS, READS, asked, headers_of
from tests.server.conftest import Both
from tests.server.headers import bearer
from tests.server.http_server import served
from tests.server.two_worlds import Ask, Caller
from tests.server.worlds import ABSENT, UNHURRIED, opened


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
