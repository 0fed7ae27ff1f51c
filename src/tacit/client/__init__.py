"""Use a memory behind a server: the same methods as a `View`, over HTTP."""

from __future__ import annotations

from tacit.client.view import Client, RemoteView

__all__ = ["Client", "RemoteView"]
