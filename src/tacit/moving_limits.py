"""Bounds of what comes from elsewhere: data that goes with a memory, and what is built on it."""

from __future__ import annotations

# The JSON object that goes with a memory.
DATA_MAX_BYTES = 65_536
DATA_DEPTH_MAX_COUNT = 32

# Imports.
IMPORT_ITEMS_MAX_COUNT = 200  # of one call, in one transaction
IMPORT_SHOWN_COUNT = 5  # of a preview, as they would be kept
IMPORT_ID_MAX_CHARS = 1_000  # that another memory gave to something
IMPORT_TOTAL_MAX_COUNT = 100_000_000
