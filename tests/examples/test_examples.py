"""Every file of `examples/`, run as a reader would run it: it prints what its docstring says."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

import tacit
from tacit.settings import Settings
from tests.examples.asked import Asked, Model, reply
from tests.examples.cases import CASES, Case
from tests.language.endpoint import Reply, Seen, serving
from tests.service.serving import served

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
FILES = sorted(path.name for path in EXAMPLES.glob("*.py"))
PATIENCE_SECONDS = 60


def docstring(name: str) -> str:
    found = ast.get_docstring(ast.parse((EXAMPLES / name).read_text()))
    assert found is not None, f"{name} does not say what it is"
    return found + "\n"


def printed(said: str) -> str:
    """What it prints, as its docstring has it."""
    _, mark, rest = said.partition("\nIt prints:\n\n")
    assert mark, "no 'It prints:'"
    return dedent(rest)


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
        key = memory.create_key("example", scopes=["read", "write", "act-as"])
        told |= {"TACIT_URL": url, "TACIT_KEY": key.token}
        yield


def run(name: str, case: Case, folder: Path) -> str:
    told, asked = environment(folder), list[Asked]()
    with ExitStack() as around:
        if case.model is not None:
            around.enter_context(talking(case.model, told, asked))
        if case.served:
            around.enter_context(remembering(told))
        done = subprocess.run(
            [sys.executable, "-W", "error", str(EXAMPLES / name)],
            cwd=folder,
            env={**told, **case.environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.stderr == ""
    assert done.returncode == 0
    if case.sent is not None:
        case.sent(asked)
    return done.stdout


def test_every_example_has_a_case() -> None:
    assert sorted(CASES) == FILES


def test_every_example_is_on_the_page_of_examples() -> None:
    written = (EXAMPLES / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[([^]]+)\]\(\1\) \|", written, re.MULTILINE)) == FILES


@pytest.mark.parametrize("name", FILES)
def test_an_example_prints_what_its_docstring_says(name: str, tmp_path: Path) -> None:
    said = docstring(name)
    how = rf"^Run it.*:\n\n(    .+\n)*    .*python examples/{name}\b"
    assert re.search(how, said, re.MULTILINE)
    pattern = ".*".join(re.escape(part) for part in printed(said).split("…"))
    output = run(name, CASES[name], tmp_path)
    assert re.fullmatch(pattern, output), f"it printed:\n{output}"
