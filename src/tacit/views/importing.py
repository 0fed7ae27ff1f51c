"""The part of a view that takes over another memory: previewed, in steps, and reverted as one."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.learning.composition import compose_memory, compute_expiry
from tacit.lifecycle import revert
from tacit.records import validation
from tacit.records.drafts import (
    ImportItems,
    ImportPreview,
    ImportPreviewItem,
    ImportRun,
    ImportStep,
    RevertedImport,
)
from tacit.records.memory import Memory, Sensitivity, State
from tacit.records.queries import decode_cursor, encode_position
from tacit.records.request import Request
from tacit.records.results import Page
from tacit.records.text import text_to_embed
from tacit.storage import imports, retention
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction, update_key_precedence
from tacit.transfer import imports as transfer
from tacit.transfer.imports import CheckedItem, ImportBatch, SortedBatch
from tacit.views.access import Access


class ViewImports(Access):
    def preview_items(self, items: ImportItems, *, source: str) -> ImportPreview:
        """What `import_items` would do with these, at most 200 of them; nothing is written. In a
        private chat only, and not for an agent that may use some categories only."""
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

        return self._read(work)

    def import_items(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        """Keep what another memory kept, at most 200 things a call, in one transaction: private,
        and attributed as imported. `run` is your name for the whole import, `source` what it comes
        from, such as mem0. What was imported before, under whichever run, and what you have in the
        same words or under the same key is `already` here; what is wrong is refused, one by one.
        `total` is how many there are in the whole, `after` how many of these came before: by that
        an import knows how far it has got, and counts nothing twice."""
        named = _run(run)
        batch = self._parse_batch(items, source)
        whole = _count("total", total)
        before = _count("after", after)

        def work(w: Transaction) -> ImportStep:
            _require_private(w.request)
            return self._insert_batch(w, named, batch, whole, before)

        vectors = self._embed_new_items(batch)
        done = self._write(work, vectors)
        if done.created and not vectors.model:
            self._runtime.wake_indexer()
        return done

    def imports(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ImportRun]:
        """Your imports, the newest first; none where others listen."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[ImportRun]:
            if not request.private or self._allowed_categories(self._agent) is not None:
                return Page()
            found = imports.list_imports(
                connection, self._space, request.own_identities, after, most + 1
            )
            shown = found[:most]
            more = len(found) > most
            last = (
                encode_position(to_micros(shown[-1][1].started_at), shown[-1][0]) if more else None
            )
            return Page(items=tuple(run for _, run in shown), cursor=last)

        return self._read(work)

    def revert_import(self, run: str) -> RevertedImport:
        """Forget everything that an import created, as one; what you changed since is left alone.
        Restorable, as anything that is forgotten. If it is interrupted, ask again: it goes on. What
        was reverted may be imported again."""
        named = _run(run)
        self._require_all_categories()
        days = self._options.restorable_days

        def work(w: Transaction) -> tuple[RevertedImport, bool]:
            _require_private(w.request)
            return revert.revert_import_step(w, named, days)

        more = True
        while more:
            done, more = self._write(work)
        return done

    def _parse_batch(self, items: object, source: object) -> ImportBatch:
        self._require_all_categories()
        word = validation.parse_screened_identifier("source", source, limits.LABEL_MAX_CHARS)
        return transfer.parse_batch(word, items, self._options.categories, self._storage.clock())

    def _require_all_categories(self) -> None:
        if self._allowed_categories(self._agent) is not None:
            raise InvalidInput("import", "takes a view of all categories; this one is narrowed")

    def _sort_batch(
        self, connection: Connection, request: Request, batch: ImportBatch
    ) -> SortedBatch:
        """As it would be, if it were done now."""
        secret = imports.get_space_secret(connection, self._space) or ""
        seen: set[object] = set()

        def make(item: CheckedItem) -> str:
            transfer.check_people(connection, request, item, seen)
            return f"new {item.position}"

        return transfer.sort_batch(connection, request, secret, batch, make)

    def _embed_new_items(self, batch: ImportBatch) -> TextVectors:
        """Of what is new, found before the transaction: what is here already costs nothing."""
        embedder = self._retriever.embedder
        if embedder is None or not embedder.inline:
            return NO_VECTORS

        def new(connection: Connection, request: Request) -> list[str]:
            if not request.private:
                return []
            found = self._sort_batch(connection, request, batch)
            return list(
                dict.fromkeys(text_to_embed(item.draft.key, item.content) for item, _ in found.new)
            )

        contents = self._read(new)
        return self._retriever.embed_inline(contents) if contents else NO_VECTORS

    def _insert_batch(
        self, w: Transaction, run: str, batch: ImportBatch, total: int | None, after: int | None
    ) -> ImportStep:
        imports.lock_imports(w)
        kept = imports.begin_import(w, run, batch.source, total)
        imports.avoid_ids_of_second(w)
        until = w.at + timedelta(days=self._options.restorable_days)
        past = transfer.list_lapsed(w.connection, w.request, batch)
        retention.retire_memories(w, past, State.EXPIRED, "expired", until, "expired")
        made: dict[int, Memory] = {}
        seen: set[object] = set()

        def make(item: CheckedItem) -> str:
            transfer.check_people(w.connection, w.request, item, seen)
            made[item.position] = compose_memory(w, item.draft, None, self._options.ttl_days)
            return made[item.position].id

        found = transfer.sort_batch(w.connection, w.request, w.secret, batch, make)
        imports.bulk_insert(w, list(made.values()))
        for memory in made.values():
            if memory.key is not None:
                mine = sorted(w.request.own_identities)
                update_key_precedence(w.connection, w.space, mine, memory.category, memory.key)
        new = [(token, run, made[item.position].id) for item, token in found.new]
        imports.insert_imported(w, [*new, *((token, None, id) for _, token, id in found.known)])
        now = imports.add_import_counts(
            w, kept, transfer.count_batch(kept.run, batch, found, after), total
        )
        return ImportStep(
            created=len(found.new),
            already=len(found.known) + len(found.repeated),
            refused=tuple(sorted(found.refused, key=lambda one: one.place)),
            run=now,
        )

    def _preview_item(self, item: CheckedItem) -> ImportPreviewItem:
        asked = item.draft
        expires = asked.expires_at or compute_expiry(
            item.kind, self._storage.clock(), self._options.ttl_days
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


def _run(run: object) -> str:
    return validation.parse_screened_identifier("run", run, limits.LABEL_MAX_CHARS)


def _count(field: str, value: object) -> int | None:
    most = limits.IMPORT_TOTAL_MAX_COUNT
    return None if value is None else validation.parse_int(field, value, 0, most)


def _require_private(request: Request) -> None:
    if not request.private:
        raise InvalidInput("import", "works in a private chat only")
