"""The part of an operator's looks that tells who would hear what: really, in any room of a space
and for anybody in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import NotFound
from tacit.identity.resolution import RawRequest, parse_request
from tacit.operators.looking import OperatorLooks
from tacit.policy.rules import decide_with_precedence, preview_decision
from tacit.records import queries as questions
from tacit.records import validation
from tacit.records.memory import Memory, Visibility
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.request import Chat, Request, Requester
from tacit.records.results import AudienceChat, AudiencePreview, AudienceReport, Page, Recalled
from tacit.retrieval.scoring import RecallAnswer
from tacit.storage import audience_report, memories, memory_reads
from tacit.storage.memories import Transaction

T = TypeVar("T")


class OperatorHearing(OperatorLooks):
    def rooms(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AudienceChat]:
        """The groups of the space, with who is there."""
        most = validation.parse_int("limit", limit, 1, limits.AUDIENCE_CHATS_MAX_COUNT)
        after = audience_report.parse_group_cursor(cursor)

        def work(w: Transaction) -> tuple[Page[AudienceChat], Iterable[Memory]]:
            ids = audience_report.list_groups(w.connection, w.space, most + 1, after)
            found = audience_report.read_group_members(w.connection, w.space, ids[:most])
            shown = tuple(found.to_audience_chat(place) for place in found.places)
            following = audience_report.group_cursor(ids[most - 1]) if len(ids) > most else None
            return Page(items=shown, cursor=following), ()

        return self._read_logged("rooms", work)

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        """The memories that `browse` finds, and of each whether it would be said to somebody in
        some chat of the space, and by which rule."""
        asking, browsed = parse_request(asked_by, chat), self._browse_page(search, limit, cursor)

        def work(w: Transaction) -> tuple[Page[AudiencePreview], Iterable[Memory]]:
            found, request = browsed(w), self._resolve_request(w, asking)
            heard = tuple(
                preview_decision(memory, decide_with_precedence(request, memory))
                for memory in found
            )
            return Page(items=heard, cursor=found.cursor), found.items

        return self._read_logged("hearing", work)

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        """Who would hear one memory: in each group, whoever asks there, and alone. With
        `visibility`, who would if that were set; nothing is changed."""
        wanted = (
            None
            if visibility is None
            else validation.parse_enum("visibility", visibility, Visibility)
        )
        good = validation.parse_memory_id(id)

        def work(w: Transaction) -> tuple[AudienceReport, Iterable[Memory]]:
            memory = memories.get_for_update(w, good) if good is not None else None
            if memory is None or memory.is_turn:
                raise NotFound
            wondered = memory if wanted is None else replace(memory, visibility=wanted)
            return audience_report.report_for_space(w.connection, w.request, wondered), [memory]

        return self._read_logged("hearers", work)

    def recalled(
        self,
        chat: Chat,
        asked_by: Requester | None,
        query: str,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
    ) -> list[Recalled]:
        """What would come to mind if somebody asked this in some chat. Nothing counts as used."""
        asking = parse_request(asked_by, chat)
        question = questions.parse_recall_query(query, top_k, {}, self._options.categories)

        def read(work: Callable[[Connection, Request], T]) -> T:
            return self._storage.read(self._space, asking, work, union=self._options.union)

        known = asking.subject is not None
        found = self._runtime.retriever.recall(read, question, _recalled) if known else []

        def work(w: Transaction) -> tuple[list[Recalled], Iterable[Memory]]:
            # What is ranked takes its time, and is not waited for with the database held. What is
            # shown is read again, and noted, at once.
            ids = [memory.id for one in found for memory in (one.memory, *one.related)]
            request = self._resolve_request(w, asking)
            some = memory_reads.list_visible(w.connection, w.audiences, request, ids)
            there = {id: memory for id, (memory, _) in some.items()}
            return [_still(one, there) for one in found if one.memory.id in there], there.values()

        return self._read_logged("recalled", work)

    def _resolve_request(self, w: Transaction, asking: RawRequest) -> Request:
        resolve = self._storage.requests.resolve
        return resolve(w.connection, w.space, asking, w.at, union=self._options.union)


def _recalled(_: Connection, __: Request, one: RecallAnswer) -> Recalled:
    return Recalled(
        memory=one.memory,
        score=one.score,
        why=one.why,
        rule=one.rule,
        similarity=one.similarity,
        signals=one.signals,
        related=tuple(one.related),
    )


def _still(one: Recalled, there: dict[str, Memory]) -> Recalled:
    related = tuple(there[other.id] for other in one.related if other.id in there)
    return replace(one, memory=there[one.memory.id], related=related)
