"""Load settings: environment over file over defaults, checked together; find the database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation
from tacit.settings.sections import (
    DbSettings,
    EmbeddingSettings,
    LanguageSettings,
    Settings,
    find_telegram_mistake,
)
from tacit.settings.values import (
    SAFE_WORD,
    URL,
    Parse,
    is_mapping,
    is_null,
    is_scalar,
    list_items,
    location,
    mapping_items,
    os_error_reason,
    parse_document,
    scalar_text,
    settings_error,
    suggest_name,
)

if TYPE_CHECKING:
    from yaml import Node


# The keys that the records declare: their dotted names, variables and places.


def key_names() -> tuple[str, ...]:
    """Every key, dotted."""
    return tuple(declared_fields())


def variable_name(key: str) -> str:
    """The environment variable of a dotted key."""
    return "TACIT_" + key.upper().replace(".", "_")


def join_key(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


@cache
def sections() -> Mapping[str, Any]:
    """Every record by its name; the whole is the one without a name."""
    found: dict[str, Any] = {"": Settings}
    waiting = [""]
    for section in waiting:
        for one in fields(found[section]):
            if one.default_factory is not MISSING and "read" not in one.metadata:
                found[join_key(section, one.name)] = one.default_factory
                waiting.append(join_key(section, one.name))
    return found


@cache
def declared_fields() -> Mapping[str, Field[Any]]:
    return {
        join_key(section, one.name): one
        for section, record in sections().items()
        for one in fields(record)
        if "parse" in one.metadata
    }


@cache
def file_only_readers() -> Mapping[str, Any]:
    """What no variable can hold, with what reads it from its place in a file."""
    return {one.name: one.metadata["read"] for one in fields(Settings) if "read" in one.metadata}


def list_names(section: str) -> list[str]:
    return [one.name for one in fields(sections()[section])]


def is_list(key: str) -> bool:
    return isinstance(declared_fields()[key].default, tuple)


# Where things are: paths as people write them, and the database that the settings mean.

FOLDER_NAME = ".tacit"  # in the home folder
DATABASE_NAME = "tacit.sqlite"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVER_OF_SCHEME = {
    "sqlite": "sqlite",
    "file": "sqlite",
    "postgresql": "postgres",
    "postgresql+psycopg": "postgres",
    "postgres": "postgres",
}
_SQLITE_PATH = re.compile(r"(?:sqlite:///|file://(?=/)|file:(?!//))([^?#]+)", re.IGNORECASE)
_LIBPQ_KEYWORDS = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=")
_SQLITE_FORMS = "a plain path, sqlite:///relative, sqlite:////absolute or file:path"
_POSTGRES_FORM = "postgresql://user@host/name"


def database_url(settings: Settings, home: Path, cwd: Path) -> str:
    """Where the database is, for SQLAlchemy: `db.dsn`; else the file at home, the file here, or
    a new one at home, whose folder this creates."""
    if settings.db.dsn:
        try:
            return parse_dsn(settings.db, home, cwd)
        except InvalidInput as error:
            raise SettingsError(str(error)) from None
    if settings.db.driver == "postgres":
        raise SettingsError(
            "db.dsn: is empty, but db.driver is postgres; set db.dsn in the settings file or "
            f"{variable_name('db.dsn')} to {_POSTGRES_FORM}"
        )
    at_home, here = home / FOLDER_NAME / DATABASE_NAME, cwd / DATABASE_NAME
    if not path_exists(at_home) and path_exists(here):
        return _sqlite_url(here)
    try:
        at_home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = (
            f"cannot be created ({os_error_reason(error)}); set db.dsn to the path of a database"
        )
        raise settings_error(at_home.parent, problem) from None
    return _sqlite_url(at_home)


def resolve_path(written: str, home: Path, cwd: Path) -> Path:
    if written.startswith("~/"):
        return home / written[2:].lstrip("/")
    return cwd / written


def path_exists(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise settings_error(
            path, f"cannot be looked at ({os_error_reason(error)}); check who may read it"
        ) from None
    return True


def _sqlite_url(path: Path) -> str:
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def parse_dsn(db: DbSettings, home: Path, cwd: Path) -> str:
    match = _SCHEME.match(db.dsn)
    scheme = match[1].lower() if match else ""
    driver = _DRIVER_OF_SCHEME.get(scheme) if scheme else "sqlite"
    if driver is None or _LIBPQ_KEYWORDS.search(db.dsn):
        forms = f"{_SQLITE_FORMS}, or {_POSTGRES_FORM}"
        raise InvalidInput("db.dsn", f"is neither a path nor a known URL; write {forms}")
    if driver != db.driver:
        fix = _SQLITE_FORMS if db.driver == "sqlite" else _POSTGRES_FORM
        problem = f"is for {driver}, but db.driver is {db.driver}"
        raise InvalidInput("db.dsn", f"{problem}; set db.driver to {driver}, or db.dsn to {fix}")
    if driver == "postgres":
        return _postgres_url("postgresql" + db.dsn[len(scheme) :])
    match = _SQLITE_PATH.fullmatch(db.dsn)
    path = (
        validation.check_storable("db.dsn", unquote(match[1]), limits.DSN_MAX_CHARS)
        if match
        else db.dsn
    )
    if path in (":memory:", "sqlite://", "sqlite:///"):
        return "sqlite://"
    if scheme and match is None:
        # Parameters of SQLite's URIs (mode, cache, vfs…) would undo how Tacit opens the file.
        raise InvalidInput("db.dsn", f"cannot be opened; write {_SQLITE_FORMS}, without parameters")
    return _sqlite_url(resolve_path(path, home, cwd))


def _postgres_url(url: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
        port = 5432 if parsed.port is None else parsed.port
        good = "@" not in (parsed.host or "") and 0 < port < 65_536 and not re.search(r"\s", url)
    except (ArgumentError, ValueError):
        good = False
    if not good:
        escapes = "in a password write %40 for @, %3A for :, %2F for / and %25 for %"
        raise InvalidInput("db.dsn", f"cannot be read as {_POSTGRES_FORM}; {escapes}")
    return url


# Which keys of `embedding` go together. Each alone may be right, and the whole mean nothing.

# Per provider, the keys it needs and those it has a use for. `none` may have all of them, so that
# switching off is one change; `threads` says nothing about which provider was meant.
_REQUIRED_KEYS = {"folder": ("folder",), "endpoint": ("url", "model")}
_USED_KEYS = {
    "auto": (),
    "local": (),
    "folder": ("folder",),
    "endpoint": ("url", "model", "api_key", "dimension"),
    "none": ("folder", "url", "model", "api_key", "dimension"),
}
_EXAMPLES = {
    "folder": "the path of a folder with an ONNX model and its tokenizer.json",
    "url": "the endpoint's address, as in https://host/v1",
    "model": "the endpoint's name of the model",
}


def find_embedding_mistake(embedding: EmbeddingSettings) -> InvalidInput | None:
    """The first key that is missing or means nothing, with the fix; None if they go together."""
    provider = embedding.provider
    for name in _REQUIRED_KEYS.get(provider, ()):
        if not getattr(embedding, name):
            key = f"embedding.{name}"
            return InvalidInput(
                key,
                f"is empty, but embedding.provider is {provider}; set {key} or {variable_name(key)} "
                f"to {_EXAMPLES[name]}",
            )
    for name in _USED_KEYS["none"]:
        if getattr(embedding, name) and name not in _USED_KEYS[provider]:
            meant = "folder" if name == "folder" else "endpoint"
            return InvalidInput(
                f"embedding.{name}",
                f"is set, but embedding.provider is {provider}, which does not use it; remove it, "
                f"or set embedding.provider to {meant}",
            )
    return None


# Which keys of `language` go together. Each alone may be right, and the whole mean nothing.


def find_language_mistake(language: LanguageSettings) -> InvalidInput | None:
    """The first key that is missing or cannot be kept, with the fix; None if they go together.

    `none` may have all of them, so that switching off is one change.
    """
    provider = language.provider
    if provider == "none":
        return None
    if not language.model:
        return _missing_key_error(
            "model", f"language.provider is {provider}", "the endpoint's name for it"
        )
    if not language.base_url and not language.api_key_env:
        return _missing_key_error(
            "api_key_env",
            f"language.provider is {provider}, at its own address",
            "the name of the variable that holds the key, or language.base_url to a server of "
            "your own",
        )
    free = not language.price_in_per_million and not language.price_out_per_million
    if language.cost_per_day is not None and free:
        return InvalidInput(
            "language.cost_per_day",
            "cannot be kept without prices; set language.price_in_per_million and "
            "language.price_out_per_million, or bound language.tokens_per_day instead",
        )
    return None


def _missing_key_error(name: str, why: str, like: str) -> InvalidInput:
    key = f"language.{name}"
    return InvalidInput(key, f"is empty, but {why}; set {key} or {variable_name(key)} to {like}")


# Reading settings: the environment over the file over the defaults.

FILE_NAME = "tacit.yaml"
FILE_VARIABLE = "TACIT_CONFIG"


class FoundValue(NamedTuple):
    where: str  # file and line, or variable
    value: object


def load(
    path: Path | None = None, *, environ: Mapping[str, str], home: Path, cwd: Path
) -> Settings:
    """The environment over the file over the defaults; SettingsError for anything else in them."""
    file = _find_file(path, environ, home, cwd)
    found = dict(_read_file(file, parse_document(file), "")) if file else {}
    found |= _read_environment(environ)
    settings = cast(Settings, _build_section("", found))
    if settings.db.dsn:
        try:
            parse_dsn(settings.db, home, cwd)
        except InvalidInput as error:
            raise settings_error(found["db.dsn"].where, str(error)) from None
    # A key that is missing has no place: the one that needs it has.
    for needs, mistake in (
        ("embedding.provider", find_embedding_mistake(settings.embedding)),
        ("language.provider", find_language_mistake(settings.language)),
        ("telegram.mode", find_telegram_mistake(settings.telegram)),
    ):
        if mistake is not None:
            blamed = mistake.field if mistake.field in found else needs
            raise settings_error(found[blamed].where, str(mistake)) from None
    return settings


def _build_section(section: str, found: Mapping[str, FoundValue]) -> object:
    given: dict[str, object] = {}
    for name in list_names(section):
        key = join_key(section, name)
        if key in sections():
            given[name] = _build_section(key, found)
        elif key in found:
            given[name] = found[key].value
    return sections()[section](**given)


def _find_file(path: Path | None, environ: Mapping[str, str], home: Path, cwd: Path) -> Path | None:
    named = str(path) if path is not None else environ.get(FILE_VARIABLE)
    if named is not None:
        if not named or URL.match(named):  # it is not repeated: it may hold a password
            who = FILE_VARIABLE if path is None else "the settings file"
            raise SettingsError(f"{who}: is no file name; name a YAML file, or none at all")
        return resolve_path(named, home, cwd)
    candidates = (cwd / FILE_NAME, home / FOLDER_NAME / FILE_NAME)
    return next((candidate for candidate in candidates if path_exists(candidate)), None)


def _read_file(file: Path, node: Node | None, section: str) -> Iterator[tuple[str, FoundValue]]:
    if node is None or is_null(node):
        return
    if not is_mapping(node):
        problem = f"expected keys with values: {', '.join(list_names(section))}"
        raise settings_error(location(file, node), section, problem)
    seen = set()
    for name, value in mapping_items(node):
        where = location(file, name)
        if not is_scalar(name) or name.value not in list_names(section):
            raise _unknown_key_error(where, section, str(name.value))
        key = join_key(section, name.value)
        if key in seen:
            raise settings_error(where, key, "is here a second time; remove one of the two")
        seen.add(key)
        if key in sections():
            yield from _read_file(file, value, key)
        elif is_null(value):
            continue
        elif key in file_only_readers():
            yield key, FoundValue(where, file_only_readers()[key](file, value))
        else:
            yield (
                key,
                FoundValue(where, _parse_values(where, key, _scalar_texts(where, key, value))),
            )


def _scalar_texts(where: str, key: str, node: Node) -> list[str]:
    nodes = list_items(node) if is_list(key) else [node]
    written = [scalar_text(one) for one in nodes or ()]
    if nodes is None or None in written:
        expected = "a list, as in [recipe, travel]" if is_list(key) else "one plain value"
        raise settings_error(where, key, f"expected {expected}")
    return cast(list[str], written)


def _read_environment(environ: Mapping[str, str]) -> dict[str, FoundValue]:
    found = {}
    key_of = {variable_name(key): key for key in key_names()}
    refused = {variable_name(key): key for key in file_only_readers()}
    ours = tuple(variable_name(section) + "_" for section in list_names(""))
    for name in sorted(environ):
        if name in key_of:
            key, value = key_of[name], environ[name]
            items = [item.strip() for item in value.split(",") if item.strip()]
            found[key] = FoundValue(
                name, _parse_values(name, key, items if is_list(key) else [value])
            )
        elif name in refused:  # left alone, it would seem to be in force
            fix = f"write {refused[name]}: into a settings file and unset this variable"
            raise settings_error(name, f"cannot be a variable; {fix}")
        elif name.startswith(ours):
            raise settings_error(name, f"is not a setting; {suggest_name(name, key_of)}")
    return found


def _parse_values(where: str, key: str, written: list[str]) -> object:
    parse: Parse = declared_fields()[key].metadata["parse"]
    try:
        values = [parse(key, value) for value in written]
    except InvalidInput as error:
        raise settings_error(where, key, error.problem) from None
    return tuple(dict.fromkeys(values)) if is_list(key) else values[0]


def _unknown_key_error(where: str, section: str, name: str) -> SettingsError:
    if not SAFE_WORD.fullmatch(name):
        return settings_error(
            where, section, f"has an odd key; the keys are {', '.join(list_names(section))}"
        )
    key = join_key(section, name)
    if key in key_names():
        return settings_error(where, key, f"write {name.replace('.', ': and below it ')}:")
    known = [*key_names(), *filter(None, sections()), *file_only_readers()]
    return settings_error(where, key, f"is not a key; {suggest_name(key.lower(), known)}")
