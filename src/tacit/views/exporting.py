"""The part of a view that takes things along: one's memories, or everything about oneself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.model import text
from tacit.model.cursor import decode, encode
from tacit.model.memory import Memory
from tacit.model.people import Person
from tacit.model.request import Request
from tacit.model.results import Page
from tacit.model.words import Format
from tacit.store import checkpoints, listing, membership, reads
from tacit.store.checkpoints import Kept
from tacit.store.listing import Filter
from tacit.transfer import lines, markdown
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
        form = text.choice("format", format, Format)
        whole = text.flag("everything", everything)
        also = text.flag("turns", turns)
        if form is Format.MARKDOWN:
            return self._as_markdown(also)
        parts = self._everything(also) if whole or also else self._memories(history=False)
        return (json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts)

    def _as_markdown(self, turns: bool) -> Iterator[str]:
        if self._read(lambda _, request: request.private):
            yield from markdown.lines(self._everything(turns))

    def _everything(self, turns: bool) -> Iterator[Plain]:
        """Each part in a read of its own, through the rules that hold for any other answer."""
        if not self._read(lambda _, request: request.private):
            return
        if self._allowed(self._agent) is None:
            yield from self._read(self._oneself)
        for part in self._memories(history=True):
            yield {"type": "memory", **part}
        yield from self._about_me()
        for proposal in self.proposals():
            yield {
                "type": "proposal",
                "id": proposal.id,
                "content": proposal.content,
                "reason": proposal.reason,
                "expires_at": proposal.expires_at.isoformat(),
            }
        if self._allowed(self._agent) is None:
            mine = self._mine()
            for person in self.people():
                if not person.identities & mine:
                    yield {"type": "known", "id": person.id, "names": _names(person)}
            yield from self._checkpoints()
            yield from self._steps()
            yield from self._runs()
        if turns:
            yield from self._turns()

    def _oneself(self, connection: Connection, request: Request) -> list[Plain]:
        known = [one for one in self.people() if one.identities & request.mine]
        names = [name for one in known for name in _names(one)]
        me: Plain = {"type": "person", "identities": sorted(request.mine), "names": names}
        chats = membership.of(connection, self._space, request.mine)
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

    def _memories(self, *, history: bool) -> Iterator[Plain]:
        def page(cursor: str | None) -> Page[Memory]:
            return self._page(Filter(), limits.PAGE_MAX_COUNT, cursor, manage=True)

        for memory in _all(page):
            yield self._part(memory, history=history)

    def _part(self, memory: Memory, *, history: bool) -> Plain:
        def work(connection: Connection, request: Request) -> Plain:
            own = request.managing()
            wordings = reads.versions(connection, self._store.audiences, own, memory)
            plain = lines.to_plain(memory, wordings)
            if history:
                plain["learned_in"] = memory.learned_in
                plain["history"] = [
                    {"event": e.event.value, "at": e.at.isoformat(), "actor": e.actor}
                    for e in reads.events(connection, memory)
                ]
            return plain

        return self._read(work)

    def _about_me(self) -> Iterator[Plain]:
        def wanted(_: Connection, request: Request) -> Filter:
            return Filter(about=tuple(sorted(request.mine)))

        def page(cursor: str | None) -> Page[Memory]:
            return self._page(wanted, limits.PAGE_MAX_COUNT, cursor)

        mine = self._mine()
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

    def _checkpoints(self) -> Iterator[Plain]:
        last: Kept | None = None
        while page := self._checkpoint_page(last):
            for told in (one.checkpoint for one in page):
                yield {
                    "type": "checkpoint",
                    "thread": told.thread,
                    "version": told.version,
                    "updated_at": told.updated_at.isoformat(),
                    "data": told.data,
                }
            last = page[-1]

    def _runs(self) -> Iterator[Plain]:
        """What was taken over from other memories, as runs: what came of it is among the rest."""
        cursor = None
        while True:
            page = self.imports(limit=limits.PAGE_MAX_COUNT, cursor=cursor)
            for run in page:
                yield {"type": "import", **lines.run_to_plain(run)}
            cursor = page.cursor
            if cursor is None:
                return

    def _steps(self) -> Iterator[Plain]:
        cursor = None
        while True:
            page = Steps(self).page(limit=_STEPS_AT_ONCE_COUNT, cursor=cursor)
            yield from map(step_told, page)
            cursor = page.cursor
            if cursor is None:
                return

    def _checkpoint_page(self, after: Kept | None) -> list[Kept]:
        return self._read(lambda c, r: checkpoints.page(c, self._space, r.mine, after))

    def _mine(self) -> frozenset[str]:
        return self._read(lambda _, request: request.mine)

    def _turns(self) -> Iterator[Plain]:
        for turn in _all(self._turn_page):
            yield {
                "type": "turn",
                "id": turn.id,
                "content": turn.content,
                "role": turn.role,
                "session": turn.session,
                "created_at": turn.created_at.isoformat(),
            }

    def _turn_page(self, cursor: str | None) -> Page[Memory]:
        after, most = decode(cursor), limits.PAGE_MAX_COUNT

        def work(connection: Connection, request: Request) -> Page[Memory]:
            wanted = Filter(owners=tuple(sorted(request.mine)), after=after)
            found = listing.page(
                connection,
                self._store.audiences,
                self._store.database.dialect,
                request.for_turns(),
                replace(wanted, categories=self._categories()),
                most + 1,
            )
            shown = [self._seen(connection, request, memory) for memory, _ in found[:most]]
            return Page(items=tuple(shown), cursor=encode(shown[-1]) if len(found) > most else None)

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
