"""Everything that the doctor mends, as the statements that bring it about."""

from dataclasses import dataclass

TEA = "(SELECT id FROM memories WHERE content = 'Alice likes tea')"
PORTO = "(SELECT id FROM memories WHERE content = 'Alice lives in Porto')"
SURPRISE = "(SELECT id FROM memories WHERE content = 'A surprise for Bob')"
TURN = "(SELECT min(id) FROM memories WHERE is_turn)"
KEY_INDEX = (
    "CREATE UNIQUE INDEX uq_memories_key ON memories (space_id, owner, category, key) "
    "WHERE key IS NOT NULL AND state = 'active'"
)
LINK_INDEX = "CREATE UNIQUE INDEX uq_identity_links_current ON identity_links (space_id, source) WHERE ended_at IS NULL"
LINK = (
    "INSERT INTO identity_links (space_id, id, source, target, kind, actor, created_at, "
    "verified_at) VALUES ('default', 'l1', {}, {}, 'link', 'system', 9999999999999999, 1)"
)


@dataclass(frozen=True)
class Trouble:
    check: str
    statements: tuple[str, ...]
    sqlite: tuple[str, ...] | None = None  # where it is another one there
    afterwards: tuple[str, ...] = ()  # what holds again only once all is well


def _of(table: str, rest: str) -> str:
    return f"DELETE FROM {table} WHERE memory_id = {rest}"


TROUBLES: dict[str, Trouble] = {
    "a memory is gone and its rows are left": Trouble(
        "orphans", ("DELETE FROM memories WHERE content = 'Alice lives in Porto'",)
    ),
    "a turn is gone and what was learned from it is left": Trouble(
        "orphans", (f"DELETE FROM memories WHERE id = {TURN}",)
    ),
    "the current version is missing": Trouble("versions", (_of("memory_versions", TEA),)),
    "an earlier version is missing": Trouble("versions", (_of("memory_versions", PORTO) + " AND version = 1",)),
    "the version says something else": Trouble(
        "versions", (f"UPDATE memory_versions SET content = 'x' WHERE memory_id = {TEA}",)
    ),
    "there are later versions than the current one": Trouble(
        "versions", (f"UPDATE memories SET version = 1 WHERE id = {PORTO}",)
    ),
    "the history is lost": Trouble("history", (_of("history", TEA),)),
    "the beginning of a history is lost": Trouble("history", (_of("history", PORTO) + " AND event = 'ADD'",)),
    "a memory is about nobody": Trouble("people", (_of("memory_people", TEA),)),
    "a turn is about nobody": Trouble("people", (_of("memory_people", TURN),)),
    "somebody withheld from is not indexed": Trouble(
        "people", (_of("memory_people", SURPRISE) + " AND role = 'withheld'",)
    ),
    "one of two withheld from is not indexed": Trouble(
        "people", (_of("memory_people", SURPRISE) + " AND role = 'withheld' AND person LIKE 'person:%'",)
    ),
    "somebody is withheld from in the index alone": Trouble(
        "people",
        (
            (
                "INSERT INTO memory_people (space_id, memory_id, role, person) "
                f"VALUES ('default', {TEA}, 'withheld', 'ext:telegram:7')"
            ),
        ),
    ),
    "a thread is behind its changes": Trouble("thread-revisions", ("UPDATE thread_revisions SET rev = 1",)),
    "a thread has no revision": Trouble("thread-revisions", ("DELETE FROM thread_revisions",)),
    "listeners are missing": Trouble("audiences", ("DELETE FROM audience_people",)),
    "listeners are others than heard it": Trouble(
        "audiences", ("UPDATE audience_people SET person = 'ext:telegram:9' WHERE person LIKE '%2002'",)
    ),
    "listeners of nothing": Trouble(
        "unused-audiences", ("INSERT INTO audience_people VALUES ('default', 'nothing', 'ext:telegram:9')",)
    ),
    "it gave way to nothing": Trouble(
        "successors", ("UPDATE memories SET superseded_by = '00000000' WHERE state = 'superseded'",)
    ),
    "two gave way to each other": Trouble(
        "successors",
        (
            f"UPDATE memories SET state = 'superseded', superseded_by = {PORTO} WHERE id = {TEA}",
            f"UPDATE memories SET state = 'superseded', superseded_by = {TEA} WHERE id = {PORTO}",
        ),
    ),
    "it gave way to itself": Trouble(
        "successors", (f"UPDATE memories SET state = 'superseded', superseded_by = id WHERE id = {TEA}",)
    ),
    "links in a circle": Trouble("identity-links", (LINK.format("'acct:alice'", "'ext:telegram:1001'"),)),
    "two links from one identity": Trouble(
        "identity-links",
        ("DROP INDEX uq_identity_links_current", LINK.format("'ext:telegram:1001'", "'acct:other'")),
        afterwards=(LINK_INDEX,),
    ),
    "the wrong value of a key is shadowed": Trouble(
        "shadowed-keys", ("UPDATE memories SET overridden = NOT overridden WHERE key = 'city' AND state = 'active'",)
    ),
    "somebody unknown counts as known": Trouble(
        "withheld-unknown", ("UPDATE memories SET withheld_unknown = NOT withheld_unknown WHERE has_withheld",)
    ),
    "a memory of a confidential chat may leave it": Trouble(
        "confidential", ("UPDATE memories SET confidential = false WHERE content = 'Secret plans'",)
    ),
    "a key has two values": Trouble(
        "keys",
        (
            "DROP INDEX uq_memories_key",
            f"UPDATE memories SET category = 'profile', key = 'k' WHERE id IN ({TEA}, {PORTO})",
        ),
        afterwards=(KEY_INDEX,),
    ),
    "forgotten for ever": Trouble("purge-dates", ("UPDATE memories SET purge_at = NULL WHERE state = 'forgotten'",)),
    "to be purged while it stands": Trouble("purge-dates", (f"UPDATE memories SET purge_at = 1 WHERE id = {TEA}",)),
    "nobody is asked": Trouble("proposals", (f"UPDATE memories SET state = 'pending' WHERE id = {TEA}",)),
    "it was answered and still asks": Trouble(
        "proposals",
        (
            (
                "INSERT INTO proposals "
                "(space_id, memory_id, concerns, reason, signals, created_at, expires_at) "
                f"VALUES ('default', {TEA}, 'ext:telegram:1001', '', 1, 1, 1)"
            ),
        ),
    ),
    "the speaker is lost": Trouble("speakers", (f"UPDATE memories SET speaker = NULL WHERE id = {TEA}",)),
    "the speaker is lost from its version too": Trouble(
        "speakers",
        (
            f"UPDATE memories SET speaker = NULL WHERE id = {TEA}",
            f"UPDATE memory_versions SET speaker = NULL WHERE memory_id = {TEA}",
        ),
    ),
    "Zoe is there twice": Trouble(
        "duplicate-people",
        (
            (
                "INSERT INTO people (space_id, id, created_by, created_at) "
                "VALUES ('default', 'person:Zoe00002', 'ext:telegram:1001', 1)"
            ),
            (
                "INSERT INTO person_names "
                "SELECT space_id, 'person:Zoe00002', kind, folded, known_to, name, created_at "
                "FROM person_names WHERE folded = 'zoe'"
            ),
        ),
    ),
    "Bob lives in two towns": Trouble(
        "contradictions",
        (
            (
                "UPDATE memories SET state = 'active', superseded_by = NULL, purge_at = NULL "
                "WHERE owner LIKE '%2002' AND content LIKE '%Berlin%' AND NOT is_turn"
            ),
        ),
    ),
    "words are missing": Trouble(
        "words",
        (f"UPDATE memories SET fts_document = '' WHERE id = {TEA}",),
        sqlite=("DELETE FROM fts_rows WHERE memory_id = " + TEA,),
    ),
    "words are those of something else": Trouble(
        "words",
        (f"UPDATE memories SET fts_document = array_to_tsvector(ARRAY['x']) WHERE id = {TEA}",),
        sqlite=(
            (f"UPDATE fts_index SET content = 'x' WHERE rowid = (SELECT number FROM fts_rows WHERE memory_id = {TEA})"),
        ),
    ),
    "words lie behind another's door": Trouble(
        "words",
        (f"UPDATE memories SET fts_document = '' WHERE id = {TEA}",),
        sqlite=(
            (
                "UPDATE fts_index SET acl_tokens = 'x' WHERE rowid = "
                f"(SELECT number FROM fts_rows WHERE memory_id = {TEA})"
            ),
        ),
    ),
    "a vector lies with somebody else": Trouble(
        "stray-vectors", (f"UPDATE vectors SET home_path = 'p:nobody' WHERE memory_id = {TEA}",)
    ),
    "a vector is missing": Trouble("missing-vectors", (_of("vectors", TEA),)),
    "a vector is another model's": Trouble(
        "missing-vectors", (f"UPDATE vectors SET model = 'old' WHERE memory_id = {TEA}",)
    ),
    "a turn was given up": Trouble("parked-jobs", ("UPDATE jobs SET parked = true",)),
}
