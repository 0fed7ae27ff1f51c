"""A memory as a model is told of it: what it needs to use it and to change it, and no more."""

from __future__ import annotations

from typing import Any

from tacit.model.memory import Memory


def told(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": memory.category,
        "key": memory.key,
        "type": memory.kind.value,
        "content": memory.content,
        "version": memory.version,
        "updated_at": memory.updated_at.isoformat(),
    }
