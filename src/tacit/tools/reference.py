"""The tools of the reference MCP memory server, over a graph kept as memories."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.memory import View, iter_pages, make_inert, quote_memory, refuse_profile_sentence
from tacit.records import validation
from tacit.records.memory import Memory
from tacit.tools.tool import (
    Answer,
    Schema,
    Tool,
    ToolRegistry,
    ToolScope,
    answer_with_json,
    array_schema,
    boolean_schema,
    object_schema,
    string_schema,
)

# A graph of entities, observations and relations, kept as ordinary memories under keys.
#
# `node:<name>` says what an entity is, `node:<name>|<number><digest>` is one observation of it,
# and `edge:<from>|<type>|<to>` one relation. An observation is kept with the name of its
# entity, as in "Apollo: Deadline is March", because recall shows it on its own; the graph leaves the
# name out. Each can be recalled, corrected, forgotten and erased like any memory, and the graph holds
# what may be shown here.

GRAPH_CATEGORY = "fact"
PERSON_TYPE = "person"  # the type of entities that are people to the rest of memory too
_NODE_PREFIX, _EDGE_PREFIX, _SEPARATOR = "node:", "edge:", "|"
_UNKNOWN_TYPE = "entity"
_NUMBER_CHARS = 6
_DIGEST_CHARS = 8
_NUMBER_PATTERN = re.compile(rf"[0-9]{{{_NUMBER_CHARS}}}")


@dataclass(frozen=True, slots=True)
class EntityRelation:
    start: str
    kind: str
    end: str

    @property
    def key(self) -> str:
        return _build_key(_EDGE_PREFIX, self.start, self.kind, self.end)

    @property
    def statement(self) -> str:
        return f"{self.start} {self.kind} {self.end}"

    def touches(self, names: Collection[str]) -> bool:
        return self.start in names or self.end in names


@dataclass(slots=True)
class Entity:
    name: str
    kind: str
    observations: list[str] = field(default_factory=list)
    id: str = ""  # of the memory that says what it is
    next: int = 0  # the number of the next observation: those that are gone keep theirs
    quotes: dict[str, str] = field(default_factory=dict)  # observations as a model is told of them

    @property
    def key(self) -> str:
        return _build_key(_NODE_PREFIX, self.name)

    @property
    def statement(self) -> str:
        return f"{_type_prefix(self.name)}{self.kind}"

    def says(self, query: str) -> bool:
        """Return whether a text occurs anywhere in the entity, ignoring case."""
        wanted = query.lower()
        return any(wanted in one.lower() for one in (self.name, self.kind, *self.observations))


class KnowledgeGraph:
    """The graph of a view. It is read as a whole each time, with concurrent writes."""

    def __init__(self, view: View) -> None:
        self._view = view

    def entities(self) -> dict[str, Entity]:
        """Return entities by name, oldest first."""
        found: dict[str, Entity] = {}
        said: list[tuple[str, str, str, str]] = []
        for memory in self._list_memories(_NODE_PREFIX):
            name, *rest = _split_key(_NODE_PREFIX, memory)
            if rest:
                if _NUMBER_PATTERN.match(rest[0]):  # other keys that begin alike are none of ours
                    words = _parse_observation(name, rest[0], memory.content)
                    said.append((name, rest[0], words, quote_memory(memory, words)))
            else:
                found[name] = Entity(name, _parse_entity_type(name, memory.content), id=memory.id)
        for name, numbered, content, quote in sorted(said, key=lambda one: one[:2]):
            if name in found:
                found[name].observations.append(content)
                found[name].quotes[content] = quote
                found[name].next = int(numbered[:_NUMBER_CHARS]) + 1
        return found

    def relations(self) -> list[EntityRelation]:
        parts = [_split_key(_EDGE_PREFIX, memory) for memory in self._list_memories(_EDGE_PREFIX)]
        return [EntityRelation(*three) for three in parts if len(three) == 3]

    def add_entity(self, entity: Entity) -> None:
        self._put_memory(entity, entity.key, entity.statement)
        self.observe(Entity(entity.name, entity.kind), entity.observations)

    def observe(self, entity: Entity, contents: Collection[str]) -> None:
        for number, content in enumerate(contents, start=entity.next):
            key = observation_key(entity.name, number, content)
            self._put_memory(entity, key, format_observation(entity.name, content))
        entity.next += len(contents)

    def add_relation(self, relation: EntityRelation, entities: dict[str, Entity]) -> None:
        id = self._view.put(GRAPH_CATEGORY, relation.key, relation.statement).id
        for name, side in ((relation.start, "from"), (relation.end, "to")):
            if name in entities:
                with suppress(NotFound):  # of another owner: visible, but not the caller's to relate
                    self._view.relate(id, entities[name].id, side)

    def remove_entities(self, names: Collection[str]) -> None:
        for memory in self._list_memories(_NODE_PREFIX):
            if matches_name(_split_key(_NODE_PREFIX, memory)[0], names):
                self._forget(memory)
        for relation in self.relations():
            if relation.touches(names):
                self.remove_relation(relation)

    def remove_observations(self, name: str, contents: Collection[str]) -> None:
        for memory in self._list_memories(_build_key(_NODE_PREFIX, name) + _SEPARATOR):
            words = _parse_observation(name, _split_key(_NODE_PREFIX, memory)[-1], memory.content)
            if words in contents or quote_memory(memory, words) in contents:
                self._forget(memory)

    def remove_relation(self, relation: EntityRelation) -> None:
        self._view.forget_key(GRAPH_CATEGORY, relation.key)

    def _forget(self, memory: Memory) -> None:
        with suppress(NotFound):  # of another owner, and stays; the rest is forgotten
            self._view.forget(memory.id)

    def _put_memory(self, entity: Entity, key: str, content: str) -> None:
        """Store an observation; one of a person is about them, where the name is known."""
        if entity.kind.lower() == PERSON_TYPE:
            try:
                self._view.put(GRAPH_CATEGORY, key, content, about=[entity.name])
                return
            except InvalidInput as error:
                if error.field != "about":
                    raise
        self._view.put(GRAPH_CATEGORY, key, content)

    def _list_memories(self, prefix: str) -> list[Memory]:
        """Return the memories under a key prefix, oldest first."""
        most, listed = limits.PAGE_MAX_COUNT, self._view.list
        found = iter_pages(lambda cursor: listed(GRAPH_CATEGORY, prefix=prefix, limit=most, cursor=cursor))
        return list(found)[::-1]


def normalize_name(name: str) -> str:
    """Return a name in the normal form of keys."""
    return unicodedata.normalize("NFC", name)


def matches_name(name: str, names: Collection[str]) -> bool:
    """Return whether a name is among others, also in the inert form that models see."""
    return name in names or make_inert(name) in names


def check_entity(entity: Entity) -> None:
    """Check a call before anything is written: all of it is done, or nothing."""
    _check_key(entity.key, "name")
    validation.parse_content(entity.statement, "entityType")
    check_observations(entity.name, entity.observations)


def check_observations(name: str, contents: Collection[str]) -> None:
    for content in contents:
        validation.parse_content(format_observation(name, content), "observations")


def check_relation(relation: EntityRelation) -> None:
    _check_key(relation.key, "relations")
    validation.parse_content(relation.statement, "relations")


def _check_key(key: str, field: str) -> None:
    most = limits.KEY_MAX_CHARS - len(observation_key("", 0, ""))
    if len(key) > most:
        raise InvalidInput(field, f"is too long; at most about {most} characters fit")
    validation.parse_screened_identifier(field, key, most)


def format_observation(name: str, content: str) -> str:
    """Return an observation as stored: with the name of its entity, unless it has it."""
    told = f"{_name_prefix(name)}{content}"
    if not content.strip() or len(told) > limits.CONTENT_MAX_CHARS:
        return content
    words = r"[\s_]+".join(map(re.escape, name.replace("_", " ").split()))
    is_named = words and re.search(rf"(?<!\w){words}(?!\w)", content, re.IGNORECASE)
    return content if is_named else told


def observation_key(name: str, number: int, content: str) -> str:
    """Return the key of an observation: in order, and without collisions of concurrent ones."""
    return f"{_build_key(_NODE_PREFIX, name)}{_SEPARATOR}{number:0{_NUMBER_CHARS}d}{_digest(content)}"


def _parse_observation(name: str, numbered: str, kept: str) -> str:
    """Return an observation without the name that was put before it. The key records whether one
    was; after an update, a leading name counts as ours."""
    if numbered[_NUMBER_CHARS:] == _digest(kept):
        return kept
    return kept.removeprefix(_name_prefix(name))


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]


def _name_prefix(name: str) -> str:
    return f"{name}: "


def _build_key(prefix: str, *names: str) -> str:
    return prefix + _SEPARATOR.join(one.replace("%", "%25").replace(_SEPARATOR, "%7C") for one in names)


def _split_key(prefix: str, memory: Memory) -> list[str]:
    names = (memory.key or prefix).removeprefix(prefix).split(_SEPARATOR)
    return [one.replace("%7C", _SEPARATOR).replace("%25", "%") for one in names]


def _type_prefix(name: str) -> str:
    return f"{name} is a "


def _parse_entity_type(name: str, content: str) -> str:
    """Return the type of an entity; unknown where its text was updated elsewhere."""
    said = _type_prefix(name)
    return content.removeprefix(said) if content.startswith(said) else _UNKNOWN_TYPE


# JSON schemas of arguments and results.

_NAME = string_schema("The name of an entity", minLength=1)
_OBSERVATIONS = array_schema("What is known of it, one fact each", string_schema("A fact", minLength=1))


def _whole(**properties: Schema) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties."""
    return object_schema(properties, *properties)


_ENTITIES = array_schema(
    "Entities",
    _whole(
        name=_NAME,
        entityType=string_schema("What it is: person, place, project, …", minLength=1),
        observations=_OBSERVATIONS,
    ),
)
_RELATIONS = array_schema(
    "Relations",
    object_schema(
        {
            "from": string_schema("The entity that it begins at", minLength=1),
            "to": string_schema("The entity that it ends at", minLength=1),
            "relationType": string_schema("How the first stands to the second", minLength=1),
        },
        "from",
        "to",
        "relationType",
    ),
)
_NAMES = array_schema("Names of entities", string_schema("A name"))
_ADDED = _whole(entityName=_NAME, addedObservations=_OBSERVATIONS)
_GRAPH = _whole(entities=_ENTITIES, relations=_RELATIONS)
_DONE = _whole(success=boolean_schema("Whether it was done"), message=string_schema("The same in words"))


# The tools, with the names and formats of the reference server, so that its users keep their prompts.

_tools: ToolRegistry[KnowledgeGraph] = ToolRegistry()
_READ: tuple[ToolScope, ...] = ("read",)
_WRITE: tuple[ToolScope, ...] = ("read", "write")


def reference_tools(view: View) -> tuple[Tool, ...]:
    """Return the tools of a view; none where memory is disabled."""
    return _tools.build(KnowledgeGraph(view)) if view.enabled else ()


def read_whole_graph(graph: KnowledgeGraph) -> dict[str, Any]:
    return _graph_data(list(graph.entities().values()), graph.relations())


@_tools.tool("Create entities", _WRITE, entities=_ENTITIES, returns=_whole(entities=_ENTITIES))
def create_entities(graph: KnowledgeGraph, entities: list[dict[str, Any]]) -> Answer:
    """Add entities to the graph: people, things, places. Those that are there stay as they are."""
    known = graph.entities()
    new: dict[str, Entity] = {}
    for one in entities:
        entity = Entity(normalize_name(one["name"]), one["entityType"], _remove_duplicates(one["observations"]))
        check_entity(entity)
        _check_profile(entity, entity.observations)
        if entity.name not in known:
            new.setdefault(entity.name, entity)
    for entity in new.values():
        graph.add_entity(entity)
    return _answer_list("entities", [_entity_data(entity) for entity in new.values()])


@_tools.tool("Create relations", _WRITE, relations=_RELATIONS, returns=_whole(relations=_RELATIONS))
def create_relations(graph: KnowledgeGraph, relations: list[dict[str, Any]]) -> Answer:
    """Say how entities stand to each other, in the active voice: works_at, knows."""
    known = set(graph.relations())
    wanted = dict.fromkeys(_parse_relations(relations))
    for relation in wanted:
        check_relation(relation)
    new = [relation for relation in wanted if relation not in known]
    entities = graph.entities()
    for relation in new:
        graph.add_relation(relation, entities)
    return _answer_list("relations", [_relation_data(relation) for relation in new])


@_tools.tool(
    "Add observations",
    _WRITE,
    observations=array_schema("Facts by entity", _whole(entityName=_NAME, contents=_OBSERVATIONS)),
    returns=_whole(results=array_schema("What was added, by entity", _ADDED)),
)
def add_observations(graph: KnowledgeGraph, observations: list[dict[str, Any]]) -> Answer:
    """Add facts to entities that are in the graph."""
    entities = graph.entities()
    known = {make_inert(name): entity for name, entity in entities.items()} | entities
    for one in observations:
        name = normalize_name(one["entityName"])
        if name not in known:
            raise InvalidInput("entityName", "there is no such entity; create it first")
        check_observations(name, one["contents"])
        _check_profile(known[name], one["contents"])
    results = []
    for one in observations:
        entity = known[normalize_name(one["entityName"])]
        new = [c for c in _remove_duplicates(one["contents"]) if c not in entity.observations]
        graph.observe(entity, new)
        entity.observations += new
        added = [make_inert(one) for one in new]
        results.append({"entityName": make_inert(entity.name), "addedObservations": added})
    return _answer_list("results", results)


def _check_profile(entity: Entity, contents: Iterable[str]) -> None:
    """Refuse profile facts of a person, such as their name: these need consent."""
    if entity.kind.lower() == PERSON_TYPE:
        for content in contents:
            refuse_profile_sentence(content, "observations")


@_tools.tool("Delete entities", _WRITE, entityNames=_NAMES, returns=_DONE, destructive=True, idempotent=True)
def delete_entities(graph: KnowledgeGraph, entityNames: list[str]) -> Answer:  # noqa: N803
    """Forget entities, with their observations and relations."""
    graph.remove_entities(set(map(normalize_name, entityNames)))
    return _answer_done("The entities are forgotten.")


@_tools.tool(
    "Delete observations",
    _WRITE,
    deletions=array_schema("Facts to forget, by entity", _whole(entityName=_NAME, observations=_OBSERVATIONS)),
    returns=_DONE,
    destructive=True,
    idempotent=True,
)
def delete_observations(graph: KnowledgeGraph, deletions: list[dict[str, Any]]) -> Answer:
    """Forget single observations of entities, by their exact words."""
    for one in deletions:
        graph.remove_observations(normalize_name(one["entityName"]), set(one["observations"]))
    return _answer_done("The observations are forgotten.")


@_tools.tool("Delete relations", _WRITE, relations=_RELATIONS, returns=_DONE, destructive=True, idempotent=True)
def delete_relations(graph: KnowledgeGraph, relations: list[dict[str, Any]]) -> Answer:
    """Forget relations between entities."""
    for relation in _parse_relations(relations):
        check_relation(relation)
        graph.remove_relation(relation)
    return _answer_done("The relations are forgotten.")


@_tools.tool("Read the graph", _READ, returns=_GRAPH, idempotent=True)
def read_graph(graph: KnowledgeGraph) -> Answer:
    """All entities and relations that may be said in this conversation."""
    data = read_whole_graph(graph)
    return answer_with_json(data, data)


@_tools.tool(
    "Search nodes",
    _READ,
    query=string_schema("What to look for in names, types and observations"),
    returns=_GRAPH,
    idempotent=True,
)
def search_nodes(graph: KnowledgeGraph, query: str) -> Answer:
    """Entities whose name, type or observations hold a text, with their relations."""
    return _answer_subgraph(graph, lambda entity: entity.says(query))


@_tools.tool("Open nodes", _READ, names=_NAMES, returns=_GRAPH, idempotent=True)
def open_nodes(graph: KnowledgeGraph, names: list[str]) -> Answer:
    """Entities by their names, with their relations."""
    wanted = set(map(normalize_name, names))
    return _answer_subgraph(graph, lambda entity: matches_name(entity.name, wanted))


def _answer_subgraph(graph: KnowledgeGraph, wanted: Callable[[Entity], bool]) -> Answer:
    """Return entities, and every relation that begins or ends at one of them."""
    found = [entity for entity in graph.entities().values() if wanted(entity)]
    names = {entity.name for entity in found}
    data = _graph_data(found, [one for one in graph.relations() if one.touches(names)])
    return answer_with_json(data, data)


def _parse_relations(relations: list[dict[str, Any]]) -> list[EntityRelation]:
    return [
        EntityRelation(normalize_name(one["from"]), normalize_name(one["relationType"]), normalize_name(one["to"]))
        for one in relations
    ]


def _remove_duplicates(contents: list[str]) -> list[str]:
    return list(dict.fromkeys(contents))


def _graph_data(entities: Sequence[Entity], relations: Sequence[EntityRelation]) -> dict[str, Any]:
    return {
        "entities": [_entity_data(entity) for entity in entities],
        "relations": [_relation_data(relation) for relation in relations],
    }


def _entity_data(entity: Entity) -> dict[str, Any]:
    return {
        "name": make_inert(entity.name),
        "entityType": make_inert(entity.kind),
        "observations": [entity.quotes.get(one) or make_inert(one) for one in entity.observations],
    }


def _relation_data(relation: EntityRelation) -> dict[str, Any]:
    return {
        "from": make_inert(relation.start),
        "to": make_inert(relation.end),
        "relationType": make_inert(relation.kind),
    }


def _answer_list(name: str, items: list[dict[str, Any]]) -> Answer:
    """The text has the bare list, as the reference has it."""
    return answer_with_json(items, {name: items})


def _answer_done(says: str) -> Answer:
    return Answer(says, {"success": True, "message": says})
