"""The order of the stages is held by the import-linter contracts in pyproject.toml."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tacit"
SURFACES = ("cli", "console", "bots", "integrations", "tools", "server", "client", "wire")
BANNED = ("utils", "helpers", "manager", "service", "base", "common", "misc", "_v2")


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if "migrations" not in p.parts)


def stage_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_the_import_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_module_says_what_it_is_for() -> None:
    for path in modules():
        text = path.read_text()
        if text.strip():
            assert ast.get_docstring(ast.parse(text)), f"{path} opens without a word"


def test_no_file_is_named_after_nothing() -> None:
    for path in SOURCE.rglob("*"):
        assert not any(word in path.stem.lower() for word in BANNED), path


def test_nothing_reads_the_environment_or_the_clock_behind_the_composition_roots_back() -> None:
    for path in modules():
        if stage_of(path) in ("bootstrap", "clock", *SURFACES):
            continue
        text = path.read_text()
        for reach in ("os.environ", "os.getenv", "datetime.now(", "datetime.utcnow(", "time.time("):
            assert reach not in text, f"{path} uses {reach}"
