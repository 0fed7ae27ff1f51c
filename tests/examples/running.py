"""Runs a file of `examples/` as a reader would: in a process, an environment and an empty folder of
its own, with a model or a server at the other end where its case says so."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import tacit
from tacit.settings import Settings
from tests.examples.asked import Asked, Model, reply
from tests.examples.cases import Case
from tests.forks import FORKS, ROOT
from tests.llm.endpoint import Reply, Seen, serving
from tests.server.http_server import served

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


def run(name: str, case: Case, folder: Path) -> str:
    """What it prints. It must end well, and say nothing on standard error."""
    told, asked = environment(folder), list[Asked]()
    out, err = (folder.with_name(f"{folder.name}.{name}") for name in ("out", "err"))
    with ExitStack() as around:
        if case.model is not None:
            around.enter_context(talking(case.model, told, asked))
        if case.served:
            around.enter_context(remembering(told))
        pid = FORKS.start(
            EXAMPLES / name, folder=folder, environ=told | dict(case.environ), modules=EXAMPLES, out=out, err=err
        )
        code = FORKS.wait(pid)
    assert err.read_text() == ""
    assert code == 0
    if case.sent is not None:
        case.sent(asked)
    return out.read_text()
