"""Record what people and programs meet of Tacit: API document, tools, settings, commands, help.

    python -m tests.golden.record FOLDER

Whatever differs from run to run is replaced by placeholders: `<id 3>` is the third id that was met.
Imports of the package stay in `recorded`: modules move, and this list of them is to be short.
"""

import contextlib
import dataclasses
import importlib.metadata
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "transfer" / "samples"
FILES = ("commands.json", "help.json", "openapi.json", "settings.json", "tools.json")
PEOPLE = {
    "@alice": ["--as", "telegram:1001", "--name", "Alice"],
    "@bob": ["--as", "telegram:2002", "--name", "Bob"],
    "@group": ["--chat", "telegram:-5", "--with", "telegram:1001,Alice", "--with",
               "telegram:2002,Bob"],
}  # fmt: skip
ENVIRONMENT = {
    "COLUMNS": "1000",  # help is wrapped to the width of the terminal: here it is not
    "TZ": "UTC",
    "TACIT_EMBEDDING_PROVIDER": "none",
    "TACIT_JOBS_ON_OPEN": "false",
}
# Commands that run until they are stopped. Only their refusal to start is recorded.
NOT_RUN = {
    "serve": "a server; openapi.json holds its routes",
    "mcp": "a server; tools.json holds what it lists",
    "telegram": "a bot that waits for messages; tests/bots has its conversations",
    "slack": "a bot that waits for messages; tests/bots has its conversations",
}

Json = Any
Main = Callable[[list[str]], int]


def recorded() -> dict[str, Json]:
    """Every golden file by its name."""
    import tacit
    from tacit.server.app import create_app
    from tacit.settings import Settings, key_names, variable_name
    from tacit.tools import tools
    from tacit.tools.kits import anthropic_kit, openai_kit
    from tacit.tools.reference import reference_tools
    from tests.embeddings import tiny_onnx

    scripts = importlib.metadata.entry_points(group="console_scripts", name="tacit")
    main: Main = next(iter(scripts)).load()
    settings = Settings()
    with tacit.open("sqlite://", settings=settings, embedder=None) as memory:
        view = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
        made = create_app(memory, settings, local=True)
        tool_sets = {
            "registry": _by_name(map(_tool, tools(view))),
            "reference": _by_name(map(_tool, reference_tools(view))),
            "mcp": _mcp(made),
            "openai": _sample(openai_kit(view).tools),
            "openai responses": _sample(openai_kit(view).responses_tools),
            "anthropic": _sample(anthropic_kit(view).tools),
        }
        openapi = made.openapi()
    model = tiny_onnx.folder(Path("model"), tiny_onnx.tokens_only())
    return {
        "commands.json": _commands(main, {"samples": str(SAMPLES), "model": str(model)}),
        "help.json": _help(main),
        "openapi.json": openapi,
        "settings.json": _settings(settings, key_names(), variable_name),
        "tools.json": tool_sets,
    }


def _tool(tool: Any) -> dict[str, Json]:
    fields = {one.name: getattr(tool, one.name) for one in dataclasses.fields(tool)}
    return {name: value for name, value in fields.items() if not callable(value)}


def _by_name(tools: Any) -> dict[str, Json]:
    return {tool["name"]: tool for tool in tools}


def _sample(tools: Any) -> dict[str, Json]:
    """The form of a kit: the registry above says the same of every tool."""
    names = [tool.get("name") or tool["function"]["name"] for tool in tools]
    return {"names": names, "first": tools[0]}


def _mcp(app: Any) -> dict[str, Json]:
    """What an MCP client is told, with each of the two tool sets."""
    from starlette.testclient import TestClient

    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "golden", "version": "1"}}  # fmt: skip
    found: dict[str, Json] = {}
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50000)) as client:
        for path in ("/mcp", "/mcp/reference"):
            for method in ("initialize", "tools/list", "resources/list", "prompts/list"):
                params = hello if method == "initialize" else {}
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                accept = {"Accept": "application/json, text/event-stream"}
                answer = client.post(path, json=body, headers=accept).json()["result"]
                if method == "tools/list":
                    answer["tools"] = _by_name(answer["tools"])
                found[f"{path} {method}"] = answer
    return found


def _settings(settings: Any, keys: Any, variable: Callable[[str], str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key in keys:
        record: Any = settings
        *sections, name = key.split(".")
        for section in sections:
            record = getattr(record, section)
        field = next(one for one in dataclasses.fields(record) if one.name == name)
        found[key] = {
            "default": _plain(getattr(record, name)),
            "secret": not field.repr,
            "type": str(field.type),
            "variable": variable(key),
        }
    sections_of = {key.partition(".")[0] for key in keys}
    for field in dataclasses.fields(settings):
        if field.name not in sections_of:  # only a settings file can hold it
            value = _plain(getattr(settings, field.name))
            found[field.name] = {"default": value, "type": str(field.type), "variable": None}
    return found


def _plain(value: object) -> Json:
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} seconds"
    if isinstance(value, tuple | frozenset):
        return sorted(map(_plain, value))
    return dict(value) if isinstance(value, Mapping) else value


def _help(main: Main) -> dict[str, Json]:
    """Lines, so that a difference is easy to read."""
    whole = _ran(main, ["--help"])[1]
    found = {"tacit": whole.splitlines()}
    for command in command_names(whole):
        found[command] = _ran(main, [command, "--help"])[1].splitlines()
    return found


def command_names(text: str) -> list[str]:
    """The commands that the help text lists."""
    listed = text.partition("\ncommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^    ([\w-]+)", listed, re.MULTILINE)


def _ran(main: Main, argv: list[str], stdin: str = "") -> tuple[int, str, str]:
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = int(main(argv))
    finally:
        sys.stdin = before
    return code, out.getvalue(), err.getvalue()


def _commands(main: Main, names: dict[str, str]) -> dict[str, Json]:
    answers: dict[str, Json] = {}
    for line in (HERE / "commands.txt").read_text().splitlines():
        if " << " in line:
            file, _, text = line.partition(" << ")
            with Path(file).open("a") as written:
                written.write(text + "\n")
        elif line and not line.startswith("#"):
            capture, command = _capture(line)
            assert command not in answers, f"{command!r} stands twice in commands.txt"
            answers[command] = answer = _answer(main, command, names)
            if capture:
                name, _, path = capture.partition(":")
                names[name] = _at(answer["out"], path or "id")
    return Placeholders(names).apply(answers)


def _capture(line: str) -> tuple[str, str]:
    found = re.match(r"([a-z]+(?::\S+)?) = ", line)
    return (found[1], line[found.end() :]) if found else ("", line)


def _at(document: Json, path: str) -> str:
    for part in path.split("."):
        document = document[int(part) if isinstance(document, list) else part]
    return str(document)


def _answer(main: Main, command: str, names: dict[str, str]) -> Json:
    written, _, file = command.partition(" < ")
    argv: list[str] = []
    variables: dict[str, str] = {}
    for word in shlex.split(re.sub(r"\{(\w+)\}", lambda found: names[found[1]], written), comments=True):
        if not argv and re.match(r"TACIT_\w+=", word):
            name, _, value = word.partition("=")
            variables[name] = value
        else:
            argv += PEOPLE.get(word, [word])
    database = [] if argv == ["demo"] else ["--db", "memory.sqlite"]  # it has one of its own
    with _environment(variables):
        stdin = Path(file).read_text() if file else ""
        code, out, err = _ran(main, [*argv, *database, "--json"], stdin)
    return {"exit": code, "out": _documents(out), "err": _documents(err)}


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ |= variables
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def _documents(printed: str) -> Json:
    """One JSON document, a list of them, or the lines as they are."""
    try:
        found = [json.loads(line) for line in printed.splitlines()]
    except ValueError:
        return printed.splitlines()
    return found[0] if len(found) == 1 else found


class Placeholders:
    """Replaces what differs from run to run. Ids are those that stand in fields of ids."""

    ID_FIELDS = frozenset({
        "id", "ids", "memory", "memory_id", "other", "promoted", "quarantined", "superseded_by",
        "supersedes",
    })  # fmt: skip
    WHOLE = frozenset({"score", "tokens", "cursor", "signature", "schema", "made", "running"})
    UNORDERED = frozenset({"people", "subjects", "withheld_from"})  # sorted by random ids
    ID = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Za-z]{8}|[0-9A-Za-z]{12}|[0-9a-f]{16})(?![0-9A-Za-z])")
    TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?)?")
    SECRET = re.compile(r"(tct|tcl)_\w{12}_[\w-]{43}")
    DIGEST = re.compile(r"\b[0-9a-f]{32,64}\b")
    METRIC = re.compile(r"^(?!.*_created).*\btacit_")  # not those of the process
    RUN = re.compile(r"\b20\d{15}\b")
    REVISION = re.compile(r"\b(?<=rev )\d+")
    ASIDE = re.compile(r"(?<=before-restore-)[0-9a-f]{8}")

    def __init__(self, names: dict[str, str]) -> None:
        self._folders = {str(Path.cwd()): "<folder>", names["samples"]: "<samples>"}
        self._numbers: dict[tuple[str, object], str] = {}
        self._ids: set[str] = set()
        self._now = datetime.now(UTC)
        self._today = self._now.replace(hour=0, minute=0, second=0, microsecond=0)

    def apply(self, document: dict[str, Json]) -> dict[str, Json]:
        self._collect(document, "")
        return {command: self._replaced(answer, "") for command, answer in document.items()}

    def _collect(self, found: Json, field: str) -> None:
        if isinstance(found, dict):
            for name, value in found.items():
                self._collect(value, name)
        elif isinstance(found, list):
            for value in found:
                self._collect(value, field)
        elif isinstance(found, str):
            self._ids |= set(re.findall(r"\bperson:(\w{8})\b", found))
            if field in self.ID_FIELDS and self.ID.fullmatch(found):
                self._ids.add(found)

    def _replaced(self, found: Json, field: str) -> Json:
        if isinstance(found, dict):
            return {self._text(n): self._replaced(value, n) for n, value in found.items()}
        if isinstance(found, list):
            if field in self.UNORDERED:
                found = sorted(found, key=lambda one: self.ID.sub("", json.dumps(one)))
            return [self._replaced(value, field) for value in found]
        if field == "metrics":
            return [line for line in found.splitlines() if self.METRIC.search(line)]
        if found is not None and field in self.WHOLE:
            return f"<{field}>"
        if field == "revision":
            return self._numbered("revision", str(found))
        return self._text(found) if isinstance(found, str) else found

    def _text(self, text: str) -> str:
        for folder, name in self._folders.items():
            text = text.replace(folder, name)
        text = self.SECRET.sub(r"<\1 secret>", text)
        text = self.DIGEST.sub("<digest>", text)
        text = self.RUN.sub("<run>", text)
        text = self.ASIDE.sub("<random>", text)
        text = self.REVISION.sub(lambda found: self._numbered("revision", found[0]), text)
        text = self.TIME.sub(lambda found: self._moment(found[0]), text)
        return self.ID.sub(lambda found: self._numbered("id", found[0]) if found[0] in self._ids else found[0], text)

    def _moment(self, written: str) -> str:
        """How many days from now. What is past or far was given, and stays."""
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            return written
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        kind, now = ("time", self._now) if len(written) > 10 else ("day", self._today)
        days = round((moment - now) / timedelta(days=1))
        if not -1 <= days <= 4_000:
            return written
        return f"<{kind}{days:+}>" if days else f"<{kind}>"

    def _numbered(self, kind: str, value: object) -> str:
        first = f"<{kind} {sum(one == kind for one, _ in self._numbers) + 1}>"
        return self._numbers.setdefault((kind, value), first)


def written(document: Json) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, default=list) + "\n"


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    for name in [name for name in os.environ if name.startswith("TACIT_")]:
        del os.environ[name]
    os.environ |= ENVIRONMENT
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.chdir(home)
        try:
            found = recorded()
        finally:
            os.chdir(before)
    for name, document in found.items():
        (folder / name).write_text(written(document))


if __name__ == "__main__":
    main()
