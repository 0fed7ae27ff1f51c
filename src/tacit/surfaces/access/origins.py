"""Under which names a server answers, and to whose web pages: against pages that reach for it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import Literal

from tacit.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
# A name, or an address in brackets, and a port.
_HOST = re.compile(
    r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@]+)")
_USUAL = {"http": 80, "https": 443}


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Those of this machine, the one that is listened on, where people reach the console, and what
    the settings add."""
    host, console = settings.server.host, _origin(_console(settings))
    named = frozenset() if is_everywhere(host) else frozenset({bracketed(host)})
    reached = frozenset() if console is None else frozenset({console[1]})
    return LOOPBACK | named | reached | frozenset(settings.server.allowed_hosts)


def allowed_origins(settings: Settings) -> frozenset[str]:
    """The console's own pages come from where people reach it: behind a proxy, by another scheme
    than the server knows of."""
    console = _console(settings)
    return frozenset(settings.server.allowed_origins) | ({console} if console else set())


def _console(settings: Settings) -> str:
    """Empty: there is none, or none that is reached by a name of its own."""
    return settings.console.url if settings.console.enabled else ""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it, as far as its name or address tells."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """It stands for every address of this machine, and is none that somebody can be sent to."""
    return host in _EVERYWHERE


def host_of(header: str | None) -> str | None:
    """The name in a Host header, without its port; None where it is no name."""
    if header is None or not header.isascii():  # others fold to ours
        return None
    found = _HOST.fullmatch(header.lower())
    return None if found is None else found["name"]


def host_allowed(header: str | None, allowed: Collection[str]) -> bool:
    return host_of(header) in allowed


def origin_allowed(
    origin: str | None,
    host: str | None,
    *,
    scheme: Literal["http", "https"] = "http",
    allowed: Collection[str] = (),
) -> bool:
    """`host` and `scheme` are those of the request itself: its own pages may ask. Whoever sends no
    origin is no web page."""
    if origin is None:
        return True
    if not origin.isascii():
        return False
    if origin.lower() in allowed:
        return True
    asking, here = _origin(origin), _origin(f"{scheme}://{host}") if host else None
    return asking is not None and asking == here


def _origin(written: str) -> tuple[str, str, int] | None:
    found = _ORIGIN.fullmatch(written.lower())
    named = _HOST.fullmatch(found["host"]) if found is not None else None
    if found is None or named is None:
        return None
    port = int(named["port"]) if named["port"] else _USUAL[found["scheme"]]
    return found["scheme"], named["name"], port


def bracketed(host: str) -> str:
    """As it stands in an address."""
    return f"[{host.strip('[]')}]".lower() if ":" in host else host.lower()
