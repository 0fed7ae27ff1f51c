"""Two parts of the file that no variable can hold: how categories are used, and by which agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation
from tacit.settings.document import is_mapping, is_null, is_scalar, items, pairs, place, plain
from tacit.settings.mistakes import WORD, nearest, wrong
from tacit.settings.values import Parse, category, one_of, whole

if TYPE_CHECKING:
    from yaml import Node

GROUPS = ("system", "custom")
RAG_LENGTH_DEFAULT_COUNT = 30

_CONTEXTS = ("all", "rag")
_ITEM: Mapping[str, Parse] = {
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
        raise wrong(place(file, node), "categories", fix)
    found: dict[str, CategorySetting] = {}
    for where, group, below in _named(file, node, "categories", GROUPS):
        key = f"categories.{group}"
        listed = items(below)
        if listed is None:
            raise wrong(where, key, "expected a list of categories, each as in - name: recipe")
        for item in listed:
            one = _category(file, item, key)
            if one.name in found:
                raise _twice(place(file, item), key, one.name)
            found[one.name] = one
    return tuple(found.values())


def _category(file: Path, node: Node, key: str) -> CategorySetting:
    if not is_mapping(node):
        raise wrong(place(file, node), key, "expected a category with its name: - name: recipe")
    given: dict[str, object] = {}
    places: dict[str, str] = {}
    for where, name, below in _named(file, node, key, tuple(_ITEM)):
        written = plain(below)
        if written is None:
            raise wrong(where, f"{key}.{name}", "expected one plain value")
        given[name] = _checked(where, f"{key}.{name}", _ITEM[name], written)
        places[name] = where
    if "name" not in given:
        raise wrong(place(file, node), key, "a category has no name; write - name: recipe")
    if "rag_length" in given and given.get("context") != "rag":
        problem = "is for categories that come by recall; write context: rag, or remove it"
        raise wrong(places["rag_length"], f"{key}.rag_length", problem)
    return CategorySetting(
        name=cast(str, given["name"]),
        context=cast(Literal["all", "rag"], given.get("context", "all")),
        rag_length=cast(int, given.get("rag_length", RAG_LENGTH_DEFAULT_COUNT)),
    )


def read_allowlists(file: Path, node: Node) -> Mapping[str, tuple[str, ...]]:
    if not is_mapping(node):
        fix = "expected agents with their categories, as in planner: [goal, project]"
        raise wrong(place(file, node), "allowlists", fix)
    found: dict[str, tuple[str, ...]] = {}
    for name, below in pairs(node):
        where, agent = place(file, name), plain(name)
        if agent is None:
            raise wrong(where, "allowlists", "has an odd key; write the name of an agent")
        agent = cast(str, _checked(where, "allowlists", _agent, agent))
        key = f"allowlists.{agent}" if WORD.fullmatch(agent) else "allowlists"
        if agent in found:
            raise _twice(where, "allowlists", agent)
        found[agent] = _allowed(file, where, key, below)
    return found


def _allowed(file: Path, where: str, key: str, node: Node) -> tuple[str, ...]:
    listed = items(node)
    if listed is None:  # also where there is nothing: whether that is all or none must be said
        raise wrong(where, key, "expected a list, as in [goal, project]; write [] for none at all")
    found: dict[str, None] = {}
    for item in listed:
        written = plain(item)
        if written is None:
            raise wrong(place(file, item), key, "expected the name of a category")
        name = cast(str, _checked(place(file, item), key, category, written))
        if name in found:
            raise _twice(place(file, item), key, name)
        found[name] = None
    return tuple(found)


def _agent(key: str, value: str) -> str:
    return validation.parse_identifier(key, value, limits.LABEL_MAX_CHARS)


def _named(
    file: Path, node: Node, section: str, known: tuple[str, ...]
) -> Iterator[tuple[str, str, Node]]:
    """The keys of a mapping that may hold only these, each once; without those that say nothing."""
    seen = set()
    for name, below in pairs(node):
        where = place(file, name)
        if not is_scalar(name) or name.value not in known:
            raise _unknown(where, section, str(name.value), known)
        if name.value in seen:
            raise _twice(where, section, name.value)
        seen.add(name.value)
        if not is_null(below):
            yield where, name.value, below


def _checked(where: str, key: str, parse: Parse, written: str) -> object:
    try:
        return parse(key, written)
    except InvalidInput as error:
        raise wrong(where, key, error.problem) from None


def _unknown(where: str, section: str, name: str, known: tuple[str, ...]) -> SettingsError:
    if not WORD.fullmatch(name):
        return wrong(where, section, f"has an odd key; the keys are {', '.join(known)}")
    return wrong(where, f"{section}.{name}", f"is not a key; {nearest(name.lower(), known)}")


def _twice(where: str, key: str, name: str) -> SettingsError:
    shown = repr(name) if WORD.fullmatch(name) else "the same"
    return wrong(where, key, f"{shown} is here a second time; remove one of the two")
