"""Who a caller says they are, and where, counts no further than their key goes."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from tests.contract.rooms import BOB, TEAM
from tests.server.cases import ALICES_OWN, CASES, OPEN, READS
from tests.server.conftest import Both
from tests.server.headers import bearer
from tests.server.two_worlds import Answer, Caller
from tests.server.worlds import BOBS_ROOM

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
