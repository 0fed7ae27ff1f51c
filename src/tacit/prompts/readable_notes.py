"""Read the notes and sessions that a request may see, with their summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import Connection

from tacit import limits
from tacit.policy.rules import may_enter_prompt, redact_memory
from tacit.prompts.fence import make_hedge, make_line
from tacit.records.memory import ChatKind, Memory, State
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    Frontmatter,
    Note,
    NoteItem,
    NoteKind,
    NoteRef,
    NoteSummary,
    Section,
    TaskProgress,
    item_from_memory,
)
from tacit.records.request import Request
from tacit.retrieval.retriever import list_known_people
from tacit.retrieval.text_features import KnownNames
from tacit.storage import notes
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import ItemMemories, NoteRow

MemoryFilter = Callable[[Memory], bool]
_SUMMARY_SECTIONS = (Section.SUMMARY, Section.FACTS, Section.TASKS, Section.FOLLOW_UPS)
_LABELS = ("Topic", "Event", "Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableSession:
    """A session as this audience may see it."""

    row: NoteRow
    rows: ItemMemories
    summary: NoteSummary
    sources: tuple[Memory, ...]  # the memories that the summary is made of

    @property
    def newest(self) -> datetime:
        return max(memory.created_at for memory in self.memories)

    @property
    def memories(self) -> tuple[Memory, ...]:
        return (*(memory for _, memory in self.rows), *self.sources)


def first_day(at: datetime, days: int) -> date:
    """Return the first of so many days up to and including this one."""
    return at.date() - timedelta(days=days - 1)


def list_index_items(
    connection: Connection, audiences: AudienceCache, request: Request, usable: MemoryFilter
) -> list[tuple[NoteItem, Memory]]:
    """List the long-term items of all own identities, in a private chat only."""
    if not request.private:
        return []
    own = (request.space, request.own_identities)
    paths = [row.path for row in notes.list_notes_of(connection, *own, NoteKind.LONG_TERM)]
    heard = notes.list_visible_items(connection, audiences, request, paths)
    found = {
        memory.id: (item_from_memory(memory, row.section, row.added_on), memory)
        for path in paths
        for row, memory in heard[path]
        if usable(memory)
    }
    return list(found.values())


def list_recent_sessions(
    connection: Connection, audiences: AudienceCache, request: Request, since: date, usable: MemoryFilter
) -> list[ReadableSession]:
    """List sessions with summary and tasks, newest first by what the request may see."""
    rows = notes.list_recent_sessions(connection, audiences, request, since, limits.NOTES_RECENT_MAX_COUNT)
    found = read_sessions(connection, audiences, request, rows, usable, whole=False)
    return sorted(found, key=lambda one: (one.summary.day, one.newest, one.row.path), reverse=True)


def read_sessions(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    rows: Sequence[NoteRow],
    usable: MemoryFilter,
    *,
    whole: bool = True,
) -> list[ReadableSession]:
    """Read sessions; the caller has checked that the request may know of them.

    Unless `whole`, read only summary and tasks of those that have a summary.
    """
    summed_up = {
        path: summary
        for path, summary in notes.list_visible_summaries(
            connection, audiences, request, [row for row in rows if _is_private(row)]
        ).items()
        if usable(summary)
    }
    brief = set() if whole else set(summed_up)
    heard = notes.list_visible_items(
        connection, audiences, request, brief, sections=CHECKBOX_SECTIONS, states=[State.ACTIVE]
    )
    others = [row.path for row in rows if row.path not in brief]
    heard |= notes.list_visible_items(connection, audiences, request, others)
    called = KnownNames(request, list_known_people(connection, request)).labels
    heard = {
        path: [
            (item, redact_memory(request, memory, called))
            for item, memory in items
            if may_enter_prompt(request, memory)
        ]
        for path, items in heard.items()
    }
    found = (
        _make_session(row, [one for one in heard[row.path] if usable(one[1])], summed_up.get(row.path)) for row in rows
    )
    return [one for one in found if one is not None]


def _is_private(row: NoteRow) -> bool:
    """Whether the session is private. A group's summary may repeat items hidden from some members."""
    return row.chat_kind is ChatKind.PRIVATE


def _make_session(row: NoteRow, rows: ItemMemories, summary: Memory | None) -> ReadableSession | None:
    words, made_of = (summary.content, (summary,)) if summary is not None else compose_summary(rows)
    if not words:
        return None
    assert row.day is not None
    return ReadableSession(
        row=row,
        rows=rows,
        summary=NoteSummary(
            path=row.path,
            day=row.day,
            summary=words,
            tasks=_progress(rows, Section.TASKS),
            follow_ups=_progress(rows, Section.FOLLOW_UPS),
        ),
        sources=made_of,
    )


def compose_summary(rows: ItemMemories) -> tuple[str, tuple[Memory, ...]]:
    """Compose a summary of the visible items, and return it with its memories.

    Uses the first section that has items: summary, facts, tasks, follow-ups.
    """
    for section in _SUMMARY_SECTIONS:
        parts: list[str] = []
        made_of: list[Memory] = []
        for item, memory in rows:
            if item.section is not section:
                continue
            part = _headline(memory)
            if parts and len("; ".join([*parts, part])) > limits.SESSION_SUMMARY_MAX_CHARS:
                break
            parts.append(part)
            made_of.append(memory)
        if parts:
            return "; ".join(parts), tuple(made_of)
    return "", ()


def _headline(memory: Memory) -> str:
    """Return the first line; of a topic also its event and result."""
    lines = [line.strip() for line in memory.content.splitlines() if line.strip()]
    labelled = dict(_split_label(line) for line in lines)
    if "Topic" not in labelled:
        return make_hedge(make_line(memory)) + (lines[0] if lines else "")
    topic, event, result = (labelled.get(label, "") for label in _LABELS)
    text = ": ".join(filter(None, (topic, event)))
    return make_hedge(make_line(memory)) + (f"{text} ({result})" if result else text)


def _split_label(line: str) -> tuple[str, str]:
    label, _, rest = line.partition(":")
    return (label, rest.strip()) if label in _LABELS else ("", "")


def _progress(rows: ItemMemories, section: Section) -> TaskProgress:
    boxes = [item_from_memory(memory, section).done for row, memory in rows if row.section is section]
    return TaskProgress(done=sum(map(bool, boxes)), total=len(boxes))


def make_note(session: ReadableSession, request: Request) -> Note:
    """Return the whole note as it may be seen.

    No rule covers what is not a memory (tags, contact, links): only the person of the note sees it.
    """
    row = session.row
    own = request.private and _is_private(row)
    return Note(
        place=NoteRef(kind=row.kind, subject=row.subject, day=row.day, session=row.session),
        head=Frontmatter(
            created_at=row.created_at if own else min(m.created_at for m in session.memories),
            updated_at=row.updated_at if own else session.newest,
            summary=session.summary.summary,
            session_id=row.session,
            source=row.source,
            channel=row.channel,
            tags=row.tags if own else (),
            subject_id=row.subject if own else None,
            contact_id=row.contact_id if own else None,
            contact_nickname=row.contact_nickname if own else None,
        ),
        items=tuple(item_from_memory(memory, item.section) for item, memory in session.rows),
        links=row.links if own else (),
    )
