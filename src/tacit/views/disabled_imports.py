"""The part of the view of nobody that takes over another memory: nothing of it."""

from __future__ import annotations

from tacit import limits
from tacit.records.drafts import ImportItems, ImportPreview, ImportRun, ImportStep, RevertedImport
from tacit.records.results import Page


class DisabledImports:
    def preview_items(self, items: ImportItems, *, source: str) -> ImportPreview:
        return ImportPreview()

    def import_items(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        return ImportStep()

    def imports(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ImportRun]:
        return Page()

    def revert_import(self, run: str) -> RevertedImport:
        return RevertedImport(run="")
