"""The part of a remote view that takes over another memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from itertools import islice
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.drafts import (
    ImportItem,
    ImportItems,
    ImportPreview,
    ImportRun,
    ImportStep,
    RevertedImport,
)
from tacit.records.results import Page
from tacit.surfaces.client.calling import Calling, query, said, sendable, words


class RemoteImports(Calling):
    def preview_items(self, items: ImportItems, *, source: str) -> ImportPreview:
        found: ImportPreview = self._ask(
            ImportPreview, "/api/imports/preview", items=_sent(items), source=source
        )
        return found

    def import_items(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        done: ImportStep = self._write(
            ImportStep,
            "POST",
            "/api/imports",
            run=run,
            items=_sent(items),
            source=source,
            **said(total=total, after=after),
        )
        return done

    def imports(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ImportRun]:
        asked = query(limit=limit, cursor=words("cursor", cursor))
        page: Page[ImportRun] = self._get(Page[ImportRun], f"/api/imports{asked}")
        return page

    def revert_import(self, run: str) -> RevertedImport:
        done: RevertedImport = self._write(RevertedImport, "POST", "/api/imports/revert", run=run)
        return done


def _sent(items: object) -> list[Any]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items", "expected a list of them, each with a content")
    return [_item(one) for one in islice(items, limits.IMPORT_ITEMS_MAX_COUNT + 1)]


def _item(item: object) -> Any:
    """What cannot be sent is refused by its place, as anything else that is no item."""
    if isinstance(item, ImportItem):
        item = said(**{one.name: getattr(item, one.name) for one in fields(item)})
    if not isinstance(item, Mapping):
        return None
    try:
        return sendable("items", {name: _timed(value) for name, value in item.items()})
    except InvalidInput:
        return None


def _timed(value: object) -> object:
    """A time without a zone would be taken for one of UTC when it is text."""
    naive = isinstance(value, datetime) and value.utcoffset() is None
    return "" if naive else value
