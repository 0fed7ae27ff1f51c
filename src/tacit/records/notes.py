"""Notes, their sections and items, sessions, and how an item is stored as a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from tacit.records.memory import CATEGORY_OF_KIND, Kind, Memory


class NoteKind(StrEnum):
    SESSION = "session"  # one session on one day
    LONG_TERM = "long_term"  # a person's long-term index
    PAGE = "page"  # a free-form page beside the index


class Section(StrEnum):
    """The sections of a note; SECTION_HEADINGS has their headings."""

    SUMMARY = "summary"
    FACTS = "facts"
    TASKS = "tasks"
    FOLLOW_UPS = "follow_ups"
    LINKS = "links"
    GOALS = "goals"
    KEY_FACTS = "key_facts"
    PAGE = "page"


SECTION_HEADINGS: Mapping[Section, str] = {
    Section.SUMMARY: "Session Summary",
    Section.FACTS: "Temporary Facts",
    Section.TASKS: "Tasks",
    Section.FOLLOW_UPS: "Follow Ups",
    Section.LINKS: "Related Links",
    Section.GOALS: "Long-Term Goals / Projects",
    Section.KEY_FACTS: "Key Facts",
}
CHECKBOX_SECTIONS = frozenset({Section.TASKS, Section.FOLLOW_UPS})
SECTIONS_BY_KIND: Mapping[NoteKind, tuple[Section, ...]] = {
    NoteKind.SESSION: (Section.SUMMARY, Section.FACTS, Section.TASKS, Section.FOLLOW_UPS, Section.LINKS),
    NoteKind.LONG_TERM: (Section.GOALS, Section.KEY_FACTS, Section.TASKS, Section.FOLLOW_UPS),
    NoteKind.PAGE: (Section.PAGE,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRef:
    """The address of a note.

    A session note has a day and a session; the others have a subject, and a page also a file name.
    """

    kind: NoteKind
    subject: str | None = None  # canonical: acct:42, ext:telegram:1
    day: date | None = None
    session: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteItem:
    """One bullet, which is one memory. Further lines of the content are nested bullets."""

    section: Section
    content: str
    id: str | None = None  # None: new
    done: bool | None = None  # of tasks and follow-ups only
    added: date | None = None  # in the long-term index only
    conflict: bool = False  # the second of two concurrently changed wordings


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A Markdown link. Links of a note are not memories."""

    text: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.done}/{self.total}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """The frontmatter keys that Tacit uses. Other keys stay in the file."""

    created_at: datetime
    updated_at: datetime
    summary: str = ""
    session_id: str | None = None
    source: str | None = None
    channel: str | None = None
    tags: tuple[str, ...] = ()
    subject_id: str | None = None
    contact_id: str | None = None
    contact_nickname: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    place: NoteRef
    head: Frontmatter
    items: tuple[NoteItem, ...] = ()
    links: tuple[NoteLink, ...] = ()

    def progress(self, section: Section) -> TaskProgress:
        boxes = [item.done for item in self.items if item.section is section]
        return TaskProgress(done=sum(map(bool, boxes)), total=len(boxes))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDraft:
    """One topic of a session: people, time, event and result."""

    topic: str
    users: str = ""
    when: str = ""
    event: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    text: str
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDraft:
    """The content of a session note, written by the agent, a model or rules."""

    summary: str = ""
    topics: tuple[TopicDraft, ...] = ()
    facts: tuple[str, ...] = ()
    tasks: tuple[TaskDraft, ...] = ()
    follow_ups: tuple[TaskDraft, ...] = ()
    links: tuple[NoteLink, ...] = ()
    promote: str | None = None  # what the person explicitly asked to keep long-term
    promote_to: Section = Section.KEY_FACTS
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSummary:
    """The summary of a note, as this audience may see it."""

    path: str
    day: date
    summary: str
    tasks: TaskProgress = field(default_factory=TaskProgress)
    follow_ups: TaskProgress = field(default_factory=TaskProgress)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """Context for the start of a session."""

    session: str
    long_term: tuple[NoteItem, ...] = ()  # in the person's private chat only
    recent: tuple[NoteSummary, ...] = ()  # newest first
    today: Note | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    path: str
    added: int = 0
    merged: int = 0
    ticked: int = 0  # tasks of recent days marked as done
    promoted: str | None = None  # memory id added to the long-term index
    note: Note | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteProblem:
    """Why a file is not in sync with the storage; without its content."""

    path: str
    problem: str  # unreadable | refused | asks | conflict | unknown_person | outside
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesReport:
    """Counts of a sync, an import or a rebuild."""

    files: int = 0  # checked
    read_back: int = 0  # files whose edits were stored
    remembered: int = 0
    updated: int = 0
    forgotten: int = 0
    completed: int = 0
    written: int = 0  # files
    problems: tuple[NoteProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChange:
    """One difference between a file and the storage, and what a sync does about it."""

    path: str
    # To the storage: remember | update | complete | reopen | restore | forget | asks | refused.
    # To the file: add | show | drop. Both changed: conflict.
    act: str
    before: str | None = None
    after: str | None = None


# How an item of a note is stored as a memory.

TASK_TAG = "task"
FOLLOW_UP_TAG = "follow_up"
DONE_TAG = "done"
SESSION_TAG = "session"  # of the summary of a session


class Filing(NamedTuple):
    kind: Kind
    category: str
    tags: tuple[str, ...] = ()


_FILING_BY_SECTION: Mapping[Section, Filing] = {
    Section.SUMMARY: Filing(Kind.EVENT, CATEGORY_OF_KIND[Kind.EVENT]),
    Section.FACTS: Filing(Kind.CONTEXT, CATEGORY_OF_KIND[Kind.CONTEXT]),
    Section.TASKS: Filing(Kind.TASK, CATEGORY_OF_KIND[Kind.TASK], (TASK_TAG,)),
    Section.FOLLOW_UPS: Filing(Kind.TASK, CATEGORY_OF_KIND[Kind.TASK], (FOLLOW_UP_TAG,)),
    Section.GOALS: Filing(Kind.KNOWLEDGE, "goal"),
    Section.KEY_FACTS: Filing(Kind.KNOWLEDGE, CATEGORY_OF_KIND[Kind.KNOWLEDGE]),
    Section.PAGE: Filing(Kind.KNOWLEDGE, CATEGORY_OF_KIND[Kind.KNOWLEDGE]),
}
SESSION_SUMMARY_FILING = Filing(Kind.EVENT, CATEGORY_OF_KIND[Kind.EVENT], (SESSION_TAG,))


def filing_of_section(section: Section) -> Filing:
    """Return kind, category and tags of a section's items. Raise KeyError for links."""
    return _FILING_BY_SECTION[section]


def tags_of_item(section: Section, done: bool | None, before: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the sorted tags of an item: the section's, `done` if it is, and other tags of before."""
    own = {TASK_TAG, FOLLOW_UP_TAG, DONE_TAG} if section in CHECKBOX_SECTIONS else set()
    kept = [tag for tag in before if tag not in own]
    ticked = (DONE_TAG,) if done and section in CHECKBOX_SECTIONS else ()
    return tuple(sorted({*filing_of_section(section).tags, *kept, *ticked}))


def is_task_done(memory: Memory) -> bool:
    return memory.kind is Kind.TASK and DONE_TAG in memory.tags


def item_from_memory(memory: Memory, section: Section, added_on: date | None = None) -> NoteItem:
    return NoteItem(
        section=section,
        content=memory.content,
        id=memory.id,
        done=DONE_TAG in memory.tags if section in CHECKBOX_SECTIONS else None,
        added=added_on,
    )


def session_name(chat: str, named: str | None = None) -> str:
    """Return the session id of a chat, or of a named session in it.

    A chat id contains no slash, so two chats never share a session.
    """
    return chat if named is None else f"{chat}/{named}"
