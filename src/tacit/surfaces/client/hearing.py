"""The part of a remote view that tells who would hear a memory."""

from __future__ import annotations

import builtins
from dataclasses import fields
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.model import text
from tacit.model.chat import Chat, Requester
from tacit.model.hearing import Hearers, Hearing, Room
from tacit.model.results import Explanation, Page
from tacit.model.search import EVERYTHING, Search
from tacit.model.words import Visibility
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

    def rooms(self) -> List[Room]:
        return self._list_all(Room, "/api/rooms")

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = EVERYTHING,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Hearing]:
        found: Page[Hearing] = self._ask(
            Page[Hearing],
            "/api/hearing",
            chat=chat,
            search=sought(search),
            limit=text.whole("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **said(asked_by=asked_by, cursor=words("cursor", cursor)),
        )
        return found

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> Hearers:
        asked = query(visibility=words("visibility", visibility))
        found: Hearers = self._get(Hearers, f"/api/memory/{memory_part(id)}/hearers{asked}")
        return found
