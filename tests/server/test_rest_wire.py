"""The app behind a real server: what only bytes on a connection can show."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

import tacit
from tests.contract.rooms import SetClock
from tests.server.conftest import settings
from tests.server.http_server import served

PART = b"8000\r\n" + b" " * 0x8000 + b"\r\n"  # as chunked bodies are written
POST = b"POST /api/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
COUNT = b"GET /api/count HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def memory() -> Iterator[tacit.Memory]:
    with tacit.open("sqlite://", clock=SetClock(), embedder=None, settings=settings()) as memory:
        yield memory


@pytest.fixture(scope="module")
def url(memory: tacit.Memory) -> Iterator[str]:
    with served(memory, settings(), local=True) as url:
        yield url


@pytest.fixture
def address(url: str) -> tuple[str, int]:
    found = urlsplit(url)
    assert found.hostname is not None
    assert found.port is not None
    return found.hostname, found.port


def ask(address: tuple[str, int], *parts: bytes) -> bytes:
    """Everything that comes back until the other side hangs up, or has said enough."""
    with socket.create_connection(address, timeout=60) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # they had heard enough
        found = b""
        try:
            while not _whole(found) and (more := connection.recv(65_536)):
                found += more
        except ConnectionResetError:
            pass
        return found


def _whole(found: bytes) -> bool:
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(lengths) and len(body) >= int(lengths[0].partition(b":")[2])


def test_a_body_in_parts_is_counted_while_it_is_read(address: tuple[str, int]) -> None:
    begun = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    whole = ask(address, begun, b'15\r\n{"content": "a fact"}\r\n', PART, b"0\r\n\r\n")
    assert whole.startswith(b"HTTP/1.1 200 ")
    answer = ask(address, begun, *[PART] * 33)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b"urn:tacit:problem:too-large" in answer


def test_a_length_that_is_too_long_is_refused_before_it_is_sent(address: tuple[str, int]) -> None:
    answer = ask(address, POST + b"Content-Length: 2000000\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()


def test_whoever_hangs_up_in_the_middle_harms_nobody(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    before = ask(address, COUNT)
    for sent in (POST + b"Content-Length: 500\r\n\r\n{", POST, b"GET /api/co", COUNT):
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(sent)
    assert ask(address, COUNT).rpartition(b"\n")[2] == before.rpartition(b"\n")[2]
    assert caplog.text == ""


def test_a_thousand_people_can_be_named_and_far_too_much_is_told_so(memory: tacit.Memory, url: str) -> None:
    key = memory.keys.create("adapter", scopes=["read", "act-as"]).token
    names = [tacit.Requester(f"telegram:{10**9 + n}", name="Ж" * 100) for n in range(1_000)]
    with tacit.connect(url, key) as client:
        crowd = tacit.Chat.group("telegram:-5", names)
        assert client.view("telegram:1000000001", crowd).count() == 0
        long = [tacit.Requester(one.key, "Ж" * 200, "Ж" * 200) for one in names]
        crowd = tacit.Chat.group("telegram:-5", long)
        with pytest.raises(tacit.InvalidInput, match="leave out the names of participants"):
            client.view("telegram:1000000001", crowd)


def test_headers_that_are_too_large_are_told_so(address: tuple[str, int]) -> None:
    answer = ask(address, COUNT[:-2] + b"X-Tacit-Name: " + b"x" * 1_100_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"urn:tacit:problem:headers-too-large" in answer


def test_an_export_is_sent_in_parts(address: tuple[str, int]) -> None:
    answer = ask(address, b"GET /api/export HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert b"transfer-encoding: chunked" in answer.lower()
    assert answer.endswith(b"0\r\n\r\n")


def test_two_hosts_are_no_host(address: tuple[str, int]) -> None:
    answer = ask(address, b"GET /api/count HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 421 "))
