"""Start and end sessions: what one starts with, and the note that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from sqlalchemy import Connection

from tacit import limits
from tacit.learning.composition import compute_expiry
from tacit.lifecycle.inferred import build_inferred_memory
from tacit.notes import drafts, merge, paths
from tacit.notes.drafts import EndedConversation
from tacit.notes.promotion import Promotion, find_promotion, promote
from tacit.notes.writers import ViewNoteWriter, chat_sensitivity
from tacit.policy.rules import ChangeAction, may_change
from tacit.prompts import readable_notes
from tacit.prompts.fence import clip_text
from tacit.prompts.readable_notes import MemoryFilter
from tacit.records import notes
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, State
from tacit.records.notes import (
    SESSION_SUMMARY_FILING,
    Filing,
    Note,
    NoteItem,
    NoteKind,
    NoteRef,
    NoteSummary,
    Section,
    SessionDraft,
    SessionEnded,
    session_name,
)
from tacit.records.request import Request
from tacit.storage import memories, relations
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import NoteRow, ensure_note, get_note, list_items, list_visible_items, put_item, update_note

# Sessions: a thread's turns of one day, and the note they leave. The note belongs to its chat; its
# memories decide who may see it.

_SUMMARY_IMPORTANCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSession:
    """A session, and the path of its note of the day."""

    name: str
    day: date
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What is there before a session starts or ends, as far as the requester may see it."""

    today: Note | None = None  # its note of the day
    recent: tuple[NoteSummary, ...] = ()
    open_tasks: tuple[tuple[str, NoteItem], ...] = ()  # of recent days, with the paths of the notes
    index: tuple[NoteItem, ...] = ()  # in the person's own private chat

    @property
    def items(self) -> tuple[NoteItem, ...]:
        return () if self.today is None else self.today.items


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """What to write, planned before the transaction: no model is called inside one."""

    draft: SessionDraft
    items: tuple[NoteItem, ...]
    pairs: tuple[merge.MatchedItem, ...]  # each item with what it continues
    promoted: Promotion | None = None
    is_partial: bool = False  # made of messages of a session that may continue, not by its agent

    @property
    def has_note(self) -> bool:
        """Report whether the session's own note gets anything."""
        return bool(self.items or self.draft.summary or self.draft.links)

    @property
    def categories(self) -> tuple[str, ...]:
        """Return the categories it uses: an agent with an allow-list may use all or writes nothing."""
        sections = [item.section for item in self.items]
        if self.promoted is not None:
            sections.append(self.promoted.section)
        found = [notes.filing_of_section(one).category for one in sections]
        return tuple(dict.fromkeys([*found, SESSION_SUMMARY_FILING.category] if self.has_note else found))

    @property
    def texts(self) -> list[str]:
        """Return the wordings that it will write, as far as known."""
        worded = [(new if old is None else merge.merge_item(old, new)).content for new, old in self.pairs]
        kept = [self.promoted.content] if self.promoted is not None else []
        return list(dict.fromkeys(filter(None, [*worded, *kept, self.draft.summary])))


def find_session(request: Request, thread: str, named: str | None = None) -> NoteSession | None:
    """Return the session of a view, today.

    None where the audience is unknown: such a chat has no notes.
    """
    chat = request.chat
    if chat is None or not (request.private or request.kind is ChatKind.GROUP):
        return None
    which = named or thread
    name = session_name(chat, None if which in request.chat_ids else which)
    day = request.at.date()
    path = paths.note_path(NoteRef(kind=NoteKind.SESSION, day=day, session=name))
    return NoteSession(name=name, day=day, path=path)


@dataclass(frozen=True, slots=True)
class SessionReader:
    """Read sessions as far as the requester may see them, and the agent may use what is in them."""

    connection: Connection
    audiences: AudienceCache
    request: Request
    usable: MemoryFilter

    def load_note(self, session: NoteSession) -> Note | None:
        """Load the session's own note."""
        row = get_note(self.connection, self.request.space, session.path)
        if row is None or not has_same_audience(self.request, row):
            return None
        where = (self.connection, self.audiences, self.request)
        told = readable_notes.read_sessions(*where, [row], self.usable)
        return readable_notes.make_note(told[0], self.request) if told else None

    def load_context(self, session: NoteSession, days: int, *, ending: bool) -> SessionContext:
        """Load what a session starts with; one that ends also gets the open tasks."""
        request, usable = self.request, self.usable
        where = (self.connection, self.audiences, request)
        since = readable_notes.first_day(request.at, days)
        recent = readable_notes.list_recent_sessions(*where, since, usable)
        index = readable_notes.list_index_items(*where, usable)
        return SessionContext(
            today=self.load_note(session),
            recent=tuple(one.summary for one in recent),
            open_tasks=tuple(
                (one.row.path, item)
                for one in recent
                if ending and has_same_audience(request, one.row)
                for item in readable_notes.make_note(one, request).items
                if item.done is False
            ),
            index=tuple(item for item, _ in index),
        )


def has_same_audience(request: Request, row: NoteRow) -> bool:
    """Report whether what is said here may show in that note.

    A task ticked in a group would reveal what was said in private.
    """
    if request.private:
        return row.chat_kind is ChatKind.PRIVATE and row.subject in request.own_identities
    return row.chat_kind is ChatKind.GROUP and row.chat in request.chat_ids


def plan_session(
    seen: SessionContext, heard: EndedConversation, draft: SessionDraft | None, *, private: bool
) -> SessionPlan:
    """Plan the note from the messages or from an agent's draft.

    In doubt an item is added beside another; the long-term index changes in private only.
    """
    open_tasks = [item for _, item in seen.open_tasks]
    is_partial = draft is None
    if draft is None:
        contents = [item.content for item in open_tasks]
        draft = drafts.draft_by_model(heard, list(dict.fromkeys(contents)))
    new = merge.remove_duplicates(drafts.list_draft_items(draft))
    new = drafts.refile_finished(new, (*seen.items, *open_tasks))
    if not private and draft.summary and not new:
        # A group sees a session by its items, because a summary may contain words that not all
        # members may see. If the summary is all there is, it becomes the item.
        new = (NoteItem(section=Section.SUMMARY, content=draft.summary),)
    promoted = find_promotion(draft, heard, seen.index) if private else None
    pairs = merge.match_items_with_model(seen.items, new, heard.model, heard.budget)
    return SessionPlan(draft=draft, items=new, pairs=tuple(pairs), promoted=promoted, is_partial=is_partial)


def join_draft_text(draft: SessionDraft | None) -> str:
    """Join all texts of a draft, to detect its language."""
    if draft is None:
        return ""
    items = (item.content for item in drafts.list_draft_items(draft))
    return " ".join([draft.summary, *items, draft.promote or ""])


# Write the end of a session in one transaction: its note and items, finished tasks of recent days,
# and what enters the long-term index.


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnding:
    """One write, and the operator's options for it."""

    writer: ViewNoteWriter
    session: NoteSession
    usable: MemoryFilter
    contact: tuple[str | None, str | None] = (None, None)  # id and nickname of the one person

    def save(self, seen: SessionContext, plan: SessionPlan) -> SessionEnded:
        tx, path = self.writer.tx, self.session.path
        # Serialize concurrent ends of a session, or both would add the same items.
        tx.dialect.acquire_lock(tx.connection, f"{tx.space} note {path}")
        reader = SessionReader(tx.connection, tx.audiences, tx.request, self.usable)
        row: NoteRow | None = None
        pairs: Sequence[merge.MatchedItem] = ()
        added, handled = 0, set[str]()
        if plan.has_note:
            row = ensure_note(tx, self._build_row())
            there = reader.load_note(self.session)
            items = () if there is None else there.items
            # If the note changed meanwhile, match again by rules.
            pairs = plan.pairs if items == seen.items else merge.match_items(items, plan.items)
            for new, old in pairs:
                id = None if old is None else self._merge_item(old, new)
                if id is None:
                    filed = notes.filing_of_section(new.section)
                    filed = filed._replace(tags=notes.tags_of_item(new.section, new.done))
                    id = self.writer.remember(new.content, filed).id
                    put_item(tx, path, id, new.section)
                    added += 1
                handled.add(id)
        ticked = self._tick_tasks(seen, plan, handled)
        promoted = None
        if plan.promoted is not None:
            promoted = promote(self.writer, path, self.usable, plan.promoted)
        if row is not None:
            draft = plan.draft
            # No rule covers links and tags, and they have no owner: a group's note has none.
            links, tags = (draft.links, draft.tags) if tx.request.private else ((), ())
            update_note(
                tx,
                path,
                summary_id=self._save_summary(row, draft.summary, is_part=plan.is_partial),
                links=merge.merge_links(row.links, links),
                tags=tuple(dict.fromkeys((*row.tags, *tags)))[: limits.TAGS_MAX_COUNT],
                updated_at=tx.at,
            )
        return SessionEnded(
            path=path,
            added=added,
            merged=len(pairs) - added,
            ticked=ticked,
            promoted=promoted,
            note=reader.load_note(self.session),
        )

    def _build_row(self) -> NoteRow:
        tx, request = self.writer.tx, self.writer.tx.request
        return NoteRow(
            path=self.session.path,
            kind=NoteKind.SESSION,
            created_at=tx.at,
            updated_at=tx.at,
            subject=request.subject if request.private else None,
            day=self.session.day,
            session=self.session.name,
            chat=request.chat,
            chat_kind=request.kind,
            thread=tx.thread,
            source=request.channel,
            channel=request.chat,
            contact_id=self.contact[0],
            contact_nickname=self.contact[1],
        )

    def _merge_item(self, old: NoteItem, new: NoteItem) -> str | None:
        """Return the id of the merged memory, or None where it cannot be changed."""
        memory, tx = self._get_changeable(old.id), self.writer.tx
        if memory is None:
            return None
        item, was = merge.merge_item(old, new), memory.id
        if item.content != memory.content:
            memory = self.writer.reword(memory, item.content)
        if memory.id != was:  # another memory, for another audience, in the same place
            rows = list_items(tx.connection, tx.space, self.session.path)
            place = next(one.position for one in rows if one.memory_id == was)
            put_item(tx, self.session.path, memory.id, item.section, place)
        if item.done:
            self._tick(memory)
        return memory.id

    def _get_changeable(self, id: str | None) -> Memory | None:
        memory = memories.get_for_update(self.writer.tx, id) if id is not None else None
        if memory is None or memory.state is not State.ACTIVE:
            return None
        may = may_change(ChangeAction.UPDATE, self.writer.tx.request, memory) is not None
        return memory if may else None

    def _tick_tasks(self, seen: SessionContext, plan: SessionPlan, handled: set[str]) -> int:
        """Tick open tasks of recent days, and return how many."""
        where = {item.id: path for path, item in seen.open_tasks}
        finished = [one.text for one in (*plan.draft.tasks, *plan.draft.follow_ups) if one.done]
        count = 0
        for item in drafts.tick_finished(finished, [item for _, item in seen.open_tasks]):
            memory = self._get_changeable(item.id) if item.id not in handled else None
            if memory is not None and self._tick(memory):
                update_note(self.writer.tx, where[item.id], updated_at=self.writer.tx.at)
                count += 1
        return count

    def _tick(self, memory: Memory) -> bool:
        """Mark a task as done; report whether it was open."""
        if memory.kind is not Kind.TASK or notes.is_task_done(memory):
            return False
        section = Section.FOLLOW_UPS if notes.FOLLOW_UP_TAG in memory.tags else Section.TASKS
        tags = notes.tags_of_item(section, True, memory.tags)
        self.writer.refile(memory, Filing(memory.kind, memory.category, tags))
        return True

    def _save_summary(self, row: NoteRow, said: str, *, is_part: bool) -> str | None:
        """Store the summary and return the id of its memory.

        It is inferred and has no speaker, so it goes with what it was made of when that is erased.
        In a group no requester sees it, because it may contain words that not all members may see;
        there it exists in the file only. Without a text it is made of the items of the note. A part
        is added to the summary that was there.
        """
        tx, ttls = self.writer.tx, self.writer.retention.ttls
        rows = list_visible_items(tx.connection, tx.audiences, tx.request, [row.path])[row.path]
        said = said or readable_notes.compose_summary(rows)[0]
        content = clip_text(said, limits.SESSION_SUMMARY_MAX_CHARS)
        old = memories.get_for_update(tx, row.summary_id) if row.summary_id is not None else None
        unwanted = old is not None and old.state is not State.ACTIVE  # it was forgotten
        if not content or unwanted:
            return row.summary_id
        if old is not None and is_part:
            content = _join_summaries(old.content, content)
        found = [chat_sensitivity(content), *(memory.sensitivity for _, memory in rows)]
        found += [Sensitivity.PERSONAL] if old is None else [Sensitivity.PERSONAL, old.sensitivity]
        sensitivity = max(found, key=lambda one: one.rank)
        expires_at = compute_expiry(Kind.EVENT, tx.at, ttls)
        if old is None:
            memory = self._build_summary(content, sensitivity, expires_at)
            memories.insert_memory(tx, memory, in_delta=False)
        elif content == old.content:
            memory = old
        else:
            memory = replace(
                old,
                content=content,
                version=old.version + 1,
                sensitivity=sensitivity,
                expires_at=expires_at,
                updated_at=tx.at,
            )
            memories.update_content(tx, memory)
        relations.insert_sources(tx, memory.id, [one.id for _, one in rows])
        return memory.id

    def _build_summary(self, content: str, sensitivity: Sensitivity, expires_at: datetime | None) -> Memory:
        tx, request = self.writer.tx, self.writer.tx.request
        assert request.subject is not None
        assert request.chat is not None
        memory = build_inferred_memory(
            tx,
            content,
            owner=request.subject,
            chat=request.chat,
            channel=request.channel,
            thread=tx.thread,
            kind=SESSION_SUMMARY_FILING.kind,
            category=SESSION_SUMMARY_FILING.category,
            sensitivity=sensitivity,
            importance=_SUMMARY_IMPORTANCE,
            expires_at=expires_at,
            tags=SESSION_SUMMARY_FILING.tags,
        )
        if request.private:
            return memory
        return replace(memory, owner=None, learned_kind=ChatKind.GROUP, confidential=request.confidential)


def _join_summaries(before: str, after: str) -> str:
    """Join both if they fit; otherwise keep the newer one."""
    if after in before:
        return before
    both = f"{before.rstrip(' .;')}; {after}"
    return after if before in after or len(both) > limits.SESSION_SUMMARY_MAX_CHARS else both
