"""The app of a memory behind a real server, on a port of this machine that is free."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tacit import limits
from tacit.memory import Memory
from tacit.server.app import create_app
from tacit.settings import Settings

PATIENCE_SECONDS = 60


@contextmanager
def served(memory: Memory, settings: Settings, *, local: bool = False) -> Iterator[str]:
    """Says the address. The memory stays open when the server is gone."""
    with running(create_app(memory, settings, local=local)) as url:
        yield url


@contextmanager
def running(asked: Any) -> Iterator[str]:
    # Said to be TCP: only then does asyncio send the parts of an answer without waiting.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    most = 2 * limits.SERVER_HEADERS_MAX_BYTES  # what is over the limit is told so by the app
    server = uvicorn.Server(
        uvicorn.Config(asked, log_config=None, access_log=False, h11_max_incomplete_event_size=most)
    )
    begun = threading.Event()
    thread = threading.Thread(target=_serve, args=(server, listening, begun), daemon=True)
    thread.start()
    if not begun.wait(PATIENCE_SECONDS):
        raise TimeoutError("the server did not start")
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listening.close()


def _serve(server: uvicorn.Server, listening: socket.socket, begun: threading.Event) -> None:
    started = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await started(sockets=sockets)
        begun.set()

    server.startup = startup  # type: ignore[method-assign]
    server.run(sockets=[listening])
