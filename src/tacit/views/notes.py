"""The part of a view that begins and ends sessions, whose notes people can read and edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.external_keys import EXTERNAL_PREFIX
from tacit.learning.extraction.locale import AUTO
from tacit.learning.pipeline import choose_locale
from tacit.lifecycle.inferred import make_budget
from tacit.notes import drafts, sessions
from tacit.notes.sessions import (
    Contact,
    EndedConversation,
    NoteSession,
    SessionContext,
    SessionEnding,
    SessionPlan,
)
from tacit.records import validation
from tacit.records.conversation import Message, ParsedMessage
from tacit.records.notes import SessionDraft, SessionEnded, SessionStart
from tacit.records.request import Request
from tacit.storage.memories import Transaction
from tacit.views.access import Access
from tacit.views.learning import screened


class ViewNotes(Access):
    def begin_session(self, session: str | None = None) -> SessionStart:
        """What a session starts with: what the person wants kept (in their own private chat alone),
        the sessions of recent days by their summaries, and today's note of this one. Without a name
        the session is this thread's."""
        named = _named(session)

        def work(connection: Connection, request: Request) -> SessionStart:
            here = sessions.find_session(request, self._thread, named)
            if here is None:
                return SessionStart(session=named or self._thread)
            where = (connection, self._storage.audiences, request, here)
            return sessions.start_session(*where, self._options.note_days, self._may_use)

        return self._read(work)

    def end_session(
        self,
        messages: Iterable[Message] = (),
        *,
        draft: SessionDraft | None = None,
        session: str | None = None,
    ) -> SessionEnded:
        """Write down what a session came to, into its note of the day: what was said, or the draft
        that an agent made of it. What it says again is merged; tasks that it finished are ticked in
        the notes of recent days; what the person asked to be kept for good enters their index, one
        thing at most and in their own private chat alone."""
        named = _named(session)
        said, _ = screened(messages)
        wanted = None if draft is None else drafts.check_draft(draft)
        path, seen, private = self._read(lambda c, r: self._read_session(c, r, named))
        if wanted is None and not said:
            return SessionEnded(path=path)
        plan = sessions.plan_session(
            seen, self._build_session_input(said, wanted), wanted, private=private
        )
        if not plan.has_note and plan.promoted is None:
            return SessionEnded(path=path)
        for category in plan.categories:
            self._parse_category(category)
        vectors = self._retriever.embed_inline(plan.texts)
        ended = self._write(lambda w: self._write_session_end(w, named, seen, plan), vectors)
        self._runtime.wake_indexer()
        return ended

    def _read_session(
        self, connection: Connection, request: Request, named: str | None
    ) -> tuple[str, SessionContext, bool]:
        here = self._require_session(request, named)
        where = (connection, self._storage.audiences, request, here)
        seen = sessions.load_context(*where, self._options.note_days, self._may_use)
        return here.path, seen, request.private

    def _require_session(self, request: Request, named: str | None) -> NoteSession:
        here = sessions.find_session(request, self._thread, named)
        if here is None:
            raise InvalidInput(
                "chat", "has no notes: say which kind it is, private or group, and who is in it"
            )
        return here

    def _write_session_end(
        self, w: Transaction, named: str | None, seen: SessionContext, plan: SessionPlan
    ) -> SessionEnded:
        ending = SessionEnding(
            tx=w,
            session=self._require_session(w.request, named),
            ttls=self._options.ttl_days,
            usable=self._may_use,
            agent=self._agent,
            contact=self._build_contact() if w.request.private else None,
        )
        return ending.save(seen, plan)

    def _build_session_input(
        self, said: Sequence[ParsedMessage], draft: SessionDraft | None
    ) -> EndedConversation:
        learning = self._runtime.learning
        spoken = " ".join(one.content for one in said) or sessions.join_draft_text(draft)
        tongue = choose_locale(learning.locale if learning is not None else AUTO, spoken)
        model = learning.model if learning is not None else None
        budget = None
        if learning is not None and model is not None:
            budget = make_budget(self._storage, self._space, learning.allowance)
        return EndedConversation(
            messages=tuple(said),
            speaker=self._requester_name("name") or tongue.texts["nobody"],
            at=self._storage.clock(),
            tongue=tongue,
            model=model,
            budget=budget,
        )

    def _build_contact(self) -> Contact:
        subject = self._raw_request.subject or ""
        return Contact(
            id=subject.removeprefix(f"{EXTERNAL_PREFIX}:"), nickname=self._requester_name("name")
        )

    def _requester_name(self, what: str) -> str | None:
        """What the requester goes by, as the channel says."""
        own = self._raw_request.subject
        names = (name for who, kind, name in self._raw_request.names if who == own and kind == what)
        return next(names, None)


def _named(session: object) -> str | None:
    if session is None:
        return None
    return validation.parse_screened_identifier("session", session, limits.LABEL_MAX_CHARS)
