"""Commands of pages that are not run, because they would change the machine: each is one that
could be."""

import re
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from tacit.cli.parser import parse_arguments
from tests.docs.blocks import ROOT

ASSIGNED = re.compile(r"([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def check(words: list[str]) -> None:
    """A command that is not run is one that could be."""
    while ASSIGNED.fullmatch(words[0]):
        words = words[1:]
    name = Path(words[0]).name
    assert name in CHECKED, f"{name}: run it, or say in tests/docs/shell.py how it is checked"
    CHECKED[name](words[1:])


def _check_tacit(words: list[str]) -> None:
    parse_arguments(words)


def _check_pip(words: list[str]) -> None:
    optional: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
    beside = PROJECT["dependency-groups"]["dev"]  # what people bring along, such as langgraph
    groups = [*optional.values(), beside]
    needed = {re.split(r"[\[<>=]", one)[0] for group in groups for one in group} - {"tacit"}
    assert words[0] == "install"
    for word in words[1:]:
        found = re.fullmatch(r"\.(?:\[([a-z,]+)\])?", word)
        if found is None:
            assert word in needed or word.startswith("opentelemetry-"), f"pip install {word}"
        elif found[1]:
            assert set(found[1].split(",")) <= set(optional), word


def _check_make(words: list[str]) -> None:
    written = (ROOT / "Makefile").read_text()
    for word in words:
        if assigned := ASSIGNED.fullmatch(word):
            assert re.search(rf"^{assigned[1]} \?=", written, re.MULTILINE), word
        else:
            assert re.search(rf"^{word}:.*##", written, re.MULTILINE), f"make {word}"


def _check_python(words: list[str]) -> None:
    """An example has a test of its own, which runs it."""
    if words[0] == "-m":
        assert find_spec(words[1]) is not None, words[1]
    else:
        assert (ROOT / words[0]).is_file(), words[0]


def _check_install(words: list[str]) -> None:
    source = next(word for word in words if "/" in word or "." in word)
    assert (ROOT / source).is_file(), source


def _take_for_granted(words: list[str]) -> None:
    """Nothing of it is ours."""


def _check_tacit_behind(words: list[str]) -> None:
    assert words[0] == "tacit"
    parse_arguments(words[1:])


CHECKED: dict[str, Callable[[list[str]], None]] = {
    "tacit": _check_tacit,
    "pip": _check_pip,
    "make": _check_make,
    "python": _check_python,
    "python3": _check_python,
    "install": _check_install,
    "export": _take_for_granted,
    "systemctl": _take_for_granted,
    "journalctl": _take_for_granted,
    "docker": _take_for_granted,  # tests/test_deploy.py reads what the container is told
    "opentelemetry-instrument": _check_tacit_behind,
}
