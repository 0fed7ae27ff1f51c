"""A view behind a server: every word of `View`, with the same results and the same errors."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from tacit import limits
from tacit.records import validation
from tacit.surfaces.client.activity import RemoteActivity
from tacit.surfaces.client.browsing import RemoteBrowsing
from tacit.surfaces.client.hearing import RemoteHearing
from tacit.surfaces.client.importing import RemoteImports
from tacit.surfaces.client.linking import RemoteLinking
from tacit.surfaces.client.noting import RemoteNotes
from tacit.surfaces.client.reading import RemoteReads
from tacit.surfaces.client.recalling import RemoteRecall
from tacit.surfaces.client.writing import RemoteWrites


class RemoteView(
    RemoteReads,
    RemoteHearing,
    RemoteActivity,
    RemoteBrowsing,
    RemoteRecall,
    RemoteWrites,
    RemoteNotes,
    RemoteLinking,
    RemoteImports,
):
    """Made by `Client.view`. Cheap: the server is asked when you ask, and judges then who you
    are. What each word does is said at the same word of `tacit.View`."""

    @property
    def enabled(self) -> bool:
        return bool(self._standing()["enabled"])

    @property
    def why_disabled(self) -> str | None:
        why: str | None = self._standing().get("why_disabled")
        return why

    def once(self, key: str) -> RemoteView:
        """The same view, whose next write is done once under this key, however often it is sent."""
        given = validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)
        if not given.isascii() or " " in given:  # a header takes nothing else
            given = f"sha256-{sha256(given.encode()).hexdigest()}"
        return replace(self, _given=given)

    def _standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self._get(dict[str, Any], "/api/view")
        return found
