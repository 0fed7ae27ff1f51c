"""The part of a view that begins and ends sessions, whose notes people can read and edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.keys import EXTERNAL
from tacit.learn.extract import chosen
from tacit.learn.reading.tongue import AUTO
from tacit.lifecycle.concluded import budget_of
from tacit.model import text
from tacit.model.message import Message, Said
from tacit.model.notes import SessionDraft, SessionEnded, Woken
from tacit.model.request import Request
from tacit.notes.session import given, sessions
from tacit.notes.session.ending import Contact, Ending
from tacit.notes.session.sessions import Heard, Look, Plan, Session
from tacit.store.writes import Writing
from tacit.views.access import Access
from tacit.views.learning import screened


class ViewNotes(Access):
    def begin_session(self, session: str | None = None) -> Woken:
        """What a session starts with: what the person wants kept (in their own private chat alone),
        the sessions of recent days by their summaries, and today's note of this one. Without a name
        the session is this thread's."""
        named = _named(session)

        def work(connection: Connection, request: Request) -> Woken:
            here = sessions.session_of(request, self._thread, named)
            if here is None:
                return Woken(session=named or self._thread)
            where = (connection, self._store.audiences, request, here)
            return sessions.start(*where, self._policy.note_days, self._may_use)

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
        wanted = None if draft is None else given.checked(draft)
        path, seen, private = self._read(lambda c, r: self._seen_before(c, r, named))
        if wanted is None and not said:
            return SessionEnded(path=path)
        plan = sessions.plan(seen, self._heard(said, wanted), wanted, private=private)
        if not plan.noted and plan.promoted is None:
            return SessionEnded(path=path)
        for category in plan.categories:
            self._category(category)
        vectors = self._recollection.vectors(plan.texts)
        ended = self._write(lambda w: self._end(w, named, seen, plan), vectors)
        self._mind.mind_the_gap()
        return ended

    def _seen_before(
        self, connection: Connection, request: Request, named: str | None
    ) -> tuple[str, Look, bool]:
        here = self._session(request, named)
        where = (connection, self._store.audiences, request, here)
        seen = sessions.look(*where, self._policy.note_days, self._may_use)
        return here.path, seen, request.private

    def _session(self, request: Request, named: str | None) -> Session:
        here = sessions.session_of(request, self._thread, named)
        if here is None:
            raise InvalidInput(
                "chat", "has no notes: say which kind it is, private or group, and who is in it"
            )
        return here

    def _end(self, w: Writing, named: str | None, seen: Look, plan: Plan) -> SessionEnded:
        ending = Ending(
            w=w,
            session=self._session(w.request, named),
            ttls=self._policy.ttls,
            usable=self._may_use,
            agent=self._agent,
            contact=self._contact() if w.request.private else None,
        )
        return ending.keep(seen, plan)

    def _heard(self, said: Sequence[Said], draft: SessionDraft | None) -> Heard:
        learning = self._mind.learning
        spoken = " ".join(one.content for one in said) or sessions.words_of(draft)
        tongue = chosen(learning.tongue if learning is not None else AUTO, spoken)
        model = learning.model if learning is not None else None
        budget = None
        if learning is not None and model is not None:
            budget = budget_of(self._store, self._space, learning.allowance)
        return Heard(
            messages=tuple(said),
            speaker=self._called("name") or tongue.texts["nobody"],
            at=self._store.clock(),
            tongue=tongue,
            model=model,
            budget=budget,
        )

    def _contact(self) -> Contact:
        subject = self._asking.subject or ""
        return Contact(id=subject.removeprefix(f"{EXTERNAL}:"), nickname=self._called("name"))

    def _called(self, what: str) -> str | None:
        """What the requester goes by, as the channel says."""
        own = self._asking.subject
        names = (name for who, kind, name in self._asking.names if who == own and kind == what)
        return next(names, None)


def _named(session: object) -> str | None:
    if session is None:
        return None
    return text.said_identifier("session", session, limits.LABEL_MAX_CHARS)
