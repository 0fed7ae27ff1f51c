"""Docs that cannot rot: what they list is what there is."""

import re
from pathlib import Path

from tacit.policy.rules import RULES

ROOT = Path(__file__).parents[2]


def test_every_rule_is_documented_with_its_answer() -> None:
    row = re.compile(r"^\| ([A-Z]+[0-9]?[ab]?) \| .* \| (\*\*yes\*\*|no) \|$", re.MULTILINE)
    documented = row.findall((ROOT / "docs" / "disclosure.md").read_text())
    assert documented == [(r.name, "**yes**" if r.allows else "no") for r in RULES]


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
