"""Questions and prompts: what narrows an answer, what it says of itself, and what is refused."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")
BOB = ("--as", "telegram:2002", "--name", "Bob")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:1001,Alice", "--with", "telegram:2002,Bob")

on_both = pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)

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


@on_both
def test_an_answer_is_narrowed_by_every_option_that_promises_it(tacit: Tacit) -> None:
    first = ("--category", "goal", "--kind", "task", "--agent", "planner", "--run", "r1",
             "--role", "user", "--pinned", "--importance", "5")  # fmt: skip
    tacit("remember", "buy green tea", *first, *ALICE)
    tacit("remember", "tea keeps me awake", *ALICE)
    assert sorted(contents(tacit)) == ["buy green tea", "tea keeps me awake"]
    for argv in FILTERS:
        assert contents(tacit, *argv) == ["buy green tea"], argv
    for argv in OPPOSITES:
        assert contents(tacit, *argv) == ["tea keeps me awake"], argv
    for argv in NOBODY:
        assert contents(tacit, *argv) == [], argv
    assert len(contents(tacit, "--top-k", "1")) == 1
    for argv in FILTERS:  # query has the same ones
        told = tacit("query", "tea", *argv, *ALICE, "--json").json["bullets"]
        assert [one["text"] for one in told if not one["related"]] == ["[goal] buy green tea"], argv


def test_a_threshold_leaves_out_what_is_less_similar(on_file: Tacit) -> None:
    on_file("remember", "green tea", *ALICE)
    on_file("remember", "tea and a very long walk along the harbour wall at noon", *ALICE)
    found = on_file("recall", "green tea", *ALICE, "--json").json["recalled"]
    best, other = (one["similarity"] for one in found)
    assert best > other
    kept = on_file("recall", "green tea", "--threshold", str(best), *ALICE, "--json").json
    assert [one["memory"]["content"] for one in kept["recalled"]] == ["green tea"]
    assert contents(on_file, "--threshold", "0") != []


@on_both
def test_a_question_can_be_asked_as_of_a_day(tacit: Tacit) -> None:
    id = tacit("remember", "green tea", *ALICE, "--json").json["id"]
    then = tacit("show", id, *ALICE, "--json").json["memory"]["updated_at"]
    tacit("update", id, "black tea", *ALICE)
    assert contents(tacit) == contents(tacit, "--as-of", "2999-01-01") == ["black tea"]
    assert contents(tacit, "--as-of", then) == ["green tea"]
    assert contents(tacit, "--as-of", "2020-01-01") == []
    assert tacit("query", "tea", "--as-of", then, *ALICE).out == "- [fact] green tea\n"


@on_both
def test_what_came_to_mind_says_why_and_what_it_is_related_to(tacit: Tacit) -> None:
    wife = tacit("remember", "Sarah is my wife", *ALICE, "--json").json["id"]
    cello = tacit("remember", "The cello stands upstairs", *ALICE, "--json").json["id"]
    done = tacit(
        "relate", wife, cello, "--relation", "plays", "--strength", "0.5", *ALICE, "--json"
    )
    assert done.json == {
        "id": wife, "done": "related", "other": cello, "relation": "plays", "strength": 0.5,
    }  # fmt: skip
    (found,) = tacit("recall", "wife", *ALICE, "--json").json["recalled"]
    assert list(found) == [
        "memory", "score", "why", "rule", "similarity", "signals", "related", "turn",
    ]  # fmt: skip
    assert "“wife”" in found["why"]
    assert found["signals"]["words"] > 0
    assert [one["id"] for one in found["related"]] == [cello]
    assert found["turn"] is None
    line, why, signals, related = tacit("recall", "wife", "--why", *ALICE).out.splitlines()
    assert line == tacit("recall", "wife", *ALICE).out.rstrip("\n")
    assert why == f"  {found['why']}"
    assert signals.startswith(f"  similarity {found['similarity']:.2f}, words ")
    assert related == f"  related  {cello}  The cello stands upstairs"
    assert tacit("query", "wife", *ALICE).out.splitlines()[1] == (
        "- ↳ [fact] The cello stands upstairs"
    )
    full = tacit("query", "wife", "--full", *ALICE, "--json").json["bullets"]
    assert full[0]["recalled"] == found
    assert (full[1]["related"], full[1]["recalled"]) == (True, None)
    first, second = tacit("query", "wife", "--full", *ALICE).out.splitlines()
    assert first.split()[:3] == [wife, f"{found['score']:.2f}", "P1"]
    assert second.split()[:2] == [cello, "↳"]


@pytest.mark.parametrize("word", ["recall", "query"])
def test_an_agent_gets_no_further_than_its_allow_list(
    on_file: Tacit, home: Path, word: str
) -> None:
    (home / "tacit.yaml").write_text("allowlists: {planner: [goal], idle: []}\n")
    on_file("remember", "buy tea", "--category", "goal", *ALICE)
    on_file("remember", "tea keeps me awake", *ALICE)

    def asked(*argv: str) -> str:
        return on_file(word, "tea", *argv, *ALICE).out

    assert "buy tea" in asked()
    assert "awake" in asked()
    assert "buy tea" in asked("--by", "planner")
    assert "awake" not in asked("--by", "planner")
    assert asked("--by", "idle") == asked("--by", "a slip") == ""
    refused = on_file(word, "tea", "--category", "fact", "--by", "planner", *ALICE)
    assert (refused.code, refused.out) == (2, "")
    assert "this agent may not use fact" in refused.err
    for prompt in (("block",), ("fresh", "tea")):
        assert "buy tea" in on_file(*prompt, "--by", "planner", *ALICE).out
        assert "awake" not in on_file(*prompt, "--by", "planner", *ALICE).out


@on_both
def test_a_block_stays_the_same_and_fresh_tells_what_is_new(tacit: Tacit) -> None:
    tacit("put", "profile", "timezone", "Europe/Lisbon", *ALICE)
    block = tacit("block", *ALICE)
    assert "[id:" in block.out
    tacit("remember", "I have a dog called Rex", *ALICE)
    assert tacit("block", *ALICE) == block
    document = tacit("block", *ALICE, "--json").json
    assert document["text"] + "\n" == block.out
    assert len(document["ids"]) == 1
    news = tacit("fresh", "holiday", *ALICE).out
    assert "Memory updates since rev" in news
    assert "+created: [Fact] I have a dog called Rex" in news
    assert "Lisbon" not in news
    all_of_it = tacit("fresh", "holiday", "--since", "0", *ALICE, "--json").json
    assert "Europe/Lisbon" in all_of_it["text"]
    assert all_of_it["revision"] > document["revision"] > 0
    nothing = tacit("fresh", "holiday", "--since", str(all_of_it["revision"]), *ALICE)
    assert (nothing.out, nothing.err) == ("", "No memories found.\n")
    assert tacit("fresh", "dog", "--budget-tokens", "5", *ALICE).out == ""
    (dog,) = tacit("fresh", "dog", *ALICE, "--json").json["recalled"]
    assert dog["memory"]["content"] == "I have a dog called Rex"


def test_a_block_has_three_styles_and_counts_what_does_not_fit(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        on_file("remember", f"Fact {n}", *ALICE)
    on_file("session", "end", "--draft", "-", *ALICE, stdin=b'{"summary": "Talked."}')
    first_lines = {
        on_file("block", *argv, *ALICE).out.splitlines()[0]
        for argv in ((), ("--style", "memory"), ("--style", "filtered"), ("--style", "summary"))
    }
    assert len(first_lines) == 3
    monkeypatch.setenv("TACIT_PROMPT_ITEMS_MAX", "1")
    ran = on_file("block", *ALICE)
    assert ran.err == "1 more in event did not fit\n2 more in fact did not fit\n"
    assert on_file("block", *ALICE, "--json").json["cut"] == {"event": 1, "fact": 2}


@on_both
def test_prompts_and_bullets_of_a_group_hold_no_private_word(tacit: Tacit) -> None:
    secret = tacit("remember", "Alice saves up for a houseboat", *ALICE, "--json").json["id"]
    public = ("--visibility", "room", "--sensitivity", "public")
    ran = tacit("remember", "The boat leaves at nine", *public, *ALICE, *GROUP, "--json")
    assert tacit("relate", ran.json["id"], secret, *ALICE).code == 0
    for argv in (
        ("recall", "boat", "--why"), ("recall", "houseboat", "--json"), ("query", "boat"),
        ("query", "boat", "--full", "--json"), ("block",), ("block", "--json"),
        ("fresh", "boat", "--since", "0"), ("fresh", "houseboat", "--json"),
    ):  # fmt: skip
        for asking in (ALICE, BOB):
            ran = tacit(*argv, *asking, *GROUP)
            assert ran.code == 0
            assert "saves up" not in ran.out + ran.err, argv
            assert secret not in ran.out + ran.err, argv
    assert "leaves at nine" in tacit("query", "boat", *BOB, *GROUP).out


def test_nothing_known_is_said_on_the_side(on_file: Tacit) -> None:
    for argv in (("query", "tea"), ("recall", "tea", "--why")):
        ran = on_file(*argv, *ALICE)
        assert (ran.code, ran.out, ran.err) == (0, "", "No memories found.\n")


@pytest.mark.parametrize(
    "argv",
    [
        ("recall", "tea", "--category", "no-such"),
        ("recall", "tea", "--kind", "opinion"),
        ("recall", "tea", "--importance-min", "0"),
        ("recall", "tea", "--importance-min", "4", "--importance-max", "2"),
        ("recall", "tea", "--importance-min", "high"),
        ("recall", "tea", "--threshold", "7"),
        ("recall", "tea", "--threshold", "nan"),
        ("recall", "tea", "--updated-after", "yesterday"),
        ("recall", "tea", "--updated-before", ""),
        ("recall", "tea", "--as-of", "0001-01-01T00:00:00+23:59"),
        ("recall", "tea", "--budget-tokens", "-1"),
        ("recall", "tea", "--budget-tokens", "many"),
        ("recall", "tea", "--turns", "--only-turns"),
        ("recall", "tea", "--user", ""),
        ("recall", "tea", "--by", "a\0"),
        ("recall", "tea", "--limit", "5"),
        ("query", "tea", "--top-k", "0"),
        ("query", "tea", "--as-of", "soon"),
        ("query", "tea\0"),
        ("query",),
        ("block", "--style", "fancy"),
        ("block", "tea"),
        ("fresh",),
        ("fresh", "tea", "--since", "-1"),
        ("fresh", "tea", "--since", "9" * 30),
        ("fresh", "tea", "--budget-tokens", "9999999"),
        ("relate", "AAAAAAAA"),
        ("relate", "AAAAAAAA", "AAAAAAAA"),
        ("relate", "AAAAAAAA", "BBBBBBBB", "--strength", "2"),
        ("relate", "AAAAAAAA", "BBBBBBBB", "--relation", ""),
    ],
    ids=lambda argv: " ".join(argv)[:40].encode("unicode_escape").decode(),
)
def test_a_question_that_cannot_be_asked_is_refused_with_code_2(
    on_file: Tacit, argv: tuple[str, ...]
) -> None:
    ran = on_file(*argv, *ALICE)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tacit: ")
    assert on_file(*argv, *ALICE, "--json").error["exit"] == 2
