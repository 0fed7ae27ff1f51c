"""Sessions that tests end, and what they look at then."""

import re

from tacit import SessionDraft, TaskDraft, TopicDraft
from tacit.records.notes import NoteLink, Section
from tacit.view.view import View

CANARY = re.compile(r"zq\d+z")
RENT = SessionDraft(tasks=(TaskDraft(text="Pay the rent"),))
PAID = SessionDraft(tasks=(TaskDraft(text="Pay the rent", done=True),))
ARCHIVE = "The Apollo archive is kept in Basel"
LAYOUT = TopicDraft(topic="Layout", users="Alice", when="noon", event="Settled the folders", result="agreed")
TOLD = """\
Topic: Layout
Users: Alice
Datetime: noon
Event: Settled the folders
Result: agreed"""
WHOLE = SessionDraft(
    summary="Settled the layout.",
    topics=(LAYOUT,),
    facts=("The build is red",),
    tasks=(TaskDraft(text="Pay the rent"), TaskDraft(text="Call the bank", done=True)),
    follow_ups=(TaskDraft(text="Ask the landlord about heating"),),
    links=(NoteLink(text="Plan", target="plans/layout.md"),),
    tags=("house",),
)


def tasks(*texts: str, done: bool = False) -> SessionDraft:
    return SessionDraft(tasks=tuple(TaskDraft(text=text, done=done) for text in texts))


def items(view: View) -> list[tuple[Section, str, bool | None]]:
    today = view.sessions.begin().today
    return [] if today is None else [(i.section, i.content, i.done) for i in today.items]


def told(view: View) -> str:
    """Everything that a session starts with, and the block: ids among it, times not."""
    woken, block = view.sessions.begin(), view.block("summary")
    return f"{woken}\n{block.text}\n{block.cut}"


def plain(view: View) -> str:
    """The same without ids, which are random."""
    return re.sub(r"id='\w{8}'", "", told(view))
