"""Lines of a shell, as far as pages have them: what is ours runs in this process."""

import io
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import httpx2

import tacit
from tacit.cli import main
from tacit.cli.output import BadUsage
from tacit.cli.parser import parse_arguments
from tests.docs.checked import ASSIGNED, check
from tests.docs.world import World
from tests.server.processes import PATIENCE_SECONDS, until

JOINS = {"&&", ";", "|", "<", ">"}
PROGRAMS = {"cat", "echo", "git", "ls", "mkdir"}
# They go on until they are stopped: each is a process of its own, where it is told or tested how.
# On other pages it is checked to be one that there is; a served memory is there all the same.
STAYING = {
    "serve": "docs/deploy.md",
    "telegram": "docs/telegram.md",
    "slack": "docs/slack.md",
    "mcp": "tests/tools/mcp/test_stdio.py",
}


@dataclass(frozen=True, slots=True)
class Ran:
    code: int = 0
    out: str = ""
    err: str = ""
    answer: httpx2.Response | None = None  # of the last request


class Shell:
    def __init__(self, world: World) -> None:
        self._world = world

    def run(self, line: str, typed: str = "") -> Ran:
        """One line with all its parts; it stops at the first that fails."""
        out, err, answer = "", "", None
        rest = self._words(line)
        while rest:
            end = next((n for n, word in enumerate(rest) if word in JOINS), len(rest))
            command, join, rest = rest[:end], rest[end : end + 1], rest[end + 1 :]
            if join == ["<"]:
                typed, rest = Path(rest[0]).read_text(), rest[1:]
            ran = self._command(command, typed)
            typed, answer, err = "", ran.answer or answer, err + ran.err
            if join == ["|"]:
                typed = ran.out
            elif join == [">"]:
                Path(rest[0]).write_text(ran.out)
                rest = rest[2:]
            else:
                out += ran.out
            if ran.code:
                return Ran(ran.code, out, err, answer)
        return Ran(0, out, err, answer)

    def _words(self, line: str) -> list[str]:
        line = re.sub(r"\$\(([^)]*)\)", lambda inner: self.run(inner[1]).out.strip(), line)
        line = re.sub(r"\$([A-Z_]+)", self._expanded, line)
        words = split(self._world.here(line))
        return [self._placed(word) for word in words]

    def _expanded(self, found: re.Match[str]) -> str:
        value = self._world.variable(found[1])
        assert value is not None, f"${found[1]} is told nowhere on the page"
        return value

    def _placed(self, word: str) -> str:
        """The reader's file system begins in a folder of ours."""
        if word.startswith("~/"):
            return str(self._world.home / word[2:])
        if word.startswith("/"):
            path = self._world.root / word[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            return str(path)
        return word

    def _command(self, words: list[str], typed: str) -> Ran:
        if words[0] == "export":
            words = words[1:]
        while words and (assigned := ASSIGNED.fullmatch(words[0])):
            self._world.set(assigned[1], self._placed(assigned[2]))
            words = words[1:]
        if not words:
            return Ran()
        name = words[0]
        if name == "tacit":
            return self._tacit(words[1:], typed)
        if name == "curl":
            return self._curl(words[1:])
        if name == "cd":
            os.chdir(words[1])
            return Ran()
        if name in PROGRAMS:
            done = subprocess.run(words, input=typed, capture_output=True, text=True, check=False)
            return Ran(done.returncode, done.stdout, done.stderr)
        if words[:3] == ["openssl", "rand", "-hex"]:  # not every machine has it
            return Ran(out=secrets.token_hex(int(words[3])))
        check(words)
        return Ran()

    def _tacit(self, words: list[str], typed: str) -> Ran:
        named = _command_of(words)
        if named in STAYING:
            return self._stay(named, words) if STAYING[named] == self._world.page else Ran()
        out, err = _Printed(), _Printed()
        held, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(typed.encode()), "utf-8")
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = int(main(words))
        finally:
            sys.stdin = held
        if made := re.search(r"^tct_\S+$", out.text, re.MULTILINE):
            self._world.token = made[0]
        return Ran(code, self._world.there(out.text), self._world.there(err.text))

    def _stay(self, named: str, words: list[str]) -> Ran:
        """Until the page ends. What it says when it is there is what it printed."""
        if named == "telegram":
            self._world.have_telegram()
        if named == "slack":
            self._world.have_slack()
        tacit.open().close()
        if named == "serve":
            self._world.have_a_port()
        log = self._world.log_of(named)
        with log.open("wb") as lines:
            process = subprocess.Popen(
                [sys.executable, "-m", "tacit.cli", *words],
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=lines,
                env={**os.environ, "TACIT_SERVER_LOG": "json"},
            )
        self._world.ends.callback(_stop, process, log)
        first = _waited(process, log)
        if address := json.loads(first).get("address"):
            httpx2.get(address, trust_env=False, timeout=PATIENCE_SECONDS)  # somebody is there
        if named == "serve":
            self._world.address = address
        return Ran(0, self._world.there(first))

    def _curl(self, words: list[str]) -> Ran:
        method, url, headers, body = "", "", {}, None
        rest = iter(words)
        for word in rest:
            if word == "-X":
                method = next(rest)
            elif word == "-H":
                name, _, value = next(rest).partition(": ")
                headers[name] = value
            elif word == "--json":
                body = next(rest)
                headers["Content-Type"] = "application/json"
            else:
                assert not word.startswith("-"), f"curl {word}: say here what it means"
                url = word
        with httpx2.Client(trust_env=False) as http:
            method = method or ("POST" if body else "GET")
            answer = http.request(method, url, headers=headers, content=body)
        if answer.status_code == 201:
            self._world.variables.setdefault("ID", answer.json()["id"])
        return Ran(0, answer.text, answer=answer)


def split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    return list(lexer)


def _command_of(words: list[str]) -> str:
    try:
        return str(parse_arguments(words).command)
    except (BadUsage, SystemExit):  # which is for the program to say
        return ""


class _Printed(io.TextIOWrapper):
    """Like a terminal's streams, with bytes below."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "utf-8", write_through=True)

    @property
    def text(self) -> str:
        found: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return found.decode()


def _waited(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Its first line: then it is there."""

    def told() -> str:
        written = log.read_text()
        if process.poll() is not None:
            raise RuntimeError(f"it did not start: {written}")
        return written.partition("\n")[0] if "\n" in written else ""

    return f"{until(told)}\n"


def _stop(process: "subprocess.Popen[bytes]", log: Path) -> None:
    process.terminate()
    try:
        code = process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
    assert code == 0, log.read_text()
