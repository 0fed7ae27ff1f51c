-- The schema of a new SQLite database.

CREATE TABLE access_log (
    space_id TEXT NOT NULL, id TEXT NOT NULL, at BIGINT NOT NULL, actor TEXT NOT NULL,
    operation TEXT NOT NULL, memory_id TEXT, count INTEGER NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_access_log_at ON access_log (space_id, at, id);
CREATE INDEX ix_access_log_memory ON access_log (space_id, memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE api_keys (
    space_id TEXT NOT NULL, key_id TEXT NOT NULL, digest BLOB NOT NULL, name TEXT NOT NULL,
    agent TEXT, requester TEXT, scopes TEXT NOT NULL, categories TEXT, rate_per_minute INTEGER,
    created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT,
    PRIMARY KEY (space_id, key_id)
);
CREATE INDEX ix_api_keys_key_id ON api_keys (key_id);

CREATE TABLE audience_people (
    space_id TEXT NOT NULL, audience TEXT NOT NULL, person TEXT NOT NULL,
    PRIMARY KEY (space_id, audience, person)
);
CREATE INDEX ix_audience_people_person ON audience_people (space_id, person, audience);

CREATE TABLE blocks (
    space_id TEXT NOT NULL, thread TEXT NOT NULL, audience TEXT NOT NULL,
    built_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, thread, audience)
);

CREATE TABLE chat_members (
    space_id TEXT NOT NULL, chat TEXT NOT NULL, person TEXT NOT NULL, joined_at BIGINT NOT NULL,
    left_at BIGINT,
    PRIMARY KEY (space_id, chat, person, joined_at)
);
CREATE INDEX ix_chat_members_person ON chat_members (space_id, person);

CREATE TABLE chats (
    space_id TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, confidential BOOLEAN NOT NULL,
    migrated_to TEXT, created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_chats_migrated_to ON chats (space_id, migrated_to) WHERE migrated_to IS NOT NULL;

CREATE TABLE checkpoints (
    space_id TEXT NOT NULL, person TEXT NOT NULL, thread TEXT NOT NULL, version BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, categories TEXT, data TEXT NOT NULL,
    PRIMARY KEY (space_id, person, thread)
);

CREATE TABLE clock_guard (
    space_id TEXT NOT NULL, seen_at BIGINT NOT NULL, jump_from BIGINT, jump_to BIGINT,
    purged_until BIGINT,
    PRIMARY KEY (space_id)
);

CREATE TABLE declined_proposals (
    space_id TEXT NOT NULL, concerns TEXT NOT NULL, content_digest TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (space_id, concerns, content_digest)
);

CREATE TABLE embedded_spaces (
    space_id TEXT NOT NULL, model TEXT NOT NULL, done_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, model)
);

CREATE TABLE erasures (
    space_id TEXT NOT NULL, id TEXT NOT NULL, scope TEXT NOT NULL, digests TEXT NOT NULL,
    counts TEXT NOT NULL, erased_at BIGINT NOT NULL, signature TEXT NOT NULL, remains TEXT,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_erasures_erased_at ON erasures (space_id, erased_at);

CREATE TABLE graph_steps (
    space_id TEXT NOT NULL, person TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
    ns TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, type TEXT NOT NULL, run TEXT, audience TEXT,
    categories TEXT, saved_at BIGINT NOT NULL, metadata TEXT NOT NULL, versions TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (space_id, person, chat, thread, ns, id)
);
CREATE INDEX ix_graph_steps_chat ON graph_steps (space_id, chat, person, thread, audience)
    WHERE chat <> '';
CREATE INDEX ix_graph_steps_run ON graph_steps (space_id, run, person) WHERE run IS NOT NULL;

CREATE TABLE graph_values (
    space_id TEXT NOT NULL, person TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
    ns TEXT NOT NULL, channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL,
    audience TEXT, categories TEXT, saved_at BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (space_id, person, chat, thread, ns, channel, version)
);
CREATE INDEX ix_graph_values_chat ON graph_values (space_id, chat, person, thread, audience)
    WHERE chat <> '';

CREATE TABLE graph_writes (
    space_id TEXT NOT NULL, person TEXT NOT NULL, chat TEXT NOT NULL, thread TEXT NOT NULL,
    ns TEXT NOT NULL, step TEXT NOT NULL, task TEXT NOT NULL, idx INTEGER NOT NULL,
    path TEXT NOT NULL, channel TEXT NOT NULL, type TEXT NOT NULL, audience TEXT, categories TEXT,
    saved_at BIGINT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (space_id, person, chat, thread, ns, step, task, idx)
);
CREATE INDEX ix_graph_writes_chat ON graph_writes (space_id, chat, person, thread, audience)
    WHERE chat <> '';

CREATE TABLE idempotency_keys (
    space_id TEXT NOT NULL, person TEXT NOT NULL, token TEXT NOT NULL, fingerprint TEXT NOT NULL,
    result TEXT NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (space_id, person, token)
) WITHOUT ROWID;
CREATE INDEX ix_idempotency_keys_at ON idempotency_keys (at);

CREATE TABLE identity_links (
    space_id TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
    kind TEXT NOT NULL, actor TEXT NOT NULL, created_at BIGINT NOT NULL, verified_at BIGINT,
    ended_at BIGINT,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_identity_links_source ON identity_links (space_id, source);
CREATE INDEX ix_identity_links_target ON identity_links (space_id, target);
CREATE UNIQUE INDEX uq_identity_links_current ON identity_links (space_id, source)
    WHERE ended_at IS NULL;

CREATE TABLE imports (
    space_id TEXT NOT NULL, person TEXT NOT NULL, run TEXT NOT NULL, id TEXT NOT NULL,
    source TEXT NOT NULL, started_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    created INTEGER NOT NULL, already INTEGER NOT NULL, refused INTEGER NOT NULL,
    done INTEGER NOT NULL, total INTEGER, reverting BOOLEAN NOT NULL, reverted_at BIGINT,
    forgotten INTEGER NOT NULL, changed INTEGER NOT NULL,
    PRIMARY KEY (space_id, person, run)
) WITHOUT ROWID;

CREATE TABLE job_runs (
    space_id TEXT NOT NULL, task TEXT NOT NULL, seq BIGINT NOT NULL, started_at BIGINT NOT NULL,
    finished_at BIGINT NOT NULL, counts TEXT NOT NULL, problem TEXT,
    PRIMARY KEY (space_id, task, seq)
);

CREATE TABLE jobs (
    space_id TEXT NOT NULL, thread TEXT NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL,
    owner TEXT NOT NULL, payload TEXT NOT NULL, attempts INTEGER NOT NULL, due_at BIGINT NOT NULL,
    leased_until BIGINT, worker TEXT, problem TEXT, parked BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, thread, seq)
);
CREATE INDEX ix_jobs_due ON jobs (kind, parked, due_at);
CREATE INDEX ix_jobs_owner ON jobs (space_id, owner);

CREATE TABLE learning_days (
    space_id TEXT NOT NULL, owner TEXT NOT NULL, day TEXT NOT NULL, writes INTEGER NOT NULL,
    last_turn_at BIGINT,
    PRIMARY KEY (space_id, owner, day)
);

CREATE TABLE link_attempts (
    space_id TEXT NOT NULL, person TEXT NOT NULL, id TEXT NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (space_id, person, id)
);
CREATE INDEX ix_link_attempts_at ON link_attempts (at);

CREATE TABLE link_offers (
    space_id TEXT NOT NULL, id TEXT NOT NULL, code_hash TEXT NOT NULL, offered_by TEXT NOT NULL,
    accepted_by TEXT, state TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_link_offers_accepted_by ON link_offers (space_id, accepted_by);
CREATE INDEX ix_link_offers_expires_at ON link_offers (expires_at);
CREATE INDEX ix_link_offers_offered_by ON link_offers (space_id, offered_by);
CREATE UNIQUE INDEX uq_link_offers_code ON link_offers (space_id, code_hash);

CREATE TABLE llm_usage (
    space_id TEXT NOT NULL, day TEXT NOT NULL, requests INTEGER NOT NULL,
    tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL, cost_micros BIGINT NOT NULL,
    PRIMARY KEY (space_id, day)
);

CREATE TABLE memories (
    space_id TEXT NOT NULL, id TEXT NOT NULL, owner TEXT, speaker TEXT, subjects TEXT NOT NULL,
    learned_in TEXT, learned_kind TEXT, audience TEXT, confidential BOOLEAN NOT NULL,
    kind TEXT NOT NULL, category TEXT NOT NULL, "key" TEXT, slot TEXT, content TEXT NOT NULL,
    version INTEGER NOT NULL, visibility TEXT NOT NULL, sensitivity TEXT NOT NULL,
    portable BOOLEAN NOT NULL, withheld_from TEXT NOT NULL, has_withheld BOOLEAN NOT NULL,
    withheld_unknown BOOLEAN NOT NULL, inferred BOOLEAN NOT NULL, trust TEXT NOT NULL,
    importance INTEGER NOT NULL, confidence FLOAT, pinned BOOLEAN NOT NULL, tags TEXT NOT NULL,
    source_channel TEXT, source_chat TEXT, source_message TEXT, thread TEXT, agent TEXT, run TEXT,
    role TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, observed_at BIGINT,
    expires_at BIGINT, last_accessed_at BIGINT, access_count INTEGER NOT NULL,
    state TEXT NOT NULL, purge_at BIGINT, superseded_by TEXT, overridden BOOLEAN NOT NULL,
    is_turn BOOLEAN DEFAULT 0 NOT NULL, session TEXT, seq BIGINT, name TEXT, data TEXT,
    stamp BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_memories_audience ON memories (space_id, audience, is_turn, created_at, id)
    WHERE audience IS NOT NULL;
CREATE INDEX ix_memories_created ON memories (
    space_id, created_at, id, state, expires_at, category, kind, visibility, sensitivity, pinned,
    learned_in
) WHERE is_turn IS 0 AND version > 0;
CREATE INDEX ix_memories_decay ON memories (space_id, updated_at, id)
    WHERE importance < 3 AND state = 'active';
CREATE INDEX ix_memories_expires_at ON memories (space_id, is_turn, expires_at, id)
    WHERE expires_at IS NOT NULL AND state = 'active';
CREATE INDEX ix_memories_learned_in ON memories (space_id, learned_in, is_turn, created_at, id);
CREATE INDEX ix_memories_owner ON memories (
    space_id, owner, is_turn, created_at, id, state, expires_at, category, kind, visibility,
    sensitivity, pinned, learned_in
);
CREATE INDEX ix_memories_prominent ON memories (
    space_id, owner, is_turn, pinned, importance, created_at, id, expires_at
) WHERE state = 'active';
CREATE INDEX ix_memories_purge_at ON memories (space_id, purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX ix_memories_shareable ON memories (space_id, owner, created_at, id)
    WHERE visibility = 'public_ok';
CREATE INDEX ix_memories_speaker ON memories (space_id, speaker, is_turn, created_at, id)
    WHERE owner IS NULL OR owner <> speaker;
CREATE INDEX ix_memories_stamp ON memories (space_id, owner, stamp);
CREATE INDEX ix_memories_superseded_by ON memories (space_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE UNIQUE INDEX uq_memories_chat_key ON memories (space_id, learned_in, category, "key")
    WHERE owner IS NULL AND key IS NOT NULL AND state = 'active';
CREATE UNIQUE INDEX uq_memories_key ON memories (space_id, owner, category, "key")
    WHERE key IS NOT NULL AND state = 'active';

CREATE TABLE note_files (
    space_id TEXT NOT NULL, folder TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL,
    stamp BIGINT NOT NULL, problem TEXT, asked INTEGER NOT NULL, subject TEXT, chat TEXT,
    PRIMARY KEY (space_id, folder, path)
);
CREATE INDEX ix_note_files_path ON note_files (space_id, path);

CREATE TABLE notes (
    space_id TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT, day TEXT,
    session TEXT, chat TEXT, chat_kind TEXT NOT NULL, thread TEXT, summary_id TEXT, source TEXT,
    channel TEXT, contact_id TEXT, contact_nickname TEXT, tags TEXT NOT NULL, links TEXT NOT NULL,
    layout TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, stamp BIGINT NOT NULL,
    PRIMARY KEY (space_id, path)
);
CREATE INDEX ix_notes_chat ON notes (space_id, chat, day);
CREATE INDEX ix_notes_stamp ON notes (space_id, stamp);
CREATE INDEX ix_notes_subject ON notes (space_id, subject, kind, day);
CREATE INDEX ix_notes_summary_id ON notes (space_id, summary_id) WHERE summary_id IS NOT NULL;

CREATE TABLE people (
    space_id TEXT NOT NULL, id TEXT NOT NULL, created_by TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE TABLE person_names (
    space_id TEXT NOT NULL, person TEXT NOT NULL, kind TEXT NOT NULL, folded TEXT NOT NULL,
    known_to TEXT NOT NULL, name TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, person, kind, folded, known_to)
);
CREATE INDEX ix_person_names_folded ON person_names (space_id, folded, known_to, person);
CREATE INDEX ix_person_names_known_to ON person_names (space_id, known_to, person);

CREATE TABLE reflections (
    space_id TEXT NOT NULL, owner TEXT NOT NULL, task TEXT NOT NULL, at BIGINT NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (space_id, owner, task)
);

CREATE TABLE revisions (
    space_id TEXT NOT NULL, access_path TEXT NOT NULL, rev BIGINT NOT NULL,
    cleared_rev BIGINT NOT NULL,
    PRIMARY KEY (space_id, access_path)
) WITHOUT ROWID;

CREATE TABLE same_people (
    space_id TEXT NOT NULL, known_to TEXT NOT NULL, person TEXT NOT NULL, "into" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, known_to, person)
) WITHOUT ROWID;
CREATE INDEX ix_same_people_into ON same_people (space_id, "into");
CREATE INDEX ix_same_people_person ON same_people (space_id, person);

CREATE TABLE sign_in_links (
    space_id TEXT NOT NULL, id TEXT NOT NULL, digest BLOB NOT NULL, person TEXT, operator TEXT,
    created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_sign_in_links_expires_at ON sign_in_links (expires_at);
CREATE INDEX ix_sign_in_links_id ON sign_in_links (id);
CREATE INDEX ix_sign_in_links_person ON sign_in_links (space_id, person, operator, created_at);

CREATE TABLE spaces (
    space_id TEXT NOT NULL, secret TEXT NOT NULL, identity_rev BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id)
);

CREATE TABLE subjects (
    space_id TEXT NOT NULL, id TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE TABLE thread_revisions (
    space_id TEXT NOT NULL, thread TEXT NOT NULL, rev BIGINT NOT NULL,
    PRIMARY KEY (space_id, thread)
) WITHOUT ROWID;

CREATE TABLE tombstones (
    space_id TEXT NOT NULL, digest TEXT NOT NULL, erased_at BIGINT NOT NULL, actor TEXT NOT NULL,
    scrubbed BOOLEAN NOT NULL,
    PRIMARY KEY (space_id, digest)
);

CREATE TABLE updates (
    space_id TEXT NOT NULL, channel TEXT NOT NULL, update_id TEXT NOT NULL, seq BIGINT NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, at BIGINT NOT NULL, chat TEXT, person TEXT,
    payload TEXT NOT NULL,
    PRIMARY KEY (space_id, channel, update_id)
);
CREATE INDEX ix_updates_at ON updates (state, at);
CREATE INDEX ix_updates_chat ON updates (space_id, chat) WHERE chat IS NOT NULL;
CREATE INDEX ix_updates_person ON updates (space_id, person) WHERE person IS NOT NULL;
CREATE INDEX ix_updates_seq ON updates (space_id, channel, state, seq);

CREATE TABLE web_sessions (
    space_id TEXT NOT NULL, id TEXT NOT NULL, digest BLOB NOT NULL, person TEXT, operator TEXT,
    created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id)
);
CREATE INDEX ix_web_sessions_expires_at ON web_sessions (expires_at);
CREATE INDEX ix_web_sessions_id ON web_sessions (id);
CREATE INDEX ix_web_sessions_person ON web_sessions (space_id, person, operator);

CREATE TABLE access_log_people (
    space_id TEXT NOT NULL, entry_id TEXT NOT NULL, person TEXT NOT NULL, at BIGINT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (space_id, entry_id, person),
    FOREIGN KEY(space_id, entry_id) REFERENCES access_log (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_access_log_people_person ON access_log_people (space_id, person, at, entry_id);

CREATE TABLE change_log (
    space_id TEXT NOT NULL, thread TEXT NOT NULL, rev BIGINT NOT NULL, memory_id TEXT NOT NULL,
    event TEXT NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (space_id, thread, rev),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_change_log_memory ON change_log (space_id, memory_id);

CREATE TABLE derived_from (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, turn_id TEXT NOT NULL,
    PRIMARY KEY (space_id, memory_id, turn_id),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE,
    FOREIGN KEY(space_id, turn_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_derived_from_turn ON derived_from (space_id, turn_id);

CREATE TABLE events (
    space_id TEXT NOT NULL, id TEXT NOT NULL, owner TEXT, thread TEXT, node TEXT NOT NULL,
    op TEXT NOT NULL, status TEXT NOT NULL, memory_id TEXT, category TEXT, similarity FLOAT,
    at BIGINT NOT NULL,
    PRIMARY KEY (space_id, id),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_events_memory ON events (space_id, memory_id);
CREATE INDEX ix_events_node ON events (space_id, node, at);
CREATE INDEX ix_events_owner ON events (space_id, owner, at);

CREATE TABLE history (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL,
    version INTEGER NOT NULL, actor TEXT NOT NULL, detail TEXT NOT NULL, at BIGINT NOT NULL,
    owner TEXT,
    PRIMARY KEY (space_id, memory_id, seq),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_history_at ON history (space_id, at, memory_id, seq, event) WHERE event <> '';
CREATE INDEX ix_history_owner ON history (space_id, owner, at, memory_id, seq, event);

CREATE TABLE idempotency_memories (
    space_id TEXT NOT NULL, person TEXT NOT NULL, token TEXT NOT NULL, position INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    PRIMARY KEY (space_id, person, token, position),
    FOREIGN KEY(space_id, person, token) REFERENCES idempotency_keys (space_id, person, token) ON
        DELETE CASCADE,
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_idempotency_memories_memory ON idempotency_memories (space_id, memory_id);

CREATE TABLE imported_items (
    space_id TEXT NOT NULL, person TEXT NOT NULL, token TEXT NOT NULL, run TEXT,
    memory_id TEXT NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (space_id, person, token),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_imported_items_memory ON imported_items (space_id, memory_id);
CREATE INDEX ix_imported_items_run ON imported_items (space_id, person, run, token);

CREATE TABLE learned_facts (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, owner TEXT NOT NULL,
    content_digest TEXT NOT NULL, slot TEXT, value TEXT, negated BOOLEAN NOT NULL,
    about_speaker BOOLEAN NOT NULL, about TEXT NOT NULL,
    PRIMARY KEY (space_id, memory_id),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_learned_facts_said ON learned_facts (space_id, owner, content_digest);
CREATE INDEX ix_learned_facts_slot ON learned_facts (space_id, owner, slot);

CREATE TABLE memory_people (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, role TEXT NOT NULL, person TEXT NOT NULL,
    PRIMARY KEY (space_id, memory_id, role, person),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_memory_people_person ON memory_people (space_id, person, role, memory_id);

CREATE TABLE memory_versions (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, version INTEGER NOT NULL,
    content TEXT NOT NULL, speaker TEXT, subjects TEXT NOT NULL, audience TEXT,
    visibility TEXT NOT NULL, sensitivity TEXT NOT NULL, portable BOOLEAN NOT NULL,
    actor TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, memory_id, version),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE note_items (
    space_id TEXT NOT NULL, path TEXT NOT NULL, memory_id TEXT NOT NULL, section TEXT NOT NULL,
    position INTEGER NOT NULL, added_on TEXT,
    PRIMARY KEY (space_id, path, memory_id),
    FOREIGN KEY(space_id, path) REFERENCES notes (space_id, path) ON DELETE CASCADE,
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_note_items_memory ON note_items (space_id, memory_id);

CREATE TABLE note_lines (
    space_id TEXT NOT NULL, folder TEXT NOT NULL, path TEXT NOT NULL, memory_id TEXT NOT NULL,
    version INTEGER NOT NULL, done BOOLEAN, digest TEXT NOT NULL,
    PRIMARY KEY (space_id, folder, path, memory_id),
    FOREIGN KEY(space_id, folder, path) REFERENCES note_files (space_id, folder, path) ON DELETE
        CASCADE,
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ix_note_lines_memory ON note_lines (space_id, memory_id);

CREATE TABLE pair_checks (
    space_id TEXT NOT NULL, first_id TEXT NOT NULL, second_id TEXT NOT NULL,
    similarity INTEGER NOT NULL, is_same BOOLEAN NOT NULL, checked_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, first_id, second_id),
    FOREIGN KEY(space_id, first_id) REFERENCES memories (space_id, id) ON DELETE CASCADE,
    FOREIGN KEY(space_id, second_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_pair_checks_checked_at ON pair_checks (space_id, checked_at);
CREATE INDEX ix_pair_checks_second ON pair_checks (space_id, second_id);

CREATE TABLE proposals (
    space_id TEXT NOT NULL, memory_id TEXT NOT NULL, concerns TEXT NOT NULL, reason TEXT NOT NULL,
    replaces TEXT, signals INTEGER NOT NULL, created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, memory_id),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_proposals_concerns ON proposals (space_id, concerns, created_at);

CREATE TABLE relations (
    space_id TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL,
    relation_type TEXT NOT NULL, strength FLOAT NOT NULL, found BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, from_id, to_id, relation_type),
    FOREIGN KEY(space_id, from_id) REFERENCES memories (space_id, id) ON DELETE CASCADE,
    FOREIGN KEY(space_id, to_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_relations_to ON relations (space_id, to_id);

CREATE TABLE vectors (
    space_id TEXT NOT NULL, home_path TEXT NOT NULL, memory_id TEXT NOT NULL, model TEXT NOT NULL,
    vector BLOB,
    PRIMARY KEY (space_id, home_path, memory_id),
    FOREIGN KEY(space_id, memory_id) REFERENCES memories (space_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_vectors_memory ON vectors (space_id, memory_id);

-- Row numbers for the full-text index. SQLite may renumber implicit rowids when it vacuums.
CREATE TABLE fts_rows (
    number INTEGER PRIMARY KEY, space_id TEXT NOT NULL, memory_id TEXT NOT NULL,
    UNIQUE (space_id, memory_id)
);

CREATE VIRTUAL TABLE fts_index USING fts5 (
    content, acl_tokens, owner_words, tokenize = 'ascii', detail = column, columnsize = 0
);
