"""The part of a remote view that tells who would hear a memory."""

from __future__ import annotations

import builtins
from dataclasses import fields
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Visibility
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.request import Chat, Requester
from tacit.records.results import AudienceChat, AudiencePreview, AudienceReport, Explanation, Page
from tacit.surfaces.client.calling import Calling, memory_part, query, said, words

List = builtins.list


def sought(search: object) -> dict[str, Any]:
    """What is searched for, without what is not."""
    if not isinstance(search, Search):
        raise InvalidInput("search", f"expected a Search, got {type(search).__name__}")
    return said(**{one.name: getattr(search, one.name) for one in fields(search)})


class RemoteHearing(Calling):
    def explain(
        self, id: str, chat: Chat | None = None, asked_by: Requester | None = None
    ) -> Explanation:
        found: Explanation = self._ask(
            Explanation,
            f"/api/memory/{memory_part(id)}/explain",
            **said(chat=chat, asked_by=asked_by),
        )
        return found

    def rooms(self) -> List[AudienceChat]:
        return self._list_all(AudienceChat, "/api/rooms")

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        found: Page[AudiencePreview] = self._ask(
            Page[AudiencePreview],
            "/api/hearing",
            chat=chat,
            search=sought(search),
            limit=validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **said(asked_by=asked_by, cursor=words("cursor", cursor)),
        )
        return found

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        asked = query(visibility=words("visibility", visibility))
        found: AudienceReport = self._get(
            AudienceReport, f"/api/memory/{memory_part(id)}/hearers{asked}"
        )
        return found
