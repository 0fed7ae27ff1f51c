"""The tools of the reference memory server, by their names and forms, over this store: whoever used
those can switch, and keeps prompts and habits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tacit.errors import InvalidInput
from tacit.memory import DisabledView, View, make_inert, refuse_profile_sentence
from tacit.surfaces.tools.reference.graph import (
    PERSON,
    Entity,
    Graph,
    Relation,
    check_entity,
    check_observations,
    check_relation,
    is_named,
    named,
)
from tacit.surfaces.tools.reference.schemas import (
    DELETIONS,
    DONE,
    ENTITIES,
    GRAPH,
    NAMES,
    OBSERVED,
    QUERY,
    RELATIONS,
    TO_OBSERVE,
)
from tacit.surfaces.tools.schemas import Schema, takes
from tacit.surfaces.tools.telling import as_data
from tacit.surfaces.tools.tool import Answer, Needs, Tool

Act = Callable[[Graph, dict[str, Any]], Answer]


def reference_tools(view: View | DisabledView) -> tuple[Tool, ...]:
    """Bound to this view; none where memory is disabled."""
    if isinstance(view, DisabledView) or not view.enabled:
        return ()
    graph = Graph(view)
    return tuple(_tool(graph, *one) for one in _TOOLS)


def whole(graph: Graph) -> dict[str, Any]:
    return _shown(list(graph.entities().values()), graph.relations())


def _create_entities(graph: Graph, given: dict[str, Any]) -> Answer:
    known = graph.entities()
    new: dict[str, Entity] = {}
    for one in given["entities"]:
        entity = Entity(named(one["name"]), one["entityType"], _each(one["observations"]))
        check_entity(entity)
        _check_profile(entity, entity.observations)
        if entity.name not in known:
            new.setdefault(entity.name, entity)
    for entity in new.values():
        graph.add_entity(entity)
    return _listed("entities", [_entity(entity) for entity in new.values()])


def _create_relations(graph: Graph, given: dict[str, Any]) -> Answer:
    known = set(graph.relations())
    wanted = dict.fromkeys(_relations(given))
    for relation in wanted:
        check_relation(relation)
    new = [relation for relation in wanted if relation not in known]
    entities = graph.entities()
    for relation in new:
        graph.add_relation(relation, entities)
    return _listed("relations", [_relation(relation) for relation in new])


def _add_observations(graph: Graph, given: dict[str, Any]) -> Answer:
    entities = graph.entities()
    known = {make_inert(name): entity for name, entity in entities.items()} | entities
    for one in given["observations"]:
        name = named(one["entityName"])
        if name not in known:
            raise InvalidInput("entityName", "there is no such entity; create it first")
        check_observations(name, one["contents"])
        _check_profile(known[name], one["contents"])
    results = []
    for one in given["observations"]:
        entity = known[named(one["entityName"])]
        new = [c for c in _each(one["contents"]) if c not in entity.observations]
        graph.observe(entity, new)
        entity.observations += new
        added = [make_inert(one) for one in new]
        results.append({"entityName": make_inert(entity.name), "addedObservations": added})
    return _listed("results", results)


def _check_profile(entity: Entity, contents: Iterable[str]) -> None:
    """What a person is called is theirs to say: a tool would have to ask."""
    if entity.kind.lower() == PERSON:
        for content in contents:
            refuse_profile_sentence(content, "observations")


def _delete_entities(graph: Graph, given: dict[str, Any]) -> Answer:
    graph.remove_entities(set(map(named, given["entityNames"])))
    return _done("The entities are forgotten.")


def _delete_observations(graph: Graph, given: dict[str, Any]) -> Answer:
    for one in given["deletions"]:
        graph.remove_observations(named(one["entityName"]), set(one["observations"]))
    return _done("The observations are forgotten.")


def _delete_relations(graph: Graph, given: dict[str, Any]) -> Answer:
    for relation in _relations(given):
        check_relation(relation)
        graph.remove_relation(relation)
    return _done("The relations are forgotten.")


def _read_graph(graph: Graph, _: dict[str, Any]) -> Answer:
    return _told(whole(graph))


def _search_nodes(graph: Graph, given: dict[str, Any]) -> Answer:
    return _part(graph, lambda entity: entity.says(given["query"]))


def _open_nodes(graph: Graph, given: dict[str, Any]) -> Answer:
    names = set(map(named, given["names"]))
    return _part(graph, lambda entity: is_named(entity.name, names))


def _part(graph: Graph, wanted: Callable[[Entity], bool]) -> Answer:
    """Entities, and every relation that begins or ends at one of them."""
    found = [entity for entity in graph.entities().values() if wanted(entity)]
    names = {entity.name for entity in found}
    return _told(_shown(found, [one for one in graph.relations() if one.touches(names)]))


def _relations(given: dict[str, Any]) -> list[Relation]:
    return [
        Relation(named(one["from"]), named(one["relationType"]), named(one["to"]))
        for one in given["relations"]
    ]


def _each(contents: list[str]) -> list[str]:
    return list(dict.fromkeys(contents))


def _shown(entities: Sequence[Entity], relations: Sequence[Relation]) -> dict[str, Any]:
    return {
        "entities": [_entity(entity) for entity in entities],
        "relations": [_relation(relation) for relation in relations],
    }


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "name": make_inert(entity.name),
        "entityType": make_inert(entity.kind),
        "observations": [entity.quotes.get(one) or make_inert(one) for one in entity.observations],
    }


def _relation(relation: Relation) -> dict[str, Any]:
    return {
        "from": make_inert(relation.start),
        "to": make_inert(relation.end),
        "relationType": make_inert(relation.kind),
    }


def _listed(name: str, items: list[dict[str, Any]]) -> Answer:
    """The text has the bare list, as the reference has it."""
    return as_data(items, {name: items})


def _told(data: dict[str, Any]) -> Answer:
    return as_data(data, data)


def _done(says: str) -> Answer:
    return Answer(text=says, data={"success": True, "message": says})


_WRITES: tuple[Needs, ...] = ("read", "write")
_READS: tuple[Needs, ...] = ("read",)
# name, title, what it does, what it takes, what it returns, what it needs, whether it takes away
_TOOLS: tuple[tuple[str, str, str, Schema, Schema, tuple[Needs, ...], bool, Act], ...] = (
    (
        "create_entities",
        "Create entities",
        "Add entities to the graph: people, things, places. Those that are there stay as they are.",
        takes({"entities": ENTITIES}, "entities"),
        takes({"entities": ENTITIES}, "entities"),
        _WRITES,
        False,
        _create_entities,
    ),
    (
        "create_relations",
        "Create relations",
        "Say how entities stand to each other, in the active voice: works_at, knows.",
        takes({"relations": RELATIONS}, "relations"),
        takes({"relations": RELATIONS}, "relations"),
        _WRITES,
        False,
        _create_relations,
    ),
    (
        "add_observations",
        "Add observations",
        "Add facts to entities that are in the graph.",
        takes({"observations": TO_OBSERVE}, "observations"),
        takes({"results": OBSERVED}, "results"),
        _WRITES,
        False,
        _add_observations,
    ),
    (
        "delete_entities",
        "Delete entities",
        "Forget entities, with their observations and relations.",
        takes({"entityNames": NAMES}, "entityNames"),
        DONE,
        _WRITES,
        True,
        _delete_entities,
    ),
    (
        "delete_observations",
        "Delete observations",
        "Forget single observations of entities, by their exact words.",
        takes({"deletions": DELETIONS}, "deletions"),
        DONE,
        _WRITES,
        True,
        _delete_observations,
    ),
    (
        "delete_relations",
        "Delete relations",
        "Forget relations between entities.",
        takes({"relations": RELATIONS}, "relations"),
        DONE,
        _WRITES,
        True,
        _delete_relations,
    ),
    (
        "read_graph",
        "Read the graph",
        "All entities and relations that may be said in this conversation.",
        takes({}),
        GRAPH,
        _READS,
        False,
        _read_graph,
    ),
    (
        "search_nodes",
        "Search nodes",
        "Entities whose name, type or observations hold a text, with their relations.",
        takes({"query": QUERY}, "query"),
        GRAPH,
        _READS,
        False,
        _search_nodes,
    ),
    (
        "open_nodes",
        "Open nodes",
        "Entities by their names, with their relations.",
        takes({"names": NAMES}, "names"),
        GRAPH,
        _READS,
        False,
        _open_nodes,
    ),
)


def _tool(
    graph: Graph,
    name: str,
    title: str,
    says: str,
    parameters: Schema,
    returns: Schema,
    needs: tuple[Needs, ...],
    destructive: bool,
    act: Act,
) -> Tool:
    return Tool(
        name=name,
        title=title,
        description=says,
        parameters=parameters,
        act=lambda given: act(graph, given),
        needs=needs,
        destructive=destructive,
        idempotent=destructive or needs == _READS,
        returns=returns,
    )
