"""How an item of a note is filed as a memory, and read back as an item. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from tacit.model.memory import Memory
from tacit.model.notes import WITH_BOXES, Item, Section
from tacit.model.words import CATEGORY_OF_KIND, Kind

TASK_TAG = "task"
FOLLOW_UP_TAG = "follow_up"
DONE_TAG = "done"
SESSION_TAG = "session"  # of the memory that sums a session up


class Filed(NamedTuple):
    kind: Kind
    category: str
    tags: tuple[str, ...] = ()


_FILED: Mapping[Section, Filed] = {
    Section.SUMMARY: Filed(Kind.EVENT, CATEGORY_OF_KIND[Kind.EVENT]),
    Section.FACTS: Filed(Kind.CONTEXT, CATEGORY_OF_KIND[Kind.CONTEXT]),
    Section.TASKS: Filed(Kind.TASK, CATEGORY_OF_KIND[Kind.TASK], (TASK_TAG,)),
    Section.FOLLOW_UPS: Filed(Kind.TASK, CATEGORY_OF_KIND[Kind.TASK], (FOLLOW_UP_TAG,)),
    Section.GOALS: Filed(Kind.KNOWLEDGE, "goal"),
    Section.KEY_FACTS: Filed(Kind.KNOWLEDGE, CATEGORY_OF_KIND[Kind.KNOWLEDGE]),
    Section.PAGE: Filed(Kind.KNOWLEDGE, CATEGORY_OF_KIND[Kind.KNOWLEDGE]),
}
SUMMED_UP = Filed(Kind.EVENT, CATEGORY_OF_KIND[Kind.EVENT], (SESSION_TAG,))


def filed(section: Section) -> Filed:
    """What the items of a section are. Links are no memories: of them there is nothing to say."""
    return _FILED[section]


def tags_of(section: Section, done: bool | None, before: Sequence[str] = ()) -> tuple[str, ...]:
    """Its tags, in the order they are stored in: those of the section, `done` where it is, and what
    somebody else tagged it with."""
    own = {TASK_TAG, FOLLOW_UP_TAG, DONE_TAG} if section in WITH_BOXES else set()
    kept = [tag for tag in before if tag not in own]
    ticked = (DONE_TAG,) if done and section in WITH_BOXES else ()
    return tuple(sorted({*filed(section).tags, *kept, *ticked}))


def is_done(memory: Memory) -> bool:
    return memory.kind is Kind.TASK and DONE_TAG in memory.tags


def item_of(memory: Memory, section: Section, added_on: date | None = None) -> Item:
    return Item(
        section=section,
        content=memory.content,
        id=memory.id,
        done=DONE_TAG in memory.tags if section in WITH_BOXES else None,
        added=added_on,
    )


def session_name(chat: str, named: str | None = None) -> str:
    """The session of a chat: the chat's own, or one in it that has a name. A chat's id has no slash
    in it, so no two chats have a session in common, whatever they call theirs."""
    return chat if named is None else f"{chat}/{named}"
