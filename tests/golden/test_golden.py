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

from tests.golden.expected import difference, expected, merged
from tests.golden.record import FILES, NOT_RUN

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHOWN_LINES = 200
A_BUG = 70  # the exit code
# The recorder ran with this Python: argparse words its help differently in every one.
HELP_BY = (3, 11)


def record(folder: Path) -> dict[str, str]:
    """What Tacit answers now, recorded in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden.record", str(folder)],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return {name: (folder / name).read_text() for name in FILES}


def compare(wanted: dict[str, str], found: dict[str, str], what_to_do: str) -> None:
    """Fail with a difference that people can read."""
    told = []
    for name, text in wanted.items():
        if text != found[name]:
            old, new = json.loads(text), json.loads(found[name])
            entries = sorted(key for key in old | new if old.get(key) != new.get(key))
            both = text.splitlines(), found[name].splitlines()
            lines = difflib.unified_diff(*both, "expected", "found", n=4, lineterm="")
            told += [f"{name} differs in: {entries}", *islice(lines, SHOWN_LINES), ""]
    if told:
        pytest.fail("\n".join([*told, what_to_do]), pytrace=False)


def golden() -> dict[str, str]:
    return {name: (HERE / name).read_text() for name in FILES}


# One test for all files: each process that tests are spread over would record them anew.
def test_tacit_answers_as_recorded(tmp_path: Path) -> None:
    old, new = golden(), record(tmp_path)
    if sys.version_info[:2] != HELP_BY:
        del old["help.json"]
    compare(old, new, "If that is meant: `make golden`.")


def test_what_changed_since_before_is_written_down() -> None:
    how = "If that is meant: a line in renames.txt, or `make golden-change ARGS='why'`."
    compare(expected(), golden(), how)


def test_every_command_is_recorded() -> None:
    """A command that cannot be run to its end stands in `NOT_RUN` with the reason."""
    commands = set(json.loads((HERE / "help.json").read_text())) - {"tacit"}
    lines = json.loads((HERE / "commands.json").read_text())
    first = re.compile(r"(?:(?:@|TACIT_)\S+ )*(\S+)")  # behind people and variables
    completed = {found[1] for line, answer in lines.items() if answer["exit"] == 0 and (found := first.match(line))}
    assert commands - completed == set(NOT_RUN)
    assert [line for line, answer in lines.items() if answer["exit"] == A_BUG] == []


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
