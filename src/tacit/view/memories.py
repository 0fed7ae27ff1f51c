"""Get, list, remember, change, forget, restore and erase memories."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Unpack

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.learning import memory_writes
from tacit.learning.episodes import protect_episodes, record_episodes
from tacit.learning.turns import read_held_messages
from tacit.lifecycle import erasure as erasing
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.policy.rules import ChangeAction, is_owner, may_change
from tacit.records import conversation, validation
from tacit.records.conversation import Message
from tacit.records.drafts import CategorizedFields, Draft, MemoryFields
from tacit.records.memory import CATEGORY_OF_KIND, HistoryEntry, HistoryEvent, Kind, Memory, State, Version, Visibility
from tacit.records.request import Request
from tacit.records.results import Delta, Erased, Page, Recorded, Remembered, Stats
from tacit.storage import memories, memory_reads, relations, search
from tacit.storage.memories import Transaction
from tacit.storage.search import ListFilter
from tacit.storage.store import FAST_PATH_MISS
from tacit.text import text_to_embed
from tacit.view.context import Resource, not_found, read, write
from tacit.view.idempotency import CHANGED, COUNT, EPISODES, ERASED, FORGOTTEN, REMEMBERED

List = builtins.list
NOT_REMEMBERED = Remembered(id="", state=None, version=0, created=False)
NOT_ERASED = Erased(count=0, complete=True)


class ViewMemories(Resource):
    @read("GET /api/items/{category}/{key:rest}", disabled=None)
    def get(self, category: str, key: str) -> Memory | None:
        """Return the value of one of your keys; None if absent or not to be shown here."""
        name, slot = self._context.parse_category(category), self._context.parse_key(key)

        def work(connection: Connection, request: Request) -> Memory | None:
            found = memory_reads.get_memory_by_key(connection, self._context.storage.audiences, request, name, slot)
            return self._context.redact(connection, request, found[0]) if found else None

        memory = self._context.get_fast("key", {"category": name, "key": slot})
        if memory is FAST_PATH_MISS:
            memory = self._context.read(work)
        self._context.record_use(memory)
        return memory

    @read("GET /api/memory/{id}/record", disabled=not_found())
    def show(self, id: str) -> Memory:
        """Return one memory by its id. The owner, in private, sees it in any state."""

        def work(connection: Connection, request: Request) -> Memory:
            memory, _ = self._context.get_visible(connection, request, id)
            return self._context.redact(connection, request, memory)

        memory = self._context.get_fast("id", {"id": id}) if validation.parse_memory_id(id) else FAST_PATH_MISS
        if memory is FAST_PATH_MISS or memory is None:
            memory = self._context.read(work)
        self._context.record_use(memory)
        return memory

    @read("GET /api/items", disabled=Page)
    def list(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """List what may be shown here, newest first, without instructions that other people gave.

        With `state`, list your own memories in that state, in private only.
        """
        wanted = self._build_filter(category, prefix, kind, state, pinned)
        return self._context.list_page(wanted, limit, cursor, manage=state is not None, include_instructions=False)

    @read("GET /api/count", disabled=0)
    def count(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
    ) -> int:
        """Count the memories that `list` returns on all its pages."""
        narrowed = self._build_filter(category, prefix, kind, state, pinned)
        wanted = replace(narrowed, categories=self._context.category_filter())

        def work(connection: Connection, request: Request) -> int:
            asked = request if state is None else request.for_management()
            return search.count_memories(connection, asked, wanted)

        return self._context.read(work)

    def _build_filter(
        self,
        category: str | None,
        prefix: str | None,
        kind: Kind | str | None,
        state: State | str | None,
        pinned: bool | None,
    ) -> ListFilter:
        return ListFilter(
            category=None if category is None else self._context.parse_category(category),
            kind=None if kind is None else validation.parse_enum("kind", kind, Kind).value,
            state=None if state is None else validation.parse_enum("state", state, State).value,
            prefix=None if prefix is None else validation.parse_key_prefix(prefix),
            pinned=None if pinned is None else validation.parse_bool("pinned", pinned),
        )

    @read("GET /api/memory/{id}/history", disabled=List)
    def history(self, id: str) -> List[HistoryEntry]:
        """Return the history of a memory, oldest first, with the wordings that you may see."""

        def work(connection: Connection, request: Request) -> List[HistoryEntry]:
            memory, _ = self._context.get_visible(connection, request, id)
            managing = request.private and is_owner(request, memory)
            asked = request.for_management() if managing else request
            wordings = memory_reads.list_versions(connection, self._context.storage.audiences, asked, memory)
            if not managing:
                return _history_from_versions(wordings)
            texts = {v.number: v.content for v in wordings}
            return [
                replace(entry, content=texts[entry.version])
                for entry in memory_reads.list_memory_history(connection, memory)
            ]

        return self._context.read(work)

    @read("GET /api/delta", disabled=Delta(revision=0))
    def delta(self, since: int = 0) -> Delta:
        """Return what changed in this thread since a revision."""
        start = validation.parse_int("since", since, 0, limits.REVISION_MAX)
        return self._context.read(lambda c, r: self._context.read_delta(c, r, start))

    @read("GET /api/stats", disabled=Stats)
    def stats(self) -> Stats:
        """Count your own memories, in any state. Empty outside a private chat."""
        return self._context.read(lambda c, r: search.read_owner_stats(c, r, self._context.category_filter()))

    @write("POST /api/remember", disabled=NOT_REMEMBERED, replay=REMEMBERED)
    def remember(self, content: str, **fields: Unpack[CategorizedFields]) -> Remembered:
        """Remember a fact.

        Fields: kind, category, key, about, withheld_from, visibility, sensitivity, portable,
        importance, confidence, pinned, tags, observed_at, expires_at, message, agent, run, role,
        turns (ids of the turns it was learned from), data (a JSON object stored with it), for_room
        for a fact that belongs to the group, and by_model for what a model writes: a name,
        pronouns, a home or a language then becomes a proposal, and the state is pending.
        """
        asked = self._context.parse_draft(content=content, **fields)
        if asked.content is None:
            raise InvalidInput("content", "is missing; say what to remember")
        self._context.parse_category(category_of(asked))
        return self._context.write_text(
            text_to_embed(asked.key, asked.content),
            lambda tx: memory_writes.remember(tx, asked, self._context.options.ttl_days),
            new=asked.key is None and not asked.for_room,
        )

    @write("PUT /api/items/{category}/{key:rest}", disabled=NOT_REMEMBERED, replay=REMEMBERED)
    def put(self, category: str, key: str, value: str, **fields: Unpack[MemoryFields]) -> Remembered:
        """Set the one value of a key.

        A second write makes a new version; fields that you do not pass, such as visibility, stay as
        they were.
        """
        return self.remember(
            value, category=self._context.parse_category(category), key=self._context.parse_key(key), **fields
        )

    @write("POST /api/memory/{id}/update", disabled=NOT_REMEMBERED, replay=REMEMBERED)
    def update(
        self, id: str, content: str | None = None, *, if_version: int | None = None, **fields: Unpack[MemoryFields]
    ) -> Remembered:
        """Change a memory.

        `if_version` is the version you read; raises Conflict if the stored version differs.
        """
        asked = self._context.parse_draft(content=content, **fields)
        if if_version is not None:
            validation.parse_int("if_version", if_version, 1, 2**31)
        if asked.category is not None:
            self._context.parse_category(asked.category)
        if asked.key is not None or asked.for_room or asked.visibility is not None:
            raise InvalidInput("update", "changes neither key nor room; for visibility there is set_visibility")

        def work(tx: Transaction) -> Remembered:
            memory = self._context.get_for_update(tx, id, ChangeAction.UPDATE)
            if if_version is not None:
                seen, _ = memory_reads.visible_version(tx.connection, tx.audiences, tx.request, memory)
                if seen != if_version:
                    raise Conflict(f"the memory is at version {seen} by now: read it again")
            standing = may_change(ChangeAction.UPDATE, tx.request, memory)
            assert standing is not None
            return memory_writes.update_memory(tx, memory, standing, asked, self._context.options.ttl_days)

        return self._context.write_text(self._text_to_embed(id, asked.content), work)

    def _text_to_embed(self, id: str, content: str | None) -> str | None:
        """Return the text to embed for a new wording of a memory: with its key, if it has one."""
        if content is None or self._context.retriever.embedder is None:
            return content
        try:
            memory, _ = self._context.read(lambda c, r: self._context.get_visible(c, r, id))
        except NotFound:  # the write itself raises it
            return content
        return text_to_embed(memory.key, content)

    @write("PUT /api/memory/{id}/pinned", disabled=None, replay=CHANGED)
    def pin(self, id: str, on: bool = True) -> None:
        """Pin or unpin a memory. A pinned memory does not fade."""
        wanted = validation.parse_bool("pin", on)
        self._change_memory(id, ChangeAction.PIN, lambda m: replace(m, pinned=wanted), "pinned")

    @write("PUT /api/memory/{id}/visibility", disabled=None, replay=CHANGED)
    def set_visibility(self, id: str, visibility: Visibility | str) -> None:
        """Set how far a memory may be shown. Only its owner, in private, can widen it."""
        wanted = validation.parse_enum("visibility", visibility, Visibility)
        self._change_memory(
            id, ChangeAction.SET_VISIBILITY, lambda m: replace(m, visibility=wanted), f"visibility {wanted}", to=wanted
        )

    @write("POST /api/memory/{id}/withhold", disabled=None, replay=CHANGED)
    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        """Name people to whom this memory must never be shown, such as for a surprise."""
        named = self._context.parse_draft(withheld_from=who).withheld_from or ()

        def work(tx: Transaction) -> None:
            memory = self._context.get_for_update(tx, id, ChangeAction.WITHHOLD)
            memory_writes.withhold_memory(tx, memory, named)

        self._context.write(work)

    @write("POST /api/record", disabled=Recorded, replay=EPISODES)
    def record(self, messages: Iterable[Message], *, session: str | None = None) -> Recorded:
        """Record turns of a conversation word for word, for as long as the settings say.

        `learn` does so with what the requester says; this is for the turns of others too.

        Without `session`, it is that of this thread on that day. A turn that the speaker asks not
        to remember ("off the record") and the answer to it are not recorded and have no id.
        """
        said = conversation.parse_messages(messages)
        named = validation.parse_optional_label("session", session)
        days = self._context.options.turns_days
        if days is None:
            raise InvalidInput("record", "turns are not kept; set memory.sessions.keep to true")
        kept = read_held_messages(said)
        if not kept:
            return Recorded()
        vectors = self._context.retriever.embed_inline([one.said.content for one in kept])
        ids = self._context.write(lambda tx: record_episodes(tx, kept, named, days), vectors)
        if not vectors.model:
            self._context.runtime.wake_indexer()
        return Recorded(ids=tuple(ids))

    @write("POST /api/relations", disabled=None, replay=CHANGED)
    def relate(self, id: str, other: str, relation: str = memories.RELATED_TO, *, strength: float = 1.0) -> None:
        """Relate two of your memories, from the first to the second."""
        kind = validation.parse_identifier("relation", relation, limits.TAG_MAX_CHARS)
        weight = validation.parse_fraction("strength", strength)
        if id == other:
            raise InvalidInput("other", "is the same memory; name another one")

        def work(tx: Transaction) -> None:
            memory, to = (
                self._context.get_for_update(tx, id, ChangeAction.PIN),
                self._context.get_for_update(tx, other, ChangeAction.PIN),
            )
            relations.insert_stated_edge(tx, memory.id, to.id, kind, weight)
            memories.record_event(tx, memory, HistoryEvent.LINK, None, {"relation": kind})

        self._context.write(work)

    @write("DELETE /api/memory/{id}", disabled=None, replay=FORGOTTEN)
    def forget(self, id: str) -> None:
        """Forget a memory; it can be restored for 30 days."""
        days = self._context.options.restorable_days
        self._context.write(
            lambda tx: forgetting.forget_memory(tx, self._context.get_for_update(tx, id, ChangeAction.FORGET), days)
        )

    @write("DELETE /api/items/{category}/{key:rest}", disabled=0, replay=COUNT)
    def forget_key(self, category: str, key: str) -> int:
        """Forget the value of a key, under all your identities. Return how many were forgotten."""
        return self._forget_matching(
            ListFilter(category=self._context.parse_category(category), key=self._context.parse_key(key))
        )

    @write("DELETE /api/items/{category}", disabled=0, replay=COUNT)
    def forget_category(self, category: str) -> int:
        """Forget all your memories in a category. Return how many were forgotten."""
        return self._forget_matching(ListFilter(category=self._context.parse_category(category)))

    @write("POST /api/memory/{id}/restore", disabled=None, replay=CHANGED)
    def restore(self, id: str) -> None:
        """Restore a forgotten memory, until it is purged."""

        def work(tx: Transaction) -> None:
            memory = self._context.get_for_update(tx, id, ChangeAction.RESTORE)
            try:
                forgetting.restore_memory(tx, memory, self._context.options.ttl_days)
            except Conflict:
                if tx.request.private and is_owner(tx.request, memory):
                    raise
                raise NotFound from None  # the requester may not know of the memory in its place

        self._context.write(work)

    @write("POST /api/memory/{id}/erase?turns", disabled=NOT_ERASED, replay=ERASED)
    def erase(self, id: str, *, turns: bool = False) -> Erased:
        """Erase a memory everywhere, at once and for good.

        Your episodes that it was learned from are erased with it; with `turns`, also your turns in
        its thread that wait to be learned.
        """
        also = validation.parse_bool("turns", turns)
        done = self._context.write(
            lambda tx: erasing.erase_memory(tx, self._context.get_for_update(tx, id, ChangeAction.ERASE), turns=also)
        )
        return erasing.finish_erasure(self._context.storage, done)

    @write("POST /api/wipe", disabled=NOT_ERASED, replay=ERASED)
    def wipe(self) -> Erased:
        """Erase everything of yours.

        Works in a private chat only, and not for an agent that is limited to some categories.
        """
        if self._context.permitted_categories is not None:
            raise InvalidInput("wipe", "takes a view of all categories; this one is narrowed")

        def work(tx: Transaction) -> RecordedErasure:
            if not tx.request.private:
                raise InvalidInput("wipe", "works in a private chat only")
            return erasing.erase_owner(tx, tx.request.own_identities)

        return erasing.finish_erasure(self._context.storage, self._context.write(work))

    def _change_memory(
        self, id: str, act: ChangeAction, how: Callable[[Memory], Memory], what: str, to: Visibility | None = None
    ) -> None:
        def work(tx: Transaction) -> None:
            memory = self._context.get_for_update(tx, id, act, to)
            changed = how(memory)
            if changed != memory:
                changed = replace(changed, updated_at=tx.at)
                memories.update_fields(tx, changed, HistoryEvent.UPDATE, "updated", {"fields": what})
                if act is ChangeAction.SET_VISIBILITY:
                    protect_episodes(tx, changed)

        self._context.write(work)

    def _forget_matching(self, wanted: ListFilter) -> int:
        """Forget your own matching memories that this chat may show; in private, all of them."""

        def work(tx: Transaction) -> int:
            own = replace(wanted, owners=tuple(sorted(tx.request.own_identities)), state="active")
            asked = tx.request.for_management() if tx.request.private else tx.request
            count = 0
            while found := search.list_memories(
                tx.connection, tx.audiences, tx.dialect, asked, own, limits.PAGE_MAX_COUNT
            ):
                for memory, _ in found:
                    held = memories.get_for_update(tx, memory.id)
                    if held is not None:
                        forgetting.forget_memory(tx, held, self._context.options.restorable_days)
                count += len(found)
            return count

        return self._context.write(work)


def _history_from_versions(wordings: List[Version]) -> List[HistoryEntry]:
    """Build the history that other people may see: the wordings they heard.

    Changes that the owner makes in private are visible to the owner only.
    """
    return [
        HistoryEntry(
            event=HistoryEvent.ADD if number == 1 else HistoryEvent.UPDATE,
            at=wording.created_at,
            actor=wording.actor,
            version=number,
            content=wording.content,
            detail={},
        )
        for number, wording in enumerate(wordings, start=1)
    ]


def category_of(asked: Draft) -> str:
    return asked.category or CATEGORY_OF_KIND[asked.kind or Kind.KNOWLEDGE]
