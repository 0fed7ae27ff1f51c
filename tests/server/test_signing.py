"""The link that a server prints as it starts: to the person at the terminal, and into no log."""

import os
import pty
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import httpx2

from tests.server.processes import PATIENCE_SECONDS, TACIT, serving, until

LINK = re.compile(rb"(http://127\.0\.0\.1:\d+)/sign-in\?token=(tcl_\w+)")
ADDRESS = re.compile(rb"address=(http://127\.0\.0\.1:\d+)")
NONE = rb"tcl_|/sign-in\?"


def at_a_terminal(file: Path, **env: str) -> bytes:
    """What somebody who starts it at a terminal sees, until it has answered and stopped."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [*TACIT, "serve", "--db", str(file), "--port", "0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env={**os.environ, "TACIT_EMBEDDING_PROVIDER": "none", **env},
        )
    finally:
        os.close(theirs)
    seen = b""
    while b"\n" not in seen:
        seen += os.read(ours, 4_096)
    address = ADDRESS.search(_plain(seen))[1].decode()  # type: ignore[index]
    until(lambda: _answers(address))
    process.terminate()
    with suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4_096):
            seen += more
    os.close(ours)
    process.wait(PATIENCE_SECONDS)
    return _plain(seen)


def _plain(seen: bytes) -> bytes:
    """Without the colors of a terminal."""
    return re.sub(rb"\x1b\[[0-9;]*m", b"", seen)


def _answers(address: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{address}/health/live", timeout=PATIENCE_SECONDS).status_code == 200
    return False


def test_who_starts_a_server_at_a_terminal_is_given_one_link(file: Path) -> None:
    seen = at_a_terminal(file)
    link = LINK.search(seen)
    assert link is not None
    assert seen.count(b"tcl_") == 1
    assert b"address=" + link[1] in seen
    assert b"as local:me; the link works once, within 10 minutes" in seen
    assert b"tacit console --for KEY --url " + link[1] in seen


def test_there_is_none_where_there_is_no_console(file: Path) -> None:
    assert not re.search(NONE, at_a_terminal(file, TACIT_CONSOLE_ENABLED="false"))


def test_no_log_holds_what_signs_somebody_in(file: Path) -> None:
    with serving(str(file)) as served:
        (told, *_) = served.lines()
        assert told["sign_in"] == f"tacit console --for KEY --url {served.url}"
        made = subprocess.run(
            [*TACIT, "console", "--db", str(file), "--url", served.url],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        link = made.stdout.decode().strip()
        with served.asking() as client:
            assert client.get(link).status_code == 200
        served.stop()
        assert not re.search(NONE, served.log.read_bytes())
        assert served.lines()[1]["route"] == "/sign-in"
