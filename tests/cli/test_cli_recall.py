"""Questions, prompts and recorded turns: what narrows an answer, and what it says of itself."""

import json
from pathlib import Path

from tacit import limits
from tests.cli.conftest import Tacit
from tests.corpus import check_each

ALICE = ("--as", "telegram:1001", "--name", "Alice")


# Each holds for the first of two memories and not for the second.
FILTERS = [
    ("--category", "goal"),
    ("--category", "goal", "--category", "profile"),
    ("--namespace", "goal"),
    ("--kind", "task"),
    ("--kind", "task", "--kind", "event"),
    ("--agent", "planner"),
    ("--run", "r1"),
    ("--role", "user"),
    ("--pinned",),
    ("--importance-min", "4"),
    ("--actor", "telegram:1001", "--importance-min", "5"),
    ("--user", "telegram:1001", "--pinned"),
    ("--updated-after", "2000-01-01", "--pinned"),
    ("--updated-before", "2999-01-01T00:00Z", "--pinned"),
]
OPPOSITES = [("--no-pinned",), ("--not-pinned",), ("--importance-max", "3")]
NOBODY = [
    ("--updated-after", "2999-01-01"),
    ("--updated-before", "2000-01-01T00:00+02:00"),
    ("--user", "telegram:2002"),
    ("--only-turns",),
    ("--budget-tokens", "0"),
]


def contents(tacit: Tacit, *argv: str) -> list[str]:
    ran = tacit("recall", "tea", *argv, *ALICE, "--json")
    assert (ran.code, ran.err) == (0, "")
    return [one["memory"]["content"] for one in ran.json["recalled"]]


def test_an_answer_is_narrowed_by_every_option_that_promises_it(on_file: Tacit) -> None:
    first = ("--category", "goal", "--kind", "task", "--agent", "planner", "--run", "r1",
             "--role", "user", "--pinned", "--importance", "5")  # fmt: skip
    on_file("remember", "buy green tea", *first, *ALICE)
    on_file("remember", "tea keeps me awake", *ALICE)
    assert sorted(contents(on_file)) == ["buy green tea", "tea keeps me awake"]
    for argv in FILTERS:
        assert contents(on_file, *argv) == ["buy green tea"], argv
    for argv in OPPOSITES:
        assert contents(on_file, *argv) == ["tea keeps me awake"], argv
    for argv in NOBODY:
        assert contents(on_file, *argv) == [], argv
    assert len(contents(on_file, "--top-k", "1")) == 1
    for argv in FILTERS:  # query has the same ones
        told = on_file("query", "tea", *argv, *ALICE, "--json").json["bullets"]
        assert [one["text"] for one in told if not one["related"]] == ["[goal] buy green tea"], argv


def test_what_came_to_mind_says_why_and_what_it_is_related_to(on_file: Tacit) -> None:
    wife = on_file("remember", "Sarah is my wife", *ALICE, "--json").json["id"]
    cello = on_file("remember", "The cello stands upstairs", *ALICE, "--json").json["id"]
    done = on_file("relate", wife, cello, "--relation", "plays", "--strength", "0.5", *ALICE, "--json")
    assert done.json == {
        "id": wife, "done": "related", "other": cello, "relation": "plays", "strength": 0.5,
    }  # fmt: skip
    (found,) = on_file("recall", "wife", *ALICE, "--json").json["recalled"]
    assert list(found) == [
        "memory", "score", "why", "rule", "similarity", "signals", "related", "turn",
    ]  # fmt: skip
    assert "“wife”" in found["why"]
    assert found["signals"]["words"] > 0
    assert [one["id"] for one in found["related"]] == [cello]
    assert found["turn"] is None
    line, why, signals, related = on_file("recall", "wife", "--why", *ALICE).out.splitlines()
    assert line == on_file("recall", "wife", *ALICE).out.rstrip("\n")
    assert why == f"  {found['why']}"
    assert signals.startswith(f"  similarity {found['similarity']:.2f}, words ")
    assert related == f"  related  {cello}  The cello stands upstairs"
    assert on_file("query", "wife", *ALICE).out.splitlines()[1] == ("- ↳ [fact] The cello stands upstairs")
    full = on_file("query", "wife", "--full", *ALICE, "--json").json["bullets"]
    assert full[0]["recalled"] == found
    assert (full[1]["related"], full[1]["recalled"]) == (True, None)
    first, second = on_file("query", "wife", "--full", *ALICE).out.splitlines()
    assert first.split()[:3] == [wife, f"{found['score']:.2f}", "P1"]
    assert second.split()[:2] == [cello, "↳"]


def test_an_agent_gets_no_further_than_its_allow_list(on_file: Tacit, home: Path) -> None:
    (home / "tacit.yaml").write_text("allowlists: {planner: [goal], idle: []}\n")
    on_file("remember", "buy tea", "--category", "goal", *ALICE)
    on_file("remember", "tea keeps me awake", *ALICE)
    for words in (("recall", "tea"), ("query", "tea"), ("block",), ("fresh", "tea")):
        whole, planned = (on_file(*words, *by, *ALICE).out for by in ((), ("--by", "planner")))
        assert "buy tea" in whole
        assert "awake" in whole
        assert "buy tea" in planned
        assert "awake" not in planned
    for word in ("recall", "query"):
        for other in ("idle", "a slip"):
            assert on_file(word, "tea", "--by", other, *ALICE).out == ""
        refused = on_file(word, "tea", "--category", "fact", "--by", "planner", *ALICE)
        assert (refused.code, refused.out) == (2, "")
        assert "this agent may not use fact" in refused.err


# Turns of conversations.

TALK = [
    {"role": "user", "content": "I bought a kayak", "at": "2026-03-01T13:00:00+01:00", "id": "m1"},
    {"role": "assistant", "content": "Which colour has it got?"},
    {"role": "user", "content": "The kayak is red", "name": "Sarah"},
]


def as_lines(*turns: object) -> bytes:
    return "".join(f"{json.dumps(turn)}\n" for turn in turns).encode()


def test_what_was_said_is_quoted_after_the_memories(on_file: Tacit) -> None:
    on_file("remember", "Alice has a kayak", *ALICE)
    done = on_file("record", "-", "--session", "s1", *ALICE, "--json", stdin=as_lines(*TALK))
    assert len(done.json["ids"]) == 3

    def found(*argv: str) -> dict[str, object]:
        ran = on_file("recall", "kayak", "--top-k", "20", *argv, *ALICE, "--json")
        return {one["memory"]["content"]: one["turn"] for one in ran.json["recalled"]}

    assert found("--no-turns") == {"Alice has a kayak": None}
    assert next(iter(found())) == "Alice has a kayak"
    quoted = found("--only-turns")
    assert quoted["I bought a kayak"] == {"role": "user", "name": None}
    assert quoted["The kayak is red"] == {"role": "user", "name": "Sarah"}
    assert quoted.keys() - found().keys() <= {"Which colour has it got?"}  # the assistant's
    assert found("--turns") == found()
    printed = on_file("recall", "kayak", "--only-turns", *ALICE).out
    assert "2026-03-01 12:00 UTC, user: I bought a kayak\n" in printed
    assert ", Sarah: The kayak is red\n" in printed
    assert on_file("list", *ALICE).out.count("\n") == 1
    assert "kayak is red" not in on_file("block", *ALICE).out


NO_TURNS = (
    *(b"{", b"[]", b"[" * 100_000, b'{"role": "user", "content": "\xff"}'),
    *map(
        as_lines,
        (
            {"content": "Hello"},
            {"role": "user"},
            {"role": "user", "content": " "},
            {"role": "user", "content": 7},
            {"role": "user", "content": "x" * 2_000_000},
            {"role": "king", "content": "Hello"},
            {"role": "user", "content": "Hello", "to": "Bob"},
            {"role": "user", "content": "Hello", "at": "2026-03-01T12:00:00"},
            {"role": "user", "content": "Hello", "at": 1772366400},
            {"role": "user", "content": "Hello", "at": "0001-01-01T00:00:00+23:59"},
            {"role": "user", "content": "Hello", "name": []},
            {"role": "user", "content": "Hello", "id": ""},
        ),
    ),
)


def test_one_wrong_line_keeps_the_whole_conversation_out(on_file: Tacit) -> None:
    def is_refused(line: bytes) -> bool:
        said = as_lines(TALK[0]) + b"\n" + line
        ran = on_file("record", "-", *ALICE, stdin=said)
        as_json = on_file("record", "-", *ALICE, "--json", stdin=said)
        told = ran.err.startswith("tacit: line 3: ") and len(ran.err) < 1_000
        return (ran.code, ran.out) == (2, "") and told and as_json.error["field"] == "line 3"

    check_each(NO_TURNS, is_refused)
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
    assert on_file("record", "no-such-file", *ALICE).code == 6
    assert on_file("record", "-", "--session", "", *ALICE, stdin=as_lines(turn)).code == 2
