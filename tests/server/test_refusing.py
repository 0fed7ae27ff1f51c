"""A server that must not start does not, and says what to do instead."""

import re
import shlex
import socket
from pathlib import Path

import pytest

from tacit.cli import main
from tacit.cli.output import ExitCode
from tests.server.processes import Serving, serving


def refused(capsys: pytest.CaptureFixture[str], file: Path, *argv: str) -> str:
    code = main(["serve", "--db", str(file), *argv])
    assert code == ExitCode.SETUP
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example.org"])
def test_without_a_key_nobody_else_is_served(file: Path, capsys: pytest.CaptureFixture[str], host: str) -> None:
    told = refused(capsys, file, "--host", host)
    assert f"{host} can be reached by others, and there is no key yet" in told
    assert "tacit keys create" in told


def test_behind_a_proxy_a_key_is_needed_too(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_SERVER_LOCAL", "false")
    assert "server.local is off" in refused(capsys, file)


def test_the_command_that_it_names_makes_it_start(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(capsys, file, "--host", "0.0.0.0")
    (named,) = re.findall(r"^ +tacit (keys create .*)$", told, re.MULTILINE)
    assert main(["--db", str(file), *shlex.split(named)]) == ExitCode.OK
    (token,) = re.findall(r"tct_\w+_[\w-]+", capsys.readouterr().out)
    with serving(str(file), "--host", "0.0.0.0") as served:
        here = Serving(process=served.process, log=served.log, url=served.url.replace("0.0.0.0", "127.0.0.1"))
        with here.asking() as stranger, here.asking(Authorization=f"Bearer {token}") as known:
            assert stranger.get("/api/memory/").status_code == 401
            assert known.get("/api/memory/").status_code == 200


def test_a_key_that_was_revoked_opens_nothing_and_counts_for_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--db", str(file), "keys", "create", "old", "--scope", "admin"]) == ExitCode.OK
    (id,) = re.findall(r"tct_([^_\s]+)_", capsys.readouterr().out)
    assert main(["--db", str(file), "keys", "revoke", id]) == ExitCode.OK
    capsys.readouterr()
    assert "there is no key yet" in refused(capsys, file, "--host", "0.0.0.0")


def test_more_than_one_process_needs_postgresql(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "server.workers: more than one process needs PostgreSQL" in refused(capsys, file, "--workers", "2")


def test_a_port_that_is_taken_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(capsys, file, "--port", str(port))
    assert f"cannot listen on 127.0.0.1, port {port}" in told
    assert "--port" in told


@pytest.mark.parametrize("argv", [("--port", "65536"), ("--workers", "0"), ("--host", "http://x"), ("--host", "a b")])
def test_what_is_no_host_port_or_number_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], argv: tuple[str, str]
) -> None:
    assert main(["serve", "--db", str(file), *argv]) == ExitCode.USAGE
    assert argv[0] in capsys.readouterr().err
