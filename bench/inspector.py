"""The MCP inspector's command line against Tacit: it lists and calls every tool of both profiles,
over stdio and over HTTP. Then the reference memory server and our profile of its tools are told the
same story, and answer alike.

Needs node and npm; what it needs besides is fetched into a folder (--tools). Run it with
`make test-inspector`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import anyio
import uvicorn

import tacit
from bench.inspector_reference import differences
from bench.tables import table
from tacit.server.app import create_app
from tacit.settings import Settings
from tests.tools.calling import REFERENCE, STANDARD, filled

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
SERVER = "@modelcontextprotocol/server-memory@2026.8.31"
NODE = "node@22"  # the inspector's own, where the machine's is older
PROFILES = {"standard": STANDARD, "reference": REFERENCE}
WHO = "telegram:1001"
ERAS = ("legacy", "modern")
TIMEOUT_SECONDS = 180


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", type=Path, default=Path(".venv/inspector"), metavar="FOLDER")
    tools = parser.parse_args().tools.resolve()
    # Nobody waits for a model here, nor is anything tidied up meanwhile.
    os.environ |= {"TACIT_EMBEDDING_PROVIDER": "none", "TACIT_JOBS_ON_OPEN": "false"}
    fetch(tools)
    with tempfile.TemporaryDirectory() as folder:
        rows, failures = inspected(tools, Path(folder))
        print(table(("transport and profile", "listed", "called", "failed"), rows))
        differing = anyio.run(differences, tools, Path(folder))
    print(f"\nthe reference server and our profile of it: {len(differing)} answers differ")
    for one in (*failures, *differing):
        print(f"  {one}")
    return 1 if failures or differing else 0


def fetch(tools: Path) -> None:
    """Once: a folder that has these versions already is used as it is."""
    wanted = [NODE, INSPECTOR, SERVER]
    noted = tools / "wanted.json"
    if noted.exists() and json.loads(noted.read_text()) == wanted:
        return
    if shutil.which("npm") is None:
        raise SystemExit("this needs node and npm: install them, then run it again")
    tools.mkdir(parents=True, exist_ok=True)
    flags = ["--no-audit", "--no-fund", "--silent"]
    subprocess.run(["npm", "install", *flags, "--prefix", str(tools), *wanted], check=True)
    noted.write_text(json.dumps(wanted))


def inspected(tools: Path, folder: Path) -> tuple[list[list[str]], list[str]]:
    rows: list[list[str]] = []
    failures: list[str] = []
    for profile in PROFILES:
        database = folder / f"{profile}.db"
        options = ["mcp", "--db", str(database), "--as", WHO, "--profile", profile]
        target = [sys.executable, "-m", "tacit.cli", *options]
        rows.append(_row(tools, f"stdio, {profile}", profile, target, failures))
    with served(folder / "http.db") as (address, token):
        for profile in PROFILES:
            path = "/mcp" if profile == "standard" else "/mcp/reference"
            for era in ERAS:
                reached = ["--server-url", address + path, "--transport", "http"]
                reached += ["--header", f"Authorization: Bearer {token}", "--protocol-era", era]
                name = f"HTTP, {profile}, {era}"
                rows.append(_row(tools, name, profile, reached, failures))
    return rows, failures


def _row(tools: Path, name: str, profile: str, target: Sequence[str], failures: list[str]) -> list[str]:
    calls = PROFILES[profile]
    found = _asked(tools, [*target, "--method", "tools/list", "--strict"])
    listed = {tool["name"] for tool in found.get("tools", [])}
    wrong = [f"{name}: {one} is not listed" for one, _ in calls if one not in listed]
    wrong += [f"{name}: tools/list: {found['error']}"] if "error" in found else []
    id = ""
    for tool, arguments in calls:
        given = json.dumps(filled(arguments, id))
        asked = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", given]
        answer = _asked(tools, [*target, *asked])
        if "error" in answer or answer.get("isError") or not answer.get("content"):
            wrong.append(f"{name}: {tool}: {answer}")
        elif tool == "add_to_memory":
            id = answer["structuredContent"]["id"]
    failures += wrong
    return [name, str(len(listed)), str(len(calls)), str(len(wrong))]


def _asked(tools: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """What the inspector prints, or what it complains about."""
    programs = tools / "node_modules" / ".bin"
    command = [str(programs / "mcp-inspector"), "--cli", *arguments]
    ran = subprocess.run(
        [*command, "--format", "json", "--quiet", "--connect-timeout", str(TIMEOUT_SECONDS * 1_000)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tools)},
    )
    if ran.returncode:
        return {"error": f"exit {ran.returncode}: {ran.stderr.strip()[:500]}"}
    printed: dict[str, Any] = json.loads(ran.stdout)
    inner: dict[str, Any] = printed.get("result", printed)
    return inner


@contextmanager
def served(database: Path) -> Iterator[tuple[str, str]]:
    """The address of a server, and a key to it."""
    with socket.socket() as listening, tacit.open(database, embedder=None) as memory:
        listening.bind(("127.0.0.1", 0))
        token = memory.keys.create("inspector", scopes=["read", "write"], requester=WHO).token
        made = create_app(memory, Settings(), local=False)
        server = uvicorn.Server(uvicorn.Config(made, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", token
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
