"""Find the last change that a person made, in the history of their memories, for /undo.

A change is one write, which may forget several memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from tacit import limits
from tacit.errors import NotFound
from tacit.memory import View
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory, State, Visibility
from tacit.records.results import Change

_PERSON_PREFIXES = ("ext:", "acct:")  # of actors that are people, not the system or an operator
_VISIBILITY_PREFIX = "visibility "
_NON_TEXT_DETAILS = frozenset({"fields", "also"})  # details of changes other than the content


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """The last change of a memory, made by a person."""

    memory: Memory
    entry: HistoryEntry
    before: tuple[HistoryEntry, ...]
    replaced: str | None = None  # content of the memory that it replaced in the same write

    def previous_content(self) -> str | None:
        """Return the earlier content if only the content changed."""
        only = self.entry.detail.keys().isdisjoint(_NON_TEXT_DETAILS)
        if self.entry.event is not HistoryEvent.UPDATE or not only:
            return self.replaced
        return self.replaced or content_before_version(self.before, self.entry.version)

    def previous_visibility(self) -> Visibility | None:
        """Return the visibility that the person set before.

        Without one, a raise goes back to private and a lowering is not undone, so that nothing
        becomes more visible than a person once wanted.
        """
        now = self.entry.detail.get("fields", "")
        if self.entry.event is not HistoryEvent.UPDATE or not now.startswith(_VISIBILITY_PREFIX):
            return None
        for fields in (one.detail.get("fields", "") for one in reversed(self.before)):
            if fields.startswith(_VISIBILITY_PREFIX):
                return Visibility(fields.removeprefix(_VISIBILITY_PREFIX))
        raised = now == f"{_VISIBILITY_PREFIX}{Visibility.PUBLIC_OK}"
        return Visibility.PRIVATE_ONLY if raised else None


def content_before_version(entries: Sequence[HistoryEntry], version: int) -> str | None:
    return next((e.content for e in reversed(entries) if e.version < version and e.content), None)


def find_last_changes(view: View) -> list[LastChange]:
    """Return the person's last change; several if they were forgotten in one write, at one time."""
    changed = _list_change_times(view)
    found: list[LastChange] = []
    for at, id in changed:
        if found and at != found[0].entry.at:
            break
        last = _get_last_change(view, id)
        if last is None:
            continue
        if not found or last.entry.event is found[0].entry.event is HistoryEvent.DELETE:
            found.append(last)
    if not found or found[0].entry.event is not HistoryEvent.ADD:
        return found
    added = found[0]
    together = (id for at, id in changed if at == added.entry.at and id != added.memory.id)
    return [replace(added, replaced=_find_replaced_content(view, added.memory.id, together))]


def _find_replaced_content(view: View, id: str, together: Iterable[str]) -> str | None:
    for other in together:
        with suppress(NotFound):
            old = view.show(other)
            if old.superseded_by == id:
                return old.content
    return None


def _list_change_times(view: View) -> list[tuple[datetime, str]]:
    """Return times of change and ids of memories, newest first."""
    times = {one.memory_id: (one.at, one.revision) for one in _list_newest_changes(view)}
    for one in view.list(state=State.ACTIVE, limit=1):
        times.setdefault(one.id, (one.created_at, 0))
    newest = sorted(times, key=lambda id: times[id], reverse=True)
    return [(times[id][0], id) for id in newest[: limits.CHAT_UNDO_SCANNED_MAX_COUNT]]


def _list_newest_changes(view: View) -> Sequence[Change]:
    """Return the last changes of this chat.

    A delta has a maximum and lists the oldest first, so a full one may lack the newest. Then a
    binary search finds a later start from which all changes fit.
    """
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


def _get_last_change(view: View, id: str) -> LastChange | None:
    try:
        memory = view.show(id)
        entries = [one for one in view.history(id) if one.event is not HistoryEvent.LINK]
    except NotFound:
        return None
    if not entries or not entries[-1].actor.startswith(_PERSON_PREFIXES):
        return None
    if entries[-1].event is HistoryEvent.SUPERSEDE and memory.superseded_by is not None:
        return None  # the memory that replaced it is the change
    return LastChange(memory=memory, entry=entries[-1], before=tuple(entries[:-1]))
