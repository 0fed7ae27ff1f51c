"""Every bound in the package, with its unit last in the name. Settings may lower some of them."""

from __future__ import annotations

# Text that people write.
CONTENT_MAX_CHARS = 16_000
NAME_MAX_CHARS = 200
TAG_MAX_CHARS = 64
TAGS_MAX_COUNT = 32
PEOPLE_PER_MEMORY_MAX_COUNT = 64

# Identifiers. External keys leave room for an `ext:` prefix inside an identifier column.
ID_CHARS = 8
CATEGORY_MAX_CHARS = 50
KEY_MAX_CHARS = 200
SLOT_MAX_CHARS = 200
EXTERNAL_KEY_MAX_CHARS = 190
SPACE_MAX_CHARS = 64
LABEL_MAX_CHARS = 200  # thread, agent, run, role, message ids, actor

# Scales.
IMPORTANCE_MIN = 1
IMPORTANCE_MAX = 5
IMPORTANCE_DEFAULT = 3

# Lists.
PAGE_DEFAULT_COUNT = 50
PAGE_MAX_COUNT = 500
RECALL_DEFAULT_COUNT = 5
RECALL_WORDS_MAX_COUNT = 32
RECALL_WORD_MAX_CHARS = 100
QUERY_MAX_CHARS = 2_000
DELTA_MAX_COUNT = 200

# Chats. Whom we do not list among the listeners has heard nothing, which is the safe side.
PARTICIPANTS_MAX_COUNT = 1_000

# Links. One person's identities, now and ever.
IDENTITIES_PER_PERSON_MAX_COUNT = 256

# Imports.
IMPORT_LINE_MAX_BYTES = 1_000_000

# Lifecycle.
RESTORABLE_DAYS = 30
KIND_TTL_DAYS = {"context": 7, "event": 30, "task": 14, "observation": 3}

# The store.
SQLITE_BUSY_TIMEOUT_MS = 5_000
WRITE_WAIT_MAX_SECONDS = 60.0
ERASE_WAIT_MAX_SECONDS = 30.0
ID_ATTEMPTS_MAX_COUNT = 8
COLLISIONS_MAX_COUNT = 8  # of one write with others that wrote the same thing first
POOL_MAX_CONNECTIONS = 8
POOL_WAIT_MAX_SECONDS = 30.0
IDENTITY_CACHE_MAX_COUNT = 4_096
AUDIENCE_CACHE_MAX_COUNT = 4_096

# Settings.
SETTINGS_FILE_MAX_BYTES = 1_000_000
DSN_MAX_CHARS = 4_096
CONNECTIONS_MAX_COUNT = 1_000
TTL_MAX_DAYS = 36_500
BUSY_TIMEOUT_MAX_MS = 60_000
