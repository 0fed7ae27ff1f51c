"""Runs a file of `examples/` as a reader would: in a process, an environment and an empty folder of
its own, with a model or a server at the other end where its case says so."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import tacit
from tacit.settings import Settings
from tests.examples.asked import Asked, Model, reply
from tests.examples.cases import Case
from tests.llm.endpoint import Reply, Seen, serving
from tests.server.http_server import served

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


def environment(folder: Path) -> dict[str, str]:
    """A reader's, without anything of ours. Recall goes by words: what is printed is the same with
    a model for meaning."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "TACIT_EMBEDDING_PROVIDER": "none",
        "TACIT_JOBS_ON_OPEN": "false",
    }


@contextmanager
def talking(model: Model, told: dict[str, str], asked: list[Asked]) -> Iterator[None]:
    def answer(seen: Seen) -> Reply:
        asked.append(Asked(seen.body, seen.path))
        return reply(model, seen)

    with serving() as endpoint:
        endpoint.always = answer
        told |= {
            "MODEL": "scripted",
            "OPENAI_API_KEY": "sk-example",
            "OPENAI_BASE_URL": f"{endpoint.url}/v1",
            "ANTHROPIC_API_KEY": "sk-ant-example",
            "ANTHROPIC_BASE_URL": endpoint.url,
        }
        yield
        assert endpoint.strangers == []


@contextmanager
def remembering(told: dict[str, str]) -> Iterator[None]:
    with tacit.open("sqlite://", embedder=None) as memory, served(memory, Settings()) as url:
        key = memory.keys.create("example", scopes=["read", "write", "act-as"])
        told |= {"TACIT_URL": url, "TACIT_KEY": key.token}
        yield


@dataclass(frozen=True)
class Runner:
    _process: "subprocess.Popen[str]"

    def run(self, name: str, case: Case, folder: Path) -> str:
        """What it prints. It must end well, and say nothing on standard error."""
        told, asked = environment(folder), list[Asked]()
        with ExitStack() as around:
            if case.model is not None:
                around.enter_context(talking(case.model, told, asked))
            if case.served:
                around.enter_context(remembering(told))
            code, out, err = self._forked(EXAMPLES / name, told | dict(case.environ), folder)
        assert err == ""
        assert code == 0
        if case.sent is not None:
            case.sent(asked)
        return out

    def _forked(self, path: Path, told: dict[str, str], folder: Path) -> tuple[int, str, str]:
        out, err = (folder.with_name(f"{folder.name}.{name}") for name in ("out", "err"))
        line = {"path": path, "folder": folder, "environ": told, "out": out, "err": err}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(line, default=str) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return code, out.read_text(), err.read_text()


@contextmanager
def runner() -> Iterator[Runner]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.examples.forked"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Runner(process)
        assert process.stdin is not None
        process.stdin.close()  # after which it ends
