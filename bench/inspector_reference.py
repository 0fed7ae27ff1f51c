"""One story for two servers: the reference memory server, and our profile of its tools."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "has a cat"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
ODD = {"name": "a|b 100% ø", "entityType": "thing, odd", "observations": ["x is a y"]}
WORKS = {"from": "Ann", "to": "Acme", "relationType": "works_at"}
KNOWS = {"from": "Ann", "to": "Nobody", "relationType": "knows"}
ODDER = {"from": "a|b 100% ø", "to": "Ann", "relationType": "is %| of"}

STORY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, ACME, ODD]}),
    ("create_entities", {"entities": [{**ANN, "entityType": "robot"}]}),
    ("create_relations", {"relations": [WORKS, KNOWS, ODDER]}),
    ("create_relations", {"relations": [WORKS]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["sings"]}]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["sings", "ran"]}]}),
    ("add_observations", {"observations": [{"entityName": "None", "contents": ["x"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "TEA"}),
    ("search_nodes", {"query": "company"}),
    ("search_nodes", {"query": "zebra"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Acme", "None"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["has a cat"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "None", "observations": ["x"]}]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["last"]}]}),
    ("read_graph", {}),
    ("delete_relations", {"relations": [WORKS, {**WORKS, "to": "None"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Ann", "None"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [{"name": "no type"}]}),
)
WORDS_OF_THEIR_OWN = "message"  # what was done, said in words: ours are ours


async def differences(tools: Path, folder: Path) -> list[str]:
    theirs = StdioServerParameters(
        command=str(tools / "node_modules" / ".bin" / "mcp-server-memory"),
        env={"MEMORY_FILE_PATH": str(folder / "reference.jsonl")},
    )
    options = ["mcp", "--db", str(folder / "ours.db"), "--as", "telegram:1001"]
    ours = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tacit.cli", *options, "--profile", "reference"],
        env={name: value for name, value in os.environ.items() if name.startswith("TACIT_")},
    )
    expected, found = await told(theirs), await told(ours)
    return [
        f"{number} {STORY[number][0]}: {a} / {b}"
        for number, (a, b) in enumerate(zip(expected, found, strict=True))
        if a != b
    ]


async def told(server: StdioServerParameters) -> list[str]:
    async with Client(server, read_timeout_seconds=120) as client:
        return [_answer(await client.call_tool(*call)) for call in STORY]


def _answer(answer: types.CallToolResult) -> str:
    if answer.is_error:
        return "failed"
    data: dict[str, Any] = answer.structured_content
    (part,) = answer.content
    assert isinstance(part, types.TextContent)
    if WORDS_OF_THEIR_OWN in data:
        return json.dumps({name: data[name] for name in data if name != WORDS_OF_THEIR_OWN})
    # The text is the same as data, and of the same form.
    return json.dumps([data, json.loads(part.text)])
