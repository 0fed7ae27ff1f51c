"""Where a server listens, and whether it may: others reach it only if there are keys."""

from __future__ import annotations

import socket

from tacit.errors import SettingsError
from tacit.memory import Memory
from tacit.surfaces.access import is_loopback

_BACKLOG_COUNT = 2_048


def require_keys(memory: Memory, host: str, *, local: bool) -> None:
    """Without a key a server that is open to others would answer nobody, or everybody."""
    if local or memory.has_keys():
        return
    why = (
        f"{host} can be reached by others"
        if not is_loopback(host)
        else "server.local is off, so that nobody is let in without a key"
    )
    raise SettingsError(
        f"server.host: {why}, and there is no key yet. Make one, which is shown once:\n\n"
        "  tacit keys create NAME --scope read --scope write --for telegram:1001\n\n"
        "and start again; or serve this machine alone, with --host 127.0.0.1. docs/deploy.md "
        "tells more"
    )


def bound(host: str, port: int, group: str = "server") -> socket.socket:
    """A socket that listens there, as a group of the settings says. Port 0: one that is free."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise SettingsError(f"{group}.host: {host} is not known ({error.strerror})") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(_BACKLOG_COUNT)
    except OSError as error:
        listening.close()
        other = "--port" if group == "server" else f"{group}.port"
        fix = f"stop what is there, or choose another with {other} (0: one that is free)"
        raise SettingsError(
            f"{group}.port: cannot listen on {host}, port {port} ({error.strerror}); {fix}"
        ) from None
    return listening


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
