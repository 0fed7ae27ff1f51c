"""A draft of what a session came to, whoever wrote it: screened, and as the items of a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.notes.merge.merging import TOPIC, distinct, merged_links
from tacit.records.notes import NoteItem, Section, SessionDraft, TaskDraft, TopicDraft
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction


def screened(draft: SessionDraft) -> SessionDraft:
    """A draft, whoever wrote it, without secrets and what reads like an instruction. Each line that
    it has is one line, but for facts, which may have several."""
    return SessionDraft(
        summary=_fit(draft.summary),
        topics=tuple(
            TopicDraft(
                topic=_fit(one.topic),
                users=_fit(one.users),
                when=_fit(one.when),
                event=_fit(one.event),
                result=_fit(one.result),
            )
            for one in draft.topics
            if _fit(one.topic)
        ),
        facts=tuple(filter(None, ("\n".join(_fit_lines(one)) for one in draft.facts))),
        tasks=_fit_tasks(draft.tasks),
        follow_ups=_fit_tasks(draft.follow_ups),
        links=merged_links(
            (), [replace(one, text=_fit(one.text)) for one in draft.links if _fit(one.target)]
        ),
        promote=_fit(draft.promote or "") or None,
        promote_to=draft.promote_to,
        tags=tuple(filter(None, map(_fit, draft.tags))),
    )


def items_of(draft: SessionDraft) -> tuple[NoteItem, ...]:
    """A draft as the items of a session's note, each once. Summary and links are no items."""
    items = [NoteItem(section=Section.SUMMARY, content=_told(one)) for one in draft.topics]
    items += [NoteItem(section=Section.FACTS, content=one) for one in draft.facts]
    for section, tasks in (
        (Section.TASKS, draft.tasks),
        (Section.FOLLOW_UPS, draft.follow_ups),
    ):
        items += [NoteItem(section=section, content=one.text, done=one.done) for one in tasks]
    return distinct([one for one in items if one.content.strip()])


def _told(topic: TopicDraft) -> str:
    further = {
        "Users": topic.users,
        "Datetime": topic.when,
        "Event": topic.event,
        "Result": topic.result,
    }
    lines = [f"{label}: {said}" for label, said in further.items() if said]
    return "\n".join([f"{TOPIC}: {topic.topic}", *lines])


def _fit(text: str) -> str:
    """On one line; empty where it must not stand in a note."""
    line = " ".join(text.split())
    return "" if find_instruction(line) or secrets.find_secret(line) else line


def _fit_lines(text: str) -> list[str]:
    if not _fit(text):
        return []  # what is only harmless line by line is harmful
    return [line for one in text.splitlines() if (line := _fit(one))]


def _fit_tasks(tasks: Sequence[TaskDraft]) -> tuple[TaskDraft, ...]:
    return tuple(replace(one, text=_fit(one.text)) for one in tasks if _fit(one.text))
