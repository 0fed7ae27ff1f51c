"""The settings of the console: pages where people see what is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from tacit import limits
from tacit.errors import InvalidInput
from tacit.settings import values
from tacit.settings.server import origin
from tacit.settings.upkeep import key as _key


def address(key: str, value: str) -> str:
    """Scheme and host: what leads there begins with it. Its pages know of no folder above them."""
    if not value:
        return ""
    try:
        return origin(key, value.removesuffix("/"))
    except InvalidInput:
        fix = "write it as in https://memory.example.org, with nothing after the host"
        raise InvalidInput(key, f"is not the address of a server; {fix}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    # Whether `tacit serve` has the pages, at /.
    enabled: bool = _key(True, values.flag)
    # By which people reach them: for links that bots send, and behind a proxy. Empty: none, and
    # links lead to where the server listens.
    url: str = _key("", address)
    # For so long a one-time link works.
    link_minutes: int = _key(
        limits.SIGN_IN_DEFAULT_MINUTES, values.whole(1, limits.SIGN_IN_MAX_MINUTES)
    )
    # Who does nothing for so long is signed out.
    idle_minutes: int = _key(
        limits.WEB_SESSION_IDLE_DEFAULT_MINUTES,
        values.whole(limits.WEB_SESSION_IDLE_MIN_MINUTES, limits.WEB_SESSION_IDLE_MAX_MINUTES),
    )
    # And after so long everybody is.
    session_hours: int = _key(
        limits.WEB_SESSION_DEFAULT_HOURS, values.whole(1, limits.WEB_SESSION_MAX_HOURS)
    )
