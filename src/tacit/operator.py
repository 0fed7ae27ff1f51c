"""Act on a space under an operator's name; each read is kept in the access log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound, StoreBusy
from tacit.identity import RawRequest, parse_chat_id, parse_identity, parse_request
from tacit.learning import memory_writes
from tacit.learning.composition import find_floor, join_words
from tacit.learning.episodes import protect_episodes
from tacit.lifecycle import erasure, quarantine, revert
from tacit.lifecycle import forget as forgetting
from tacit.policy.rules import decide_with_precedence, effective_visibility, preview_decision
from tacit.records import drafts, validation
from tacit.records import queries as questions
from tacit.records.accounts import Person
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory, State, Visibility
from tacit.records.queries import MATCH_ALL, Search, decode_cursor, make_page, memory_position, parse_cursor
from tacit.records.request import Chat, Request, Requester
from tacit.records.results import (
    AccessLogEntry,
    ActivityEntry,
    AudienceChat,
    AudiencePreview,
    AudienceReport,
    DayCounts,
    Erased,
    Graph,
    Page,
    Quarantined,
    Recalled,
    Reverted,
)
from tacit.retrieval.scoring import RecallAnswer
from tacit.storage import access_log, audience_report, history, memories, memory_reads, people, search
from tacit.storage.access_log import LoggedMemory
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.people import list_people
from tacit.storage.search import ListFilter, OwnedMemory, browse_space, count_in_space, list_owned, list_wordings
from tacit.storage.spaces import load_identities
from tacit.storage.store import Store
from tacit.view.audit import (
    build_activity_page,
    fill_days,
    first_day_micros,
    parse_activity_range,
    parse_day_count,
    parse_page_limit,
)
from tacit.view.context import Runtime, ViewOptions, resource
from tacit.view.search import SearchFilter, build_graph, parse_node_limit, parse_search, person_node_lookup

T = TypeVar("T")


@dataclass(frozen=True)
class OperatorContext:
    _runtime: Runtime
    _space: str
    _actor: str
    _options: ViewOptions

    @property
    def _shared(self) -> tuple[Runtime, str, str, ViewOptions]:
        return self._runtime, self._space, self._actor, self._options

    @property
    def _storage(self) -> Store:
        return self._runtime.storage

    def _write(self, work: Callable[[Transaction], T]) -> T:
        return self._storage.write_as(self._space, self._actor, work)

    def _read_logged(
        self,
        word: str,
        work: Callable[[Transaction], tuple[T, Iterable[LoggedMemory]]],
        concerned: Callable[[Transaction, T], Iterable[str]] = lambda *_: (),
    ) -> T:
        """Run `work` and record the read in the access log, in the same transaction.

        `work` returns its result and the memories it showed; their owners and the people that
        `concerned` returns get an entry. If the entry cannot be written, nothing is shown.
        """

        def noted(tx: Transaction) -> T:
            found, shown = work(tx)
            access_log.insert_access_log_entry(tx, self._actor, word, shown, concerned(tx, found))
            return found

        for _ in range(limits.INDEX_CATCH_UPS_MAX_COUNT):
            try:
                return self._write(noted)
            except search.IndexStale:
                search.update_fts_index(self._storage.database)
        raise StoreBusy("others write faster than their words are indexed; try again")

    def _browse_page(self, search: Search, limit: int, cursor: str | None) -> Callable[[Transaction], Page[Memory]]:
        """Build the read of one page of the space, to run with an access log entry."""
        wanted = self._parse_search(search)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(tx: Transaction) -> Page[Memory]:
            chosen, owners = wanted.resolve_for_operator(tx.connection, tx.space)
            found = browse_space(tx, replace(chosen, after=after), owners, most + 1)
            return make_page(found, most, memory_position)

        return work

    def _parse_search(self, search: Search) -> SearchFilter:
        known = self._options.categories
        return parse_search(search, lambda name: validation.parse_category(name, known), operator=True)


class OperatorAudience(OperatorContext):
    def chats(self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[AudienceChat]:
        """List the groups of the space with their members."""
        most = validation.parse_int("limit", limit, 1, limits.AUDIENCE_CHATS_MAX_COUNT)
        after = parse_cursor(cursor, parse_chat_id) or ""

        def work(tx: Transaction) -> tuple[Page[AudienceChat], Iterable[Memory]]:
            ids = audience_report.list_groups(tx.connection, tx.space, most + 1, after)
            page = make_page(ids, most, lambda id: (id,))
            found = audience_report.read_group_members(tx.connection, tx.space, page.items)
            shown = tuple(found.to_audience_chat(place) for place in found.places)
            return Page(items=shown, cursor=page.cursor), ()

        return self._read_logged("rooms", work)

    def preview(
        self,
        chat: Chat,
        asked_by: Requester | None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        """List the memories that `browse` finds, each with the decision for a requester in a chat.

        The decision says whether the memory would be disclosed there, and by which rule.
        """
        asking, browsed = parse_request(asked_by, chat), self._browse_page(search, limit, cursor)

        def work(tx: Transaction) -> tuple[Page[AudiencePreview], Iterable[Memory]]:
            found, request = browsed(tx), self._resolve_request(tx, asking)
            heard = tuple(preview_decision(memory, decide_with_precedence(request, memory)) for memory in found)
            return Page(items=heard, cursor=found.cursor), found.items

        return self._read_logged("hearing", work)

    def of(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        """Report who would see one memory: each requester in each group, and in private.

        With `visibility`, report who would see it with that setting; nothing is changed.
        """
        wanted = None if visibility is None else validation.parse_enum("visibility", visibility, Visibility)

        def work(tx: Transaction) -> tuple[AudienceReport, Iterable[Memory]]:
            memory = _get_for_update(tx, id)
            wondered = memory if wanted is None else replace(memory, visibility=wanted)
            return audience_report.report_for_space(tx.connection, tx.request, wondered), [memory]

        return self._read_logged("hearers", work)

    def recall(
        self, chat: Chat, asked_by: Requester | None, query: str, top_k: int = limits.RECALL_DEFAULT_COUNT
    ) -> list[Recalled]:
        """Return the memories a requester would recall in a chat, without episodes. No memory counts as used."""
        asking = parse_request(asked_by, chat)
        question = questions.parse_recall_query(
            query, top_k, {"include": [questions.INCLUDE_MEMORIES]}, self._options.categories
        )

        def read(work: Callable[[Connection, Request], T]) -> T:
            return self._storage.read(self._space, asking, work, union=self._options.union)

        known = asking.subject is not None
        found = self._runtime.retriever.recall(read, question, _build_recalled) if known else []

        def work(tx: Transaction) -> tuple[list[Recalled], Iterable[Memory]]:
            # Ranking is slow and runs without a transaction. The memories shown are read again and
            # logged in one transaction.
            ids = [memory.id for one in found for memory in (one.memory, *one.related)]
            request = self._resolve_request(tx, asking)
            some = memory_reads.list_visible(tx.connection, tx.audiences, request, ids)
            there = {id: memory for id, (memory, _) in some.items()}
            shown = [
                replace(
                    one,
                    memory=there[one.memory.id],
                    related=tuple(there[other.id] for other in one.related if other.id in there),
                )
                for one in found
                if one.memory.id in there
            ]
            return shown, there.values()

        return self._read_logged("recalled", work)

    def _resolve_request(self, tx: Transaction, asking: RawRequest) -> Request:
        resolve = self._storage.requests.resolve
        return resolve(tx.connection, tx.space, asking, tx.at, union=self._options.union)


def _build_recalled(_: Connection, __: Request, one: RecallAnswer) -> Recalled:
    return Recalled(
        memory=one.memory,
        score=one.score,
        why=one.why,
        rule=one.rule,
        similarity=one.similarity,
        signals=one.signals,
        related=tuple(one.related),
    )


class OperatorAudit(OperatorContext):
    def access_log(self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[AccessLogEntry]:
        """List the access log of the space, newest first."""
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(tx: Transaction) -> tuple[Page[AccessLogEntry], Iterable[Memory]]:
            return access_log.access_log_page(access_log.list_access_log(tx, after, most + 1), most), ()

        return self._read_logged("looks", work)

    def activity(
        self, *, since: datetime | None = None, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ActivityEntry]:
        """List what happened to memories and who owns them, newest first."""
        wanted, most = parse_activity_range(since, cursor), parse_page_limit(limit)

        def work(tx: Transaction) -> tuple[Page[ActivityEntry], Iterable[LoggedMemory]]:
            found = history.list_space_activity(tx.connection, tx.space, wanted, most + 1)
            page = build_activity_page(found, most)
            return page, {OwnedMemory(one.memory_id, one.owner) for one in page}

        return self._read_logged("activity", work)

    def daily_counts(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        """Count events by kind on each of the last days, in UTC, today last."""
        count = parse_day_count(days)

        def work(tx: Transaction) -> tuple[tuple[DayCounts, ...], Iterable[LoggedMemory]]:
            first = first_day_micros(tx.at, count)
            found = history.count_space_days(tx.connection, tx.space, first)
            return fill_days(first, count, found), ()

        return self._read_logged("activity_days", work)


class OperatorPeople(OperatorContext):
    def list(
        self, name: str | None = None, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Person]:
        """List the people of the space, with all their identities and names.

        `name` selects people with a name that begins with it, or one person by key or id. The
        people listed, and the people who use those names, get an access log entry.
        """
        begun = None if name is None else validation.parse_screened_identifier("name", name, limits.NAME_MAX_CHARS)
        who = None if begun is None else parse_identity(begun, "name")
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = parse_cursor(cursor, _parse_person_position) or ""

        def work(tx: Transaction) -> tuple[Page[Person], Iterable[Memory]]:
            if who is not None:
                return Page(items=people.find_in_directory(tx.connection, tx.space, who)), ()
            found = people.list_people_directory(tx.connection, tx.space, begun, after, most + 1)
            page = make_page(found, most, lambda last: (last[0],))
            return Page(items=tuple(person for _, person in page), cursor=page.cursor), ()

        return self._read_logged(
            "people", work, lambda tx, shown: people.list_concerned_people(tx.connection, tx.space, shown)
        )

    def about(self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None) -> Page[Memory]:
        """List memories about a person, by any speaker, newest first.

        Give the person by key or id: an operator has no names for people.
        """
        who = parse_identity(person, "person")
        if who is None:
            raise InvalidInput("person", "is a name; use a key or the id that `people` tells")
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(tx: Transaction) -> tuple[Page[Memory], Iterable[Memory]]:
            same = load_identities(tx.connection, tx.space, [who]).current_identities(who)
            wanted = ListFilter(state=State.ACTIVE.value, about=tuple(sorted(same)))
            found = search.browse_space(tx, replace(wanted, after=after), None, most + 1)
            page = make_page(found, most, memory_position)
            return page, page.items

        return self._read_logged("about", work)


def _parse_person_position(identity: str) -> str:
    if parse_identity(identity, "cursor") is None:
        raise ValueError(identity)
    return identity


class OperatorQuarantine(OperatorContext):
    def list(self) -> list[Quarantined]:
        """List quarantined memories, newest first, with their source but without their content.

        Only the owner reads the content: `view.list(state="quarantined")`.
        """
        with self._storage.database.read() as connection:
            return quarantine.list_quarantined(connection, self._space)

    def release(self, id: str) -> None:
        """Release a memory from quarantine; it stays marked as untrusted."""
        self._write(lambda tx: quarantine.release_memory(tx, _get_for_update(tx, id), self._options.ttl_days))
        self._runtime.wake_indexer()

    def discard(self, id: str) -> Erased:
        """Erase a quarantined memory."""
        done = self._write(lambda tx: quarantine.discard_memory(tx, _get_for_update(tx, id)))
        return erasure.finish_erasure(self._storage, done)


class Operator(OperatorContext):
    """Act on a space as an operator; created by `Memory.operator`.

    Each write is kept in the history of the memory under this actor, and each read in the access
    log of the people concerned: `view.audit.access_log`.
    """

    audience = resource(OperatorAudience)
    audit = resource(OperatorAudit)
    people = resource(OperatorPeople)
    quarantine = resource(OperatorQuarantine)

    def browse(
        self, search: Search = MATCH_ALL, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        """List memories of the space that match the search, newest first.

        Only active memories are listed, unless the search names another state. People are given by
        their keys.
        """
        browsed = self._browse_page(search, limit, cursor)

        def work(tx: Transaction) -> tuple[Page[Memory], Iterable[Memory]]:
            found = browsed(tx)
            return found, found.items

        return self._read_logged("browse", work)

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        """Count the memories on all pages of `browse`, up to a thousand.

        A count with a search reveals that owners have matching memories, so these owners get an
        access log entry. A count of all memories reveals nothing about a person.
        """
        wanted = self._parse_search(search)

        def work(tx: Transaction) -> tuple[int, Iterable[LoggedMemory]]:
            chosen, owners = wanted.resolve_for_operator(tx.connection, tx.space)
            if search == MATCH_ALL:
                return count_in_space(tx, chosen, owners), ()
            found = list_owned(tx, chosen, owners)
            return len(found), found

        return self._read_logged("browse_count", work)

    def show(self, id: str) -> Memory:
        """Return one memory by its id, in any state."""

        def work(tx: Transaction) -> tuple[Memory, Iterable[Memory]]:
            memory = memory_reads.apply_expiry(_get_for_update(tx, id), tx.at)
            return memory, [memory]

        return self._read_logged("show", work)

    def history(self, id: str) -> list[HistoryEntry]:
        """List what happened to a memory, oldest first, with the content of all versions."""

        def work(tx: Transaction) -> tuple[list[HistoryEntry], Iterable[Memory]]:
            memory = _get_for_update(tx, id)
            texts = list_wordings(tx, memory)
            entries = memory_reads.list_memory_history(tx.connection, memory)
            return [replace(one, content=texts.get(one.version)) for one in entries], [memory]

        return self._read_logged("history", work)

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        """Return the newest active memories as a graph, with their subjects and speakers.

        People have their own names and the names that the owners of these memories use. Memories
        beyond the limit are counted as in `browse_count`.
        """
        most = parse_node_limit(limit)

        def work(tx: Transaction) -> tuple[Graph, Iterable[LoggedMemory]]:
            active = ListFilter(state=State.ACTIVE.value)
            newest = search.browse_space(tx, active, None, most)
            if not newest:
                return Graph(), ()
            # Names given by other people are not shown: their access log entry would reveal that a
            # memory about the named person exists.
            owners = {memory.owner for memory in newest if memory.owner is not None}
            people = list_people(tx.connection, tx.space, _people_in(newest), by=owners)
            known = person_node_lookup(people)
            picture = build_graph(tx.connection, newest, search.count_in_space(tx, active, None), known, most)
            shown = {node.id for node in picture.nodes}
            return picture, [memory for memory in newest if memory.id in shown]

        return self._read_logged("graph", work)

    def update(self, id: str, content: str, *, if_version: int | None = None) -> None:
        """Replace the content of a memory, which loses its speaker: no person said the new words.

        `if_version` is the version you read. If the memory has a newer one, Conflict is raised.
        """
        wording = validation.parse_content(content)
        if if_version is not None:
            validation.parse_int("if_version", if_version, 1, 2**31)

        def work(tx: Transaction) -> None:
            memory = _get_for_update(tx, id)
            if if_version not in (None, memory.version):
                raise Conflict(f"the memory is at version {memory.version} by now: read it again")
            memories.update_content(
                tx,
                replace(
                    memory,
                    content=wording,
                    version=memory.version + 1,
                    subjects=effective_subjects(memory),
                    speaker=None,
                    sensitivity=find_floor(join_words(wording, key=memory.key), memory.sensitivity),
                    updated_at=tx.at,
                ),
            )

        self._write(work)
        self._runtime.wake_indexer()

    def forget(self, id: str) -> None:
        self._write(lambda tx: forgetting.forget_memory(tx, _get_for_update(tx, id), self._options.restorable_days))

    def restore(self, id: str) -> None:
        self._write(lambda tx: forgetting.restore_memory(tx, _get_for_update(tx, id), self._options.ttl_days))

    def erase(self, id: str) -> Erased:
        done = self._write(lambda tx: erasure.erase_memory(tx, _get_for_update(tx, id, turns=True)))
        return erasure.finish_erasure(self._storage, done)

    def erase_source(self, source: str) -> Erased:
        """Erase what was learned from a source, with its versions and recorded turns.

        This is the permanent form of `revert`. What people said themselves since stays.
        """
        done = erasure.erase_source(self._write, revert.parse_source(source))
        self._runtime.wake_indexer()
        return erasure.finish_erasure(self._storage, done)

    def lower_visibility(self, id: str, visibility: Visibility | str) -> None:
        wanted = validation.parse_enum("visibility", visibility, Visibility)

        def work(tx: Transaction) -> None:
            memory = _get_for_update(tx, id)
            if wanted.rank > effective_visibility(memory).rank:
                raise InvalidInput("visibility", "only the owner raises it")
            changed = replace(memory, visibility=wanted, updated_at=tx.at)
            memories.update_fields(tx, changed, HistoryEvent.UPDATE, "updated", {"fields": f"visibility {wanted}"})
            protect_episodes(tx, changed)

        self._write(work)

    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        """Withhold a memory from people, given by key: an operator has no names for people."""
        named = tuple(parse_identity(one, "who") or _refuse_name(one) for one in drafts.parse_people("who", who))
        self._write(lambda tx: memory_writes.withhold_memory(tx, _get_for_update(tx, id), named))

    def revert(self, source: str, *, dry_run: bool = False) -> Reverted:
        """Undo what was learned from one source.

        A source is a chat (`telegram:-100`), one message in it (`telegram:-100/42`), `agent:NAME`
        or `role:tool`. What people said themselves since stays. A second call finds nothing more to
        undo. With `dry_run`, count only and change nothing.
        """
        origin = revert.parse_source(source)
        rehearsal = validation.parse_bool("dry_run", dry_run)
        done = revert.revert_source(self._write, origin, dry_run=rehearsal)
        if not rehearsal:
            self._runtime.wake_indexer()
        return done


def _get_for_update(tx: Transaction, id: str, *, turns: bool = False) -> Memory:
    good = validation.parse_memory_id(id)
    memory = memories.get_for_update(tx, good) if good is not None else None
    if memory is None or (memory.is_turn and not turns):
        raise NotFound
    return memory


def _refuse_name(one: object) -> str:
    raise InvalidInput("who", f"{one!r} is a name; use a key such as telegram:123")


def _people_in(memories: Sequence[Memory]) -> set[str]:
    found = {one for memory in memories for one in memory.subjects}
    return found | {memory.speaker for memory in memories if memory.speaker is not None}
