"""docs/cli.md cannot rot: what it lists is what there is."""

import argparse
import re
from pathlib import Path

import pytest

from tacit import limits
from tacit.cli.output import EXIT_CODE_MEANINGS, MEMORY_FIELDS, OWNER_FIELDS, ExitCode
from tacit.cli.parser import COMMANDS, build_parser
from tests.cli.test_cli import CASES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
OPTION = re.compile(r"`(--[a-z-]+)")


def section(title: str) -> str:
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, f"docs/cli.md has no section {title!r}"
    return found[1]


def options_of(parser: argparse.ArgumentParser, *, hidden: bool) -> set[str]:
    """The options a parser shows; or those it takes without a word, because they are global."""
    return {
        option
        for action in parser._actions
        if (action.help == argparse.SUPPRESS) is hidden
        for option in action.option_strings
        if option not in ("-h", "--help", "--version")
    }


def commands() -> dict[str, argparse.ArgumentParser]:
    (words,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    found: dict[str, argparse.ArgumentParser] = dict(words.choices)
    return found


def test_the_commands_of_the_page_are_the_commands() -> None:
    listed = re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
    assert listed == [one.name for one in COMMANDS] == list(commands())


def test_every_global_option_is_on_the_page_and_works_everywhere() -> None:
    everywhere = options_of(build_parser(), hidden=False)
    listed = re.findall(r"^\| `(--[a-z-]+)", section("Who asks, and where"), re.MULTILINE)
    assert set(listed) == everywhere
    for word, parser in commands().items():
        assert options_of(parser, hidden=True) == everywhere, word


@pytest.mark.parametrize("word", [one.name for one in COMMANDS])
def test_every_option_of_a_command_is_in_its_section_and_none_that_is_not(word: str) -> None:
    own = options_of(commands()[word], hidden=False)
    everywhere = options_of(build_parser(), hidden=False)
    told = set(OPTION.findall(section(word)))
    assert own <= told
    assert told <= own | everywhere | ({"--withhold-from"} if word == "withhold" else set())
    assert f"`tacit {word}" in section(word)


def test_the_exit_codes_of_the_page_are_the_exit_codes() -> None:
    listed = re.findall(r"^\| (\d+) \| (.*) \|$", section("Exit codes"), re.MULTILINE)
    assert {int(code): meaning for code, meaning in listed} == EXIT_CODE_MEANINGS
    assert set(EXIT_CODE_MEANINGS) == set(ExitCode)
    told = build_parser().format_help()
    for code, meaning in EXIT_CODE_MEANINGS.items():
        assert f"{code:>3}  {meaning}" in told


def test_the_fields_of_the_page_are_the_fields() -> None:
    told = set(re.findall(r"`(\w+)`", section("Output")))
    assert set(MEMORY_FIELDS) | set(OWNER_FIELDS) <= told
    for word, case in CASES.items():
        answers = section(word)
        if "as for `remember`" in answers:
            answers += section("remember")
        if "as for `erase`" in answers:
            answers += section("erase")
        if "answers as `list` does" in answers:
            answers += section("list")
        for field in case.fields.split():
            assert f"`{field}`" in answers, f"{word}: {field}"


def test_the_numbers_of_the_page_are_the_limits() -> None:
    for word, count in (
        ("recall", limits.RECALL_DEFAULT_COUNT),
        ("query", limits.QUERY_DEFAULT_COUNT),
        ("fresh", limits.RECALL_DEFAULT_COUNT),
    ):
        most = limits.RECALL_MAX_COUNT
        assert f"{count} if you do not say and {most} at most" in section(word), word
    page = f"{limits.PAGE_DEFAULT_COUNT} if you do not say and {limits.PAGE_MAX_COUNT} at most"
    assert page in section("list")
    assert f"{limits.FRESH_BUDGET_TOKENS} if you do not say" in section("fresh")
    assert f"At most {limits.MESSAGES_MAX_COUNT} turns" in section("record")
    assert f"At most {limits.MESSAGES_MAX_COUNT} messages" in section("learn")
    assert f"not asked again for {limits.DECLINED_PROPOSAL_KEEP_DAYS} days" in section("decline")
    assert f"The newest {limits.PAGE_MAX_COUNT} are listed" in section("quarantine")
