"""Define Memory: one open memory and its administration; reads go through view()."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from types import TracebackType

from tacit.admin.auth import Console, Keys
from tacit.admin.bots import Inbox, Llm
from tacit.admin.chats import Chats
from tacit.admin.jobs import Jobs
from tacit.admin.notes import Notes
from tacit.admin.space import Admin
from tacit.identity import parse_request
from tacit.learning.composition import refuse_profile_sentence
from tacit.operator import Operator
from tacit.policy.rules import RULE_TEXTS
from tacit.prompts.fence import FENCE_CLOSE, escape_fence, make_inert, quote_memory, wrap_in_fence
from tacit.records import validation
from tacit.records.accounts import Link
from tacit.records.request import Chat, Requester
from tacit.storage import spaces
from tacit.view.checkpoints import GraphSteps
from tacit.view.context import (
    REQUIRED,
    Arguments,
    Endpoint,
    Operation,
    Repeat,
    Resource,
    SpaceContext,
    ViewContext,
    bind_arguments,
    iter_pages,
    parameters_of,
    resource,
    type_hints_of,
)
from tacit.view.idempotency import MeasuredDispatch
from tacit.view.view import VIEW_OPERATIONS, View, disabled_view, is_remote, remote_view

# RULE_TEXTS explains each disclosure rule by its name. The functions and FENCE_CLOSE quote the text
# of memories for a model. The operations of a view are what a server serves and a client sends;
# `iter_pages` reads all pages of one that lists.
__all__ = [
    "FENCE_CLOSE",
    "REQUIRED",
    "RULE_TEXTS",
    "VIEW_OPERATIONS",
    "Arguments",
    "Endpoint",
    "GraphSteps",
    "Link",
    "Memory",
    "Operation",
    "Operator",
    "Repeat",
    "Resource",
    "View",
    "bind_arguments",
    "disabled_view",
    "escape_fence",
    "is_remote",
    "iter_pages",
    "make_inert",
    "parameters_of",
    "quote_memory",
    "refuse_profile_sentence",
    "remote_view",
    "type_hints_of",
    "wrap_in_fence",
]

NO_IDENTITY = (
    "the requester is unknown, so nothing is remembered or recalled: name the requester, for example telegram:123"
)
SWITCHED_OFF = "memory is switched off: set memory.enabled to true"


class Memory(SpaceContext):
    """One open memory. Made by `tacit.open`.

    Safe to share between threads; close it when done.
    """

    admin = resource(Admin)
    jobs = resource(Jobs)
    keys = resource(Keys)
    notes = resource(Notes)
    console = resource(Console)
    inbox = resource(Inbox)
    chats = resource(Chats)
    llm = resource(Llm)

    def view(
        self,
        requester: Requester | None,
        chat: Chat,
        *,
        thread: str | None = None,
        agent: str | None = None,
        categories: Collection[str] | None = None,
    ) -> View:
        """Return memory as this requester may use it in this chat.

        `thread` names the conversation that deltas are counted for; without it the chat itself is
        the thread. `agent` names the agent that uses the view: if the settings have allow-lists, it
        is limited to its own. `categories` limits the view further: no other category is read or
        written.
        """
        asking = parse_request(requester, chat)
        named = validation.parse_optional_label("thread", thread)
        acting = validation.parse_optional_label("agent", agent)
        only = None if categories is None else frozenset(validation.parse_categories(categories))
        if not self._enabled:
            return disabled_view(SWITCHED_OFF)
        if asking.subject is None:
            return disabled_view(NO_IDENTITY)
        options = self._options if only is None else replace(self._options, only=only)
        context = ViewContext(self._runtime, asking, self._space, named or asking.chat, options, acting)
        meter = self._storage.meter
        return View(context, MeasuredDispatch(meter) if meter.on else None)

    def space(self, name: str) -> Memory:
        """Return another space (tenant) of the same database. No data crosses spaces."""
        return Memory(self._runtime, self._options, validation.parse_space(name), self._enabled)

    def spaces(self) -> list[str]:
        with self._storage.database.read() as connection:
            return spaces.list_spaces(connection)

    def operator(self, name: str) -> Operator:
        """Return operations under an operator's name: the history and the access log record it."""
        actor = validation.parse_label("operator", name)
        return Operator(self._runtime, self._space, f"operator:{actor}", self._options)

    def close(self) -> None:
        self._runtime.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
