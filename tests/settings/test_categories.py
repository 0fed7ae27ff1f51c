"""How categories come into a prompt, and which agents may use them: for the file alone."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import settings
from tacit.errors import SettingsError
from tacit.records.memory import CATEGORIES
from tacit.settings import CategorySetting, MemorySettings, Settings
from tests.settings.test_settings import DEFAULTS, ROOT, Place

# The form in which operators of other memories already have such files.
FAMILIAR = """
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("categories"))


def test_a_file_in_the_familiar_form_is_read_as_it_is(place: Place) -> None:
    loaded = place.read(FAMILIAR)
    assert loaded.categories == (
        CategorySetting(name="profile"),
        CategorySetting(name="event", context="rag", rag_length=30),
        CategorySetting(name="activity", context="rag", rag_length=50),
    )
    assert list(loaded.allowlists) == [
        "supervisor",
        "planner",
        "stylist",
        "researcher",
        "executor",
    ]
    assert loaded.allowlists["planner"] == ("goals", "tasks", "projects")
    assert replace(loaded, categories=(), allowlists={}) == DEFAULTS


def test_without_any_there_are_none(place: Place) -> None:
    for yaml in (
        "",
        "categories:\nallowlists:",
        "categories: {}\nallowlists: {}",
        "categories: {system: [], custom: []}",
        "categories: {system: ~, custom: null}",
    ):
        loaded = place.read(yaml)
        assert (loaded.categories, dict(loaded.allowlists)) == ((), {})
        assert settings.category_names(loaded) == CATEGORIES


def test_every_name_is_a_known_category_wherever_it_stands(place: Place) -> None:
    loaded = place.read(
        "memory: {categories: [recipe, event]}\n"
        "categories: {system: [{name: activity}], custom: [{name: travel}, {name: event}]}\n"
        "allowlists: {planner: [deadline, recipe, goal], cook: [deadline, spice]}"
    )
    further = ("recipe", "activity", "travel", "deadline", "spice")
    assert settings.category_names(loaded) == (*CATEGORIES, *further)


def test_system_and_custom_mean_the_same(place: Place) -> None:
    item = "[{name: recipe, context: rag}]"
    ours = place.read(f"categories: {{system: {item}}}")
    theirs = place.read(f"categories: {{custom: {item}}}")
    assert ours == theirs
    assert ours.categories == (CategorySetting(name="recipe", context="rag", rag_length=30),)


def test_an_agent_with_an_empty_list_is_not_an_agent_without_one(place: Place) -> None:
    loaded = place.read("allowlists: {newcomer: []}")
    assert dict(loaded.allowlists) == {"newcomer": ()}
    assert loaded != DEFAULTS


def test_agents_have_the_names_that_were_written(place: Place) -> None:
    loaded = place.read('allowlists: {no: [goal], "7": [], Köchin Eins: [], a.b: []}')
    assert list(loaded.allowlists) == ["no", "7", "Köchin Eins", "a.b"]


def test_an_agent_is_the_same_however_its_letters_are_composed(place: Place) -> None:
    assert list(place.read("allowlists: {Ko\u0308chin: []}").allowlists) == ["K\u00f6chin"]
    assert "is given twice" in place.refused("allowlists: {Ko\u0308chin: [], K\u00f6chin: []}")


def test_lists_cannot_be_changed_by_whoever_made_or_holds_them() -> None:
    given: dict[str, tuple[str, ...]] = {"planner": ("goal",)}
    made = Settings(allowlists=given)
    given["stranger"] = ("goal",)
    assert dict(made.allowlists) == {"planner": ("goal",)}
    with pytest.raises(TypeError):
        made.allowlists["stranger"] = ("goal",)  # type: ignore[index]
    assert isinstance(made.allowlists, Mapping)
    assert len({made, Settings(allowlists={"planner": ("goal",)})}) == 1
    assert made == replace(made, memory=MemorySettings())


@pytest.mark.parametrize("name", ["TACIT_CATEGORIES", "TACIT_ALLOWLISTS"])
def test_a_variable_that_cannot_be_one_is_refused_rather_than_left_alone(
    place: Place, name: str
) -> None:
    place.environ[name] = "planner:goal"
    with pytest.raises(SettingsError, match=f"^{name}: cannot be a variable; write .* settings"):
        place.load()
    place.environ = {f"{name}_PLANNER": "goal"}
    with pytest.raises(SettingsError, match=f"^{name}_PLANNER: is not a setting"):
        place.load()


@pytest.mark.parametrize(
    ("yaml", "line", "message"),
    [
        # categories
        ("categories:\n  [recipe]", 2, "categories: expected system: and custom:"),
        ("categories: recipe", 1, "names alone go to memory.categories"),
        ("categories:\n  sytem: []", 2, "categories.sytem: is not a key; did you mean system?"),
        ("categories:\n  zzz: []", 2, "categories.zzz: is not a key; docs/settings.md lists"),
        ("categories:\n  ? [a]\n  : []", 2, "has an invalid key; use system, custom"),
        ("categories: {<<: {system: []}}", 1, "categories.<<: is not a key"),
        ("categories:\n  system: []\n  system: []", 3, "categories: system is given twice"),
        ("categories:\n  system: recipe", 2, "categories.system: expected a list"),
        ("categories:\n  custom: {name: x}", 2, "categories.custom: expected a list"),
        ("categories:\n  custom:\n    - recipe", 3, "categories.custom: expected a category with"),
        ("categories:\n  custom:\n    -", 3, "expected a category with its name"),
        ("categories:\n  custom:\n    - [recipe]", 3, "expected a category with its name"),
        ("categories:\n  custom:\n    - {}", 3, "a category has no name; write - name: recipe"),
        ("categories:\n  custom:\n    - name:\n", 3, "a category has no name"),
        ("categories:\n  custom:\n    - context: all", 3, "a category has no name"),
        ("categories:\n  custom:\n    - name: Recipe", 3, "custom.name: a category is lower-case"),
        ("categories:\n  custom:\n    - name: two words", 3, "a category is lower-case letters"),
        ("categories:\n  custom:\n    - name: ''", 3, "categories.custom.name: must not be empty"),
        ("categories:\n  custom:\n    - name: " + "x" * 51, 3, "shorten it"),
        ("categories:\n  custom:\n    - name: [x]", 3, "name: expected one plain value"),
        ("categories:\n  custom:\n    - name: !x y", 3, "name: expected one plain value"),
        (
            "categories:\n  custom:\n    - name: a\n      name: b",
            4,
            "categories.custom: name is given twice",
        ),
        (
            "categories:\n  custom:\n    - name: a\n      contxt: rag",
            4,
            "categories.custom.contxt: is not a key; did you mean context?",
        ),
        (
            "categories:\n  custom:\n    - name: a\n      context: vector",
            4,
            "categories.custom.context: 'vector' is not one of all, rag",
        ),
        (
            "categories:\n  custom:\n    - name: a\n      context: all\n      rag_length: 5",
            5,
            "rag_length: is for categories with context: rag; write that, or remove it",
        ),
        ("categories:\n  custom:\n    - {name: a, rag_length: 5}", 3, "with context: rag"),
        (
            "categories:\n  custom:\n    - name: a\n      context: rag\n      rag_length: 0",
            5,
            "categories.custom.rag_length: must be a whole number from 1 to 500",
        ),
        (
            "categories:\n  system:\n    - name: a\n    - name: a",
            4,
            "categories.system: a is given twice; remove one of them",
        ),
        (
            "categories:\n  system:\n    - name: a\n  custom:\n    - name: b\n    - name: a",
            6,
            "categories.custom: a is given twice",
        ),
        # allowlists
        ("allowlists:\n  - planner", 2, "allowlists: expected agents with their categories"),
        ("allowlists: planner", 1, "as in planner: [goal, project]"),
        ("allowlists:\n  planner:", 2, "allowlists.planner: expected a list, as in [goal"),
        ("allowlists:\n  planner: ~", 2, "write [] for none at all"),
        ("allowlists:\n  planner: goal", 2, "allowlists.planner: expected a list"),
        ("allowlists:\n  planner: {goal: yes}", 2, "allowlists.planner: expected a list"),
        ("allowlists:\n  planner:\n    - goal\n    - [x]", 4, "expected the name of a category"),
        ("allowlists:\n  planner:\n    - goal\n    -", 4, "must not be empty"),
        ("allowlists:\n  planner:\n    - '*'", 3, "a category is lower-case letters"),
        ("allowlists:\n  planner:\n    - Goal", 3, "allowlists.planner: a category is lower-case"),
        (
            "allowlists:\n  planner:\n    - goal\n    - task\n    - goal",
            5,
            "allowlists.planner: goal is given twice; remove one of them",
        ),
        (
            "allowlists:\n  planner: [goal]\n  cook: []\n  planner: [goal]",
            4,
            "allowlists: planner is given twice",
        ),
        ("allowlists:\n  ? [a]\n  : []", 2, "allowlists: has an invalid key; write the name of an"),
        ("allowlists: {<<: {planner: []}}", 1, "allowlists: has an invalid key"),
        ("allowlists:\n  '': []", 2, "allowlists: must not be empty"),
        ("allowlists:\n  ' planner': []", 2, "allowlists: must not be empty or begin"),
        ('allowlists:\n  "pl\\u200banner": []', 2, "the invisible character U+200B"),
        ("allowlists:\n  " + "x" * 201 + ": []", 2, "shorten it"),
    ],
)
def test_a_mistake_in_them_names_file_line_key_and_fix(
    place: Place, yaml: str, line: int, message: str
) -> None:
    said = place.refused(yaml)
    assert said.startswith(f"{place.cwd / 'tacit.yaml'}, line {line}: ")
    assert message in said


NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True)
CATEGORY_SETTINGS = st.builds(CategorySetting, name=NAMES) | st.builds(
    CategorySetting, name=NAMES, context=st.just("rag"), rag_length=st.integers(1, 500)
)
AGENTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,9}[a-z]", fullmatch=True)


@given(
    st.lists(CATEGORY_SETTINGS, unique_by=lambda one: one.name),
    st.integers(0, 5),
    st.dictionaries(AGENTS, st.lists(NAMES, unique=True)),
)
def test_what_is_written_is_what_is_read(
    one_place: Place,
    wanted: list[CategorySetting],
    systems: int,
    lists: dict[str, list[str]],
) -> None:
    import yaml

    def written(one: CategorySetting) -> dict[str, object]:
        rag = {"context": "rag", "rag_length": one.rag_length}
        return {"name": one.name} | (rag if one.context == "rag" else {})

    items = [written(one) for one in wanted]
    parts = {"system": items[:systems], "custom": items[systems:]}
    document = yaml.safe_dump({"categories": parts, "allowlists": lists}, sort_keys=False)
    loaded = one_place.read(document)
    assert loaded.categories == tuple(wanted)
    assert list(loaded.allowlists.items()) == [
        (agent, tuple(names)) for agent, names in lists.items()
    ]
    listed = {name for names in lists.values() for name in names}
    known = set(settings.category_names(loaded))
    assert known == {*CATEGORIES, *(one.name for one in wanted), *listed}


def test_the_example_in_the_documentation_means_what_is_said_about_it(place: Place) -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    block = re.search(r"```yaml\n(categories:.*?)```", page, re.DOTALL)
    assert block is not None
    loaded = place.read(block[1])
    assert [(one.name, one.context) for one in loaded.categories] == [
        ("profile", "all"),
        ("event", "rag"),
        ("recipe", "all"),
    ]
    assert loaded.allowlists["newcomer"] == ()
    assert set(settings.category_names(loaded)) - {*CATEGORIES} == {"recipe", "deadline"}
    for said in (
        "TACIT_CATEGORIES",
        "TACIT_ALLOWLISTS",
        "an agent without one may use no category",
    ):
        assert said in page
