"""Tools by their names, and a call of each of them that makes sense."""

from typing import Any

from tacit.memory import View
from tacit.tools import Answer, tools
from tacit.tools.reference import reference_tools

ANN: dict[str, Any] = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
WORKS: dict[str, Any] = {"from": "Ann", "to": "Acme", "relationType": "works_at"}

# In this order each finds what an earlier one left. `{id}` stands for a memory's id.
STANDARD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_put", {"namespace": "profile", "key": "timezone", "value": "Europe/Lisbon"}),
    ("memory_get", {"namespace": "profile", "key": "timezone"}),
    ("memory_list", {"namespace": "profile", "prefix": "time", "limit": 50}),
    ("add_to_memory", {"content": "Sarah works at Acme", "category": "person", "subject": "Sarah"}),
    ("update_memory", {"memory_id": "{id}", "content": "Sarah works at Globex"}),
    ("add_memory", {"content": "The standup is at nine", "type": "knowledge"}),
    ("memory_query", {"query": "where does Sarah work?", "top_k": 3, "return": "bullets"}),
    ("search_memories", {"query": "standup"}),
    ("write_file", {"path": "trips.md", "text": "- Lisbon in May\n"}),
    ("read_file", {"path": "trips.md"}),
    ("memory_delete", {"namespace": "profile", "key": "timezone"}),
    ("memory_delete_namespace", {"namespace": "person"}),
)
REFERENCE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("create_entities", {"entities": [ANN]}),
    ("create_relations", {"relations": [WORKS]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["has a cat"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "tea"}),
    ("open_nodes", {"names": ["Ann"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["likes tea"]}]}),
    ("delete_relations", {"relations": [WORKS]}),
    ("delete_entities", {"entityNames": ["Ann"]}),
)


def call(view: View, name: str, **arguments: Any) -> Answer:
    found = {tool.name: tool for tool in (*tools(view), *reference_tools(view))}
    return found[name].call(arguments)


def data(view: View, name: str, **arguments: Any) -> Any:
    """What a call answers with, which did not fail."""
    answer = call(view, name, **arguments)
    assert not answer.failed, answer.text
    return answer.data


def filled(arguments: dict[str, Any], id: str) -> dict[str, Any]:
    return {name: id if value == "{id}" else value for name, value in arguments.items()}
