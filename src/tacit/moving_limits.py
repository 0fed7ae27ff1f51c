"""Bounds of what comes from elsewhere: data that goes with a memory, and what is built on it."""

from __future__ import annotations

# The JSON object that goes with a memory.
DATA_MAX_BYTES = 65_536
DATA_DEPTH_MAX_COUNT = 32

# Any JSON value, a checkpoint as well: what is looked at for secrets.
SCREENED_MAX_CHARS = 500_000  # of its texts and names
SCREENED_TEXT_CHARS = 20  # that each of them counts more
SCREENED_LIST_CHARS = 5  # that each list and each object counts

# Imports.
IMPORT_LINE_MAX_BYTES = 1_000_000  # of an export
IMPORT_REQUEST_MAX_CHARS = 300_000  # of the lines that one request brings
IMPORT_REQUEST_WORDINGS_MAX_COUNT = 100  # of memories in them, with their earlier versions
IMPORT_ITEMS_MAX_COUNT = 200  # of one call, in one transaction
IMPORT_ITEMS_MAX_CHARS = 100_000  # of all of them, so that one request stays below a second
IMPORT_VALUE_CHARS = 10  # that each of their values counts more
IMPORT_ID_MAX_CHARS = 1_000  # that another memory gave to something
IMPORT_TOTAL_MAX_COUNT = 100_000_000

# Tools, whose calls a model writes.
TOOL_PARTS_MAX_COUNT = 200  # of all lists that one call hands over

# Files of other memories.
MOVED_FILE_MAX_BYTES = 1_073_741_824
MOVED_RECORD_MAX_CHARS = 4_194_304  # of one record of a file, or one conversation
MOVED_RECORDS_MAX_COUNT = 1_000_000  # of one file or folder
MOVED_NOTE_MAX_BYTES = 4_194_304
MOVED_NOTES_MAX_COUNT = 100_000  # in one folder
MOVED_NOTE_DEPTH_MAX_COUNT = 32  # folders in folders
MOVED_HEAD_MAX_CHARS = 65_536  # of the frontmatter of a note
MOVED_HEAD_DEPTH_MAX_COUNT = 8
MOVED_STEP_MAX_CHARS = 80_000  # at once, so that it fits into a request however it is escaped
MOVED_PROBLEMS_SHOWN_COUNT = 20  # of what was not taken in
MOVED_SHOWN_MAX_COUNT = 1_000  # of a preview, as they would be kept
MOVED_LIVE_AT_ONCE_COUNT = 200  # items that are asked of a store at a time

# Steps of a graph. A name is part of a key, of which PostgreSQL's index takes 2,704 bytes in all.
STEP_THREAD_MAX_BYTES = 255
STEP_NS_MAX_BYTES = 800  # about fifteen subgraphs deep
STEP_CHANNEL_MAX_BYTES = 500
STEP_NAME_MAX_BYTES = 200  # ids of steps, tasks and runs, versions, types
STEP_PATH_MAX_BYTES = 4_000
STEP_PART_MAX_BYTES = 67_108_864  # of a value, a write, or a step without them
STEP_PARTS_MAX_COUNT = 10_000  # of one step: channels, or writes of one task
STEP_METADATA_MAX_CHARS = 1_000_000
STEPS_PAGE_MAX_COUNT = 100
STEP_AT_HAND_MAX_BYTES = 1_048_576  # of one that a process does not fetch again
STEPS_AT_HAND_MAX_COUNT = 32
STEP_NAMES_MAX_COUNT = 10_000  # threads or runs that are forgotten at once

# Items of a LangGraph store.
ITEMS_PAGE_COUNT = 500
ITEMS_LOOKED_AT_MAX_COUNT = 100_000  # by one search, or to tell the namespaces
ITEMS_FOUND_MAX_COUNT = 10_000  # that one search may ask for
ITEMS_RECALLED_MIN_COUNT = 50  # for a question: those of other namespaces come along
ITEM_TTL_MAX_MINUTES = 52_560_000.0  # a hundred years
