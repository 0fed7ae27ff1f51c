"""The order of the stages: each imports only earlier ones, surfaces the public API only."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tacit"

WORDS = (
    "errors",
    "limits",
    "chat_limits",
    "console_limits",
    "moving_limits",
    "clock",
    "unicode_forms",
)
# From DESIGN: what comes later may import what comes earlier, never the other way round.
STAGES = (
    WORDS,
    ("screening",),
    ("model",),
    ("identity",),
    ("disclosure",),
    ("telemetry",),
    ("embedding", "language"),
    ("store",),
    ("recall",),
    ("prompt",),
    ("learn",),
    ("lifecycle",),
    ("notes",),
    ("jobs",),
    ("transfer",),
    ("views",),
    ("operators",),
    ("facade",),
    ("memory",),
    ("settings",),
    ("bootstrap",),
    ("surfaces", "compat"),
)
RANK = {name: rank for rank, stage in enumerate(STAGES) for name in stage}

# `settings` stands beside the path: it checks its values with the model and identity stages.
SETTINGS_MAY_IMPORT = {*WORDS, "model", "identity", "settings"} - {"clock"}
SURFACES = ("surfaces", "compat")
SURFACES_MAY_IMPORT = {*WORDS, "bootstrap", "memory", "model", "settings"}
BANNED = ("utils", "helpers", "manager", "service", "base", "common", "misc", "_v2")


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if "migrations" not in p.parts)


def stage_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The stages that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "tacit":
                names = [f"tacit.{alias.name}" for alias in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("tacit.")}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_stage_imports_only_earlier_stages(path: Path) -> None:
    stage = stage_of(path)
    if stage in ("__init__", "settings", *SURFACES):
        return  # each has its own rule below
    later = {name for name in imported(path) if RANK[name] > RANK[stage]}
    assert not later, f"{path.name} ({stage}) imports {sorted(later)}"
    beside = {name for name in imported(path) if RANK[name] == RANK[stage]} - {stage}
    assert not beside - set(WORDS), f"{stage} imports its neighbour {beside}"


def test_settings_are_checked_by_model_and_identity_alone() -> None:
    found = {name for path in modules() if stage_of(path) == "settings" for name in imported(path)}
    assert found <= SETTINGS_MAY_IMPORT


def test_only_the_composition_root_and_surfaces_know_the_settings() -> None:
    for path in modules():
        if stage_of(path) not in ("settings", "bootstrap", *SURFACES, "__init__"):
            assert "settings" not in imported(path), path


def test_surfaces_use_the_public_api_only() -> None:
    for path in modules():
        if stage_of(path) in SURFACES:
            own = imported(path) - {stage_of(path)}
            public = {name for name in own if name in RANK}
            assert public <= SURFACES_MAY_IMPORT, f"{path} reaches into {public}"


def test_every_module_belongs_to_a_stage() -> None:
    assert {stage_of(path) for path in modules()} <= {*RANK, "__init__"}


def test_every_module_says_what_it_is_for() -> None:
    for path in modules():
        text = path.read_text()
        if text.strip():
            assert ast.get_docstring(ast.parse(text)), f"{path} opens without a word"


def test_no_file_is_named_after_nothing() -> None:
    for path in SOURCE.rglob("*"):
        assert not any(word in path.stem.lower() for word in BANNED), path


def test_files_and_functions_stay_readable() -> None:
    for path in modules():
        text = path.read_text()
        assert text.count("\n") <= 350, f"{path} is {text.count(chr(10))} lines long"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno is not None
                length = node.end_lineno - node.lineno
                assert length <= 70, f"{path}: {node.name} is {length} lines long"


def test_nothing_reads_the_environment_or_the_clock_behind_the_composition_roots_back() -> None:
    for path in modules():
        if stage_of(path) in ("bootstrap", "surfaces", "clock"):
            continue
        text = path.read_text()
        for reach in ("os.environ", "os.getenv", "datetime.now(", "datetime.utcnow(", "time.time("):
            assert reach not in text, f"{path} uses {reach}"
