"""Docs that cannot rot: what they list is what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.disclosure.decide import RULES

ROOT = Path(__file__).parent.parent


def test_every_rule_is_documented_with_its_answer() -> None:
    row = re.compile(r"^\| ([A-Z]+[0-9]?[ab]?) \| .* \| (\*\*yes\*\*|no) \|$", re.MULTILINE)
    documented = row.findall((ROOT / "docs" / "disclosure.md").read_text())
    assert documented == [(r.name, "**yes**" if r.allows else "no") for r in RULES]


def test_the_first_example_of_the_readme_prints_what_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    said = re.search(r"It prints:\n\n```\n(.*?)```", readme, re.DOTALL)
    assert code is not None
    assert said is not None
    done = subprocess.run(
        [sys.executable, "-c", code[1]], capture_output=True, text=True, check=True
    )
    assert done.stdout == said[1]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/browsing.md",
        "docs/learning.md",
        "docs/consolidation.md",
        "docs/files.md",
        "docs/linking.md",
        "docs/notes.md",
    ],
)
def test_what_an_example_prints_is_what_the_page_says(page: str) -> None:
    """Each example with the ones before it, whose names it uses."""
    written = (ROOT / page).read_text()
    parts = re.findall(r"```python\n(.*?)```(\n\nIt prints:\n\n```\n(.*?)```)?", written, re.DOTALL)
    assert any(said for _, _, said in parts)
    code, expected = "", ""
    for example, _, said in parts:
        code += example + "\n"
        expected += said
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == expected


def test_every_link_between_documents_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points at {target}"


def test_every_folder_of_the_source_is_on_the_map() -> None:
    mapped = (ROOT / "ARCHITECTURE.md").read_text()
    for path in (ROOT / "src" / "tacit").iterdir():
        if path.name.startswith("__") or path.suffix not in ("", ".py"):
            continue
        name = f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"
        assert name in mapped, f"ARCHITECTURE.md does not say what {name} is for"
