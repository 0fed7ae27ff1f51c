"""Every limit in the package; each name ends with its unit."""

from __future__ import annotations

# Every bound in the package, with its unit last in the name. Settings may lower some of them.

# Text that people write.
CONTENT_MAX_CHARS = 16_000
NAME_MAX_CHARS = 200
TAG_MAX_CHARS = 64
TAGS_MAX_COUNT = 32
PEOPLE_PER_MEMORY_MAX_COUNT = 64
MESSAGES_MAX_COUNT = 500  # handed over at a time
MESSAGES_MAX_CHARS = 300_000  # of all of them, so that one request stays below a second

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
RECALL_TERMS_MAX_COUNT = 64  # of a question; further ones would hardly change what comes to mind
RELATED_MAX_COUNT = 2  # bullets beside what was asked for
RECALL_WORDS_MAX_COUNT = 32
RECALL_WORD_MAX_CHARS = 100
QUERY_MAX_CHARS = 200_000  # of which a question's worth is used
QUESTION_MAX_CHARS = 2_000
DELTA_MAX_COUNT = 200

# What is kept at hand in a process to answer from. Beyond, a question's words and likeness
# nominate what is looked at.
PERMITTED_SET_MAX_COUNT = 100_000  # memories within reach of one request
INDEX_CATCH_UPS_MAX_COUNT = 100  # with what others write while words are indexed
PERMITTED_SETS_TOTAL_MAX_COUNT = 1_000_000
PERMITTED_SETS_CACHED_MAX_COUNT = 1_024
INDEX_CACHE_MAX_COUNT = 250_000  # memories with their vectors: about 1.7 kB each
CANDIDATES_COUNT = 500
VECTORS_INDEXED_FROM_COUNT = 100_000  # on PostgreSQL, by `maintain`
RELATIONS_PER_MEMORY_MAX_COUNT = 2
EMBEDDING_BATCH_COUNT = 64
EMBEDDING_INLINE_MAX_CHARS = 1_500  # of what one write waits for, a long text counted as 256
CLOSE_WAIT_MAX_SECONDS = 2.0
INDEXING_PAUSE_MAX_SECONDS = 1.0

# Chats. Whom we do not list among the listeners has heard nothing, which is the safe side.
PARTICIPANTS_MAX_COUNT = 1_000

# Links. One person's identities, now and ever.
IDENTITIES_PER_PERSON_MAX_COUNT = 256

# Lifecycle.
RESTORABLE_DAYS = 30
DOCTOR_IDS_MAX_COUNT = 20  # shown of what a check found
DOCTOR_REPAIR_BATCH_COUNT = 50  # in one transaction
PURGE_OVERDUE_DAYS = 7  # purging happens daily where anything works
KIND_TTL_DAYS = {"context": 7, "event": 30, "task": 14, "observation": 3}
FADE_AFTER_DEFAULT_DAYS = 60
FADE_BELOW_DEFAULT_IMPORTANCE = 3
EVICTION_MIN_AGE_DAYS = 7  # what is younger stays, however much there is
EVICTION_HALF_LIFE_DAYS = 30.0
MEMORIES_PER_OWNER_MAX_COUNT = (
    1_000_000  # that a person may have at most, where the settings have a cap
)
SWEEP_BATCH_COUNT = 200  # rows in one transaction of a sweep or a purge
CLOCK_JUMP_MAX_DAYS = 7  # since the last sweep: a longer gap needs somebody to vouch for the clock
CLOCK_BACK_MAX_SECONDS = 3_600  # behind the last sweep
DAILY_COUNTS_KEEP_DAYS = 14  # counts of what was learned from somebody on a day
CHANGES_KEEP_DAYS = 90  # for deltas

# Tasks that come round. Settings say how often; each has its part of the period in each space.
JOBS_EVERY_HOURS = {
    "expire": 1,
    "purge": 6,
    "consolidate": 24,
    "reflect": 24,
    "reembed": 24,
    "summarise": 24,
}
JOBS_EVERY_MIN_SECONDS = 60
JOBS_EVERY_MAX_SECONDS = 366 * 86_400
LEASE_SECONDS = 10.0  # after which what a killed worker held may be taken over
LEASE_RENEWAL_SECONDS = 2.0  # how often a worker that lives renews each lease it holds
LEASE_HELD_MAX_SECONDS = 900.0  # of one step, with what it asks a language model; then it hangs
JOBS_PLAN_SECONDS = 60.0  # how often spaces are looked for that have no tasks yet
JOBS_PLAN_BATCH_COUNT = 500
JOBS_DUE_BATCH_COUNT = 32
JOBS_PAUSE_MAX_SECONDS = 1.0  # between two steps, for whoever waits for an answer
JOBS_RESUMES_MAX_COUNT = 3  # failures in a row from the same place; then a run begins anew
JOBS_RUNS_KEEP_COUNT = 20  # of each task in each space

# The store.
SQLITE_BUSY_TIMEOUT_MS = 5_000
SQLITE_CACHE_MIB = 16  # its own default of 2 reads a person's rows from the file again and again
SQLITE_CACHE_MAX_MIB = 1_024
WRITE_WAIT_MAX_SECONDS = 60.0
ERASE_WAIT_MAX_SECONDS = 30.0
ERASURE_LINE_MAX_BYTES = 64_000_000  # of the journal: about 1.8 million ids
ID_ATTEMPTS_MAX_COUNT = 8
WRITE_CONFLICTS_MAX_COUNT = 8  # of one write with others that wrote the same thing first
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

# Prompts. A line that is longer than it may be is clipped, never left out for that.
BLOCK_ITEMS_MAX_COUNT = 50
BLOCK_MAX_CHARS = 6_000
LINE_MAX_CHARS = 500
FRESH_CHANGES_MAX_COUNT = 3
FRESH_CHANGE_MAX_CHARS = 200
FRESH_BUDGET_TOKENS = 4_000
BUDGET_MAX_TOKENS = 1_000_000
BLOCKS_CACHED_MAX_COUNT = 512
BLOCK_CHANGES_MAX_COUNT = 10_000

# Embedding. A group holds texts of one length, so that nothing is padded.
EMBEDDING_DIMENSION_MAX_COUNT = 16_000
EMBEDDING_TEXT_MAX_CHARS = 32_000  # of a text that a local model looks at; what follows is cut
EMBEDDING_GROUP_MAX_COUNT = 16
EMBEDDING_GROUP_MAX_TOKENS = 256  # more is no quicker, and took 900 MB where this takes 300
EMBEDDING_THREADS_DEFAULT_COUNT = 1
EMBEDDING_THREADS_MAX_COUNT = 64
EMBEDDING_FOLDER_MAX_TOKENS = 512  # of one text, whatever the model in a folder says
EMBEDDING_CONFIG_MAX_BYTES = 1_000_000
ENDPOINT_TEXT_MAX_CHARS = 8_000
ENDPOINT_BATCH_MAX_COUNT = 32
ENDPOINT_ATTEMPTS_MAX_COUNT = 4
ENDPOINT_TIMEOUT_SECONDS = 30.0
ENDPOINT_QUERY_TIMEOUT_SECONDS = 5.0  # somebody waits for the answer, and words still work
ENDPOINT_BACKOFF_SECONDS = 0.5
ENDPOINT_WAIT_MAX_SECONDS = 30.0
ENDPOINT_ANSWER_MAX_BYTES = 32_000_000
ENDPOINT_KEY_MAX_CHARS = 4_096
ENDPOINT_URL_MAX_CHARS = 2_048

# Language models. A question is bounded as a whole: tries, pauses and repairs together.
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
LANGUAGE_REFUSAL_MAX_BYTES = 10_000  # of an error's body, in which a code is looked for
LANGUAGE_REPAIR_QUOTE_MAX_CHARS = 8_000
LANGUAGE_REPAIR_FAULTS_MAX_COUNT = 8
LANGUAGE_REPAIR_FAULT_MAX_CHARS = 200
LANGUAGE_TEMPLATE_TOKENS = 500  # what a chat template and the names of fields add to our words
LANGUAGE_TOKENS_MAX_COUNT = 1_000_000_000  # that one answer is believed to have taken
LANGUAGE_PRICE_MAX_PER_MILLION = 1_000_000
LANGUAGE_TOKENS_MAX_PER_DAY = 100_000_000_000
LANGUAGE_COST_MAX_PER_DAY = 1_000_000_000
LANGUAGE_STOP_WAIT_MAX_SECONDS = 2.0
TALK_TURNS_MAX_COUNT = 500
TALK_TOOLS_MAX_COUNT = 100
TALK_CALLS_MAX_COUNT = 16  # of tools, in one answer; more of them are not heard
TALK_CALL_MAX_CHARS = 100_000  # of its arguments
TALK_CALL_MAX_DEPTH = 32
TALK_ANSWER_MAX_CHARS = 100_000

# Learning.
LEARN_WRITES_PER_TURN_MAX_COUNT = 3
LEARN_ATTEMPTS_MAX_COUNT = 10  # then a turn is parked, and waits for an operator
LEARN_RETRY_FIRST_SECONDS = 30.0  # twice as long each time
LEARN_RETRY_MAX_SECONDS = 3_600.0
LEARN_POLL_SECONDS = 2.0  # how often a worker looks for what other processes left
LEARN_CONTEXT_MAX_COUNT = 4  # messages before a turn that a model reads with it
LEARN_CONTEXT_MAX_CHARS = 1_000  # of each of them
CATCH_UP_WAIT_SECONDS = 60  # for what others are learning
CATCH_UP_MAX_SECONDS = 86_400
PROPOSAL_DAYS = 7
SUGGESTION_CANDIDATES_MAX_COUNT = 200
PROCEDURE_MAX_CHARS = 2_000
DECLINED_PROPOSAL_KEEP_DAYS = 30
LEARN_WRITES_DEFAULT_PER_DAY = 100  # of one person
LEARN_WRITES_MAX_PER_DAY = 1_000_000
LEARN_TURN_MIN_DEFAULT_CHARS = 20  # what somebody asks to be remembered may be shorter
LEARN_TURN_MIN_MAX_CHARS = 1_000
LEARN_DEBOUNCE_DEFAULT_SECONDS = 30
LEARN_DEBOUNCE_MAX_SECONDS = 3_600
LEARN_WORKERS_DEFAULT_COUNT = 1
LEARN_WORKERS_MAX_COUNT = 64

# Consolidation and reflection.
CONSOLIDATE_PAIRS_PER_DAY = 50  # that a model is asked about, of one person
CONSOLIDATE_PAIRS_MAX_PER_DAY = 10_000
CONSOLIDATE_BATCH_MAX_COUNT = 10  # pairs in one question
CONSOLIDATE_POOL_MAX_COUNT = 2_000  # memories of one person that are compared
CONSOLIDATE_RECENT_HOURS = 72
CONSOLIDATE_IMPORTANCE_MIN = 3
CONSOLIDATE_RECENCY_DAYS = 90
CONSOLIDATE_TEXT_MAX_CHARS = 1_000  # of a memory that a model is asked about
CONSOLIDATE_MERGE_BATCH_COUNT = 100
CONSOLIDATE_CANDIDATES_MAX_COUNT = 20_000  # pairs that are alike, nearest first
PAIR_CHECK_DAYS = 14
OWNERS_BATCH_COUNT = 50  # looked at in one step, where there is nothing to do for them
LANGUAGE_FAILURES_MAX_COUNT = 3  # of one run of a task; then it asks no more
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

# Notes: the long-term index, and what a session comes to.
LONG_TERM_ITEMS_MAX_COUNT = 100
LONG_TERM_MAX_CHARS = 3_000
DRAFT_MESSAGES_MAX_COUNT = 200  # the last ones
DRAFT_MESSAGES_MAX_CHARS = 20_000  # of them that are read, from the end
DRAFT_LINES_MAX_COUNT = 10  # of each section
DRAFT_LINE_MAX_CHARS = 280
DRAFT_TEXT_MAX_CHARS = 20_000  # of a conversation that a model reads
DRAFT_OPEN_TASKS_MAX_COUNT = 50
NOTE_PAIRS_MAX_COUNT = 60  # items, old and new, that a model compares in one question

# Telling what happened.
EVENTS_KEEP_DEFAULT_DAYS = 90
EVENTS_KEEP_MAX_DAYS = 3_650
METRICS_DEFAULT_PORT = 9_464
PORT_MAX = 65_535

# Serving.
SERVER_DEFAULT_HOST = "127.0.0.1"
SERVER_DEFAULT_PORT = 8_377
SERVER_BODY_MAX_BYTES = 1_048_576  # of one request
SERVER_BODY_LOWEST_BYTES = 1_024
SERVER_BODY_HIGHEST_BYTES = 67_108_864
SERVER_HEADERS_MAX_BYTES = 1_048_576  # a thousand people with long names, percent-encoded
SERVER_CONNECTIONS_MAX_COUNT = 900  # of one process, below what systems allow it
SERVER_IDLE_MAX_SECONDS = 30  # of somebody who has begun a request, or a connection
SERVER_RATE_PER_MINUTE = 600
SERVER_RATE_HIGHEST_PER_MINUTE = 10_000_000
SERVER_THREADS_COUNT = 4
SERVER_THREADS_MAX_COUNT = 256
SERVER_WORKERS_MAX_COUNT = 64
SERVER_DRAIN_SECONDS = 10
SERVER_DRAIN_MAX_SECONDS = 600
RATE_BURST_SHARE = 0.1  # of a minute's requests may come at once
RATE_BUCKETS_MAX_COUNT = 10_000
API_KEYS_MAX_COUNT = 1_000  # of one space
API_KEY_MAX_DAYS = 3_650
API_KEY_CACHE_SECONDS = 5
API_KEYS_CACHED_MAX_COUNT = 1_024
SERVER_CLOSE_MAX_SECONDS = 20  # after that, to leave what is left to others

# What channels bring, until it is done.
UPDATES_DEFAULT_COUNT = 100  # read at a time
UPDATES_MAX_COUNT = 1_000  # taken in, or read, at a time
UPDATE_MAX_BYTES = 262_144
UPDATE_ATTEMPTS_MAX_COUNT = 5  # then it is parked
UPDATE_DEDUPLICATION_DAYS = 2  # after it is done; channels bring nothing again after a day
UPDATE_PARKED_DAYS = 7
SEQ_MAX = 2**63 - 1

# Codes that link identities.
LINK_CODE_CHARS = 10
LINK_CODE_MINUTES = 10  # for which a code may be accepted, and then a yes may be given
LINK_TRIES_MAX_COUNT = 5  # wrong codes of one person, within
LINK_TRIES_HOURS = 1

# Looking through memories.
SEARCH_MAX_CHARS = 1_000
SEARCH_WORDS_MAX_COUNT = 32
BROWSE_COUNT_MAX_COUNT = 1_000  # counted no further
BROWSE_FIRST_COUNT = 100  # asked one by one whether typed words begin some of theirs
BROWSE_LOOKUP_MAX_COUNT = (
    700  # that are looked up by their words; more are met by walking through all
)

# Operators who look at what people have.
ACCESS_LOG_KEEP_DAYS = 400

# Being asked again, and where agents had got to.
IDEMPOTENCY_KEY_MAX_CHARS = 255
IDEMPOTENCY_KEEP_DAYS = 1  # for which a repeat is known as one
CHECKPOINT_MAX_BYTES = 1_048_576
CHECKPOINT_DEPTH_MAX_COUNT = 64
CHECKPOINTS_MAX_COUNT = 1_000  # of one person

# The client of a server.
CLIENT_TIMEOUT_SECONDS = 30.0  # for an answer, with all that it takes to get one
CLIENT_ATTEMPTS_MAX_COUNT = 4
CLIENT_BACKOFF_SECONDS = 0.2
CLIENT_ANSWER_MAX_BYTES = 67_108_864  # and of a line of an export
CLIENT_PARTS_MAX_COUNT = 10_000  # of an argument whose parts are made when they are read
CLIENT_IDLE_MAX_SECONDS = 2.0  # that a connection is kept; shorter than servers keep theirs

# Notes.
NOTE_FILE_MAX_BYTES = 1_048_576
NOTE_NAME_MAX_BYTES = 255
NOTE_PATH_MAX_BYTES = 1_024
NOTE_DEPTH_MAX_COUNT = 6  # names in a path
NOTE_ENCODED_NAME_MAX_BYTES = 120
NOTE_SHORTENED_NAME_BYTES = 40  # what is still read of a longer one, before its hash
NOTE_ITEMS_MAX_COUNT = 5_000
NOTE_LINES_MAX_COUNT = 50_000
NOTE_LINE_MAX_CHARS = 131_072  # the longest memory, with every character escaped, has room
NOTE_HEAD_MAX_CHARS = 65_536
NOTE_HEAD_DEPTH_MAX_COUNT = 8
NOTE_TITLE_MAX_CHARS = 60
NOTE_LOCK_WAIT_MAX_SECONDS = 10.0  # for another process that is in the middle of writing
NOTE_CLEAN_WAIT_MAX_SECONDS = 0.5  # for the same, when a folder is opened
NOTE_WATCH_STEP_MS = 300  # changes that follow one another by less are told together
NOTE_WATCH_GATHER_MAX_MS = 900
NOTE_WATCH_ROUND_MS = 5_000  # how often the watcher looks whether the folder is still the same
NOTE_MIRROR_POLL_SECONDS = 0.9  # how often a process that mirrors asks whether the store moved
NOTE_ATTEMPTS_MAX_COUNT = 5  # to settle a file that somebody else is writing
NOTE_FORGET_AT_ONCE_DEFAULT_COUNT = 5  # lines that are gone; more are asked about
NOTE_FORGET_AT_ONCE_MAX_COUNT = 1_000
NOTE_ITEMS_SHOWN_MAX_COUNT = 1_000
NOTE_POLL_MS = 2_000  # where the system has no notifications left to give
NOTE_DAYS_DEFAULT = 7  # of sessions that a new one starts with, today among them
NOTE_DAYS_MAX = 366
NOTE_ITEMS_SHOWN_DEFAULT_COUNT = 20  # lines of a block in the style of summaries
NOTES_RECENT_MAX_COUNT = 1_000  # sessions of recent days that are looked at
FILES_LISTED_MAX_COUNT = 500  # sessions, the newest; older ones are read by their names
FILE_MAX_CHARS = 50_000  # that a model writes at once
FILE_CHANGED_LINES_MAX_COUNT = 200  # new, worded otherwise, or gone
PAGES_MAX_COUNT = 1_000  # of one person
SESSION_PARTS_MAX_COUNT = 200  # topics, facts, tasks, links of a session, each
SESSION_DRAFT_MAX_CHARS = 60_000  # of all of them
SESSION_SUMMARY_MAX_CHARS = 500
LINK_MAX_CHARS = 2_000


# Limits of conversations and of the channels that they come through.

CHAT_INSTRUCTIONS_MAX_CHARS = 20_000
CHAT_RECENT_DEFAULT_COUNT = 20
CHAT_RECENT_MAX_COUNT = 200
CHAT_RECALLS_DEFAULT_COUNT = 2  # for one answer
CHAT_RECALLS_MAX_COUNT = 10
CHAT_RECALL_DEFAULT_TOKENS = 2_000
CHAT_RECALL_MAX_TOKENS = 100_000
CHAT_RECENT_MAX_CHARS = 4_000  # of one message that is shown again
CHAT_RECENT_CHATS_MAX_COUNT = 1_000
CHAT_RECENT_MAX_SECONDS = 3_600  # for which a message is shown again
CHAT_RECENT_SHOWN_MAX_CHARS = 60_000  # in one prompt
CHAT_RECENT_THREADS_MAX_COUNT = 50  # of one chat
CHAT_RECENT_PEOPLE_MAX_COUNT = 2_000  # of one chat
CHAT_ROUNDS_MAX_COUNT = 6  # in which the model calls tools before it answers
CHAT_TOOL_ANSWER_MAX_CHARS = 8_000
CHAT_TOOL_ANSWERS_MAX_CHARS = 40_000  # in one turn, together
CHAT_TEXT_MAX_CHARS = 40_000  # of a message that is answered, and of what it quotes
CHAT_NAME_MAX_CHARS = 64
CHAT_PROPOSALS_MAX_COUNT = 5  # that somebody is asked about at once
CHAT_QUESTIONS_PER_PERSON_MAX_COUNT = 1_000  # that one person was asked
CHAT_QUESTIONED_PEOPLE_MAX_COUNT = 10_000  # people of whom a process knows what they were asked
CHAT_RESULTS_COUNT = 5  # bullets of an answer without a model
CHAT_ABOUT_ME_COUNT = 30  # bullets of an answer to "what do you know about me?"
CHAT_LEARNED_WAIT_SECONDS = 1  # for what somebody asked to be remembered
CHAT_NEWEST_MEMORIES_COUNT = 20  # newest memories, for what a message has just taught
CHAT_THREADS_DEFAULT_COUNT = 4
CHAT_THREADS_MAX_COUNT = 64
CHAT_QUEUED_MAX_COUNT = 10_000  # updates whose numbers a process has at hand; the others wait
CHAT_QUEUED_PER_CHAT_MAX_COUNT = 100  # of one chat, which leaves room for the others
CHAT_PAGE_COUNT = 100
CHAT_INBOX_POLL_SECONDS = 5.0  # how often the inbox is looked through, whether there is news or not
CHAT_BODY_MAX_BYTES = 1_048_576  # of one request of a channel
CHAT_BACKOFF_SECONDS = 1.0  # after a failure; then twice as long each time
CHAT_BACKOFF_MAX_SECONDS = 60.0
CHAT_WAIT_MAX_SECONDS = 3_600.0  # that a channel may ask for
CHAT_WAITS_MAX_COUNT = 30  # for a channel that is busy or away, before it counts as a failure
CHAT_UNSENT_MAX_COUNT = 1_000  # answers that wait for their channel
CHAT_DRAIN_SECONDS = 10.0
CHAT_LISTED_COUNT = 10  # memories on a page of /memory
CHAT_LISTED_MAX_CHARS = 300  # of each of them
CHAT_CHOICES_COUNT = 5  # memories that /forget lets somebody choose from
CHAT_EXPORT_MAX_CHARS = 10_000_000  # of a file that is sent into a chat
CHAT_UNDO_SCANNED_MAX_COUNT = 50  # memories, newest change first
CHAT_JOIN_SECONDS = 0.5  # at least, for a thread that is told to stop

TELEGRAM_DEFAULT_PORT = 8_378
TELEGRAM_TEXT_MAX_UNITS = 4_096  # of UTF-16, in one message
TELEGRAM_FILE_MAX_BYTES = 50_000_000
TELEGRAM_UPDATES_MAX_COUNT = 100  # at a time
TELEGRAM_POLL_SECONDS = 25  # that Telegram may keep us waiting for updates
TELEGRAM_CALL_MAX_SECONDS = 20.0
TELEGRAM_ANSWER_MAX_BYTES = 16_000_000
TELEGRAM_SENDS_MAX_COUNT = 3  # tries of one message before it is left for later
TELEGRAM_SECRET_MAX_CHARS = 256

SLACK_DEFAULT_PORT = 8_379
SLACK_ANSWER_MAX_BYTES = 1_048_576  # to one call of ours
SLACK_CALL_MAX_SECONDS = 15
SLACK_TEXT_MAX_CHARS = 40_000  # of a message; Slack cuts longer ones off
SLACK_SHARED_MAX_COUNT = 5  # messages passed on with one
SLACK_SHARED_MAX_CHARS = 4_000  # of each of them
SLACK_PART_MAX_CHARS = 3_000  # of what is said back; the rest goes in further parts
SLACK_NAMES_MAX_COUNT = 10_000  # people whose names are known, without asking again
SLACK_NAMES_MAX_SECONDS = 3_600
SLACK_NAMELESS_MAX_SECONDS = 60  # until somebody whose name could not be found is asked for again
SLACK_WAIT_MAX_SECONDS = 30  # in the middle of an answer, for what Slack asks to wait


# Limits of the console, and of being signed in there.

SIGN_IN_DEFAULT_MINUTES = 10  # for which a link works
SIGN_IN_MAX_MINUTES = 1_440
SIGN_INS_MAX_COUNT = 5  # links that wait for one person; older ones go
WEB_SESSION_IDLE_DEFAULT_MINUTES = 30
WEB_SESSION_IDLE_MIN_MINUTES = 5  # several times what it is noted by
WEB_SESSION_IDLE_MAX_MINUTES = 1_440
WEB_SESSION_DEFAULT_HOURS = 12
WEB_SESSION_MAX_HOURS = 720
WEB_SESSIONS_MAX_COUNT = 20  # of one person; those not seen for longest go
WEB_SESSION_SEEN_SECONDS = 60  # not noted more often than that

# Pictures and charts.
GRAPH_NODES_MAX_COUNT = 500
GRAPH_FIRST_COUNT = 150  # nodes that a page draws unless more are asked for
GRAPH_EDGES_MAX_COUNT = 2_000  # the strongest
GRAPH_LABEL_MAX_CHARS = 120
ACTIVITY_DEFAULT_DAYS = 30
ACTIVITY_MAX_DAYS = 366

# What is shown of one memory, and done to many.
TIMELINE_SHOWN_COUNT = 20  # of what happened to a memory, at once
DIFF_EDITS_MAX_COUNT = 150  # words; wordings that differ by more are shown one after the other
BULK_SELECTION_MAX_COUNT = 100  # memories that something is done to at once
BULK_PREVIEW_MAX_COUNT = 20  # of these, for which it is looked up who would hear them then

# Who would hear a memory.
AUDIENCE_CHATS_MAX_COUNT = 100  # that are looked at for who would hear something
AUDIENCE_CHAT_PEOPLE_MAX_COUNT = 50  # shown of each
AUDIENCE_PEOPLE_MAX_COUNT = 200  # people who are asked for
AUDIENCE_RECALL_COUNT = 20  # memories that come to mind for a question


# Bounds of what comes from elsewhere: data that goes with a memory, and what is built on it.

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
IMPORTER_FILE_MAX_BYTES = 1_073_741_824
IMPORTER_RECORD_MAX_CHARS = 4_194_304  # of one record of a file, or one conversation
IMPORTER_RECORDS_MAX_COUNT = 1_000_000  # of one file or folder
IMPORTER_NOTE_MAX_BYTES = 4_194_304
IMPORTER_NOTES_MAX_COUNT = 100_000  # in one folder
IMPORTER_NOTE_DEPTH_MAX_COUNT = 32  # folders in folders
IMPORTER_FRONTMATTER_MAX_CHARS = 65_536  # of the frontmatter of a note
IMPORTER_FRONTMATTER_DEPTH_MAX_COUNT = 8
IMPORTER_STEP_MAX_CHARS = 80_000  # at once, so that it fits into a request however it is escaped
IMPORTER_PROBLEMS_SHOWN_COUNT = 20  # of what was not taken in
IMPORTER_PREVIEW_MAX_COUNT = 1_000  # of a preview, as they would be kept
IMPORTER_STORE_BATCH_COUNT = 200  # items that are asked of a store at a time

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
STEP_CACHED_MAX_BYTES = 1_048_576  # of one that a process does not fetch again
STEPS_CACHED_MAX_COUNT = 32
STEP_NAMES_MAX_COUNT = 10_000  # threads or runs that are forgotten at once

# Items of a LangGraph store.
ITEMS_PAGE_COUNT = 500
ITEMS_SCANNED_MAX_COUNT = 100_000  # by one search, or to tell the namespaces
ITEMS_FOUND_MAX_COUNT = 10_000  # that one search may ask for
ITEMS_RECALLED_MIN_COUNT = 50  # for a question: those of other namespaces come along
ITEM_TTL_MAX_MINUTES = 52_560_000.0  # a hundred years
