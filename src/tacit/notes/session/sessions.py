"""Sessions, a thread's stretch on one day: what one starts with, and what it leaves behind.

A session's note is its chat's: who may hear of it is settled by the memories that stand in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection

from tacit.learning.extraction.locale import Locale
from tacit.llm.budget import Budget
from tacit.llm.language_model import LanguageModel
from tacit.notes.merge.merging import Matched, distinct, merged
from tacit.notes.merge.promote import Promotion, promotion
from tacit.notes.merge.semantic import matched_by_model
from tacit.notes.merge.tasks import refiled
from tacit.notes.session import drafting
from tacit.notes.text import names
from tacit.prompts import readable_notes
from tacit.prompts.readable_notes import MemoryFilter, ReadableSession
from tacit.records.conversation import ParsedMessage
from tacit.records.memory import ChatKind
from tacit.records.notes import (
    SESSION_SUMMARY_FILING,
    Note,
    NoteItem,
    NoteKind,
    NoteRef,
    Section,
    SessionDraft,
    SessionStart,
    filing_of_section,
    session_name,
)
from tacit.records.request import Request
from tacit.storage import notes
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import NoteRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Which one, and where its note of the day lies."""

    name: str
    day: date
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What there was before a session ended, as far as whoever ends it may hear it."""

    items: tuple[NoteItem, ...] = ()  # of its note of the day
    open_tasks: tuple[
        NoteItem, ...
    ] = ()  # tasks of recent days that wait, those of its own note among them
    open_task_paths: tuple[str, ...] = ()  # where each of these stands
    index: tuple[NoteItem, ...] = ()  # in the person's own private chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A conversation that ended, and how it is to be read."""

    messages: tuple[ParsedMessage, ...]
    speaker: str
    at: datetime
    tongue: Locale
    model: LanguageModel | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be written, found before the transaction: no model is waited for in one."""

    draft: SessionDraft
    items: tuple[NoteItem, ...]
    pairs: tuple[Matched, ...]  # each of the items with what it continues
    promoted: Promotion | None = None
    is_partial: bool = (
        False  # of a session that may go on: made of messages, and not by whoever knows all
    )

    @property
    def has_note(self) -> bool:
        """Whether the session's own note has anything of it."""
        return bool(self.items or self.draft.summary or self.draft.links)

    @property
    def categories(self) -> tuple[str, ...]:
        """Where it is filed: an agent with an allow-list may use all of it, or writes nothing."""
        sections = [item.section for item in self.items]
        if self.promoted is not None:
            sections.append(self.promoted.section)
        summed_up = [SESSION_SUMMARY_FILING.category] if self.has_note else []
        return (
            *dict.fromkeys([*(filing_of_section(one).category for one in sections), *summed_up]),
        )

    @property
    def texts(self) -> list[str]:
        """The wordings that come of it, as far as that can be told."""
        worded = [(new if old is None else merged(old, new)).content for new, old in self.pairs]
        kept = [self.promoted.content] if self.promoted is not None else []
        return list(dict.fromkeys(filter(None, [*worded, *kept, self.draft.summary])))


def session_of(request: Request, thread: str, named: str | None = None) -> Session | None:
    """The session that a view is in, today. None where nobody can tell who listens: such a place
    has no notes."""
    chat = request.chat
    if chat is None or not (request.private or request.kind is ChatKind.GROUP):
        return None
    which = named or thread
    name = session_name(chat, None if which in request.chat_ids else which)
    day = request.at.date()
    path = names.path_of(NoteRef(kind=NoteKind.SESSION, day=day, session=name))
    return Session(name=name, day=day, path=path)


def start(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: Session,
    days: int,
    usable: MemoryFilter,
) -> SessionStart:
    index = readable_notes.list_index_items(connection, audiences, request, usable)
    since = readable_notes.first_day(request.at, days)
    recent = readable_notes.list_recent_sessions(connection, audiences, request, since, usable)
    today = note(connection, audiences, request, session, usable)
    return SessionStart(
        session=session.name,
        long_term=tuple(item for item, _ in index),
        recent=tuple(one.summary for one in recent),
        today=today,
    )


def of_today(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: Session,
    usable: MemoryFilter,
) -> ReadableSession | None:
    """The session's own note, as far as it may be heard."""
    row = notes.get_note(connection, request.space, session.path)
    if row is None or not same_listeners(request, row):
        return None
    told = readable_notes.read_sessions(connection, audiences, request, [row], usable)
    return told[0] if told else None


def note(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: Session,
    usable: MemoryFilter,
) -> Note | None:
    told = of_today(connection, audiences, request, session, usable)
    return None if told is None else readable_notes.make_note(told, request)


def same_listeners(request: Request, row: NoteRow) -> bool:
    """Whether what is said here may show in that note. A task that is ticked where a group sees it
    would tell what was said in private."""
    if request.private:
        return row.chat_kind is ChatKind.PRIVATE and row.subject in request.own_identities
    return row.chat_kind is ChatKind.GROUP and row.chat in request.chat_ids


def look(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: Session,
    days: int,
    usable: MemoryFilter,
) -> Look:
    since = readable_notes.first_day(request.at, days)
    recent = readable_notes.list_recent_sessions(connection, audiences, request, since, usable)
    waiting = [
        (one.row.path, item)
        for one in recent
        if same_listeners(request, one.row)
        for item in readable_notes.make_note(one, request).items
        if item.done is False
    ]
    today = note(connection, audiences, request, session, usable)
    return Look(
        items=() if today is None else today.items,
        open_tasks=tuple(item for _, item in waiting),
        open_task_paths=tuple(path for path, _ in waiting),
        index=tuple(
            item
            for item, _ in readable_notes.list_index_items(connection, audiences, request, usable)
        ),
    )


def plan(seen: Look, heard: Heard, draft: SessionDraft | None, *, private: bool) -> Plan:
    """From what was said, or what an agent made of it, to what is written. In doubt a thing stands
    beside another; what is kept for good is settled where nobody else listens."""
    part = draft is None
    if draft is None:
        waiting = list(dict.fromkeys(item.content for item in seen.open_tasks))
        draft = drafting.draft_by_model(
            heard.model,
            heard.budget,
            heard.messages,
            heard.speaker,
            heard.at,
            heard.tongue,
            waiting,
        )
    new = refiled(distinct(drafting.items_of(draft)), (*seen.items, *seen.open_tasks))
    if not private and draft.summary and not new:
        # A group hears of a session by its items, since a summary may hold words of one that not
        # everybody may hear. Where it is all that there is, it is the item.
        new = (NoteItem(section=Section.SUMMARY, content=draft.summary),)
    promoted = None
    if private:
        asked = (heard.messages, heard.speaker, heard.at, heard.tongue, seen.index)
        promoted = promotion(draft, *asked)
    pairs = matched_by_model(seen.items, new, heard.model, heard.budget)
    return Plan(draft=draft, items=new, pairs=tuple(pairs), promoted=promoted, is_partial=part)


def words_of(draft: SessionDraft | None) -> str:
    """Everything that a draft says, to tell its language by."""
    if draft is None:
        return ""
    items = (item.content for item in drafting.items_of(draft))
    return " ".join([draft.summary, *items, draft.promote or ""])
