"""Load settings: environment over file over defaults, checked together."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation
from tacit.settings import parsers
from tacit.settings.dsn import FOLDER_NAME, parse_dsn, path_exists, resolve_path
from tacit.settings.parsers import SAFE_WORD, URL, Parse, os_error_reason, settings_error, suggest_name
from tacit.settings.sections import CategorySetting, EmbeddingSettings, LanguageSettings, Settings

Node = Any  # of yaml, which is imported late; `id` is the kind of a node

FILE_NAME = "tacit.yaml"
FILE_VARIABLE = "TACIT_CONFIG"


# The keys that the records declare.


def key_names() -> tuple[str, ...]:
    """List every dotted key that file and environment can set."""
    return tuple(declared_fields())


def variable_name(key: str) -> str:
    """Return the environment variable of a dotted key."""
    return "TACIT_" + key.upper().replace(".", "_")


@cache
def sections() -> Mapping[str, Any]:
    """Return the record of every section by its dotted name; `Settings` itself has none."""
    below = {key: _section_of(one) for key, one in _walk("", Settings)}
    return {"": Settings} | {key: record for key, record in below.items() if record is not None}


@cache
def declared_fields() -> Mapping[str, Field[Any]]:
    """Return the field of every dotted key, in the order of declaration."""
    return {key: one for key, one in _walk("", Settings) if "description" in one.metadata}


def _walk(section: str, record: Any) -> Iterator[tuple[str, Field[Any]]]:
    for one in fields(record):
        key = _join(section, one.name)
        yield key, one
        if record_below := _section_of(one):
            yield from _walk(key, record_below)


def _section_of(one: Field[Any]) -> Any:
    """Return the record of a section, or None for a setting."""
    factory: Any = one.default_factory
    return factory if is_dataclass(factory) else None


@cache
def parser_of(key: str) -> Parse:
    """Return the parser that a field names, or the one of its type."""
    section, _, name = key.rpartition(".")
    about = declared_fields()[key].metadata
    if about["parse"] is not None:
        return cast(Parse, about["parse"])
    hint = get_type_hints(sections()[section])[name]
    if get_origin(hint) is Literal:
        return parsers.one_of(*get_args(hint))
    if isinstance(hint, types.UnionType):  # a number or None
        return parsers.optional(_number_parser(get_args(hint)[0], *about["within"]))
    simple: dict[type, Parse] = {bool: parsers.flag, timedelta: parsers.duration}
    return simple.get(hint) or _number_parser(hint, *about["within"])


def _number_parser(kind: type, low: Any, high: Any) -> Parse:
    return parsers.integer(low, high) if kind is int else parsers.number(low, high)


def _join(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


def _names(section: str) -> tuple[str, ...]:
    return tuple(one.name for one in fields(sections()[section]))


def _is_list(key: str) -> bool:
    return isinstance(declared_fields()[key].default, tuple)


# Loading.


class _Found(NamedTuple):
    where: str  # file and line, or variable
    value: object


def load(path: Path | None = None, *, environ: Mapping[str, str], home: Path, cwd: Path) -> Settings:
    """Read the environment over the file over the defaults; raise SettingsError for mistakes."""
    file = _find_file(path, environ, home, cwd)
    found = dict(_SettingsFile(file).read()) if file else {}
    found |= _read_environment(environ)
    settings = cast(Settings, _build_section("", found))
    if settings.db.dsn:
        try:
            parse_dsn(settings.db, home, cwd)
        except InvalidInput as error:
            raise settings_error(found["db.dsn"].where, str(error)) from None
    try:
        check_together(settings)
    except InvalidInput as mistake:
        # A missing key has no location: report that of the key that needs it.
        section = mistake.field.partition(".")[0]
        needs = "telegram.mode" if section == "telegram" else f"{section}.provider"
        blamed = mistake.field if mistake.field in found else needs
        raise settings_error(found[blamed].where, str(mistake)) from None
    return settings


def _build_section(section: str, found: Mapping[str, _Found]) -> object:
    given: dict[str, object] = {}
    for name in _names(section):
        key = _join(section, name)
        if key in sections():
            given[name] = _build_section(key, found)
        elif key in found:
            given[name] = found[key].value
    return sections()[section](**given)


def _find_file(path: Path | None, environ: Mapping[str, str], home: Path, cwd: Path) -> Path | None:
    named = str(path) if path is not None else environ.get(FILE_VARIABLE)
    if named is not None:
        if not named or URL.match(named):  # not repeated: it may hold a password
            what = FILE_VARIABLE if path is None else "the settings file"
            raise SettingsError(f"{what}: is not a file name; name a YAML file, or leave it out")
        return resolve_path(named, home, cwd)
    candidates = (cwd / FILE_NAME, home / FOLDER_NAME / FILE_NAME)
    return next((candidate for candidate in candidates if path_exists(candidate)), None)


def _read_environment(environ: Mapping[str, str]) -> dict[str, _Found]:
    found = {}
    key_of = {variable_name(key): key for key in key_names()}
    file_only = {variable_name(key): key for key in file_only_keys()}
    prefixes = tuple(variable_name(section) + "_" for section in _names(""))
    for name in sorted(environ):
        if name in key_of:
            key, value = key_of[name], environ[name]
            items = [item.strip() for item in value.split(",") if item.strip()]
            texts = items if _is_list(key) else [value]
            found[key] = _Found(name, _parse_texts(name, key, texts))
        elif name in file_only:  # if ignored, it would seem to be in force
            fix = f"write {file_only[name]}: into a settings file and unset this variable"
            raise settings_error(name, f"cannot be a variable; {fix}")
        elif name.startswith(prefixes):
            raise settings_error(name, f"is not a setting; {suggest_name(name, key_of)}")
    return found


def _parse_texts(where: str, key: str, texts: list[str]) -> object:
    values = [_parse(where, key, parser_of(key), text) for text in texts]
    return tuple(dict.fromkeys(values)) if _is_list(key) else values[0]


def _parse(where: str, key: str, parse: Parse, text: str) -> object:
    try:
        return parse(key, text)
    except InvalidInput as error:
        raise settings_error(where, key, error.problem) from None


# The settings file, read as YAML nodes: they know their lines, and `no` is still text.

CATEGORY_GROUPS = ("system", "custom")

_QUOTED_WORD = re.compile(r" '[^'<\\]{2,}'")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {_NULL} | {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "timestamp")}
_CATEGORY_PARSERS: Mapping[str, Parse] = {
    "name": parsers.category,
    "context": parsers.one_of("all", "rag"),
    "rag_length": parsers.integer(1, limits.PAGE_MAX_COUNT),
}


def file_only_keys() -> tuple[str, ...]:
    """List what no variable can hold."""
    return tuple(name for name in _names("") if name not in sections())


class _SettingsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Iterator[tuple[str, _Found]]:
        node = self._parse_document()
        if node is not None and not _is_null(node):
            yield from self._read_section(node, "")

    def _read_section(self, node: Node, section: str) -> Iterator[tuple[str, _Found]]:
        expected = f"expected keys with values: {', '.join(_names(section))}"
        for where, name, value in self._entries(node, section, _names(section), expected):
            key = _join(section, name)
            if key in sections():
                yield from self._read_section(value, key)
            elif key == "categories":
                yield key, _Found(where, self._read_categories(value))
            elif key == "allowlists":
                yield key, _Found(where, self._read_allowlists(value))
            else:
                yield key, _Found(where, _parse_texts(where, key, _texts(where, key, value)))

    def _read_categories(self, node: Node) -> tuple[CategorySetting, ...]:
        expected = "expected system: and custom:, each with a list"
        fix = f"{expected}; names alone go to memory.categories"
        found: dict[str, CategorySetting] = {}
        for where, group, below in self._entries(node, "categories", CATEGORY_GROUPS, fix):
            key = f"categories.{group}"
            if below.id != "sequence":
                problem = "expected a list of categories, each as in - name: recipe"
                raise settings_error(where, key, problem)
            for item in below.value:
                one = self._read_category(item, key)
                if one.name in found:
                    raise _duplicate_error(self._location(item), key, one.name)
                found[one.name] = one
        return tuple(found.values())

    def _read_category(self, node: Node, key: str) -> CategorySetting:
        given: dict[str, Any] = {}
        places: dict[str, str] = {}
        expected = "expected a category with its name: - name: recipe"
        for where, name, below in self._entries(node, key, tuple(_CATEGORY_PARSERS), expected):
            text = _scalar_text(below)
            if text is None:
                raise settings_error(where, f"{key}.{name}", "expected one plain value")
            given[name] = _parse(where, f"{key}.{name}", _CATEGORY_PARSERS[name], text)
            places[name] = where
        if "name" not in given:
            problem = "a category has no name; write - name: recipe"
            raise settings_error(self._location(node), key, problem)
        if "rag_length" in given and given.get("context") != "rag":
            problem = "is for categories with context: rag; write that, or remove it"
            raise settings_error(places["rag_length"], f"{key}.rag_length", problem)
        return CategorySetting(**given)

    def _read_allowlists(self, node: Node) -> Mapping[str, tuple[str, ...]]:
        if node.id != "mapping":
            fix = "expected agents with their categories, as in planner: [goal, project]"
            raise settings_error(self._location(node), "allowlists", fix)
        found: dict[str, tuple[str, ...]] = {}
        for name, below in node.value:
            where, agent = self._location(name), _scalar_text(name)
            if agent is None:
                problem = "has an invalid key; write the name of an agent"
                raise settings_error(where, "allowlists", problem)
            agent = cast(str, _parse(where, "allowlists", _parse_agent, agent))
            key = f"allowlists.{agent}" if SAFE_WORD.fullmatch(agent) else "allowlists"
            if agent in found:
                raise _duplicate_error(where, "allowlists", agent)
            found[agent] = self._read_allowed(where, key, below)
        return found

    def _read_allowed(self, where: str, key: str, node: Node) -> tuple[str, ...]:
        if node.id != "sequence":  # or null, which could mean all or none
            problem = "expected a list, as in [goal, project]; write [] for none at all"
            raise settings_error(where, key, problem)
        found: dict[str, None] = {}
        for item in node.value:
            text = _scalar_text(item)
            if text is None:
                problem = "expected the name of a category"
                raise settings_error(self._location(item), key, problem)
            name = cast(str, _parse(self._location(item), key, parsers.category, text))
            if name in found:
                raise _duplicate_error(self._location(item), key, name)
            found[name] = None
        return tuple(found)

    def _entries(
        self, node: Node, section: str, known: tuple[str, ...], expected: str
    ) -> Iterator[tuple[str, str, Node]]:
        """Iterate over the keys of a mapping that have a value; refuse unknown and double ones."""
        if node.id != "mapping":
            raise settings_error(self._location(node), section, expected)
        seen = set()
        for name, value in node.value:
            where = self._location(name)
            if name.id != "scalar" or name.value not in known:
                raise _unknown_key_error(where, section, str(name.value), known)
            if name.value in seen:
                raise _duplicate_error(where, section, name.value)
            seen.add(name.value)
            if not _is_null(value):
                yield where, name.value, value

    def _location(self, node: Node) -> str:
        return f"{self._path}, line {node.start_mark.line + 1}"

    def _parse_document(self) -> Node | None:
        import yaml

        text = self._read_text()
        try:
            return yaml.SafeLoader(text).get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            column = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
            # Words of the file are left out: they may be a password.
            problem = _QUOTED_WORD.sub("", str(error.problem))
            raise settings_error(f"{self._path}{column}", f"is not valid YAML: {problem}; correct it there") from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            problem = f"contains the control character U+{error.character:04X}; remove it"
            raise settings_error(f"{self._path}, line {line}", problem) from None
        except (ValueError, OverflowError, RecursionError):
            problem = "is not valid YAML: an escape, a version or the nesting is out of range"
            raise settings_error(self._path, f"{problem}; write plain values") from None

    def _read_text(self) -> str:
        most = limits.SETTINGS_FILE_MAX_BYTES
        try:
            with self._path.open("rb") as stream:
                raw = stream.read(most + 1)
        except (OSError, ValueError) as error:
            problem = f"cannot be read ({os_error_reason(error)}); name a file that can be"
            raise settings_error(self._path, problem) from None
        if len(raw) > most:
            problem = f"is longer than {most:,} bytes; name a settings file"
            raise settings_error(self._path, problem)
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise settings_error(f"{self._path}, line {line}", "is not UTF-8 text; save it as UTF-8") from None


def _is_null(node: Node) -> bool:
    return node.tag == _NULL and isinstance(node.value, str)


def _scalar_text(node: Node) -> str | None:
    """Return the text of one plain value, or None for anything else."""
    return str(node.value) if node.id == "scalar" and node.tag in _PLAIN else None


def _texts(where: str, key: str, node: Node) -> list[str]:
    nodes = [node] if not _is_list(key) else node.value if node.id == "sequence" else [None]
    texts = [None if one is None else _scalar_text(one) for one in nodes]
    if None in texts:
        expected = "a list, as in [recipe, travel]" if _is_list(key) else "one plain value"
        raise settings_error(where, key, f"expected {expected}")
    return cast(list[str], texts)


def _parse_agent(key: str, value: str) -> str:
    return validation.parse_label(key, value)


def _unknown_key_error(where: str, section: str, name: str, known: tuple[str, ...]) -> SettingsError:
    if not SAFE_WORD.fullmatch(name):
        return settings_error(where, section, f"has an invalid key; use {', '.join(known)}")
    key = _join(section, name)
    if key in key_names():
        return settings_error(where, key, f"write {name.replace('.', ': and below it ')}:")
    if section in sections():
        near = suggest_name(key.lower(), [*key_names(), *filter(None, sections()), *known])
    else:
        near = suggest_name(name.lower(), known)
    return settings_error(where, key, f"is not a key; {near}")


def _duplicate_error(where: str, section: str, name: str) -> SettingsError:
    shown = f"{name} " if SAFE_WORD.fullmatch(name) else ""
    return settings_error(where, section, f"{shown}is given twice; remove one of them")


# Keys that are valid alone, but not together.

# `none` accepts every key, so that one variable turns a provider off.
_EMBEDDING_REQUIRES = {"folder": ("folder",), "endpoint": ("url", "model")}
_EMBEDDING_USES = {
    "auto": (),
    "local": (),
    "folder": ("folder",),
    "endpoint": ("url", "model", "api_key", "dimension"),
    "none": ("folder", "url", "model", "api_key", "dimension"),
}
_EMBEDDING_EXAMPLES = {
    "folder": "the path of a folder with an ONNX model and its tokenizer.json",
    "url": "the endpoint's address, as in https://host/v1",
    "model": "the endpoint's name of the model",
}


def check_together(settings: Settings) -> None:
    """Raise InvalidInput for keys that a provider needs, or does not use."""
    _check_embedding(settings.embedding)
    _check_language(settings.language)
    if settings.telegram.mode == "webhook" and not settings.telegram.webhook_url:
        why, example = "telegram.mode is webhook", "the address that Telegram is to call"
        raise _missing_key_error("telegram.webhook_url", why, example)


def _check_embedding(embedding: EmbeddingSettings) -> None:
    provider = embedding.provider
    _check_provider("embedding.provider", provider, _EMBEDDING_USES)
    for name in _EMBEDDING_REQUIRES.get(provider, ()):
        if not getattr(embedding, name):
            why = f"embedding.provider is {provider}"
            raise _missing_key_error(f"embedding.{name}", why, _EMBEDDING_EXAMPLES[name])
    for name in _EMBEDDING_USES["none"]:
        if getattr(embedding, name) and name not in _EMBEDDING_USES[provider]:
            meant = "folder" if name == "folder" else "endpoint"
            raise InvalidInput(
                f"embedding.{name}",
                f"is set, but embedding.provider is {provider}, which does not use it; remove it, "
                f"or set embedding.provider to {meant}",
            )


def _check_language(language: LanguageSettings) -> None:
    provider = language.provider
    _check_provider("language.provider", provider, ("none", "openai", "anthropic"))
    if provider == "none":
        return
    if not language.model:
        why = f"language.provider is {provider}"
        raise _missing_key_error("language.model", why, "the endpoint's name for it")
    if not language.base_url and not language.api_key_env:
        raise _missing_key_error(
            "language.api_key_env",
            f"language.provider is {provider}, at its own address",
            "the name of the variable that holds the key, or language.base_url to a server of your own",
        )
    free = not language.price_in_per_million and not language.price_out_per_million
    if language.cost_per_day is not None and free:
        raise InvalidInput(
            "language.cost_per_day",
            "cannot be enforced without prices; set language.price_in_per_million and "
            "language.price_out_per_million, or limit language.tokens_per_day instead",
        )


def _check_provider(key: str, provider: str, known: Iterable[str]) -> None:
    if provider not in known:  # of settings that a program made
        raise InvalidInput(key, f"choose one of {', '.join(known)}")


def _missing_key_error(key: str, why: str, example: str) -> InvalidInput:
    fix = f"set {key} or {variable_name(key)} to {example}"
    return InvalidInput(key, f"is empty, but {why}; {fix}")
