"""Export a person's memories, and import what another memory system kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.learning.composition import compose_memory, compute_expiry
from tacit.lifecycle import revert
from tacit.records import validation
from tacit.records.accounts import Person
from tacit.records.drafts import ImportItems, ImportPreview, ImportPreviewItem, ImportRun, ImportStep, RevertedImport
from tacit.records.memory import ExportFormat, Memory, Sensitivity, State
from tacit.records.queries import decode_cursor, make_page, memory_position
from tacit.records.request import Request
from tacit.records.results import Imported, Page
from tacit.storage import checkpoints, imports, memory_reads, people, retention, search
from tacit.storage.chats import list_memberships
from tacit.storage.checkpoints import StoredCheckpoint
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction, update_key_precedence
from tacit.storage.search import ListFilter
from tacit.text import text_to_embed
from tacit.transfer import export
from tacit.transfer import imports as transfer
from tacit.transfer.imports import CheckedItem, ImportBatch, SortedBatch
from tacit.view.checkpoints import GraphSteps, step_to_plain
from tacit.view.context import Repeat, Resource, iter_pages, read, write
from tacit.view.memories import category_of
from tacit.view.people import People
from tacit.view.proposals import Proposals


class Imports(Resource, name="imports"):
    """Imports of memories of other systems, and of exports of this one."""

    @read("POST /api/imports/preview", disabled=ImportPreview)
    def preview(self, items: ImportItems, *, source: str) -> ImportPreview:
        """Return what `imports.add` would do with at most 200 items; write nothing.

        Works in a private chat only, and not for an agent that is limited to some categories.
        """
        batch = self._parse_batch(items, source)

        def work(connection: Connection, request: Request) -> ImportPreview:
            _require_private(request)
            found = self._sort_batch(connection, request, batch)
            new = [item for item, _ in found.new]
            sensitive = sum(one.draft.sensitivity is Sensitivity.SENSITIVE for one in new)
            return ImportPreview(
                new=len(new),
                already=len(found.known) + len(found.repeated),
                sensitive=sensitive,
                refused=tuple(sorted(found.refused, key=lambda one: one.place)),
                shown=tuple(map(self._preview_item, new)),
            )

        return self._context.read(work)

    @write("POST /api/imports", disabled=ImportStep, repeat=Repeat.HARMLESS)
    def add(
        self, run: str, items: ImportItems, *, source: str, total: int | None = None, after: int | None = None
    ) -> ImportStep:
        """Import at most 200 items of another memory system, in one transaction.

        Imported memories are private and attributed as imported. `run` is your name for the whole
        import, `source` the system it comes from, such as mem0. An item counts as `already` if it
        was imported before, under any run, or if you have the same text or key. Invalid items are
        refused one by one. `total` is the number of items in the whole import, and `after` the
        number of those before this call, so that progress is known and no item is counted twice.
        """
        named = _parse_run(run)
        batch = self._parse_batch(items, source)
        whole = _parse_count("total", total)
        before = _parse_count("after", after)

        def work(tx: Transaction) -> ImportStep:
            _require_private(tx.request)
            return self._insert_batch(tx, named, batch, whole, before)

        vectors = self._embed_new_items(batch)
        done = self._context.write(work, vectors)
        if done.created and not vectors.model:
            self._context.runtime.wake_indexer()
        return done

    @read("GET /api/imports", disabled=Page)
    def list(self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[ImportRun]:
        """List your imports, newest first; empty outside a private chat."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[ImportRun]:
            if not request.private or self._context.permitted_categories is not None:
                return Page()
            found = imports.list_imports(connection, self._context.space, request.own_identities, after, most + 1)
            page = make_page(found, most, lambda last: (to_micros(last[1].started_at), last[0]))
            return Page(items=tuple(run for _, run in page), cursor=page.cursor)

        return self._context.read(work)

    @write("POST /api/imports/revert", disabled=RevertedImport(run=""), repeat=Repeat.HARMLESS)
    def revert(self, run: str) -> RevertedImport:
        """Forget everything that an import created, except memories that you changed since.

        They can be restored like other forgotten memories. If the call is interrupted, call it
        again to continue. Reverted items can be imported again.
        """
        named = _parse_run(run)
        self._require_all_categories()
        days = self._context.options.restorable_days

        def work(tx: Transaction) -> tuple[RevertedImport, bool]:
            _require_private(tx.request)
            return revert.revert_import_step(tx, named, days)

        more = True
        while more:
            done, more = self._context.write(work)
        return done

    @write("POST /api/import", disabled=Imported, repeat=Repeat.HARMLESS)
    def add_lines(self, lines: Iterable[str]) -> Imported:
        """Import the lines that `export` wrote. Refuse bad lines one by one; keep good ones."""

        def take(line: export.ExportLine) -> bool:
            self._context.parse_category(category_of(line.draft))
            return self._context.write(lambda tx: export.import_line(tx, line))

        done = export.import_lines(lines, self._context.options.categories, take)
        if done.created:
            self._context.runtime.wake_indexer()
        return done

    def _parse_batch(self, items: object, source: object) -> ImportBatch:
        self._require_all_categories()
        word = validation.parse_screened_identifier("source", source, limits.LABEL_MAX_CHARS)
        return transfer.parse_batch(word, items, self._context.options.categories, self._context.storage.clock())

    def _require_all_categories(self) -> None:
        if self._context.permitted_categories is not None:
            raise InvalidInput("import", "takes a view of all categories; this one is narrowed")

    def _sort_batch(self, connection: Connection, request: Request, batch: ImportBatch) -> SortedBatch:
        """Return what an import of this batch would do now."""
        secret = imports.get_space_secret(connection, self._context.space) or ""
        seen: set[object] = set()

        def make(item: CheckedItem) -> str:
            transfer.check_people(connection, request, item, seen)
            return f"new {item.position}"

        return transfer.sort_batch(connection, request, secret, batch, make)

    def _embed_new_items(self, batch: ImportBatch) -> TextVectors:
        """Embed the new items before the transaction; skip items that are stored already."""
        embedder = self._context.retriever.embedder
        if embedder is None or not embedder.inline:
            return NO_VECTORS

        def new(connection: Connection, request: Request) -> list[str]:
            if not request.private:
                return []
            found = self._sort_batch(connection, request, batch)
            return list(dict.fromkeys(text_to_embed(item.draft.key, item.content) for item, _ in found.new))

        contents = self._context.read(new)
        return self._context.retriever.embed_inline(contents) if contents else NO_VECTORS

    def _insert_batch(
        self, tx: Transaction, run: str, batch: ImportBatch, total: int | None, after: int | None
    ) -> ImportStep:
        imports.lock_imports(tx)
        kept = imports.begin_import(tx, run, batch.source, total)
        imports.avoid_ids_of_second(tx)
        until = tx.at + timedelta(days=self._context.options.restorable_days)
        past = transfer.list_lapsed(tx.connection, tx.request, batch)
        retention.retire_memories(tx, past, State.EXPIRED, "expired", until, "expired")
        made: dict[int, Memory] = {}
        seen: set[object] = set()

        def make(item: CheckedItem) -> str:
            transfer.check_people(tx.connection, tx.request, item, seen)
            made[item.position] = compose_memory(tx, item.draft, None, self._context.options.ttl_days)
            return made[item.position].id

        found = transfer.sort_batch(tx.connection, tx.request, tx.secret, batch, make)
        imports.bulk_insert(tx, list(made.values()))
        for memory in made.values():
            if memory.key is not None:
                mine = sorted(tx.request.own_identities)
                update_key_precedence(tx.connection, tx.space, mine, memory.category, memory.key)
        new = [(token, run, made[item.position].id) for item, token in found.new]
        imports.insert_imported(tx, [*new, *((token, None, id) for _, token, id in found.known)])
        now = imports.add_import_counts(tx, kept, transfer.count_batch(kept.run, batch, found, after), total)
        return ImportStep(
            created=len(found.new),
            already=len(found.known) + len(found.repeated),
            refused=tuple(sorted(found.refused, key=lambda one: one.place)),
            run=now,
        )

    def _preview_item(self, item: CheckedItem) -> ImportPreviewItem:
        asked = item.draft
        expires = asked.expires_at or compute_expiry(
            item.kind, self._context.storage.clock(), self._context.options.ttl_days
        )
        return ImportPreviewItem(
            content=item.content,
            kind=item.kind,
            category=item.category,
            key=asked.key,
            tags=asked.tags or (),
            sensitivity=asked.sensitivity or Sensitivity.PERSONAL,
            created_at=asked.created_at,
            expires_at=expires,
        )


def _parse_run(run: object) -> str:
    return validation.parse_screened_identifier("run", run, limits.LABEL_MAX_CHARS)


def _parse_count(field: str, value: object) -> int | None:
    most = limits.IMPORT_TOTAL_MAX_COUNT
    return None if value is None else validation.parse_int(field, value, 0, most)


def _require_private(request: Request) -> None:
    if not request.private:
        raise InvalidInput("import", "works in a private chat only")


JsonObject = dict[str, Any]
_STEPS_PER_PAGE_COUNT = 5  # a step may be long


class ViewExport(Resource):
    @read("GET /api/export", disabled=partial(iter, ()), lines=True)
    def export(
        self,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002 (its public name)
        everything: bool = False,
        turns: bool = False,
    ) -> Iterator[str]:
        """Export your memories with their versions as JSON lines, for `imports.add_lines`.

        With `everything`, export all that you may see about yourself: your names and chats, what
        others said about you, your proposals, and the checkpoints of agents and graphs. `turns`
        adds recorded turns, word for word. Markdown is for reading and always has everything. Works
        in a private chat only.
        """
        form = validation.parse_enum("format", format, ExportFormat)
        whole = validation.parse_bool("everything", everything)
        also = validation.parse_bool("turns", turns)
        if form is ExportFormat.MARKDOWN:
            return self._export_markdown(also)
        parts = self._iter_everything(also) if whole or also else self._iter_own_memories(history=False)
        return (json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts)

    def _export_markdown(self, turns: bool) -> Iterator[str]:
        if self._context.read(lambda _, request: request.private):
            yield from export.render_markdown(self._iter_everything(turns))

    def _iter_everything(self, turns: bool) -> Iterator[JsonObject]:
        """Yield each part from its own read, under the same disclosure rules as other reads."""
        if not self._context.read(lambda _, request: request.private):
            return
        if self._context.permitted_categories is None:
            yield from self._context.read(self._list_person_and_chats)
        for part in self._iter_own_memories(history=True):
            yield {"type": "memory", **part}
        yield from self._iter_about_requester()
        for proposal in Proposals(self._context).list():
            yield {
                "type": "proposal",
                "id": proposal.id,
                "content": proposal.content,
                "reason": proposal.reason,
                "expires_at": proposal.expires_at.isoformat(),
            }
        if self._context.permitted_categories is None:
            mine = self._own_identities()
            for person in People(self._context).list():
                if not person.identities & mine:
                    yield {"type": "known", "id": person.id, "names": _names_to_plain(person)}
            yield from self._iter_checkpoints()
            yield from self._iter_graph_steps()
            yield from self._iter_import_runs()
        if turns:
            yield from self._iter_episodes()

    def _list_person_and_chats(self, connection: Connection, request: Request) -> list[JsonObject]:
        known = people.list_known_people(connection, request, own_names=request.private)
        mine = [one for one in known if one.identities & request.own_identities]
        names = [name for one in mine for name in _names_to_plain(one)]
        me: JsonObject = {"type": "person", "identities": sorted(request.own_identities), "names": names}
        chats = list_memberships(connection, self._context.space, request.own_identities)
        return [
            me,
            *(
                {"type": "chat", "chat": one.chat, "kind": one.kind, "joined_at": one.joined_at.isoformat()}
                for one in chats
            ),
        ]

    def _iter_own_memories(self, *, history: bool) -> Iterator[JsonObject]:
        for memory in self._context.iter_listed(ListFilter(), manage=True):
            yield self._memory_to_plain(memory, history=history)

    def _memory_to_plain(self, memory: Memory, *, history: bool) -> JsonObject:
        def work(connection: Connection, request: Request) -> JsonObject:
            own = request.for_management()
            wordings = memory_reads.list_versions(connection, self._context.storage.audiences, own, memory)
            plain = export.memory_to_json(memory, wordings)
            if history:
                plain["learned_in"] = memory.learned_in
                plain["history"] = [
                    {"event": e.event.value, "at": e.at.isoformat(), "actor": e.actor}
                    for e in memory_reads.list_memory_history(connection, memory)
                ]
            return plain

        return self._context.read(work)

    def _iter_about_requester(self) -> Iterator[JsonObject]:
        def wanted(_: Connection, request: Request) -> ListFilter:
            return ListFilter(about=tuple(sorted(request.own_identities)))

        mine = self._own_identities()
        for memory in self._context.iter_listed(wanted):
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

    def _iter_checkpoints(self) -> Iterator[JsonObject]:
        last: StoredCheckpoint | None = None

        def work(connection: Connection, request: Request) -> list[StoredCheckpoint]:
            mine = request.own_identities
            return checkpoints.list_checkpoints(connection, request.space, mine, last)

        while page := self._context.read(work):
            for told in (one.checkpoint for one in page):
                yield {
                    "type": "checkpoint",
                    "thread": told.thread,
                    "version": told.version,
                    "updated_at": told.updated_at.isoformat(),
                    "data": told.data,
                }
            last = page[-1]

    def _iter_import_runs(self) -> Iterator[JsonObject]:
        """Yield the import runs; the imported memories are exported with the others."""
        runs = partial(Imports(self._context).list, limit=limits.PAGE_MAX_COUNT)
        for run in iter_pages(lambda cursor: runs(cursor=cursor)):
            yield {"type": "import", **export.import_run_to_json(run)}

    def _iter_graph_steps(self) -> Iterator[JsonObject]:
        steps = partial(GraphSteps(self._context).list, limit=_STEPS_PER_PAGE_COUNT)
        return map(step_to_plain, iter_pages(lambda cursor: steps(cursor=cursor)))

    def _own_identities(self) -> frozenset[str]:
        return self._context.read(lambda _, request: request.own_identities)

    def _iter_episodes(self) -> Iterator[JsonObject]:
        for turn in iter_pages(self._list_episodes):
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
                self._context.storage.audiences,
                self._context.storage.database.dialect,
                request.for_turns(),
                replace(wanted, categories=self._context.category_filter()),
                most + 1,
            )
            page = make_page([memory for memory, _ in found], most, memory_position)
            shown = (self._context.redact(connection, request, memory) for memory in page)
            return replace(page, items=tuple(shown))

        return self._context.read(work)


def _names_to_plain(person: Person) -> list[JsonObject]:
    return [{"kind": name.kind.value, "text": name.text} for name in person.names]
