"""Corpora: tab-separated files of cases beside a test, which prints a diff of those that fail."""

from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def read_corpus(path: Path) -> list[list[str]]:
    r"""The cases of a file, one a line; `\n`, `\t` and `\\` are written so, `# ` begins a comment."""
    lines = path.read_text("utf-8").split("\n")
    return [[_unescape(column) for column in line.split("\t")] for line in lines if line and not line.startswith("# ")]


def check_corpus(path: Path, inputs: int, compute: Callable[..., Iterable[object]]) -> None:
    """Compute the columns behind the first `inputs` of every case, and fail with what differs."""
    cases = read_corpus(path)
    assert cases
    found = [[*case[:inputs], *map(str, compute(*case[:inputs]))] for case in cases]
    wrong = [(case, got) for case, got in zip(cases, found, strict=True) if case != got]
    if wrong:
        wanted, given = (["\t".join(case) for case in side] for side in zip(*wrong, strict=True))
        diff = "\n".join(unified_diff(wanted, given, path.name, "found", n=0, lineterm=""))
        pytest.fail(f"{len(wrong)} of {len(cases)} cases differ\n{diff}", pytrace=False)


def check_each(cases: Sequence[Case], is_right: Callable[[Case], bool]) -> None:
    """Fail with the list of the cases that are not right."""
    assert cases
    wrong = [case for case in cases if not is_right(case)]
    if wrong:
        listed = "\n".join(f"  {case!r}" for case in wrong)
        pytest.fail(f"{len(wrong)} of {len(cases)} cases are wrong:\n{listed}", pytrace=False)


def _unescape(column: str) -> str:
    if "\\" not in column:
        return column
    return column.encode("latin-1", "backslashreplace").decode("unicode-escape")
