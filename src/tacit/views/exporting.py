"""The part of a view that takes things along: one's memories, or everything about oneself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.records import validation
from tacit.records.accounts import Person
from tacit.records.memory import ExportFormat, Memory
from tacit.records.queries import decode_cursor, encode_cursor
from tacit.records.request import Request
from tacit.records.results import Page
from tacit.storage import checkpoints, memory_reads, search
from tacit.storage.chats import list_memberships
from tacit.storage.checkpoints import StoredCheckpoint
from tacit.storage.search import ListFilter
from tacit.transfer import export
from tacit.views.importing import ViewImports
from tacit.views.learning import ViewLearning
from tacit.views.reading import ViewReads
from tacit.views.steps import Steps, step_told

Plain = dict[str, Any]
_STEPS_AT_ONCE_COUNT = 5  # each may be long


class ViewExport(ViewReads, ViewLearning, ViewImports):
    def export(
        self,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002 (its public name)
        everything: bool = False,
        turns: bool = False,
    ) -> Iterator[str]:
        """Your memories as JSON lines, with their versions: `import_lines` takes them in. With
        `everything`, all that you may see about yourself: your names and chats, what others said
        about you, what waits for your yes, where agents and graphs had got to; `turns` adds what
        was said, word for word. Markdown is everything, to be read. In a private chat only."""
        form = validation.parse_enum("format", format, ExportFormat)
        whole = validation.parse_bool("everything", everything)
        also = validation.parse_bool("turns", turns)
        if form is ExportFormat.MARKDOWN:
            return self._export_markdown(also)
        parts = (
            self._iter_everything(also) if whole or also else self._iter_own_memories(history=False)
        )
        return (json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts)

    def _export_markdown(self, turns: bool) -> Iterator[str]:
        if self._read(lambda _, request: request.private):
            yield from export.render_markdown(self._iter_everything(turns))

    def _iter_everything(self, turns: bool) -> Iterator[Plain]:
        """Each part in a read of its own, through the rules that hold for any other answer."""
        if not self._read(lambda _, request: request.private):
            return
        if self._allowed_categories(self._agent) is None:
            yield from self._read(self._list_person_and_chats)
        for part in self._iter_own_memories(history=True):
            yield {"type": "memory", **part}
        yield from self._iter_about_requester()
        for proposal in self.proposals():
            yield {
                "type": "proposal",
                "id": proposal.id,
                "content": proposal.content,
                "reason": proposal.reason,
                "expires_at": proposal.expires_at.isoformat(),
            }
        if self._allowed_categories(self._agent) is None:
            mine = self._own_identities()
            for person in self.people():
                if not person.identities & mine:
                    yield {"type": "known", "id": person.id, "names": _names(person)}
            yield from self._iter_checkpoints()
            yield from self._iter_graph_steps()
            yield from self._iter_import_runs()
        if turns:
            yield from self._iter_episodes()

    def _list_person_and_chats(self, connection: Connection, request: Request) -> list[Plain]:
        known = [one for one in self.people() if one.identities & request.own_identities]
        names = [name for one in known for name in _names(one)]
        me: Plain = {"type": "person", "identities": sorted(request.own_identities), "names": names}
        chats = list_memberships(connection, self._space, request.own_identities)
        return [
            me,
            *(
                {
                    "type": "chat",
                    "chat": one.chat,
                    "kind": one.kind,
                    "joined_at": one.joined_at.isoformat(),
                }
                for one in chats
            ),
        ]

    def _iter_own_memories(self, *, history: bool) -> Iterator[Plain]:
        def page(cursor: str | None) -> Page[Memory]:
            return self._list_page(ListFilter(), limits.PAGE_MAX_COUNT, cursor, manage=True)

        for memory in _all(page):
            yield self._memory_to_plain(memory, history=history)

    def _memory_to_plain(self, memory: Memory, *, history: bool) -> Plain:
        def work(connection: Connection, request: Request) -> Plain:
            own = request.for_management()
            wordings = memory_reads.list_versions(connection, self._storage.audiences, own, memory)
            plain = export.memory_to_json(memory, wordings)
            if history:
                plain["learned_in"] = memory.learned_in
                plain["history"] = [
                    {"event": e.event.value, "at": e.at.isoformat(), "actor": e.actor}
                    for e in memory_reads.list_memory_history(connection, memory)
                ]
            return plain

        return self._read(work)

    def _iter_about_requester(self) -> Iterator[Plain]:
        def wanted(_: Connection, request: Request) -> ListFilter:
            return ListFilter(about=tuple(sorted(request.own_identities)))

        def page(cursor: str | None) -> Page[Memory]:
            return self._list_page(wanted, limits.PAGE_MAX_COUNT, cursor)

        mine = self._own_identities()
        for memory in _all(page):
            if memory.owner not in mine:
                yield {
                    "type": "about",
                    "id": memory.id,
                    "content": memory.content,
                    "category": memory.category,
                    "said_by": memory.speaker,
                    "created_at": memory.created_at.isoformat(),
                    "data": memory.data,
                }

    def _iter_checkpoints(self) -> Iterator[Plain]:
        last: StoredCheckpoint | None = None
        while page := self._list_checkpoints(last):
            for told in (one.checkpoint for one in page):
                yield {
                    "type": "checkpoint",
                    "thread": told.thread,
                    "version": told.version,
                    "updated_at": told.updated_at.isoformat(),
                    "data": told.data,
                }
            last = page[-1]

    def _iter_import_runs(self) -> Iterator[Plain]:
        """What was taken over from other memories, as runs: what came of it is among the rest."""
        cursor = None
        while True:
            page = self.imports(limit=limits.PAGE_MAX_COUNT, cursor=cursor)
            for run in page:
                yield {"type": "import", **export.import_run_to_json(run)}
            cursor = page.cursor
            if cursor is None:
                return

    def _iter_graph_steps(self) -> Iterator[Plain]:
        cursor = None
        while True:
            page = Steps(self).page(limit=_STEPS_AT_ONCE_COUNT, cursor=cursor)
            yield from map(step_told, page)
            cursor = page.cursor
            if cursor is None:
                return

    def _list_checkpoints(self, after: StoredCheckpoint | None) -> list[StoredCheckpoint]:
        return self._read(
            lambda c, r: checkpoints.list_checkpoints(c, self._space, r.own_identities, after)
        )

    def _own_identities(self) -> frozenset[str]:
        return self._read(lambda _, request: request.own_identities)

    def _iter_episodes(self) -> Iterator[Plain]:
        for turn in _all(self._list_episodes):
            yield {
                "type": "turn",
                "id": turn.id,
                "content": turn.content,
                "role": turn.role,
                "session": turn.session,
                "created_at": turn.created_at.isoformat(),
            }

    def _list_episodes(self, cursor: str | None) -> Page[Memory]:
        after, most = decode_cursor(cursor), limits.PAGE_MAX_COUNT

        def work(connection: Connection, request: Request) -> Page[Memory]:
            wanted = ListFilter(owners=tuple(sorted(request.own_identities)), after=after)
            found = search.list_memories(
                connection,
                self._storage.audiences,
                self._storage.database.dialect,
                request.for_turns(),
                replace(wanted, categories=self._category_filter()),
                most + 1,
            )
            shown = [self._redact(connection, request, memory) for memory, _ in found[:most]]
            return Page(
                items=tuple(shown), cursor=encode_cursor(shown[-1]) if len(found) > most else None
            )

        return self._read(work)


def _all(page: Callable[[str | None], Page[Memory]]) -> Iterator[Memory]:
    cursor = None
    while True:
        some = page(cursor)
        yield from some
        cursor = some.cursor
        if cursor is None:
            return


def _names(person: Person) -> list[Plain]:
    return [{"kind": name.kind.value, "text": name.text} for name in person.names]
