"""What people and programs meet of Tacit stays as it was recorded, but for what is meant to change.

The golden files beside this test hold it as it is now, before/ as it was. `make golden` records
them anew; what then differs from before/ stands in renames.txt or in changes.json, with a reason.
"""

import difflib
import json
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.golden.expected import CHANGES, REMOVED, difference, expected, merged
from tests.golden.record import FILES, NOT_RUN

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHOWN_LINES = 200
# The recorder ran with this Python: argparse words its help differently in every one.
HELP_BY = (3, 11)


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Tacit answers now, recorded in a process of its own."""
    folder = tmp_path_factory.mktemp("golden")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden.record", str(folder)],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder


def told(name: str, old: str, new: str, what_to_do: str) -> str:
    """A difference, for people."""
    both = old.splitlines(), new.splitlines()
    lines = difflib.unified_diff(*both, "expected", "found", n=4, lineterm="")
    shown = "\n".join(islice(lines, SHOWN_LINES))
    return f"{name} differs\n{shown}\n{what_to_do}"


@pytest.mark.parametrize("name", FILES)
def test_tacit_answers_as_recorded(name: str, now: Path) -> None:
    if name == "help.json" and sys.version_info[:2] != HELP_BY:
        pytest.skip("help is worded by argparse, and was recorded with another Python")
    old, new = (HERE / name).read_text(), (now / name).read_text()
    if old != new:
        pytest.fail(told(name, old, new, "If that is meant: `make golden`."), pytrace=False)


@pytest.mark.parametrize("name", FILES)
def test_what_changed_since_before_is_written_down(name: str) -> None:
    old, new = expected()[name], (HERE / name).read_text()
    if old != new:
        how = "If that is meant: a line in renames.txt, or `make golden-change WHY='…'`."
        pytest.fail(told(name, old, new, how), pytrace=False)


def test_every_command_is_recorded() -> None:
    """A command that cannot be run to its end stands in `NOT_RUN` with the reason."""
    commands = set(json.loads((HERE / "help.json").read_text())) - {"tacit"}
    lines = json.loads((HERE / "commands.json").read_text())
    first = re.compile(r"(?:(?:@|TACIT_)\S+ )*(\S+)")  # behind people and variables
    completed = {
        found[1]
        for line, answer in lines.items()
        if answer["exit"] == 0 and (found := first.match(line))
    }
    assert commands - completed == set(NOT_RUN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "c": None}),
        ({"a": [1, {"x": 1, "y": 2}]}, {"a": [1, {"x": 1, "y": 3}, 4]}),
        ({"a": [1, 2, 3]}, {"a": [1]}),
        ({"out": []}, {"out": {"id": "<id 1>"}}),
        ({"out": {"id": "<id 1>"}}, {"out": []}),
        ({"a": {"b": {"c": 1}}}, {"a": {}}),
    ],
)
def test_a_difference_can_be_written_as_a_change(old: object, new: object) -> None:
    assert merged(old, difference(old, new)) == new


def test_no_change_is_left_over() -> None:
    """A later change of the same place replaces an earlier one."""
    assert REMOVED not in (HERE / "commands.json").read_text()
    assert isinstance(json.loads(CHANGES.read_text()), list)
