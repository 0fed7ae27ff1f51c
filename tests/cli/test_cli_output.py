"""What people read: aligned, whole, and unable to do anything to their terminal."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tacit.cli.output import escape_controls, format_age, format_table, text_width
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain", "plain"),
        ("Grüße 世界 👩\u200d👧", "Grüße 世界 👩\u200d👧"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\nc\x07", "a\\x0db\\x0ac\\x07"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2066\u2028\ufeff", "\\u2066\\u2028\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800\x7f", "\\ud800\\x7f"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_as_an_escape(written: str, shown: str) -> None:
    assert escape_controls(written) == shown
    assert escape_controls(shown) == shown


def test_nothing_that_people_wrote_reaches_a_terminal_raw(on_file: Tacit) -> None:
    """Text may hold direction marks and line ends; identifiers and errors may hold anything."""
    trap = "one\u202etwo\nthree\r\nfour"
    id = on_file("remember", "-", *ALICE, "--json", stdin=trap.encode()).json["id"]
    on_file("put", "goal", "k", "-", *ALICE, stdin=trap.encode())
    words = ("list", "recall two", f"show {id}", f"history {id}", "get goal k", "delta", "people",
             "about telegram:1001", "show \x1b]0;x\x07", "list \x1b[31m", "about \u202ex",
             "dance\x1b", "link \x1b a", "import \x1b", "recall x --top-k \x1b",
             "recall two --why", "query two", "query two --full", "block", "fresh two",
             f"relate {id} \x1b", "record \x1b", "recall x --as-of \x1b")  # fmt: skip
    for word in words:
        ran = on_file(*word.split(" "), *ALICE)
        printed = ran.out + ran.err
        assert printed.isprintable() or not set(printed) & set("\r\x1b\x07\u202e"), word
    assert "one\\u202etwo ⏎ three ⏎ four" in on_file("list", *ALICE).out
    assert on_file("get", "goal", "k", *ALICE).out == "one\\u202etwo\nthree\nfour\n"
    assert "  | one\\u202etwo\n  | three\n  | four\n" in on_file("show", id, *ALICE).out
    assert on_file("get", "goal", "k", *ALICE, "--json").json["memory"]["content"] == trap


def test_json_is_plain_ascii_on_one_line(on_file: Tacit) -> None:
    on_file("remember", "世界\u2028\u202e", *ALICE)
    ran = on_file("list", *ALICE, "--json")
    assert ran.out.isascii()
    assert ran.out.count("\n") == 1


def test_columns_line_up_whatever_the_script() -> None:
    lines = format_table([("a", "世界", "x"), ("bbb", "e\u0301", "y"), ("c", "", "z")])
    assert lines == ["a    世界  x", "bbb  e\u0301     y", "c          z"]
    assert [text_width(line) for line in lines] == [12, 12, 12]
    assert format_table([]) == []


@pytest.mark.parametrize(
    ("passed", "shown"),
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=59), "59m"),
        (timedelta(hours=23), "23h"),
        (timedelta(days=364), "364d"),
        (timedelta(days=800), "2y"),
    ],
)
def test_ages_are_short(passed: timedelta, shown: str) -> None:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    assert format_age(then, then + passed) == shown


def test_nothing_found_is_said_on_the_side(on_file: Tacit) -> None:
    for argv in (("list",), ("recall", "tea"), ("about", "telegram:9"), ("about", "Nobody")):
        ran = on_file(*argv, *ALICE)
        assert (ran.code, ran.out, ran.err) == (0, "", "No memories found.\n")
        assert on_file(*argv, *ALICE, "--json").err == ""
    missing = on_file("get", "goal", "k", *ALICE)
    assert (missing.code, missing.err) == (1, "tacit: no such value here\n")


def test_help_is_for_the_asking(bare: Tacit, home: Path) -> None:
    ran = bare("--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.isascii()
    assert bare("list", "--help").out.startswith("usage: tacit list")
    assert bare("--version").out == "tacit 0.1.0\n"
    nothing = bare()
    assert (nothing.code, nothing.out) == (2, "")
    assert nothing.err == ran.out
    assert list(home.iterdir()) == []
