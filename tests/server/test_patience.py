"""Whoever connects and keeps us waiting is let go; whoever is slow, but at it, is not."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from uvicorn import Config, Server

from tacit import limits
from tacit.server.process import SilenceTimeoutProtocol

SILENCE_SECONDS = 1.5
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n"


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers with the body that it was sent."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(limits, "SERVER_IDLE_MAX_SECONDS", SILENCE_SECONDS)
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(Config(app, http=SilenceTimeoutProtocol, log_config=None, lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()
    listening.close()


def heard(connection: socket.socket) -> bytes:
    """All that is said until the other side ends it; nobody waits for ever."""
    connection.settimeout(60)
    said = b""
    try:
        while some := connection.recv(65_536):
            said += some
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize("sent", [b"", HEAD[:20], HEAD, HEAD + b"\r\nabc"])
def test_who_stops_half_way_is_let_go(address: tuple[str, int], sent: bytes) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert b"200" not in heard(connection)


def test_a_body_that_comes_bit_by_bit_is_waited_for(address: tuple[str, int]) -> None:
    pause = threading.Event()
    with socket.create_connection(address) as connection:
        connection.sendall(HEAD + b"Connection: close\r\n\r\n")
        for byte in b"abcdef":  # longer than the silence, all of it together
            pause.wait(SILENCE_SECONDS / 3)
            connection.sendall(bytes([byte]))
        assert b"\r\nabcdef\r\n" in heard(connection)
