"""Somebody who is signed in, and what they may use: a person their own view, an operator the words
that are noted as looks."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import NotFound
from tacit.memory import DisabledView, Memory, Operator, View
from tacit.records.accounts import WebSession
from tacit.records.request import Chat, Requester


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    session: WebSession
    memory: Memory  # of the space that the sitting belongs to

    @property
    def is_operator(self) -> bool:
        return self.session.operator is not None

    @property
    def name(self) -> str:
        """What they are signed in as."""
        return self.session.operator or self.session.person or ""

    @property
    def view(self) -> View | DisabledView:
        """Of a person, in private. An operator has none: for them it is not there."""
        return self.view_in(None)

    def view_in(self, thread: str | None, agent: str | None = None) -> View | DisabledView:
        """The same, in a conversation of its own, as some agent uses it."""
        person = self.session.person
        if person is None:
            raise NotFound("page")
        chat = Chat.private(person)
        return self.memory.view(Requester(person), chat, thread=thread, agent=agent)

    @property
    def operator(self) -> Operator:
        """Of an operator; for a person it is not there."""
        if self.session.operator is None:
            raise NotFound("page")
        return self.memory.operator(self.session.operator)

    @property
    def api(self) -> View | DisabledView | Operator:
        """What both have: a person over their own memories, an operator over the space."""
        return self.operator if self.is_operator else self.view
