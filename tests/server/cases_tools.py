"""What Alice's model asks of every tool, of the registry and of the reference profile."""

from typing import Any

from tests.server.cases_memory import QUERIES
from tests.server.worlds import ABSENT

Given = dict[str, Any]

READS: dict[str, tuple[Given, ...]] = {
    "memory_get": (
        {"namespace": "profile", "key": "timezone"},
        {"namespace": "preference", "key": "{theirs_item}"},
        {"namespace": "goal", "key": "zqgoalz"},
    ),
    "memory_list": (
        {},
        {"namespace": "goal"},
        {"namespace": "preference", "prefix": "{theirs_item}"},
        {"limit": 1},
    ),
    "memory_query": (
        *({"query": query} for query in QUERIES),
        {"query": "Bob", "return": "full", "filters": {"user_id": "telegram:2002"}},
        {"query": "Bob", "agent": "another"},
    ),
    "search_memories": tuple({"query": query} for query in QUERIES),
    "read_file": tuple(
        {"path": path}
        for path in ("", "trips.md", "_index.md", "{theirs_file}", "{theirs_note}", "nobodys.md")
    ),
}

WRITES: dict[str, tuple[Given, ...]] = {
    "memory_put": (
        {"namespace": "profile", "key": "timezone", "value": "Europe/Madrid"},
        {"namespace": "preference", "key": "{theirs_item}", "value": "Alice likes tea"},
        {
            "namespace": "goal",
            "key": "zqgoalz",
            "value": "Alice stays",
            "visibility": "public_ok",
        },
    ),
    "add_to_memory": (
        {"content": "Ines works on the platform", "category": "person", "subject": "Ines"},
        {"content": "Bob hides zqcontentz in the cellar", "category": "context"},
    ),
    "update_memory": tuple(
        {"memory_id": id, "content": "Alice lives in Braga"}
        for id in ("{own}", "{heard}", "{theirs}", "{theirs_gone}", ABSENT)
    ),
    "add_memory": (
        {"content": "Bob feeds zqfoxz at dawn"},
        {"content": "Alice met Ines", "about": ["Ines", "zqnamez"]},
        {"content": "The team meets on Mondays"},
    ),
    "write_file": (
        {"path": "trips.md", "text": "# Trips\n\n- Faro in June\n"},
        {"path": "{theirs_file}", "text": "- Alice rows\n"},
    ),
    "memory_delete": (
        {"namespace": "preference", "key": "{theirs_item}"},
        {"namespace": "preference", "key": "nothing"},
        {"namespace": "profile", "key": "timezone"},
    ),
    "memory_delete_namespace": ({"namespace": "goal"}, {"namespace": "relationship"}),
}

REGISTRY = READS | WRITES

REFERENCE: dict[str, tuple[Given, ...]] = {
    "read_graph": ({},),
    "search_nodes": tuple({"query": query} for query in QUERIES),
    "open_nodes": ({"names": ["Ines", "Bob", "zqnamez", "Sarah"]},),
    "create_entities": (
        {"entities": [{"name": "Ines", "entityType": "person", "observations": ["rows a boat"]}]},
        {"entities": [{"name": "Bob", "entityType": "person", "observations": []}]},
    ),
    "create_relations": ({"relations": [{"from": "Ines", "to": "Bob", "relationType": "knows"}]},),
    "add_observations": (
        {"observations": [{"entityName": "Ines", "contents": ["works on the platform"]}]},
        {"observations": [{"entityName": "zqnamez", "contents": ["rows"]}]},
    ),
    "delete_observations": (
        {"deletions": [{"entityName": "Ines", "observations": ["works on the zqteamz"]}]},
        {"deletions": [{"entityName": "Ines", "observations": ["Ines works on the zqteamz"]}]},
    ),
    "delete_relations": ({"relations": [{"from": "Ines", "to": "Bob", "relationType": "knows"}]},),
    "delete_entities": ({"entityNames": ["zqnamez", "Bob"]}, {"entityNames": ["Ines"]}),
}
