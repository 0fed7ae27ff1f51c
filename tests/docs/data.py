"""Blocks that are neither Python nor lines of a shell: settings, files of clients and apps, notes,
lines of a log, statements."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import create_engine

from tacit.notes import document
from tacit.records.notes import NoteKind
from tacit.settings import key_names, load, variable_name
from tacit.storage.schema import metadata
from tests.docs.blocks import Block
from tests.docs.checked import check
from tests.docs.world import World
from tests.server.processes import until


def read_yaml(block: Block, world: World) -> None:
    found = yaml.safe_load(block.text)
    if "display_information" in found:
        _check_slack_app(found)
    else:
        _check_settings(block)


def _check_settings(block: Block) -> None:
    file = Path(block.file or "settings-of-the-page.yaml")
    file.write_text(block.text)
    load(file, environ=os.environ, home=Path.home(), cwd=Path.cwd())


def _check_slack_app(found: dict[str, Any]) -> None:
    """What Slack sends comes to one path, in the three places that the page speaks of."""
    settings = found["settings"]
    (command,) = found["features"]["slash_commands"]
    addresses = {
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
        command["url"],
    }
    assert addresses == {"https://bot.example.org/slack/events"}


def read_json(block: Block, world: World) -> None:
    """One document, or one on each line."""
    try:
        found = json.loads(block.text)
    except json.JSONDecodeError:
        found = [json.loads(line) for line in block.text.splitlines()]
    if not isinstance(found, dict):
        return
    for server in found.get("mcpServers", {}).values():
        _check_mcp_server(server)
    if "event" in found:
        until(lambda: any(list(line) == list(found) for line in world.logged(found["event"])))


def _check_mcp_server(server: dict[str, Any]) -> None:
    if "command" in server:
        check([server["command"], *server["args"]])
        assert set(server.get("env", ())) <= {variable_name(key) for key in key_names()}
    else:
        assert server["type"] == "http"
        assert server["url"].endswith("/mcp")


def read_toml(block: Block, world: World) -> None:
    tomllib.loads(block.text)


def read_markdown(block: Block, world: World) -> None:
    """A note says in its frontmatter that it is one, and nothing in it is lost on the way."""
    if block.file is None:
        read = document.parse_note(block.text.encode(), NoteKind.SESSION)
        assert read.head.session_id, f"{block.where}: give the file a name"
        assert read.items


# What Citus would do, as far as the schema matters: it takes no table without that column.
CITUS = """
CREATE FUNCTION create_distributed_table(divided regclass, by text, colocate_with text)
RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    PERFORM attnum FROM pg_attribute
        WHERE attrelid = divided AND attname = by AND attnotnull AND NOT attisdropped;
    IF NOT FOUND THEN RAISE 'a table without a space'; END IF;
    IF colocate_with <> 'none' THEN PERFORM colocate_with::regclass; END IF;
    RETURN divided;
END $$
"""


def run_sql(block: Block, world: World) -> None:
    """On a database of ours, and taken back. With Citus every table of the schema is divided."""
    engine = create_engine(world.postgres)
    divided: set[str] = set()
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(CITUS)
            for statement in block.text.split(";\n"):
                if statement.strip():
                    found = connection.exec_driver_sql(statement.replace("%", "%%"))
                    divided |= {str(row[0]) for row in found} if found.returns_rows else set()
            connection.rollback()
    finally:
        engine.dispose()
    if "create_distributed_table" in block.text:
        assert divided == {table.name for table in metadata.sorted_tables}


READERS: dict[str, Callable[[Block, World], None]] = {
    "yaml": read_yaml,
    "json": read_json,
    "toml": read_toml,
    "markdown": read_markdown,
    "sql": run_sql,
}
