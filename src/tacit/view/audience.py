"""Explain who may see a memory of the requester's, in which chat, and by which rule."""

from __future__ import annotations

import builtins
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.identity import RawRequest, parse_request
from tacit.policy.rules import decide_with_precedence, explain_decision, preview_decision
from tacit.records import validation
from tacit.records.memory import Memory, Visibility
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.request import Chat, Request, Requester
from tacit.records.results import AudienceChat, AudiencePreview, AudienceReport, Explanation, Page
from tacit.storage import audience_report, memory_reads
from tacit.storage.audience_report import hypothetical_request
from tacit.telemetry.metrics import REFUSAL_COUNT
from tacit.view.context import Resource, ViewContext, not_found, read
from tacit.view.search import ViewSearch

List = builtins.list  # views have a method named `list`


class ViewExplain(Resource):
    """Explanations of disclosure, in your own private chat. In other chats, nothing is found."""

    @read("POST /api/memory/{id}/explain", disabled=not_found())
    def explain(self, id: str, chat: Chat | None = None, asked_by: Requester | None = None) -> Explanation:
        """Explain whether one of your memories may be shown in a chat, and by which rule.

        The requester there is you, or the person in `asked_by`. For a group that you are not a
        member of, only the data that you pass is used; for another person, only the key that you
        name.
        """
        if chat is None and asked_by is not None:
            raise InvalidInput("chat", "say in which chat they would ask")
        other = None if chat is None else _parse_other_request(self._context, chat, asked_by)

        def work(connection: Connection, request: Request) -> Explanation:
            memory = _get_own(self._context, connection, request, id)
            if other is None:
                return explain_decision(decide_with_precedence(request, memory))
            asked = hypothetical_request(connection, request, other, theirs=asked_by is not None)
            return explain_decision(asked.decide(memory))

        told = self._context.read(work)
        if not told.allowed:
            self._context.storage.meter.count(REFUSAL_COUNT, rule=told.rule)
        return told


class Audience(Resource, name="audience"):
    """Who could see the requester's memories. In the requester's own private chat only."""

    @read("GET /api/rooms", disabled=List, paged=True)
    def chats(self) -> List[AudienceChat]:
        """List your private chat and the groups that you are in now, with their other members."""
        chat = self._context.raw_request.chat
        return self._context.read(lambda c, r: audience_report.list_own_chats(c, r, chat) if r.private else [])

    @read("POST /api/hearing", disabled=Page)
    def preview(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        """List your memories as `browse` does, each with the decision and rule of a chat.

        The decision says whether the memory would be shown there. The requester there is you, or
        the person in `asked_by`, as in `explain`.
        """
        other, browsed = (
            _parse_other_request(self._context, chat, asked_by),
            ViewSearch(self._context)._browse_page(search, limit, cursor),
        )

        def work(connection: Connection, request: Request) -> Page[AudiencePreview]:
            found = browsed(connection, request)
            if not found.items:
                return Page()
            asked = hypothetical_request(connection, request, other, theirs=asked_by is not None)
            heard = tuple(preview_decision(memory, asked.decide(memory)) for memory in found)
            return Page(items=heard, cursor=found.cursor)

        return self._context.read(work)

    @read("GET /api/memory/{id}/hearers", disabled=not_found())
    def of(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        """Report who would see one of your memories: in each of your chats, and in private.

        For each chat, the report covers every member as the requester; in private, each person who
        shares a chat with you. With `visibility`, it reports as if you had set that; nothing is
        changed. People appear under the key that they have in that chat, and under no other.
        """
        wanted = None if visibility is None else validation.parse_enum("visibility", visibility, Visibility)
        subject, chat = self._context.raw_request.subject, self._context.raw_request.chat
        assert subject is not None

        def work(connection: Connection, request: Request) -> AudienceReport:
            memory = _get_own(self._context, connection, request, id)
            if wanted is not None:
                memory = replace(memory, visibility=wanted)
            return audience_report.report_for_person(connection, request, subject, chat, memory)

        return self._context.read(work)


def _parse_other_request(context: ViewContext, chat: Chat, asked_by: Requester | None) -> RawRequest:
    other = parse_request(asked_by, chat)
    return other if asked_by else replace(other, subject=context.raw_request.subject)


def _get_own(context: ViewContext, connection: Connection, request: Request, id: str) -> Memory:
    """Return a memory of the requester in any state, if the chat is private."""
    good = validation.parse_memory_id(id)
    audiences = context.storage.audiences
    found = memory_reads.get_memory(connection, audiences, request.for_management(), good) if good else None
    if found is None or not context.may_use(found[0]):
        raise NotFound
    return found[0]
