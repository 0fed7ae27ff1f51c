"""`tacit` as a process of its own: pipes, terminals, signals and odd encodings."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tacit.cli.output import ExitCode
from tests.cli.conftest import Tacit

TACIT = [sys.executable, "-m", "tacit.cli"]
ALICE = ("--as", "telegram:1001")


@pytest.fixture
def file(home: Path, migrated_file: Path, bare: Tacit) -> Path:
    """The default database of an empty home, with one memory."""
    (home / ".tacit").mkdir(mode=0o700)
    shutil.copy(migrated_file, home / ".tacit" / "tacit.sqlite")
    assert bare("remember", "Grüße ⏎ 世界 👋", *ALICE).code == 0
    return home / ".tacit" / "tacit.sqlite"


def run(*argv: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*TACIT, *argv], input=stdin, capture_output=True, env={**os.environ, **env}, check=False)


def test_the_installed_script_and_the_module_are_the_same_program(home: Path) -> None:
    script = shutil.which("tacit", path=str(Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run([script, "--help"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == run("--help").stdout
    assert subprocess.run([script, "list"], capture_output=True, check=False).returncode == 3


def test_help_loads_no_database_library(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tacit.cli", "list", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tacit.cli.parser" in loaded
    assert not {"sqlalchemy", "alembic", "yaml", "pydantic", "tacit.storage.store"} & loaded


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    done = subprocess.run([*TACIT, "remember", b"\xff\xfe", *ALICE], capture_output=True, check=False)
    assert done.returncode == ExitCode.USAGE
    assert b"Traceback" not in done.stderr


def test_an_output_that_knows_only_ascii_still_gets_everything(file: Path) -> None:
    listed = run("list", *ALICE, PYTHONIOENCODING="ascii")
    assert listed.returncode == 0
    assert b"Gr\\xfc\\xdfe \\n \\u4e16\\u754c \\U0001f44b" in listed.stdout
    exported = run("export", *ALICE, PYTHONIOENCODING="ascii")
    assert json.loads(exported.stdout)["content"] == "Grüße ⏎ 世界 👋"
    assert run("demo", PYTHONIOENCODING="ascii").returncode == 0


def test_a_reader_that_stops_reading_ends_it_quietly(file: Path) -> None:
    for argv in (("export", *ALICE), ("list", *ALICE)):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([*TACIT, *argv], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (ExitCode.PIPE, b""), argv


def test_a_full_disk_is_told_and_not_swallowed(file: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*TACIT, "list", *ALICE], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == ExitCode.SETUP
    assert done.stderr == b"tacit: No space left on device\n"


def test_closed_streams_are_no_trouble(file: Path) -> None:
    for closed in ("<&- >&-", "2>&-"):
        line = f'"$0" -m tacit.cli list --as telegram:1001 {closed}'
        done = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), closed
    line = '"$0" -m tacit.cli remember - --as telegram:1001 <&-'
    done = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, check=False)
    assert done.returncode == ExitCode.USAGE


@contextmanager
def on_a_terminal(*argv: str, **env: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*TACIT, *argv], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **env}, start_new_session=True
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, sign: bytes) -> bytes:
    seen = b""
    while sign not in seen:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # Linux says EIO when the other side is gone
            more = b""
        if not more:
            break
        seen += more
    return seen


@pytest.mark.parametrize(("answer", "code", "left"), [("", 1, 1), ("y", 0, 0)])
def test_what_cannot_be_undone_is_asked_about_on_a_terminal(
    file: Path, bare: Tacit, answer: str, code: int, left: int
) -> None:
    with on_a_terminal("wipe", *ALICE) as (process, terminal):
        asked = read_until(terminal, b"[y/N]")
        assert b"erase all memories of telegram:1001? This cannot be undone." in asked
        os.write(terminal, answer.encode() + b"\n")
        said = read_until(terminal, b"never said")
        assert process.wait() == code
    assert (b"Nothing was erased." in said) is (code == 1)
    assert bare("stats", *ALICE, "--json").json["memories"] == left


def test_interrupting_ends_it_quietly_and_nothing_is_done(file: Path, bare: Tacit) -> None:
    with on_a_terminal("wipe", *ALICE) as (process, terminal):
        read_until(terminal, b"[y/N]")
        process.send_signal(signal.SIGINT)
        said = read_until(terminal, b"never said")
        assert process.wait() == ExitCode.INTERRUPTED
    assert b"Traceback" not in said
    assert bare("stats", *ALICE, "--json").json["memories"] == 1


def test_a_long_text_is_cut_to_the_width_of_a_terminal_and_not_in_a_pipe(file: Path, bare: Tacit) -> None:
    bare("remember", "tea " * 100, *ALICE)
    with on_a_terminal("list", *ALICE, COLUMNS="60") as (process, terminal):
        shown = read_until(terminal, b"never said").decode().splitlines()
        assert process.wait() == 0
    assert len(shown[0]) == 60
    assert shown[0].endswith("…")
    assert "tea " * 99 in run("list", *ALICE).stdout.decode()
