"""Parse the settings file and each of its values, and word the errors without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import urlsplit

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation

if TYPE_CHECKING:
    from yaml import Node


# What is said about mistakes: where, which key, what is wrong, and the fix. Never a password.

# What was written is repeated in a message only if it can be a word of ours with a slip in it:
# never a URL with a password, and nothing long or with digits, as keys to endpoints are.
SAFE_WORD = re.compile(r"(?:[^\W\d]|[.<-]){1,30}")


def settings_error(where: object, *parts: str) -> SettingsError:
    message = ": ".join(part for part in (str(where), *parts) if part)
    # A file name may hold bytes that cannot be printed.
    return SettingsError(message.encode("utf-8", "replace").decode())


def os_error_reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its name cannot be used"


def quote_if_safe(value: str) -> str:
    return repr(value) if SAFE_WORD.fullmatch(value) else "that"


def suggest_name(written: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(written, list(known), 1)
    return f"did you mean {near[0]}?" if near else "docs/settings.md lists them all"


# How values are read. Each arrives as the text that was written, from file and environment alike.
#
# So `space: no` is the space "no", and a parser is needed once. It raises InvalidInput.

URL = re.compile(r"[A-Za-z0-9+.-]+:/")

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[0-9]{1,12}")
_FRACTION = re.compile(r"[0-9]?\.[0-9]{1,12}|[01]")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12}")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,5})s)?")
_LOCALE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]*")

Parse = Callable[[str, str], object]


def one_of(*words: str) -> Parse:
    def parse(key: str, value: str) -> str:
        if value not in words:
            raise InvalidInput(key, f"{quote_if_safe(value)} is not one of {', '.join(words)}")
        return value

    return parse


def whole(low: int, high: int) -> Callable[[str, str], int]:
    def parse(key: str, value: str) -> int:
        if not _WHOLE.fullmatch(value) or not low <= int(value) <= high:
            raise InvalidInput(key, f"must be a whole number from {low} to {high}, in digits")
        return int(value)

    return parse


def fraction(key: str, value: str) -> float:
    if not _FRACTION.fullmatch(value) or float(value) > 1:
        raise InvalidInput(key, "must be a number from 0 to 1; write for example 0.6")
    return float(value)


def number(low: float, high: float) -> Callable[[str, str], float]:
    def parse(key: str, value: str) -> float:
        if not _NUMBER.fullmatch(value) or not low <= float(value) <= high:
            problem = f"must be a number from {format_number(low)} to {format_number(high)}"
            raise InvalidInput(key, f"{problem}; write for example 10 or 0.5")
        return float(value)

    return parse


def format_number(value: float) -> str:
    return repr(value).removesuffix(".0")


def optional(parse: Callable[[str, str], object]) -> Parse:
    """Empty text is a value of its own: None."""
    return lambda key, value: parse(key, value) if value else None


def flag(key: str, value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise InvalidInput(key, f"{quote_if_safe(value)} is neither true nor false")
    return value.lower() in _TRUE


def always_true(why: str) -> Callable[[str, str], Literal[True]]:
    def parse(key: str, value: str) -> Literal[True]:
        if not flag(key, value):
            raise InvalidInput(key, f"must stay true: {why}; remove this key")
        return True

    return parse


def duration(key: str, value: str) -> timedelta:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise InvalidInput(key, "is not a duration; write for example 0s, 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def category(key: str, value: str) -> str:
    name = validation.parse_identifier(key, value, limits.CATEGORY_MAX_CHARS)
    if not _CATEGORY.fullmatch(name):
        raise InvalidInput(key, "a category is lower-case letters, digits, - and _; rename it")
    return name


def dsn(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def path(key: str, value: str) -> str:
    """As it was written: where it starts is known only to whoever opens it. Empty is none."""
    if URL.match(value):  # it is not repeated: it may hold a password
        raise InvalidInput(key, "is a URL; fetch what is there and write the path of your copy")
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def label(key: str, value: str) -> str:
    """A name that somebody else gave, or nothing."""
    return validation.parse_identifier(key, value, limits.LABEL_MAX_CHARS) if value else ""


def address(key_goes_to: str, like: str = "https://host/v1") -> Callable[[str, str], str]:
    """Of an HTTP endpoint, or nothing. Never repeated: somebody may have written a key into it."""

    def parse(key: str, value: str) -> str:
        return _parse_address(key, value, key_goes_to, like)

    return parse


def _parse_address(key: str, value: str, key_goes_to: str, like: str) -> str:
    problem = f"is not an address; write it like {like}, with nothing after the path"
    if not value:
        return ""
    if not _is_one_word(value) or len(value) > limits.ENDPOINT_URL_MAX_CHARS:
        raise InvalidInput(key, problem)
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(key, problem) from None
    if "@" in parts.netloc:
        raise InvalidInput(key, f"holds a user name or password; use {key_goes_to} instead")
    if parts.scheme not in ("http", "https") or not host or "?" in value or "#" in value:
        raise InvalidInput(key, problem)
    return value


def api_key(key: str, value: str) -> str:
    """What goes into a header: nothing in it may end the line. Never repeated."""
    if value and not _is_one_word(value):
        raise InvalidInput(key, "holds spaces or characters that no key has; copy it again")
    if len(value) > limits.ENDPOINT_KEY_MAX_CHARS:
        raise InvalidInput(
            key, f"is longer than {limits.ENDPOINT_KEY_MAX_CHARS:,} characters; copy it again"
        )
    return value


def variable_name(key: str, value: str) -> str:
    """Of the variable that holds a key, or nothing. Never repeated: it may be the key itself."""
    if value and (not _VARIABLE.fullmatch(value) or len(value) > limits.LABEL_MAX_CHARS):
        problem = "is not the name of a variable; put the key into a variable of the environment"
        raise InvalidInput(key, f"{problem}, and its name here, as in OPENAI_API_KEY")
    if value.startswith("TACIT_"):
        raise InvalidInput(
            key, "names one of Tacit's own variables; give it a name that does not begin so"
        )
    return value


def locale(key: str, value: str) -> str:
    if value != "auto" and not _LOCALE.fullmatch(value):
        raise InvalidInput(
            key, f"{quote_if_safe(value)} is neither auto nor a language, as in en or de"
        )
    return value


def _is_one_word(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


# A settings file as YAML nodes: they know their lines, and `no` is still the text written.

_QUOTED_WORD = re.compile(r" '[^'<\\]{2,}'")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {_NULL} | {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "timestamp")}


def parse_document(file: Path) -> Node | None:
    import yaml

    written = _read_text(file)
    try:
        return yaml.SafeLoader(written).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        # Words of the file are left out: they may be a password.
        problem = _QUOTED_WORD.sub("", str(error.problem))
        raise settings_error(where, f"is not valid YAML: {problem}; correct it there") from None
    except yaml.reader.ReaderError as error:
        line = written.count("\n", 0, error.position) + 1
        problem = f"contains the control character U+{error.character:04X}; remove it"
        raise settings_error(f"{file}, line {line}", problem) from None
    except (ValueError, OverflowError, RecursionError):
        problem = "is not valid YAML: an escape, a version or the nesting is out of range"
        raise settings_error(file, f"{problem}; write plain values") from None


def location(file: Path, node: Node) -> str:
    return f"{file}, line {node.start_mark.line + 1}"


def is_null(node: Node) -> bool:
    return node.tag == _NULL and isinstance(node.value, str)


def is_mapping(node: Node) -> bool:
    from yaml import MappingNode

    return isinstance(node, MappingNode)


def is_scalar(node: Node) -> bool:
    from yaml import ScalarNode

    return isinstance(node, ScalarNode)


def scalar_text(node: Node) -> str | None:
    """The text of one plain value, or None where something else stands."""
    return str(node.value) if is_scalar(node) and node.tag in _PLAIN else None


def list_items(node: Node) -> list[Node] | None:
    """What a list holds, or None where something else stands."""
    from yaml import SequenceNode

    return list(node.value) if isinstance(node, SequenceNode) else None


def mapping_items(node: Node) -> Iterator[tuple[Node, Node]]:
    yield from node.value


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(limits.SETTINGS_FILE_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise settings_error(
            file, f"cannot be read ({os_error_reason(error)}); name a file that can be"
        ) from None
    if len(raw) > limits.SETTINGS_FILE_MAX_BYTES:
        raise settings_error(
            file, f"is longer than {limits.SETTINGS_FILE_MAX_BYTES:,} bytes; name a settings file"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise settings_error(
            f"{file}, line {line}", "is not UTF-8 text; save it as UTF-8"
        ) from None


# Two parts of the file that no variable can hold: how categories are used, and by which agents.

GROUPS = ("system", "custom")
RAG_LENGTH_DEFAULT_COUNT = 30

_CONTEXTS = ("all", "rag")
_CATEGORY_PARSERS: Mapping[str, Parse] = {
    "name": category,
    "context": one_of(*_CONTEXTS),
    "rag_length": whole(1, limits.PAGE_MAX_COUNT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategorySetting:
    name: str
    # all: the block holds it as a whole. rag: it comes by recall alone.
    context: Literal["all", "rag"] = "all"
    # With rag: at most this many come.
    rag_length: int = RAG_LENGTH_DEFAULT_COUNT


def read_categories(file: Path, node: Node) -> tuple[CategorySetting, ...]:
    if not is_mapping(node):
        fix = "expected system: and custom:, each with a list; names alone go to memory.categories"
        raise settings_error(location(file, node), "categories", fix)
    found: dict[str, CategorySetting] = {}
    for where, group, below in _iter_known_keys(file, node, "categories", GROUPS):
        key = f"categories.{group}"
        listed = list_items(below)
        if listed is None:
            raise settings_error(
                where, key, "expected a list of categories, each as in - name: recipe"
            )
        for item in listed:
            one = _read_category(file, item, key)
            if one.name in found:
                raise _duplicate_error(location(file, item), key, one.name)
            found[one.name] = one
    return tuple(found.values())


def _read_category(file: Path, node: Node, key: str) -> CategorySetting:
    if not is_mapping(node):
        raise settings_error(
            location(file, node), key, "expected a category with its name: - name: recipe"
        )
    given: dict[str, object] = {}
    places: dict[str, str] = {}
    for where, name, below in _iter_known_keys(file, node, key, tuple(_CATEGORY_PARSERS)):
        written = scalar_text(below)
        if written is None:
            raise settings_error(where, f"{key}.{name}", "expected one plain value")
        given[name] = _parse_value(where, f"{key}.{name}", _CATEGORY_PARSERS[name], written)
        places[name] = where
    if "name" not in given:
        raise settings_error(
            location(file, node), key, "a category has no name; write - name: recipe"
        )
    if "rag_length" in given and given.get("context") != "rag":
        problem = "is for categories that come by recall; write context: rag, or remove it"
        raise settings_error(places["rag_length"], f"{key}.rag_length", problem)
    return CategorySetting(
        name=cast(str, given["name"]),
        context=cast(Literal["all", "rag"], given.get("context", "all")),
        rag_length=cast(int, given.get("rag_length", RAG_LENGTH_DEFAULT_COUNT)),
    )


def read_allowlists(file: Path, node: Node) -> Mapping[str, tuple[str, ...]]:
    if not is_mapping(node):
        fix = "expected agents with their categories, as in planner: [goal, project]"
        raise settings_error(location(file, node), "allowlists", fix)
    found: dict[str, tuple[str, ...]] = {}
    for name, below in mapping_items(node):
        where, agent = location(file, name), scalar_text(name)
        if agent is None:
            raise settings_error(where, "allowlists", "has an odd key; write the name of an agent")
        agent = cast(str, _parse_value(where, "allowlists", _parse_agent, agent))
        key = f"allowlists.{agent}" if SAFE_WORD.fullmatch(agent) else "allowlists"
        if agent in found:
            raise _duplicate_error(where, "allowlists", agent)
        found[agent] = _read_allowed(file, where, key, below)
    return found


def _read_allowed(file: Path, where: str, key: str, node: Node) -> tuple[str, ...]:
    listed = list_items(node)
    if listed is None:  # also where there is nothing: whether that is all or none must be said
        raise settings_error(
            where, key, "expected a list, as in [goal, project]; write [] for none at all"
        )
    found: dict[str, None] = {}
    for item in listed:
        written = scalar_text(item)
        if written is None:
            raise settings_error(location(file, item), key, "expected the name of a category")
        name = cast(str, _parse_value(location(file, item), key, category, written))
        if name in found:
            raise _duplicate_error(location(file, item), key, name)
        found[name] = None
    return tuple(found)


def _parse_agent(key: str, value: str) -> str:
    return validation.parse_identifier(key, value, limits.LABEL_MAX_CHARS)


def _iter_known_keys(
    file: Path, node: Node, section: str, known: tuple[str, ...]
) -> Iterator[tuple[str, str, Node]]:
    """The keys of a mapping that may hold only these, each once; without those that say nothing."""
    seen = set()
    for name, below in mapping_items(node):
        where = location(file, name)
        if not is_scalar(name) or name.value not in known:
            raise _unknown_key_error(where, section, str(name.value), known)
        if name.value in seen:
            raise _duplicate_error(where, section, name.value)
        seen.add(name.value)
        if not is_null(below):
            yield where, name.value, below


def _parse_value(where: str, key: str, parse: Parse, written: str) -> object:
    try:
        return parse(key, written)
    except InvalidInput as error:
        raise settings_error(where, key, error.problem) from None


def _unknown_key_error(
    where: str, section: str, name: str, known: tuple[str, ...]
) -> SettingsError:
    if not SAFE_WORD.fullmatch(name):
        return settings_error(where, section, f"has an odd key; the keys are {', '.join(known)}")
    return settings_error(
        where, f"{section}.{name}", f"is not a key; {suggest_name(name.lower(), known)}"
    )


def _duplicate_error(where: str, key: str, name: str) -> SettingsError:
    shown = repr(name) if SAFE_WORD.fullmatch(name) else "the same"
    return settings_error(where, key, f"{shown} is here a second time; remove one of the two")
