"""The façade: one open memory, and what is done to it as a whole. Reading goes through `view`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from types import TracebackType

from tacit import limits
from tacit.facade.ageing import MemoryAgeing
from tacit.facade.health import MemoryHealth
from tacit.facade.identities import MemoryIdentities
from tacit.facade.inbox import MemoryInbox
from tacit.facade.jobs import MemoryJobs
from tacit.facade.keys import MemoryKeys
from tacit.facade.learning import MemoryLearning
from tacit.facade.notes import MemoryNotes
from tacit.facade.removing import MemoryRemoving
from tacit.facade.saving import MemorySaving
from tacit.facade.signing import MemorySigning
from tacit.facade.talking import MemoryTalking
from tacit.facade.telling import MemoryTelling
from tacit.facade.tidying import MemoryTidying
from tacit.facade.whole import MemoryWhole
from tacit.identity.resolution import parse_request
from tacit.learning.consent import refuse_profile_sentence
from tacit.operators.operator import Operator
from tacit.policy.rules import RULE_TEXTS
from tacit.prompts.fence import FENCE_CLOSE, escape_fence, make_inert, quote_memory, wrap_in_fence
from tacit.records import validation
from tacit.records.accounts import Link
from tacit.records.request import Chat, Requester
from tacit.storage import spaces
from tacit.views.disabled import DisabledView
from tacit.views.measured import MeasuredView
from tacit.views.steps import Steps
from tacit.views.view import View

# PLAIN_WORDS: what each disclosure rule says, by its name. In small letters, and CLOSE: how words
# of memories are put to a model.
__all__ = [
    "FENCE_CLOSE",
    "RULE_TEXTS",
    "DisabledView",
    "Link",
    "Memory",
    "Operator",
    "Steps",
    "View",
    "escape_fence",
    "wrap_in_fence",
    "make_inert",
    "quote_memory",
    "refuse_profile_sentence",
]

NO_IDENTITY = (
    "nobody is known to be asking, so nothing is remembered or recalled: "
    "name the requester, for example telegram:123"
)
SWITCHED_OFF = "memory is switched off: set memory.enabled to true"


class Memory(
    MemoryAgeing,
    MemoryHealth,
    MemoryIdentities,
    MemoryInbox,
    MemoryJobs,
    MemoryKeys,
    MemoryLearning,
    MemoryNotes,
    MemoryRemoving,
    MemorySaving,
    MemorySigning,
    MemoryWhole,
    MemoryTalking,
    MemoryTelling,
    MemoryTidying,
):
    """Made by `tacit.open`. Safe to share between threads; close it when done."""

    def view(
        self,
        requester: Requester | None,
        chat: Chat,
        *,
        thread: str | None = None,
        agent: str | None = None,
        categories: Collection[str] | None = None,
    ) -> View | DisabledView:
        """Memory as this requester may use it in this chat. `thread` names the conversation that
        deltas are counted for; without it the chat itself is the thread. `agent` names the one that
        uses it: where the settings have allow-lists, it gets no further than its own. `categories`
        narrows it further: nothing else is read or written."""
        asking = parse_request(requester, chat)
        named = validation.parse_optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
        acting = validation.parse_optional_identifier("agent", agent, limits.LABEL_MAX_CHARS)
        only = None if categories is None else frozenset(validation.parse_categories(categories))
        if not self._enabled:
            return DisabledView(SWITCHED_OFF)
        if asking.subject is None:
            return DisabledView(NO_IDENTITY)
        where = (asking, self._space, named or asking.chat)
        made = MeasuredView if self._storage.meter.on else View
        policy = self._options if only is None else replace(self._options, only=only)
        return made(self._runtime, *where, policy, acting)

    def space(self, name: str) -> Memory:
        """The same database, another tenant. Nothing crosses spaces."""
        return Memory(self._runtime, self._options, space=name, enabled=self._enabled)

    def spaces(self) -> list[str]:
        with self._storage.database.read() as connection:
            return spaces.list_spaces(connection)

    def operator(self, name: str) -> Operator:
        """Acts that stand in history under an operator's name, and looks that are noted."""
        actor = validation.parse_identifier("operator", name, limits.LABEL_MAX_CHARS)
        return Operator(self._runtime, self._space, f"operator:{actor}", self._options)

    def close(self) -> None:
        self._runtime.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
