"""Every limit of the package. Each name ends with its unit; settings may lower some limits."""

from __future__ import annotations

# Text that people write.
CONTENT_MAX_CHARS = 16_000
NAME_MAX_CHARS = 200
TAG_MAX_CHARS = 64
TAGS_MAX_COUNT = 32
PEOPLE_PER_MEMORY_MAX_COUNT = 64
MESSAGES_MAX_COUNT = 500  # in one call
MESSAGES_MAX_CHARS = 80_000  # in one call, so that a request takes less than a second

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
REVISION_MAX = 2**53 - 1  # versions and revisions; up to here numbers in JSON are exact everywhere

# Lists.
PAGE_DEFAULT_COUNT = 50
PAGE_MAX_COUNT = 500
RECALL_DEFAULT_COUNT = 5
RECALL_MAX_COUNT = 500
QUERY_DEFAULT_COUNT = 3
RECALL_TERMS_MAX_COUNT = 64  # of a query; more terms hardly change the ranking
RELATED_MAX_COUNT = 2  # related memories added to a result
RECALL_WORDS_MAX_COUNT = 32
RECALL_WORD_MAX_CHARS = 100
QUERY_MAX_CHARS = 200_000  # of which QUESTION_MAX_CHARS are used
QUESTION_MAX_CHARS = 2_000
DELTA_MAX_COUNT = 200

# In-memory index. A request with more memories than this is served by candidate generation.
PERMITTED_SET_MAX_COUNT = 100_000  # memories that one request may see
INDEX_CATCH_UPS_MAX_COUNT = 100  # retries while other writers change the index
PERMITTED_SETS_TOTAL_MAX_COUNT = 1_000_000
PERMITTED_SETS_CACHED_MAX_COUNT = 1_024
INDEX_CACHE_MAX_COUNT = 250_000  # memories with their vectors: about 1.7 kB each
CANDIDATES_COUNT = 500
VECTORS_INDEXED_FROM_COUNT = 100_000  # on PostgreSQL, by `maintain`
RELATIONS_PER_MEMORY_MAX_COUNT = 2
EMBEDDING_BATCH_COUNT = 64
EMBEDDING_INLINE_MAX_CHARS = 1_500  # that one write embeds inline; a long text counts as 256
CLOSE_WAIT_MAX_SECONDS = 2.0
INDEXING_PAUSE_MAX_SECONDS = 1.0

# Chats. A participant beyond this number counts as absent, which discloses less.
PARTICIPANTS_MAX_COUNT = 1_000

# Links. Identities of one person, past ones included.
IDENTITIES_PER_PERSON_MAX_COUNT = 256

# Lifecycle.
RESTORABLE_DAYS = 30
DOCTOR_IDS_MAX_COUNT = 20  # listed per check
DOCTOR_REPAIR_BATCH_COUNT = 50  # in one transaction
PURGE_OVERDUE_DAYS = 7  # the purge job runs daily; later means that it does not run
KIND_TTL_DAYS = {"context": 7, "event": 30, "task": 14, "observation": 3}
FADE_AFTER_DEFAULT_DAYS = 60
FADE_BELOW_DEFAULT_IMPORTANCE = 3
EVICTION_MIN_AGE_DAYS = 7  # younger memories are never evicted
EVICTION_HALF_LIFE_DAYS = 30.0
MEMORIES_PER_OWNER_MAX_COUNT = 1_000_000  # highest cap that settings accept
SWEEP_BATCH_COUNT = 200  # rows in one transaction of a sweep or a purge
CLOCK_JUMP_MAX_DAYS = 7  # since the last sweep; an operator must accept a longer jump
CLOCK_BACK_MAX_SECONDS = 3_600  # behind the last sweep
DAILY_COUNTS_KEEP_DAYS = 14  # counts of what was learned per person and day
CHANGES_KEEP_DAYS = 90  # for deltas

# Scheduled jobs. Settings give the interval; spaces are spread over it.
JOBS_EVERY_HOURS = {"expire": 1, "purge": 6, "consolidate": 24, "reflect": 24, "reembed": 24, "summarise": 24}
JOBS_EVERY_MIN_SECONDS = 60
JOBS_EVERY_MAX_SECONDS = 366 * 86_400
LEASE_SECONDS = 10.0  # after which another worker takes over from a killed one
LEASE_RENEWAL_SECONDS = 2.0  # how often a live worker renews its leases
LEASE_HELD_MAX_SECONDS = 900.0  # of one step with its model calls; longer counts as hung
JOBS_PLAN_SECONDS = 60.0  # how often the scheduler plans jobs of new spaces
JOBS_PLAN_BATCH_COUNT = 500
JOBS_DUE_BATCH_COUNT = 32
JOBS_PAUSE_MAX_SECONDS = 1.0  # between two steps, so that requests get the database
JOBS_RESUMES_MAX_COUNT = 3  # failures in a row from one position; then the run restarts
JOBS_RUNS_KEEP_COUNT = 20  # per job and space

# Storage.
SQLITE_BUSY_TIMEOUT_MS = 5_000
SQLITE_CACHE_MIB = 16  # SQLite's default of 2 rereads a person's rows from the file
SQLITE_CACHE_MAX_MIB = 1_024
WRITE_WAIT_MAX_SECONDS = 60.0
ERASE_WAIT_MAX_SECONDS = 30.0
ERASURE_LINE_MAX_BYTES = 64_000_000  # of the journal: about 1.8 million ids
ID_ATTEMPTS_MAX_COUNT = 8
WRITE_CONFLICTS_MAX_COUNT = 8  # retries of one write after a conflict
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

# Prompts. A line that is too long is clipped, not dropped.
BLOCK_ITEMS_MAX_COUNT = 50
BLOCK_MAX_CHARS = 6_000
LINE_MAX_CHARS = 500
FRESH_CHANGES_MAX_COUNT = 3
FRESH_CHANGE_MAX_CHARS = 200
FRESH_BUDGET_TOKENS = 4_000
BUDGET_MAX_TOKENS = 1_000_000
BLOCKS_CACHED_MAX_COUNT = 512
BLOCK_CHANGES_MAX_COUNT = 10_000

# Embedding. A group holds texts of one length, so that no text is padded.
EMBEDDING_DIMENSION_MAX_COUNT = 16_000
EMBEDDING_TEXT_MAX_CHARS = 32_000  # of one text; a local model cuts the rest
EMBEDDING_GROUP_MAX_COUNT = 16
EMBEDDING_GROUP_MAX_TOKENS = 256  # more is no faster and used 900 MB instead of 300
EMBEDDING_THREADS_DEFAULT_COUNT = 1
EMBEDDING_THREADS_MAX_COUNT = 64
EMBEDDING_FOLDER_MAX_TOKENS = 512  # of one text, even if a model folder allows more
EMBEDDING_CONFIG_MAX_BYTES = 1_000_000
ENDPOINT_TEXT_MAX_CHARS = 8_000
ENDPOINT_BATCH_MAX_COUNT = 32
ENDPOINT_ATTEMPTS_MAX_COUNT = 4
ENDPOINT_TIMEOUT_SECONDS = 30.0
ENDPOINT_QUERY_TIMEOUT_SECONDS = 5.0  # a caller waits, and full-text search still works
ENDPOINT_BACKOFF_SECONDS = 0.5
ENDPOINT_WAIT_MAX_SECONDS = 30.0
ENDPOINT_ANSWER_MAX_BYTES = 32_000_000
ENDPOINT_KEY_MAX_CHARS = 4_096
ENDPOINT_URL_MAX_CHARS = 2_048

# Language models. The timeout covers a request with its retries, pauses and repairs.
LANGUAGE_TIMEOUT_DEFAULT_SECONDS = 60.0
LANGUAGE_TIMEOUT_MIN_SECONDS = 0.001
LANGUAGE_TIMEOUT_MAX_SECONDS = 600.0
LANGUAGE_RETRIES_DEFAULT_COUNT = 2
LANGUAGE_RETRIES_MAX_COUNT = 10
LANGUAGE_REPAIRS_MAX_COUNT = 1
LANGUAGE_BACKOFF_SECONDS = 0.5
LANGUAGE_WAIT_MAX_SECONDS = 30.0
LANGUAGE_OUTPUT_DEFAULT_TOKENS = 2_000
LANGUAGE_OUTPUT_MAX_TOKENS = 100_000
LANGUAGE_TEMPERATURE_DEFAULT = 0.0
LANGUAGE_TEMPERATURE_MAX = 2.0
LANGUAGE_TEXT_MAX_CHARS = 200_000  # instructions and text together
LANGUAGE_ANSWER_MAX_BYTES = 2_000_000
LANGUAGE_REFUSAL_MAX_BYTES = 10_000  # of an error body, searched for a code
LANGUAGE_REPAIR_QUOTE_MAX_CHARS = 8_000
LANGUAGE_REPAIR_FAULTS_MAX_COUNT = 8
LANGUAGE_REPAIR_FAULT_MAX_CHARS = 200
LANGUAGE_TEMPLATE_TOKENS = 500  # added by the chat template and field names
LANGUAGE_TOKENS_MAX_COUNT = 1_000_000_000  # highest usage that is accepted from a provider
LANGUAGE_PRICE_MAX_PER_MILLION = 1_000_000
LANGUAGE_TOKENS_MAX_PER_DAY = 100_000_000_000
LANGUAGE_COST_MAX_PER_DAY = 1_000_000_000
LANGUAGE_STOP_WAIT_MAX_SECONDS = 2.0
TALK_TURNS_MAX_COUNT = 500
TALK_TOOLS_MAX_COUNT = 100
TALK_CALLS_MAX_COUNT = 16  # of tools in one answer; further ones are dropped
TALK_CALL_MAX_CHARS = 100_000  # of the arguments
TALK_CALL_MAX_DEPTH = 32
TALK_ANSWER_MAX_CHARS = 100_000

# Learning.
LEARN_WRITES_PER_TURN_MAX_COUNT = 6
READ_MAX_TOKENS = 1_000  # of a message, by the trained reader: what follows stays unread
READ_BEFORE_MAX_CHARS = 400  # of what was said before a message
LEARN_ATTEMPTS_MAX_COUNT = 10  # then a turn is parked until an operator retries it
LEARN_RETRY_FIRST_SECONDS = 30.0  # doubles each time
LEARN_RETRY_MAX_SECONDS = 3_600.0
LEARN_POLL_SECONDS = 2.0  # how often a worker looks for turns of other processes
LEARN_CONTEXT_MAX_COUNT = 4  # earlier messages that a model reads with a turn
LEARN_CONTEXT_MAX_CHARS = 1_000  # of each of them
CATCH_UP_WAIT_SECONDS = 60  # for turns that other workers hold
CATCH_UP_MAX_SECONDS = 86_400
PROPOSAL_DAYS = 7
SUGGESTION_CANDIDATES_MAX_COUNT = 200
PROCEDURE_MAX_CHARS = 2_000
DECLINED_PROPOSAL_KEEP_DAYS = 30
LEARN_WRITES_DEFAULT_PER_DAY = 100  # of one person
LEARN_WRITES_MAX_PER_DAY = 1_000_000
LEARN_TURN_MIN_DEFAULT_CHARS = 20  # an explicit request to remember may be shorter
LEARN_TURN_MIN_MAX_CHARS = 1_000
LEARN_DEBOUNCE_DEFAULT_SECONDS = 30
LEARN_DEBOUNCE_MAX_SECONDS = 3_600
LEARN_WORKERS_DEFAULT_COUNT = 1
LEARN_WORKERS_MAX_COUNT = 64

# Consolidation and reflection.
CONSOLIDATE_PAIRS_PER_DAY = 50  # per person, sent to a model
CONSOLIDATE_PAIRS_MAX_PER_DAY = 10_000
CONSOLIDATE_BATCH_MAX_COUNT = 10  # pairs in one model call
CONSOLIDATE_POOL_MAX_COUNT = 2_000  # compared memories of one person
CONSOLIDATE_RECENT_HOURS = 72
CONSOLIDATE_IMPORTANCE_MIN = 3
CONSOLIDATE_RECENCY_DAYS = 90
CONSOLIDATE_TEXT_MAX_CHARS = 1_000  # of a memory in a model call
CONSOLIDATE_MERGE_BATCH_COUNT = 100
CONSOLIDATE_CANDIDATES_MAX_COUNT = 20_000  # similar pairs, nearest first
PAIR_CHECK_DAYS = 14
OWNERS_BATCH_COUNT = 50  # owners checked in one step if they have no work
LANGUAGE_FAILURES_MAX_COUNT = 3  # per run; then the run stops calling the model
REFLECT_EVERY_HOURS = 24
REFLECT_USED_MAX_COUNT = 5
REFLECT_NEWEST_MAX_COUNT = 3
INSIGHTS_MAX_COUNT = 3
INSIGHT_DAYS = 30
INSIGHT_TAGS_MAX_COUNT = 5
SUMMARY_IDLE_MINUTES = 30
SUMMARY_TURNS_MIN_COUNT = 2
SUMMARY_TURNS_MAX_COUNT = 200
SUMMARY_TEXT_MAX_CHARS = 20_000

# Notes: the long-term index and session drafts.
LONG_TERM_ITEMS_MAX_COUNT = 100
LONG_TERM_MAX_CHARS = 3_000
DRAFT_MESSAGES_MAX_COUNT = 200  # the last ones
DRAFT_MESSAGES_MAX_CHARS = 20_000  # of these, counted from the end
DRAFT_LINES_MAX_COUNT = 10  # of each section
DRAFT_LINE_MAX_CHARS = 280
DRAFT_TEXT_MAX_CHARS = 20_000  # of the conversation in a model call
DRAFT_OPEN_TASKS_MAX_COUNT = 50
NOTE_PAIRS_MAX_COUNT = 60  # old and new items compared in one model call

# Events and metrics.
EVENTS_KEEP_DEFAULT_DAYS = 90
EVENTS_KEEP_MAX_DAYS = 3_650
METRICS_DEFAULT_PORT = 9_464
PORT_MAX = 65_535

# Server.
SERVER_DEFAULT_HOST = "127.0.0.1"
SERVER_DEFAULT_PORT = 8_377
SERVER_BODY_MAX_BYTES = 1_048_576  # of one request
SERVER_BODY_LOWEST_BYTES = 1_024
SERVER_BODY_HIGHEST_BYTES = 67_108_864
SERVER_HEADERS_MAX_BYTES = 1_048_576  # room for 1,000 percent-encoded names
SERVER_CONNECTIONS_MAX_COUNT = 900  # per process, below common open-file limits
SERVER_IDLE_MAX_SECONDS = 30  # of a client in the middle of a request or connection
SERVER_RATE_PER_MINUTE = 600
SERVER_RATE_HIGHEST_PER_MINUTE = 10_000_000
SERVER_THREADS_COUNT = 4
SERVER_THREADS_MAX_COUNT = 256
SERVER_WORKERS_MAX_COUNT = 64
SERVER_DRAIN_SECONDS = 10
SERVER_DRAIN_MAX_SECONDS = 600
RATE_BURST_SHARE = 0.1  # share of a minute's requests allowed in a burst
RATE_BUCKETS_MAX_COUNT = 10_000
API_KEYS_MAX_COUNT = 1_000  # of one space
API_KEY_MAX_DAYS = 3_650
API_KEY_CACHE_SECONDS = 5
API_KEYS_CACHED_MAX_COUNT = 1_024
SERVER_CLOSE_MAX_SECONDS = 20  # then the rest is left to other processes

# Inbox of channel updates.
UPDATES_DEFAULT_COUNT = 100  # per read
UPDATES_MAX_COUNT = 1_000  # per write or read
UPDATE_MAX_BYTES = 262_144
UPDATE_ATTEMPTS_MAX_COUNT = 5  # then it is parked
UPDATE_DEDUPLICATION_DAYS = 2  # after handling; channels redeliver for a day at most
UPDATE_PARKED_DAYS = 7
SEQ_MAX = 2**63 - 1

# Codes that link identities.
LINK_CODE_CHARS = 10
LINK_CODE_MINUTES = 10  # to accept a code, and again to confirm it
LINK_TRIES_MAX_COUNT = 5  # wrong codes of one person within LINK_TRIES_HOURS
LINK_TRIES_HOURS = 1

# Browsing memories.
SEARCH_MAX_CHARS = 1_000
SEARCH_WORDS_MAX_COUNT = 32
BROWSE_COUNT_MAX_COUNT = 1_000  # the count stops here
BROWSE_FIRST_COUNT = 100  # rows checked one by one before the index is used
BROWSE_LOOKUP_MAX_COUNT = 700  # index hits to look up; with more, scan in order

# Access log of operators.
ACCESS_LOG_KEEP_DAYS = 400

# Idempotency keys and checkpoints.
IDEMPOTENCY_KEY_MAX_CHARS = 255
IDEMPOTENCY_KEEP_DAYS = 1  # for which a repeated request is recognized
CHECKPOINT_MAX_BYTES = 1_048_576
CHECKPOINT_DEPTH_MAX_COUNT = 64
CHECKPOINTS_MAX_COUNT = 1_000  # of one person

# Client.
CLIENT_TIMEOUT_SECONDS = 30.0  # per call, retries included
CLIENT_ATTEMPTS_MAX_COUNT = 4
CLIENT_BACKOFF_SECONDS = 0.2
CLIENT_ANSWER_MAX_BYTES = 67_108_864  # also of one line of an export
CLIENT_PARTS_MAX_COUNT = 10_000  # of an iterable argument
CLIENT_IDLE_MAX_SECONDS = 2.0  # of a pooled connection; shorter than servers' keep-alive

# Notes.
NOTE_FILE_MAX_BYTES = 1_048_576
NOTE_NAME_MAX_BYTES = 255
NOTE_PATH_MAX_BYTES = 1_024
NOTE_DEPTH_MAX_COUNT = 6  # names in a path
NOTE_ENCODED_NAME_MAX_BYTES = 120
NOTE_SHORTENED_NAME_BYTES = 40  # prefix of a longer name, before its hash
NOTE_ITEMS_MAX_COUNT = 5_000
NOTE_LINES_MAX_COUNT = 50_000
NOTE_LINE_MAX_CHARS = 131_072  # room for the longest memory, fully escaped
NOTE_HEAD_MAX_CHARS = 65_536
NOTE_HEAD_DEPTH_MAX_COUNT = 8
NOTE_TITLE_MAX_CHARS = 60
NOTE_LOCK_WAIT_MAX_SECONDS = 10.0  # for another process that writes
NOTE_CLEAN_WAIT_MAX_SECONDS = 0.5  # the same, when a folder is opened
NOTE_WATCH_STEP_MS = 300  # changes closer together are reported together
NOTE_WATCH_GATHER_MAX_MS = 900
NOTE_WATCH_ROUND_MS = 5_000  # how often the watcher checks the folder's identity
NOTE_MIRROR_POLL_SECONDS = 0.9  # how often the mirror checks for new revisions
NOTE_ATTEMPTS_MAX_COUNT = 5  # to sync a file while another process writes it
NOTE_FORGET_AT_ONCE_DEFAULT_COUNT = 5  # deleted lines; more need confirmation
NOTE_FORGET_AT_ONCE_MAX_COUNT = 1_000
NOTE_ITEMS_SHOWN_MAX_COUNT = 1_000
NOTE_POLL_MS = 2_000  # where inotify watches are exhausted
NOTE_DAYS_DEFAULT = 7  # of sessions shown at the start of a new one, today included
NOTE_DAYS_MAX = 366
NOTE_ITEMS_SHOWN_DEFAULT_COUNT = 20  # lines of a block in the notes style
NOTES_RECENT_MAX_COUNT = 1_000  # recent sessions read
FILES_LISTED_MAX_COUNT = 500  # newest sessions; older ones are read by path
FILE_MAX_CHARS = 40_000  # per write of a model
FILE_CHANGED_LINES_MAX_COUNT = 200  # added, changed or removed lines
PAGES_MAX_COUNT = 1_000  # of one person
SESSION_PARTS_MAX_COUNT = 200  # topics, facts, tasks and links of a session, each
SESSION_DRAFT_MAX_CHARS = 60_000  # together
SESSION_SUMMARY_MAX_CHARS = 500
LINK_MAX_CHARS = 2_000

# Bots: conversations and channels.
CHAT_INSTRUCTIONS_MAX_CHARS = 20_000
CHAT_RECENT_DEFAULT_COUNT = 20
CHAT_RECENT_MAX_COUNT = 200
CHAT_RECALLS_DEFAULT_COUNT = 2  # for one answer
CHAT_RECALLS_MAX_COUNT = 10
CHAT_RECALL_DEFAULT_TOKENS = 2_000
CHAT_RECALL_MAX_TOKENS = 100_000
CHAT_RECENT_MAX_CHARS = 4_000  # of one recent message
CHAT_RECENT_CHATS_MAX_COUNT = 1_000
CHAT_RECENT_MAX_SECONDS = 3_600  # age of a recent message
CHAT_RECENT_SHOWN_MAX_CHARS = 60_000  # in one prompt
CHAT_RECENT_THREADS_MAX_COUNT = 50  # of one chat
CHAT_RECENT_PEOPLE_MAX_COUNT = 2_000  # of one chat
CHAT_ROUNDS_MAX_COUNT = 6  # tool rounds before the answer
CHAT_TOOL_ANSWER_MAX_CHARS = 8_000
CHAT_TOOL_ANSWERS_MAX_CHARS = 40_000  # per turn, together
CHAT_TEXT_MAX_CHARS = 40_000  # of a message, and of its quote
CHAT_NAME_MAX_CHARS = 64
CHAT_PROPOSALS_MAX_COUNT = 5  # asked about at once
CHAT_QUESTIONS_PER_PERSON_MAX_COUNT = 1_000  # remembered per person
CHAT_QUESTIONED_PEOPLE_MAX_COUNT = 10_000  # people whose questions a process remembers
CHAT_RESULTS_COUNT = 5  # bullets of an answer without a model
CHAT_ABOUT_ME_COUNT = 30  # bullets of an answer to "what do you know about me?"
CHAT_LEARNED_WAIT_SECONDS = 1  # for an explicit request to remember
CHAT_NEWEST_MEMORIES_COUNT = 20  # searched for what a message has just taught
CHAT_THREADS_DEFAULT_COUNT = 4
CHAT_THREADS_MAX_COUNT = 64
CHAT_QUEUED_MAX_COUNT = 10_000  # updates queued in memory; further ones wait in the inbox
CHAT_QUEUED_PER_CHAT_MAX_COUNT = 100  # per chat, so that other chats have room
CHAT_PAGE_COUNT = 100
CHAT_INBOX_POLL_SECONDS = 5.0  # how often the inbox is read without a notification
CHAT_BODY_MAX_BYTES = 1_048_576  # of one webhook request
CHAT_BACKOFF_SECONDS = 1.0  # after a failure; doubles each time
CHAT_BACKOFF_MAX_SECONDS = 60.0
CHAT_WAIT_MAX_SECONDS = 3_600.0  # longest delay that a channel may ask for
CHAT_WAITS_MAX_COUNT = 30  # retries of a busy channel before it counts as a failure
CHAT_SENDS_MAX_COUNT = 3  # tries of one part before the message is postponed
CHAT_UNSENT_MAX_COUNT = 1_000  # answers that wait for their channel
CHAT_DRAIN_SECONDS = 10.0
CHAT_LISTED_COUNT = 10  # memories on a page of /memory
CHAT_LISTED_MAX_CHARS = 300  # of each of them
CHAT_CHOICES_COUNT = 5  # memories that /forget offers
CHAT_EXPORT_MAX_CHARS = 10_000_000  # of an exported file
CHAT_UNDO_SCANNED_MAX_COUNT = 50  # memories, newest change first
CHAT_JOIN_SECONDS = 0.5  # minimum wait for a stopping thread

TELEGRAM_DEFAULT_PORT = 8_378
TELEGRAM_TEXT_MAX_UNITS = 4_096  # of UTF-16 per message
TELEGRAM_FILE_MAX_BYTES = 50_000_000
TELEGRAM_UPDATES_MAX_COUNT = 100  # at a time
TELEGRAM_POLL_SECONDS = 25  # long-polling timeout
TELEGRAM_CALL_MAX_SECONDS = 20.0
TELEGRAM_ANSWER_MAX_BYTES = 16_000_000
TELEGRAM_SECRET_MAX_CHARS = 256

SLACK_DEFAULT_PORT = 8_379
SLACK_ANSWER_MAX_BYTES = 1_048_576  # to one API call
SLACK_CALL_MAX_SECONDS = 15
SLACK_TEXT_MAX_CHARS = 40_000  # of a message; Slack truncates longer ones
SLACK_SHARED_MAX_COUNT = 5  # forwarded messages in one message
SLACK_SHARED_MAX_CHARS = 4_000  # of each of them
SLACK_PART_MAX_CHARS = 3_000  # per reply; the rest is sent in further replies
SLACK_NAMES_MAX_COUNT = 10_000  # cached names
SLACK_NAMES_MAX_SECONDS = 3_600
SLACK_NAMELESS_MAX_SECONDS = 60  # until a failed name lookup is retried

# Console and web sessions.
SIGN_IN_DEFAULT_MINUTES = 10  # validity of a sign-in link
SIGN_IN_MAX_MINUTES = 1_440
SIGN_INS_MAX_COUNT = 5  # open links of one person; older ones are deleted
WEB_SESSION_IDLE_DEFAULT_MINUTES = 30
WEB_SESSION_IDLE_MIN_MINUTES = 5  # several times WEB_SESSION_SEEN_SECONDS
WEB_SESSION_IDLE_MAX_MINUTES = 1_440
WEB_SESSION_DEFAULT_HOURS = 12
WEB_SESSION_MAX_HOURS = 720
WEB_SESSIONS_MAX_COUNT = 20  # of one person; the least recently seen are deleted
WEB_SESSION_SEEN_SECONDS = 60  # resolution of the last-seen time

# Graphs and charts.
GRAPH_NODES_MAX_COUNT = 500
GRAPH_FIRST_COUNT = 150  # nodes drawn by default
GRAPH_EDGES_MAX_COUNT = 2_000  # the strongest
GRAPH_LABEL_MAX_CHARS = 120
ACTIVITY_DEFAULT_DAYS = 30
ACTIVITY_MAX_DAYS = 366

# Memory page and bulk actions.
TIMELINE_SHOWN_COUNT = 20  # history entries per page
DIFF_EDITS_MAX_COUNT = 150  # changed words; larger diffs show both versions in full
BULK_SELECTION_MAX_COUNT = 100  # memories per bulk action
BULK_PREVIEW_MAX_COUNT = 20  # of these, with an audience preview

# Audience reports.
AUDIENCE_CHATS_MAX_COUNT = 100  # checked chats
AUDIENCE_CHAT_PEOPLE_MAX_COUNT = 50  # shown per chat
AUDIENCE_PEOPLE_MAX_COUNT = 200  # checked people
AUDIENCE_RECALL_COUNT = 20  # memories found for a query

# JSON data of a memory.
DATA_MAX_BYTES = 65_536
DATA_DEPTH_MAX_COUNT = 32

# Screening of JSON values, checkpoints included.
SCREENED_MAX_CHARS = 500_000  # of all texts and names
SCREENED_TEXT_CHARS = 20  # added for each text and name
SCREENED_LIST_CHARS = 5  # added for each list and object

# Imports.
IMPORT_LINE_MAX_BYTES = 1_000_000  # of an export
IMPORT_REQUEST_MAX_CHARS = 150_000  # of the lines in one request
IMPORT_REQUEST_WORDINGS_MAX_COUNT = 100  # memories in these lines, with earlier versions
IMPORT_ITEMS_MAX_COUNT = 200  # per call and transaction
IMPORT_ITEMS_MAX_CHARS = 100_000  # per call, so that a request takes less than a second
IMPORT_VALUE_CHARS = 10  # added for each value
IMPORT_ID_MAX_CHARS = 1_000  # of an id from the source system
IMPORT_TOTAL_MAX_COUNT = 100_000_000

# Tool calls.
TOOL_PARTS_MAX_COUNT = 200  # of all lists in one call

# Importers of other systems' files.
IMPORTER_FILE_MAX_BYTES = 1_073_741_824
IMPORTER_RECORD_MAX_CHARS = 4_194_304  # of one record of a file, or one conversation
IMPORTER_RECORDS_MAX_COUNT = 1_000_000  # of one file or folder
IMPORTER_NOTE_MAX_BYTES = 4_194_304
IMPORTER_NOTES_MAX_COUNT = 100_000  # in one folder
IMPORTER_NOTE_DEPTH_MAX_COUNT = 32  # nested folders
IMPORTER_FRONTMATTER_MAX_CHARS = 65_536  # per note
IMPORTER_FRONTMATTER_DEPTH_MAX_COUNT = 8
IMPORTER_STEP_MAX_CHARS = 80_000  # per request, also when every character is escaped
IMPORTER_PROBLEMS_SHOWN_COUNT = 20  # refused records that are listed
IMPORTER_PREVIEW_MAX_COUNT = 1_000  # per preview
IMPORTER_STORE_BATCH_COUNT = 200  # items per request to a store

# Graph steps. Names are parts of an index key; PostgreSQL allows 2,704 bytes per key.
STEP_THREAD_MAX_BYTES = 255
STEP_NS_MAX_BYTES = 800  # about fifteen subgraphs deep
STEP_CHANNEL_MAX_BYTES = 500
STEP_NAME_MAX_BYTES = 200  # ids of steps, tasks and runs; versions; types
STEP_PATH_MAX_BYTES = 4_000
STEP_PART_MAX_BYTES = 67_108_864  # of a value, a write or a step alone
STEP_PARTS_MAX_COUNT = 10_000  # channels of a step, or writes of a task
STEP_METADATA_MAX_CHARS = 1_000_000
STEPS_PAGE_MAX_COUNT = 100
STEP_CACHED_MAX_BYTES = 1_048_576  # largest cached step
STEPS_CACHED_MAX_COUNT = 32
STEP_NAMES_MAX_COUNT = 10_000  # threads or runs deleted per call

# Items of a LangGraph store.
ITEMS_PAGE_COUNT = 500
ITEMS_SCANNED_MAX_COUNT = 100_000  # per search or namespace listing
ITEMS_FOUND_MAX_COUNT = 10_000  # per search
ITEMS_RECALLED_MIN_COUNT = 50  # per query: other namespaces are filtered out afterwards
ITEM_TTL_MAX_MINUTES = 52_560_000.0  # a hundred years
