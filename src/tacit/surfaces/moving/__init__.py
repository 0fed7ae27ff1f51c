"""Moving in: what other memories kept, read, previewed and taken over.

source = moving.open("memories.json", "mem0")
moving.preview(view, source)       # what it would come to; nothing is written
moving.take_over(view, source)     # goes on where it stopped, if it is interrupted
view.revert_import(source.run)     # as if it had not been
"""

from __future__ import annotations

from tacit.surfaces.moving.records import Found, Preview, Skipped, Summary
from tacit.surfaces.moving.sources import Format, Source, from_store, open
from tacit.surfaces.moving.taking import preview, take_over

__all__ = [
    "Format",
    "Found",
    "Preview",
    "Skipped",
    "Source",
    "Summary",
    "from_store",
    "open",
    "preview",
    "take_over",
]
