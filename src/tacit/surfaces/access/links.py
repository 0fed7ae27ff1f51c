"""Where a link that signs somebody in leads: to the console, by the address that people use."""

from __future__ import annotations

from tacit.settings import Settings
from tacit.surfaces.access.origins import bracketed, is_everywhere

PATH = "/sign-in"
_HERE = "127.0.0.1"


def link_to(console: str, token: str) -> str:
    return f"{console}{PATH}?token={token}"


def console_at(settings: Settings) -> str | None:
    """None where only the server itself knows its port."""
    if settings.console.url:
        return settings.console.url
    host, port = settings.server.host, settings.server.port
    named = _HERE if is_everywhere(host) else bracketed(host)
    return f"http://{named}:{port}" if port else None
