"""Headers as claims: read as they are written, or refused, and nothing of it believed."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import ChatKind, InvalidInput, Requester
from tacit.server.authentication import CLAIM_HEADERS, Claims, parse_claims

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)


def test_everything_that_can_be_said_is_read() -> None:
    claims = parse_claims(
        {
            "Authorization": "Bearer tct_a_b",
            "X-Tacit-Requester": "telegram:1001",
            "X-Tacit-Name": "Zo%C3%AB",
            "X-Tacit-Username": "zoe",
            "X-Tacit-Chat": "telegram:-5",
            "X-Tacit-Chat-Kind": "Group",
            "X-Tacit-Participants": "telegram:2;Bob;bob_l, slack:T1:U2",
            "X-Tacit-Complete": "true",
            "X-Tacit-Thread": "a%20b",
            "X-Tacit-Agent": "planner",
            "Host": "localhost:8377",
        }
    )
    assert claims == Claims(
        token="tct_a_b",
        requester="telegram:1001",
        name="Zoë",
        username="zoe",
        chat="telegram:-5",
        kind=ChatKind.GROUP,
        participants=(Requester("telegram:2", "Bob", "bob_l"), Requester("slack:T1:U2")),
        complete=True,
        thread="a b",
        agent="planner",
    )


def test_what_is_not_said_is_none_and_a_token_is_never_shown() -> None:
    assert parse_claims([]) == Claims()
    assert "secret" not in repr(parse_claims({"authorization": "Bearer secret"}))


@pytest.mark.parametrize(
    ("written", "token"), [("Bearer  x ", "x"), ("bearer x", "x"), ("Basic x", ""), ("x", ""), ("", ""), ("Bearer", "")]
)
def test_only_a_bearer_token_is_one_and_anything_else_opens_nothing(written: str, token: str) -> None:
    assert parse_claims([("authorization", written)]).token == token


def test_two_of_a_kind_are_refused() -> None:
    twice = [("Authorization", "Bearer a"), ("authorization", "Bearer b")]
    assert parse_claims(twice).token == ""
    for name in CLAIM_HEADERS:
        claims = parse_claims([(name, "telegram:1"), (name.upper(), "telegram:1")])
        assert isinstance(claims.error, InvalidInput), name


@pytest.mark.parametrize(
    ("header", "value", "field"),
    [("x-tacit-chat-kind", "channel", "kind"), ("x-tacit-complete", "yes", "complete"),
     ("x-tacit-name", "Zoë", "name"), ("x-tacit-name", "%ff", "name"),
     ("x-tacit-thread", "%ed%a0%80", "thread"),
     ("x-tacit-participants", "telegram:2;a;b;c", "participants"),
     ("x-tacit-participants", "telegram:2," * 20_000, "participants")],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_field(header: str, value: str, field: str) -> None:
    wrong = parse_claims([(header, value)]).error
    assert isinstance(wrong, InvalidInput)
    assert wrong.field == field


@given(TEXT, TEXT, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_any_text_travels(name: str, thread: str, agent: str, here: list[tuple[str, str]]) -> None:
    headers = {
        "x-tacit-name": quote(name, safe=""),
        "x-tacit-thread": quote(thread, safe=""),
        "x-tacit-agent": quote(agent, safe=""),
        "x-tacit-participants": ",".join(f"{quote(key, safe='')};{quote(called, safe='')}" for key, called in here),
    }
    claims = parse_claims(headers)
    assert (claims.name, claims.thread, claims.agent) == (name, thread, agent)
    assert claims.participants == tuple(Requester(key, called) for key, called in here)


@given(st.lists(st.tuples(st.sampled_from([*CLAIM_HEADERS, "authorization", "host"]), st.text())))
def test_reading_never_fails(headers: list[tuple[str, str]]) -> None:
    assert isinstance(parse_claims(headers), Claims)


@pytest.mark.parametrize(
    "headers",
    [{"host": "memory.example.org"}, {"host": ""}, {"host": "localhost", "via": "1.1 proxy"},
     {"host": "localhost", "X-Forwarded-For": "10.0.0.1"}, {"forwarded": "for=10.0.0.1"},
     {"host": "127.0.0.1:8377", "x-real-ip": "127.0.0.1"}, {"x-forwarded-host": "localhost"}],
)  # fmt: skip
def test_what_may_have_come_from_another_machine_counts_as_such(headers: dict[str, str]) -> None:
    assert parse_claims(headers).remote


def test_what_comes_under_a_name_of_this_machine_does_not() -> None:
    for host in ("localhost", "127.0.0.1:8377", "[::1]:8377"):
        assert not parse_claims({"host": host}).remote


def test_a_body_names_the_agent_and_does_not_contradict_the_headers() -> None:
    assert parse_claims({}).with_agent("planner").agent == "planner"
    claims = parse_claims({"x-tacit-agent": "planner"})
    assert claims.with_agent("planner") == claims
    wrong = claims.with_agent("coach").error
    assert isinstance(wrong, InvalidInput)
    assert wrong.field == "agent"
