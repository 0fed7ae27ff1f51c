"""List the proposals that wait for the requester's consent, and answer them."""

from __future__ import annotations

import builtins
from dataclasses import replace

from sqlalchemy import Connection

from tacit.errors import NotFound
from tacit.learning import memory_writes
from tacit.policy.rules import decide
from tacit.records import validation
from tacit.records.memory import Memory, Sensitivity, State
from tacit.records.request import Request
from tacit.records.results import Proposal
from tacit.storage import learned_facts, memories
from tacit.storage.learned_facts import PendingProposal
from tacit.storage.memories import Transaction
from tacit.text import show_with_key
from tacit.view.context import Resource, read, write
from tacit.view.idempotency import NOTHING

List = builtins.list


class Proposals(Resource, name="proposals"):
    """Memories that wait for the consent of their owner."""

    @read("GET /api/proposals", disabled=List, paged=True)
    def list(self) -> List[Proposal]:
        """List what waits for your consent.

        In a group: only what was said there and is not sensitive.
        """

        def work(connection: Connection, request: Request) -> list[Proposal]:
            asked = learned_facts.list_proposals(
                connection, self._context.space, request.own_identities, self._context.storage.clock()
            )
            where = (connection, self._context.storage.audiences, self._context.space)
            return [
                _build_proposal(one, memory)
                for one in asked
                if (memory := learned_facts.get_proposed_memory(*where, one.memory_id)) is not None
                and self._is_answerable_here(request, memory)
            ]

        return self._context.read(work)

    @write("POST /api/proposals", disabled=None, replay=NOTHING)
    def propose_public(self, category: str, key: str) -> None:
        """Propose that the value of one of your keys may be shown where others are present.

        It waits among your proposals until you approve it in private; no other person can. For
        models and tools, which may not decide this themselves.
        """
        name, slot = self._context.parse_category(category), self._context.parse_key(key)
        self._context.write(lambda tx: memory_writes.propose_sharing(tx, name, slot))
        self._context.runtime.wake_indexer()

    @write("POST /api/proposals/{id:rest}/approve", disabled=None, replay=NOTHING)
    def approve(self, id: str) -> None:
        """Approve a proposal: it becomes a memory."""
        self._answer_proposal(id, yes=True)

    @write("POST /api/proposals/{id:rest}/decline", disabled=None, replay=NOTHING)
    def decline(self, id: str) -> None:
        """Decline a proposal: its text is deleted, and it is not proposed again for a while."""
        self._answer_proposal(id, yes=False)

    def _answer_proposal(self, id: str, *, yes: bool) -> None:
        good = validation.parse_memory_id(id)

        def work(tx: Transaction) -> None:
            asked = learned_facts.list_proposals(tx.connection, tx.space, tx.request.own_identities, tx.at)
            one = next((one for one in asked if one.memory_id == good), None)
            memory = memories.get_for_update(tx, one.memory_id) if one is not None else None
            if one is None or memory is None or not self._is_answerable_here(tx.request, memory):
                raise NotFound("proposal")
            old = memories.get_for_update(tx, one.replaces) if yes and one.replaces else None
            if memory_writes.is_sharing_proposal(memory):
                if yes:
                    memory_writes.approve_sharing(tx, one, memory, old)
                else:
                    memory_writes.decline_sharing(tx, one, memory)
            elif yes:
                memory_writes.approve_proposal(tx, one, memory, [old] if old is not None else [])
            else:
                memory_writes.decline_proposal(tx, one, memory)

        self._context.write(work)
        self._context.runtime.wake_indexer()

    def _is_answerable_here(self, request: Request, memory: Memory) -> bool:
        """Return whether the proposal may be answered in this chat.

        Outside a private chat, it must be visible here if approved. Sensitive proposals and
        proposals about visibility are answered in private only.
        """
        if memory.state is not State.PENDING or not self._context.may_use(memory):
            return False
        delicate = memory.sensitivity is Sensitivity.SENSITIVE
        if not request.private and (delicate or memory_writes.is_sharing_proposal(memory)):
            return False
        return decide(request, replace(memory, state=State.ACTIVE)).allowed


def _build_proposal(waiting: PendingProposal, memory: Memory) -> Proposal:
    widens = memory_writes.is_sharing_proposal(memory)
    return Proposal(
        id=waiting.memory_id,
        content=memory.content if widens else show_with_key(memory.key, memory.content),
        reason=waiting.reason,
        replaces=waiting.replaces,
        created_at=waiting.created_at,
        expires_at=waiting.expires_at,
        widens=widens,
    )
