"""The end of a session as rows, all in one transaction: its note, what stands in it, the tasks of
recent days that it finished, and what the person wants kept for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tacit import limits
from tacit.identity.external_keys import channel_of_chat
from tacit.learning import memory_writes as learning
from tacit.learning.composition import Ttls, stricter_sensitivity
from tacit.notes.merge.merging import Matched, matched, merged, merged_links
from tacit.notes.merge.tasks import finished, ticked
from tacit.notes.mirror.hands import no_looser, sensitivity_of
from tacit.notes.session.promoting import Promoting
from tacit.notes.session.sessions import Look, Plan, Session, note
from tacit.notes.session.summing_up import sum_up
from tacit.policy.permissions import ChangeAction, RequesterRole, may_change
from tacit.prompts.readable_notes import MemoryFilter
from tacit.records import notes
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, HistoryEvent, Kind, Memory, Sensitivity, State, Trust
from tacit.records.notes import NoteItem, NoteKind, Section, SessionEnded
from tacit.retrieval.text_features import KnownNames
from tacit.storage import memories, people
from tacit.storage.memories import Transaction
from tacit.storage.notes import NoteRow, ensure_note, list_items, put_item, update_note


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Whom an agent talked with, where that is one person."""

    id: str
    nickname: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One write, and what an operator set for it."""

    tx: Transaction
    session: Session
    ttls: Ttls
    usable: MemoryFilter
    agent: str | None = None
    contact: Contact | None = None
    _names: list[KnownNames] = field(default_factory=list)

    def save(self, seen: Look, plan: Plan) -> SessionEnded:
        w = self.tx
        # Two who end a session at once do so one after the other, or both would add the same.
        w.dialect.acquire_lock(w.connection, f"{w.space} note {self.session.path}")
        ended = SessionEnded(path=self.session.path)
        handled: set[str] = set()
        row = ensure_note(w, self._build_row()) if plan.has_note else None
        if row is not None:
            pairs = self._match_items(seen, plan)
            added = self._write_items(pairs, handled)
            ended = replace(ended, added=added, merged=len(pairs) - added)
        done = self._tick_tasks(seen, plan, handled)
        ended = replace(ended, ticked=done, promoted=self._promote(plan))
        if row is not None:
            self._update_head(row, plan)
        shown = note(w.connection, w.audiences, w.request, self.session, self.usable)
        return replace(ended, note=shown)

    def _write_items(self, pairs: Sequence[Matched], handled: set[str]) -> int:
        """How many are new; all of them are among the `handled` then."""
        added = 0
        for new, old in pairs:
            id = None if old is None else self._merge_item(old, new)
            if id is None:
                id = self._remember(new)
                put_item(self.tx, self.session.path, id, new.section)
                added += 1
            handled.add(id)
        return added

    def _promote(self, plan: Plan) -> str | None:
        if plan.promoted is None:
            return None
        keeping = Promoting(
            tx=self.tx,
            session=self.session.path,
            ttls=self.ttls,
            usable=self.usable,
            agent=self.agent,
        )
        return keeping.promote(plan.promoted)

    def _build_row(self) -> NoteRow:
        w, request, private = self.tx, self.tx.request, self.tx.request.private
        return NoteRow(
            path=self.session.path,
            kind=NoteKind.SESSION,
            created_at=w.at,
            updated_at=w.at,
            subject=request.subject if private else None,
            day=self.session.day,
            session=self.session.name,
            chat=request.chat,
            chat_kind=request.kind,
            thread=w.thread,
            source=channel_of_chat(request.chat),
            channel=request.chat,
            contact_id=self.contact.id if self.contact else None,
            contact_nickname=self.contact.nickname if self.contact else None,
        )

    def _match_items(self, seen: Look, plan: Plan) -> Sequence[Matched]:
        """As planned, unless somebody wrote meanwhile: then by the rules, of what there is now."""
        w = self.tx
        there = note(w.connection, w.audiences, w.request, self.session, self.usable)
        items = () if there is None else there.items
        return plan.pairs if items == seen.items else matched(items, plan.items)

    def _merge_item(self, old: NoteItem, new: NoteItem) -> str | None:
        """The id of what it is now; None where it cannot be changed, and the new one stands beside
        it."""
        memory = self._get_changeable(old.id)
        if memory is None:
            return None
        item = merged(old, new)
        if item.content != memory.content:
            memory = self._reword(memory, item)
        if item.done:
            tick(self.tx, memory)
        return memory.id

    def _get_changeable(self, id: str | None) -> Memory | None:
        memory = memories.get_for_update(self.tx, id) if id is not None else None
        if memory is None or memory.state is not State.ACTIVE:
            return None
        return (
            memory if may_change(ChangeAction.UPDATE, self.tx.request, memory) is not None else None
        )

    def _reword(self, memory: Memory, item: NoteItem) -> Memory:
        w = self.tx
        if memory.owner is None and self._resolve_people(
            self._find_subjects(item.content)
        ) != self._resolve_people(memory.subjects):
            # Who may hear it goes by whom it is about: other people, another memory.
            id = self._remember(item)
            learning.supersede_memory(w, memory, id)
            place = next(
                one.position
                for one in list_items(w.connection, w.space, self.session.path)
                if one.memory_id == memory.id
            )
            put_item(w, self.session.path, id, item.section, place)
        else:
            standing = may_change(ChangeAction.UPDATE, w.request, memory)
            if memory.owner is None:
                standing = (
                    RequesterRole.MEMBER
                )  # whoever it is about is one too, and the room words it
            assert standing is not None
            id = learning.update_memory(
                w, memory, standing, Draft(content=item.content), self.ttls
            ).id
        held = memories.get_for_update(w, id)
        assert held is not None
        return no_looser(w, held)

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
            about = self._find_subjects(item.content)
            told = None if item.section is Section.FACTS else Trust.STATED
            draft = replace(draft, for_room=True, about=tuple(sorted(about)) or None, trust=told)
        return learning.remember(self.tx, draft, self.ttls).id

    def _sensitivity(self, content: str) -> Sensitivity:
        """In a group public, unless the lexicon says more: else nobody but its speaker heard it."""
        least = Sensitivity.PERSONAL if self.tx.request.private else Sensitivity.PUBLIC
        return stricter_sensitivity(least, sensitivity_of(content))

    def _find_subjects(self, content: str) -> frozenset[str]:
        """Whom a room's words are about, as far as whoever says them knows people by name."""
        if not self._names:
            known = people.list_known_people(self.tx.connection, self.tx.request)
            self._names.append(KnownNames(self.tx.request, known))
        found = frozenset[str]().union(*self._names[0].find_in(content).values())
        return frozenset(sorted(found)[: limits.PEOPLE_PER_MEMORY_MAX_COUNT])

    def _resolve_people(self, identities: frozenset[str]) -> set[str]:
        return {self.tx.request.person(one) for one in identities}

    def _tick_tasks(self, seen: Look, plan: Plan, handled: set[str]) -> int:
        where = dict(zip((item.id for item in seen.open_tasks), seen.open_task_paths, strict=True))
        count = 0
        for item in ticked(finished(plan.draft), seen.open_tasks):
            memory = self._get_changeable(item.id) if item.id not in handled else None
            if memory is not None and tick(self.tx, memory):
                update_note(self.tx, where[item.id], updated_at=self.tx.at)
                count += 1
        return count

    def _update_head(self, row: NoteRow, plan: Plan) -> None:
        w, draft = self.tx, plan.draft
        # Links and tags no rule judges, and nobody owns: a group's note has none.
        links, tags = (draft.links, draft.tags) if w.request.private else ((), ())
        update_note(
            w,
            row.path,
            summary_id=sum_up(w, row, draft.summary, self.ttls, part=plan.is_partial),
            links=merged_links(row.links, links),
            tags=tuple(dict.fromkeys((*row.tags, *tags)))[: limits.TAGS_MAX_COUNT],
            updated_at=w.at,
        )


def tick(w: Transaction, memory: Memory) -> bool:
    """A task is done; it stays so. Whether somebody may say that was asked before."""
    if memory.kind is not Kind.TASK or notes.is_task_done(memory):
        return False
    section = Section.FOLLOW_UPS if notes.FOLLOW_UP_TAG in memory.tags else Section.TASKS
    tags = notes.tags_of_item(section, True, memory.tags)
    changed = replace(memory, tags=tags, updated_at=w.at)
    memories.update_fields(w, changed, HistoryEvent.UPDATE, "updated", {"fields": "tags"})
    return True
