"""A memory as a model is told of it: what it needs to use it and to change it, and no more.

What memories say is data to a model, as in a block: every text of theirs is inert, what somebody
else said says who did, and the words of an answer stand within the fence.
"""

from __future__ import annotations

from typing import Any

from tacit.memory import fenced, inert, quoted
from tacit.model.memory import Memory
from tacit.surfaces.tools.tool import Answer, as_json


def told(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": memory.category,
        "key": None if memory.key is None else inert(memory.key),
        "type": memory.kind.value,
        "content": quoted(memory),
        "version": memory.version,
        "updated_at": memory.updated_at.isoformat(),
    }


def as_data(shown: Any, data: dict[str, Any]) -> Answer:
    """`shown` as JSON within the fence, beside the data."""
    return Answer(text=fenced([as_json(shown)]), data=data)
