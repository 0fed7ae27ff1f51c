"""Reading settings: the environment over the file over the defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from tacit.errors import InvalidInput, SettingsError
from tacit.settings.chat import telegram_mistake
from tacit.settings.document import (
    document,
    is_mapping,
    is_null,
    is_scalar,
    items,
    pairs,
    place,
    plain,
)
from tacit.settings.embedding import embedding_mistake
from tacit.settings.keys import (
    declared,
    in_file_only,
    is_list,
    join,
    key_names,
    names_in,
    sections,
    variable,
)
from tacit.settings.language import language_mistake
from tacit.settings.mistakes import WORD, nearest, wrong
from tacit.settings.records import Settings
from tacit.settings.values import URL, Parse
from tacit.settings.whereabouts import FOLDER_NAME, dsn_url, path_of, present

if TYPE_CHECKING:
    from yaml import Node

FILE_NAME = "tacit.yaml"
FILE_VARIABLE = "TACIT_CONFIG"


class Value(NamedTuple):
    where: str  # file and line, or variable
    value: object


def load(
    path: Path | None = None, *, environ: Mapping[str, str], home: Path, cwd: Path
) -> Settings:
    """The environment over the file over the defaults; SettingsError for anything else in them."""
    file = _file(path, environ, home, cwd)
    found = dict(_in_file(file, document(file), "")) if file else {}
    found |= _in_environment(environ)
    settings = cast(Settings, _built("", found))
    if settings.db.dsn:
        try:
            dsn_url(settings.db, home, cwd)
        except InvalidInput as error:
            raise wrong(found["db.dsn"].where, str(error)) from None
    # A key that is missing has no place: the one that needs it has.
    for needs, mistake in (
        ("embedding.provider", embedding_mistake(settings.embedding)),
        ("language.provider", language_mistake(settings.language)),
        ("telegram.mode", telegram_mistake(settings.telegram)),
    ):
        if mistake is not None:
            blamed = mistake.field if mistake.field in found else needs
            raise wrong(found[blamed].where, str(mistake)) from None
    return settings


def _built(section: str, found: Mapping[str, Value]) -> object:
    given: dict[str, object] = {}
    for name in names_in(section):
        key = join(section, name)
        if key in sections():
            given[name] = _built(key, found)
        elif key in found:
            given[name] = found[key].value
    return sections()[section](**given)


def _file(path: Path | None, environ: Mapping[str, str], home: Path, cwd: Path) -> Path | None:
    named = str(path) if path is not None else environ.get(FILE_VARIABLE)
    if named is not None:
        if not named or URL.match(named):  # it is not repeated: it may hold a password
            who = FILE_VARIABLE if path is None else "the settings file"
            raise SettingsError(f"{who}: is no file name; name a YAML file, or none at all")
        return path_of(named, home, cwd)
    candidates = (cwd / FILE_NAME, home / FOLDER_NAME / FILE_NAME)
    return next((candidate for candidate in candidates if present(candidate)), None)


def _in_file(file: Path, node: Node | None, section: str) -> Iterator[tuple[str, Value]]:
    if node is None or is_null(node):
        return
    if not is_mapping(node):
        problem = f"expected keys with values: {', '.join(names_in(section))}"
        raise wrong(place(file, node), section, problem)
    seen = set()
    for name, value in pairs(node):
        where = place(file, name)
        if not is_scalar(name) or name.value not in names_in(section):
            raise _unknown_key(where, section, str(name.value))
        key = join(section, name.value)
        if key in seen:
            raise wrong(where, key, "is here a second time; remove one of the two")
        seen.add(key)
        if key in sections():
            yield from _in_file(file, value, key)
        elif is_null(value):
            continue
        elif key in in_file_only():
            yield key, Value(where, in_file_only()[key](file, value))
        else:
            yield key, Value(where, _parsed(where, key, _written(where, key, value)))


def _written(where: str, key: str, node: Node) -> list[str]:
    nodes = items(node) if is_list(key) else [node]
    written = [plain(one) for one in nodes or ()]
    if nodes is None or None in written:
        expected = "a list, as in [recipe, travel]" if is_list(key) else "one plain value"
        raise wrong(where, key, f"expected {expected}")
    return cast(list[str], written)


def _in_environment(environ: Mapping[str, str]) -> dict[str, Value]:
    found = {}
    key_of = {variable(key): key for key in key_names()}
    refused = {variable(key): key for key in in_file_only()}
    ours = tuple(variable(section) + "_" for section in names_in(""))
    for name in sorted(environ):
        if name in key_of:
            key, value = key_of[name], environ[name]
            items = [item.strip() for item in value.split(",") if item.strip()]
            found[key] = Value(name, _parsed(name, key, items if is_list(key) else [value]))
        elif name in refused:  # left alone, it would seem to be in force
            fix = f"write {refused[name]}: into a settings file and unset this variable"
            raise wrong(name, f"cannot be a variable; {fix}")
        elif name.startswith(ours):
            raise wrong(name, f"is not a setting; {nearest(name, key_of)}")
    return found


def _parsed(where: str, key: str, written: list[str]) -> object:
    parse: Parse = declared()[key].metadata["parse"]
    try:
        values = [parse(key, value) for value in written]
    except InvalidInput as error:
        raise wrong(where, key, error.problem) from None
    return tuple(dict.fromkeys(values)) if is_list(key) else values[0]


def _unknown_key(where: str, section: str, name: str) -> SettingsError:
    if not WORD.fullmatch(name):
        return wrong(where, section, f"has an odd key; the keys are {', '.join(names_in(section))}")
    key = join(section, name)
    if key in key_names():
        return wrong(where, key, f"write {name.replace('.', ': and below it ')}:")
    known = [*key_names(), *filter(None, sections()), *in_file_only()]
    return wrong(where, key, f"is not a key; {nearest(key.lower(), known)}")
