"""Import what other memory systems kept: open a source, preview it, import it."""

from __future__ import annotations

from tacit.transfer.importers.parsing import FoundItem, ImportSummary, SkippedPart, SourcePreview
from tacit.transfer.importers.sources import (
    ImportFormat,
    ImportSource,
    import_source,
    open_source,
    open_store,
    preview_source,
)

__all__ = [
    "FoundItem",
    "ImportFormat",
    "ImportSource",
    "ImportSummary",
    "SkippedPart",
    "SourcePreview",
    "import_source",
    "open_source",
    "open_store",
    "preview_source",
]
