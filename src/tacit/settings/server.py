"""The settings of `tacit serve`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.settings import values
from tacit.settings.upkeep import key as _key

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_PORT = re.compile(r":[0-9]{1,5}")
_ORIGIN = re.compile(r"(https?)://([^/?#@]+)")


def host(key: str, value: str) -> str:
    """Where to listen: a name or an address, without a port."""
    if _HOST.fullmatch(value):
        return value.lower()
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    if _is_ipv6(bare):
        return bare.lower()
    raise InvalidInput(key, "is not a host; write a name or an address, as in 127.0.0.1")


def allowed_host(key: str, value: str) -> str:
    """As it stands in a Host header, without its port."""
    if value.startswith("[") and value.endswith("]") and _is_ipv6(value[1:-1]):
        return value.lower()
    if _HOST.fullmatch(value):
        return value.lower()
    fix = "write a name without scheme, port and wildcard, as in memory.example.org"
    raise InvalidInput(key, f"is not a host; {fix}")


def origin(key: str, value: str) -> str:
    """As a browser sends it: scheme, host, and the port where it is not the usual one."""
    found = _ORIGIN.fullmatch(value)
    if found is not None:
        rest = found[2]
        port = _PORT.search(rest, rest.rfind("]") + 1)
        named = rest[: port.start()] if port else rest
        if (port is None or port.end() == len(rest)) and _is_host(key, named):
            return value.lower()
    raise InvalidInput(key, "is not an origin; write it as in https://app.example.org")


def _is_ipv6(value: str) -> bool:
    try:
        IPv6Address(value)
    except ValueError:
        return False
    return True


def _is_host(key: str, value: str) -> bool:
    try:
        allowed_host(key, value)
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How memory is served to others: who may reach it, and how much of it at once."""

    # Anywhere but on this machine it does not start before there are keys.
    host: str = _key(limits.SERVER_DEFAULT_HOST, host)
    # Zero: one that is free.
    port: int = _key(limits.SERVER_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # Whether who asks on this machine without a key is the one local person. Behind a proxy
    # everybody seems to be on this machine.
    local: bool = _key(True, values.flag)
    # Names in Host headers that are answered, beside this machine's own and `host`.
    allowed_hosts: tuple[str, ...] = _key((), allowed_host)
    # Web pages of these origins may ask, beside those that come from here.
    allowed_origins: tuple[str, ...] = _key((), origin)
    # Of one request, counted while it is read. What is imported may be larger.
    body_max_bytes: int = _key(
        limits.SERVER_BODY_MAX_BYTES,
        values.whole(limits.SERVER_BODY_LOWEST_BYTES, limits.SERVER_BODY_HIGHEST_BYTES),
    )
    # Of one key, or of the one local person, in each process. A key may have its own.
    rate_per_minute: int = _key(
        limits.SERVER_RATE_PER_MINUTE, values.whole(1, limits.SERVER_RATE_HIGHEST_PER_MINUTE)
    )
    # Requests that are worked on at the same time, in each process.
    threads: int = _key(
        limits.SERVER_THREADS_COUNT, values.whole(1, limits.SERVER_THREADS_MAX_COUNT)
    )
    # Processes. More than one needs PostgreSQL.
    workers: int = _key(1, values.whole(1, limits.SERVER_WORKERS_MAX_COUNT))
    # For so long a server that was told to stop finishes what it has begun.
    drain_seconds: int = _key(
        limits.SERVER_DRAIN_SECONDS, values.whole(0, limits.SERVER_DRAIN_MAX_SECONDS)
    )
    # One line for each request, without anything that somebody said or is called.
    log: Literal["json", "plain"] = _key("json", values.one_of("json", "plain"))
    # Whether models reach their tools at /mcp.
    mcp: bool = _key(True, values.flag)
