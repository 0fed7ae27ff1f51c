"""A memory behind a server: the same words as a `View`, over HTTP."""

from __future__ import annotations

from tacit.surfaces.client.client import Client
from tacit.surfaces.client.view import RemoteView

__all__ = ["Client", "RemoteView"]
