"""/undo and the buttons that take something back: found in what the store keeps of every change.

A change is what one write did: several memories, if it forgot several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit import limits
from tacit.errors import Conflict, NotFound
from tacit.memory import View
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory, State, Visibility
from tacit.records.results import Change
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, tell
from tacit.surfaces.chat.commands.showing import in_brief, shortened
from tacit.surfaces.chat.say import Say, Span, say, worded

Changed = list[tuple[datetime, str]]  # memories by when they changed, newest first
_PEOPLE = ("ext:", "acct:")  # how actors begin who are neither the system nor an operator
_VISIBILITY = "visibility "
_ADDED = (HistoryEvent.ADD, HistoryEvent.CONSENT, HistoryEvent.RESTORE)
_OTHERS = frozenset({"fields", "also"})  # in what a history says: what changed besides the words


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last thing that was done to a memory, by a person."""

    memory: Memory
    entry: HistoryEntry
    before: tuple[HistoryEntry, ...]


def undo(asked: Asked) -> list[Say]:
    """/undo. Said again, it takes back what it did."""
    changed = _changed(asked.view)
    done = _last_change(asked.view, changed)
    if not done or _before_unlinking(asked, done[0].entry.at):
        return tell(wording.NOTHING_TO_UNDO)
    replaced = _replaced(asked.view, changed, done)
    told = (_take_back(asked, one, replaced.get(one.memory.id)) for one in done)
    lines = [span for line in told for span in (Span("\n"), *line)]
    return [say(*lines[1:])]


def _before_unlinking(asked: Asked, at: datetime) -> bool:
    """What was changed as the account is out of reach since: what is the last change from here was
    not the last one that the person made."""
    own = f"ext:{asked.who.key}"
    ended = (one.ended_at for one in asked.memory.links(asked.who.key) if one.source == own)
    return any(end is not None and at < end for end in ended)


def take_back(asked: Asked) -> list[Say]:
    """By the button under something that was just remembered. Pressed again it changes nothing."""
    id, number = asked.words
    version = int(number) if number.isdecimal() and len(number) < 8 else 0
    try:
        memory = asked.view.show(id)
    except NotFound:
        return [_instead(wording.UNDONE)]  # as it is once it was pressed
    if memory.state is not State.ACTIVE:
        return [_instead(wording.UNDONE)]
    if memory.version != version:
        return [_instead(wording.CHANGED_SINCE)]
    earlier = _wording_before(asked.view.history(id), version)
    if earlier is None:
        asked.idempotent_view("undo").forget(id)
    else:
        asked.idempotent_view("undo").update(id, earlier)
    if not asked.private:
        return [_instead(wording.UNDONE)]
    if earlier is None:
        return [_instead(wording.REMOVED, in_brief(memory))]
    return [_instead(wording.REWORDED, shortened(earlier))]


def restore(asked: Asked) -> list[Say]:
    """By the button under what was just deleted."""
    (words,) = asked.words
    ids = words.split(",")
    try:
        for id in ids:
            asked.idempotent_view(f"restore/{id}").restore(id)
    except Conflict:
        return [_instead(wording.CHANGED_SINCE)]
    if not asked.private:
        return [_instead(wording.UNDONE)]
    contents = "', '".join(in_brief(asked.view.show(id)) for id in ids)
    return [_instead(wording.RESTORED, contents)]


def _last_change(view: View, changed: Changed) -> list[Last]:
    """What a person changed last in this chat, or added anywhere; all of it, if it was forgotten in
    one write, and so at the same time."""
    found: list[Last] = []
    for at, id in changed:
        if found and at != found[0].entry.at:
            break
        last = _last(view, id)
        if last is None:
            continue
        if not found or last.entry.event is found[0].entry.event is HistoryEvent.DELETE:
            found.append(last)
    return found


def _changed(view: View) -> Changed:
    told = {one.memory_id: (one.at, one.revision) for one in _newest(view)}
    for one in view.list(state=State.ACTIVE, limit=1):
        told.setdefault(one.id, (one.created_at, 0))
    newest = sorted(told, key=lambda id: told[id], reverse=True)
    return [(told[id][0], id) for id in newest[: limits.CHAT_UNDO_SCANNED_MAX_COUNT]]


def _newest(view: View) -> Sequence[Change]:
    """The last changes of this chat. A delta that is full tells the oldest and leaves out the
    newest: then it is looked for the place from which on it holds all there are, and not few."""
    most = limits.DELTA_MAX_COUNT
    found = view.delta().changes
    if len(found) < most:
        return found
    full, whole = 0, limits.REVISION_MAX
    newest: Sequence[Change] = ()
    while whole - full > 1 and len(newest) < max(1, most // 4):
        middle = (full + whole) // 2
        found = view.delta(middle).changes
        if len(found) >= most:
            full = middle
        else:
            whole, newest = middle, found
    return newest


def _last(view: View, id: str) -> Last | None:
    try:
        memory = view.show(id)
        entries = [one for one in view.history(id) if one.event is not HistoryEvent.LINK]
    except NotFound:
        return None
    if not entries or not entries[-1].actor.startswith(_PEOPLE):
        return None
    if entries[-1].event is HistoryEvent.SUPERSEDE and memory.superseded_by is not None:
        return None  # what took its place is the change
    return Last(memory=memory, entry=entries[-1], before=tuple(entries[:-1]))


def _replaced(view: View, changed: Changed, done: Sequence[Last]) -> dict[str, str]:
    """What memories that were added said before, where they took the place of an older one: in the
    same write, and so at the same time."""
    added = {one.memory.id: one.entry.at for one in done if one.entry.event is HistoryEvent.ADD}
    found = {}
    for at, id in changed:
        if at not in added.values() or id in added:
            continue
        try:
            old = view.show(id)
        except NotFound:
            continue
        if old.superseded_by in added:
            found[old.superseded_by] = old.content
    return found


def _take_back(asked: Asked, last: Last, replaced: str | None) -> tuple[Span, ...]:
    memory, event = last.memory, last.entry.event
    once = asked.idempotent_view(f"undo/{memory.id}")
    try:
        if event is HistoryEvent.DELETE and not _taken(asked.view, memory):
            once.restore(memory.id)
            return worded(wording.RESTORED, in_brief(memory))
        if event in _ADDED and replaced is None:
            once.forget(memory.id)
            return worded(wording.REMOVED, in_brief(memory))
        earlier = replaced or _earlier(last)
        if earlier is not None:
            once.update(memory.id, earlier)
            return worded(wording.REWORDED, shortened(earlier))
        visibility = _visibility_before(last)
        if visibility is not None:
            once.set_visibility(memory.id, visibility)
            public = visibility is Visibility.PUBLIC_OK
            return worded(wording.NOW_PUBLIC if public else wording.NOW_PRIVATE)
    except Conflict:
        # All that could be in the way was looked at: this very update did it, before a crash.
        return worded(wording.UNDONE)
    return worded(wording.CANNOT_UNDO)


def _taken(view: View, memory: Memory) -> bool:
    return memory.key is not None and view.get(memory.category, memory.key) is not None


def _earlier(last: Last) -> str | None:
    """The wording before this one, if the words and nothing else are what changed."""
    if last.entry.event is not HistoryEvent.UPDATE or not last.entry.detail.keys().isdisjoint(
        _OTHERS
    ):
        return None
    return _wording_before(last.before, last.entry.version)


def _wording_before(entries: Sequence[HistoryEntry], version: int) -> str | None:
    return next((e.content for e in reversed(entries) if e.version < version and e.content), None)


def _visibility_before(last: Last) -> Visibility | None:
    """As they set it before. What was raised goes back to the strictest if nobody ever said; what
    was lowered is then left alone: nothing goes further than somebody once wanted."""
    now = last.entry.detail.get("fields", "")
    if last.entry.event is not HistoryEvent.UPDATE or not now.startswith(_VISIBILITY):
        return None
    said = (one.detail.get("fields", "") for one in reversed(last.before))
    for fields in said:
        if fields.startswith(_VISIBILITY):
            return Visibility(fields.removeprefix(_VISIBILITY))
    raised = now == f"{_VISIBILITY}{Visibility.PUBLIC_OK}"
    return Visibility.PRIVATE_ONLY if raised else None


def _instead(template: str, given: str = "") -> Say:
    return replace(say(*worded(template, given)), instead=True)
