"""What a file and the environment may say, what is refused, and which database that means."""

import re
import stat
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy
from hypothesis import example, given
from hypothesis import strategies as st

from scripts import settings_reference
from tacit import limits, settings
from tacit.errors import SettingsError
from tacit.settings import (
    DbSettings,
    EmbeddingSettings,
    LanguageSettings,
    MemorySettings,
    Settings,
    SqliteSettings,
)

ROOT = Path(__file__).parents[2]
DEFAULTS = Settings()
SECRET = "hunter2"
POSTGRES = f"postgresql://alice:{SECRET}@db.example/tacit"


class Place:
    """A home folder, a current folder and an environment of our own."""

    def __init__(self, folder: Path) -> None:
        self.home, self.cwd = folder / "home", folder / "cwd"
        self.home.mkdir()
        self.cwd.mkdir()
        self.environ: dict[str, str] = {}

    def load(self, path: str | Path | None = None) -> Settings:
        where = None if path is None else Path(path)
        return settings.load(where, environ=self.environ, home=self.home, cwd=self.cwd)

    def write(self, yaml: str | bytes) -> None:
        raw = yaml if isinstance(yaml, bytes) else yaml.encode()
        (self.cwd / "tacit.yaml").write_bytes(raw)

    def read(self, yaml: str | bytes) -> Settings:
        self.write(yaml)
        return self.load()

    def refused(self, yaml: str | bytes) -> str:
        with pytest.raises(SettingsError) as caught:
            self.read(yaml)
        cause_is_hidden = caught.value.__context__ is None or caught.value.__suppress_context__
        assert cause_is_hidden, "it would show lines of the file"
        return str(caught.value)

    def url(self, driver: str = "sqlite", dsn: str = "") -> str:
        self.environ = {"TACIT_DB_DRIVER": driver, "TACIT_DB_DSN": dsn}
        return settings.database_url(self.load(), self.home, self.cwd)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """For Hypothesis, which runs one test many times in one fixture."""
    return Place(tmp_path_factory.mktemp("settings"))


def value_at(record: object, key: str) -> object:
    for name in key.split("."):
        record = getattr(record, name)
    return record


def as_written(value: object) -> str:
    """A setting as a person would write it into a variable."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            minutes, seconds = divmod(int(value.total_seconds()), 60)
            parts = {"h": minutes // 60, "m": minutes % 60, "s": seconds}
            return "".join(f"{n}{unit}" for unit, n in parts.items() if n) or "0s"
        case tuple():
            return ",".join(value)
    return str(value).removesuffix(".0")


# Where settings come from


def test_without_a_file_or_variables_there_are_defaults(place: Place) -> None:
    assert place.load() == DEFAULTS
    assert DEFAULTS.memory.enabled
    assert DEFAULTS.db.driver == "sqlite"
    assert DEFAULTS.db.sqlite.synchronous == "normal"
    assert DEFAULTS.memory.ttl_days.event == limits.KIND_TTL_DAYS["event"]


def test_every_fading_kind_has_its_days() -> None:
    kinds = {
        key.removeprefix("memory.ttl_days.") for key in settings.key_names() if "ttl_days" in key
    }
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


def test_a_file_is_named_relative_to_the_current_folder_or_to_home(place: Place) -> None:
    (place.cwd / "a.yaml").write_text("memory: {space: a}")
    (place.home / "~b.yaml").write_text("memory: {space: b}")
    assert place.load("a.yaml").memory.space == "a"
    place.environ["TACIT_CONFIG"] = "~/~b.yaml"
    assert place.load().memory.space == "b"


def test_a_variable_overrides_the_file_and_the_rest_of_the_file_stands(place: Place) -> None:
    place.environ["TACIT_DB_SQLITE_SYNCHRONOUS"] = "full"
    loaded = place.read("db: {sqlite: {synchronous: extra, wal: false}}")
    assert loaded.db.sqlite == SqliteSettings(synchronous="full", wal=False)


def test_a_mistake_in_the_file_is_told_even_where_a_variable_overrides_it(place: Place) -> None:
    place.environ["TACIT_DB_DRIVER"] = "sqlite"
    assert "db.driver" in place.refused("db: {driver: mysql}")


def test_every_key_has_a_variable_of_its_own() -> None:
    assert settings.variable_name("db.sqlite.wal") == "TACIT_DB_SQLITE_WAL"
    assert len({settings.variable_name(key) for key in settings.key_names()}) == len(
        settings.key_names()
    )


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
    assert SECRET not in repr(Settings(db=DbSettings(driver="postgres", dsn=POSTGRES)))
    for hidden in (
        EmbeddingSettings(api_key=SECRET),
        EmbeddingSettings(url=f"https://{SECRET}@host/v1"),
    ):
        assert SECRET not in repr(Settings(embedding=hidden))
    for asked in (
        LanguageSettings(api_key_env=SECRET),
        LanguageSettings(base_url=f"https://{SECRET}@host/v1"),
    ):
        assert SECRET not in repr(Settings(language=asked))


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


@pytest.mark.parametrize(
    ("written", "seconds"), [("0s", 0), ("45s", 45), ("30m", 1800), ("1h30m", 5400), ("2h5s", 7205)]
)
def test_durations(place: Place, written: str, seconds: int) -> None:
    loaded = place.read(f"db: {{pool: {{conn_max_lifetime: {written}}}}}")
    assert loaded.db.pool.conn_max_lifetime == timedelta(seconds=seconds)


def test_categories_are_a_list_in_the_file_and_divided_by_commas_in_a_variable(
    place: Place,
) -> None:
    wanted = MemorySettings(categories=("recipe", "travel"))
    assert place.read("memory: {categories: [recipe, travel, recipe]}").memory == wanted
    place.environ["TACIT_MEMORY_CATEGORIES"] = "recipe, travel,"
    assert place.load().memory == wanted


@pytest.mark.parametrize(
    ("key", "value", "fix"),
    [
        ("db.driver", "mysql", "'mysql' is not one of sqlite, postgres"),
        ("db.driver", "SQLite", "one of sqlite, postgres"),
        ("db.sqlite.synchronous", "off", "'off' is not one of normal, full, extra"),
        ("db.sqlite.foreign_keys", "false", "must stay true: the schema relies on foreign keys"),
        ("db.sqlite.wal", "maybe", "neither true nor false"),
        ("db.automigrate", "2", "neither true nor false"),
        ("db.sqlite.busy_timeout_ms", "-1", "from 0 to 60000"),
        ("db.sqlite.busy_timeout_ms", "60001", "from 0 to 60000"),
        ("db.sqlite.busy_timeout_ms", "5e3", "from 0 to 60000"),
        ("db.pool.max_open_conns", "0", "from 1 to 1000"),
        ("db.pool.max_idle_conns", "9" * 5000, "from 1 to 1000"),
        ("db.pool.conn_max_lifetime", "30", "0s, 30m or 1h30m"),
        ("db.pool.conn_max_lifetime", "500ms", "0s, 30m or 1h30m"),
        ("db.pool.conn_max_lifetime", "", "0s, 30m or 1h30m"),
        ("memory.space", "a/b", "use letters, digits"),
        ("memory.categories", "Recipe", "lower-case letters"),
        ("memory.categories", "x" * 51, "shorten it"),
        ("memory.read", "all", "'all' is not one of union, canonical"),
        ("memory.local_person", "alice", "telegram:123"),
        ("memory.local_person", "ext:telegram:1", "telegram:123"),
        ("memory.ttl_days.task", "0", "from 1 to 36500"),
        ("db.dsn", "a\ud800", "surrogate"),
        ("memory.sessions.keep", "sometimes", "'sometimes' is neither true nor false"),
        ("memory.sessions.retention_days", "0", "from 1 to 36500"),
        ("memory.sessions.retention_days", "36501", "from 1 to 36500"),
        ("embedding.provider", "openai", "not one of auto, local, folder, endpoint, none"),
        ("embedding.folder", "https://host/model", "is a URL; download"),
        ("embedding.folder", "a\0b", "NUL"),
        ("embedding.model", " bge", "begin or end with a space"),
        ("embedding.model", "x" * 201, "shorten it"),
        ("embedding.dimension", "16001", "from 0 to 16000"),
        ("embedding.dimension", "-1", "from 0 to 16000"),
        ("embedding.threads", "0", "from 1 to 64"),
        ("embedding.threads", "all", "from 1 to 64"),
        ("language.provider", "ollama", "'ollama' is not one of none, openai, anthropic"),
        ("language.model", " gpt", "begin or end with a space"),
        ("language.timeout_seconds", "0", "from 0.001 to 600, such as 10 or 0.5"),
        ("language.timeout_seconds", "601", "from 0.001 to 600"),
        ("language.timeout_seconds", "60s", "from 0.001 to 600"),
        ("language.timeout_seconds", "", "from 0.001 to 600"),
        ("language.retries", "11", "from 0 to 10"),
        ("language.max_output_tokens", "0", "from 1 to 100000"),
        ("language.temperature", "2.1", "from 0 to 2"),
        ("language.temperature", "nan", "from 0 to 2"),
        ("language.output", "verse", "'verse' is not one of auto, tool, schema, prompt"),
        ("language.price_in_per_million", "-1", "from 0 to 1000000"),
        ("language.price_out_per_million", "1e3", "from 0 to 1000000"),
        ("language.tokens_per_day", "1.5", "from 0 to 100000000000"),
        ("language.cost_per_day", "5 EUR", "from 0 to 1000000000"),
        ("learn.enabled", "sometimes", "'sometimes' is neither true nor false"),
        ("learn.confirm", "ask", "'ask' is not one of never, new, always"),
        ("learn.daily_max_count", "0", "from 1 to 1000000"),
        ("learn.min_chars", "-1", "from 0 to 1000"),
        ("learn.debounce_seconds", "30s", "from 0 to 3600"),
        ("learn.workers", "65", "from 0 to 64"),
        ("jobs.every.expire", "59s", "must be 1m to 8784h, or off"),
        ("jobs.every.expire", "8785h", "must be 1m to 8784h, or off"),
        ("jobs.every.expire", "never", "is not a duration"),
        ("learn.locale", "English", "'English' is neither auto nor a language, as in en or de"),
        ("learn.locale", "", "neither auto nor a language"),
        ("learn.locale", "../en", "neither auto nor a language"),
        ("learn.quarantine", "maybe", "neither true nor false"),
        ("recall.tokenizer", "s3://bucket/tokenizer.json", "is a URL"),
        ("recall.link_min", "1.01", "a number from 0 to 1, such as 0.5"),
        ("recall.link_min", "-0.1", "from 0 to 1"),
        ("recall.link_min", "nan", "from 0 to 1"),
        ("recall.link_min", "1e-1", "from 0 to 1"),
        ("recall.link_min", "60%", "from 0 to 1"),
        ("recall.link_min", "", "from 0 to 1"),
        ("prompt.style", "short", "'short' is not one of memory, filtered, summary"),
        ("prompt.items_max", "0", "from 1 to 1000"),
        ("prompt.chars_max", "1999", "from 2000 to 1000000"),
        ("prompt.conversation_gap", "1d", "0s, 30m or 1h30m"),
    ],
)
def test_a_wrong_value_names_the_variable_the_key_and_the_fix(
    place: Place, key: str, value: str, fix: str
) -> None:
    place.environ[settings.variable_name(key)] = value
    with pytest.raises(SettingsError, match=f"^{settings.variable_name(key)}: {key}: ") as caught:
        place.load()
    assert fix in str(caught.value)


def test_a_task_can_be_switched_off(place: Place) -> None:
    place.environ["TACIT_JOBS_EVERY_PURGE"] = "off"
    found = place.read("jobs:\n  every:\n    expire: off\n    reflect: 30m\n")
    every = found.jobs.every
    assert (every.expire, every.purge, every.reflect) == (None, None, timedelta(minutes=30))


# What is refused in a file


@pytest.mark.parametrize(
    ("yaml", "line", "message"),
    [
        ("db:\n  drivr: sqlite", 2, "db.drivr: is not a key; did you mean db.driver?"),
        ("driver: sqlite", 1, "driver: is not a key; did you mean db.driver?"),
        ("db: {synchronous: full}", 1, "did you mean db.sqlite.synchronous?"),
        ("DB: {}", 1, "DB: is not a key; did you mean db?"),
        ("zzz: 1", 1, "zzz: is not a key; docs/settings.md lists them all"),
        ("memory:\n  injection: {}", 2, "memory.injection: is not a key"),
        ("db.driver: sqlite", 1, "db.driver: write db: and below it driver:"),
        (".db: {}", 1, ".db: is not a key; did you mean db?"),
        ("db: &a {pool: *a}", 1, "db.pool.pool: is not a key"),
        ("? [a, b]\n: c", 1, "has an invalid key; use db, memory"),
        ("db: {7: x}", 1, "db: has an invalid key; use driver, dsn"),
        ("embeding: {}", 1, "embeding: is not a key; did you mean embedding?"),
        ("prompt:\n  max_items: 9", 2, "did you mean prompt.items_max?"),
        ("memory:\n  sessions:\n    keeps: on", 3, "did you mean memory.sessions.keep?"),
        ("allowlist: {}", 1, "allowlist: is not a key; did you mean allowlists?"),
        ("db: {<<: {driver: sqlite}}", 1, "db.<<: is not a key"),
        ("db: {}\ndb: {}", 2, "db is given twice; remove one of them"),
        ("db:\n  wal: 1\n  wal: 1", 2, "db.wal: is not a key; did you mean db.sqlite.wal?"),
        ("memory:\n  read: union\n  read: union", 3, "memory: read is given twice"),
        ("db:\n  sqlite", 2, "db: expected keys with values: driver, dsn, pool"),
        ("- db", 1, "expected keys with values: db, memory"),
        ("sqlite", 1, "expected keys with values: db, memory"),
        ("!!null {db: {driver: mysql}}", 1, "'mysql' is not one of"),
        ("db:\n  driver: {a: b}", 2, "db.driver: expected one plain value"),
        ("db:\n  driver: [sqlite]", 2, "db.driver: expected one plain value"),
        ("db:\n  driver: !!python/name:os.system x", 2, "db.driver: expected one plain value"),
        ("memory:\n  categories: recipe", 2, "memory.categories: expected a list"),
        ("memory:\n  categories: [[recipe]]", 2, "memory.categories: expected a list"),
        ("memory:\n  categories: [~]", 2, "memory.categories: a category is"),
        ("db:\n\n  driver: mysql", 3, "db.driver: 'mysql' is not one of sqlite, postgres"),
    ],
)
def test_a_mistake_in_the_file_names_file_line_key_and_fix(
    place: Place, yaml: str, line: int, message: str
) -> None:
    said = place.refused(yaml)
    assert said.startswith(f"{place.cwd / 'tacit.yaml'}, line {line}: ")
    assert message in said


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


def test_a_home_that_cannot_be_looked_into_is_told(place: Place) -> None:
    loop = place.home / ".tacit"
    loop.symlink_to(loop)  # the one kind of path that even root cannot look at
    with pytest.raises(SettingsError, match="cannot be accessed"):
        place.load()


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


@pytest.mark.parametrize(
    "dsn", [":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "file::memory:"]
)
def test_a_sqlite_database_can_live_in_memory(place: Place, dsn: str) -> None:
    assert place.url(dsn=dsn) == "sqlite://"


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


def test_postgres_without_a_dsn_is_told(place: Place) -> None:
    with pytest.raises(SettingsError, match=r"^db\.dsn: is empty.*TACIT_DB_DSN.*postgresql://"):
        place.url("postgres")
    assert not (place.home / ".tacit").exists()


# Any input at all

TOP = [field.name for field in fields(Settings)]
WORDS = [*TOP, "system", "custom", "name", "context", "rag", "rag_length"]
WORDS += [*settings.key_names(), *(part for key in settings.key_names() for part in key.split("."))]
FRAGMENTS = [*"[]{}'\"|>%@#~\t\n7\\\ufeff", ": ", "\n  ", "- ", ", ", "&a ", "*", "!x ", "? "]
FRAGMENTS += ["---\n", "true", "<<", "1:30"]


def outcome(place: Place) -> Settings | str:
    """The settings, or what the one error that may come says."""
    try:
        return place.load()
    except SettingsError as error:
        str(error).encode()
        return str(error)


@given(st.lists(st.sampled_from(WORDS + FRAGMENTS) | st.text(max_size=4)).map("".join))
def test_any_text_yields_settings_or_one_typed_error(one_place: Place, document: str) -> None:
    one_place.write(document.encode("utf-8", "surrogatepass"))
    said = outcome(one_place)
    assert isinstance(said, Settings) or said.startswith(f"{one_place.cwd / 'tacit.yaml'}")


def values() -> st.SearchStrategy[object]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates()
    return st.recursive(
        leaves,
        lambda below: st.lists(below) | st.dictionaries(st.sampled_from(WORDS) | leaves, below),
    )


@given(st.dictionaries(st.sampled_from(TOP), values()) | values())
def test_any_yaml_document_yields_settings_or_one_typed_error(
    one_place: Place, document: object
) -> None:
    import yaml

    one_place.write(yaml.dump(document, allow_unicode=True))
    said = outcome(one_place)
    assert isinstance(said, Settings) or said.startswith(f"{one_place.cwd / 'tacit.yaml'}")


@given(st.sampled_from(settings.key_names()), st.text())
@example("db.dsn", "postgresql://[")
@example("embedding.url", "https://[")
@example("embedding.url", "https://host:٣/v1")
@example("embedding.provider", "endpoint")
@example("language.base_url", "https://[")
@example("language.provider", "openai")
@example("language.temperature", "")
def test_any_variable_yields_settings_or_an_error_that_names_it(
    one_place: Place, key: str, value: str
) -> None:
    (one_place.cwd / "tacit.yaml").unlink(missing_ok=True)
    one_place.environ = {settings.variable_name(key): value}
    said = outcome(one_place)
    one_place.environ = {}
    named = f"{settings.variable_name(key)}: {key}: "
    if key == "embedding.provider" and value in ("folder", "endpoint"):
        named = "TACIT_EMBEDDING_PROVIDER: embedding."  # and then the key that it needs
    if key == "language.provider" and value in ("openai", "anthropic"):
        named = "TACIT_LANGUAGE_PROVIDER: language."
    assert isinstance(said, Settings) or said.startswith(named)


@given(st.sampled_from(["sqlite", "postgres"]), st.sampled_from(["", *"sfp"]), st.text())
@example("postgres", "p", "://h:٣/x")
def test_any_dsn_yields_a_url_that_sqlalchemy_reads_or_one_typed_error(
    one_place: Place, driver: str, kind: str, rest: str
) -> None:
    prefix = {"": "", "s": "sqlite:", "f": "file:", "p": "postgresql:"}[kind]
    made = Settings(db=DbSettings(driver=driver, dsn=prefix + rest))  # type: ignore[arg-type]
    try:
        url = settings.database_url(made, one_place.home, one_place.cwd)
    except SettingsError:
        return
    assert sqlalchemy.make_url(url).get_backend_name().startswith(driver)


@given(st.data())
def test_no_damage_to_a_file_puts_its_password_into_the_message(
    one_place: Place, data: st.DataObject
) -> None:
    yaml = f"db:\n  driver: postgres\n  dsn: {POSTGRES}\n"
    yaml += f"embedding:\n  provider: none\n  api_key: sk-{SECRET}\n"
    yaml += f"language:\n  base_url: https://host/{SECRET}\n  api_key_env: {SECRET}\n"
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(yaml)))
        yaml = yaml[:at] + data.draw(st.sampled_from(FRAGMENTS)) + yaml[at:]
    one_place.write(yaml)
    assert SECRET not in str(outcome(one_place))


VALID = {
    "db.sqlite.synchronous": st.sampled_from(["normal", "full", "extra"]),
    "db.sqlite.wal": st.booleans(),
    "db.sqlite.busy_timeout_ms": st.integers(0, 60_000),
    "db.sqlite.cache_mib": st.integers(1, 1_024),
    "db.dsn": st.from_regex(r"[a-z/ %?]{0,9}", fullmatch=True),
    "db.pool.max_open_conns": st.integers(1, 1_000),
    "db.pool.conn_max_lifetime": st.integers(0, 99_999).map(lambda s: timedelta(seconds=s)),
    "db.automigrate": st.booleans(),
    "memory.enabled": st.booleans(),
    "memory.space": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True),
    "memory.categories": st.lists(
        st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True), unique=True
    ).map(tuple),
    "memory.read": st.sampled_from(["union", "canonical"]),
    "memory.local_person": st.none() | st.integers(1, 10**9).map(lambda n: f"telegram:{n}"),
    "memory.ttl_days.event": st.integers(1, 36_500),
    "memory.sessions.keep": st.booleans(),
    "memory.sessions.retention_days": st.integers(1, 36_500),
    "embedding.provider": st.just("none"),  # which goes with anything
    "embedding.folder": st.from_regex(r"~?/[a-z /]{0,9}", fullmatch=True),
    "embedding.url": st.from_regex(r"https?://[a-z]{1,9}(:80)?/[a-z/]{0,9}", fullmatch=True),
    "embedding.model": st.from_regex(r"[a-z0-9][a-z0-9/.-]{0,9}", fullmatch=True),
    "embedding.api_key": st.from_regex(r"sk-[A-Za-z0-9]{1,9}", fullmatch=True),
    "embedding.dimension": st.integers(0, 16_000),
    "embedding.threads": st.integers(1, 64),
    "language.provider": st.just("none"),
    "language.model": st.from_regex(r"[a-z0-9][a-z0-9/.:-]{0,9}", fullmatch=True),
    "language.base_url": st.from_regex(r"https?://[a-z]{1,9}(:80)?/[a-z/]{0,9}", fullmatch=True),
    "language.api_key_env": st.from_regex(r"[A-Z_]{1,9}", fullmatch=True),
    "language.timeout_seconds": st.integers(1, 600_000).map(lambda n: n / 1_000),
    "language.retries": st.integers(0, 10),
    "language.max_output_tokens": st.integers(1, 100_000),
    "language.temperature": st.none() | st.integers(0, 200).map(lambda n: n / 100),
    "language.output": st.sampled_from(["auto", "tool", "schema", "prompt"]),
    "language.price_in_per_million": st.integers(0, 100_000).map(lambda n: n / 100),
    "language.price_out_per_million": st.integers(0, 100_000).map(lambda n: n / 100),
    "language.tokens_per_day": st.none() | st.integers(0, 10**11),
    "language.cost_per_day": st.none() | st.integers(0, 100_000).map(lambda n: n / 100),
    "recall.tokenizer": st.from_regex(r"[a-z]{0,9}\.json", fullmatch=True),
    "recall.link_min": st.integers(0, 100).map(lambda n: n / 100),
    "prompt.style": st.sampled_from(["memory", "filtered", "summary"]),
    "prompt.items_max": st.integers(1, 1_000),
    "prompt.chars_max": st.integers(2_000, 1_000_000),
    "prompt.conversation_gap": st.integers(0, 99_999).map(lambda s: timedelta(seconds=s)),
    "learn.enabled": st.booleans(),
    "learn.confirm": st.sampled_from(["never", "new", "always"]),
    "learn.daily_max_count": st.integers(1, 1_000_000),
    "learn.min_chars": st.integers(0, 1_000),
    "learn.debounce_seconds": st.integers(0, 3_600),
    "learn.workers": st.integers(0, 64),
    "learn.locale": st.sampled_from(["auto", "en", "de", "pt-BR", "zh-Hant-TW"]),
    "learn.quarantine": st.booleans(),
    "jobs.every.purge": st.integers(1, 500_000).map(lambda n: timedelta(minutes=n)),
    "jobs.on_open": st.booleans(),
}


@given(
    st.fixed_dictionaries(
        {"embedding.provider": VALID["embedding.provider"]},
        optional={key: valid for key, valid in VALID.items() if key != "embedding.provider"},
    )
)
def test_variables_say_the_same_as_a_file_and_give_back_what_was_meant(
    one_place: Place, meant: dict[str, object]
) -> None:
    import yaml

    nested: dict[str, dict[str, object]] = {key.split(".")[0]: {} for key in VALID}
    for key, value in meant.items():
        *sections, name = key.split(".")
        at: dict[str, object] = nested[sections[0]]
        for section in sections[1:]:
            at = at.setdefault(section, {})  # type: ignore[assignment]
        at[name] = list(value) if isinstance(value, tuple) else as_written(value)
    from_file = one_place.read(yaml.dump(nested))
    (one_place.cwd / "tacit.yaml").unlink()
    one_place.environ = {settings.variable_name(key): as_written(v) for key, v in meant.items()}
    from_variables = one_place.load()
    one_place.environ = {}
    assert from_file == from_variables
    for key in settings.key_names():
        assert value_at(from_variables, key) == meant.get(key, value_at(DEFAULTS, key))


# Documentation that cannot rot


def test_the_reference_follows_the_declared_settings() -> None:
    how = "run `make settings`"
    assert settings_reference.PAGE.read_text() == settings_reference.page(), how
    assert settings_reference.EXAMPLE.read_text() == settings_reference.example(), how


def test_every_key_is_documented_with_its_variable_and_default() -> None:
    row = re.compile(
        r"^\| `([a-z_.]+)` \| `(TACIT_\w+)` \| (?:`([^`]*)` )?\| \S.* \|$", re.MULTILINE
    )
    rows = row.findall((ROOT / "docs" / "settings.md").read_text())
    assert {key: (name, default) for key, name, default in rows} == {
        key: (settings.variable_name(key), as_written(value_at(DEFAULTS, key)))
        for key in settings.key_names()
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
    assert list(example_keys) == TOP
    in_file_only = {"categories.system", "categories.custom"}  # and allowlists, which holds none
    assert dotted(example_keys) == set(settings.key_names()) | in_file_only
