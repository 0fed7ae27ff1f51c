"""Reference pages that cannot rot: what a user can meet is on the page where they look for it.

Other tests hold the pages to commands and options (tests/cli/test_cli_docs.py), settings
(tests/settings/test_settings.py), routes, tools and problems (tests/docs/test_listed_server.py), disclosure rules
(tests/docs/test_listed.py), chat commands (tests/bots), checks of the doctor and kinds of secrets.
"""

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import errors, limits
from tacit.console.app import PAGE_GROUPS
from tacit.integrations import mem0 as compat
from tacit.memory import Memory, Operator, View
from tacit.records import memory, results
from tacit.records.accounts import Person
from tacit.records.drafts import CategorizedFields
from tacit.records.memory import HistoryEntry
from tacit.records.memory import Memory as Record
from tacit.records.queries import RecallFilters
from tacit.telemetry.metrics import METRICS
from tacit.tools.mcp import PROFILES
from tacit.transfer import importers
from tacit.view.checkpoints import GraphSteps
from tests.docs.signatures import fields_of, row_of, words_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "tacit"
API = (DOCS / "api.md").read_text()
# Not refused: cut, counted no further, or a bound of the process that nobody's input meets.
CUT = {
    "BLOCK_ITEMS_MAX_COUNT", "BLOCK_MAX_CHARS", "GRAPH_EDGES_MAX_COUNT", "GRAPH_LABEL_MAX_CHARS",
    "LEARN_CONTEXT_MAX_CHARS", "LEARN_CONTEXT_MAX_COUNT", "SUGGESTION_CANDIDATES_MAX_COUNT",
}  # fmt: skip


def section(title: str, page: str = API) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found is not None, f"there is no section {title!r}"
    return found[1]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def named(text: str) -> set[str]:
    """What stands between backticks, outside of blocks."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"`([^`\n]+)`", prose))


@pytest.mark.parametrize("kind", [View, Memory, Operator, GraphSteps, tacit.Client], ids=lambda one: one.__name__)
def test_every_word_of_the_library_stands_with_what_it_takes_and_gives(kind: type) -> None:
    told = section(kind.__name__)
    if kind is View:
        told = told.partition("### Fields")[0]
    assert sorted(first_cells(told)) == sorted(words_of(kind).values())


def test_a_memory_is_opened_as_the_page_says() -> None:
    told = first_cells(section("Opening"))
    assert told == [row_of("open", tacit.open), row_of("connect", tacit.connect)]
    asking = first_cells(section("Who asks, and where"))
    made = {
        "Requester": tacit.Requester,
        "Chat.private": tacit.Chat.private,
        "Chat.group": tacit.Chat.group,
        "Chat.unknown": tacit.Chat.unknown,
        "Message": tacit.Message,
    }
    assert asking == [row_of(name, one).partition(" → ")[0] for name, one in made.items()]


def test_every_field_of_a_memory_and_every_filter_is_told() -> None:
    told = section("View")
    fields = told.partition("### Fields")[2].partition("###")[0]
    narrowing = told.partition("### What recall is narrowed to")[2]
    assert set(first_cells(fields)) == set(CategorizedFields.__annotations__)
    assert first_cells(narrowing) == list(RecallFilters.__annotations__)


def test_every_record_is_told_with_its_fields() -> None:
    told = section("Records")
    assert set(fields_of(Record)) | {"is_turn"} <= named(told)
    assert set(fields_of(HistoryEntry)) | set(fields_of(Person)) <= named(told)
    rows = dict(re.findall(r"^\| `([A-Z]\w+)` \| ([^|]*) \| \S", told, re.MULTILINE))
    for name, found in records():
        assert name in rows, f"docs/api.md has no row for {name}"
        assert re.findall(r"`(\w+)`", rows.pop(name)) == fields_of(found), name
    assert not rows, "these are no records any more"


def records() -> Iterable[tuple[str, type]]:
    for name, found in offered():
        if hasattr(found, "__dataclass_fields__") and name != "View":
            yield name, found


def offered() -> Iterable[tuple[str, Any]]:
    """Everything that programs import: from `tacit`, or from the modules that the page lists."""
    yield from ((name, getattr(tacit, name)) for name in tacit.__all__)
    for module, names in re.findall(r"^\| `(tacit\.[\w.]+)` \| (.*) \|$", API, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            yield name, getattr(importlib.import_module(module), name)


def test_everything_that_the_package_offers_is_on_the_page() -> None:
    assert {name for name in tacit.__all__ if not re.search(rf"`{name}[`(]", API)} == set()
    public = {name for name, error in vars(errors).items() if inspect.isclass(error)}
    assert public <= {name for name, _ in offered()}


def test_every_word_of_a_closed_set_is_told_and_explained() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section("Words"), re.MULTILINE))
    sets = {name: one for name, one in vars(memory).items() if is_set(one)} | {"Scope": tacit.Scope}
    del sets["Purpose"]  # nobody says it: owners manage by asking in private
    assert set(rows) == set(sets)
    glossary = (DOCS / "glossary.md").read_text()
    for name, one in sets.items():
        assert named(rows[name]) == {str(word.value) for word in one}, name
    for one in (tacit.Kind, tacit.Visibility, tacit.Sensitivity, tacit.State, tacit.ChatKind):
        assert {str(word.value) for word in one} <= named(glossary), one.__name__
    assert set(memory.CATEGORIES) <= named(glossary)


def is_set(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Enum) and thing.__module__ == memory.__name__


def test_every_error_is_told_with_what_it_is() -> None:
    row = re.compile(r"^\| `(\w+)` \| (?:`(\w+)`)? ?\| \S", re.MULTILINE)
    tree = {
        name: "" if error is tacit.TacitError else error.__mro__[1].__name__
        for name, error in vars(errors).items()
        if inspect.isclass(error)
    }
    assert dict(row.findall(section("Errors"))) == tree


def test_every_limit_that_input_is_held_to_is_told_with_its_value() -> None:
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| ([\d,]+) \|", section("Limits"), re.MULTILINE))
    for name, value in told.items():
        assert int(value.replace(",", "")) == value_of(name), name
    used: set[str] = set()
    for folder in ("records", "view", "admin"):
        for path in (SOURCE / folder).rglob("*.py"):
            used |= set(re.findall(r"limits\.([A-Z_]+_MAX_[A-Z]+)\b", path.read_text()))
    assert used - set(told) - CUT == set()
    assert used >= CUT


def value_of(name: str) -> object:
    assert hasattr(limits, name), f"there is no limit {name}"
    return getattr(limits, name)


def test_every_measure_is_told_with_its_kind_and_labels() -> None:
    page = (DOCS / "metrics.md").read_text()
    told: dict[str, tuple[str, str]] = {}
    for names, kind, labels in re.findall(r"^\| (`tacit_[^|]*) \| (\w+) \| ?(.*?) ?\|$", page, re.MULTILINE):
        told |= dict.fromkeys(re.findall(r"`(\w+)`", names), (kind, labels))
    suffix = {"counter": "_total"}
    assert set(told) == {f"tacit_{one.name}{suffix.get(one.kind, '')}" for one in METRICS}
    for one in METRICS:
        kind, labels = told[f"tacit_{one.name}{suffix.get(one.kind, '')}"]
        assert kind == one.kind, one.name
        assert set(one.labels) <= named(labels), one.name


def test_every_word_of_an_event_is_told() -> None:
    told = named((DOCS / "metrics.md").read_text())
    for one in (results.EventNode, results.EventOperation, results.EventStatus):
        assert {str(word.value) for word in one} <= told, one.__name__


def test_every_task_that_comes_round_is_told_with_its_period() -> None:
    row = re.compile(r"^\| `(\w+)` \| .* \| (\d+) h \|", re.MULTILINE)
    told = row.findall((DOCS / "jobs.md").read_text())
    assert {task: int(hours) for task, hours in told} == limits.JOBS_EVERY_HOURS


def test_every_page_of_the_console_is_told() -> None:
    page = (DOCS / "console.md").read_text()
    shown = [one.path for topic in PAGE_GROUPS for one in topic.routes if one.method == "GET"]
    roots = {path.split("/")[1] for path in shown}
    assert {root for root in roots if not re.search(rf"[`/7]/{root}\b", page)} == set()


def test_every_profile_of_mcp_and_what_it_offers_is_told() -> None:
    told = named((DOCS / "mcp.md").read_text())
    assert {str(name) for name in PROFILES} <= told
    assert {one.uri for profile in PROFILES.values() for one, _ in profile.documents} <= told


@pytest.mark.parametrize(
    ("module", "page"),
    [
        ("tacit.tools.kits", "kits.md"),
        ("tacit.integrations.langgraph", "langgraph.md"),
        ("tacit.transfer.importers", "importing.md"),
        ("tacit.integrations.mem0", "mem0.md"),
    ],
)
def test_what_works_with_other_systems_is_told_by_name(module: str, page: str) -> None:
    written = (DOCS / page).read_text()
    offered = importlib.import_module(module).__all__
    assert [name for name in offered if not re.search(rf"\b{name}\b", written)] == []
    assert module in written


def test_every_word_of_mem0_is_told() -> None:
    told = set(re.findall(r"\w+", (DOCS / "mem0.md").read_text()))
    assert {name for name in dir(compat.Memory) if not name.startswith("_")} <= told


def test_every_format_that_is_taken_in_is_told() -> None:
    told = named((DOCS / "importing.md").read_text())
    assert {str(one.value) for one in importers.ImportFormat} <= told


def test_every_target_of_the_makefile_is_named_somewhere() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    pages = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]
    written = " ".join(page.read_text() for page in pages)
    plain = {"help", "lint", "types", "clean"}  # say themselves what they do
    unnamed = {one for one in targets if not re.search(rf"make {one}(?![\w-])", written)}
    assert unnamed <= plain


def test_every_extra_is_named_where_people_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    assert extras <= named(section("Install", (DOCS / "quickstart.md").read_text()))


def test_nobody_is_told_to_install_what_is_somebody_elses() -> None:
    """On the public package index the name is another project's: ours is installed from its
    folder."""
    texts = [*DOCS.glob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("*.y*ml"), *ROOT.glob("deploy/*")]
    texts += [ROOT / "Containerfile", *SOURCE.rglob("*.py"), *ROOT.glob("examples/*")]
    by_name = re.compile(r"tacit\[[a-z{]|\b(?:pipx? install|uv add|uvx)\s+(?:-\S+\s+)*['\"]?tacit(?![\w-]|\.\w)")
    told = [f for f in texts if f.is_file() and by_name.search(f.read_text())]
    assert len(texts) > 100
    assert not told, [str(f.relative_to(ROOT)) for f in told]
