"""What the reference memory server's tools take and return, as JSON schemas."""

from __future__ import annotations

from tacit.surfaces.tools.schemas import flag, several, takes, words

_NAME = words("The name of an entity", minLength=1)
_OBSERVATIONS = several("What is known of it, one fact each", words("A fact", minLength=1))
_ENTITY = takes(
    {
        "name": _NAME,
        "entityType": words("What it is: person, place, project, …", minLength=1),
        "observations": _OBSERVATIONS,
    },
    "name",
    "entityType",
    "observations",
)
_RELATION = takes(
    {
        "from": words("The entity that it begins at", minLength=1),
        "to": words("The entity that it ends at", minLength=1),
        "relationType": words("How the first stands to the second", minLength=1),
    },
    "from",
    "to",
    "relationType",
)

ENTITIES = several("Entities", _ENTITY)
RELATIONS = several("Relations", _RELATION)
NAMES = several("Names of entities", words("A name"))
QUERY = words("What to look for in names, types and observations")
TO_OBSERVE = several(
    "Facts by entity",
    takes({"entityName": _NAME, "contents": _OBSERVATIONS}, "entityName", "contents"),
)
OBSERVED = several(
    "What was added, by entity",
    takes(
        {"entityName": _NAME, "addedObservations": _OBSERVATIONS},
        "entityName",
        "addedObservations",
    ),
)
DELETIONS = several(
    "Facts to forget, by entity",
    takes({"entityName": _NAME, "observations": _OBSERVATIONS}, "entityName", "observations"),
)
GRAPH = takes({"entities": ENTITIES, "relations": RELATIONS}, "entities", "relations")
DONE = takes(
    {"success": flag("Whether it was done"), "message": words("The same in words")},
    "success",
    "message",
)
