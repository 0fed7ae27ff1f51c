"""Every file of `examples/`, run as a reader would run it: it prints what its docstring says."""

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest

from tests.examples.cases import CASES
from tests.examples.running import EXAMPLES, run

FILES = sorted(path.name for path in EXAMPLES.glob("*.py"))


def docstring(name: str) -> str:
    found = ast.get_docstring(ast.parse((EXAMPLES / name).read_text()))
    assert found is not None, f"{name} does not say what it is"
    return found + "\n"


def printed(said: str) -> str:
    """What it prints, as its docstring has it."""
    _, mark, rest = said.partition("\nIt prints:\n\n")
    assert mark, "no 'It prints:'"
    return dedent(rest)


def test_every_example_is_on_the_page_of_examples() -> None:
    written = (EXAMPLES / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[([^]]+)\]\(\1\) \|", written, re.MULTILINE)) == FILES


@pytest.mark.parametrize("name", FILES)
def test_an_example_prints_what_its_docstring_says(name: str, tmp_path: Path) -> None:
    said = docstring(name)
    how = rf"^Run it.*:\n\n(    .+\n)*    .*python examples/{name}\b"
    assert re.search(how, said, re.MULTILINE)
    pattern = ".*".join(re.escape(part) for part in printed(said).split("…"))
    output = run(name, CASES[name], tmp_path)
    assert re.fullmatch(pattern, output), f"it printed:\n{output}"
