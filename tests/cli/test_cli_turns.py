"""Turns of conversations: kept all or none, quoted, and erased with what was learned from them."""

import json

import pytest

from tacit import limits
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")
BOB = ("--as", "telegram:2002", "--name", "Bob")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:1001,Alice", "--with", "telegram:2002,Bob")

TALK = [
    {"role": "user", "content": "I bought a kayak", "at": "2026-03-01T13:00:00+01:00", "id": "m1"},
    {"role": "assistant", "content": "Which colour has it got?"},
    {"role": "user", "content": "The kayak is red", "name": "Sarah"},
]

on_both = pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)


@pytest.fixture(autouse=True)
def turns_are_kept(home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_MEMORY_SESSIONS_KEEP", "true")


def as_lines(*turns: object) -> bytes:
    return "".join(f"{json.dumps(turn)}\n" for turn in turns).encode()


@on_both
def test_what_was_said_is_quoted_only_where_turns_are_asked_for(tacit: Tacit) -> None:
    tacit("remember", "Alice has a kayak", *ALICE)
    done = tacit("record", "-", "--session", "s1", *ALICE, "--json", stdin=as_lines(*TALK))
    assert len(done.json["ids"]) == 3

    def found(*argv: str) -> dict[str, object]:
        ran = tacit("recall", "kayak", "--top-k", "20", *argv, *ALICE, "--json")
        return {one["memory"]["content"]: one["turn"] for one in ran.json["recalled"]}

    assert found() == {"Alice has a kayak": None}
    quoted = found("--only-turns")
    assert quoted["I bought a kayak"] == {"role": "user", "name": None}
    assert quoted["The kayak is red"] == {"role": "user", "name": "Sarah"}
    assert found("--turns").keys() == found().keys() | quoted.keys()
    printed = tacit("recall", "kayak", "--only-turns", *ALICE).out
    assert "2026-03-01 12:00 UTC, user: I bought a kayak\n" in printed
    assert ", Sarah: The kayak is red\n" in printed
    assert tacit("list", *ALICE).out.count("\n") == 1
    assert "kayak is red" not in tacit("block", *ALICE).out


@on_both
def test_what_led_to_a_memory_is_erased_with_it_when_asked(tacit: Tacit) -> None:
    first, second, _ = tacit("record", "-", *ALICE, "--json", stdin=as_lines(*TALK)).json["ids"]
    ids = [
        tacit("remember", "Alice has a kayak", "--turn", turn, *ALICE, "--json").json["id"]
        for turn in (first, second)
    ]
    assert tacit("erase", ids[0], "--yes", *ALICE).out == "erased  1 memory\n"
    assert "I bought" in tacit("recall", "bought kayak", "--only-turns", *ALICE).out
    key = tacit("put", "goal", "boat", "kayak", "--turn", first, *ALICE, "--json").json["id"]
    assert tacit("erase", key, "--turns", "--yes", *ALICE).out == "erased  2 memories\n"
    assert "I bought" not in tacit("recall", "bought kayak", "--only-turns", *ALICE).out
    assert "Which colour" in tacit("recall", "which colour", "--only-turns", *ALICE).out


@on_both
def test_a_private_conversation_is_not_quoted_to_others(tacit: Tacit) -> None:
    tacit("record", "-", *ALICE, stdin=as_lines(*TALK))
    tacit("record", "-", *ALICE, *GROUP, stdin=as_lines({"role": "user", "content": "Hi kayak"}))
    for asking, where in ((BOB, ()), (BOB, GROUP), (ALICE, GROUP)):
        for argv in (("recall", "kayak", "--turns", "--json"), ("query", "kayak", "--only-turns")):
            ran = tacit(*argv, *asking, *where)
            assert ran.code == 0
            assert "bought" not in ran.out + ran.err
            assert "is red" not in ran.out + ran.err
    assert "Hi kayak" in tacit("recall", "kayak", "--turns", *ALICE, *GROUP).out


WRONG = {
    "no JSON": b"{",
    "a list": b"[]",
    "nested too deep": b"[" * 100_000,
    "no role": as_lines({"content": "Hello"}),
    "no content": as_lines({"role": "user"}),
    "empty content": as_lines({"role": "user", "content": " "}),
    "a number": as_lines({"role": "user", "content": 7}),
    "another role": as_lines({"role": "king", "content": "Hello"}),
    "another field": as_lines({"role": "user", "content": "Hello", "to": "Bob"}),
    "a bare time": as_lines({"role": "user", "content": "Hello", "at": "2026-03-01T12:00:00"}),
    "a number as time": as_lines({"role": "user", "content": "Hello", "at": 1772366400}),
    "too far away": as_lines(
        {"role": "user", "content": "Hello", "at": "0001-01-01T00:00:00+23:59"}
    ),
    "a list as name": as_lines({"role": "user", "content": "Hello", "name": []}),
    "an empty id": as_lines({"role": "user", "content": "Hello", "id": ""}),
    "no UTF-8": b'{"role": "user", "content": "\xff"}',
    "too long": as_lines({"role": "user", "content": "x" * 2_000_000}),
}


@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG.keys())
def test_one_wrong_line_keeps_the_whole_conversation_out(on_file: Tacit, line: bytes) -> None:
    said = as_lines(TALK[0]) + b"\n" + line
    ran = on_file("record", "-", *ALICE, stdin=said)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tacit: line 3: ")
    assert len(ran.err) < 1_000
    assert on_file("record", "-", *ALICE, "--json", stdin=said).error["field"] == "line 3"
    assert on_file("recall", "kayak", "--only-turns", *ALICE).out == ""


def test_a_conversation_comes_in_parts_of_a_size(on_file: Tacit) -> None:
    most = limits.MESSAGES_MAX_COUNT
    turn = {"role": "user", "content": "Hello"}
    whole = on_file("record", "-", *ALICE, stdin=b"\xef\xbb\xbf" + as_lines(*[turn] * most))
    assert whole.out == f"recorded  {most} turns\n"
    more = on_file("record", "-", *ALICE, stdin=as_lines(*[turn] * (most + 1)))
    assert (more.code, more.out) == (2, "")
    assert "split the file" in more.err
    assert on_file("record", "-", *ALICE, stdin=b"\n\n").out == "recorded  0 turns\n"
    assert on_file("record", "-", *ALICE, stdin=as_lines(turn)).out == "recorded  1 turn\n"


def test_turns_are_not_kept_unless_the_settings_say_so(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_MEMORY_SESSIONS_KEEP", "false")
    ran = on_file("record", "-", *ALICE, stdin=as_lines(*TALK))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tacit: record: turns are not kept; set memory.sessions.keep to true\n"


def test_what_cannot_be_read_or_meant_is_refused(on_file: Tacit) -> None:
    assert on_file("record", "no-such-file", *ALICE).code == 6
    assert on_file("record", "a\0b", *ALICE).code == 2
    assert on_file("record", *ALICE).code == 2
    assert on_file("record", "-", "--session", "", *ALICE, stdin=as_lines(*TALK)).code == 2
    for whole in (("--subject", "telegram:1001"), ("--whole-space",)):
        ran = on_file("erase", *whole, "--turns", "--yes")
        assert (ran.code, ran.out) == (2, "")
        assert "--turns requires an ID" in ran.err
