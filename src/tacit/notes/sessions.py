"""Start and end sessions: what one starts with, and the note that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from sqlalchemy import Connection

from tacit import limits
from tacit.identity.external_keys import channel_of_chat
from tacit.learning import memory_writes
from tacit.learning.composition import Ttls, compute_expiry, stricter_sensitivity
from tacit.learning.extraction.locale import Locale
from tacit.lifecycle.inferred import build_inferred_memory
from tacit.llm.budget import Budget
from tacit.llm.language_model import LanguageModel
from tacit.notes import drafts, paths
from tacit.notes.drafts import list_finished_tasks, refile_finished, tick_finished
from tacit.notes.merge import (
    MatchedItem,
    match_items,
    match_items_with_model,
    merge_item,
    merge_links,
    remove_duplicates,
)
from tacit.notes.promotion import Promotion, PromotionWriter, find_promotion
from tacit.notes.writers import (
    are_same_people,
    chat_sensitivity,
    find_subjects,
    raise_sensitivity,
)
from tacit.policy.permissions import ChangeAction, RequesterRole, may_change
from tacit.prompts import readable_notes
from tacit.prompts.fence import clip_text
from tacit.prompts.readable_notes import MemoryFilter, ReadableSession
from tacit.records import notes
from tacit.records.conversation import ParsedMessage
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Kind, Memory, Sensitivity, State, Trust
from tacit.records.notes import (
    SESSION_SUMMARY_FILING,
    Note,
    NoteItem,
    NoteKind,
    NoteRef,
    Section,
    SessionDraft,
    SessionEnded,
    SessionStart,
    filing_of_section,
    session_name,
)
from tacit.records.request import Request
from tacit.retrieval.text_features import KnownNames
from tacit.storage import memories, relations
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AudienceCache
from tacit.storage.notes import (
    NoteRow,
    ensure_note,
    get_note,
    list_items,
    list_visible_items,
    put_item,
    update_note,
)

# Sessions: a thread's turns of one day, and the note they leave. The note belongs to its chat; its
# memories decide who may see it.


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSession:
    """A session, and the path of its note of the day."""

    name: str
    day: date
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What was there before a session ended, as far as the requester may see it."""

    items: tuple[NoteItem, ...] = ()  # of its note of the day
    open_tasks: tuple[
        NoteItem, ...
    ] = ()  # open tasks of recent days, those of its own note included
    open_task_paths: tuple[str, ...] = ()  # where each of these stands
    index: tuple[NoteItem, ...] = ()  # in the person's own private chat


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedConversation:
    """An ended conversation, and how to read it."""

    messages: tuple[ParsedMessage, ...]
    speaker: str
    at: datetime
    locale: Locale
    model: LanguageModel | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """What to write, planned before the transaction: no model is called inside one."""

    draft: SessionDraft
    items: tuple[NoteItem, ...]
    pairs: tuple[MatchedItem, ...]  # each item with what it continues
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
        summed_up = [SESSION_SUMMARY_FILING.category] if self.has_note else []
        return (
            *dict.fromkeys([*(filing_of_section(one).category for one in sections), *summed_up]),
        )

    @property
    def texts(self) -> list[str]:
        """Return the wordings that it will write, as far as known."""
        worded = [(new if old is None else merge_item(old, new)).content for new, old in self.pairs]
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


def start_session(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: NoteSession,
    days: int,
    usable: MemoryFilter,
) -> SessionStart:
    index = readable_notes.list_index_items(connection, audiences, request, usable)
    since = readable_notes.first_day(request.at, days)
    recent = readable_notes.list_recent_sessions(connection, audiences, request, since, usable)
    today = load_session_note(connection, audiences, request, session, usable)
    return SessionStart(
        session=session.name,
        long_term=tuple(item for item, _ in index),
        recent=tuple(one.summary for one in recent),
        today=today,
    )


def load_today(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: NoteSession,
    usable: MemoryFilter,
) -> ReadableSession | None:
    """Load the session's own note, as far as the requester may see it."""
    row = get_note(connection, request.space, session.path)
    if row is None or not has_same_audience(request, row):
        return None
    told = readable_notes.read_sessions(connection, audiences, request, [row], usable)
    return told[0] if told else None


def load_session_note(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: NoteSession,
    usable: MemoryFilter,
) -> Note | None:
    told = load_today(connection, audiences, request, session, usable)
    return None if told is None else readable_notes.make_note(told, request)


def has_same_audience(request: Request, row: NoteRow) -> bool:
    """Report whether what is said here may show in that note.

    A task ticked in a group would reveal what was said in private.
    """
    if request.private:
        return row.chat_kind is ChatKind.PRIVATE and row.subject in request.own_identities
    return row.chat_kind is ChatKind.GROUP and row.chat in request.chat_ids


def load_context(
    connection: Connection,
    audiences: AudienceCache,
    request: Request,
    session: NoteSession,
    days: int,
    usable: MemoryFilter,
) -> SessionContext:
    since = readable_notes.first_day(request.at, days)
    recent = readable_notes.list_recent_sessions(connection, audiences, request, since, usable)
    waiting = [
        (one.row.path, item)
        for one in recent
        if has_same_audience(request, one.row)
        for item in readable_notes.make_note(one, request).items
        if item.done is False
    ]
    today = load_session_note(connection, audiences, request, session, usable)
    return SessionContext(
        items=() if today is None else today.items,
        open_tasks=tuple(item for _, item in waiting),
        open_task_paths=tuple(path for path, _ in waiting),
        index=tuple(
            item
            for item, _ in readable_notes.list_index_items(connection, audiences, request, usable)
        ),
    )


def plan_session(
    seen: SessionContext, heard: EndedConversation, draft: SessionDraft | None, *, private: bool
) -> SessionPlan:
    """Plan the note from the messages or from an agent's draft.

    In doubt an item is added beside another; the long-term index changes in private only.
    """
    part = draft is None
    if draft is None:
        waiting = list(dict.fromkeys(item.content for item in seen.open_tasks))
        draft = drafts.draft_by_model(
            heard.model,
            heard.budget,
            heard.messages,
            heard.speaker,
            heard.at,
            heard.locale,
            waiting,
        )
    new = refile_finished(
        remove_duplicates(drafts.list_draft_items(draft)), (*seen.items, *seen.open_tasks)
    )
    if not private and draft.summary and not new:
        # A group sees a session by its items, because a summary may contain words that not all
        # members may see. If the summary is all there is, it becomes the item.
        new = (NoteItem(section=Section.SUMMARY, content=draft.summary),)
    promoted = None
    if private:
        asked = (heard.messages, heard.speaker, heard.at, heard.locale, seen.index)
        promoted = find_promotion(draft, *asked)
    pairs = match_items_with_model(seen.items, new, heard.model, heard.budget)
    return SessionPlan(
        draft=draft, items=new, pairs=tuple(pairs), promoted=promoted, is_partial=part
    )


def join_draft_text(draft: SessionDraft | None) -> str:
    """Join all texts of a draft, to detect its language."""
    if draft is None:
        return ""
    items = (item.content for item in drafts.list_draft_items(draft))
    return " ".join([draft.summary, *items, draft.promote or ""])


# The summary of a session. It is inferred and has no speaker, so it goes with what it was made of
# when that is erased. In a group it is visible to no one, because it may contain words that not all
# members may see; there it exists in the file only.

_SUMMARY_IMPORTANCE = 2


def save_summary(
    tx: Transaction, row: NoteRow, said: str, ttls: Ttls, *, part: bool = False
) -> str | None:
    """Store the summary and return the id of its memory.

    Without a text it is made of the items of the note. A `part` is added to the summary that was
    there.
    """
    rows = list_visible_items(tx.connection, tx.audiences, tx.request, [row.path])[row.path]
    content = clip_text(
        said or readable_notes.compose_summary(rows)[0], limits.SESSION_SUMMARY_MAX_CHARS
    )
    old = memories.get_for_update(tx, row.summary_id) if row.summary_id is not None else None
    unwanted = old is not None and old.state is not State.ACTIVE  # it was forgotten
    if not content or unwanted:
        return row.summary_id
    if old is not None and part:
        content = _join_summaries(old.content, content)
    sensitivity = _strictest_sensitivity(
        chat_sensitivity(content), *(memory.sensitivity for _, memory in rows)
    )
    if old is None:
        memory = _build_summary(tx, content, sensitivity, ttls)
        memories.insert_memory(tx, memory, in_delta=False)
    else:
        memory = _update_summary(tx, old, content, sensitivity, ttls)
    relations.insert_sources(tx, memory.id, [one.id for _, one in rows])
    return memory.id


def _join_summaries(before: str, after: str) -> str:
    """Join both if they fit; otherwise keep the newer one."""
    if after in before:
        return before
    both = f"{before.rstrip(' .;')}; {after}"
    return after if before in after or len(both) > limits.SESSION_SUMMARY_MAX_CHARS else both


def _update_summary(
    tx: Transaction, old: Memory, content: str, sensitivity: Sensitivity, ttls: Ttls
) -> Memory:
    if content == old.content:
        return old
    memory = replace(
        old,
        content=content,
        version=old.version + 1,
        sensitivity=_strictest_sensitivity(old.sensitivity, sensitivity),
        expires_at=compute_expiry(Kind.EVENT, tx.at, ttls),
        updated_at=tx.at,
    )
    memories.update_content(tx, memory)
    return memory


def _build_summary(tx: Transaction, content: str, sensitivity: Sensitivity, ttls: Ttls) -> Memory:
    request = tx.request
    assert request.subject is not None
    assert request.chat is not None
    memory = build_inferred_memory(
        tx,
        content,
        owner=request.subject,
        chat=request.chat,
        channel=channel_of_chat(request.chat),
        thread=tx.thread,
        kind=SESSION_SUMMARY_FILING.kind,
        category=SESSION_SUMMARY_FILING.category,
        sensitivity=sensitivity,
        importance=_SUMMARY_IMPORTANCE,
        expires_at=compute_expiry(Kind.EVENT, tx.at, ttls),
        tags=SESSION_SUMMARY_FILING.tags,
    )
    if request.private:
        return memory
    return replace(
        memory, owner=None, learned_kind=ChatKind.GROUP, confidential=request.confidential
    )


def _strictest_sensitivity(*found: Sensitivity) -> Sensitivity:
    return max([Sensitivity.PERSONAL, *found], key=lambda one: one.rank)


# Write the end of a session in one transaction: its note and items, finished tasks of recent days,
# and what enters the long-term index.


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """The one person that an agent talked with."""

    id: str
    nickname: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnding:
    """One write, and the operator's options for it."""

    tx: Transaction
    session: NoteSession
    ttls: Ttls
    usable: MemoryFilter
    agent: str | None = None
    contact: Contact | None = None
    _names: list[KnownNames] = field(default_factory=list)

    def save(self, seen: SessionContext, plan: SessionPlan) -> SessionEnded:
        tx = self.tx
        # Serialize concurrent ends of a session, or both would add the same items.
        tx.dialect.acquire_lock(tx.connection, f"{tx.space} note {self.session.path}")
        ended = SessionEnded(path=self.session.path)
        handled: set[str] = set()
        row = ensure_note(tx, self._build_row()) if plan.has_note else None
        if row is not None:
            pairs = self._match_items(seen, plan)
            added = self._write_items(pairs, handled)
            ended = replace(ended, added=added, merged=len(pairs) - added)
        done = self._tick_tasks(seen, plan, handled)
        ended = replace(ended, ticked=done, promoted=self._promote(plan))
        if row is not None:
            self._update_head(row, plan)
        shown = load_session_note(
            tx.connection, tx.audiences, tx.request, self.session, self.usable
        )
        return replace(ended, note=shown)

    def _write_items(self, pairs: Sequence[MatchedItem], handled: set[str]) -> int:
        """Write items, add them to `handled`, and return how many are new."""
        added = 0
        for new, old in pairs:
            id = None if old is None else self._merge_item(old, new)
            if id is None:
                id = self._remember(new)
                put_item(self.tx, self.session.path, id, new.section)
                added += 1
            handled.add(id)
        return added

    def _promote(self, plan: SessionPlan) -> str | None:
        if plan.promoted is None:
            return None
        keeping = PromotionWriter(
            tx=self.tx,
            session=self.session.path,
            ttls=self.ttls,
            usable=self.usable,
            agent=self.agent,
        )
        return keeping.promote(plan.promoted)

    def _build_row(self) -> NoteRow:
        tx, request, private = self.tx, self.tx.request, self.tx.request.private
        return NoteRow(
            path=self.session.path,
            kind=NoteKind.SESSION,
            created_at=tx.at,
            updated_at=tx.at,
            subject=request.subject if private else None,
            day=self.session.day,
            session=self.session.name,
            chat=request.chat,
            chat_kind=request.kind,
            thread=tx.thread,
            source=channel_of_chat(request.chat),
            channel=request.chat,
            contact_id=self.contact.id if self.contact else None,
            contact_nickname=self.contact.nickname if self.contact else None,
        )

    def _match_items(self, seen: SessionContext, plan: SessionPlan) -> Sequence[MatchedItem]:
        """Return the planned matches; if the note changed meanwhile, match again by rules."""
        tx = self.tx
        there = load_session_note(
            tx.connection, tx.audiences, tx.request, self.session, self.usable
        )
        items = () if there is None else there.items
        return plan.pairs if items == seen.items else match_items(items, plan.items)

    def _merge_item(self, old: NoteItem, new: NoteItem) -> str | None:
        """Return the id of the merged memory, or None where it cannot be changed."""
        memory = self._get_changeable(old.id)
        if memory is None:
            return None
        item = merge_item(old, new)
        if item.content != memory.content:
            memory = self._reword(memory, item)
        if item.done:
            tick_task(self.tx, memory)
        return memory.id

    def _get_changeable(self, id: str | None) -> Memory | None:
        memory = memories.get_for_update(self.tx, id) if id is not None else None
        if memory is None or memory.state is not State.ACTIVE:
            return None
        return (
            memory if may_change(ChangeAction.UPDATE, self.tx.request, memory) is not None else None
        )

    def _reword(self, memory: Memory, item: NoteItem) -> Memory:
        tx = self.tx
        if memory.owner is None and not are_same_people(
            tx, find_subjects(tx, self._names, item.content), memory.subjects
        ):
            # New subjects change who may see it: make another memory.
            id = self._remember(item)
            memory_writes.supersede_memory(tx, memory, id)
            place = next(
                one.position
                for one in list_items(tx.connection, tx.space, self.session.path)
                if one.memory_id == memory.id
            )
            put_item(tx, self.session.path, id, item.section, place)
        else:
            standing = may_change(ChangeAction.UPDATE, tx.request, memory)
            if memory.owner is None:
                standing = RequesterRole.MEMBER  # a subject may, too, and the group words it
            assert standing is not None
            id = memory_writes.update_memory(
                tx, memory, standing, Draft(content=item.content), self.ttls
            ).id
        held = memories.get_for_update(tx, id)
        assert held is not None
        return raise_sensitivity(tx, held)

    def _remember(self, item: NoteItem) -> str:
        filed = notes.filing_of_section(item.section)
        draft = Draft(
            content=item.content,
            kind=filed.kind,
            category=filed.category,
            tags=notes.tags_of_item(item.section, item.done),
            sensitivity=self._sensitivity(item.content),
            agent=self.agent,
        )
        if self.tx.request.kind is ChatKind.GROUP:
            about = find_subjects(self.tx, self._names, item.content)
            told = None if item.section is Section.FACTS else Trust.STATED
            draft = replace(draft, for_room=True, about=tuple(sorted(about)) or None, trust=told)
        return memory_writes.remember(self.tx, draft, self.ttls).id

    def _sensitivity(self, content: str) -> Sensitivity:
        """Return the lexicon's sensitivity; public in a group without one, so that members see it."""
        least = Sensitivity.PERSONAL if self.tx.request.private else Sensitivity.PUBLIC
        return stricter_sensitivity(least, chat_sensitivity(content))

    def _tick_tasks(self, seen: SessionContext, plan: SessionPlan, handled: set[str]) -> int:
        where = dict(zip((item.id for item in seen.open_tasks), seen.open_task_paths, strict=True))
        count = 0
        for item in tick_finished(list_finished_tasks(plan.draft), seen.open_tasks):
            memory = self._get_changeable(item.id) if item.id not in handled else None
            if memory is not None and tick_task(self.tx, memory):
                update_note(self.tx, where[item.id], updated_at=self.tx.at)
                count += 1
        return count

    def _update_head(self, row: NoteRow, plan: SessionPlan) -> None:
        tx, draft = self.tx, plan.draft
        # No rule covers links and tags, and they have no owner: a group's note has none.
        links, tags = (draft.links, draft.tags) if tx.request.private else ((), ())
        update_note(
            tx,
            row.path,
            summary_id=save_summary(tx, row, draft.summary, self.ttls, part=plan.is_partial),
            links=merge_links(row.links, links),
            tags=tuple(dict.fromkeys((*row.tags, *tags)))[: limits.TAGS_MAX_COUNT],
            updated_at=tx.at,
        )


def tick_task(tx: Transaction, memory: Memory) -> bool:
    """Mark a task as done; the caller has checked the permission."""
    if memory.kind is not Kind.TASK or notes.is_task_done(memory):
        return False
    section = Section.FOLLOW_UPS if notes.FOLLOW_UP_TAG in memory.tags else Section.TASKS
    tags = notes.tags_of_item(section, True, memory.tags)
    changed = replace(memory, tags=tags, updated_at=tx.at)
    memories.update_fields(tx, changed, HistoryEvent.UPDATE, "updated", {"fields": "tags"})
    return True
