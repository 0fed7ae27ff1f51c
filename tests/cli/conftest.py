"""The command line as tests run it: in process, in a home of its own, with what it printed."""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tacit.cli import main
from tests.embeddings import tiny_onnx


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def error(self) -> Any:
        (line,) = self.err.splitlines()
        return json.loads(line)["error"]


Tacit = Callable[..., Ran]

OWN_SETTINGS = tuple(
    f"TACIT_{section}"
    for section in (
        "DB", "MEM", "CONF", "EMBEDDING", "RECALL", "PROMPT", "LEARN", "LANGUAGE", "EVENTS",
        "METRICS", "NOTES", "REFLECT", "CONSOLIDATE", "SERVER", "CONSOLE", "CHAT", "TELEGRAM",
        "SLACK",
    )
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and current folder, and none of the developer's own settings. Recall goes by
    words alone, unless a test sets a model: loading one takes longer than most tests."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in [n for n in os.environ if n.startswith(OWN_SETTINGS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TACIT_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def bare(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tacit:
    """`tacit` with the arguments as they are. Whatever it does, it shows no traceback."""

    def run(*argv: str, stdin: bytes = b"") -> Ran:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            code = main(list(argv))
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert "\x1b" not in printed.out + printed.err
        return Ran(int(code), printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables that choose a model of a few bytes."""
    folder = tiny_onnx.folder(tmp_path_factory.mktemp("model"), tiny_onnx.tokens_only())
    return {"TACIT_EMBEDDING_PROVIDER": "folder", "TACIT_EMBEDDING_FOLDER": str(folder)}


@pytest.fixture
def on_file(bare: Tacit, tmp_path: Path, migrated_file: Path) -> Tacit:
    """`tacit` on a SQLite file; copied, because migrating one for every test takes longer."""
    path = tmp_path / "memory.sqlite"
    shutil.copy(migrated_file, path)
    return _at(bare, str(path))


@pytest.fixture
def tacit(bare: Tacit, database_url: str) -> Tacit:
    """`tacit` on the database of the test."""
    return _at(bare, database_url)


def _at(bare: Tacit, url: str) -> Tacit:
    return lambda *argv, stdin=b"": bare("--db", url, *argv, stdin=stdin)
