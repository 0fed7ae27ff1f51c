"""Standing orders count for their giver alone.

"From now on, answer in French" is an order to the assistant. Whoever else may hear it must not have
it in a prompt, in a group as little as in private: a prompt is where an order would be obeyed. This
is decided on what is stored, whichever way it came in, and for everything that prompts are made of:
blocks, the fresh part, recall, listings, notes and deltas.
"""

from __future__ import annotations

from tacit.model.memory import Memory
from tacit.model.request import Request
from tacit.model.words import Kind
from tacit.screening.orders import is_order


def is_for(request: Request, memory: Memory) -> bool:
    """Whether this may stand in the requester's prompt: it is no order, or they gave it."""
    givers = [request.person(one) for one in (memory.owner, memory.speaker) if one]
    if request.requester in givers:
        return True
    if memory.kind is Kind.PROCEDURE:
        return False
    return not is_order(memory.content, task=memory.kind is Kind.TASK)
