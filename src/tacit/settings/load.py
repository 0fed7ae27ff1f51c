"""Reading settings: the environment over the file over the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.settings.mistakes import WORD, nearest, reason, wrong
from tacit.settings.records import (
    Parse,
    Settings,
    declared,
    is_list,
    join,
    key_names,
    names_in,
    sections,
    variable,
)
from tacit.settings.whereabouts import FOLDER_NAME, dsn_url, path_of, present

if TYPE_CHECKING:
    from yaml import Node

FILE_NAME = "tacit.yaml"
FILE_VARIABLE = "TACIT_CONFIG"

_QUOTED_WORD = re.compile(r" '[^'<\\]{2,}'")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {_NULL} | {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "timestamp")}
_URL = re.compile(r"[A-Za-z0-9+.-]+:/")


class Value(NamedTuple):
    where: str  # file and line, or variable
    value: object


def load(
    path: Path | None = None, *, environ: Mapping[str, str], home: Path, cwd: Path
) -> Settings:
    """The environment over the file over the defaults; SettingsError for anything else in them."""
    file = _file(path, environ, home, cwd)
    found = dict(_in_file(file, _document(file), "")) if file else {}
    found |= _in_environment(environ)
    settings = cast(Settings, _built("", found))
    if settings.db.dsn:
        try:
            dsn_url(settings.db, home, cwd)
        except InvalidInput as error:
            raise wrong(found["db.dsn"].where, str(error)) from None
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
        if not named or _URL.match(named):  # it is not repeated: it may hold a password
            who = FILE_VARIABLE if path is None else "the settings file"
            raise SettingsError(f"{who}: is no file name; name a YAML file, or none at all")
        return path_of(named, home, cwd)
    candidates = (cwd / FILE_NAME, home / FOLDER_NAME / FILE_NAME)
    return next((candidate for candidate in candidates if present(candidate)), None)


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(limits.SETTINGS_FILE_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise wrong(file, f"cannot be read ({reason(error)}); name a file that can be") from None
    if len(raw) > limits.SETTINGS_FILE_MAX_BYTES:
        raise wrong(
            file, f"is longer than {limits.SETTINGS_FILE_MAX_BYTES:,} bytes; name a settings file"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise wrong(f"{file}, line {line}", "is not UTF-8 text; save it as UTF-8") from None


def _document(file: Path) -> Node | None:
    """The YAML as nodes: they know their lines, and `no` is still the text that was written."""
    import yaml

    written = _text_of(file)
    try:
        return yaml.SafeLoader(written).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        # Words of the file are left out: they may be a password.
        problem = _QUOTED_WORD.sub("", str(error.problem))
        raise wrong(where, f"is not valid YAML: {problem}; correct it there") from None
    except yaml.reader.ReaderError as error:
        line = written.count("\n", 0, error.position) + 1
        problem = f"contains the control character U+{error.character:04X}; remove it"
        raise wrong(f"{file}, line {line}", problem) from None
    except (ValueError, OverflowError, RecursionError):
        problem = "is not valid YAML: an escape, a version or the nesting is out of range"
        raise wrong(file, f"{problem}; write plain values") from None


def _is_null(node: Node) -> bool:
    return node.tag == _NULL and isinstance(node.value, str)


def _in_file(file: Path, node: Node | None, section: str) -> Iterator[tuple[str, Value]]:
    from yaml import MappingNode, ScalarNode

    if node is None or _is_null(node):
        return
    if not isinstance(node, MappingNode):
        problem = f"expected keys with values: {', '.join(names_in(section))}"
        raise wrong(f"{file}, line {node.start_mark.line + 1}", section, problem)
    seen = set()
    for name, value in node.value:
        where = f"{file}, line {name.start_mark.line + 1}"
        if not isinstance(name, ScalarNode) or name.value not in names_in(section):
            raise _unknown_key(where, section, str(name.value))
        key = join(section, name.value)
        if key in seen:
            raise wrong(where, key, "is here a second time; remove one of the two")
        seen.add(key)
        if key in sections():
            yield from _in_file(file, value, key)
        elif not _is_null(value):
            yield key, Value(where, _parsed(where, key, _written(where, key, value)))


def _written(where: str, key: str, node: Node) -> list[str]:
    from yaml import ScalarNode, SequenceNode

    items = node.value if is_list(key) and isinstance(node, SequenceNode) else [node]
    if is_list(key) is not isinstance(node, SequenceNode) or not all(
        isinstance(item, ScalarNode) and item.tag in _PLAIN for item in items
    ):
        expected = "a list, as in [recipe, travel]" if is_list(key) else "one plain value"
        raise wrong(where, key, f"expected {expected}")
    return [item.value for item in items]


def _in_environment(environ: Mapping[str, str]) -> dict[str, Value]:
    found = {}
    key_of = {variable(key): key for key in key_names()}
    ours = tuple(variable(section) + "_" for section in names_in(""))
    for name in sorted(environ):
        if name in key_of:
            key, value = key_of[name], environ[name]
            items = [item.strip() for item in value.split(",") if item.strip()]
            found[key] = Value(name, _parsed(name, key, items if is_list(key) else [value]))
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
    known = [*key_names(), *filter(None, sections())]
    return wrong(where, key, f"is not a key; {nearest(key.lower(), known)}")
