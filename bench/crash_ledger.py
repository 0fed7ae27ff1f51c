"""What the killed process had been promised, and whether the database kept it, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, text

from bench.crash_worker import digest
from tacit.memory import Memory

Line = dict[str, Any]

# What no crash may leave behind, whatever was written. Each counts rows that must not be.
_TORN = {
    "a version is missing or too many": (
        "SELECT count(*) FROM memories m WHERE NOT m.is_turn AND m.version <> "
        "(SELECT count(*) FROM memory_versions v "
        "WHERE v.space_id = m.space_id AND v.memory_id = m.id)"
    ),
    "the current version has another wording": (
        "SELECT count(*) FROM memories m LEFT JOIN memory_versions v ON v.space_id = m.space_id "
        "AND v.memory_id = m.id AND v.version = m.version "
        "WHERE NOT m.is_turn AND (v.content IS NULL OR v.content <> m.content)"
    ),
    "a history has gaps": (
        "SELECT count(*) FROM (SELECT memory_id FROM history GROUP BY memory_id "
        "HAVING count(*) <> max(seq) OR min(seq) <> 1) gaps"
    ),
    "an act is not in the delta, or is there twice": (
        "SELECT count(*) FROM memories m WHERE "
        "(SELECT count(*) FROM history h WHERE h.space_id = m.space_id AND h.memory_id = m.id) <> "
        "(SELECT count(*) FROM change_log c WHERE c.space_id = m.space_id AND c.memory_id = m.id)"
    ),
    "a thread is behind its delta": (
        "SELECT count(*) FROM change_log c LEFT JOIN thread_revisions t ON t.space_id = c.space_id "
        "AND t.thread = c.thread WHERE t.rev IS NULL OR t.rev < c.rev"
    ),
    "a memory is about nobody": (
        "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM memory_people p "
        "WHERE p.space_id = m.space_id AND p.memory_id = m.id)"
    ),
    "a set of listeners is unknown": (
        "SELECT count(*) FROM memories m WHERE m.audience IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
        "audience_people a WHERE a.space_id = m.space_id AND a.audience = m.audience)"
    ),
}
_TORN_ON_SQLITE = {
    "words without a memory, or a memory without words": (
        "SELECT (SELECT count(*) FROM memories) <> (SELECT count(*) FROM fts_rows) "
        # Words are indexed in the order of their numbers, and may stop short of the last.
        "OR (SELECT count(*) FROM fts_index) <> (SELECT count(*) FROM fts_rows "
        "WHERE number <= (SELECT max(id) FROM fts_index_content))"
    )
}


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory as it has to be."""

    version: int
    content: str  # as a digest
    state: str
    acts: int  # entries in its history


@dataclass(slots=True)
class Ledger:
    """Everything acknowledged so far, over all killed processes."""

    memories: dict[str, Kept] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    acknowledged: int = 0
    in_flight: Counter[str] = field(default_factory=Counter)  # how many came through, or did not

    def read(self, lines: list[Line]) -> Line | None:
        """Enter a process's lines; the intent it was killed over, if there was one."""
        intent: Line | None = None
        for line in lines:
            if "intent" in line:
                intent = line
            elif "done" in line:
                self._enter(line)
                intent = None
        return intent

    def _enter(self, line: Line) -> None:
        self.acknowledged += 1
        if line["done"] == "link":
            self.links.add(line["key"])
            return
        before = self.memories.get(line["id"], Kept(0, "", "active", 0))
        if line["done"] == "forget":
            after = replace(before, state="forgotten", acts=before.acts + 1)
        else:
            after = Kept(line["version"], line["content"], "active", before.acts + 1)
        self.memories[line["id"]] = after

    def check(self, memory: Memory, intent: Line | None) -> list[str]:
        """What is wrong. What the killed process was at may be there or not, but not by half."""
        with memory._storage.database.read() as connection:
            found = _memories(connection)
            links = _links(connection)
            wrong = _torn(connection)
        differing = {i for i in found.keys() | self.memories if found.get(i) != self.memories.get(i)}
        fresh = links - self.links
        allowed = intent is not None and any(self._came_through(i, found.get(i), intent) for i in differing)
        allowed |= intent is not None and fresh == {intent.get("key")}
        if len(differing) + len(fresh) > 1 or (differing | fresh and not allowed):
            wrong += [f"{i}: {self.memories.get(i)} became {found.get(i)}" for i in differing]
            wrong += [f"{key} is linked, which nobody was told" for key in fresh]
        wrong += [f"the link of {key} is lost" for key in self.links - links]
        if intent is not None:
            self.in_flight["whole" if differing | fresh else "absent"] += 1
        self.memories, self.links = found, links
        return wrong + list(memory.admin.maintain().problems)

    def _came_through(self, id: str, now: Kept | None, intent: Line) -> bool:
        before = self.memories.get(id)
        if now is None:
            return False
        if intent["intent"] == "forget":
            wanted = replace(before, state="forgotten", acts=before.acts + 1) if before else None
            return id == intent["id"] and now == wanted
        version, acts = (before.version, before.acts) if before else (0, 0)
        return now == Kept(version + 1, intent["content"], "active", acts + 1)


def _memories(connection: Connection) -> dict[str, Kept]:
    rows = connection.execute(
        text(
            "SELECT m.id, m.version, m.content, m.state, (SELECT count(*) FROM history h "
            "WHERE h.space_id = m.space_id AND h.memory_id = m.id) FROM memories m"
        )
    )
    return {id: Kept(version, digest(words), state, n) for id, version, words, state, n in rows}


def _links(connection: Connection) -> set[str]:
    rows = connection.execute(text("SELECT source FROM identity_links WHERE ended_at IS NULL"))
    return {source.removeprefix("ext:") for source in rows.scalars()}


def _torn(connection: Connection) -> list[str]:
    rules = _TORN | (_TORN_ON_SQLITE if connection.dialect.name == "sqlite" else {})
    counted = ((what, connection.execute(text(sql)).scalar()) for what, sql in rules.items())
    return [f"{what}: {count}" for what, count in counted if count]
