"""A memory as a model is told of it: what it needs to use it and to change it, and no more.

What memories say is data to a model, as in a block: every text of theirs is inert, what somebody
else said says who did, and the words of an answer stand within the fence.
"""

from __future__ import annotations

from typing import Any

from tacit.memory import make_inert, quote_memory, wrap_in_fence
from tacit.records.memory import Memory, State
from tacit.records.results import Remembered
from tacit.surfaces.tools.tool import Answer, as_json


def told(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": memory.category,
        "key": None if memory.key is None else make_inert(memory.key),
        "type": memory.kind.value,
        "content": quote_memory(memory),
        "version": memory.version,
        "updated_at": memory.updated_at.isoformat(),
    }


def waiting(done: Remembered) -> Answer | None:
    """The answer where the person has to say yes first; None where it is kept."""
    if done.state is not State.PENDING:
        return None
    return Answer(
        text=f"Not kept yet: a name, pronouns, a home or a language is for the person to say. It "
        f"waits as proposal {done.id} until they say yes, in their private chat: they answer the "
        f"question there, or run `tacit approve {done.id}`. Do not write it again.",
        data={"stored": False, "waiting": True, "id": done.id, "version": done.version},
    )


def as_data(shown: Any, data: dict[str, Any]) -> Answer:
    """`shown` as JSON within the fence, beside the data."""
    return Answer(text=wrap_in_fence([as_json(shown)]), data=data)
