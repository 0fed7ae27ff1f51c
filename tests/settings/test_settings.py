"""What a file and the environment may say, what is refused, and which database that means.

The tables beside this file hold values: refused ones with the words that name the fix, files with
the line of their mistake, and accepted ones with what they mean. Texts in them are JSON.
"""

import json
import re
import stat
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy

from scripts import settings_reference
from tacit import limits, settings
from tacit.bootstrap import _build_llm, open_memory
from tacit.errors import InvalidInput, SettingsError
from tacit.prompts.block import Style, render_block
from tacit.prompts.fence import MemoryLine
from tacit.records.memory import CATEGORIES
from tacit.settings import (
    DbSettings,
    EmbeddingSettings,
    LanguageSettings,
    Settings,
    SqliteSettings,
)
from tacit.settings.parsers import describe_variable
from tests.settings.places import DEFAULTS, POSTGRES, ROOT, SECRET, Place, as_written, value_at

ENDPOINT = "embedding: {provider: endpoint, url: 'https://host/v1', model: bge-m3}"
OPENAI = "language: {provider: openai, model: tiny, api_key_env: MODEL_KEY}"


def table(name: str) -> list[list[str]]:
    lines = Path(__file__).with_name(f"{name}.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines]


# Where settings come from


def test_without_a_file_or_variables_there_are_defaults(place: Place) -> None:
    assert place.load() == DEFAULTS


def test_every_fading_kind_has_its_days() -> None:
    kinds = {key.removeprefix("memory.ttl_days.") for key in settings.key_names() if "ttl_days" in key}
    assert kinds == set(limits.KIND_TTL_DAYS)


def test_the_first_file_that_exists_is_the_only_one_read(place: Place) -> None:
    (place.home / ".tacit").mkdir()
    files = {
        "at home": place.home / ".tacit" / "tacit.yaml",
        "here": place.cwd / "tacit.yaml",
        "variable": place.cwd / "variable.yaml",
        "named": place.cwd / "named.yaml",
    }
    for name, file in files.items():
        file.write_text(f"memory: {{space: {name.replace(' ', '-')}}}")
        if name == "variable":
            place.environ["TACIT_CONFIG"] = str(file)
        loaded = place.load(file if name == "named" else None)
        assert loaded.memory.space == name.replace(" ", "-")


def test_a_variable_overrides_the_file_and_the_rest_of_the_file_stands(place: Place) -> None:
    place.environ["TACIT_DB_SQLITE_SYNCHRONOUS"] = "full"
    loaded = place.read("db: {sqlite: {synchronous: extra, wal: false}}")
    assert loaded.db.sqlite == SqliteSettings(synchronous="full", wal=False)


def test_a_mistake_in_the_file_is_told_even_where_a_variable_overrides_it(place: Place) -> None:
    place.environ["TACIT_DB_DRIVER"] = "sqlite"
    assert "db.driver" in place.refused("db: {driver: mysql}")


def test_every_key_has_a_variable_of_its_own() -> None:
    assert settings.variable_name("db.sqlite.wal") == "TACIT_DB_SQLITE_WAL"
    assert len({settings.variable_name(key) for key in settings.key_names()}) == len(settings.key_names())


def test_variables_of_others_are_left_alone(place: Place) -> None:
    place.environ |= {
        "TACIT_TEST_POSTGRES": "x",
        "TACIT_HYPOTHESIS_PROFILE": "thorough",
        "TACIT_DB": "x",
        "DB_DRIVER": "x",
        "PATH": "x",
    }
    assert place.load() == DEFAULTS


def test_settings_cannot_be_changed_and_do_not_show_what_opens_doors() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULTS.db.driver = "postgres"  # type: ignore[misc]
    address = f"https://{SECRET}@host/v1"
    for hidden in (
        Settings(db=DbSettings(driver="postgres", dsn=POSTGRES)),
        Settings(embedding=EmbeddingSettings(api_key=SECRET, url=address)),
        Settings(language=LanguageSettings(api_key_env=SECRET, base_url=address)),
    ):
        assert SECRET not in repr(hidden)


def test_importing_settings_imports_no_heavy_library() -> None:
    heavy = "{'yaml', 'pydantic', 'sqlalchemy', 'difflib'}"
    code = f"import sys, tacit.settings; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    subprocess.run([sys.executable, "-c", code], check=True)


# What values may be


def test_a_value_is_the_text_that_was_written(place: Place) -> None:
    loaded = place.read('memory: {space: no, enabled: Off, ttl_days: {task: "21"}}')
    assert loaded.memory.space == "no"
    assert not loaded.memory.enabled
    assert loaded.memory.ttl_days.task == 21


def test_a_key_or_section_without_a_value_keeps_its_default(place: Place) -> None:
    assert place.read("db:\nmemory:\n  local_person: ~\n  space:\n  ttl_days: null") == DEFAULTS
    for empty in ("", "# nothing", "---\n", "null", "{}", b"\xef\xbb\xbf"):
        assert place.read(empty) == DEFAULTS


def test_an_empty_variable_is_a_value_where_nothing_is_one(place: Place) -> None:
    yaml = """{
        db: {dsn: x.sqlite}, memory: {categories: [recipe], local_person: 'acct:1'},
        embedding: {folder: x, url: "https://host/v1", model: x, api_key: x},
        language: {model: x, base_url: "https://host/v1", api_key_env: X, tokens_per_day: 1,
            cost_per_day: 1},
        recall: {tokenizer: x.json},
    }"""
    empty = ("DB_DSN", "MEMORY_CATEGORIES", "MEMORY_LOCAL_PERSON", "RECALL_TOKENIZER")
    models = ("EMBEDDING_FOLDER", "EMBEDDING_URL", "EMBEDDING_MODEL", "EMBEDDING_API_KEY")
    keys = ("MODEL", "BASE_URL", "API_KEY_ENV", "TOKENS_PER_DAY", "COST_PER_DAY")
    asked = [f"LANGUAGE_{name}" for name in keys]
    place.environ = {f"TACIT_{name}": "" for name in (*empty, *models, *asked)}
    assert place.read(yaml) == DEFAULTS
    place.environ["TACIT_MEMORY_SPACE"] = ""
    assert "TACIT_MEMORY_SPACE: memory.space:" in place.refused(yaml)


@pytest.mark.parametrize(("key", "written", "meant"), table("accepted_values"))
def test_values_that_are_taken(place: Place, key: str, written: str, meant: str) -> None:
    place.environ = {settings.variable_name(key): written}
    found = value_at(place.load(), key)
    if isinstance(found, timedelta):
        found = found.total_seconds()
    assert (list(found) if isinstance(found, tuple) else found) == json.loads(meant)


def check_refused(place: Place, key: str, value: str, fix: str) -> None:
    name = settings.variable_name(key)
    place.environ = {name: value}
    with pytest.raises(SettingsError, match=f"^{name}: {key}: ") as caught:
        place.load()
    assert fix in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("key", "value", "fix"), table("refused_values"))
def test_a_wrong_value_names_the_variable_the_key_and_the_fix(place: Place, key: str, value: str, fix: str) -> None:
    check_refused(place, key, json.loads(value), fix)


@pytest.mark.parametrize(
    ("key", "value", "fix"),
    [
        ("db.pool.max_idle_conns", "9" * 5000, "from 1 to 1000"),
        ("db.dsn", "a\ud800", "surrogate"),
        ("embedding.model", "x" * 201, "shorten it"),
        ("server.host", "a" * 300, "is not a host"),
        ("embedding.url", f"https://host/{SECRET}" + "x" * 2_048, "https://host/v1"),
        ("language.base_url", f"https://host/{SECRET}" + "x" * 2_048, "https://host/v1"),
        ("embedding.api_key", SECRET * 1_000, "copy it again"),
        ("language.api_key_env", SECRET * 100, "is not the name of a variable; put the key"),
    ],
)
def test_a_value_that_is_too_long_is_refused(place: Place, key: str, value: str, fix: str) -> None:
    check_refused(place, key, value, fix)


# What is refused in a file


@pytest.mark.parametrize(("yaml", "line", "message"), table("refused_files"))
def test_a_mistake_in_the_file_names_file_line_key_and_fix(place: Place, yaml: str, line: str, message: str) -> None:
    said = place.refused(json.loads(yaml))
    assert said.startswith(f"{place.cwd / 'tacit.yaml'}, line {line}: ")
    assert message in said
    assert SECRET not in said


def test_yaml_that_cannot_be_read_is_told_with_line_and_column(place: Place) -> None:
    file = place.cwd / "tacit.yaml"
    said = place.refused("db:\n  driver: 'sqlite\n")
    assert said.startswith(f"{file}, line 3, column 1: is not valid YAML: found unexpected end")
    assert "another document" in place.refused("db: {}\n---\nmemory: {}")
    assert "'\\t' that cannot start any token" in place.refused("db:\n\tdriver: sqlite")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: 1\ndb: \xff", "line 2: is not UTF-8 text"),
        ("db: {}".encode("utf-16"), "line 1: is not UTF-8 text"),
        (b"a: 1\n\x07", "line 2: contains the control character U+0007"),
        (b"[" * 5000, "nesting is out of range"),
        (b'db: "\\UFFFFFFFF"', "escape"),
        (b"%YAML 1." + b"9" * 5000 + b"\n---\n", "version"),
        (b"#" * 1_000_001, "longer than 1,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_yaml_at_all_is_told(place: Place, raw: bytes, message: str) -> None:
    assert message in place.refused(raw)


def test_a_file_that_cannot_be_opened_is_told(place: Place) -> None:
    for name, reason in [
        ("absent.yaml", "No such file"),
        (".", "Is a directory"),
        ("x" * 300, "File name too long"),
        ("a\0b", "its name cannot be used"),
        ("a\udcffb", "No such file"),
    ]:
        place.environ["TACIT_CONFIG"] = name
        with pytest.raises(SettingsError, match=f"cannot be read \\({reason}") as caught:
            place.load()
        str(caught.value).encode()
    (place.cwd / "tacit.yaml").mkdir()
    del place.environ["TACIT_CONFIG"]
    with pytest.raises(SettingsError, match="Is a directory"):
        place.load()


def test_a_file_name_that_is_none_is_told_without_repeating_it(place: Place) -> None:
    for name in ("", POSTGRES):
        place.environ["TACIT_CONFIG"] = name
        with pytest.raises(SettingsError, match=r"^TACIT_CONFIG: is not a file name") as caught:
            place.load()
        assert SECRET not in str(caught.value)
    with pytest.raises(SettingsError, match=r"^the settings file: is not a file name") as caught:
        place.load(POSTGRES)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TACIT_DB_DRIVR", "TACIT_DB_DRIVER"),
        ("TACIT_DB_SYNCHRONOUS", "TACIT_DB_SQLITE_SYNCHRONOUS"),
        ("TACIT_MEMORY_TTL_DAYS_TASKS", "TACIT_MEMORY_TTL_DAYS_TASK"),
        ("TACIT_EMBEDDING_APIKEY", "TACIT_EMBEDDING_API_KEY"),
        ("TACIT_LANGUAGE_API_KEY", "TACIT_LANGUAGE_API_KEY_ENV"),
        ("TACIT_LANGUAGE_URL", "TACIT_LANGUAGE_BASE_URL"),
        ("TACIT_LEARN_MINCHARS", "TACIT_LEARN_MIN_CHARS"),
        ("TACIT_RECALL_LINKMIN", "TACIT_RECALL_LINK_MIN"),
        ("TACIT_PROMPT_MAX_ITEMS", "TACIT_PROMPT_ITEMS_MAX"),
    ],
)
def test_an_unknown_variable_suggests_the_nearest(place: Place, name: str, meant: str) -> None:
    place.environ[name] = SECRET
    with pytest.raises(SettingsError, match=f"^{name}: .*did you mean {meant}") as caught:
        place.load()
    assert SECRET not in str(caught.value)


# Which database is opened


def test_the_database_at_home_comes_before_the_one_here(place: Place) -> None:
    at_home, here = place.home / ".tacit" / "tacit.sqlite", place.cwd / "tacit.sqlite"
    here.touch()
    assert place.url() == f"sqlite:///{here}"
    assert not at_home.parent.exists(), "nothing is created where nothing is needed"
    at_home.parent.mkdir()
    at_home.touch()
    assert place.url() == f"sqlite:///{at_home}"


def test_a_new_database_goes_into_a_folder_at_home_that_is_mine_alone(place: Place) -> None:
    assert place.url() == f"sqlite:///{place.home}/.tacit/tacit.sqlite"
    assert stat.S_IMODE((place.home / ".tacit").stat().st_mode) == 0o700
    assert not (place.home / ".tacit" / "tacit.sqlite").exists()


def test_a_home_where_nothing_can_be_created_is_told(place: Place) -> None:
    (place.home / ".tacit").write_text("a file")
    with pytest.raises(SettingsError, match=r"\.tacit: cannot be created .*set db\.dsn"):
        place.url()


@pytest.mark.parametrize(
    ("dsn", "path"),
    [
        ("x.sqlite", "{cwd}/x.sqlite"),
        ("./a:b", "{cwd}/a:b"),
        ("~/x.sqlite", "{home}/x.sqlite"),
        ("~//x.sqlite", "{home}/x.sqlite"),
        ("/srv/x 1%20?.sqlite", "/srv/x 1%20?.sqlite"),
        ("sqlite:///x.sqlite", "{cwd}/x.sqlite"),
        ("SQLite:///x.sqlite", "{cwd}/x.sqlite"),
        ("sqlite:////srv/x%20y", "/srv/x y"),
        ("file:x.sqlite", "{cwd}/x.sqlite"),
        ("file:/srv/x", "/srv/x"),
        ("file:///srv/x%3Fy", "/srv/x?y"),
    ],
)
def test_a_sqlite_dsn_is_a_path_from_the_current_folder(place: Place, dsn: str, path: str) -> None:
    expected = path.format(cwd=place.cwd, home=place.home)
    assert sqlalchemy.make_url(place.url(dsn=dsn)).database == expected
    assert not Path(expected).parent.joinpath(".tacit").exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "POSTGRESQL"])
def test_a_postgres_dsn_is_passed_on_as_it_is(place: Place, scheme: str) -> None:
    rest = "://alice:p%40ss@[::1]:5433/tacit?sslmode=require"
    assert place.url("postgres", scheme + rest) == "postgresql" + rest
    assert place.url("postgres", "postgresql:///tacit?host=/run") == "postgresql:///tacit?host=/run"


@pytest.mark.parametrize(
    ("driver", "dsn", "message"),
    [
        ("sqlite", POSTGRES, "is for postgres, but db.driver is sqlite; set db.driver to postgres"),
        ("postgres", "x.sqlite", "is for sqlite, but db.driver is postgres"),
        ("postgres", "sqlite:///x", "set db.driver to sqlite, or db.dsn to postgresql://"),
        ("sqlite", f"mysql://alice:{SECRET}@host/x", "neither a path nor a known URL"),
        ("postgres", f"postgresql+asyncpg://alice:{SECRET}@host/x", "nor a known URL"),
        ("sqlite", f"alice:{SECRET}@host/x", "neither a path nor a known URL"),
        ("sqlite", f"host=db.example password={SECRET}", "neither a path nor a known URL"),
        ("postgres", f"host=db.example password={SECRET}", "postgresql://user@host/name"),
        ("sqlite", "file:x?mode=ro", "without parameters"),
        ("sqlite", "sqlite:///x?cache=shared", "without parameters"),
        ("sqlite", "sqlite://x.sqlite", "sqlite:///relative"),
        ("sqlite", "file://host/x", "file:path"),
        ("sqlite", "file:", "file:path"),
        ("sqlite", "file:a%00b", "NUL"),
        ("postgres", f"postgresql:/alice:{SECRET}@host/x", "cannot be read"),
        ("postgres", f"postgresql://alice:a@{SECRET}@host/x", "%40 for @"),
        ("postgres", f"postgresql://alice:{SECRET}@host:port/x", "cannot be read"),
        ("postgres", f"postgresql://alice:{SECRET}@host:0/x", "cannot be read"),
        ("postgres", f"postgresql://alice:{SECRET}@host/x y", "cannot be read"),
        ("postgres", f"postgresql://alice:{SECRET}@[::1/x", "cannot be read"),
    ],
)
def test_a_dsn_that_cannot_be_opened_is_told_without_repeating_it(
    place: Place, driver: str, dsn: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=r"^TACIT_DB_DSN: db\.dsn: ") as caught:
        place.url(driver, dsn)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)
    made_by_hand = Settings(db=DbSettings(driver=driver, dsn=dsn))  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=r"^db\.dsn: "):
        settings.database_url(made_by_hand, place.home, place.cwd)


# Keys that go together, and keys that do not


@pytest.mark.parametrize("style", [Style.MEMORY, Style.FILTERED])  # a summary has its own limit
def test_the_shortest_block_that_can_be_set_has_room_for_any_memory(place: Place, style: Style) -> None:
    loaded = place.read(f"prompt: {{style: {style}, items_max: 1, chars_max: 2000}}")
    assert "from 2000" in place.refused("prompt: {chars_max: 1999}")
    longest = MemoryLine(
        id="aaaaaaaa",
        category="x" * limits.CATEGORY_MAX_CHARS,
        key='"' * limits.KEY_MAX_CHARS,
        text='"' * limits.CONTENT_MAX_CHARS,
        about=("x" * limits.NAME_MAX_CHARS,) * limits.PEOPLE_PER_MEMORY_MAX_COUNT,
        hearsay=True,
        created_at=datetime(2024, 5, 1, tzinfo=UTC),
    )
    block = render_block(
        [longest], Style(loaded.prompt.style), items_max=loaded.prompt.items_max, chars_max=loaded.prompt.chars_max
    )
    assert block.shown == ("aaaaaaaa",)
    assert len(block.text) <= loaded.prompt.chars_max


def test_paths_are_kept_as_written_and_resolved_like_every_other(place: Place) -> None:
    loaded = place.read("embedding: {provider: folder, folder: ~/m}\nrecall: {tokenizer: t/tokenizer.json}")
    folder = settings.resolve_path(loaded.embedding.folder, place.home, place.cwd)
    tokenizer = settings.resolve_path(loaded.recall.tokenizer, place.home, place.cwd)
    assert (folder, tokenizer) == (place.home / "m", place.cwd / "t" / "tokenizer.json")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (Settings(embedding=EmbeddingSettings(provider="folder")), "embedding.folder"),
        (Settings(embedding=EmbeddingSettings(url="http://host")), "embedding.url"),
        (Settings(embedding=EmbeddingSettings(provider="x")), "embedding.provider"),  # type: ignore[arg-type]
        (Settings(language=LanguageSettings(provider="openai")), "language.model"),
        (Settings(language=LanguageSettings(provider="x")), "language.provider"),  # type: ignore[arg-type]
    ],
)
def test_settings_that_a_program_made_are_checked_when_a_memory_is_opened(wrong: Settings, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_memory("sqlite://", settings=wrong)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "yaml",
    [
        "embedding: {provider: auto, threads: 2}",
        "embedding: {provider: local, threads: 2, dimension: 0, url: ''}",
        "embedding: {provider: folder, folder: models/mine, threads: 4}",
        ENDPOINT,
        ENDPOINT.replace("}", ", api_key: sk-1, dimension: 256}"),
        "embedding: {provider: none, url: 'http://[::1]:8080', model: x, api_key: x, folder: y}",
        OPENAI,
        OPENAI.replace("openai", "anthropic"),
        "language: {provider: openai, model: tiny, base_url: 'http://[::1]:8080'}",
        OPENAI.replace("}", ", cost_per_day: 0.5, price_out_per_million: 2}"),
        "language: {provider: none, base_url: 'https://host', cost_per_day: 1}",
    ],
)
def test_keys_that_go_together_are_taken(place: Place, yaml: str) -> None:
    section = yaml.partition(":")[0]
    assert f"provider: {value_at(place.read(yaml), section + '.provider')}" in yaml


def test_one_variable_switches_vectors_off_whatever_the_file_says(place: Place) -> None:
    place.environ["TACIT_EMBEDDING_PROVIDER"] = "none"
    assert place.read(ENDPOINT).embedding.provider == "none"
    place.environ["TACIT_EMBEDDING_PROVIDER"] = "local"
    assert place.refused(ENDPOINT).startswith(f"{place.cwd / 'tacit.yaml'}, line 1: embedding.url")


def test_one_variable_switches_the_model_off_whatever_the_file_says(place: Place) -> None:
    place.environ["TACIT_LANGUAGE_PROVIDER"] = "none"
    assert _build_llm(place.read(OPENAI))[0] is None


def test_the_key_is_read_where_the_settings_say_and_missed_when_a_memory_is_opened(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = place.read(OPENAI)
    monkeypatch.delenv("MODEL_KEY", raising=False)
    with pytest.raises(InvalidInput, match=r"^language\.api_key_env: .* not set") as caught:
        _build_llm(loaded)
    assert "MODEL_KEY" not in str(caught.value)
    monkeypatch.setenv("MODEL_KEY", SECRET)
    model, _ = _build_llm(loaded)
    assert model is not None
    assert SECRET not in f"{model!r} {loaded!r}"
    model.close()


@pytest.mark.parametrize(
    "name", ["hunter2", "f742231b10e8888abcd99", "JBSWY3DPEHPK3PXP", "AAH_x9", "A_" + "B" * 17, ""]
)
def test_what_may_be_a_secret_in_place_of_a_variable_is_not_told(name: str) -> None:
    assert describe_variable("slack.secret_env", name) == "the variable that slack.secret_env names"


# Categories of prompts, and the agents that may use them


def test_every_name_is_a_known_category_wherever_it_stands(place: Place) -> None:
    loaded = place.read(
        "memory: {categories: [recipe, event]}\n"
        "categories: {system: [{name: activity}], custom: [{name: travel}, {name: event}]}\n"
        "allowlists: {planner: [deadline, recipe, goal], cook: [deadline, spice]}"
    )
    further = ("recipe", "activity", "travel", "deadline", "spice")
    assert settings.category_names(loaded) == (*CATEGORIES, *further)


def test_an_agent_with_an_empty_list_is_not_an_agent_without_one(place: Place) -> None:
    loaded = place.read("allowlists: {newcomer: []}")
    assert dict(loaded.allowlists) == {"newcomer": ()}
    assert loaded != DEFAULTS


def test_an_agent_is_the_same_however_its_letters_are_composed(place: Place) -> None:
    assert list(place.read("allowlists: {Ko\u0308chin: []}").allowlists) == ["K\u00f6chin"]
    assert "is given twice" in place.refused("allowlists: {Ko\u0308chin: [], K\u00f6chin: []}")


@pytest.mark.parametrize("name", ["TACIT_CATEGORIES", "TACIT_ALLOWLISTS"])
def test_a_variable_that_cannot_be_one_is_refused_rather_than_left_alone(place: Place, name: str) -> None:
    place.environ[name] = "planner:goal"
    with pytest.raises(SettingsError, match=f"^{name}: cannot be a variable; write .* settings"):
        place.load()
    place.environ = {f"{name}_PLANNER": "goal"}
    with pytest.raises(SettingsError, match=f"^{name}_PLANNER: is not a setting"):
        place.load()


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


# Documentation that cannot rot


def test_the_reference_follows_the_declared_settings() -> None:
    how = "run `make settings`"
    assert settings_reference.PAGE.read_text() == settings_reference.page(), how
    assert settings_reference.EXAMPLE.read_text() == settings_reference.example(), how


def test_every_key_is_documented_with_its_variable_and_default() -> None:
    row = re.compile(r"^\| `([a-z_.]+)` \| `(TACIT_\w+)` \| (?:`([^`]*)` )?\| \S.* \|$", re.MULTILINE)
    rows = row.findall((ROOT / "docs" / "settings.md").read_text())
    assert {key: (name, default) for key, name, default in rows} == {
        key: (settings.variable_name(key), as_written(value_at(DEFAULTS, key))) for key in settings.key_names()
    }


def test_the_example_file_holds_every_key_and_changes_nothing(place: Place) -> None:
    import yaml

    example_file = ROOT / "tacit.example.yaml"
    assert place.load(example_file) == DEFAULTS

    def dotted(below: object, prefix: str = "") -> set[str]:
        if not isinstance(below, dict):
            return {prefix.removesuffix(".")}
        return {key for name in below for key in dotted(below[name], f"{prefix}{name}.")}

    example_keys = yaml.safe_load(example_file.read_text())
    assert list(example_keys) == [one.name for one in fields(Settings)]
    in_file_only = {"categories.system", "categories.custom"}  # and allowlists, which holds none
    assert dotted(example_keys) == set(settings.key_names()) | in_file_only
